"""bmv2: a control plane as commands of `simple_switch_CLI` for a running `simple_switch`.

The file holds commands only, because `simple_switch_CLI` takes a comment for a command and an empty
line for the last one again. A README next to it has the usage and the features that bmv2 lacks.
Reading the commands back gives the control plane that they were written from. Depends on the job
and the program's description.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sojourn.control import ControlError, Key, ProgramDescription, Table
from sojourn.tools.emit.job import Job, Target

_FRAME_BYTES = 1514
"""Of the packets by which a bit rate becomes bmv2's rate in packets."""


def _files(job: Job) -> dict[str, str]:
    name, package = job.name, job.description.package
    if package != "V1Switch":
        raise ControlError(f"{name}.p4: its main is a {package}; bmv2 runs programs for V1Switch")
    commands = "".join(f"{line}\n" for line in _commands(job))
    return {"commands.txt": commands, "README.md": _readme(job)}


BMV2 = Target(
    "bmv2",
    "v1model",
    "a file of commands for simple_switch_CLI",
    _files,
)


def _readme(job: Job) -> str:
    """The usage, and the features of this control plane that bmv2 lacks."""
    flags = "".join(f" -I {folder}" for folder in job.include_folders)
    flags += "".join(f" -D {name}={value}" for name, value in sorted(job.choice.defines.items()))
    queues = job.control.get("fair_queues") or job.control.get("priority_queues")
    options = f" -- --priority-queues {queues}" if queues else ""
    lines = [
        f"# {job.name} on bmv2",
        "",
        f"    p4c-bm2-ss{flags} {job.choice.program.resolve()} -o {job.name}.json",
        f"    simple_switch -i 1@veth1 -i 2@veth2 {job.name}.json{options}",
        "    simple_switch_CLI < commands.txt",
    ]
    remarks = list(_remarks(job))
    if remarks:
        lines += ["", "What bmv2 cannot do:", "", *(f"- {remark}" for remark in remarks)]
    return "\n".join(lines) + "\n"


def _remarks(job: Job) -> Iterator[str]:
    control = job.control
    if control.get("fair_queues"):
        yield (
            f"Queues of equal weight: the {control['fair_queues']} of this program go by priority "
            "there."
        )
    for profile in control.get("action_profiles", []):
        for group, members in profile.get("groups", []):
            down = ", ".join(str(member) for member, up in members if not up)
            if down:
                yield (
                    f"Members of a group that are down: {down} of group {group} of "
                    f"{profile['name']} are left out."
                )
    for session in control.get("mirror_sessions", []):
        if session.get("max_length"):
            number, length = session["session"], session["max_length"]
            yield f"Cut copies: those of session {number} to {length} bytes are whole."
    for rate in _bit_rates(job):
        yield (
            f"Rates in bit/s: {rate} bit/s are {_packets(rate)} packets/s of {_FRAME_BYTES} bytes."
        )


def _bit_rates(job: Job) -> list[int]:
    """Every rate in bit/s, once."""
    of_queues = [queue.get("bits_per_second") for queue in job.control.get("queues", [])]
    of_ports = [shaper.rate for shaper in job.shapers]
    return list(dict.fromkeys(rate for rate in of_queues + of_ports if rate is not None))


def _packets(rate: int) -> int:
    """A rate in bit/s in packets."""
    return rate // (8 * _FRAME_BYTES)


def _commands(job: Job) -> Iterator[str]:
    control, program = job.control, job.description
    handles = _Handles()
    for profile in control.get("action_profiles", []):
        yield from _profile(profile, program, handles)
    for table in control.get("tables", []):
        yield from _table(table, program, handles)
    yield from _copies(control)
    yield from _registers(control, program)
    yield from _meters(control, program)
    yield from _value_sets(control, program)
    yield from _queues(control)
    yield from (_bit_rate(shaper.rate, f" {shaper.port}") for shaper in job.shapers)


class _Handles:
    """The handles that bmv2 gives members and groups, by profile and by our numbers."""

    def __init__(self) -> None:
        self.members: dict[tuple[str, int], int] = {}
        self.groups: dict[tuple[str, int], int] = {}
        self.next_member: dict[str, int] = {}

    def of_new_member(self, profile: str) -> int:
        """The handle that bmv2 gives the member which the next command creates."""
        handle = self.next_member.get(profile, 0)
        self.next_member[profile] = handle + 1
        return handle


def _profile(
    profile: Mapping[str, Any], program: ProgramDescription, handles: _Handles
) -> Iterator[str]:
    found = program.profile(profile["name"])
    tables = program.tables_of(found)
    if not tables:
        raise ControlError(f"no table uses action profile {found.name}")
    for member in profile.get("members", []):
        handles.members[found.name, member["id"]] = handles.of_new_member(found.name)
        call = _call(tables[0], member["action"], member.get("args", {}))
        yield f"act_prof_create_member {found.name} {call}"
    for place, (group, members) in enumerate(profile.get("groups", [])):
        handles.groups[found.name, group] = place
        yield f"act_prof_create_group {found.name}"
        for member, up in members:
            handle = handles.members[found.name, member]
            if up:
                yield f"act_prof_add_member_to_group {found.name} {handle} {place}"


def _call(table: Table, name: str, args: Mapping[str, Any]) -> str:
    """An action with its arguments in the program's order."""
    action = table.action(name)
    missing = [p.name for p in action.parameters if p.name not in args]
    if missing:
        raise ControlError(f"table {table.name}: action {action.name} needs {', '.join(missing)}")
    values = [_number(args[parameter.name]) for parameter in action.parameters]
    return " ".join([action.name, *map(_written, values)])


def _table(
    given: Mapping[str, Any], program: ProgramDescription, handles: _Handles
) -> Iterator[str]:
    table = program.table(given["name"])
    if given.get("default"):
        yield from _default(given["default"], table, handles)
    for entry in given.get("entries", []):
        yield from _entry(entry, table, handles)


def _default(default: Mapping[str, Any], table: Table, handles: _Handles) -> Iterator[str]:
    """The command for the default action; an action of a table with an action profile gets a
    member."""
    profile = table.implementation or ""
    if (indirect := _indirect(default, profile, handles)) is not None:
        suffix, handle = indirect
        yield f"table_indirect_set_default{suffix} {table.name} {handle}"
    else:
        call = _call(table, default["action"], default.get("args", {}))
        if profile:
            yield f"act_prof_create_member {profile} {call}"
            yield f"table_indirect_set_default {table.name} {handles.of_new_member(profile)}"
        else:
            yield f"table_set_default {table.name} {call}"


def _entry(entry: Mapping[str, Any], table: Table, handles: _Handles) -> Iterator[str]:
    """An entry; one of a table with an action profile whose action it names gets a member."""
    given = {table.key(name).name: value for name, value in entry.get("match", {}).items()}
    keys = [key for key in table.keys if key.match_kind != "selector"]
    matches = " ".join(_match(key, given.get(key.name)) for key in keys)
    priority = f" {entry.get('priority', 0)}" if table.ordered else ""
    profile = table.implementation or ""
    if (indirect := _indirect(entry, profile, handles)) is not None:
        suffix, handle = indirect
        yield f"table_indirect_add{suffix} {table.name} {matches} => {handle}{priority}"
    else:
        call = _call(table, entry["action"], entry.get("args", {}))
        if profile:
            yield f"act_prof_create_member {profile} {call}"
            handle = handles.of_new_member(profile)
            yield f"table_indirect_add {table.name} {matches} => {handle}{priority}"
        else:
            action, _, args = call.partition(" ")
            arguments = f" {args}" if args else ""
            yield f"table_add {table.name} {action} {matches} =>{arguments}{priority}"


def _indirect(given: Mapping[str, Any], profile: str, handles: _Handles) -> tuple[str, int] | None:
    """The command's suffix and the handle, if `given` names a member or a group of a profile."""
    if given.get("member") is not None:
        return "", handles.members[profile, given["member"]]
    if given.get("group") is not None:
        return "_with_group", handles.groups[profile, given["group"]]
    return None


def _match(key: Key, match: Any) -> str:
    """A match of a key element; one that is left out matches anything."""
    full = (1 << key.width) - 1
    match match:
        case None:
            forms = {"lpm": "0/0", "range": f"0->{_written(full)}"}
            return forms.get(key.match_kind, "0&&&0")
        case {"value": value, "mask": mask}:
            return f"{_written(_number(value))}&&&{_written(_number(mask))}"
        case {"value": value, "prefix": length} if key.match_kind == "lpm":
            return f"{_written(_number(value))}/{length}"
        case {"value": value, "prefix": length}:
            return f"{_written(_number(value))}&&&{_written(full >> length ^ full)}"
        case {"low": low, "high": high}:
            return f"{_written(_number(low))}->{_written(_number(high))}"
    value = _written(_number(match))
    forms = {"lpm": f"{value}/{key.width}", "range": f"{value}->{value}", "exact": value}
    return forms.get(key.match_kind, f"{value}&&&{_written(full)}")


def _copies(control: Mapping[str, Any]) -> Iterator[str]:
    node = 0
    for group in control.get("multicast_groups", []):
        yield f"mc_mgrp_create {group['id']}"
        for each in group["nodes"]:
            ports = " ".join(map(str, each["ports"]))
            yield f"mc_node_create {each.get('rid', 0)} {ports}"
            yield f"mc_node_associate {group['id']} {node}"
            node += 1
    for session in control.get("mirror_sessions", []):
        number = session["session"]
        if session.get("group") is not None:
            yield f"mirroring_add_mc {number} {session['group']}"
        if session.get("port") is not None:
            yield f"mirroring_add {number} {session['port']}"


def _registers(control: Mapping[str, Any], program: ProgramDescription) -> Iterator[str]:
    for register in control.get("registers", []):
        found = program.object("register", register["name"])
        index = register.get("index")
        cells = range(found.size or 0) if index is None else [index]
        for cell in cells:
            yield f"register_write {found.name} {cell} {_number(register['value'])}"


def _meters(control: Mapping[str, Any], program: ProgramDescription) -> Iterator[str]:
    for meter in control.get("meters", []):
        name = program.object("meter", meter["name"]).name
        spec = meter["spec"]
        rates = " ".join(
            f"{_per_microsecond(spec[rate])}:{spec[burst]}"
            for rate, burst in (("cir", "cbs"), ("pir", "pbs"))
        )
        yield f"meter_set_rates {name} {meter['index']} {rates}"


def _value_sets(control: Mapping[str, Any], program: ProgramDescription) -> Iterator[str]:
    for value_set in control.get("value_sets", []):
        found = program.value_set(value_set["name"])
        if len(found.widths) > 1:
            raise ControlError(
                f"value set {found.name}: its members have {len(found.widths)} parts, and a "
                "command for bmv2 takes one value"
            )
        for member in value_set["members"]:
            yield f"pvs_add {found.name} {_written(_number(member[0]))}"


def _per_microsecond(per_second: int) -> str:
    whole, rest = divmod(per_second, 10**6)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".")


_OF_CELLS = ("limit_cells", "alpha", "base_cells", "pool", "guaranteed_cells", "headroom_cells")
"""Keys of a queue that are about a buffer of cells."""


def _queues(control: Mapping[str, Any]) -> Iterator[str]:
    for queue in control.get("queues", []):
        where = "".join(f" {queue[key]}" for key in ("port", "priority") if key in queue)
        if queue.get("packets_per_second") is not None:
            yield f"set_queue_rate {queue['packets_per_second']}{where}"
        if queue.get("bits_per_second") is not None:
            yield _bit_rate(queue["bits_per_second"], where)
        if queue.get("depth") is not None:
            yield f"set_queue_depth {queue['depth']}{where}"
        if cells := [key for key in queue if key in _OF_CELLS]:
            raise ControlError(
                f"queues: bmv2's queues count packets and have no {', '.join(cells)}; give "
                "--control a file with `depth` in their place"
            )
        if queue.get("paused"):
            raise ControlError(
                "queues: bmv2 has no command that pauses a queue; give --control a file without "
                "`paused = true`"
            )


def _bit_rate(rate: int, where: str) -> str:
    return f"set_queue_rate {_packets(rate)}{where}"


def _number(value: Any) -> int:
    return value if isinstance(value, int) else int(str(value), 0)


def _written(value: int) -> str:
    """Small numbers in decimal, others in hexadecimal."""
    return str(value) if value < 1024 else hex(value)
