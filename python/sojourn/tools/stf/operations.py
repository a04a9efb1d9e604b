"""`add` and `setdefault`, passed to the engine, which resolves their names and values.

Depends on the parsed statements. The rules are in `crates/control/src/stf.rs`.
"""

import json
from dataclasses import asdict
from typing import Any

from sojourn import _core
from sojourn.control import ControlError
from sojourn.tools.stf.statements import Add, SetDefault


def operation_of(statement: Add | SetDefault, switch: _core.PacketSwitch) -> dict[str, Any]:
    """The operation of a statement; `ControlError` if it does not fit the program."""
    document = {"statement": type(statement).__name__.lower()} | asdict(statement)
    # What the test calls the entry is between the test and itself.
    document.pop("name", None)
    try:
        operation: dict[str, Any] = json.loads(switch.operation_of(json.dumps(document)))
    except _core.ConfigError as error:
        raise ControlError(str(error.args[0])) from None
    return operation
