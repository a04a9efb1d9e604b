"""Placement of a P4 program in the chip's pipeline: the estimate, its picture, its page.

`estimate` calls the engine; `columns`, `cards`, `lanes` and `bars` each draw a part, `picture`
combines them, `page` adds interaction in a browser. Must not depend on traffic.
"""

from sojourn.tools.check.stages.estimate import NOT_SIMULATED, Stages, estimate, explanation

__all__ = ["NOT_SIMULATED", "Stages", "estimate", "explanation"]
