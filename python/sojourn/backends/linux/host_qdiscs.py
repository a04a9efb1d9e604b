"""Qdiscs on a host's outgoing interface: the scenario's `netem`, and a sender's shaper.

Depends on the engine's configuration of a run and on the netems of paths. Runs nothing.
"""

from typing import Any

from sojourn.backends.linux.addresses import Block, sends_from_behind
from sojourn.backends.linux.delays import delays
from sojourn.backends.linux.tc import Qdisc
from sojourn.backends.linux.topology import Shaper, bottleneck
from sojourn.errors import ScenarioError

_SHARES = {"senders": (1, 0), "receivers": (0, 1), "both": (1, 1)}
"""Of a round-trip time: the sender's and the receiver's."""


def at_hosts(netem: dict[str, Any]) -> bool:
    """True if the hosts apply round-trip times, not this backend's path to the front."""
    return str(netem["at"]) != "behind"


def leaving_delays(
    flows: list[dict[str, Any]],
    crowds: dict[int, Block],
    switch: dict[str, Any],
    netem: dict[str, Any],
    *,
    behind: bool,
) -> list[str]:
    """The netems of a group's hosts; `ScenarioError` if the kernel cannot have them so."""
    if switch["delay"] or any(step["delay"] is not None for step in switch["schedule"]):
        raise ScenarioError(
            'netem: with at = "senders", "receivers" or "both" this backend has no delay of the '
            "link beside it; give the flows the whole rtt, or --on sim"
        )
    own = [flow | {"rtt": _share(flow, netem, behind=behind)} for flow in flows]
    delayed = [flow["rtt"] for flow in own if flow["rtt"]]
    if netem["limit"] is not None and delayed:
        kinds, queues = len(set(delayed)), 1 if netem["shared"] else len(delayed)
        if kinds != queues:
            raise ScenarioError(
                f"netem: {kinds} different round-trip times are {kinds} netems on this backend, "
                f"and not {queues} queue{'s' * (queues > 1)}: shared goes with one round-trip time "
                "for all flows, a queue for each with one that no other has; --on sim has all"
            )
    return delays(own, crowds, limit=netem["limit"], to_behind=not behind)


def _share(flow: dict[str, Any], netem: dict[str, Any], *, behind: bool) -> int:
    """Of a flow's round-trip time, what is met on the way out of that group."""
    of_sender, of_receiver = _SHARES[netem["at"]]
    half = flow["rtt"] // 2
    if of_sender and of_receiver:
        shares = half, flow["rtt"] - half
    else:
        shares = flow["rtt"] * of_sender, flow["rtt"] * of_receiver
    return int(shares[0] if sends_from_behind(flow) == behind else shares[1])


def host_shaper(host: str, shaper: dict[str, Any], port: str, others: list[str]) -> list[str]:
    """A host's token bucket; `others` are the other qdiscs of its interface."""
    if others:
        raise ScenarioError(
            f"{host}: shaper: on this backend it cannot stand beside a delay or a rate of the "
            'host\'s link; netem at = "receivers" leaves the senders free, --on sim has both'
        )
    queue = Qdisc("pfifo", "sch_fifo", ("limit", f"{shaper['limit']}"), None, "enqueue")
    return bottleneck(Shaper(shaper["rate"], shaper["burst"], 0), queue, set(), port)
