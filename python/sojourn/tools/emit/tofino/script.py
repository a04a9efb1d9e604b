"""The script for bfrt_python: every write of the control plane, as a straight line.

It has no functions and no imports, because the shell runs a script inside a function of its own,
where names behave unlike in a module. Depends on the job and on `names`.
"""

from collections.abc import Iterable
from typing import Any

from sojourn.control import Action, Table
from sojourn.tools.emit.job import Job, Shaper
from sojourn.tools.emit.tofino import names
from sojourn.tools.emit.tofino.chip import Chip

_LONGEST_COPY = 15_120
"""Bytes: 63 units of 240. A session without a limit copies whole packets."""

Row = tuple[str, ...]


def script(job: Job, chip: Chip) -> str:
    """The script's text."""
    parts = [_head(job), *(_table(table, job) for table in job.control.get("tables", []))]
    parts += [_mirror_session(session, chip) for session in job.control.get("mirror_sessions", [])]
    parts += [_shaper(shaper, chip) for shaper in job.shapers]
    parts.append("bfrt.complete_operations()\nprint('done: the control plane is in place')")
    return "\n\n".join(parts) + "\n"


def _head(job: Job) -> str:
    return "\n".join(
        [
            f"# Control plane of {job.name} for bfrt_python, from the entries of the simulation.",
            "# It can be run again: what it fills it empties first. README.md has the steps.",
            f"pipe = {names.pipe_node(job)}",
        ]
    )


# ---- Tables -----------------------------------------------------------------------------------


def _table(filled: dict[str, Any], job: Job) -> str:
    table = job.description.table(filled["name"])
    lines = [f"table = pipe.{table.name}", "table.clear()"]
    by_action: dict[str, list[dict[str, Any]]] = {}
    for entry in filled.get("entries", []):
        by_action.setdefault(table.action(entry["action"]).name, []).append(entry)
    if by_action:
        lines.append("bfrt.batch_begin()")
        for name, entries in by_action.items():
            lines += _entries(table, table.action(name), entries)
        lines.append("bfrt.batch_end()")
    if default := filled.get("default"):
        lines.append(_default(table, default))
    return "\n".join(lines)


def _entries(table: Table, action: Action, entries: list[dict[str, Any]]) -> Iterable[str]:
    """One loop over the entries that lead to `action`."""
    keys, data = names.parameters(table, action)
    columns = [
        *(column for key in table.keys for column in names.key_parameters(key, keys[key.name])),
        *([names.PRIORITY] if table.ordered else []),
        *data.values(),
    ]
    yield f"# {', '.join(columns)}"
    yield "for row in ["
    yield from (f"    ({', '.join(_row(table, action, entry))})," for entry in entries)
    yield "]:"
    method = f"add_with_{action.name.rpartition('.')[2]}"
    arguments = [f"{column}=row[{at}]" for at, column in enumerate(columns)]
    one_line = f"    table.{method}({', '.join(arguments)})"
    if len(one_line) <= 100:
        yield one_line
    else:
        yield f"    table.{method}("
        yield from (f"        {argument}," for argument in arguments)
        yield "    )"


def _row(table: Table, action: Action, entry: dict[str, Any]) -> Row:
    given = {table.key(name).name: value for name, value in entry.get("match", {}).items()}
    matches = (
        number
        for key in table.keys
        for number in _match(key.match_kind, key.width, given.get(key.name))
    )
    priority = (str(entry.get("priority", 0)),) if table.ordered else ()
    arguments = (_number(entry["args"][parameter.name]) for parameter in action.parameters)
    row = (*matches, *priority, *arguments)
    # A tuple of one has a comma.
    return row if len(row) > 1 else (row[0], "")


def _match(kind: str, width: int, value: Any) -> Row:
    """The numbers of one key element, in the order of its parameters; None matches anything."""
    everything = (1 << width) - 1
    given = value if isinstance(value, dict) else None
    match kind:
        case "exact":
            return (_number(value),)
        case "ternary" if value is None:
            return ("0", "0")
        case "ternary" if given is None:
            return (_number(value), hex(everything))
        case "ternary" if given is not None and "prefix" in given:
            mask = everything >> (width - given["prefix"]) << (width - given["prefix"])
            return (_number(given["value"]), hex(mask))
        case "ternary" if given is not None:
            return (_number(given["value"]), _number(given["mask"], mask=True))
        case "lpm" if value is None:
            return ("0", "0")
        case "lpm" if given is None:
            return (_number(value), str(width))
        case "lpm" if given is not None:
            return (_number(given["value"]), str(given["prefix"]))
        case "range" if value is None:
            return ("0", str(everything))
        case "range" if given is None:
            return (_number(value), _number(value))
        case "range" if given is not None:
            return (_number(given["low"]), _number(given["high"]))
    raise AssertionError((kind, value))


def _number(value: int | str, *, mask: bool = False) -> str:
    """A number of a control-plane file as Python writes it; digits stay as they were typed."""
    if isinstance(value, str):
        return value.lower() if value[:2].lower() == "0x" else str(int(value))
    return hex(value) if mask else str(value)


def _default(table: Table, default: dict[str, Any]) -> str:
    action = table.action(default["action"])
    _, data = names.parameters(table, action)
    arguments = ", ".join(
        f"{data[parameter.name]}={_number(default['args'][parameter.name])}"
        for parameter in action.parameters
    )
    return f"table.set_default_with_{action.name.rpartition('.')[2]}({arguments})"


# ---- The fixed parts of the chip ---------------------------------------------------------------


def _mirror_session(session: dict[str, Any], chip: Chip) -> str:
    port = session["port"]
    arguments = {
        "sid": session["session"],
        "direction": repr(session.get("direction", "egress").upper()),
        "session_enable": True,
        "ucast_egress_port": port,
        "ucast_egress_port_valid": True,
        "egress_port_queue": session.get("queue", 0),
    }
    if (longest := session.get("max_length")) and longest <= _LONGEST_COPY:
        arguments["max_pkt_len"] = longest
    written = "\n".join(f"    {name}={value}," for name, value in arguments.items())
    push = f"bfrt.mirror.cfg.entry_with_normal(\n{written}\n).push()"
    return f"{_recirculation(port, chip)}\n{push}"


def _recirculation(port: int, chip: Chip) -> str:
    local = port & 0x7F
    if local in chip.recirculating:
        return f"# Port {port} always recirculates: the copies come back to egress through it."
    if local in chip.enabled:
        table = f"bfrt.{chip.tables}.pktgen.port_cfg"
        enable = f"{table}.entry(dev_port={port}, recirculation_enable=True)"
        return f"# Port {port} recirculates only when told to.\n{enable}.push()"
    return f"# Port {port} is a front port: the copies leave the switch, or it is in loopback."


def _shaper(shaper: Shaper, chip: Chip) -> str:
    kbit = -(-shaper.rate // 1000)
    return "\n".join(
        [
            "# Rate in kbit/s, rounded up by the hardware to what it can express; burst in bytes.",
            f"bfrt.{chip.tables}.tm.port.sched_shaping.mod(",
            f"    dev_port={shaper.port},",
            "    unit='BPS',",
            "    provisioning='UPPER',",
            f"    max_rate={kbit},",
            f"    max_burst_size={shaper.burst},",
            ")",
            f"bfrt.{chip.tables}.tm.port.sched_cfg.mod("
            f"dev_port={shaper.port}, max_rate_enable=True)",
        ]
    )
