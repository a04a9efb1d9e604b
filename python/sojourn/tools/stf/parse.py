"""From the text of an STF file to statements, or to messages that name file and line.

One statement a line, which goes on where a line ends in a backslash; words of the language in any
case; `#` begins a comment. What p4c's driver for Tofino writes differently is read, too: `;` at the
end, arguments without commas, actions without parentheses, `=` for `==`. Uses no program.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from sojourn import _core
from sojourn.common.suggest import did_you_mean
from sojourn.common.textfile import read_text
from sojourn.control.values import MOST_PRIORITY
from sojourn.model.units import TIME
from sojourn.tools.stf.report import StfError
from sojourn.tools.stf.statements import (
    Add,
    Call,
    Check,
    Command,
    Expect,
    NoPacket,
    Packet,
    RemoveAll,
    SetDefault,
    Statement,
    Wait,
)

_SECOND = 10**9
_PORTS = 512
"""Of the switch on the bench, on both architectures."""
_LONGEST = 100
"""Characters of a number that a message repeats."""
_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F*]+|0[bB][01*]+|0[oO][0-7*]+|\d+)"
    r'|"(?P<quoted>[^"]+)"'
    r"|(?P<word>[A-Za-z_$][\w$]*)"
    r"|(?P<sign>==|!=|<=|>=|->|\.\.|[:,.()\[\]=<>/]))"
)
_OPERATORS = ("==", "!=", "<", "<=", ">", ">=")


class _Wrong(Exception):
    """A fault of a statement; the caller adds the position."""


def read_stf(path: Path, name: str) -> list[tuple[int, Statement]]:
    """The statements of a file, each with its line; `StfError` names everything that is wrong."""
    return parse_stf(read_text(path, name, StfError), name)


def parse_stf(text: str, name: str) -> list[tuple[int, Statement]]:
    """The statements of a text; `name` is what messages call it."""
    statements: list[tuple[int, Statement]] = []
    wrong: list[str] = []
    for number, line in _lines(text):
        stripped = line.rstrip(";").rstrip()
        if not stripped:
            continue
        try:
            statements.append((number, _statement(stripped)))
        except _Wrong as error:
            wrong.append(f"{name}:{number}: {error}")
    if wrong:
        raise StfError("\n".join(wrong))
    return statements


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, joined where one ends in a backslash; the number of the first."""
    start, joined = 1, ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.partition("#")[0].strip()
        start = start if joined else number
        joined += stripped.removesuffix("\\")
        if not stripped.endswith("\\"):
            yield start, joined.strip()
            joined = ""
        else:
            joined += " "
    if joined:
        yield start, joined.strip()


def _statement(line: str) -> Statement:
    word, _, rest = line.partition(" ") if " " in line else line.partition("\t")
    word = word.lower()
    if word in _STATEMENTS:
        return _STATEMENTS[word](rest.strip())
    commands = _core.switch_commands()
    if word in commands:
        return Command(f"{word} {rest.strip()}")
    known = [*_STATEMENTS, *commands]
    raise _Wrong(f"{word} is not a statement of STF{did_you_mean(word, known)}")


def _packet(rest: str) -> Packet:
    port, data = _port(rest, "packet PORT DATA")
    bad = re.search(r"[^0-9a-fA-F\s]", data)
    if bad:
        raise _Wrong(f"packet data are hexadecimal digits, not {bad[0]}")
    digits = "".join(data.split())
    if not digits:
        raise _Wrong("a packet without data; write packet PORT DATA")
    if len(digits) % 2:
        raise _Wrong(f"{len(digits)} hexadecimal digits are not whole bytes")
    return Packet(port, bytes.fromhex(digits))


def _expect(rest: str) -> Expect:
    port, data = _port(rest, "expect PORT [DATA]")
    digits = "".join(data.split())
    if not digits:
        return Expect(port, None, exact=False)
    exact = digits.endswith("$")
    pattern = digits.removesuffix("$")
    bad = re.search(r"[^0-9a-fA-F*]", pattern)
    if bad:
        where = "stands only at the end" if bad[0] == "$" else "is not a hexadecimal digit or *"
        raise _Wrong(f"{bad[0]} {where}")
    return Expect(port, pattern.lower(), exact)


def _port(rest: str, usage: str) -> tuple[int, str]:
    port, *data = rest.split(maxsplit=1)[:2] if rest else [""]
    if not port.isdecimal():
        raise _Wrong(f"{port or 'nothing'} is not a port; write {usage}")
    if len(port) > _LONGEST or int(port) >= _PORTS:
        raise _Wrong(f"there is no port {port[:_LONGEST]}: they are 0 to {_PORTS - 1}")
    return int(port), data[0] if data else ""


def _no_packet(rest: str) -> NoPacket:
    if rest:
        raise _Wrong(f"no_packet stands alone, without {rest}")
    return NoPacket()


def _remove(rest: str) -> RemoveAll:
    if rest.lower() != "all":
        raise _Wrong("only remove all exists; one entry is taken out by table_delete")
    return RemoveAll()


def _wait(rest: str) -> Wait:
    try:
        return Wait(TIME.parse(rest) if rest else _SECOND)
    except ValueError as error:
        raise _Wrong(f"wait {rest}: {error}") from None


def _add(rest: str) -> Add:
    tokens = _Tokens(rest)
    table = tokens.name("a table")
    priority = None
    if tokens.next_is_number():
        priority = tokens.whole_number("a priority", MOST_PRIORITY)
    matches: list[tuple[str, str]] = []
    while True:
        name = tokens.name("a key or an action")
        if tokens.accept("("):
            call = Call(name, _arguments(tokens))
            break
        if tokens.at_end():
            call = Call(name, ())
            break
        tokens.expect(":", f"after key {name}")
        matches.append((name, _match_value(tokens)))
    label = tokens.name("a name for the entry") if tokens.accept("=") else None
    tokens.end()
    return Add(table, priority, tuple(matches), call, label)


def _match_value(tokens: "_Tokens") -> str:
    value = tokens.number("a value")
    if tokens.accept("/"):
        return f"{value}/{tokens.number('a prefix length')}"
    for sign in ("..", "->"):
        if tokens.accept(sign):
            return f"{value}..{tokens.number('the end of the range')}"
    return value


def _setdefault(rest: str) -> SetDefault:
    tokens = _Tokens(rest)
    table = tokens.name("a table")
    action = tokens.name("an action")
    arguments = () if tokens.at_end() else _call(tokens, f"after action {action}")
    tokens.end()
    return SetDefault(table, Call(action, arguments))


def _call(tokens: "_Tokens", where: str) -> tuple[tuple[str, str], ...]:
    tokens.expect("(", where)
    return _arguments(tokens)


def _arguments(tokens: "_Tokens") -> tuple[tuple[str, str], ...]:
    """The arguments behind an opening parenthesis, up to the closing one."""
    arguments: list[tuple[str, str]] = []
    while not tokens.accept(")"):
        if arguments:
            tokens.accept(",")
        name = tokens.name("an argument")
        tokens.expect(":", f"after argument {name}")
        arguments.append((name, tokens.number("a value")))
    return tuple(arguments)


def _check(what: str) -> Callable[[str], Check]:
    def read(rest: str) -> Check:
        tokens = _Tokens(rest)
        name = tokens.name(f"a {what}")
        tokens.expect("(", f"after {what} {name}")
        is_number = tokens.next_is_number()
        index = tokens.number("an index") if is_number else tokens.name("an index or entry")
        tokens.expect(")", "after the index")
        unit = None
        if what == "counter" and not tokens.at_end():
            unit = tokens.name("packets or bytes").lower()
            if unit not in ("packets", "bytes"):
                raise _Wrong(f"{unit}: a counter counts packets or bytes")
        if what == "counter" and tokens.at_end():
            return Check(what, name, index, None, "==", 0)
        is_half = what == "register" and tokens.next_is_name()
        half = tokens.name("lo or hi") if is_half else None
        operator = "==" if tokens.accept("=") else tokens.sign()
        if operator not in _OPERATORS:
            raise _Wrong(f"{operator} does not compare; use one of {' '.join(_OPERATORS)}")
        number = tokens.whole_number("a number")
        tokens.end()
        return Check(what, name, index, unit, operator, number, half)

    return read


_STATEMENTS: dict[str, Callable[[str], Statement]] = {
    "add": _add,
    "setdefault": _setdefault,
    "remove": _remove,
    "packet": _packet,
    "expect": _expect,
    "no_packet": _no_packet,
    "check_counter": _check("counter"),
    "check_register": _check("register"),
    "wait": _wait,
}


class _Tokens:
    """The tokens of a line, taken one by one."""

    def __init__(self, text: str) -> None:
        self._tokens = list(self._split(text))
        self._at = 0

    def _split(self, text: str) -> Iterator[tuple[str, str]]:
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if match is None:
                raise _Wrong(f"cannot read {text[at:].split()[0]}")
            kind = str(match.lastgroup)
            yield kind, match[kind]
            at = match.end()

    def at_end(self) -> bool:
        return self._at == len(self._tokens)

    def _peek(self) -> tuple[str, str]:
        return ("end", "the end of the line") if self.at_end() else self._tokens[self._at]

    def next_is_name(self) -> bool:
        return self._peek()[0] in ("word", "quoted")

    def next_is_number(self) -> bool:
        return self._peek()[0] == "number"

    def accept(self, sign: str) -> bool:
        if self._peek() == ("sign", sign):
            self._at += 1
            return True
        return False

    def expect(self, sign: str, where: str) -> None:
        if not self.accept(sign):
            raise _Wrong(f"{sign} is missing {where}; found {self._peek()[1]}")

    def sign(self) -> str:
        return self._take("sign", "a comparison")

    def number(self, what: str) -> str:
        return self._take("number", what)

    def whole_number(self, what: str, most: int = (1 << 64) - 1) -> int:
        text = self.number(what)
        if "*" in text:
            raise _Wrong(f"{what}: it has to be a whole number, not {text[:_LONGEST]}")
        if len(text) > _LONGEST or (value := _integer(text)) > most:
            raise _Wrong(f"{what}: {text[:_LONGEST]} is too large; the largest is {most}")
        return value

    def _take(self, kind: str, what: str) -> str:
        found, text = self._peek()
        if found != kind:
            raise _Wrong(f"{what} is missing; found {text}")
        self._at += 1
        return text

    def name(self, what: str) -> str:
        """A qualified name: words with dots between them, each perhaps with an index."""
        if self._peek()[0] == "quoted":
            return self._take("quoted", what)
        name = self._part(what)
        while self.accept("."):
            name += f".{self._part('a name')}"
        return name

    def _part(self, what: str) -> str:
        part = self._take("word", what)
        if self.accept("["):
            part += f"[{self.number('an index')}]"
            self.expect("]", "after the index")
        return part

    def end(self) -> None:
        if not self.at_end():
            raise _Wrong(f"{self._peek()[1]} is left over at the end of the line")


def _integer(text: str) -> int:
    """The number that `text` has; a decimal number may begin with zeros."""
    return int(text) if text.isdecimal() else int(text, 0)
