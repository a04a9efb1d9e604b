"""The report: flows, drops, and the size of the page."""

import gzip
import json
import re
import shutil
import subprocess
from base64 import b64decode
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bokeh.document import Document
from bokeh.models import PlainText

import sojourn
from conftest import Finished
from sojourn.errors import OutputError
from sojourn.results.flow_series import read_flow_series
from sojourn.results.queues import plotted
from sojourn.results.remarks import reader_note
from sojourn.results.report import embedded
from sojourn.results.report import page as render_page
from sojourn.results.report.embedded import bokeh_js
from sojourn.results.report.figures import over_time
from sojourn.results.report.models import document
from sojourn.results.report.panels import Figure, Scale
from sojourn.runtime.arrow_tables import FLOW_SCHEMA

MS = 10**6


def carried(page: str, name: str) -> str:
    found = re.search(rf'<script id="packed-{name}" type="text/plain">([^<]*)</script>', page)
    assert found is not None
    return gzip.decompress(b64decode(found[1])).decode()


@pytest.fixture(scope="module")
def page(finished: Finished) -> str:
    return (finished.folder / "report.html").read_text()


def test_the_page_contains_its_plots_and_bokehjs_compressed(page: str) -> None:
    plots = json.loads(carried(page, "figures"))
    version, installed = bokeh_js()
    places = re.findall(r'<div class="plot" id="([^"]+)"', page)
    assert (
        places
        == [root["id"] for root in plots["roots"]]
        == [
            "over-time-0",
            "distribution-0",
            "course-0",
            "shares",
            "flows",
        ]
    )
    assert plots["version"] == version
    assert carried(page, "script") == installed.read_text(), "it is the installed one"
    assert len(page) < 1_000_000


def test_bokeh_knows_all_models_and_attributes_of_the_document(page: str) -> None:
    document = Document.from_json(json.loads(carried(page, "figures")))
    document.validate()
    (first, *_) = document.roots
    ranges = {plot.x_range for plot in first.children}
    assert len(first.children) > 1 and len(ranges) == 1, "the panels zoom together"
    for root in document.roots:
        for plot in root.children:
            zoom, crosshair = plot.toolbar.tools
            assert type(zoom).__name__ == "BoxZoomTool"
            assert crosshair.overlay is root.children[0].toolbar.tools[1].overlay
    (queue,) = (root for root in document.roots if root.id == "course-0")
    tags = [curve.tags[0] for plot in queue.children for curve in plot.renderers if curve.tags]
    assert {tag["unit"] for tag in tags} == {"ms", "kB", "%"}, "values have their units"


def test_a_label_with_dollars_is_no_mathematics() -> None:
    """BokehJS would load MathJax for it, from the network."""
    figure = Figure(Scale(0, 1, "time, s"), panel_height=100)
    figure.add_panel("$$x$$", Scale()).add_text(0, 0, r"\(x\)", "#000000")
    (root,) = Document.from_json(document({"plot": figure.model()}, bokeh_js()[0])).roots
    (plot,) = root.children
    (label,) = plot.renderers
    assert (type(plot.title.text), type(label.text)) == (PlainText, PlainText)


def test_equal_runs_give_equal_pages(page: str, finished: Finished) -> None:
    assert render_page(finished.result) == page


def test_the_page_asks_for_nothing_elsewhere(page: str) -> None:
    markup = re.sub(r'<script id="packed-[^<]*</script>', "", page)
    assert not re.search(r"(?:src|href)=|https?://|@import|url\(", markup)


def test_the_label_of_the_target_is_above_the_curves_of_the_distribution(page: str) -> None:
    document = Document.from_json(json.loads(carried(page, "figures")))
    (root,) = (root for root in document.roots if root.id == "distribution-0")
    (plot,) = root.children
    labels = [one for one in plot.references() if type(one).__name__ == "Label"]
    (label,) = [one for one in labels if one.text.text.startswith("target")]
    height = plot.y_range.end - plot.y_range.start
    text = float(label.text_font_size.removesuffix("px")) / plot.height * height
    assert label.y <= plot.y_range.end
    assert label.y - text > 100, "its lower edge"


@pytest.mark.parametrize("version", ["3.8.2", "4.0.0"])
def test_another_bokeh_is_an_error_that_names_the_right_one(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "distribution", lambda _: SimpleNamespace(version=version))
    with pytest.raises(OutputError, match=rf"bokeh {version} is installed; .*bokeh>=3\.9,<4"):
        bokeh_js()


def test_legend_and_menu_name_the_curves_that_they_show(page: str) -> None:
    plots = json.loads(carried(page, "figures"))
    text = json.dumps(plots)
    found = re.findall(r'<button data-plot="([^"]+)" data-label="([^"]+)"', page)
    assert {plot for plot, _ in found} == {"distribution-0", "course-0", "shares"}
    menu = re.findall(r"<option>([^<]+)</option>", page)
    for label in (label for _, label in found):
        assert json.dumps({"name": label})[1:-1] in text
    assert menu == list(json.loads(carried(page, "flows"))["aqms"])


def test_the_page_has_the_figures_and_curves_of_every_flow(page: str, finished: Finished) -> None:
    each = json.loads(carried(page, "flows"))
    heads = [column["head"] for column in each["columns"]]
    for label, aqm in finished.result.aqms.items():
        own = each["aqms"][label]
        assert len(own["table"]) == len(each["groups"]) == len(own["sampled"])
        assert {len(panel) for panel in own["curves"]} == {len(own["sampled"])}
        table = pa.Table.from_pylist(
            [dict(zip(heads, row, strict=True)) for row in own["table"]]
        ).to_pydict()
        goodput = sum(table["goodput\nMbit/s"])
        assert goodput == pytest.approx(aqm.summary.goodput / 1e6, rel=1e-3)
        rows = aqm.packets.to_pylist()
        for flow, mean in enumerate(table["mean\nms"]):
            waited = [
                row["dequeued"] - row["enqueued"]
                for row in rows
                if row["flow"] == flow and row["verdict"] not in ("tail", "ingress")
            ]
            assert mean == pytest.approx(np.mean(waited) / 1e6, rel=1e-3)


def test_traffic_has_panels_of_its_own(tmp_path: Path) -> None:
    scenario: dict[str, Any] = {
        "duration": "2 s",
        "aqms": ["fifo", "codel"],
        "switch": {"rate": "10 Mbit/s"},
        "flows": [
            {"name": "calls", "kind": "voip", "count": 2, "rtt": "20 ms"},
            {"name": "web", "kind": "transfers", "load": "2 Mbit/s", "rtt": "20 ms"},
            {"name": "bulk", "rtt": "20 ms"},
        ],
    }
    sojourn.run(scenario, out=tmp_path / "out")
    text = (tmp_path / "out/report.html").read_text()
    titles = carried(text, "figures")
    assert "<h2>Completion times</h2>" in text and '"web, %"' in titles
    assert "<h2>Delay of voice</h2>" in text and '"calls, %"' in titles
    each = json.loads(carried(text, "flows"))
    assert each["groups"] == ["calls", "calls", "web", "bulk"]
    assert each["aqms"]["codel"]["sampled"] == [0, 1, 3]
    assert each["aqms"]["codel"]["table"][2][0] > 0, "transfers have figures without curves"


_CLICKS = """
<script>
  const wait = setInterval(() => {
    const table = document.getElementById("flow-table");
    if (!table?.rows.length) return;
    clearInterval(wait);
    const values = () => [...table.rows].slice(1).map(row => row.cells[2].textContent).join(" ");
    const buttons = () => [...document.querySelectorAll("#flow-legend button")];
    const legend = () => buttons().map(button => button.textContent);
    const said = [legend().join(" ")];
    table.rows[0].cells[2].firstChild.click();
    said.push(values());
    table.rows[0].cells[2].firstChild.click();
    said.push(values());
    table.querySelector('tr[data-flow="1"]').click();
    said.push(legend().join(" "));
    const seen = {id: "seen", textContent: said.join(";")};
    document.body.append(Object.assign(document.createElement("pre"), seen));
  }, 100);
</script>
"""


def test_in_a_browser_the_table_of_flows_sorts_and_chooses(page: str, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium")
    (tmp_path / "page.html").write_text(page + _CLICKS)
    command = [browser, "--headless", "--no-sandbox", "--virtual-time-budget=8000", "--dump-dom"]
    shown = subprocess.run(
        [*command, (tmp_path / "page.html").as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    seen = re.search(r'<pre id="seen">(.*?)</pre>', shown, re.DOTALL)
    assert seen is not None
    before, falling, rising, after = seen[1].split(";")
    values = [float(text) for text in falling.split()]
    assert values == sorted(values, reverse=True)
    assert [float(text) for text in rising.split()] == sorted(values)
    assert "flow 1" in before and "flow 1" not in after


def test_the_first_plot_stands_right_below_the_table(page: str) -> None:
    table, plot = page.index("<table class=result>"), page.index('id="over-time-0"')
    between = re.sub(r"<[^>]*>", "", page[page.index("</table>", table) : plot])
    assert between.split("<")[0].split() == ["Queue", "delay", "over", "time,", "in", "ms"]
    assert "<ul>" not in page[:plot], "no bullets that say the table again"


def test_the_page_knows_the_dark_and_narrow_windows(page: str) -> None:
    assert "prefers-color-scheme: dark" in page
    assert "max-width: 40rem" in page
    used = set(re.findall(r"#[0-9a-f]{6}", carried(page, "figures")))
    for ink in ("#1f2933", "#d9dee3", "#111827", "#b91c1c"):
        assert ink in used and f'"{ink}": ' in page, "each has its colour for the dark"


def test_the_reading_of_the_math_unit_is_reported(finished: Finished) -> None:
    assert reader_note(finished.result) == ""


def test_drops_stand_on_the_time_line(finished: Finished) -> None:
    (queue,) = plotted(finished.result)
    figure = over_time(finished.result, queue)
    for label, aqm in finished.result.aqms.items():
        summary = aqm.summary
        curves = [curve.attributes for panel in figure.panels for curve in panel.curves]
        drops = [curve for curve in curves if curve["name"] == f"{label}, dropped"]
        columns = [dict(curve["data_source"].attributes["data"]["entries"]) for curve in drops]
        counted = sum(int(sum(one["value"])) for one in columns)
        assert counted == summary.aqm_drops + summary.tail_drops + summary.ingress_drops > 0


def samples(folder: Path, rows: list[dict[str, Any]]) -> None:
    whole = [dict.fromkeys(FLOW_SCHEMA.names, 0) | row for row in rows]
    pq.write_table(pa.Table.from_pylist(whole, FLOW_SCHEMA), folder / "flows.parquet")


def test_a_flows_series_equals_its_samples(tmp_path: Path) -> None:
    """100 bins of 10 ms; flow 1 begins in the middle, and gets three times what flow 0 gets."""
    rows = [
        {"time": (at + 1) * 10 * MS, "flow": 0, "delivered": 1_250 * (at + 1), "srtt": 7 * MS}
        for at in range(100)
    ] + [
        {"time": (at + 1) * 10 * MS, "flow": 1, "delivered": 3_750 * (at - 49), "cwnd": at}
        for at in range(50, 100)
    ]
    samples(tmp_path, sorted(rows, key=lambda row: row["time"]))
    series = read_flow_series(tmp_path, 1_000 * MS)
    assert series is not None
    assert series.flows == (0, 1)
    assert series.goodput[0] == pytest.approx(1e6)
    assert np.isnan(series.goodput[1, :50]).all()
    assert series.goodput[1, 50:] == pytest.approx(3e6)
    assert series.total[[0, 99]] == pytest.approx([1e6, 4e6])
    # Jain: (1 + 3)^2 / (2 (1 + 9)) = 0.8.
    assert series.fairness[[0, 99]] == pytest.approx([1.0, 0.8])
    assert (series.round_trip[0, 5], series.window[1, 99]) == (7 * MS, 99)


def test_the_series_add_up_to_the_goodput_of_the_run(finished: Finished) -> None:
    for aqm in finished.result.aqms.values():
        series = read_flow_series(aqm.folder, finished.result.scenario.duration)
        assert series is not None
        assert series.total.mean() == pytest.approx(aqm.summary.goodput, rel=0.001)
