"""A program's control plane: its names, and how what is asked of it reaches the engine.

What can be asked is the engine's one set of operations; files are read into them elsewhere. Knows
no file format and no traffic.
"""

from sojourn.control.apply import Operation, apply, apply_all
from sojourn.control.description import (
    Action,
    ControlError,
    Key,
    Object,
    ProgramDescription,
    Table,
    read_description,
)

__all__ = [
    "Action",
    "ControlError",
    "Key",
    "Object",
    "Operation",
    "ProgramDescription",
    "Table",
    "apply",
    "apply_all",
    "read_description",
]
