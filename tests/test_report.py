"""The report: what it tells of flows and drops, and what its page weighs."""

import gzip
import hashlib
import json
import re
from base64 import b64decode
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import Finished
from sojourn.flow_series import read_flow_series
from sojourn.queues import plotted
from sojourn.reading import reading
from sojourn.record import FLOW_SCHEMA
from sojourn.report.figures import over_time
from sojourn.report.style import text

MS = 10**6

PLOTLY = "99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba"
"""SHA-256 of `plotly-basic.min.js` in plotly.js-basic-dist-min 4.1.1, as npm has it."""


def carried(page: str, name: str) -> str:
    found = re.search(rf'<script id="packed-{name}" type="text/plain">([^<]*)</script>', page)
    assert found is not None
    return gzip.decompress(b64decode(found[1])).decode()


@pytest.fixture(scope="module")
def page(finished: Finished) -> str:
    return (finished.folder / "report.html").read_text()


def test_the_page_carries_its_plots_and_what_draws_them_packed(page: str) -> None:
    plots = json.loads(carried(page, "figures"))
    places = re.findall(r'<div class="plot" id="([^"]+)"', page)
    assert (
        places
        == list(plots["figures"])
        == [
            "over-time-0",
            "distribution-0",
            "course-0",
            "shares",
            "flows",
        ]
    )
    script = carried(page, "script")
    assert "plotly.js (basic" in script[:400]
    assert hashlib.sha256(script.encode()).hexdigest() == PLOTLY, "it is the published one"
    assert len(page) < 1_000_000


def test_the_first_plot_stands_right_below_the_table(page: str) -> None:
    table, plot = page.index("<table class=result>"), page.index('id="over-time-0"')
    between = re.sub(r"<[^>]*>", "", page[page.index("</table>", table) : plot])
    assert between.split("<")[0].split() == ["Queue", "delay", "over", "time,", "in", "ms"]
    assert "<ul>" not in page[:plot], "no bullets that say the table again"


def test_the_page_knows_the_dark_and_narrow_windows(page: str) -> None:
    assert "prefers-color-scheme: dark" in page
    assert "max-width: 40rem" in page
    used = set(re.findall(r"#[0-9a-f]{6}", carried(page, "figures")))
    for ink in ("#1f2933", "#d9dee3", "#111827"):
        assert ink in used and f'"{ink}": ' in page, "each has its colour for the dark"


def test_the_math_unit_is_told_of_where_its_reading_is(finished: Finished) -> None:
    assert reading(finished.result) == ""


def test_drops_stand_on_the_time_line(finished: Finished) -> None:
    (queue,) = plotted(finished.result)
    figure = over_time(finished.result, queue)
    for label, aqm in finished.result.aqms.items():
        summary = aqm.summary
        drops = [trace for trace in figure.data if trace.get("name") == f"{label}, dropped"]
        counted = sum(int(sum(trace["customdata"])) for trace in drops)
        assert counted == summary.aqm_drops + summary.tail_drops + summary.ingress_drops > 0


def samples(folder: Path, rows: list[dict[str, Any]]) -> None:
    whole = [dict.fromkeys(FLOW_SCHEMA.names, 0) | row for row in rows]
    pq.write_table(pa.Table.from_pylist(whole, FLOW_SCHEMA), folder / "flows.parquet")


def test_a_flows_series_is_what_its_samples_say(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    "label", ['<a href="https://evil.example/">codel</a>', "&lt;b&gt;x", "a<b", "&#60;i>"]
)
def test_a_label_is_no_markup_however_often_it_is_decoded(label: str) -> None:
    shown = unescape(text(label))
    assert unescape(shown) == shown
    assert not re.search(r"<[a-zA-Z/]", shown)
    assert shown.replace("\u2060", "") == label
