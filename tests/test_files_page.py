"""docs/files.md lists every column and every JSON key of a run's files."""

import json
import re
from pathlib import Path

import pyarrow.parquet as pq

from conftest import Finished

PAGE = (Path(__file__).parent.parent / "docs/files.md").read_text()


def told(file: str) -> set[str]:
    """What the first cells of the file's own table name."""
    section = PAGE.split(f"## `{file}`\n", 1)[1].split("\n## ", 1)[0]
    cells = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_every_column_of_the_rows_is_documented_with_its_type_and_unit(finished: Finished) -> None:
    for file in ("packets.parquet", "flows.parquet"):
        schema = pq.read_schema(finished.folder / "codel" / file)
        assert told(file) == set(schema.names)
        for field in schema:
            unit = (field.metadata or {}).get(b"unit", b"").decode()
            line = next(each for each in PAGE.split("\n") if each.startswith(f"| `{field.name}` "))
            assert not unit or f"| {unit} |" in line, line


def test_every_key_of_summary_counters_and_run_json_is_documented(
    finished: Finished,
) -> None:
    summary = json.loads((finished.folder / "summary.json").read_text())
    assert told("summary.json") == set(summary["aqms"][0])
    counters = json.loads((finished.folder / "codel/counters.json").read_text())
    assert told("counters.json") >= set(counters)
    for part in (*counters["flows"], *counters["bottlenecks"]):
        assert all(f"`{key}`" in PAGE or key == "discipline" for key in part), part
    assert told("run.json") == set(json.loads((finished.folder / "run.json").read_text()))


def test_every_file_of_a_run_is_documented(finished: Finished) -> None:
    """By its name, or for what belongs to one AQM by its folder's."""
    for path in finished.folder.rglob("*.*"):
        name = path.name if path.parent == finished.folder else f"AQM/{path.name}"
        assert f"`{name}`" in PAGE or (name == "AQM/summary.json"), name
