"""Executes lines of commands on a live switch: those of `simple_switch_CLI`, and those that show
state.

Consecutive operations form one batch, executed wholly or not at all; a line that reads state ends
the batch. The engine parses each line. Must not depend on a terminal.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Protocol

from sojourn import _core
from sojourn.control import ControlError, Operation, ProgramDescription, read_description
from sojourn.control.values import index
from sojourn.model.units import RATE


class Switch(Protocol):
    """A switch that executes commands."""

    def apply(self, operations: str) -> list[int | None]:
        """All of them or none."""

    def read(self, query: dict[str, Any]) -> Any:
        """The answer to a question."""

    def report(self) -> dict[str, Any]:
        """The counters so far."""


@dataclass(frozen=True)
class Answer:
    """The result of a line."""

    line: str
    text: list[str] = field(default_factory=list)
    data: Any = None


@dataclass(frozen=True)
class _Batched:
    line: str
    operations: list[Operation]


def carry_out(lines: Iterable[str], description: str | None, switch: Switch) -> list[Answer]:
    """The answers to all lines; `ControlError` names the first that is wrong. Every line is read
    before the first is carried out.

    `description` is the program's, as the engine's JSON; None if the switch runs none.
    """
    session = None if description is None else _core.Commands(description)
    program = None if description is None else read_description(description)
    found = (_read(line, session, program) for line in lines)
    read = [one for one in found if one is not None]
    answers: list[Answer] = []
    batch: list[_Batched] = []
    for line, step in read:
        if isinstance(step, _Batched):
            batch.append(step)
            continue
        answers += _flush(batch, switch)
        batch = []
        answers.append(_asked(line, step, switch))
    return answers + _flush(batch, switch)


@dataclass(frozen=True)
class _Ask:
    """Queries with what to put in front of each answer; or the switch's report."""

    queries: list[tuple[str, dict[str, Any]]]
    ports: bool = False


def _read(
    line: str, session: _core.Commands | None, program: ProgramDescription | None
) -> tuple[str, _Batched | _Ask] | None:
    line = _core.without_comment(line)
    if not line:
        return None
    name, *words = line.split()
    if name == "show_ports":
        return line, _Ask([], ports=True)
    if name == "set_port_rate":
        return line, _Batched(line, [_shape(words)])
    if session is None or program is None:
        raise ControlError(
            f"{line}: this switch runs no program; set_port_rate and show_ports work"
        )
    if name in ("table_dump", "table_num_entries"):
        table = program.table(_one(words, f"{name} TABLE")).name
        return line, _Ask(
            [(table, {"read": what, "table": table}) for what in ("entries", "default")]
        )
    if name == "show_tables":
        return line, _Ask([(table.name, {}) for table in program.tables])
    if name == "mirroring_get":
        raise ControlError(f"{line}: a running switch does not tell its sessions")
    try:
        operations, queries = map(json.loads, session.read(line))
    except _core.ConfigError as error:
        raise ControlError(f"{line}: {error}") from None
    if queries:
        return line, _Ask([(name, query) for name, query in queries])
    return line, _Batched(line, operations)


def _shape(words: list[str]) -> dict[str, object]:
    usage = "set_port_rate PORT RATE, as in set_port_rate 2 50 Mbit/s, or set_port_rate 2 off"
    if len(words) < 2:
        raise ControlError(f"write {usage}")
    port, text = index(words[0], "port"), " ".join(words[1:])
    shape: dict[str, object] = {"op": "shape_port", "port": port}
    if text == "off":
        return shape
    try:
        return shape | {"rate": RATE.parse(text)}
    except ValueError as error:
        raise ControlError(f"{error}; write {usage}") from None


def _one(words: list[str], usage: str) -> str:
    if len(words) != 1:
        raise ControlError(f"write {usage}")
    return words[0]


def _flush(batch: list[_Batched], switch: Switch) -> list[Answer]:
    operations = [one for line in batch for one in line.operations]
    if not operations:
        return [Answer(line.line) for line in batch]
    try:
        handles = iter(switch.apply(json.dumps(operations)))
    except ControlError as error:
        raise ControlError(f"nothing was done: {error}") from None
    answers = []
    for line in batch:
        given = [handle for _, handle in zip(line.operations, handles, strict=False)]
        added = [handle for handle in given if handle is not None]
        text = [f"entry has been added with handle {handle}" for handle in added]
        answers.append(Answer(line.line, text, added))
    return answers


def _asked(line: str, ask: _Ask, switch: Switch) -> Answer:
    if ask.ports:
        report = switch.report()
        return Answer(line, _ports(report), report["live"]["ports"])
    if all(not query for _, query in ask.queries):
        names = [name for name, _ in ask.queries]
        return Answer(line, names, names)
    replies = [(name, query, switch.read(query)) for name, query in ask.queries]
    if line.startswith("table_num_entries"):
        count = len(replies[0][2])
        return Answer(line, [f"{count} entries"], count)
    text = [one for name, query, reply in replies for one in _shown(name, query, reply)]
    return Answer(line, text, [{"of": name, "is": reply} for name, _, reply in replies])


def _ports(report: dict[str, Any]) -> list[str]:
    return [
        f"{port['port']}: {port['interface']}, {port['received']} frames in, {port['sent']} out"
        for port in report["live"]["ports"]
    ]


def _shown(name: str, query: dict[str, Any], reply: Any) -> list[str]:
    match query["read"]:
        case "entries":
            return [f"{name}: {len(reply)} entries", *(_entry(one) for one in reply)]
        case "default":
            return [f"default: {_call(reply) if reply else 'none'}"]
        case "counter":
            return [f"{name} = {reply['packets']} packets, {reply['bytes']} bytes"]
        case "register":
            return [f"{name} = {', '.join(map(str, reply))}"]
        case _:
            return [f"{name} = {reply}"]


def _entry(one: dict[str, Any]) -> str:
    entry = one["entry"]
    keys = ", ".join(f"{key} = {_match(value)}" for key, value in entry["match"].items())
    priority = f", priority {entry['priority']}" if entry.get("priority") else ""
    of_program = ", of the program" if one["is_const"] else ""
    return f"  {one['handle']}: {keys or 'anything'}{priority} => {_call(entry)}{of_program}"


def _match(value: Any) -> str:
    """The value of a key element; a prefix is shown as an address."""
    match value:
        case {"value": start, "prefix": length}:
            number = int(start)
            address = IPv6Address(number) if number >> 32 else IPv4Address(number)
            return f"{address}/{length}"
        case {"value": bits, "mask": mask}:
            return f"{int(bits):#x} &&& {int(mask):#x}"
        case {"low": low, "high": high}:
            return f"{low} .. {high}"
        case _:
            return f"{int(value)} ({int(value):#x})"


def _call(entry: dict[str, Any]) -> str:
    if entry.get("action") is None:
        return f"member {entry['member']}" if "member" in entry else f"group {entry.get('group')}"
    arguments = ", ".join(f"{name} = {value}" for name, value in entry.get("args", {}).items())
    return f"{entry['action']}({arguments})"
