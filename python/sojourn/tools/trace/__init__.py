"""One packet through a program, step by step: parser states, tables, actions, registers, deparser.

`steps.py` gets the steps from the engine, of a packet on a switch alone or of one in a run.
`tree.py` turns them into lines, `page.py` into a page. The steps are the engine's JSON, one object
for each pass.
"""

from sojourn.tools.trace.page import trace_page
from sojourn.tools.trace.steps import (
    GENERATED_WORD,
    Traced,
    trace_frames,
    trace_generated,
    trace_in_run,
)
from sojourn.tools.trace.tree import Line, lines_of

__all__ = [
    "GENERATED_WORD",
    "Line",
    "Traced",
    "lines_of",
    "trace_frames",
    "trace_generated",
    "trace_in_run",
    "trace_page",
]
