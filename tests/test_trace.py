"""Trace of one packet, on a switch alone and in a run; registers over time; a trace changes no
result."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conftest import Sojourn, call_sojourn
from sojourn.common.resources import programs_folder
from sojourn.control.file import ProgramChoice
from sojourn.model.programs import with_own_folder
from sojourn.results.report.register_plots import read_registers
from sojourn.tools.trace import Line, lines_of, trace_frames

FRAME = (
    "02000a800001 02000a000001 0800 4500002e00000000 40066649 0a000001 0a800001"
    "1388138900000001 0000000150100000 0000 0000 000000000000"
).replace(" ", "")
SCENARIO = """
duration = "2 s"
aqms = [
    { use = "codel_exact", label = "plain" },
    { use = "codel_exact", label = "traced", trace = ["codel.schedule", "dropping[64]"] },
]
[switch]
rate = "20 Mbit/s"
[[flows]]
count = 3
rtt = "20 ms"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one program twice, once with registers traced."""
    folder = tmp_path_factory.mktemp("traced")
    (folder / "scenario.toml").write_text(SCENARIO)
    done = call_sojourn(folder, "run", "scenario.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    return folder / "out"


def everything(lines: list[Line]) -> Iterator[Line]:
    """All lines of a tree."""
    for line in lines:
        yield line
        yield from everything(list(line.below))


def texts(passes: Any) -> list[str]:
    """The words of all lines."""
    return [line.text for line in everything(lines_of(passes))]


def test_a_frame_goes_through_parser_tables_and_deparser() -> None:
    program = programs_folder() / "v1model/router.p4"
    choice = ProgramChoice(program, None, with_own_folder((), program), {})
    [way] = trace_frames(choice, [bytes.fromhex(FRAME)], port=1)
    said = texts(way.passes)
    assert [one["pass"] for one in way.passes] == ["ingress", "egress"]
    assert any(line.startswith("parser") and "accepted, 54 bytes taken" in line for line in said)
    assert any(": hit entry 1: " in line and "port = 2" in line for line in said), said
    assert any(line.endswith("ttl = 63, was 64") for line in said), said
    [(port, sent)] = way.sent
    assert port == 2 and len(sent) == len(FRAME) // 2
    assert sent.hex() == way.passes[1]["became"]["bytes"]


def test_every_place_is_one_in_the_program(run: Path) -> None:
    trace = json.loads(call_sojourn(run, "trace", run, "aqm", "--aqm", "traced", "--json").stdout)

    def places(step: Any) -> Iterator[tuple[str, str]]:
        if isinstance(step, dict):
            if step.get("place") and step.get("text") and step["step"] == "set":
                yield step["place"], step["text"]
            for value in step.values():
                yield from places(value)
        elif isinstance(step, list):
            for value in step:
                yield from places(value)

    found = list(places(trace))
    assert len(found) > 10
    for place, text in found:
        path, line, _ = place.rsplit(":", 2)
        written = Path(path).read_text().splitlines()[int(line) - 1]
        assert text in " ".join(written.split()), place


def test_the_trace_of_a_dropped_packet_shows_the_reason_and_the_alu(run: Path) -> None:
    trace = json.loads(call_sojourn(run, "trace", run, "aqm", "--aqm", "traced", "--json").stdout)
    [way] = trace["packets"]
    assert [one["pass"] for one in way["passes"]] == ["ingress", "egress"]
    assert way["passes"][-1]["became"] == {"to": "dropped", "bytes": None}
    said = texts(way["passes"])
    assert "eg_dprsr_md.drop_ctl = 1, was 0" in said
    assert "Egress.codel.dropping[64]: 0 -> 1" in said
    assert any(line.startswith("cmplo: geq.u phv_lo row0 -> true") for line in said)


def test_registers_over_time_agree_with_the_packet_that_changed_them(run: Path) -> None:
    trace = json.loads(call_sojourn(run, "trace", run, "aqm", "--aqm", "traced", "--json").stdout)
    egress = trace["packets"][0]["passes"][-1]

    def accesses(step: Any) -> Iterator[dict[str, Any]]:
        if isinstance(step, dict):
            if "access" in step:
                yield step["access"]
            for value in step.values():
                yield from accesses(value)
        elif isinstance(step, list):
            for value in step:
                yield from accesses(value)

    schedule = next(a for a in accesses(egress) if a["register"] == "Egress.codel.schedule")
    rows = pq.read_table(run / "traced/registers.parquet")
    assert rows.column_names == ["time", "register", "value"]
    at = [row for row in rows.to_pylist() if row["time"] == egress["time"]]
    found = {row["register"]: row["value"] for row in at}
    names = [f"Egress.codel.schedule[{schedule['index']}].{field}" for field in (0, 1)]
    assert schedule["old"] == [0, 0]
    assert [found[name] for name in names] == schedule["new"]
    series = read_registers(run / "traced")
    assert {*names, "Egress.codel.dropping[64]"} == set(series)
    assert set(series["Egress.codel.dropping[64]"][1]) == {0, 1}


def test_looking_on_changes_no_row(run: Path) -> None:
    plain, traced = (run / name / "packets.parquet" for name in ("plain", "traced"))
    assert plain.read_bytes() == traced.read_bytes()
    assert not (run / "plain/registers.parquet").exists()
    page = (run / "report.html").read_text()
    assert "Registers of traced" in page and "Registers of plain" not in page


def test_a_page_has_the_tree_to_open(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "way.html"
    done = call_sojourn(tmp_path, "trace", run, "aqm", "--html", page)
    assert done.returncode == 0 and "<summary" in page.read_text()
    assert "Egress.codel.dropping[64]: 0 -&gt; 1" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("RUN", "12345678"), "no packet 12345678 was at the bottleneck"),
        (("RUN", "mark"), "no packet has the verdict mark"),
        (("RUN", "first"), "a number in"),
        (("RUN", "1", "--aqm", "plane"), 'did you mean "plain"?'),
        (("p4/tna/codel_exact.p4", "xyz"), "neither a frame in hexadecimal digits nor a pcap file"),
        (("p4/tna/codel_exact.p4", "00", "--at", "5 m"), "--at 5 m"),
        (("p4/npu/codel.p4", FRAME), "cannot be followed step by step"),
        (("nowhere.p4", "00"), "no such P4 program"),
    ],
)
def test_a_packet_that_cannot_be_traced_is_an_error(
    run: Path, sojourn: Sojourn, arguments: tuple[str, ...], words: str
) -> None:
    own = programs_folder().parent
    given = [
        str(run) if word == "RUN" else str(own / word) if word.startswith("p4/") else word
        for word in arguments
    ]
    done = sojourn("trace", *given)
    assert done.returncode == 2, done.stderr
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        ('["codel.schedul"]', "codel.schedule"),
        ('["codel.schedule[99999999]"]', "99999999"),
        ('["codel.schedule[0..200]"]', "at most 64 cells"),
        ('["a b"]', "a b"),
    ],
)
def test_a_register_that_is_not_there_is_reported(
    sojourn: Sojourn, tmp_path: Path, trace: str, words: str
) -> None:
    text = SCENARIO.replace('["codel.schedule", "dropping[64]"]', trace)
    (tmp_path / "scenario.toml").write_text(text)
    done = sojourn("run", "scenario.toml", "--out", "out")
    assert done.returncode == 2 and words in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()
