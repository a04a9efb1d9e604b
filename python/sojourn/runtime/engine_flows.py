"""Conversion of flow groups to the engine's configuration: one record per flow, integer units.

Depends on the traffic's model; on the network for hosts by pattern and for loads that are shares.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sojourn.errors import ScenarioError
from sojourn.model.scenario import flow_endpoints
from sojourn.model.scenario.flows import (
    FlowGroup,
    IncastFlows,
    RequestFlows,
    TcpFlows,
    TransferFlows,
    UdpFlows,
    VoipFlows,
)
from sojourn.model.scenario.model import Scenario
from sojourn.model.scenario.paths import Paths
from sojourn.model.scenario.quantities import load_share
from sojourn.model.scenario.size_table import sizes_of


def engine_flows(scenario: Scenario, beside: Path) -> list[dict[str, Any]]:
    """The flows of all groups. Paths start from the folder `beside`."""
    paths = Paths(scenario)
    hosts = [host.name for host in scenario.hosts]
    return [flow for group in scenario.flows for flow in _flows_of(group, beside, hosts, paths)]


def _flows_of(
    group: FlowGroup, beside: Path, hosts: Sequence[str], paths: Paths
) -> list[dict[str, Any]]:
    """The flows of a group; round-trip times and starts are spread evenly over them."""
    shared = {
        "start_jitter": group.start_jitter,
        "stop": group.stop,
        "ip_version": group.ip_version,
        **({} if group.dst_port is None else {"dst_port": group.dst_port}),
        **_own(group, beside),
    }
    senders = flow_endpoints.senders(group, hosts)
    loads = _loads(group, senders, hosts, paths) if isinstance(group, TransferFlows) else []
    return [
        shared
        | (loads[index] if loads else {})
        | {
            "from": senders[index],
            **_towards(group, to),
            "rtt": spread(group.rtt or (0, 0), index, group.count),
            "start": spread(group.start, index, group.count),
        }
        for index, to in enumerate(flow_endpoints.receivers(group, hosts))
    ]


def _towards(group: FlowGroup, to: Sequence[str]) -> dict[str, Any]:
    """The receivers of a flow; in the short form there is none by name."""
    if flow_endpoints.several(group.to) and isinstance(group, TransferFlows):
        return {"to": to[0], "receivers": list(to)}
    return {"to": to[0] if to else None}


def _loads(
    group: TransferFlows, senders: Sequence[str | None], hosts: Sequence[str], paths: Paths
) -> list[dict[str, int]]:
    """The load of each source, bit/s."""
    share = load_share(group.load)
    if share is None:
        return [{"load": int(group.load)}] * group.count
    switches = [_access_of(sender, paths)[1] for sender in senders]
    sources = Counter(senders if group.load_of == "host" else switches)
    loads = []
    for sender, switch in zip(senders, switches, strict=True):
        if group.load_of == "host":
            rate = paths.rate(_access_of(sender, paths)[0])
        else:
            rate = sum(
                map(paths.rate, paths.uplinks(switch, flow_endpoints.named(group.to, hosts)))
            )
        among = sources[sender if group.load_of == "host" else switch]
        loads.append({"load": round(share * rate / among)})
    return loads


def _access_of(sender: str | None, paths: Paths) -> Any:
    found = None if sender is None else paths.access(sender)
    if found is None:
        raise ScenarioError(f"flows: load: {sender} has no link that it could be a share of")
    return found


def _own(group: FlowGroup, beside: Path) -> dict[str, Any]:
    """The parameters of this kind alone."""
    match group:
        case TcpFlows():
            return {
                "kind": "tcp",
                "rate_cap": group.rate_cap,
                "block": group.block,
                "pacing": group.pacing,
                **_tcp(group),
            }
        case UdpFlows():
            constant: dict[str, Any] = {
                "kind": "udp",
                "rate": group.rate,
                "packet_size": group.packet_size,
                "dscp": group.dscp,
                "payload_begins": list(group.payload_begins or b""),
            }
            if group.ecn != "not-ect":
                constant["ecn"] = group.ecn
            if group.on is None:
                return constant
            exponential = group.spans == "exponential"
            return constant | {"on": group.on, "off": group.off, "exponential": exponential}
        case TransferFlows():
            return {
                "kind": "transfers",
                "min_size": group.min_size,
                "max_size": group.max_size,
                "shape": round(group.shape * 1000),
                **_table(group, beside),
                **_arrivals(group),
                **_tcp(group),
            }
        case RequestFlows():
            return {"kind": "requests", "think": group.think, **_sizes(group), **_tcp(group)}
        case IncastFlows():
            return {"kind": "requests", "every": group.every, **_sizes(group), **_tcp(group)}
        case VoipFlows():
            return {"kind": "voip", "payload": group.payload, "interval": group.interval}


def _table(group: TransferFlows, beside: Path) -> dict[str, Any]:
    if group.sizes is None:
        return {}
    return {"sizes": sizes_of(group.sizes, beside), "interpolate": group.interpolate}


def _arrivals(group: TransferFlows) -> dict[str, Any]:
    if group.arrivals == "poisson":
        return {}
    return {"arrivals": {"lognormal": {"sigma": round(group.sigma * 1000)}}}


def _sizes(group: RequestFlows | IncastFlows) -> dict[str, Any]:
    return {"request": group.request, "response": group.response}


def _tcp(group: TcpFlows | TransferFlows | RequestFlows | IncastFlows) -> dict[str, Any]:
    return {
        "congestion_control": group.congestion_control,
        "ecn": group.ecn,
        "segmentation_offload": group.segmentation_offload,
        **_choices(group),
    }


def _choices(group: TcpFlows | TransferFlows | RequestFlows | IncastFlows) -> dict[str, Any]:
    keys = ("min_rto", "initial_window", "delayed_ack", "base_rtt", "dscp")
    given = {key: value for key in keys if (value := getattr(group, key)) is not None}
    if group.hz != type(group).model_fields["hz"].default:
        given["hz"] = group.hz
    if isinstance(group, TransferFlows) and group.rank is not None:
        ranked_by_time = group.rank == "deadline"
        given["rank"] = {"deadline": group.deadline} if ranked_by_time else group.rank
    return {"tcp": given} if given else {}


def spread(bounds: tuple[int, int], index: int, count: int) -> int:
    """The value of one of `count` flows between two bounds."""
    low, high = bounds
    return low + (high - low) * index // max(count - 1, 1)
