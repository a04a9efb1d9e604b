"""Where a P4 program goes in the chip's pipeline: the estimate, its picture, its page.

`estimate` asks the engine, `columns`, `cards`, `lanes` and `bars` each draw a part, `picture` puts
them together, `page` adds what a browser can show. Stands on the engine; knows nothing of traffic.
"""

from sojourn.tools.check.stages.estimate import NOT_SIMULATED, Stages, estimate, explanation

__all__ = ["NOT_SIMULATED", "Stages", "estimate", "explanation"]
