"""From `add` and `setdefault` to operations: names, values with `*`, prefixes, priorities.

The rules are those of p4c's bmv2 driver: a ternary value counts in the digits that are written and
are not `*`; a prefix value without a length counts in as many bits as its digits have. In STF a
higher priority wins. Numbers in operations are digits, so that no width is too large.
"""

import re
from typing import Any

from sojourn.control import ControlError, Key, Operation, ProgramDescription, Table
from sojourn.control.values import fitting, index, number
from sojourn.stf import statements as stf

_HIGHEST_PRIORITY = 1_000_000
_DIGIT_BITS = {"0x": 4, "0o": 3, "0b": 1}

Match = str | dict[str, Any]
"""What a key element has to be, as operations have it."""


def add_entry(statement: stf.Add, program: ProgramDescription) -> Operation:
    """The entry that an `add` describes."""
    table = program.table(statement.table)
    matches: dict[str, Match] = {}
    for name, value in statement.matches:
        key = table.key(name)
        if key.name in matches:
            raise ControlError(f"key {key.name} of table {table.name} is given twice")
        matches[key.name] = _match(key, value)
    given = statement.priority or 0
    if given > _HIGHEST_PRIORITY:
        raise ControlError(f"priority {given} is above {_HIGHEST_PRIORITY}")
    # Here as on bmv2 the lowest number wins.
    entry = {"match": matches, "priority": _HIGHEST_PRIORITY - given}
    entry |= _call(statement.call, table)
    return {"op": "add_entry", "table": table.name, "entry": entry}


def set_default(statement: stf.SetDefault, program: ProgramDescription) -> Operation:
    """The default action that a `setdefault` names."""
    table = program.table(statement.table)
    return {"op": "set_default", "table": table.name, "call": _call(statement.call, table)}


def _call(call: stf.Call, table: Table) -> dict[str, Any]:
    action = table.action(call.action)
    args: dict[str, str] = {}
    for name, text in call.args:
        width = action.parameter(name).width
        if name in args:
            raise ControlError(f"argument {name} of action {action.name} is given twice")
        args[name] = str(number(text, f"argument {name}", width))
    missing = [parameter.name for parameter in action.parameters if parameter.name not in args]
    if missing:
        raise ControlError(f"action {action.name} needs {', '.join(missing)} as well")
    return {"action": action.name, "args": args}


def _match(key: Key, text: str) -> Match:
    what = f"key {key.name}"
    value, slash, length = text.partition("/")
    low, dots, high = text.partition("..")
    if dots:
        return _range(key, low, high)
    if slash:
        if key.match_kind not in ("lpm", "ternary"):
            raise ControlError(f"{what} is {key.match_kind}: it has no prefix length")
        bits = index(length, f"prefix length of {what}")
        if bits > key.width:
            raise ControlError(f"{what} has {key.width} bits: prefix length {bits} is too long")
        return _leading(number(value.replace("*", "0"), what, key.width), bits)
    match key.match_kind:
        case "ternary":
            return _ternary(key, text)
        case "lpm":
            return _prefix(key, text)
        case "range":
            only = number(text, what, key.width)
            return {"low": str(only), "high": str(only)}
    if "*" in text:
        raise ControlError(f"{what} is {key.match_kind}: it has to have a whole value, not {text}")
    return str(number(text, what, key.width))


def _leading(value: int, bits: int) -> Match:
    return {"value": str(value), "prefix": bits}


def _masked(value: int, mask: int) -> Match:
    return {"value": str(value), "mask": str(mask)}


def _range(key: Key, low: str, high: str) -> Match:
    what = f"key {key.name}"
    if key.match_kind != "range":
        raise ControlError(f"{what} is {key.match_kind}, not range: write a value")
    first, last = number(low, what, key.width), number(high, what, key.width)
    if last < first:
        raise ControlError(f"{what}: the range {low}..{high} is empty; write the lower end first")
    return {"low": str(first), "high": str(last)}


def _ternary(key: Key, text: str) -> Match:
    what = f"key {key.name}"
    prefix, digits = text[:2].lower(), text[2:]
    if prefix not in _DIGIT_BITS:
        return _masked(number(text, what, key.width), (1 << key.width) - 1)
    bits = _DIGIT_BITS[prefix]
    full = f"{(1 << bits) - 1:x}"
    base = 1 << bits
    mask = int(re.sub(r"[^*]", full, digits).replace("*", "0"), base)
    value = fitting(int(digits.replace("*", "0"), base), what, key.width, text)
    # Leading digits may stand beyond the key's width: three nibbles for nine bits.
    return _masked(value, mask & ((1 << key.width) - 1))


def _prefix(key: Key, text: str) -> Match:
    what = f"key {key.name}"
    prefix, digits = text[:2].lower(), text[2:]
    value = number(text.replace("*", "0"), what, key.width)
    if prefix not in _DIGIT_BITS:
        return _leading(value, key.width)
    counted = (len(digits) - digits.count("*")) * _DIGIT_BITS[prefix]
    if "*" in digits.rstrip("*"):
        raise ControlError(f"{what} is lpm: * stands only at the end, not as in {text}")
    return _leading(value, min(counted, key.width))
