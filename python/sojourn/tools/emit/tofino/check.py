"""Checks that a job can be installed on a Tofino, before anything is written.

The engine loads the program and installs the entries as a simulation would. Anything that the
script cannot express is refused by name, never left out.
"""

import json

from sojourn import _core
from sojourn.common.resources import shown
from sojourn.control import ControlError
from sojourn.errors import ConfigError
from sojourn.tools.emit.job import Job
from sojourn.tools.emit.tofino.chip import Chip

_WRITTEN = {"tables", "mirror_sessions"}
"""Sections of a control plane that the script writes."""

_BY_HAND = {
    "fair_queues": (
        "the queues are not written: {group} of a port group, and which of "
        "them are a port's is the switch's own mapping ({tables}.tm.port.group, "
        "{tables}.tm.port.cfg)\n"
        "Give --control a file without fair_queues to have all the rest, and set on the switch as "
        "many queues for the port, each with the same max_priority, and its weight of `queues`, or "
        "1023, as dwrr_weight ({tables}.tm.queue.sched_cfg)."
    ),
    "priority_queues": (
        "the queues are not written: {group} of a port group, and which of "
        "them are a port's is the switch's own mapping ({tables}.tm.port.group, "
        "{tables}.tm.port.cfg)\n"
        "Give --control a file without priority_queues to have all the rest, and set on the switch "
        "queue N to max_priority N ({tables}.tm.queue.sched_cfg), 7 above that."
    ),
}
"""Sections that the operator has to set on the switch, and how."""

_PIPE_SHIFT = 7
"""A device port is two bits of pipe and seven of port."""


def check(job: Job, chip: Chip) -> None:
    """Raises what is wrong with the program, its control plane or the ports."""
    choice = job.choice
    where = shown(choice.control_file or choice.program)
    switch = _core.PacketSwitch(choice.compiled)
    try:
        switch.configure(json.dumps(job.control))
    except ConfigError as error:
        raise ControlError(f"{where}: {error}") from error
    pipelines = choice.declarations.pipelines
    if not pipelines:
        package = choice.declarations.package
        raise ControlError(f"{shown(choice.program)}: a {package} is no program for Tofino")
    if len(pipelines) > 1:
        raise ControlError(
            f"{shown(choice.program)}: its switch has {len(pipelines)} pipelines; entries are "
            "written for a program that runs in all pipes"
        )
    for section in job.control.keys() - _WRITTEN:
        if job.control[section]:
            why = _BY_HAND.get(section, "bfrt_python entries for these are not written")
            why = why.format(group=chip.group, tables=chip.tables)
            raise ControlError(f"{where}: {section}: {why}")
    for table in job.control.get("tables", []):
        default = [table["default"]] if table.get("default") else []
        for entry in [*table.get("entries", []), *default]:
            if "action" not in entry:
                raise ControlError(
                    f"{where}: table {table['name']}: an entry that names a member or group of an "
                    "action profile is not written"
                )
    _check_pipes(job)


def _check_pipes(job: Job) -> None:
    """Registers belong to a pipe, so a copy has to come back in the pipe that asked for it."""
    where = shown(job.choice.control_file or job.choice.program)
    for shaper in job.shapers:
        for session in job.control.get("mirror_sessions", []):
            mine, other = shaper.port >> _PIPE_SHIFT, session["port"] >> _PIPE_SHIFT
            if mine != other:
                raise ControlError(
                    f"{where}: mirror session {session['session']} goes "
                    f"to port {session['port']} of pipe {other}, but port {shaper.port} belongs to "
                    f"pipe {mine}; registers are a pipe's own, use port "
                    f"{(mine << _PIPE_SHIFT) + (session['port'] & 0x7F)}"
                )
