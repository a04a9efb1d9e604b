"""Scenario features that the Linux backend lacks: each is an error before anything is written.

Depends on the configurations of the runs. Runs nothing.
"""

import json
from typing import Any

from sojourn import _core
from sojourn.backends.linux.addresses import sends_from_behind
from sojourn.backends.linux.groups import check_groups, has_groups
from sojourn.backends.linux.tc import kernel_disciplines
from sojourn.control.file import as_plain
from sojourn.errors import ConfigError, ScenarioError
from sojourn.model.congestion import kernel_controls
from sojourn.model.scenario.shorthand import as_written
from sojourn.model.units import TIME
from sojourn.runtime.plan import Plan, PlannedRun

MOST_HOSTS = 32
"""Of those that are no groups; a process each."""
MOST_DRAWN = 200_000
"""Requests or bursts of one flow, as the engine allows transfers."""


def check_run(plan: Plan, run: PlannedRun, traffic: str) -> None:
    """`ScenarioError` says what cannot be, and what can."""
    names = flow_names(plan)
    _check_between(run, traffic, names)
    _check_aqms(run)
    check_flows(run, traffic, names)
    _check_config(plan, run)


def flow_names(plan: Plan) -> list[str]:
    """The name of each flow in the scenario: that of its group."""
    groups = enumerate(plan.scenario.flows)
    return [f"flows[{place}]" for place, group in groups for _ in range(group.count)]


def _check_between(run: PlannedRun, traffic: str, names: list[str]) -> None:
    """Refuses a network that the guest cannot build."""
    if any(link["packets_per_second"] is not None for link in run.config["network"]["links"]):
        raise ScenarioError(
            "packets_per_second: the Linux backend shapes in bit/s; give a rate, or --on sim"
        )
    for link in run.config["network"]["links"]:
        for key in ("netem", "netem_back"):
            if key in link and has_groups(run.config):
                raise ScenarioError(
                    f"{key}: on this ground a link with netem is between hosts with addresses of "
                    "their own (hosts, switches and links); --on sim has it everywhere"
                )
    check_network(run, traffic, names)


def check_network(run: PlannedRun, traffic: str, names: list[str]) -> None:
    """Hosts of a kernel can be on a network like this."""
    network = run.config["network"]
    if any({"link_trace", "link_trace_back"} & link.keys() for link in network["links"]):
        raise ScenarioError("link_trace: the simulator sends by a trace; give a rate, or --on sim")
    if any({"multipath", "shared_buffer"} & node.keys() for node in network["switches"]):
        raise ScenarioError(
            "multipath, shared_buffer: the simulator has links of equal cost and shared buffers; "
            'leave them out, in a topology with multipath = "first", or --on sim'
        )
    if has_groups(run.config):
        check_groups(run.config)
        return
    if traffic == "iperf3":
        raise ScenarioError("several switches: iperf3 sends over one; --traffic sockets over all")
    if len(network["hosts"]) > MOST_HOSTS:
        raise ScenarioError(
            f"{len(network['hosts'])} hosts: on this backend a network has at most {MOST_HOSTS}"
        )
    for name, flow in zip(names, run.config["flows"], strict=True):
        if flow["rtt"]:
            raise ScenarioError(
                f"{name}: rtt: in a network this backend has the links' delays alone; "
                "give the links a delay, or --on sim"
            )


def _check_aqms(run: PlannedRun) -> None:
    """The run's AQM, and those that switches of a network name."""
    switches = run.config["network"]["switches"]
    own = [(switch["name"], switch["aqm"]) for switch in switches if switch["aqm"]]
    for label, aqm in [(run.label, run.config["aqm"]), *own]:
        allowed = ", ".join(kernel_disciplines())
        if aqm["kind"] != "native":
            raise ScenarioError(
                f"{label}: a P4 program cannot run on the Linux kernel; --on sim runs it\n"
                f"The kernel has: {allowed}."
            )
        if aqm["name"] not in kernel_disciplines():
            raise ScenarioError(
                f"{label}: the kernel has no {aqm['name']}; it has {allowed}. "
                f"--on sim runs {aqm['name']}."
            )


def check_flows(run: PlannedRun, traffic: str, names: list[str]) -> None:
    """Refuses flows that a kernel's hosts cannot send."""
    for name, flow in zip(names, run.config["flows"], strict=True):
        field = flow.get("ecn") if flow["kind"] == "udp" else None
        if flow.get("dscp") or flow.get("payload_begins") or flow.get("dst_port") or field:
            raise ScenarioError(
                f"{name}: dscp, ecn of datagrams, payload_begins and dst_port are for programs "
                "that read them: --on sim"
            )
        if flow.get("receivers") or flow.get("tcp"):
            raise ScenarioError(
                f"{name}: several receivers of one source, min_rto, hz, initial_window, "
                "delayed_ack, base_rtt, dscp and rank of TCP are for the simulator: --on sim"
            )
        if traffic == "iperf3":
            _check_for_iperf(name, flow)
        _check_drawn(name, flow, run.config["duration"])
        control = flow.get("congestion_control", "cubic")
        if control not in kernel_controls():
            raise ScenarioError(
                f"{name}: congestion control {control} is not one that the kernel has; "
                f"it has {', '.join(kernel_controls())}"
            )


def _check_for_iperf(name: str, flow: dict[str, Any]) -> None:
    if flow["kind"] not in ("tcp", "udp"):
        raise ScenarioError(
            f"{name}: iperf3 has no {flow['kind']} traffic; it has tcp and udp, "
            "--traffic sockets has all"
        )
    if flow.get("on"):
        raise ScenarioError(
            f"{name}: on, off: iperf3 sends without a pause; --traffic sockets has pauses"
        )
    if sends_from_behind(flow):
        raise ScenarioError(
            f"{name}: reverse: iperf3 is started in front of the bottleneck; "
            "--traffic sockets turns flows round"
        )


def _check_drawn(name: str, flow: dict[str, Any], duration: int) -> None:
    """Refuses more drawn events than the guest's job can list."""
    spans = {"think": flow.get("think"), "every": flow.get("every")}
    if flow.get("exponential"):
        spans |= {"on + off": flow["on"] + flow["off"]}
    for what, span in spans.items():
        if span is not None and duration > span * MOST_DRAWN:
            raise ScenarioError(
                f"{name}: {what}: more than {MOST_DRAWN} of them in the run, which the Linux "
                f"backend has to tell the guest beforehand; at least "
                f"{TIME.format(-(-duration // MOST_DRAWN))} is allowed"
            )


def _check_config(plan: Plan, run: PlannedRun) -> None:
    """The engine's own check."""
    try:
        _core.check_config(json.dumps(run.config, default=as_plain))
    except ConfigError as error:
        said = as_written(str(error), plan.scenario)
        raise ScenarioError(f"{plan.name}: {run.label}: {said}") from error
