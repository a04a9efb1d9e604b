"""A program's control plane: its names, what can be asked of it, and how that reaches the engine.

Files in several formats (STF tests, `simple_switch_CLI` commands) are read elsewhere into the
operations that stand here. Knows no file format and no traffic.
"""

from sojourn.control.apply import Applied, apply
from sojourn.control.description import (
    Action,
    ControlError,
    Key,
    Object,
    ProgramDescription,
    Table,
    read_description,
)
from sojourn.control.document import control_plane
from sojourn.control.multicast import Multicast
from sojourn.control.operations import (
    ActionCall,
    AddEntry,
    AddToValueSet,
    AnyValue,
    ClearTable,
    DeleteEntry,
    Exact,
    Group,
    Match,
    Member,
    ModifyEntry,
    Operation,
    Prefix,
    Range,
    RemoveMirrorSession,
    SetDefault,
    SetMeter,
    SetMirrorSession,
    SetMulticastGroup,
    SetProfile,
    SetQueue,
    Target,
    Ternary,
    WriteCounter,
    WriteRegister,
)

__all__ = [
    "Action",
    "ActionCall",
    "AddEntry",
    "AddToValueSet",
    "AnyValue",
    "Applied",
    "ClearTable",
    "ControlError",
    "DeleteEntry",
    "Exact",
    "Group",
    "Key",
    "Match",
    "Member",
    "ModifyEntry",
    "Multicast",
    "Object",
    "Operation",
    "Prefix",
    "ProgramDescription",
    "Range",
    "RemoveMirrorSession",
    "SetDefault",
    "SetMeter",
    "SetMirrorSession",
    "SetMulticastGroup",
    "SetProfile",
    "SetQueue",
    "Table",
    "Target",
    "Ternary",
    "WriteCounter",
    "WriteRegister",
    "apply",
    "control_plane",
    "read_description",
]
