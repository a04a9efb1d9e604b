"""The system tasks and foreign code that a hardware module may not have.

A module decides about packets; it neither runs commands, nor reads or writes files, nor brings C++
along. The check reads the text that Verilator compiles, in which macros and includes are replaced,
before any of it is made machine code. Verilator has no option for it. Depends on text alone.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from sojourn.common.resources import shown
from sojourn.errors import SojournError

_HARMLESS = frozenset(
    [
        "bits",
        "bitstoreal",
        "bitstoshortreal",
        "cast",
        "ceil",
        "changed",
        "clog2",
        "countbits",
        "countones",
        "dimensions",
        "display",
        "displayb",
        "displayh",
        "displayo",
        "error",
        "exp",
        "fatal",
        "fell",
        "finish",
        "floor",
        "high",
        "increment",
        "info",
        "isunbounded",
        "isunknown",
        "itor",
        "left",
        "ln",
        "log10",
        "low",
        "monitor",
        "monitorb",
        "monitorh",
        "monitoro",
        "monitoroff",
        "monitoron",
        "onehot",
        "onehot0",
        "past",
        "pow",
        "printtimescale",
        "psprintf",
        "random",
        "realtime",
        "realtobits",
        "right",
        "root",
        "rose",
        "rtoi",
        "sampled",
        "sformat",
        "sformatf",
        "shortrealtobits",
        "signed",
        "size",
        "sqrt",
        "sscanf",
        "stable",
        "stime",
        "stop",
        "strobe",
        "strobeb",
        "strobeh",
        "strobeo",
        "swrite",
        "swriteb",
        "swriteh",
        "swriteo",
        "time",
        "timeformat",
        "typename",
        "unit",
        "unpacked_dimensions",
        "unsigned",
        "urandom",
        "urandom_range",
        "warning",
        "write",
        "writeb",
        "writeh",
        "writeo",
    ]
)
"""System tasks and functions of IEEE 1800-2023 (20, 16.9.3) that compute, print or end."""

_TOKEN = re.compile(
    r"""
      "(?:\\.|[^"\\])*"                          # a string
    | //[^\n]* | /\*.*?\*/                       # a comment
    | \\\S+                                      # an escaped identifier
    | \$(?P<task>[A-Za-z0-9_$]+)
    | `(?P<foreign>systemc_\w+)
    | \b(?P<way>import|export)\s+(?P<dpi>"DPI(?:-C)?")
    """,
    re.VERBOSE | re.DOTALL,
)


class SystemTaskError(SojournError):
    """A module that would do more than decide about packets."""


def refuse_system_tasks(text: str, files: Sequence[Path]) -> None:
    """`SystemTaskError` if the preprocessed `text` of `files` has a task or foreign code that acts
    outside of the module."""
    for token in _TOKEN.finditer(text):
        task, foreign, way = token["task"], token["foreign"], token["way"]
        if task is not None and task not in _HARMLESS:
            found, sought = f"${task}", rf"\${re.escape(task)}\b"
        elif foreign is not None:
            found, sought = f"`{foreign}", rf"`{foreign}\b"
        elif way is not None:
            found, sought = f"{way} {token['dpi']}", rf"\b{way}\s+{token['dpi']}"
        else:
            continue
        raise SystemTaskError(
            f"{_place(sought, files)}: {found} is refused: a hardware module computes its answers; "
            "it runs no commands, brings no C or C++ and opens no files"
        )


def _place(sought: str, files: Sequence[Path]) -> str:
    """File and line of what is sought; the files alone where a macro composes it."""
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        if (found := re.search(sought, text)) is not None:
            return f"{shown(file)}:{text.count(chr(10), 0, found.start()) + 1}"
    return ", ".join(shown(file) for file in files)
