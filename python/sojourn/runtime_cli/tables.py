"""Commands about tables: entries, default actions, entries that lead to members and groups."""

from collections.abc import Sequence

from sojourn.control import (
    Action,
    ActionCall,
    AddEntry,
    AnyValue,
    ClearTable,
    ControlError,
    DeleteEntry,
    Exact,
    Group,
    Key,
    Match,
    Member,
    ModifyEntry,
    Prefix,
    Range,
    SetDefault,
    Table,
    Target,
    Ternary,
)
from sojourn.control.values import MOST_PRIORITY, index, number
from sojourn.runtime_cli.session import MANY, Outcome, Session, UsageError, take

_HANDLE_BITS = 24
"""bmv2 counts reuses of a handle above these bits; here a handle is the place alone."""


def add(words: list[str], session: Session) -> Outcome:
    """`table_add TABLE ACTION MATCH... => ARGUMENT... [PRIORITY]`"""
    name, action_name, *rest = take(words, 2, MANY)
    table = session.program.table(name)
    action = table.action(action_name)
    matches, arguments, priority = _parts(table, rest)
    return (AddEntry(table, matches, _call(action, arguments), priority),)


def set_default(words: list[str], session: Session) -> Outcome:
    """`table_set_default TABLE ACTION ARGUMENT...`"""
    name, action_name, *arguments = take(words, 2, MANY)
    table = session.program.table(name)
    action = table.action(action_name)
    return (SetDefault(table, _call(action, _without_arrow(arguments))),)


def modify(words: list[str], session: Session) -> Outcome:
    """`table_modify TABLE ACTION HANDLE ARGUMENT...`"""
    name, action_name, handle, *arguments = take(words, 3, MANY)
    table = session.program.table(name)
    call = _call(table.action(action_name), _without_arrow(arguments))
    return (ModifyEntry(table, _handle(handle), call),)


def delete(words: list[str], session: Session) -> Outcome:
    """`table_delete TABLE HANDLE`"""
    name, handle = take(words, 2)
    return (DeleteEntry(session.program.table(name), _handle(handle)),)


def clear(words: list[str], session: Session) -> Outcome:
    """`table_clear TABLE`"""
    (name,) = take(words, 1)
    return (ClearTable(session.program.table(name)),)


def indirect_add(words: list[str], session: Session) -> Outcome:
    """`table_indirect_add TABLE MATCH... => MEMBER [PRIORITY]`"""
    return _indirect(words, session, Member)


def indirect_add_with_group(words: list[str], session: Session) -> Outcome:
    """`table_indirect_add_with_group TABLE MATCH... => GROUP [PRIORITY]`"""
    return _indirect(words, session, Group)


def _indirect(words: list[str], session: Session, kind: type[Member] | type[Group]) -> Outcome:
    name, *rest = take(words, 2, MANY)
    table = session.program.table(name)
    if table.implementation is None:
        raise ControlError(f"table {table.name} has no action profile; use table_add")
    matches, arguments, priority = _parts(table, rest)
    if len(arguments) != 1:
        raise UsageError("one handle expected behind =>")
    target: Target = kind(index(arguments[0], "handle"))
    return (AddEntry(table, matches, target, priority),)


def call_of(table: Table, action_name: str, arguments: Sequence[str]) -> ActionCall:
    """An action of `table` with its arguments in order."""
    return _call(table.action(action_name), arguments)


def _call(action: Action, arguments: Sequence[str]) -> ActionCall:
    expected = [f"{parameter.name} ({parameter.width} bits)" for parameter in action.parameters]
    if len(arguments) != len(expected):
        raise ControlError(
            f"action {action.name} takes {len(expected)} arguments, not {len(arguments)}: "
            f"{', '.join(expected) or 'none'}"
        )
    values = {
        parameter.name: number(text, f"argument {parameter.name}", parameter.width)
        for parameter, text in zip(action.parameters, arguments, strict=True)
    }
    return ActionCall(action.name, values)


def _parts(table: Table, words: list[str]) -> tuple[dict[str, Match], list[str], int]:
    """Matches, arguments and priority of an entry."""
    if "=>" not in words:
        raise UsageError("=> is missing between matches and arguments")
    arrow = words.index("=>")
    given, arguments = words[:arrow], words[arrow + 1 :]
    priority = 0
    if table.ordered:
        if not arguments:
            raise UsageError(f"table {table.name} has ternary or range keys: a priority is missing")
        priority = index(arguments.pop(), "priority (the last word)", MOST_PRIORITY)
    keys = [key for key in table.keys if key.match_kind != "selector"]
    if len(given) != len(keys):
        shown = ", ".join(f"{key.name} ({key.match_kind})" for key in keys)
        raise ControlError(
            f"table {table.name} has {len(keys)} keys, not {len(given)}: {shown or 'none'}"
        )
    matches = {key.name: match_of(key, text) for key, text in zip(keys, given, strict=True)}
    return matches, arguments, priority


def match_of(key: Key, text: str) -> Match:
    """What a word asks of a key element, by the element's match kind."""
    what = f"key {key.name}"
    forms = {"lpm": ("/", "VALUE/LENGTH"), "ternary": ("&&&", "VALUE&&&MASK")}
    forms |= {"range": ("->", "LOW->HIGH"), "optional": ("&&&", "VALUE&&&MASK")}
    if key.match_kind == "exact":
        return Exact(number(text, what, key.width))
    sign, form = forms.get(key.match_kind, ("", "VALUE"))
    first, found, second = text.partition(sign) if sign else (text, "", "")
    if not found:
        if key.match_kind == "optional":
            return Exact(number(text, what, key.width))
        raise ControlError(f"{what} is {key.match_kind}: write {form}, not {text}")
    value = number(first, what, key.width)
    match key.match_kind:
        case "lpm":
            length = index(second, f"prefix length of {what}")
            if length > key.width:
                raise ControlError(
                    f"{what} has {key.width} bits: prefix length {length} is too long"
                )
            return Prefix(value, length)
        case "range":
            high = number(second, what, key.width)
            if high < value:
                raise ControlError(f"{what}: the range {text} is empty; write the lower end first")
            return Range(value, high)
        case _:
            return _masked(key, value, number(second, f"mask of {what}", key.width))


def _masked(key: Key, value: int, mask: int) -> Match:
    """A value under a mask; an optional key takes all of its bits or none."""
    full = (1 << key.width) - 1
    if key.match_kind != "optional":
        return Ternary(value, mask)
    if mask not in (0, full):
        raise ControlError(f"key {key.name} is optional: its mask is 0 or {full:#x}")
    return Exact(value) if mask else AnyValue()


def _without_arrow(arguments: list[str]) -> list[str]:
    """bmv2 tolerates `=>` in front of the arguments."""
    return arguments[1:] if arguments[:1] == ["=>"] else arguments


def _handle(text: str) -> int:
    return index(text, "entry handle") & ((1 << _HANDLE_BITS) - 1)
