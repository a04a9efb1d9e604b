"""P4Runtime client: the transport of a `Switch` for any switch that speaks P4Runtime.

The program's interface is read from its P4Info. Operations in the engine's words become updates of
one write request, which the switch executes wholly or not at all. Must not depend on files.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from sojourn import _core
from sojourn.control import messages
from sojourn.control.description import ControlError

_TOP = 1 << 24
"""A `priority` of the operations, where the lowest wins, is so much less in P4Runtime."""
_LONGEST = 64 << 20
_ALREADY_EXISTS = 6
_KINDS = {2: "exact", 3: "lpm", 4: "ternary", 5: "range", 6: "optional"}


class P4RuntimeTransport:
    """A controller of a device, the primary one if it can; only that one writes. `ControlError` is
    what the switch refuses."""

    def __init__(
        self, address: str, *, device: int = 1, election: int = 1, tls: "Tls | None" = None
    ) -> None:
        self._grpc = messages.grpc()
        self._device, self._election = device, election
        options = [("grpc.max_receive_message_length", _LONGEST)]
        self._channel = (
            self._grpc.insecure_channel(address, options=options)
            if tls is None
            else self._grpc.secure_channel(address, tls.credentials(self._grpc), options=options)
        )
        self._stub = messages.Stub(self._channel, "p4.v1.P4Runtime")
        self._asks: SimpleQueue[Any] = SimpleQueue()
        self._is_backup = ""
        with self._refused(address):
            self._arbitrate()
            self._info = self._pipeline()
        self._ids()

    def _arbitrate(self) -> None:
        request = messages.message("p4.v1.StreamMessageRequest")()
        request.arbitration.device_id = self._device
        request.arbitration.election_id.low = self._election
        self._asks.put(request)
        self._stream = self._stub.StreamChannel(iter(self._asks.get, None))
        answer = next(self._stream).arbitration
        highest = answer.election_id.low
        if answer.status.code == _ALREADY_EXISTS:
            self._is_backup = (
                f"another controller is primary of device {self._device}, with the election id "
                f"{highest}; only the primary writes: connect with a higher one"
            )
        elif answer.status.code != 0:
            self._is_backup = (
                f"a controller was primary of device {self._device} with the election id "
                f"{highest}; to write, connect with that or a higher one"
            )

    def _pipeline(self) -> Any:
        request = messages.message("p4.v1.GetForwardingPipelineConfigRequest")()
        request.device_id = self._device
        return self._stub.GetForwardingPipelineConfig(request).config.p4info

    def _ids(self) -> None:
        info = self._info
        self._tables = {one.preamble.name: one for one in info.tables}
        self._actions = {one.preamble.name: one for one in info.actions}
        self._by_id = {one.preamble.id: one for one in info.actions}
        self._objects = {
            kind: {one.preamble.name: one for one in found}
            for kind, found in (
                ("register", info.registers),
                ("counter", info.counters),
                ("meter", info.meters),
            )
        }

    def close(self) -> None:
        """Ends the connection."""
        self._asks.put(None)
        self._channel.close()

    @contextlib.contextmanager
    def _refused(self, what: str = "") -> Iterator[None]:
        try:
            yield
        except self._grpc.RpcError as error:
            raise ControlError(f"{what}: {_why(error)}" if what else _why(error)) from None

    def describe(self) -> str:
        """As `_core.PacketSwitch.describe`."""
        objects = [
            {"name": name, "of": kind, "size": one.size}
            for kind, found in self._objects.items()
            for name, one in found.items()
        ]
        described = {
            "package": self._info.pkg_info.arch,
            "pipelines": [],
            "tables": [self._table(table) for table in self._info.tables],
            "objects": objects,
            "value_sets": [],
            "constants": {},
        }
        return json.dumps(described)

    def _table(self, table: Any) -> dict[str, Any]:
        def action(listed: Any) -> dict[str, Any]:
            known = self._by_id[listed.id]
            parameters = [{"name": one.name, "width": one.bitwidth} for one in known.params]
            return {
                "name": known.preamble.name,
                "parameters": parameters,
                "default_only": listed.scope == 2,
            }

        return {
            "name": table.preamble.name,
            "keys": [
                {"name": key.name, "match_kind": _KINDS[key.match_type], "width": key.bitwidth}
                for key in table.match_fields
            ],
            "actions": [action(listed) for listed in table.action_refs],
            "size": table.size,
            "entries": 0,
            "const_entries": table.is_const_table,
            "const_default_action": table.const_default_action_id != 0,
            "implementation": None,
        }

    def report(self) -> dict[str, Any]:
        """The switch's report on its interfaces, which P4Runtime does not have."""
        raise ControlError("ports are not told over P4Runtime; name the folder of the switch")

    def apply(self, operations: str | _core.Operations) -> list[int | None]:
        """As `_core.PacketSwitch.apply`; entries have no handles."""
        given: list[dict[str, Any]] = json.loads(str(operations))
        if self._is_backup:
            raise ControlError(self._is_backup)
        request = messages.message("p4.v1.WriteRequest")()
        request.device_id, request.election_id.low = self._device, self._election
        # One update alone is done wholly or not at all anyway.
        request.atomicity = 0 if len(given) == 1 else 1
        for operation in given:
            for kind, entity in self._updates(operation):
                update = request.updates.add(type=kind)
                update.entity.CopyFrom(entity)
        if len(request.updates) > 1:
            request.atomicity = 1
        with self._refused():
            self._stub.Write(request)
        return [None] * len(given)

    def _updates(self, operation: dict[str, Any]) -> Iterator[tuple[int, Any]]:
        insert, modify, delete = 1, 2, 3
        match operation:
            case {"op": "add_entry", "table": table, "entry": entry}:
                yield insert, self._entry(table, entry, entry)
            case {"op": "modify_entry", "table": table, "at": dict(at), "to": to}:
                yield modify, self._entry(table, at, to)
            case {"op": "delete_entry", "table": table, "at": dict(at)}:
                yield delete, self._entry(table, at, None)
            case {"op": "clear_table", "table": table}:
                for entity in self._read(self._entry(table, {}, None)):
                    if not entity.table_entry.is_const:
                        entity.table_entry.ClearField("action")
                        yield delete, entity
            case {"op": "set_default", "table": table, "call": call}:
                entity = self._entry(table, {}, call)
                entity.table_entry.is_default_action = True
                yield modify, entity
            case {"op": "reset_default", "table": table}:
                entity = self._entry(table, {}, None)
                entity.table_entry.is_default_action = True
                yield modify, entity
            case {"op": "write_register", "name": name, "value": value}:
                known, entity = self._cell("register", name, operation.get("index"))
                _fill(entity.register_entry.data, known.type_spec, self._info.type_info, value)
                yield modify, entity
            case {"op": "write_counter", "name": name, "packets": packets, "bytes": octets}:
                _, entity = self._cell("counter", name, operation.get("index"))
                data = entity.counter_entry.data
                data.packet_count, data.byte_count = packets, octets
                yield modify, entity
            case {"op": "set_meter", "name": name, "index": index, "spec": spec}:
                _, entity = self._cell("meter", name, index)
                config = entity.meter_entry.config
                config.cir, config.cburst = spec["cir"], spec["cbs"]
                config.pir, config.pburst = spec["pir"], spec["pbs"]
                yield modify, entity
            case {"op": "reset_meter", "name": name}:
                _, entity = self._cell("meter", name, operation.get("index"))
                yield modify, entity
            case {"op": name}:
                raise ControlError(f"{name}: not over P4Runtime; name entries by what they match")

    def read(self, query: dict[str, Any]) -> Any:
        """The answer to a question in the engine's words."""
        match query:
            case {"read": "entries", "table": table}:
                found = self._read(self._entry(table, {}, None))
                return [self._shown(one.table_entry, at) for at, one in enumerate(found)]
            case {"read": "default", "table": table}:
                entity = self._entry(table, {}, None)
                entity.table_entry.is_default_action = True
                found = self._read(entity)
                return self._call(found[0].table_entry) if found else None
            case {"read": "register", "name": name, "index": index}:
                _, entity = self._cell("register", name, index)
                return [str(word) for word in _words(self._read(entity)[0].register_entry.data)]
            case {"read": "counter", "name": name, "index": index}:
                _, entity = self._cell("counter", name, index)
                data = self._read(entity)[0].counter_entry.data
                return {"packets": data.packet_count, "bytes": data.byte_count}
            case {"read": "meter", "name": name, "index": index}:
                _, entity = self._cell("meter", name, index)
                config = self._read(entity)[0].meter_entry.config
                return {
                    "cir": config.cir,
                    "cbs": config.cburst,
                    "pir": config.pir,
                    "pbs": config.pburst,
                }
            case {"read": name}:
                raise ControlError(f"{name}: not read over P4Runtime")
        raise ControlError("a question without `read`")

    def _read(self, entity: Any) -> list[Any]:
        request = messages.message("p4.v1.ReadRequest")()
        request.device_id = self._device
        request.entities.add().CopyFrom(entity)
        with self._refused():
            return [one for response in self._stub.Read(request) for one in response.entities]

    def _cell(self, kind: str, name: str, index: int | None) -> tuple[Any, Any]:
        known = self._objects[kind].get(name)
        if known is None:
            raise ControlError(f"there is no {kind} {name}")
        entity = messages.message("p4.v1.Entity")()
        entry = getattr(entity, f"{kind}_entry")
        setattr(entry, f"{kind}_id", known.preamble.id)
        if index is not None:
            entry.index.index = index
        return known, entity

    def _entry(self, table: str, at: dict[str, Any], to: dict[str, Any] | None) -> Any:
        known = self._tables.get(table)
        if known is None:
            raise ControlError(f"there is no table {table}")
        entity = messages.message("p4.v1.Entity")()
        entry = entity.table_entry
        entry.table_id = known.preamble.id
        matches = at.get("match", {})
        for key in known.match_fields:
            if key.name in matches:
                _match(entry, key, matches[key.name])
        if at and any(key.match_type >= 4 for key in known.match_fields):
            entry.priority = at.get("rank") or _TOP - at.get("priority", 0)
        if to is not None:
            action = entry.action.action
            called = self._actions[to["action"]]
            action.action_id = called.preamble.id
            for parameter in called.params:
                value = to.get("args", {})[parameter.name]
                action.params.add(param_id=parameter.id, value=_bytes(value))
        return entity

    def _shown(self, entry: Any, at: int) -> dict[str, Any]:
        known = next(t for t in self._info.tables if t.preamble.id == entry.table_id)
        names = {key.id: key for key in known.match_fields}
        match = {names[one.field_id].name: _read_match(one) for one in entry.match}
        shown: dict[str, Any] = {"match": match} | (self._call(entry) or {})
        if entry.priority:
            below = _TOP - entry.priority
            shown |= {"priority": below} if below < _TOP // 2 else {"rank": entry.priority}
        return {"handle": at, "entry": shown, "is_const": entry.is_const}

    def _call(self, entry: Any) -> dict[str, Any] | None:
        kind = entry.action.WhichOneof("type")
        if kind == "action_profile_member_id":
            return {"member": entry.action.action_profile_member_id}
        if kind == "action_profile_group_id":
            return {"group": entry.action.action_profile_group_id}
        if kind != "action":
            return None
        called = self._by_id[entry.action.action.action_id]
        names = {one.id: one.name for one in called.params}
        args = {names[p.param_id]: str(_number(p.value)) for p in entry.action.action.params}
        return {"action": called.preamble.name, "args": args}


class Tls:
    """Certificates as PEM: who signs the server's, and our own with its key."""

    def __init__(self, ca: Path, certificate: Path | None = None, key: Path | None = None) -> None:
        self._ca, self._certificate, self._key = ca, certificate, key

    def credentials(self, grpc: Any) -> Any:
        """As gRPC takes them."""

        def read(path: Path | None) -> bytes | None:
            try:
                return None if path is None else path.read_bytes()
            except OSError as error:
                raise ControlError(f"{path}: {error.strerror}") from error

        return grpc.ssl_channel_credentials(
            read(self._ca), read(self._key), read(self._certificate)
        )


def _why(error: Any) -> str:
    """The reason of the first update that was refused, else of the whole request."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = messages.message("google.rpc.Status").FromString(value)
            for detail in status.details:
                found = messages.message("p4.v1.Error").FromString(detail.value)
                # 10: nothing was done because another update failed.
                if found.canonical_code not in (0, 10):
                    return str(found.message)
    return str(error.details() or error.code().name.lower().replace("_", " "))


def _number(value: bytes) -> int:
    return int.from_bytes(value, "big")


def _bytes(value: int | str) -> bytes:
    number = value if isinstance(value, int) else int(value, 0)
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def _match(entry: Any, key: Any, value: Any) -> None:
    everything = (1 << key.bitwidth) - 1
    found = entry.match.add(field_id=key.id)
    kind = _KINDS[key.match_type]
    match kind, value:
        case ("lpm", {"value": start, "prefix": length}):
            found.lpm.value, found.lpm.prefix_len = _bytes(start), int(length)
        case ("lpm", int() | str()):
            found.lpm.value, found.lpm.prefix_len = _bytes(value), key.bitwidth
        case ("ternary", {"value": bits, "mask": mask}):
            found.ternary.value, found.ternary.mask = _bytes(bits), _bytes(mask)
        case ("ternary", int() | str()):
            found.ternary.value, found.ternary.mask = _bytes(value), _bytes(everything)
        case ("range", {"low": low, "high": high}):
            found.range.low, found.range.high = _bytes(low), _bytes(high)
        case ("range", int() | str()):
            found.range.low = found.range.high = _bytes(value)
        case ("exact" | "optional", int() | str()):
            getattr(found, kind).value = _bytes(value)
        case _:
            raise ControlError(f"{key.name} is {kind}; {value} is no such match")


def _read_match(found: Any) -> Any:
    match found.WhichOneof("field_match_type"):
        case "lpm":
            value = str(_number(found.lpm.value))
            return {"value": value, "prefix": found.lpm.prefix_len}
        case "ternary":
            both = _number(found.ternary.value), _number(found.ternary.mask)
            return {"value": str(both[0]), "mask": str(both[1])}
        case "range":
            low, high = _number(found.range.low), _number(found.range.high)
            return {"low": str(low), "high": str(high)}
        case kind:
            return str(_number(getattr(found, kind).value))


def _words(data: Any) -> list[int]:
    """The numbers that a value is made of."""
    match data.WhichOneof("data"):
        case "bitstring":
            return [_number(data.bitstring)]
        case "bool":
            return [int(data.bool)]
        case "enum_value":
            return [_number(data.enum_value)]
        case "struct" | "tuple" as kind:
            return [n for member in getattr(data, kind).members for n in _words(member)]
        case "header":
            return [_number(one) for one in data.header.bitstrings]
        case kind:
            raise ControlError(f"a register of {kind}")


def _fill(data: Any, spec: Any, types: Any, words: list[int | str]) -> None:
    """Makes a value of a register's type of numbers, as they are or as they are written."""
    left = [int(word, 0) if isinstance(word, str) else word for word in words]
    _fill_next(data, spec, types, left)
    if left:
        raise ControlError(f"{len(left)} numbers too many for a cell")


def _fill_next(data: Any, spec: Any, types: Any, left: list[int]) -> None:
    match spec.WhichOneof("type_spec"):
        case "struct":
            for member in types.structs[spec.struct.name].members:
                _fill_next(data.struct.members.add(), member.type_spec, types, left)
            return
        case "tuple":
            for member in spec.tuple.members:
                _fill_next(data.tuple.members.add(), member, types, left)
            return
    if not left:
        raise ControlError("a cell wants a number for each field")
    word = left.pop(0)
    match spec.WhichOneof("type_spec"):
        case "bitstring":
            data.bitstring = _bytes(word)
        case "bool":
            data.bool = bool(word)
        case "serializable_enum":
            data.enum_value = _bytes(word)
        case kind:
            raise ControlError(f"a register of {kind}")
