"""Replay: AQMs asked about the same packets of one queue, and their decisions compared.

`trace` has the packets, recorded or synthetic; `ask` puts them to an AQM; `compare` holds decisions
against the reference's, `race` against those of the same program without delay; `study` does all of
it for several traces and AQMs, and `output` writes and draws what came out. Knows no terminal.
"""

from sojourn.replay.compare import Comparison
from sojourn.replay.race import Race
from sojourn.replay.study import Study, Subject, subjects
from sojourn.replay.trace import (
    PROFILES,
    RFC_8289,
    Parameters,
    RecordedTrace,
    SyntheticTrace,
    find_traces,
)

__all__ = [
    "PROFILES",
    "RFC_8289",
    "Comparison",
    "Parameters",
    "Race",
    "RecordedTrace",
    "Study",
    "Subject",
    "SyntheticTrace",
    "find_traces",
    "subjects",
]
