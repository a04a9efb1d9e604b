"""Groups of flows as the engine takes them: one flow for each, integers in its units.

Stands on the traffic's model. Knows nothing of what carries the packets.
"""

from pathlib import Path
from typing import Any

from sojourn.model.scenario.flows import (
    FlowGroup,
    IncastFlows,
    RequestFlows,
    TcpFlows,
    TransferFlows,
    UdpFlows,
    VoipFlows,
)
from sojourn.model.scenario.size_table import read_sizes


def engine_flows(group: FlowGroup, beside: Path) -> list[dict[str, Any]]:
    """The flows of a group; round-trip times and starts are spread evenly over them. Paths start
    from the folder `beside`."""
    shared = {
        "start_jitter": group.start_jitter,
        "stop": group.stop,
        "ip_version": group.ip_version,
        "from": group.from_,
        "to": group.to,
        **({} if group.dst_port is None else {"dst_port": group.dst_port}),
        **_own(group, beside),
    }
    return [
        shared
        | {
            "rtt": spread(group.rtt or (0, 0), index, group.count),
            "start": spread(group.start, index, group.count),
        }
        for index in range(group.count)
    ]


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
                "load": group.load,
                "min_size": group.min_size,
                "max_size": group.max_size,
                "shape": round(group.shape * 1000),
                **_table(group, beside),
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
    return {"sizes": read_sizes(beside / group.sizes), "interpolate": group.interpolate}


def _sizes(group: RequestFlows | IncastFlows) -> dict[str, Any]:
    return {"request": group.request, "response": group.response}


def _tcp(group: TcpFlows | TransferFlows | RequestFlows | IncastFlows) -> dict[str, Any]:
    return {
        "congestion_control": group.congestion_control,
        "ecn": group.ecn,
        "segmentation_offload": group.segmentation_offload,
    }


def spread(bounds: tuple[int, int], index: int, count: int) -> int:
    """The value of one of `count` flows between two bounds."""
    low, high = bounds
    return low + (high - low) * index // max(count - 1, 1)
