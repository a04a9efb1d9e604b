"""One packet through a program, step by step: parser states, tables, actions, registers, deparser.

`steps.py` asks the engine, of a packet on a switch alone or of one in a run; `tree.py` makes lines
of what it answers, `page.py` a page. The answers are the engine's JSON, one object a pass.
"""

from sojourn.tools.trace.page import trace_page
from sojourn.tools.trace.steps import Traced, trace_frames, trace_in_run
from sojourn.tools.trace.tree import Line, lines_of

__all__ = ["Line", "Traced", "lines_of", "trace_frames", "trace_in_run", "trace_page"]
