"""One STF test run on one program: statements in order, then the comparison of outputs.

Depends on the parsed statements, the control plane and the engine's switch in virtual time. After
each packet the switch runs until nothing is left to do. As p4c's bmv2 driver does, a packet behind
a change of the control plane comes a second later, others at once; packets are compared port by
port in the order of their departure.
"""

import json
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sojourn import _core
from sojourn.common.resources import shown
from sojourn.control import (
    ControlError,
    Operation,
    ProgramDescription,
    apply,
    read_description,
)
from sojourn.control.values import index
from sojourn.model.programs import compiled, with_own_folder
from sojourn.results.faults import of_program
from sojourn.tools.stf import statements as stf
from sojourn.tools.stf.compare import difference, dump, pair
from sojourn.tools.stf.operations import operation_of
from sojourn.tools.stf.parse import read_stf
from sojourn.tools.stf.report import Failure, StfError, StfResult

_AFTER_CONTROL = 10**9
_BETWEEN_PACKETS = 1_000
_SETTLE = 10**9
_SHOWN_BYTES = 32
_COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def run_stf(
    program: Path,
    test: Path,
    *,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] | None = None,
    priority_queues: int | None = None,
) -> StfResult:
    """Runs the test in the file `test` on the program in the file `program`.

    `priority_queues` is `simple_switch`'s option: queues of each port, 1 by default. `StfError` if
    the file cannot be read or does not fit the program, `ProgramError` if the program cannot be
    loaded.
    """
    statements = read_stf(test, shown(test))
    paths = with_own_folder(include_paths, program)
    known = compiled(program, include_paths=paths, defines=defines)
    try:
        switch = _core.PacketSwitch(known, priority_queues)
    except _core.ConfigError as error:
        raise StfError(f"{shown(test)}: {error.args[0]}") from None
    run = _Run(shown(test), switch, read_description(switch.describe()))
    for line, statement in statements:
        run.execute(line, statement)
    return run.finish()


@dataclass(frozen=True)
class _Sent:
    """A packet that left the switch, and the line whose packet made it."""

    data: bytes
    line: int


@dataclass
class _Run:
    """A test while it runs."""

    file: str
    switch: _core.PacketSwitch
    program: ProgramDescription
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    expects: dict[int, list[tuple[int, stf.Expect]]] = field(default_factory=dict)
    sent: dict[int, list[_Sent]] = field(default_factory=dict)
    added: list[tuple[str, int]] = field(default_factory=list)
    """Tables of entries with the entries' handles."""
    named: dict[str, int] = field(default_factory=dict)
    """Handles of entries that have a name."""
    last_packet: tuple[int, int] | None = None
    """Line of the last packet, and how many it made leave."""
    packets_in: int = 0
    delay: int = _AFTER_CONTROL

    def execute(self, line: int, statement: stf.Statement) -> None:
        """Carries out one statement; `StfError` if it does not fit the program."""
        try:
            self._execute(line, statement)
        except (ControlError, _core.ConfigError) as error:
            raise StfError(f"{self.file}:{line}: {error.args[0]}") from None

    def _execute(self, line: int, statement: stf.Statement) -> None:
        match statement:
            case stf.Packet():
                self._packet(line, statement)
            case stf.Expect(port):
                self.expects.setdefault(port, []).append((line, statement))
            case stf.NoPacket():
                self._no_packet(line)
            case stf.Check():
                self._check(line, statement)
            case stf.Wait(span):
                self.switch.wait(span)
            case stf.Add():
                self._add(statement)
            case stf.SetDefault():
                self._apply(operation_of(statement, self.switch))
            case stf.RemoveAll():
                for table, handle in self.added:
                    self._apply({"op": "delete_entry", "table": table, "at": handle})
                self.added.clear()
            case stf.Command(text):
                self._command(line, text)

    def _apply(self, operation: Operation) -> int | None:
        self.delay = _AFTER_CONTROL
        return apply(operation, self.switch)

    def _add(self, statement: stf.Add) -> None:
        entry = operation_of(statement, self.switch)
        handle = self._apply(entry)
        assert handle is not None
        self.added.append((entry["table"], handle))
        if statement.name is not None:
            self.named[statement.name.lstrip("$")] = handle

    def _command(self, line: int, text: str) -> None:
        answers = self.switch.command(text)
        self.notes += [f"{self.file}:{line}: {answer}" for answer in answers]
        self.delay = _AFTER_CONTROL

    def _packet(self, line: int, statement: stf.Packet) -> None:
        self.switch.wait(self.delay)
        self.delay = _BETWEEN_PACKETS
        self.packets_in += 1
        self.switch.receive(statement.port, statement.data)
        settled = self.switch.settle(_SETTLE)
        out = self.switch.take()
        for port, data in out:
            self.sent.setdefault(port, []).append(_Sent(data, line))
        self.last_packet = (line, len(out))
        if not settled:
            raise StfError(
                f"{self.file}:{line}: the switch is still busy {_SETTLE // 10**9} s after this "
                "packet: the program makes it go round without end"
            )

    def _no_packet(self, line: int) -> None:
        if self.last_packet is None:
            raise ControlError(
                "no_packet before any packet; write it behind the packet it is about"
            )
        origin, count = self.last_packet
        if count:
            packets = "a packet leaves" if count == 1 else f"{count} packets leave"
            self.failures.append(
                Failure(line, f"no packet was expected, but {packets} (from line {origin})")
            )

    def _check(self, line: int, check: stf.Check) -> None:
        at = self._index(check.index)
        name = self.program.object(check.what, check.name).name
        if check.what == "register":
            halves = self.switch.read_register(name, at)
            found = _half(halves, check.half, f"register {name}")
            what = f"register {name}[{at}]{f' {check.half}' if check.half else ''}"
        else:
            packets, count = self.switch.read_counter(name, at)
            found = count if check.unit == "bytes" else packets
            what = f"{check.unit or 'packets'} of counter {name}[{at}]"
        if not _COMPARE[check.operator](found, check.number):
            wanted = f"{check.operator} {check.number}"
            self.failures.append(Failure(line, f"{what}: {found}, expected {wanted}"))

    def _index(self, text: str) -> int:
        if text[0].isdigit():
            return index(text, "index")
        name = text.lstrip("$")
        if name not in self.named:
            known = ", ".join(self.named) or "none"
            raise ControlError(f"no entry was called {name} by an add (named so far: {known})")
        return self.named[name]

    def finish(self) -> StfResult:
        """Compares port by port and returns what has come out."""
        for port in sorted({*self.expects, *self.sent}):
            self._compare_port(port)
        self.failures.sort(key=lambda failure: failure.line)
        out = sum(map(len, self.sent.values()))
        notes, failures = tuple(self.notes), tuple(self.failures)
        faults = tuple(of_program(json.loads(self.switch.faults())))
        return StfResult(self.file, self.packets_in, out, failures, notes, faults)

    def _compare_port(self, port: int) -> None:
        expects, sent = self.expects.get(port, []), self.sent.get(port, [])
        pairing = pair([expect for _, expect in expects], [packet.data for packet in sent])
        for e, p in pairing.pairs:
            if e is None and p is not None:
                packet = sent[p]
                message = f"port {port}: a packet that nothing expects leaves"
                detail = (_start(packet.data),)
                hexadecimal = packet.data.hex()
                self.failures.append(Failure(packet.line, message, detail, received=hexadecimal))
            elif e is not None and p is None:
                line, expect = expects[e]
                message = f"port {port}: the packet that is expected does not come"
                self.failures.append(
                    Failure(line, message, self._elsewhere(port), expected=expect.pattern)
                )
            elif e is not None and p is not None:
                self._compare(port, *expects[e], sent[p])

    def _elsewhere(self, port: int) -> tuple[str, ...]:
        """The ports by which packets did leave, for one that is missing at `port`."""
        ports = [
            f"{len(sent)} by port {other}" for other, sent in sorted(self.sent.items()) if sent
        ]
        return (f"packets that left: {', '.join(ports) or 'none'}",)

    def _compare(self, port: int, line: int, expect: stf.Expect, packet: _Sent) -> None:
        wrong = difference(expect, packet.data)
        if wrong is None:
            return
        message = f"port {port}: the packet from line {packet.line} is not as expected: {wrong}"
        pattern = (expect.pattern or "") + ("$" if expect.exact else "")
        self.failures.append(
            Failure(line, message, dump(expect, packet.data), pattern, packet.data.hex())
        )


def _half(halves: Sequence[str], wanted: str | None, what: str) -> int:
    """The number in a half of a register's entry, the first unless said."""
    places = {None: 0, "lo": 0, "hi": 1}
    if wanted not in places:
        raise ControlError(f"{what}: {wanted} is no half of an entry; they are lo and hi")
    if places[wanted] >= len(halves):
        raise ControlError(f"{what} has entries of one word, lo")
    return int(halves[places[wanted]])


def _start(data: bytes) -> str:
    more = f" ... ({len(data)} bytes)" if len(data) > _SHOWN_BYTES else f" ({len(data)} bytes)"
    return f"received  {data[:_SHOWN_BYTES].hex(' ')}{more}"
