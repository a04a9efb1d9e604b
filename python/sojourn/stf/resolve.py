"""From `add` and `setdefault` to operations: names, values with `*`, prefixes, priorities.

The rules are those of p4c's bmv2 driver: a ternary value counts in the digits that are written and
are not `*`; a prefix value without a length counts in as many bits as its digits have. In STF a
higher priority wins.
"""

import re

from sojourn.control import (
    ActionCall,
    AddEntry,
    ControlError,
    Exact,
    Key,
    Match,
    Prefix,
    ProgramDescription,
    Range,
    SetDefault,
    Table,
    Ternary,
)
from sojourn.control.values import fitting, index, number
from sojourn.stf import statements as stf

_HIGHEST_PRIORITY = 1_000_000
_DIGIT_BITS = {"0x": 4, "0o": 3, "0b": 1}


def add_entry(statement: stf.Add, program: ProgramDescription) -> AddEntry:
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
    return AddEntry(table, matches, _call(statement.call, table), _HIGHEST_PRIORITY - given)


def set_default(statement: stf.SetDefault, program: ProgramDescription) -> SetDefault:
    """The default action that a `setdefault` names."""
    table = program.table(statement.table)
    return SetDefault(table, _call(statement.call, table))


def _call(call: stf.Call, table: Table) -> ActionCall:
    action = table.action(call.action)
    args: dict[str, int] = {}
    for name, text in call.args:
        width = action.parameter(name).width
        if name in args:
            raise ControlError(f"argument {name} of action {action.name} is given twice")
        args[name] = number(text, f"argument {name}", width)
    missing = [parameter.name for parameter in action.parameters if parameter.name not in args]
    if missing:
        raise ControlError(f"action {action.name} needs {', '.join(missing)} as well")
    return ActionCall(action.name, args)


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
        return Prefix(number(value.replace("*", "0"), what, key.width), bits)
    match key.match_kind:
        case "ternary":
            return _ternary(key, text)
        case "lpm":
            return _prefix(key, text)
        case "range":
            only = number(text, what, key.width)
            return Range(only, only)
    if "*" in text:
        raise ControlError(f"{what} is {key.match_kind}: it has to have a whole value, not {text}")
    return Exact(number(text, what, key.width))


def _range(key: Key, low: str, high: str) -> Range:
    what = f"key {key.name}"
    if key.match_kind != "range":
        raise ControlError(f"{what} is {key.match_kind}, not range: write a value")
    first, last = number(low, what, key.width), number(high, what, key.width)
    if last < first:
        raise ControlError(f"{what}: the range {low}..{high} is empty; write the lower end first")
    return Range(first, last)


def _ternary(key: Key, text: str) -> Ternary:
    what = f"key {key.name}"
    prefix, digits = text[:2].lower(), text[2:]
    if prefix not in _DIGIT_BITS:
        return Ternary(number(text, what, key.width), (1 << key.width) - 1)
    bits = _DIGIT_BITS[prefix]
    full = f"{(1 << bits) - 1:x}"
    base = 1 << bits
    mask = int(re.sub(r"[^*]", full, digits).replace("*", "0"), base)
    value = fitting(int(digits.replace("*", "0"), base), what, key.width, text)
    # Leading digits may stand beyond the key's width: three nibbles for nine bits.
    return Ternary(value, mask & ((1 << key.width) - 1))


def _prefix(key: Key, text: str) -> Prefix:
    what = f"key {key.name}"
    prefix, digits = text[:2].lower(), text[2:]
    value = number(text.replace("*", "0"), what, key.width)
    if prefix not in _DIGIT_BITS:
        return Prefix(value, key.width)
    counted = (len(digits) - digits.count("*")) * _DIGIT_BITS[prefix]
    if "*" in digits.rstrip("*"):
        raise ControlError(f"{what} is lpm: * stands only at the end, not as in {text}")
    return Prefix(value, min(counted, key.width))
