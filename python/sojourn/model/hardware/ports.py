"""The ports of a hardware module: names, widths, and the check of a module's ports.

Depends on the header that Verilator writes for a module, which has every port with its width. What
the ports mean is in hardware/README.md. Compiles nothing.
"""

import re
from dataclasses import dataclass

from sojourn.errors import SojournError


@dataclass(frozen=True)
class Port:
    """A port of the interface."""

    output: bool
    bits: int
    required: bool = False


PORTS = {
    "clk": Port(False, 1, True),
    "rst": Port(False, 1, True),
    "ask": Port(False, 1, True),
    "now": Port(False, 48, True),
    "enqueued": Port(False, 48),
    "answer": Port(True, 1, True),
    "drop": Port(True, 1, True),
    "ready": Port(True, 1),
    "mark": Port(True, 1),
    "target": Port(False, 32),
    "interval": Port(False, 32),
    "maxpacket": Port(False, 32),
    "ecn": Port(False, 1),
    "queue_id": Port(False, 1),
    "backlog": Port(False, 32),
    "length": Port(False, 16),
    "capable": Port(False, 1),
    "put": Port(False, 1),
    "shed": Port(False, 1),
    "arriving": Port(False, 16),
    "hash": Port(False, 32),
    "quantum": Port(False, 32),
    "limit": Port(False, 32),
    "leaving": Port(True, 16),
    "done": Port(True, 1),
}
"""By name. A module need not have those that are not required."""

_OF_ORDER = ("put", "arriving", "leaving", "done")
"""All of them, or none: a module that keeps the order of packets."""

_PORT = re.compile(r"VL_(IN|OUT|INOUT)(?:8|16|64|W)?\(\(?&(\w+)\)?,(\d+),(\d+)")


class PortError(SojournError):
    """A module that cannot be connected."""


def connected(header: str, text: str, where: str) -> dict[str, int]:
    """The lines of the module's ports by their names, from Verilator's `header` for it.

    `PortError` has the place in the module's `text`, which is in the file `where`.
    """
    found = {}
    lines = {}
    for direction, name, high, low in _PORT.findall(header):
        found[name] = Port(direction != "IN", int(high) - int(low) + 1)
    for name, port in found.items():
        lines[name] = _line(text, name)
        place = f"{where}:{lines[name]}"
        wanted = PORTS.get(name)
        if wanted is None:
            known = ", ".join(PORTS)
            raise PortError(f"{place}: nothing is connected to a port `{name}`; there are: {known}")
        if port.output != wanted.output:
            way = "an output" if wanted.output else "an input"
            raise PortError(f"{place}: port `{name}` has to be {way}")
        if port.bits != wanted.bits:
            bits = f"{port.bits} bit{'s' if port.bits > 1 else ''}"
            raise PortError(f"{place}: port `{name}` has {bits}, {wanted.bits} are wanted")
    form = _OF_ORDER if "put" in found else ("enqueued",)
    for name, port in PORTS.items():
        if (port.required or name in form) and name not in found:
            way = "output" if port.output else "input"
            width = f" of {port.bits} bits" if port.bits > 1 else ""
            raise PortError(f"{where}: the module has no {way} `{name}`{width}")
    return lines


def _line(text: str, name: str) -> int:
    """The line of a port's declaration: the first line that has its name behind a direction."""
    declared = re.search(rf"\b(input|output|inout)\b[^;)]*?\b{name}\b", text)
    if declared is None:
        return 1
    return text.count("\n", 0, declared.end()) + 1
