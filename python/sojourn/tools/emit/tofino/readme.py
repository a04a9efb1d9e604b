"""Instructions for a real switch: the steps from the program's text to packets, in order.

Depends on the job. Says nothing that the script does not do or the operator has not to do.
"""

from typing import Any

from sojourn.model.units import RATE, SIZE
from sojourn.tools.emit.job import Job
from sojourn.tools.emit.tofino import names
from sojourn.tools.emit.tofino.chip import Chip

_COMMANDS = """\
```
{lines}
```"""

_PIPES = """
Registers are a pipe's own: a session that brings copies back to them goes to a recirculation port
of the pipe that the managed port belongs to ({loops}).
"""
_SHAPERS = """
A shaper counts 20 bytes more a packet, for preamble and gap, unless
`{tables}.tm.pipe.sched_cfg` has another `packet_ifg_compensation`.
"""


def readme(job: Job, script: str, chip: Chip) -> str:
    """The text, in Markdown."""
    steps = [_compile(job), _start(job), _ports(job), _fill(job, script, chip), _look(job)]
    if not job.shapers:
        steps.insert(4, _no_shaper(chip))
    numbered = (f"## {at}. {step}" for at, step in enumerate(steps, start=1))
    return "\n\n".join([_head(job, chip), *numbered]) + "\n"


def _head(job: Job, chip: Chip) -> str:
    return (
        f"# {job.name} on a {chip.title}\n\n"
        f"`SDE` and `SDE_INSTALL` are those of the switch's software (open-p4studio or the\n"
        f"vendor's SDE 9). Device ports are the numbers that `pm show` lists as D_P."
    )


def _compile(job: Job) -> str:
    given = [f"-I{folder}" for folder in job.include_folders]
    given += [f"-D{name}={value}" for name, value in sorted(job.choice.defines.items())]
    flags = [f'  -DP4PPFLAGS="{" ".join(given)}" \\'] if given else []
    lines = [
        "cmake $SDE/p4studio \\",
        "  -DCMAKE_INSTALL_PREFIX=$SDE_INSTALL -DCMAKE_MODULE_PATH=$SDE/cmake \\",
        *flags,
        f"  -DP4_NAME={job.name} -DP4_PATH={job.choice.program.resolve()}",
        f"make {job.name} && make install",
    ]
    return "Compile\n\nIn an empty folder:\n\n" + _commands(lines)


def _start(job: Job) -> str:
    lines = [f"$SDE/run_switchd.sh -p {job.name}"]
    return "Start the switch\n\n" + _commands(lines)


def _ports(job: Job) -> str:
    used = sorted(_ports_of(job))
    named = ", ".join(map(str, used)) if used else "none"
    return (
        "Bring up the ports\n\n"
        f"The entries and rates of this folder are for the device ports {named}. If the cables\n"
        "are at others, change the numbers in the control-plane file and emit again. In the\n"
        "shell:\n\n" + _commands(["ucli", "pm port-add 1/0 10G NONE", "pm port-enb 1/0", "pm show"])
    )


def _fill(job: Job, script: str, chip: Chip) -> str:
    entries = {table["name"]: len(table.get("entries", [])) for table in job.control["tables"]}
    written = "".join(f"- {count} entries of `{name}`\n" for name, count in entries.items())
    sessions = "".join(
        f"- mirror session {session['session']} to port {session['port']}\n"
        for session in job.control.get("mirror_sessions", [])
    )
    shapers = "".join(
        f"- port {shaper.port} held to {RATE.format(shaper.rate)}, "
        f"burst {SIZE.format(shaper.burst)}\n"
        for shaper in job.shapers
    )
    return (
        "Fill tables, sessions, shapers\n\n"
        + _commands([f"$SDE/run_bfshell.sh -b $PWD/{script}"])
        + f"\n\nIt writes:\n\n{written}{sessions}{shapers}"
        + (_PIPES.format(loops=chip.first_loops) if sessions else "")
        + (_SHAPERS.format(tables=chip.tables) if shapers else "")
    ).rstrip("\n")


def _no_shaper(chip: Chip) -> str:
    return (
        "Give the queue a rate\n\n"
        "A queue stands only where more comes in than goes out. For a bottleneck slower than its\n"
        "line, emit with `--shape PORT=RATE`, or in bfrt_python:\n\n"
        + _commands(
            [
                f"bfrt.{chip.tables}.tm.port.sched_shaping.mod(dev_port=PORT, unit='BPS',",
                "    provisioning='UPPER', max_rate=KBIT_PER_SECOND, max_burst_size=1600)",
                f"bfrt.{chip.tables}.tm.port.sched_cfg.mod(dev_port=PORT, max_rate_enable=True)",
            ]
        )
    )


def _look(job: Job) -> str:
    node = names.pipe_node(job)
    tables = [f"{node}.{table['name']}.info()" for table in job.control["tables"]]
    state = [
        f"{node}.{thing.name}.get({_index(thing.of)}=N, from_hw=True)"
        for thing in job.description.objects
        if thing.of in ("Counter", "Register")
    ]
    return (
        "Look\n\nIn bfrt_python; N is the index of a cell, which for state by port is the device\n"
        "port and for state by port and queue 32 * port + queue:\n\n" + _commands(tables + state)
    )


def _index(of: str) -> str:
    return {"Counter": "COUNTER_INDEX", "Register": "REGISTER_INDEX"}[of]


def _ports_of(job: Job) -> set[int]:
    """Device ports that the control plane names: arguments called `port`, sessions, shapers."""
    entries: list[dict[str, Any]] = [
        entry for table in job.control["tables"] for entry in table.get("entries", [])
    ]
    arguments = {entry["args"]["port"] for entry in entries if "port" in entry.get("args", {})}
    return {int(port) for port in arguments} | {shaper.port for shaper in job.shapers}


def _commands(lines: list[str]) -> str:
    return _COMMANDS.format(lines="\n".join(lines))
