"""Installation of a control-plane file on a switch in virtual time, and the check of such a file.

The switch stands alone: no link is connected and no packet enters it. Uses no scenario.
"""

import json

from sojourn import _core
from sojourn.control.file import ProgramChoice, at_its_line, plain, written_control_plane
from sojourn.control.route_entries import with_default_routes
from sojourn.errors import ConfigError, ControlPlaneError


def configured_switch(choice: ProgramChoice) -> _core.PacketSwitch:
    """A switch with the program and its control plane, which has processed no packet.

    `ControlPlaneError` names file and line of what the program does not take.
    """
    switch = _core.PacketSwitch(choice.compiled)
    try:
        switch.configure(json.dumps(with_default_routes(plain(written_control_plane(choice)))))
    except ConfigError as error:
        file = choice.control_file or choice.program
        raise ControlPlaneError(at_its_line(str(error), file)) from error
    return switch


def control_plane_faults(choice: ProgramChoice) -> str:
    """What the program does not take of its control-plane file, with file and line; empty if the
    file is right or absent."""
    try:
        if choice.control_file is not None:
            configured_switch(choice)
    except ControlPlaneError as error:
        return str(error)
    return ""
