"""One AQM's decisions about a trace.

Depends on the engine's `Replay`. Must not depend on comparisons.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn import _core
from sojourn.control.file import as_plain, control_file, in_its_file
from sojourn.errors import ConfigError, ControlPlaneError, ScenarioError
from sojourn.results.faults import of_program
from sojourn.tools.replay.trace import Rows

_DROPPED, _UNSYNCHRONISED = 1, 2

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Decisions:
    """An AQM's decision about each packet of a trace."""

    dropped: Flags
    unsynchronised: Flags
    """A mirrored copy was still on its way to the program's registers."""
    copies: int
    """Mirrored copies that it asked for."""
    faults: tuple[str, ...] = ()
    """Faults: operations that the program's target lacks, in words."""


def _in_its_file(message: str, aqm: Mapping[str, Any]) -> str | None:
    program = aqm.get("program")
    return in_its_file(message, control_file(Path(program))) if program else None


def decide(
    aqm: dict[str, Any],
    rows: Rows,
    *,
    label: str,
    latency: int = 0,
    programs: Sequence[_core.Program] = (),
    go_on: Callable[[int], bool] = lambda _: True,
) -> Decisions | None:
    """Puts `rows` to an AQM, in the engine's configuration. `latency` (ns) is that of its copies;
    a program among `programs` is not compiled again.

    `go_on` hears of each chunk that is done, by its rows; none comes back if it says no.
    """
    config = {"aqm": aqm, "recirculation_latency": latency}
    try:
        replay = _core.Replay(json.dumps(config, default=as_plain), list(programs))
        decided = []
        for chunk in rows.chunks():
            decided.append(replay.decide(chunk))
            if not go_on(len(decided[-1])):
                return None
    except ConfigError as error:
        if located := _in_its_file(str(error), aqm):
            raise ControlPlaneError(located) from error
        raise ScenarioError(f"{label}: {error}") from error
    requested, no_session, _ = replay.copies()
    if no_session:
        raise ScenarioError(
            f"{label}: {no_session} of {requested} mirrored copies name a session that the "
            "program's control plane does not have; add it under [[mirror_sessions]]"
        )
    bits = np.frombuffer(b"".join(decided), np.uint8)
    faults = tuple(of_program(json.loads(replay.faults())))
    return Decisions((bits & _DROPPED) != 0, (bits & _UNSYNCHRONISED) != 0, requested, faults)
