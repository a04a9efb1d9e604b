"""A small shell like the vendor's bfrt_python: the tree of a program's tables, over BfRt.

It knows of the program what the server's documents say. Parameters are the last parts of dotted
names, as in the vendor's shell. Must not depend on the engine.
"""

import re
from collections.abc import Callable
from typing import Any

from sojourn.control import ControlError
from sojourn.control.bfrt_client import (
    ALL_PIPES,
    DELETE,
    INSERT,
    MODIFY,
    Connection,
    Front,
    message,
)

OPTIONS = ("print_ents", "from_hw", "return_ents", "batch", "table")
"""Parameters of the vendor's shell about printing and batches, without effect here."""
TYPES = {
    "MatchAction_Direct": "MATCH_DIRECT",
    "MatchAction_Indirect": "MATCH_INDIRECT",
    "MatchAction_Indirect_Selector": "MATCH_INDIRECT_SELECTOR",
    "Action": "ACTION_PROFILE",
}
"""The vendor's shell's names of kinds of tables; others are upper case."""


class Row(dict[str, Any]):
    """An entry that was read, by the names of parameters; `data` has the vendor's shell's form."""

    data: dict[bytes, Any]


class Shell:
    """`bfrt`, and every place below it."""

    def __init__(self, connection: Connection, path: tuple[str, ...] = ()) -> None:
        self._connection, self._path = connection, path

    def __getattr__(self, name: str) -> Any:
        of = self._connection
        path = self._below
        if path == ("port", "port_hdl_info"):
            return Handles(of.front).method(name)
        for shown, table in of.tables.items():
            if shown.split(".") == list(path):
                return Table(of, table).method(name)
        return Shell(of, (*self._path, name))

    @property
    def _below(self) -> tuple[str, ...]:
        # The program's tables stand below its name, the chip's below the root.
        return self._path[1:] if self._path[:1] == (self._connection.name,) else self._path

    def info(self, return_info: bool = False, print_info: bool = True) -> list[dict[str, Any]]:
        """The tables at or below a place: full name, type, usage, node."""
        of, path = self._connection, self._below
        found = [
            {
                "full_name": table["name"],
                "type": TYPES.get(table["table_type"], table["table_type"].upper()),
                "node": Shell(of, (*self._path[: len(self._path) - len(path)], *shown.split("."))),
            }
            for shown, table in of.tables.items()
            if tuple(shown.split("."))[: len(path)] == path
        ]
        if print_info:
            print(*(f"{one['type']} {one['full_name']}" for one in found), sep="\n")
        return found if return_info else []

    def batch_begin(self) -> None:
        """What follows is one request."""
        self._connection.batch = []

    def batch_end(self) -> None:
        """It is sent."""
        updates, self._connection.batch = self._connection.batch, None
        assert updates is not None
        self._connection.flush(updates)

    def complete_operations(self) -> None:
        """Everything has been done when it was asked for."""


class Entry:
    """An entry that is not sent yet."""

    def __init__(self, push: Callable[[], None]) -> None:
        self.push = push


class Table:
    """A table: `add_with_ACTION`, `mod`, `delete`, `get`, `dump`, `clear`."""

    def __init__(self, connection: Connection, table: dict[str, Any]) -> None:
        self._of, self._table = connection, table

    def method(self, name: str) -> Callable[..., Any]:
        """What is called `name`."""
        kind, _, action = name.partition("_with_")
        changes = {"add": INSERT, "mod": MODIFY, "delete": DELETE}
        if kind in changes:
            return lambda *keys, **given: self._change(changes[kind], action, keys, given)
        if kind == "entry":
            return lambda **given: Entry(
                lambda: self._of.write(5, self._entry(action, given))  # insert or modify
            )
        if kind == "set_default":
            return lambda **given: self._of.write(MODIFY, self._entry(action, given, default=True))
        reads: dict[str, Callable[..., Any]] = {"dump": self._dump, "get": self._get}
        return self._clear if name == "clear" else reads[name]

    def _change(self, kind: int, action: str, keys: tuple[Any, ...], given: dict[str, Any]) -> None:
        pipe = self._options(keys, given)
        self._of.write(kind, self._entry(action, given), pipe)

    def _options(self, keys: tuple[Any, ...], given: dict[str, Any]) -> int:
        """The pipe that is meant; names the keys that stand without names."""
        for name in OPTIONS:
            given.pop(name, None)
        names = [_short(key["name"]) for key in self._table["key"]]
        given.update(zip(names, keys, strict=False))
        return ALL_PIPES if "pipe" in names else int(given.pop("pipe", ALL_PIPES))

    def _all(self, given: dict[str, Any]) -> tuple[Any, int]:
        pipe = self._options((), given)
        return message("TableEntry").__class__(table_id=self._table["id"]), pipe

    def _clear(self, **given: Any) -> None:
        self._of.write(DELETE, *self._all(given))

    def _dump(self, **given: Any) -> list[Row]:
        return [self._row(entry) for entry in self._of.read(*self._all(given))]

    def _get(self, *keys: Any, **given: Any) -> Row:
        pipe = self._options(keys, given)
        asked = self._entry("", given)
        asked.ClearField("data")
        return self._row(next(iter(self._of.read(asked, pipe))))

    def _fields(self, action: str) -> tuple[int, list[dict[str, Any]]]:
        """The number of an action, and the data that an entry with it has."""
        own = [
            field
            for data in self._table["data"]
            for field in data.get("oneof", [data.get("singleton")])
        ]
        for known in self._table.get("action_specs", []):
            if known["name"].rpartition(".")[2].lstrip("$") == action:
                return known["id"], [*known["data"], *own]
        assert not action, f"{self._table['name']} has no action {action}"
        return 0, own

    def _entry(self, action: str, given: dict[str, Any], *, default: bool = False) -> Any:
        entry = message("TableEntry")
        entry.table_id, entry.is_default_entry = self._table["id"], default
        left = dict(given)
        for key in [] if default else self._table["key"]:
            _key(entry.key.fields.add(field_id=key["id"]), key, left)
        number, fields = self._fields(action)
        entry.data.action_id = number
        for field in fields:
            name = _called(field["name"], left)
            if name is not None:
                _data(entry.data.fields.add(field_id=field["id"]), field, left.pop(name))
        assert not left, f"{self._table['name']} knows no {', '.join(left)}"
        return entry

    def _row(self, entry: Any) -> Row:
        row = Row()
        row.data = {}
        keys = {key["id"]: key for key in self._table["key"]}
        for field in entry.key.fields:
            found = getattr(field, field.WhichOneof("match_type"))
            key = keys[field.field_id]
            values = [_read(value, key) for _, value in found.ListFields()]
            row[_short(key["name"])] = values
        actions = {known["id"]: known for known in self._table.get("action_specs", [])}
        action = actions.get(entry.data.action_id)
        if action is not None:
            row["action"] = action["name"]
        _, own = self._fields("")
        names = {field["id"]: field["name"] for field in [*(action or {"data": []})["data"], *own]}
        for field in entry.data.fields:
            value = getattr(field, field.WhichOneof("value"))
            if isinstance(value, bytes):
                value = int.from_bytes(value, "big")
            elif hasattr(value, "val"):
                value = list(value.val)
            name = names[field.field_id]
            row[_short(name)] = row.data[name.encode()] = value
        return row


class Handles:
    """`bfrt.port.port_hdl_info`: the numbers of a board's ports, which the chip does not know."""

    def __init__(self, front: Front) -> None:
        self._front = front

    def method(self, name: str) -> Callable[..., Any]:
        """`get`, of a connector and a lane."""
        return {"get": self._get}[name]

    def _get(self, CONN_ID: int, CHNL_ID: int, print_ents: bool = True) -> Row:
        try:
            port = self._front[CONN_ID, CHNL_ID]
        except KeyError:
            known = ", ".join(f"{cage}/{lane}" for cage, lane in self._front) or "none"
            place = f"{CONN_ID}/{CHNL_ID}"
            raise ControlError(
                f"no port is at {place}; there are {known}: give --front {place}=PORT"
            ) from None
        row = Row(DEV_PORT=port)
        row.data = {b"$DEV_PORT": port}
        return row


def _short(name: str) -> str:
    return re.sub(r"\W+", "_", name.replace("$", "").replace("isValid()", "valid")).strip("_")


def _called(name: str, given: dict[str, Any]) -> str | None:
    """The parameter that means a field: its name, or the end of it."""
    whole = _short(name).lower()
    for parameter in given:
        plain = parameter.removeprefix("key_").removeprefix("data_").lower()
        if whole in (plain, parameter.lower()) or whole.endswith(f"_{plain}"):
            return parameter
    return None


def _bytes(value: Any, field: dict[str, Any]) -> bytes:
    of = field["type"]
    if of["type"] == "string":
        return str(value).encode()
    width = of.get("width") or int(of["type"].removeprefix("uint"))
    return int(value).to_bytes((width + 7) // 8, "big")


def _read(value: Any, key: dict[str, Any]) -> Any:
    """A part of a key as a number or a name."""
    if not isinstance(value, bytes):
        return value
    return value.decode() if key["type"]["type"] == "string" else int.from_bytes(value, "big")


def _key(out: Any, key: dict[str, Any], given: dict[str, Any]) -> None:
    name = _short(key["name"])

    def take(suffix: str) -> bytes | int:
        parameter = _called(f"{name}{suffix}", given)
        assert parameter is not None, f"{name}{suffix} is missing"
        value = given.pop(parameter)
        return int(value) if suffix == "_p_length" else _bytes(value, key)

    match key["match_type"]:
        case "Exact":
            out.exact.value = take("")
        case "Ternary":
            out.ternary.mask, out.ternary.value = take("_mask"), take("")
        case "LPM":
            out.lpm.prefix_len, out.lpm.value = take("_p_length"), take("")
        case "Range":
            out.range.low, out.range.high = take("_start"), take("_end")
        case kind:
            raise AssertionError(kind)


def _data(out: Any, field: dict[str, Any], value: Any) -> None:
    match field["type"]["type"]:
        case "bool" if field["repeated"]:
            out.bool_arr_val.val.extend(value)
        case "bool":
            out.bool_val = value
        case "string":
            out.str_val = value
        case "bytes" if isinstance(value, bytes):
            out.stream = value
        case _ if field["repeated"]:
            out.int_arr_val.val.extend(value)
        case _:
            out.stream = _bytes(value, field)
