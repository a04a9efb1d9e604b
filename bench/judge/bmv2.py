"""Packets and commands through bmv2's `simple_switch` and through ours, compared byte by byte.

    python bench/judge/bmv2.py [FILE.stf | PROGRAM.p4]... [--judge FOLDER] [--frames 400] [--seed 1]

A packet test (`.stf`) runs with its program: its commands and packets in their order, and
what its checks read. A program gets its control plane as `sojourn emit --for bmv2` writes it and
hostile frames. Without files: every program of `p4/v1model/`, every test in `tests/stf/v1model/`.

The judge's folder (`simple_switch.py` says what is in it) is an argument or SOJOURN_JUDGE. Ends
with status 1 if anything differs, or if `simple_switch_CLI` complains, or p4c does about a program.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from frames import checksum, frames
from simple_switch import JudgeError, SimpleSwitch, compile_program, complaint

from sojourn import _core
from sojourn.common.resources import programs_folder, shown
from sojourn.control import Operation, ProgramDescription, apply
from sojourn.control.file import ProgramChoice
from sojourn.results.faults import of_program
from sojourn.tools.emit import TARGETS, Job
from sojourn.tools.stf import statements as stf
from sojourn.tools.stf.operations import operation_of
from sojourn.tools.stf.parse import read_stf

STF = Path(__file__).parents[2] / "tests" / "stf" / "v1model"
_INCLUDE = programs_folder() / "include"
_PORTS = range(16)
"""That `simple_switch` has; what it sends elsewhere is lost, so a test stays within."""
_GAP = 1_000_000
"""ns between frames: long enough for no queue to build up."""
_SECOND = 10**9
_TIMES = {"timing": (7,)}
"""Bytes of a test's packets that are a time."""
_TCP = 6

KNOWN = {
    "expressions.stf": "p4c for bmv2 leaves a loop with `break` in it after one round",
    "older.stf": "p4c has no clone3, resubmit and recirculate of older programs any more",
    "parsing.stf": "simple_switch does not take a value for a value set",
}
"""What differs, and why that is left so."""

_CALM = {"TARGET": "1000000000"}
"""CoDel with a target of 1 s: `simple_switch` runs by the machine's clock, and where the machine is
busy its packets wait for more than the usual 5 ms, and are dropped, for a reason of no interest."""

Sent = dict[int, list[bytes]]
"""Frames that left, port by port."""


@dataclass
class Verdict:
    """What a case has shown."""

    name: str
    received: int = 0
    sent: int = 0
    complaints: list[str] = field(default_factory=list)
    """Of p4c, of the command line, and every difference."""

    def __str__(self) -> str:
        known = f", as is known: {KNOWN[self.name]}" if self.name in KNOWN else ""
        state = f"DIFFERS{known}" if self.complaints else "same"
        lines = [f"{self.name}: {state} ({self.received} packets in, {self.sent} out)"]
        return "\n".join([*lines, *(f"  {text}" for text in self.complaints)])


@dataclass
class Pair:
    """Both switches, which get the same commands and packets."""

    choice: ProgramChoice
    theirs: SimpleSwitch
    ours: _core.PacketSwitch
    verdict: Verdict
    sent: Sent = field(default_factory=dict)
    """By ours."""

    @property
    def program(self) -> ProgramDescription:
        """What the program declares."""
        return self.choice.declarations

    def send(self, port: int, frame: bytes) -> None:
        """A frame arrives at both."""
        time.sleep(_GAP / _SECOND)
        self.theirs.receive()
        self.ours.wait(_GAP)
        self.ours.receive(port, frame)
        self.ours.settle(_SECOND)
        for out, data in self.ours.take():
            self.sent.setdefault(out, []).append(data)
        self.verdict.received += 1

    def tell(self, line: str) -> str:
        """A command for theirs alone; what it complains of is noted."""
        self.theirs.settle()
        answer = self.theirs.command(line)
        wrong = complaint(answer)
        if wrong is not None:
            self.verdict.complaints.append(f"simple_switch_CLI: {line!r}: {wrong}")
        return answer

    def command(self, line: str) -> None:
        """A command for both."""
        self.tell(line)
        # Theirs has no traffic at a rate that ours should keep.
        if not line.startswith("set_queue"):
            self.ours.command(line)

    def carry_out(self, operation: Operation) -> tuple[int, int]:
        """An operation for both; the handles that an entry gets from theirs and from ours."""
        table: dict[str, object] = {"name": operation["table"]}
        if "entry" in operation:
            table["entries"] = [operation["entry"]]
        else:
            table["default"] = operation["call"]
        answer = "".join(map(self.tell, commands(self.choice, {"tables": [table]})))
        handle = apply(operation, self.ours)
        found = re.search(r"added with handle (\d+)", answer)
        return int(found[1]) if found else -1, -1 if handle is None else handle

    def compare(self, normal: Callable[[bytes], bytes]) -> None:
        """Notes every difference in what has left."""
        self.theirs.settle()
        if not self.theirs.running():
            self.verdict.complaints.append("simple_switch has crashed")
        theirs = self.theirs.sent()
        self.verdict.sent = sum(map(len, theirs.values()))
        for port in sorted({*theirs, *self.sent}):
            frames = ([*map(normal, sent.get(port, []))] for sent in (theirs, self.sent))
            self.verdict.complaints += _differences(port, *frames)


def commands(choice: ProgramChoice, control: dict[str, object]) -> list[str]:
    """A control plane as the commands that `sojourn emit` writes."""
    text = TARGETS["bmv2"].files(Job(choice, control))["commands.txt"]
    return str(text).splitlines()


def _differences(port: int, theirs: Sequence[bytes], ours: Sequence[bytes]) -> Iterator[str]:
    if len(theirs) != len(ours):
        yield f"port {port}: {len(theirs)} packets from simple_switch, {len(ours)} from ours"
    for number, (one, other) in enumerate(zip(theirs, ours, strict=False)):
        if one != other:
            yield f"port {port}, packet {number}: simple_switch {one.hex()}"
            yield f"port {port}, packet {number}: ours          {other.hex()}"
            return


def judge_program(
    choice: ProgramChoice,
    judge: Path,
    name: str,
    arrivals: Sequence[tuple[int, bytes]],
    drive: Callable[[Pair], None],
    normal: Callable[[bytes], bytes] = bytes,
    queues: int = 1,
    warnings: bool = True,
) -> Verdict:
    """Compiles a program, lets `drive` do the same to both switches, and compares.

    `arrivals` are the frames that it will send, each with its port; `warnings` says whether the
    compiler's count.
    """
    verdict = Verdict(name)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        compiled = folder / "program.json"
        program, defines = choice.program, choice.defines
        try:
            said = compile_program(judge, program, compiled, defines=defines)
        except JudgeError as error:
            verdict.complaints.append(f"p4c: {error}")
            return verdict
        if warnings:
            verdict.complaints += [line for line in said.splitlines() if "warning" in line]
        paths = [str(path) for path in choice.include_paths]
        ours = _core.PacketSwitch(_core.Program(str(program), paths, defines), queues)
        with SimpleSwitch(judge, compiled, folder, _PORTS, queues, arrivals) as theirs:
            theirs.be_old(1.2)
            ours.wait(_SECOND)
            pair = Pair(choice, theirs, ours, verdict)
            try:
                drive(pair)
            except JudgeError as error:
                verdict.complaints.append(str(error))
            pair.compare(normal)
    # A field of an invalid header reads here as it does there, which the packets show.
    faults = [fault for fault in json.loads(ours.faults()) if fault["kind"] != "invalid_read"]
    verdict.complaints += [f"ours has a fault: {said}" for said in of_program(faults)]
    return verdict


# ---- A program, its control plane, hostile frames


def judge_hostile(
    program: Path, judge: Path, count: int, seed: int, defines: Mapping[str, str], queues: int = 1
) -> Verdict:
    """`count` frames to a program with the control plane that `sojourn emit` writes for it.

    What a packet's queue is shows in what leaves: no packet of a queue that is not there does.
    """
    choice = ProgramChoice(program, "v1model", (str(_INCLUDE),), dict(defines))
    arrivals = [(number % 3, frame) for number, frame in enumerate(frames(count, seed))]

    def drive(pair: Pair) -> None:
        for line in commands(choice, Job.of(choice).control):
            pair.command(line)
        for port, frame in arrivals:
            pair.send(port, frame)

    measured = "QUEUE_MEASUREMENT" in defines or program.stem == "queue_measurement"
    words = [program.stem, *(f"-D {define}" for define in defines)]
    words += [f"--priority-queues {queues}"] * (queues > 1)
    normal = without_delay if measured else bytes
    return judge_program(choice, judge, " ".join(words), arrivals, drive, normal, queues)


def without_delay(frame: bytes) -> bytes:
    """The frame without the delay that `aqm/queue_measurement.p4` has written into it.

    Its checksum becomes what it would be with a delay of 0, so that a wrong one still shows.
    """
    ip = 4 * (frame[14] & 15) if frame[12:14] == b"\x08\x00" else 0
    tcp = 14 + ip
    if not ip or frame[23] != _TCP or len(frame) < tcp + 20 or frame[20] & 31 or frame[21]:
        return frame
    at = tcp + 4 * (frame[tcp + 12] >> 4)
    room = int.from_bytes(frame[16:18], "big") >= at - 14 + 4
    if at < tcp + 20 or len(frame) < at + 4 or not room:
        return frame
    mended = ~checksum(frame[at : at + 4] + frame[tcp + 16 : tcp + 18]) & 0xFFFF
    out = bytearray(frame)
    out[at : at + 4] = bytes(4)
    # In ones' complement 0 and 0xffff are the same.
    out[tcp + 16 : tcp + 18] = (mended % 0xFFFF).to_bytes(2, "big")
    return bytes(out)


# ---- A packet test


def judge_stf(test: Path, judge: Path) -> Verdict:
    """The packets and commands of a test, and what its checks read."""
    choice = ProgramChoice(test.with_suffix(".p4"), "v1model", (str(_INCLUDE),))
    statements = [statement for _, statement in read_stf(test, shown(test))]
    arrivals = [(each.port, each.data) for each in statements if isinstance(each, stf.Packet)]

    def drive(pair: Pair) -> None:
        run = _Test(pair)
        for statement in statements:
            run.execute(statement)

    normal = partial(_without, times=_TIMES.get(test.stem, ()))
    # What packet tests share is more than each of them uses.
    return judge_program(choice, judge, test.name, arrivals, drive, normal, warnings=False)


def _without(frame: bytes, times: Sequence[int]) -> bytes:
    """The frame with its times set to 0."""
    return bytes(0 if at in times else byte for at, byte in enumerate(frame))


@dataclass
class _Test:
    """A packet test while it runs."""

    pair: Pair
    added: list[tuple[str, int, int]] = field(default_factory=list)
    named: dict[str, tuple[int, int]] = field(default_factory=dict)

    def execute(self, statement: stf.Statement) -> None:
        """Carries out one statement; what it expects is `sojourn test`'s to judge."""
        pair = self.pair
        match statement:
            case stf.Packet(port, data):
                pair.send(port, data)
            case stf.Wait(span):
                pair.theirs.settle()
                time.sleep(span / _SECOND)
                pair.ours.wait(span)
            case stf.Add(name=name):
                entry = operation_of(statement, pair.ours)
                handles = pair.carry_out(entry)
                self.added.append((entry["table"], *handles))
                self.named[(name or "").lstrip("$")] = handles
            case stf.SetDefault():
                pair.carry_out(operation_of(statement, pair.ours))
            case stf.RemoveAll():
                for table, theirs, ours in self.added:
                    pair.tell(f"table_delete {table} {theirs}")
                    apply({"op": "delete_entry", "table": table, "at": ours}, pair.ours)
                self.added.clear()
            case stf.Command(text):
                pair.command(text)
            case stf.Check():
                self._check(statement)

    def _check(self, check: stf.Check) -> None:
        pair = self.pair
        name = pair.program.object(check.what, check.name).name
        plain = check.index[0].isdigit()
        theirs, ours = [int(check.index, 0)] * 2 if plain else self.named[check.index.lstrip("$")]
        answer = pair.tell(f"{check.what}_read {name} {theirs}").partition("]=")[2]
        found: tuple[int, ...]
        if check.what == "register":
            read = tuple(map(int, re.findall(r"\d+", answer.splitlines()[0])))
            found = tuple(map(int, pair.ours.read_register(name, ours)))
        else:
            cells = {what: int(number) for number, what in re.findall(r"(\d+) (\w+)", answer)}
            read = (cells["packets"], cells["bytes"])
            found = pair.ours.read_counter(name, ours)
        if read != found:
            where = f"{check.what} {name}[{check.index}]"
            pair.verdict.complaints.append(f"{where}: simple_switch {read}, ours {found}")


def cases(files: Sequence[Path], judge: Path, count: int, seed: int) -> Iterator[Verdict]:
    """The verdict about each file, one after the other."""
    for file in files or [*sorted((programs_folder() / "v1model").glob("*.p4")), *tests()]:
        if file.suffix == ".stf":
            yield judge_stf(file, judge)
            continue
        # Which queue a packet goes to shows in what leaves by fewer than the program has.
        calm = _CALM if "codel" in file.stem else {}
        for queues in (1, 2, 4, 8) if file.stem == "fq_codel" else (1,):
            yield judge_hostile(file, judge, count, seed, calm, queues)
        for define in ("QUEUE_MEASUREMENT", "CONTROL_LAW_EXACT"):
            if define in _defines(file):
                yield judge_hostile(file, judge, count, seed, calm | {define: "1"})


def tests() -> list[Path]:
    """Our packet tests for v1model."""
    return sorted(STF.glob("*.stf"))


def _defines(program: Path) -> str:
    """The text in which a program's macros are asked for."""
    text = program.read_text()
    return text + ("CONTROL_LAW_EXACT" if "codel" in program.stem else "")


def main() -> int:
    """Prints the verdicts; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--judge", type=Path, default=os.environ.get("SOJOURN_JUDGE"))
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.judge is None:
        parser.error("name the judge's folder with --judge or in SOJOURN_JUDGE")
    same = True
    try:
        for verdict in cases(given.files, given.judge, given.frames, given.seed):
            print(verdict, flush=True)
            same = same and bool(verdict.complaints) == (verdict.name in KNOWN)
    except JudgeError as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
