"""A small shell like the vendor's bfrt_python: the tree of a program's tables, over BfRt.

It knows of the program what the server's documents say, and nothing of the engine. Parameters are
the last parts of dotted names, as in the vendor's shell.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from sojourn.control import messages

INSERT, MODIFY, DELETE = 1, 2, 4
Row = dict[str, Any]


def message(name: str) -> Any:
    """A new message of the package."""
    return messages.message(f"bfrt_proto.{name}")()


class Connection:
    """A client that is bound to the program that runs."""

    def __init__(self, address: str, client: int = 1) -> None:
        self.channel = messages.grpc().insecure_channel(
            address, options=[("grpc.max_receive_message_length", 64 << 20)]
        )
        self.stub = messages.Stub(self.channel, "bfrt_proto.BfRuntime")
        self.client = client
        got = self.stub.GetForwardingPipelineConfig(message("GetForwardingPipelineConfigRequest"))
        self.name = got.config[0].p4_name
        documents = (got.config[0].bfruntime_info, got.non_p4_config.bfruntime_info)
        self.tables = {
            table["name"].replace("$", ""): table
            for document in documents
            for table in json.loads(document)["tables"]
        }
        self.batch: list[Any] | None = None

    def write(self, kind: int, entry: Any) -> None:
        """One update, or one more of the batch."""
        update = message("Update")
        update.type = kind
        update.entity.table_entry.CopyFrom(entry)
        if self.batch is not None:
            self.batch.append(update)
        else:
            self.flush([update])

    def flush(self, updates: list[Any]) -> None:
        """Has updates carried out, all or none."""
        request = message("WriteRequest")
        request.client_id, request.p4_name, request.atomicity = self.client, self.name, 1
        request.target.pipe_id = 0xFFFF
        request.updates.extend(updates)
        self.stub.Write(request)

    def read(self, entry: Any) -> Iterator[Any]:
        """Entries."""
        request = message("ReadRequest")
        request.client_id, request.p4_name = self.client, self.name
        request.target.pipe_id = 0xFFFF
        request.entities.add().table_entry.CopyFrom(entry)
        for response in self.stub.Read(request):
            for entity in response.entities:
                yield entity.table_entry


class Shell:
    """`bfrt`, and every place below it."""

    def __init__(self, connection: Connection, path: tuple[str, ...] = ()) -> None:
        self._connection, self._path = connection, path

    def __getattr__(self, name: str) -> Any:
        of = self._connection
        # The program's tables stand below its name, the chip's below the root.
        path = self._path[1:] if self._path[:1] == (of.name,) else self._path
        for shown, table in of.tables.items():
            if shown.split(".") == list(path):
                return Table(of, table).method(name)
        return Shell(of, (*self._path, name))

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
            return lambda **given: self._of.write(changes[kind], self._entry(action, given))
        if kind == "entry":
            return lambda **given: Entry(
                lambda: self._of.write(5, self._entry(action, given))  # insert or modify
            )
        if kind == "set_default":
            return lambda **given: self._of.write(MODIFY, self._entry(action, given, default=True))
        return {"clear": self._clear, "dump": self._dump, "get": self._get}[name]

    def _clear(self) -> None:
        self._of.write(DELETE, message("TableEntry").__class__(table_id=self._table["id"]))

    def _dump(self) -> list[Row]:
        asked = message("TableEntry").__class__(table_id=self._table["id"])
        return [self._row(entry) for entry in self._of.read(asked)]

    def _get(self, **given: Any) -> Row:
        asked = self._entry("", given)
        asked.ClearField("data")
        return self._row(next(iter(self._of.read(asked))))

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
        row: Row = {}
        keys = {key["id"]: key for key in self._table["key"]}
        for field in entry.key.fields:
            found = getattr(field, field.WhichOneof("match_type"))
            values = [
                int.from_bytes(value, "big") if isinstance(value, bytes) else value
                for _, value in found.ListFields()
            ]
            row[_short(keys[field.field_id]["name"])] = values
        actions = {known["id"]: known for known in self._table.get("action_specs", [])}
        action = actions.get(entry.data.action_id)
        if action is not None:
            row["action"] = action["name"]
        _, own = self._fields("")
        names = {field["id"]: field["name"] for field in [*(action or {"data": []})["data"], *own]}
        for field in entry.data.fields:
            value = getattr(field, field.WhichOneof("value"))
            plain = int.from_bytes(value, "big") if isinstance(value, bytes) else value
            row[_short(names[field.field_id])] = plain
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
    width = of.get("width") or int(of["type"].removeprefix("uint"))
    return int(value).to_bytes((width + 7) // 8, "big")


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
        case "bool":
            out.bool_val = value
        case "string":
            out.str_val = value
        case _ if field["repeated"]:
            out.int_arr_val.val.extend(value)
        case _:
            out.stream = _bytes(value, field)
