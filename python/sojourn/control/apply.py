"""Operations handed to the engine, which carries them out on a switch while packets pass.

An operation is the engine's JSON (`crates/control/src/operation.rs`): plain data with names
as the program has them. Uses no file; one that the engine refuses ends in a `ControlError` with
the engine's reason.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sojourn import _core
from sojourn.control.description import ControlError

Operation = Mapping[str, Any]
"""As `{"op": "delete_entry", "table": "Ingress.routes", "at": 0}`; numbers may be digits."""


def apply(operation: Operation, switch: _core.PacketSwitch) -> int | None:
    """Carries out one operation; the handle of an entry that it has added."""
    return apply_all([operation], switch)[0]


def apply_all(operations: Sequence[Operation], switch: _core.PacketSwitch) -> list[int | None]:
    """Carries out all of them or none; the handle of each entry that was added."""
    try:
        return switch.apply(json.dumps(operations))
    except _core.ConfigError as error:
        raise ControlError(str(error.args[0])) from None
