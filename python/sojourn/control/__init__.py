"""A program's control plane: its names, its file, and how what is asked of it reaches the engine.

What can be asked is the engine's one set of operations. Knows no switch and no traffic.
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
