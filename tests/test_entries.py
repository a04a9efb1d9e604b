"""Thousands of table entries: the fast paths of files and loops give the same entries as the plain
readers."""

import json
import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn import ControlError, _core
from sojourn.control.file import _document, plain
from sojourn.control.switch import Table
from sojourn.errors import ControlPlaneError
from sojourn.runtime.run_files import RUN

ENTRY = '[[tables.entries]]\nmatch = { "hdr.k" = 1 }\naction = "hit"\nargs = { to = 2 }\n'
ROWS = f"[[tables]]\nname = 'Ingress.known'\n\n{ENTRY}\n{ENTRY.replace('1', '7')}"


def parsed(path: Path, read: Callable[[Path], dict[str, Any]]) -> Any:
    """What `read` makes of a file, or what it has against it."""
    try:
        return read(path)
    except tomllib.TOMLDecodeError as error:
        return str(error)


def alone(path: Path) -> dict[str, Any]:
    """What the parser alone reads."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def is_right(text: str, folder: Path) -> bool:
    """Whether entries are read as the parser alone reads them; if so, whether some were taken."""
    path = folder / "control.toml"
    path.write_bytes(text.encode())
    document = parsed(path, _document)
    assert (plain(document) if isinstance(document, dict) else document) == parsed(path, alone), (
        text
    )
    tables = document.get("tables", []) if isinstance(document, dict) else []
    return any(
        isinstance(table, dict) and isinstance(table.get("entries"), _core.Entries)
        for table in tables
    )


@pytest.mark.parametrize(
    "section",
    [
        'match = { a = 0, b = 0x1F }\naction = "x"\n',
        'match = { a = { value = 1, mask = 3 } }\naction = "x"\npriority = 3 # low\n',
        'match = { "a b" = { prefix = 8, value = 18446744073709551615 } }\naction = "x"\n',
        "match = { 'a' = { high = 9, low = 1 } }\naction = 'x' # why\n",
        '\t action="x"\r\n\n# nothing\n  args={"p"=1,q=2}',
    ],
)
def test_plain_entries_are_taken(section: str, tmp_path: Path) -> None:
    text = f'[[tables]]\nname = "t" # its name\n[[tables.entries]]\n{section}'
    behind = "[tables.default]\naction = 'y'\n[[mirror_sessions]]\nport = 1\n"
    assert is_right(text, tmp_path)
    assert is_right(f"{text}\n{ENTRY}{behind}", tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        f"{ROWS}[tables.entries.args]\nto = 3\n",
        f'{ROWS}[[tables.entries]]\nmatch = {{ a = 01 }}\naction = "x"\n',
        f"{ROWS}match = {{ a = 1 }}\n",
        f"{ROWS}[tables]\n",
        f'{ROWS}[[ tables ]]\nname = "u"\n{ENTRY}',
        f"{ROWS}[tables.entries]\n",
        f"{ROWS}[tables . entries . args]\nto = 3\n",
        f"{ROWS}[tables.default]\naction = 'x'\n{ENTRY}",
        f"{ROWS}[other]\n[tables.entries.more]\nx = 1\n",
        f"{ROWS}[[other]]\n{ENTRY}x = 1.5\n",
        f"tables = [\n{ROWS}]\n",
        f"x = [\n{ROWS}[[1]]\n]\n",
        f'x = """\n{ROWS}[[tables]]\n"""\n',
        f"x = '''\n{ROWS}[[tables]]\n'''\n",
        f"[[tables]]\nentries = []\n{ENTRY}",
        f'[[tables]]\nname = "a"\nname = "b"\n{ENTRY}',
        f"[[tables]]\n{ENTRY}[[tables]] # the next\n{ENTRY}",
        f"[[tables]]\n{ENTRY}rank = 3\n{ENTRY}",
        f"[[tables]]\n{ENTRY}\r",
        f"[[tables]]\n{ENTRY}# \x01\n",
        f"[[tables]]\n{ENTRY}priority = 4294967296\n",
        '[[tables]]\n[[tables.entries]]\nmatch = { a = 1, a = 2 }\naction = "x"\n',
        '[[tables]]\n[[tables.entries]]\nmatch = { a = 1, }\naction = "x"\n',
        '[[tables]]\n[[tables.entries]]\nmatch = { a.b = 1 }\naction = "x"\n',
        '[[tables]]\n[[tables.entries]]\nmatch = { a = 1_0, b = 2024-01-01 }\naction = "x"\n',
        f"[[tables]]\n{ENTRY}{ENTRY.replace('1', '{ value = 1, mask = 2, x = 3 }')}",
        f"[[tables]]\n{ENTRY}{ENTRY.replace('1', '18446744073709551616')}",
        f"[[tables]]\n{ENTRY}{ENTRY.replace('{ to = 2 }', '{}')}",
        f"[[tables]]\n{ENTRY.replace('1', chr(34) + '0xff' + chr(34))}",
        '[[tables]]\n[[tables.entries]]\naction = "a\\tb"\n',
        "[[tables]]\n[[tables.entries]]\nmatch = { a = 1 }\n",
    ],
)
def test_whatever_else_stands_there_is_read_and_refused_as_the_parser_does(
    text: str, tmp_path: Path
) -> None:
    is_right(text, tmp_path)


def test_a_slip_anywhere_in_a_file_is_read_and_refused_as_the_parser_does(tmp_path: Path) -> None:
    lines = [
        *ROWS.splitlines(),
        'match = { "hdr.k" = { value = 3, mask = 0xf }, b = "12" }',
        "priority = 7",
        "[[tables]]",
        "[tables.default]",
        "[[mirror_sessions]]",
        'x = [ "]", """',
        "entries = [",
        "]",
        "",
        "# [[tables]]",
    ]
    taken = 0
    chance = random.Random(1)
    for _ in range(4_000):
        text = ROWS.splitlines()
        for _ in range(chance.randrange(1, 5)):
            at = chance.randrange(len(text) + 1)
            text[at : at + chance.randrange(2)] = [chance.choice(lines)]
        whole = "\n".join(text)
        if chance.random() < 0.5:
            at = chance.randrange(len(whole))
            whole = whole[:at] + chance.choice("\"'{}[],=#.\n 0x") + whole[at + 1 :]
        taken += is_right(whole, tmp_path)
    assert taken > 100


STATE = Path(__file__).parent / "stf" / "v1model" / "state.p4"
MATCHES = Path(__file__).parent / "stf" / "tna" / "match_kinds.p4"
FORMS: dict[str, list[Any]] = {
    "by_value": [5, 6, "0x7", 8, 1 << 15],
    "by_mask": [{"value": 1, "mask": 3}, {"value": 2, "mask": 15}, {"mask": 7, "value": 4}],
    "by_prefix": [{"value": 0xAB00, "prefix": 8}, {"value": 0xAC00, "prefix": 9}, 3],
    "by_range": [{"low": 1, "high": 3}, {"low": 2, "high": 2}, {"low": "5", "high": 9}],
}


def test_a_batch_equals_the_same_additions_one_by_one() -> None:
    together, alone = sojourn.open_switch(MATCHES), sojourn.open_switch(MATCHES)

    def add(table: Table, values: list[Any]) -> None:
        for number, value in enumerate(values):
            given = number if number % 3 else hex(number)
            table.add({table.keys[0]: value}, "note", {"value": given}, priority=number // 2)

    for name, values in FORMS.items():
        with together.batch():
            add(together.table(name), values)
        add(alone.table(name), values)
        assert together.table(name).entries == alone.table(name).entries
        assert len(together.table(name)) == len(values)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (True, r"did not match"),
        (-1, r"did not match"),
        (1 << 16, r"operation 3: .*65536"),
        (3, r"operation 3: .*same match"),
    ],
)
def test_an_entry_that_is_refused_in_a_loop_is_reported_by_its_number(key: int, said: str) -> None:
    switch = sojourn.open_switch(MATCHES)
    table = switch.table("by_value")
    (name,) = table.keys
    with pytest.raises(ControlError, match=said), switch.batch():
        table.add({name: 3}, "note", {"value": 1})
        table.add({name: 4}, "note", {"value": 1})
        table.add({name: key}, "note", {"value": 1})
    assert len(table) == 0


def test_names_are_looked_up_in_each_entry_of_a_batch() -> None:
    switch = sojourn.open_switch(MATCHES)
    table = switch.table("by_value")
    (name,) = table.keys
    for wrong, args in (("nto", {"value": 1}), ("note", {"valeu": 1}), ("note", {})):
        with pytest.raises(ControlError), switch.batch():
            table.add({name: 3}, "note", {"value": 1})
            table.add({name: 4}, wrong, args)
        assert len(table) == 0


def test_entries_of_a_file_are_in_the_table_and_in_run_json(tmp_path: Path) -> None:
    program = tmp_path / STATE.name
    for file in STATE.parent.glob("*.p4"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (key,) = (table := sojourn.open_switch(STATE).table("known")).keys
    entry = f'[[tables.entries]]\nmatch = {{ "{key}" = %s }}\naction = "hit"\n'
    written = f'[[tables]]\nname = "{table.name}"\n' + "".join(entry % n for n in (1, 2, 3))
    program.with_suffix(".toml").write_text(written)
    scenario = {
        "duration": "1 ms",
        "aqms": [{"use": str(program)}],
        "switch": {"rate": "1 Mbit/s"},
        "flows": [{"rtt": "1 ms"}],
    }
    sojourn.run(scenario, out=tmp_path / "out", report=False)
    described = json.loads((tmp_path / "out" / RUN).read_text())["runs"][0]["aqm"]
    assert described["control"]["tables"] == tomllib.loads(written)["tables"]
    program.with_suffix(".toml").write_text(written + entry % 2)
    with pytest.raises(ControlPlaneError, match=r"entry 4 of table .*same match"):
        sojourn.run(scenario, out=tmp_path / "twice", report=False)
