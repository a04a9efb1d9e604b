"""Description of a run in words: the network, the flows, the backend, the programs.

Depends on the scenario and on `run.json`. Must not depend on figures.
"""

from collections.abc import Sequence

from sojourn.model.scenario.flows import (
    FlowGroup,
    IncastFlows,
    RequestFlows,
    TcpFlows,
    TransferFlows,
    UdpFlows,
)
from sojourn.model.scenario.network import Link, LinkNetem, LinkStep
from sojourn.model.units import RATE, SIZE, TIME
from sojourn.results.result import Result
from sojourn.runtime.folder import RunFolder


def parameters(result: Result) -> dict[str, str]:
    """Network, backend, flows and the other inputs of the run."""
    scenario = result.scenario
    return {
        **_between(result),
        "ran on": _backend(result.folder),
        "flows": "; ".join(_flow_text(group) for group in scenario.flows),
        "duration": TIME.format(scenario.duration),
        "target": TIME.format(scenario.target),
        "seed": str(scenario.seed),
    }


def _between(result: Result) -> dict[str, str]:
    """The network between the hosts."""
    scenario = result.scenario
    speeds = dict.fromkeys(RATE.format(node.port_speed) for node in scenario.switches)
    shared = [host for host in scenario.hosts if host.access_rate is not None]
    rows = {
        "switches": ", ".join(
            node.name + (f" ({node.aqm.use})" if node.aqm else "") for node in scenario.switches
        ),
        "links": "; ".join(_link_text(link) for link in scenario.links),
        "as the chip rounds it": _rounded(result),
        "ports": ", ".join(speeds),
        "access links": ", ".join(
            f"{host.name} {RATE.format(host.access_rate or 0)}" for host in shared
        ),
    }
    return {name: text for name, text in rows.items() if text}


def _rounded(result: Result) -> str:
    """The rates of constant shapers as the hardware rounds them."""
    bottlenecks = next(iter(result.aqms.values())).findings.counters["bottlenecks"]
    return "; ".join(
        f"{queue.name} {built['shaper_rate'] / 1e6:.3f} Mbit/s, burst {built['shaper_burst']} B"
        for queue, built in zip(result.scenario.bottlenecks, bottlenecks, strict=True)
        if built["shaper_rate"] and not queue.steps
    )


def _link_text(link: Link) -> str:
    parts = [" - ".join(link.between)]
    if link.rate is not None:
        parts.append(RATE.format(link.rate))
    if link.rate_back is not None:
        parts.append(f"(back {RATE.format(link.rate_back)})")
    if link.packets_per_second is not None:
        parts.append(f"{link.packets_per_second} packets/s")
    if link.delay or link.delay_back:
        parts.append(TIME.format(link.delay))
    if link.delay_back is not None and link.delay_back != link.delay:
        parts.append(f"(back {TIME.format(link.delay_back)})")
    if link.link_trace is not None:
        parts.append(f"by {link.link_trace}")
    if link.link_trace_back is not None:
        parts.append(f"(back by {link.link_trace_back})")
    text = " ".join(parts)
    for way, netem in (("", link.netem), ("back ", link.netem_back)):
        if netem is not None:
            text += f", {way}netem {_netem_text(netem)}"
    if link.rate is not None:
        text += f", burst {SIZE.format(link.burst)}"
    if link.rate is not None or link.packets_per_second is not None or link.traces:
        text += f", queue of at most {SIZE.format(link.queue_limit)}"
    return text + (f", then {_schedule_text(link.schedule)}" if link.schedule else "")


def _netem_text(netem: LinkNetem) -> str:
    """The keys that do something, with their correlations."""
    words = []
    for key in ("loss", "duplicate", "reorder"):
        if share := getattr(netem, key):
            words.append(f"{key} {share / 10**7:g} %")
            if correlation := getattr(netem, f"{key}_correlation"):
                words.append(f"correlated {correlation / 10**7:g} %")
    if netem.reorder:
        words.append(f"gap {netem.gap}")
    if netem.jitter:
        words.append(f"jitter {TIME.format(netem.jitter)} {netem.distribution}")
    return " ".join(words) or "without effect"


def _schedule_text(schedule: Sequence[LinkStep]) -> str:
    return ", ".join(
        " ".join(
            [
                *([RATE.format(step.rate)] if step.rate is not None else []),
                *([f"back {RATE.format(step.rate_back)}"] if step.rate_back is not None else []),
                *([f"delay {TIME.format(step.delay)}"] if step.delay is not None else []),
                *(
                    [f"delay back {TIME.format(step.delay_back)}"]
                    if step.delay_back is not None
                    else []
                ),
                f"from {TIME.format(step.at)}",
            ]
        )
        for step in schedule
    )


def _backend(folder: RunFolder) -> str:
    """The backend in words."""
    backend = folder.backend
    if backend["name"] == "sim":
        return "the simulator, in virtual time"
    if "runs" not in backend:
        return "a Linux kernel, until the run was ended"
    disturbed = [label for label, about in backend["runs"].items() if about["disturbed"]]
    marked = f"; disturbed by the machine: {', '.join(disturbed)}" if disturbed else ""
    kernel, clock = backend.get("kernel", "kernel"), backend.get("clock", "some")
    if backend["name"] == "live":
        return f"the live switch on Linux {kernel}, {clock} time; per AQM in run.json{marked}"
    return f"Linux {kernel}, {clock} time; per AQM in run.json{marked}"


def _flow_text(group: FlowGroup) -> str:
    low, high = group.rtt or (0, 0)
    rtt = TIME.format(low) if low == high else f"{TIME.format(low)} to {TIME.format(high)}"
    where = f", {_hosts(group.from_)} to {_hosts(group.to)}" + (
        f", RTT {rtt} beside the links'" if high else ""
    )
    return f"{group.count} {_traffic_text(group)}{where}"


def _hosts(names: str | list[str] | None) -> str:
    return ", ".join(names) if isinstance(names, list) else f"{names}"


def _traffic_text(group: FlowGroup) -> str:
    match group:
        case TcpFlows():
            return f"TCP ({group.congestion_control}{_held_back(group)})"
        case UdpFlows() if group.on is not None and group.off is not None:
            spans = f"{TIME.format(group.on)} on, {TIME.format(group.off)} off, {group.spans}"
            return f"UDP at {RATE.format(group.rate)} each ({spans}){_field(group)}"
        case UdpFlows():
            return f"UDP at {RATE.format(group.rate)} each{_field(group)}"
        case TransferFlows():
            sizes = f"{SIZE.format(group.min_size)} to {SIZE.format(group.max_size)}"
            if group.sizes is not None:
                sizes = f"sizes of {group.sizes} ({group.interpolate})"
            load = group.load if isinstance(group.load, str) else RATE.format(group.load)
            load += " of the uplinks" if group.load_of == "uplinks" else ""
            return f"source of transfers ({group.congestion_control}, {load} each, {sizes})"
        case RequestFlows():
            return f"clients ({group.congestion_control}, {SIZE.format(group.response)} a response)"
        case IncastFlows():
            every = f"each {TIME.format(group.every)}"
            return f"servers that answer at once ({SIZE.format(group.response)} {every})"
        case _:
            return f"voices ({group.payload} B each {TIME.format(group.interval)})"


def _field(group: UdpFlows) -> str:
    return "" if group.ecn == "not-ect" else f", {group.ecn.upper()}"


def _held_back(group: TcpFlows) -> str:
    """The limits of a long flow's rate."""
    cap = ""
    if group.rate_cap is not None:
        cap = (
            f", at most {RATE.format(group.rate_cap)} each in blocks of {SIZE.format(group.block)}"
        )
    if group.pacing is False:
        return cap
    most = "" if group.pacing is True else f" at most at {RATE.format(group.pacing)}"
    return f"{cap}, paced{most}"


def programs(folder: RunFolder) -> list[tuple[str, str]]:
    """The P4 files that were read, each with the SHA-256 of its text."""
    hashes = {path: digest for run in folder.runs for path, digest in run.sources.items()}
    return sorted(hashes.items())


def provenance(folder: RunFolder) -> dict[str, str]:
    """The versions and inputs behind the page."""
    libraries = folder.provenance["libraries"]
    return {
        "sojourn": folder.provenance["sojourn"],
        "python": folder.provenance["python"],
        "libraries": ", ".join(f"{name} {number}" for name, number in libraries.items()),
        "rows": f"beside this page, in {', '.join(f'{run.folder}/' for run in folder.runs)}",
    }
