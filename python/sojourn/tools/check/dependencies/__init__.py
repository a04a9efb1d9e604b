"""The state variables of a P4 program: who reads and writes them, which are one atomic block.

`analysis` asks the engine, `picture` draws. Stands on the engine; knows no stages and no chip.
"""

from sojourn.tools.check.dependencies.analysis import Dependencies, dependencies
from sojourn.tools.check.dependencies.picture import draw_dependencies

__all__ = ["Dependencies", "dependencies", "draw_dependencies"]
