"""Instructions of the simulator by component: callgrind's costs, summed by source file.

Code that the compiler has put into another function counts where its text stands; that of the
language's library, which is everywhere, with the function that it was put into.
"""

import re
from collections import Counter
from pathlib import Path

COMPONENTS = (
    ("TCP, hosts, applications", r"crates/net/src/(tcp|host|app)/"),
    ("header bytes and checksums", r"crates/net/src/wire/|crates/packet/src/checksum"),
    ("events, links, dispatch", r"crates/net/src/"),
    ("traffic manager and disciplines", r"crates/switch/src/(tm|discipline)/"),
    ("switch ports and passes", r"crates/(switch|packet)/src/"),
)
"""Names and what their files' paths hold; the first that fits counts."""

OTHERS = "memory and containers"
"""Of the language's library and C's."""


def by_component(counted: Path) -> Counter[str]:
    """Instructions of each component, from a file that callgrind has written."""
    found: Counter[str] = Counter()
    for file, cost in by_file(counted).items():
        found[component(file)] += cost
    return found


def component(file: str) -> str:
    return next((name for name, paths in COMPONENTS if re.search(paths, file)), OTHERS)


def by_file(counted: Path) -> Counter[str]:
    """Instructions of each source file, what it calls left out (callgrind's format, version 1)."""
    names: dict[str, str] = {}
    costs: Counter[str] = Counter()
    function, file, called = "", "", False
    for line in counted.read_text("utf-8").splitlines():
        if place := re.match(r"f([lie])=(\(\d+\))(?: (.*))?$", line):
            # A name stands where its number is first used.
            if place[3]:
                names[place[2]] = place[3]
            function = names[place[2]] if place[1] == "l" else function
            file = function if "/library/" in names[place[2]] else names[place[2]]
        elif line.startswith("calls="):
            called = True
        elif cost := re.match(r"[+\-*\d]\S* (\d+)$", line):
            # The line behind a call counts what was called.
            if not called:
                costs[file] += int(cost[1])
            called = False
        elif callee := re.match(r"cfi?l?=(\(\d+\)) (.*)$", line):
            names[callee[1]] = callee[2]
    return costs
