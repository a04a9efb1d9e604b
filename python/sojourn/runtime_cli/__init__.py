"""The commands of bmv2's `simple_switch_CLI`: read line by line into operations.

Syntax and meaning are those of bmv2's `runtime_CLI.py` and `sswitch_CLI.py`; `set_queue_bitrate` is
Sojourn's own. Stands on the control plane's operations; carries nothing out.
"""

from sojourn.runtime_cli.command import COMMANDS, Outcome, Query, Session
from sojourn.runtime_cli.file import CommandFileError, PlacedOperation, read_commands, try_commands

__all__ = [
    "COMMANDS",
    "CommandFileError",
    "Outcome",
    "PlacedOperation",
    "Query",
    "Session",
    "read_commands",
    "try_commands",
]
