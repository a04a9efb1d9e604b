"""The switch between real interfaces, and runs of scenarios through such switches.

`plan` turns a user's options into the engine's input, `offloads` keeps the kernel from changing
frames, `switch_run` runs a switch and writes its folder, `summary` counts the packets. `backend`
runs scenarios.
"""

from sojourn.backends.live.plan import LivePlan, LivePort, live_plan
from sojourn.backends.live.summary import PortSummary, summarise
from sojourn.backends.live.switch_run import run_live

__all__ = ["LivePlan", "LivePort", "PortSummary", "live_plan", "run_live", "summarise"]
