"""Log of transfers and requests, held in memory until the run is over.

Each end logs events by its own clock. Must not depend on the code that joins both ends.
"""

import json
import struct
from collections import defaultdict
from pathlib import Path

_ROW = struct.Struct("<IIBq")
_BEGUN, _DONE = 0, 1


class Log:
    """The notes of one namespace's hosts."""

    def __init__(self) -> None:
        self._rows = bytearray()
        self._totals: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))

    def begun(self, flow: int, number: int, at: int) -> None:
        """A connection is opened, or a request written."""
        self._rows += _ROW.pack(flow, number, _BEGUN, at)

    def done(self, flow: int, number: int, at: int) -> None:
        """The last byte is there."""
        self._rows += _ROW.pack(flow, number, _DONE, at)

    def add(self, flow: int, **counts: int) -> None:
        """Counts of a configured flow."""
        totals = self._totals[flow]
        for name, count in counts.items():
            totals[name] += count

    def write(self, folder: Path, side: str) -> None:
        """Leaves the files."""
        (folder / f"exchanges-{side}.bin").write_bytes(self._rows)
        (folder / f"totals-{side}.json").write_text(json.dumps(self._totals))
