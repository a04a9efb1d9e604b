"""Queue disciplines that are classes in Python: decisions, parameters, faults, inputs of a run."""

import hashlib
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as pq
import pytest

import sojourn
from conftest import call_sojourn
from sojourn import Decision, Discipline, QueuedPacket, QueueState
from sojourn.model import python_discipline, session_aqms

RUN: dict[str, Any] = {
    "duration": "0.5 s",
    "aqms": ["fifo"],
    "switch": {"rate": "20 Mbit/s"},
    "flows": [{"count": 2, "rtt": "10 ms"}],
}
SCENARIO = """
duration = "0.5 s"
aqms = ["fifo"]
[switch]
rate = "20 Mbit/s"
[[flows]]
count = 2
rtt = "10 ms"
"""
EXAMPLE = Path(__file__).parent.parent / "docs/examples/delay_limit.py"
FAILS = '''
class Fails:
    """Fails at its hundredth packet."""

    def __init__(self):
        self.seen = 0

    def enqueue(self, packet, queue, now):
        self.seen += 1
        return 1 // (100 - self.seen) * 0

    def dequeue(self, packet, queue, now):
        return 0
'''


@pytest.fixture(autouse=True)
def own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_aqms, "_REGISTERED", {})
    monkeypatch.setattr(python_discipline, "_given", {})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "run.toml").write_text(SCENARIO)
    (tmp_path / "fails.py").write_text(FAILS)
    (tmp_path / "delay_limit.py").write_text(EXAMPLE.read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> tuple[int, str]:
    run = ["run", "run.toml", "--no-report", "--out", "out", *arguments]
    done = call_sojourn(Path.cwd(), *run)
    return done.returncode, done.stdout + done.stderr


class KeepsAll(Discipline):
    """Keeps every packet."""


class Records(Discipline):
    """Drops every tenth packet at arrival and marks every tenth at departure."""

    seen: ClassVar[list[tuple[int, int, int, int, int]]] = []

    def __init__(self) -> None:
        self.arrived = self.left = 0

    def enqueue(self, packet: QueuedPacket, queue: QueueState, now: int) -> Decision:
        assert (packet.enqueued, packet.sojourn) == (now, 0)
        self.arrived += 1
        return Decision.DROP if self.arrived % 10 == 0 else Decision.KEEP

    def dequeue(self, packet: QueuedPacket, queue: QueueState, now: int) -> Decision:
        assert packet.sojourn == now - packet.enqueued
        Records.seen.append((packet.number, packet.size, packet.sojourn, packet.ecn, queue.packets))
        self.left += 1
        return Decision.MARK if self.left % 10 == 0 else Decision.KEEP


def test_a_class_that_keeps_all_has_the_rows_of_tail_drop() -> None:
    sojourn.register_discipline("keeps", KeepsAll)
    result = sojourn.run(RUN, aqms=["fifo", "keeps"], report=False)
    assert result.aqms["keeps"].packets.equals(result.aqms["fifo"].packets)


def test_decisions_are_carried_out_and_the_packets_are_those_of_the_rows() -> None:
    Records.seen.clear()
    sojourn.register_discipline("records", Records)
    ecn = RUN | {"flows": [{"count": 2, "rtt": "10 ms", "ecn": True}]}
    result = sojourn.run(ecn, aqms="records", report=False)
    aqm = result.aqms["records"]
    rows = aqm.packets.to_pylist()
    dropped = [row for row in rows if row["verdict"] == "aqm"]
    # Packets in the queue at the end have arrived and have no row.
    assert len(rows) - 9 <= 10 * len(dropped) < len(rows) + 200
    sent = {row["packet"]: row for row in rows if row["verdict"] in ("sent", "marked")}
    for number, size, waited, _, _ in Records.seen:
        row = sent.get(number)
        if row is not None:
            assert (size, waited) == (row["size"], row["dequeued"] - row["enqueued"])
    assert len(sent) > 100
    assert aqm.summary.marks > 10
    assert {ecn for *_, ecn, _ in Records.seen} >= {2}


def test_a_packet_that_cannot_be_marked_is_dropped() -> None:
    class Marks(Discipline):
        def enqueue(self, packet: QueuedPacket, queue: QueueState, now: int) -> Decision:
            return Decision.MARK if queue.packets > 20 else Decision.KEEP

    sojourn.register_discipline("marks", Marks)
    summary = sojourn.run(RUN, aqms="marks", report=False).aqms["marks"].summary
    assert (summary.marks, summary.aqm_drops > 0) == (0, True)


def test_the_constructors_keywords_are_parameters_with_units(folder: Path) -> None:
    low = {"use": "delay_limit.py:DelayLimit", "target": "1 ms", "interval": "10 ms"}
    high = {"use": "delay_limit.py:DelayLimit", "target": "80 ms", "label": "high"}
    result = sojourn.run(RUN, aqms=[low, high], report=False)
    assert result.aqms["DelayLimit"].summary.mean < result.aqms["high"].summary.mean


@pytest.mark.parametrize(
    ("choice", "complaint"),
    [
        ({"targt": "1 ms"}, "no parameter targt; did you mean"),
        ({"target": "5"}, "target: '5': the unit is missing"),
        ({"ecn": "yes"}, "ecn: 'yes': must be true or false"),
        ({"math_unit": "paper"}, "a discipline in Python, which has no math_unit"),
    ],
)
def test_a_wrong_parameter_is_named(
    folder: Path, choice: dict[str, object], complaint: str
) -> None:
    with pytest.raises(sojourn.SojournError, match=complaint):
        sojourn.run(RUN, aqms={"use": "delay_limit.py:DelayLimit"} | choice, report=False)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("delay_limit.py", "name its class"),
        ("delay_limit.py:DelayLimt", "no class DelayLimt; did you mean"),
        ("nothing.py:Class", "nothing.py: no such file of a discipline in Python"),
        (":mine", "another session"),
    ],
)
def test_a_wrong_name_is_answered_with_similar_ones(
    folder: Path, name: str, complaint: str
) -> None:
    code, output = invoke("--aqm", name)
    assert code == 2
    assert complaint in " ".join(output.split())


def test_a_file_of_the_command_line_is_announced_and_listed_by_its_digest(folder: Path) -> None:
    (folder / "helper.py").write_text("LIMIT = 30\n")
    mine = folder / "mine.py"
    mine.write_text("import helper\n" + FAILS.replace("1 // (100 - self.seen) * 0", "0"))
    code, output = invoke("--aqm", "mine.py:Fails")
    assert code == 0, output
    assert "mine.py: a queue discipline in Python, with your rights" in output
    described = (folder / "out/run.json").read_text()
    for file in (mine, folder / "helper.py"):
        assert hashlib.sha256(file.read_bytes()).hexdigest() in described


def test_no_scripts_refuses_a_file_and_runs_nothing_of_it(folder: Path) -> None:
    (folder / "evil.py").write_text("open('ran', 'w')\n" + FAILS)
    code, output = invoke("--aqm", "evil.py:Fails", "--no-scripts")
    assert code == 2
    assert "--no-scripts refuses it" in " ".join(output.split())
    assert not (folder / "ran").exists()


def test_an_exception_ends_the_run_with_its_place_and_the_rows_stay(folder: Path) -> None:
    code, output = invoke("--aqm", "fails.py:Fails")
    assert code != 0
    said = " ".join(output.split())
    line = next(n for n, text in enumerate(FAILS.splitlines(), 1) if "1 //" in text)
    assert f"fails.py:{line}: packet " in said
    assert "Fails.enqueue: ZeroDivisionError" in said
    rows = pq.read_table(next((folder / "out").rglob("Fails/packets.parquet")))
    assert 0 < rows.num_rows < 100
    shown = call_sojourn(folder, "report", "out")
    assert shown.returncode == 0, shown.stderr


def test_a_return_of_another_kind_is_an_error_with_the_methods_line(folder: Path) -> None:
    (folder / "fails.py").write_text(FAILS.replace("return 0", "pass"))
    text = (folder / "fails.py").read_text().replace("1 // (100 - self.seen) * 0", "0")
    (folder / "fails.py").write_text(text)
    code, output = invoke("--aqm", "fails.py:Fails")
    said = " ".join(output.split())
    assert code != 0
    assert "Fails.dequeue: TypeError: returned None; return KEEP, DROP or MARK" in said
    line = next(n for n, text in enumerate(FAILS.splitlines(), 1) if "def dequeue" in text)
    assert f"fails.py:{line}: packet 0" in said


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("class Fails:\n    def enqueue(self): pass\n", "the class has no dequeue"),
        ("1 / 0\n" + FAILS, "fails.py:1: ZeroDivisionError"),
        ("class Fails(\n", "SyntaxError"),
        (
            FAILS.replace("self.seen = 0", "raise ValueError('no')"),
            "Fails.__init__: ValueError: no",
        ),
        (
            FAILS.replace("(self)", "(self, size)"),
            "size: a parameter of a discipline needs a default",
        ),
        (FAILS.replace("(self)", "(self, size='5')"), "is of no kind of a parameter"),
    ],
)
def test_a_class_that_cannot_be_used_is_refused_before_the_run(
    folder: Path, text: str, complaint: str
) -> None:
    (folder / "fails.py").write_text(text)
    code, output = invoke("--aqm", "fails.py:Fails")
    assert code == 2, output
    assert complaint in " ".join(output.split())
    assert not list(folder.rglob("packets.parquet"))


def test_seeds_and_sweeps_run_a_file_in_processes_of_their_own(folder: Path) -> None:
    code, output = invoke("--aqm", "delay_limit.py:DelayLimit", "--seeds", "1..2")
    assert code == 0, output
    assert "DelayLimit" in output


def test_a_class_is_addressed_by_its_name(folder: Path) -> None:
    choice = ("--aqm", "delay_limit.py:DelayLimit", "--set", "aqms.DelayLimit.target=80 ms")
    code, output = invoke(*choice)
    assert code == 0, output
    assert '"target": "80 ms"' in (folder / "out/run.json").read_text()


def test_the_run_seed_reaches_a_parameter_named_seed() -> None:
    seen = []

    class Seeded(Discipline):
        def __init__(self, seed: int = 1) -> None:
            seen.append(seed)

    sojourn.register_discipline("seeded", Seeded)
    sojourn.run(RUN, aqms="seeded", seed=42, report=False)
    assert seen[-1] == 42


@pytest.mark.parametrize("name", ["codel", "./mine", "mine.py:Class", "a:b"])
def test_a_taken_name_or_a_path_is_refused(name: str) -> None:
    with pytest.raises(sojourn.ScenarioError):
        sojourn.register_discipline(name, KeepsAll)


@pytest.mark.parametrize("backend", ["linux", "live"])
def test_other_backends_say_that_they_run_none(folder: Path, backend: str) -> None:
    code, output = invoke("--aqm", "delay_limit.py:DelayLimit", "--on", backend)
    assert code == 2
    assert "discipline in Python" in " ".join(output.split())


def test_a_real_backend_refuses_a_python_discipline_under_a_program(folder: Path) -> None:
    under = '{use = "v1model/router", discipline = {use = "delay_limit.py:DelayLimit"}}'
    (folder / "run.toml").write_text(SCENARIO.replace('"fifo"', under))
    code, output = invoke("--on", "live")
    assert code == 2
    assert "discipline in Python" in " ".join(output.split())


def test_an_exception_in_a_network_of_several_partitions_ends_the_run(folder: Path) -> None:
    scenario = sojourn.load_scenario("two_bottlenecks").model_dump(mode="json", exclude_none=True)
    with pytest.raises(sojourn.SojournError, match=r"fails\.py:\d+: packet \d+, Fails\.enqueue"):
        sojourn.run(scenario, aqms="fails.py:Fails", report=False, set={"duration": "2 s"})
