"""The chips that scripts are written for: their names, table prefixes and recirculation ports.

Depends on nothing else.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Chip:
    """A chip, as far as scripts differ."""

    title: str
    tables: str
    """First part of its fixed tables' names."""
    recirculating: range
    """Ports of a pipe that always recirculate."""
    enabled: range
    """Ports of a pipe that recirculate where a table says so."""
    first_loops: str
    """A recirculation port of each pipe, in words."""
    group: str
    """The ports and queues of a port group, in words."""


TOFINO1 = Chip(
    "Tofino 1",
    "tf1",
    range(68, 72),
    range(64, 68),
    "68, 196, 324, 452 in pipes 0 to 3",
    "four ports share the 32 queues",
)
TOFINO2 = Chip(
    "Tofino 2",
    "tf2",
    range(6, 8),
    range(6),
    "6, 134, 262, 390 in pipes 0 to 3",
    "eight ports share the 128 queues",
)
