"""A program's control plane: its names, its file, and the operations on it.

The operations are the engine's one set. Must not depend on a particular switch or on traffic.
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
