"""Replay: decisions of several AQMs about the same packets of one queue, compared.

`trace` has the packets, recorded or synthetic. `decisions` runs an AQM over them. `compare`
compares its decisions with those of the reference, `latency_cost` with those of the same program
without delay. `study` does so for several traces and AQMs, `output` writes tables and plots. The
package must not depend on a terminal.
"""

from sojourn.tools.replay.compare import Comparison
from sojourn.tools.replay.latency_cost import Race
from sojourn.tools.replay.study import Study, Subject, subjects
from sojourn.tools.replay.trace import (
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
