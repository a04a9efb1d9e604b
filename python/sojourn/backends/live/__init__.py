"""The switch between real interfaces: what is asked for, what runs, what is left.

`ask` turns what a user says into what the engine takes, `offloads` keeps the kernel from changing
frames, `running` runs a switch and leaves its folder, `summary` says what became of the packets.
"""

from sojourn.backends.live.plan import LivePlan, LivePort, live_plan
from sojourn.backends.live.running import run_live
from sojourn.backends.live.summary import PortSummary, summarise

__all__ = ["LivePlan", "LivePort", "PortSummary", "live_plan", "run_live", "summarise"]
