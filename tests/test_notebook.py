"""The Python interface in a notebook."""

import gc
import importlib.util
import json
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sojourn
from sojourn import ScenarioError
from sojourn.runtime.arrow_tables import FLOW_SCHEMA, PACKET_SCHEMA

SHORT: dict[str, Any] = {
    "title": "<Three> flows",
    "duration": "0.3 s",
    "aqms": ["fifo", "codel"],
    "switch": {"rate": "50 Mbit/s", "queue_limit": "500 kB"},
    "flows": [{"count": 3, "rtt": "5 ms"}],
}


@pytest.fixture(scope="module")
def result() -> sojourn.RunResult:
    return sojourn.run(SHORT, report=False)


def test_a_result_shows_itself_in_a_few_lines(result: sojourn.RunResult) -> None:
    first, *lines = repr(result).splitlines()
    assert first.startswith("Result of scenario, seed 1, in ")
    assert [line.split()[:2] for line in lines] == [["fifo", "mean"], ["codel", "mean"]]
    assert max(map(len, lines)) < 100


def test_a_notebook_shows_table_and_picture(result: sojourn.RunResult) -> None:
    page = result._repr_html_()
    assert "&lt;Three&gt; flows" in page
    assert page.count("<tr>") == 3
    assert "data:image/png;base64,iVBOR" in page
    assert result.plot("distribution")._repr_png_().startswith(b"\x89PNG")


def test_the_summary_is_a_table_of_all_figures(result: sojourn.RunResult) -> None:
    table = result.summary
    assert table["aqm"].to_pylist() == ["fifo", "codel"]
    for label, row in zip(("fifo", "codel"), table.to_pylist(), strict=True):
        assert row == {"aqm": label, "complete": True} | result.aqms[label].summary.as_dict()


def test_rows_of_all_aqms_come_as_they_are_read(result: sojourn.RunResult) -> None:
    reader = result.packets()
    assert isinstance(reader, pa.RecordBatchReader)
    table = reader.read_all()
    assert table.schema.names == ["aqm", *PACKET_SCHEMA.names]
    codel = table.filter(pc.equal(table["aqm"], "codel")).drop_columns("aqm")
    assert codel.equals(result.aqms["codel"].packets)
    assert set(result.packets("fifo").read_all()["aqm"].to_pylist()) == {"fifo"}
    assert result.flows().schema.names == ["aqm", *FLOW_SCHEMA.names]
    with pytest.raises(ScenarioError, match="cake: no such AQM; there are fifo, codel"):
        result.packets("cake")


def test_without_a_report_nothing_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = sojourn.run(SHORT, aqms="codel", report=False)
    assert not list(tmp_path.rglob("*.html")) and not list(tmp_path.rglob("*.png"))
    assert kept.packets().read_all().num_rows == kept.aqms["codel"].summary.packets
    del kept
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_an_aqm_is_a_name_or_a_table_or_a_list_of_both() -> None:
    def labels(aqms: Any) -> list[str]:
        return list(sojourn.run(SHORT, aqms=aqms, set={"duration": "0.05 s"}, report=False).aqms)

    assert labels("codel") == ["codel"]
    assert labels({"use": "codel", "target": "1 ms"}) == ["codel"]
    assert labels(["fifo", {"use": "codel", "label": "ours"}]) == ["fifo", "ours"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"aqms": [{"use": "codel", "tarjet": "1 ms"}]}, 'did you mean "target"'),
        ({"aqms": [{"use": "codel", "target": 5}]}, "aqms[0].target: 5: write a time as text"),
        ({"aqms": [7]}, '{"use": "codel"}'),
        ({"aqms": ["codel", "codel"]}, "codel is given twice"),
        ({"seed": "7"}, "write a whole number"),
        ({"set": {"duration": 3}}, 'duration: 3: write a time as text with its unit, like "5 ms"'),
    ],
)
def test_contradictory_options_are_refused_in_one_line(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        sojourn.run(SHORT, report=False, **given)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.skipif(importlib.util.find_spec("pandas") is not None, reason="pandas is here")
def test_pandas_is_not_needed_and_reported_to_be_missing(result: sojourn.RunResult) -> None:
    with pytest.raises(ScenarioError, match="pip install pandas"):
        result.to_pandas()
    for reader in (result.packets(), result.flows()):
        with pytest.raises(ScenarioError, match=r"pip install pandas$"):
            reader.read_pandas()
    assert pa.table(result.packets("codel")).num_rows == result.aqms["codel"].packets.num_rows


def test_an_earlier_run_is_opened_again(tmp_path: Path) -> None:
    run = sojourn.run(SHORT, out=tmp_path / "out", report=False)
    assert sojourn.open_run(tmp_path / "out").summary.equals(run.summary)
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert [aqm["aqm"] for aqm in summary["aqms"]] == ["fifo", "codel"]


def test_a_check_is_short_when_looked_at_and_whole_when_printed(tmp_path: Path) -> None:
    path = tmp_path / "broken.p4"
    path.write_text("#include <core.p4>\nstruct s { bit<3> y }\n")
    found = sojourn.check(path)
    assert repr(found) == "<check: 1 error, 0 warnings>"
    assert "expected `;`" in str(found)
    assert found.state is None
