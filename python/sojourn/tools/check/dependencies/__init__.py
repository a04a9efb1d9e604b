"""The state variables of a P4 program: their readers, writers and atomic blocks.

`analysis` calls the engine, `picture` draws. Must not depend on stages or on a chip.
"""

from sojourn.tools.check.dependencies.analysis import Dependencies, dependencies
from sojourn.tools.check.dependencies.picture import draw_dependencies

__all__ = ["Dependencies", "dependencies", "draw_dependencies"]
