"""A traced packet as nested lines, for terminal and page alike.

Depends on the engine's JSON alone. A line states an action in the program's own names, with its
position in the program.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePath
from typing import Any

_HEX_FROM = 1 << 16
_ADDRESS = 48
"""Bits of an Ethernet address, and of a time stamp in ns."""
_LATE = 1 << 40
"""A number of so many bits that is larger is no time of a run."""


@dataclass(frozen=True)
class Line:
    """A step in words, and what happened inside it."""

    text: str
    kind: str
    """Its kind: `pass`, `block`, `state`, `table`, `register`, `alu`, `idle`, `end` or `step`."""
    place: str = ""
    """File and line in the program."""
    below: tuple["Line", ...] = ()


def lines_of(passes: Sequence[Mapping[str, Any]]) -> list[Line]:
    """A line for each pass."""
    return [_pass(one) for one in passes]


def _pass(one: Mapping[str, Any]) -> Line:
    size = len(one["bytes"]) // 2 + one["zeros"]
    at = f"{one['time'] / 1e6:.6f} ms"
    if one["pass"] == "ingress":
        again = ", resubmitted" if one["resubmitted"] else ""
        again += ", from the packet generator" if one["generated"] else ""
        text = f"ingress at {at}: {size} bytes by port {one['port']}{again}"
    else:
        waited = (one["dequeued"] - one["enqueued"]) / 1e6
        copy = "a mirrored copy, " if one["mirrored"] else ""
        text = (
            f"egress at {at}: {copy}{size} bytes to port {one['port']}, {waited:.6f} ms in queue "
            f"{one['queue']}, {one['depth']} cells before it"
        )
    blocks = tuple(_step(block) for block in one["blocks"])
    end = Line(one["became"]["to"] or "nothing was decided", "end")
    return Line(text, "pass", "", (*blocks, end))


def _step(step: Mapping[str, Any]) -> Line:
    make = _STEPS[step["step"]]
    text, kind, own = make(step)
    below = (*own, *_steps(step.get("steps", ())))
    return Line(text, kind, _place(step), below)


def _steps(steps: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """The lines of steps; assignments one behind the other that change nothing are one line."""
    for idle, group in groupby(steps, key=_is_idle):
        lines = [_step(step) for step in group]
        if idle and len(lines) > 2:
            names = ", ".join(line.text.removesuffix(", as before") for line in lines)
            yield Line(f"as before: {names}", "idle", lines[0].place)
        else:
            yield from lines


def _is_idle(step: Mapping[str, Any]) -> bool:
    return step["step"] == "set" and not any(map(_changed, step["writes"]))


_Made = tuple[str, str, Sequence[Line]]


def _parser(step: Mapping[str, Any]) -> _Made:
    bits = step["consumed_bits"]
    taken = f"{bits // 8} bytes" if bits % 8 == 0 else f"{bits} bits"
    ended = f"accepted, {taken} taken" if step["accepted"] else f"rejected: {step['error']}"
    return f"parser {step['name']}: {ended}", "block", ()


def _control(step: Mapping[str, Any]) -> _Made:
    halted = f": stopped: {step['halted']}" if "halted" in step else ""
    return f"control {step['name']}{halted}", "block", ()


def _state(step: Mapping[str, Any]) -> _Made:
    return f"state {step['name']}", "state", ()


def _transition(step: Mapping[str, Any]) -> _Made:
    keys = f" on {_values(step['keys'])}" if step["keys"] else ""
    return f"-> {step['to']}{keys}", "step", ()


def _branch(step: Mapping[str, Any]) -> _Made:
    text = step.get("text", "").removesuffix("{").rstrip()
    return f"{text or 'condition'}: {_number(step['on'])}", "step", ()


def _table(step: Mapping[str, Any]) -> _Made:
    keys = ", ".join(
        f"{key['name']} = {_number(key)} ({key['kind']})" if key["name"] else _number(key)
        for key in step["keys"]
    )
    entry = step["entry"]
    found = "hit" if step["hit"] else "miss"
    if entry is not None:
        found += f" entry {entry['handle']}"
    action = step["action"]
    did = "no action" if action is None else f"{_short(action['name'])}({_values(action['data'])})"
    below = []
    if entry is not None and entry["keys"]:
        asked = ", ".join(f"{name}: {match}" for name, match in entry["keys"].items())
        below.append(Line(f"entry {entry['handle']} asks {asked}", "step"))
    return f"table {step['name']} [{keys}]: {found}: {did}", "table", below


def _call(step: Mapping[str, Any]) -> _Made:
    called = f"{step['object']}.{step['name']}" if step["object"] else step["name"]
    text = f"{called}({_values(step['args'])})"
    if step["results"]:
        text += f" = {_values(step['results'])}"
    below = [_write(write) for write in step["writes"]]
    access = step.get("access")
    if access is None:
        return text, "step", below
    cell = f"{access['register']}[{access['index']}]"
    old, new = (_words(access[key]) for key in ("old", "new"))
    changed = f"{old} -> {new}" if old != new else f"{old}, unchanged"
    alu = [Line(f"{unit['unit']}: {unit['does']}", "alu") for unit in access["alu"]]
    below.insert(0, Line(f"{cell}: {changed}", "register", "", tuple(alu)))
    return text, "step", below


def _extract(step: Mapping[str, Any]) -> _Made:
    if step["fields"] is None:
        return f"extract {step['header']}: the packet is too short", "step", ()
    return f"extract {step['header']}: {_values(step['fields'])}", "step", ()


def _emit(step: Mapping[str, Any]) -> _Made:
    headers = step["headers"]
    below = [Line(f"{of['header']}: {_values(of['fields'])}", "step") for of in headers]
    names = ", ".join(of["header"] for of in headers)
    return f"emit {names or 'nothing, no header is valid'}", "step", below


def _set(step: Mapping[str, Any]) -> _Made:
    writes = [_write(write) for write in step["writes"]]
    if len(writes) == 1:
        return writes[0].text, "step", ()
    return step.get("text") or "written", "step", writes


def _write(write: Mapping[str, Any]) -> Line:
    name = write["name"].removesuffix(".$valid$")
    if name != write["name"]:
        said = "valid" if write["value"] else "invalid"
        return Line(f"{name} is {said} now" if _changed(write) else f"{name} stays {said}", "step")
    old = _number({**write, "value": write["old"]})
    was = f", was {old}" if _changed(write) else ", as before"
    return Line(f"{name} = {_number(write)}{was}", "step")


def _changed(write: Mapping[str, Any]) -> bool:
    return bool(write["old"] != write["value"])


_STEPS = {
    "parser": _parser,
    "control": _control,
    "state": _state,
    "transition": _transition,
    "branch": _branch,
    "table": _table,
    "call": _call,
    "extract": _extract,
    "emit": _emit,
    "set": _set,
}


def _values(of: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(
        f"{_short(one['name'])} = {_number(one)}" if one["name"] else _number(one) for one in of
    )


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _number(of: Mapping[str, Any]) -> str:
    value = of["value"]
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    number = int(value)
    if of["bits"] >= _ADDRESS:
        return f"{number:#x}" if number >= _LATE else str(number)
    return f"{number:#x} ({number})" if number >= _HEX_FROM else str(number)


def _words(words: Sequence[int | str]) -> str:
    return " ".join(map(str, words)) if len(words) == 1 else f"({', '.join(map(str, words))})"


def _place(step: Mapping[str, Any]) -> str:
    """File and line, without the folders and the column."""
    place = str(step.get("place", "")).rsplit(":", 2)
    return f"{PurePath(place[0]).name}:{place[1]}" if len(place) == 3 else ""
