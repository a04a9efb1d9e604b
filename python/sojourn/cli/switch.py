"""`sojourn switch`: a program between real interfaces."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.backends.live import LivePlan, PortSummary, live_plan, run_live, summarise
from sojourn.backends.live.address import Address, read_address
from sojourn.backends.live.control_socket import serve_control
from sojourn.backends.live.controllers import (
    CPU_PORT,
    Controllers,
    Trust,
    controllers,
    serve_controllers,
)
from sojourn.backends.live.monitors import serve_monitors
from sojourn.backends.live.summary import DISTURBED
from sojourn.backends.live.switch_run import Recording
from sojourn.cli.options import grouped
from sojourn.cli.shared import Define, Include, Json, NoScripts, app, definitions, open_console
from sojourn.common.atomic_write import locked
from sojourn.common.resources import shown
from sojourn.errors import ScenarioError
from sojourn.model.scenario.keys import read_changes
from sojourn.model.scenario_code import refuse_if
from sojourn.model.units import RATE, TIME
from sojourn.results.style import duration
from sojourn.runtime.folder import default_folder

if TYPE_CHECKING:
    from rich.console import Console

_TERMINAL = "terminal"
"""Given as an address."""


@dataclass(frozen=True)
class Ports:
    """The options about ports."""

    port: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N=INTERFACE", help="As in 1=veth1, 2=tap:tap0, 3=none or 4=loop. Repeatable."
        ),
    ] = None
    rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N=RATE", help='Shape and measure a port: 2="100 Mbit/s". Repeatable.'
        ),
    ] = None
    queue_limit: Annotated[
        list[str] | None,
        typer.Option(metavar="N=SIZE", help='Of a port\'s queues: 2="200 kB". Repeatable.'),
    ] = None


@dataclass(frozen=True)
class Programs:
    """The options about the programs and their entries."""

    aqm: Annotated[
        str | None,
        typer.Option(help="A native discipline under the program, or in a wire of two ports."),
    ] = None
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Of that discipline: any_ect=true. Repeatable."
        ),
    ] = None
    control: Annotated[
        Path | None,
        typer.Option(help="Control-plane file. [default: the one beside the program]"),
    ] = None
    include: Include = None
    define: Define = None
    pipes: Annotated[
        int,
        typer.Option(min=1, max=4, help="Pipes of a Tofino: each runs the program for itself."),
    ] = 1
    pipe: Annotated[
        list[str] | None,
        typer.Option(metavar="N=PROGRAM", help="Another program in a pipe from 1. Repeatable."),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn at random.")] = 1


@dataclass(frozen=True)
class Servers:
    """The options about controllers and monitors."""

    metrics: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Prometheus metrics, as in 127.0.0.1:9464."),
    ] = None
    watch: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A page with live plots, as in 127.0.0.1:8642; or the word terminal.",
        ),
    ] = None
    p4runtime: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Controllers, as in 127.0.0.1:9559."),
    ] = None
    bfrt: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Controllers made for Tofino, as in 127.0.0.1:50052."),
    ] = None
    device_id: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**32 - 1,
            help="What controllers call the switch. [default: 1, for --bfrt 0]",
            show_default=False,
        ),
    ] = None
    cpu_port: Annotated[
        int, typer.Option(min=0, max=510, help="The port of packets from and to controllers.")
    ] = CPU_PORT
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate for controllers, PEM.")] = None
    tls_key: Annotated[Path | None, typer.Option(help="Its key, PEM.")] = None
    tls_clients: Annotated[
        Path | None,
        typer.Option(help="Only controllers with a certificate that this one has signed, PEM."),
    ] = None
    open_to_network: Annotated[
        bool,
        typer.Option("--open-to-network", help="Allow what has an address beyond loopback."),
    ] = False

    def controllers(self) -> list[Controllers]:
        """The servers for controllers."""
        trust = Trust(self.tls_cert, self.tls_key, self.tls_clients, self.open_to_network)
        return [
            controllers(
                protocol, address, device=self.device_id, cpu_port=self.cpu_port, trust=trust
            )
            for protocol, address in (("p4runtime", self.p4runtime), ("bfrt", self.bfrt))
            if address is not None
        ]

    def addresses(self) -> dict[str, Address]:
        """The addresses of metrics and page."""
        return {
            what: read_address(f"--{what}", text, anywhere=self.open_to_network)
            for what, text in (("metrics", self.metrics), ("watch", self.watch))
            if text is not None and text != _TERMINAL
        }

    def console(self) -> "Console | None":
        """The terminal to draw on, if `--watch terminal` is given."""
        console = open_console() if self.watch == _TERMINAL else None
        if console is not None and not console.is_terminal:
            raise ScenarioError(f"--watch {_TERMINAL}: standard output is none")
        return console


@app.command()
@grouped
def switch(
    ports: Ports,
    programs: Programs,
    servers: Servers,
    program: Annotated[
        str | None,
        typer.Argument(help="A P4 program's name or file, or a native discipline."),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help='As in "10 s". [default: until Ctrl-C]')
    ] = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Also write what entered and left the shaped ports.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The run's folder.")] = None,
    no_scripts: NoScripts = False,
    as_json: Json = False,
) -> None:
    """Run a program between real interfaces, until Ctrl-C; then say what became of the packets.

    Takes root, or a user and network namespace of one's own (`unshare -Urn`).
    """
    refuse_if(no_scripts)
    plan = _plan(program, ports, programs, servers, capture=pcap)
    folder = out or default_folder(f"switch-{plan.name}")
    if folder.exists() and any(folder.iterdir()):
        raise ScenarioError(f"{shown(folder)} is not empty; name another with --out")
    started = _Started(plan, folder, servers, as_json)
    with locked(folder):
        counters = run_live(plan, folder, seconds=_seconds(duration), started=started)
    summaries = summarise(plan, folder)
    if as_json:
        print(json.dumps(_as_dict(folder, summaries, counters), indent=2))
    else:
        _show(plan, folder, summaries, counters)


def _plan(
    program: str | None, ports: Ports, programs: Programs, servers: Servers, *, capture: bool
) -> LivePlan:
    who = servers.controllers()
    if who and program is None:
        raise ScenarioError(f"--{who[0].protocol}: controllers control a program; name one")
    if programs.pipe and servers.p4runtime is not None:
        raise ScenarioError("--pipe: controllers of P4Runtime know one program; use --bfrt")
    return live_plan(
        program,
        ports=ports.port or (),
        rates=ports.rate or (),
        queue_limits=ports.queue_limit or (),
        aqm=programs.aqm,
        parameters=read_changes(programs.changes or ()),
        control=programs.control,
        include_paths=programs.include or (),
        defines=definitions(programs.define),
        seed=programs.seed,
        capture=capture,
        pipes=programs.pipes,
        beside=programs.pipe or (),
        cpu_port=None if servers.p4runtime is None else servers.cpu_port,
    )


class _Started:
    """The context of a running switch: its control socket, controllers and monitors."""

    def __init__(self, plan: LivePlan, folder: Path, servers: Servers, as_json: bool) -> None:
        self.plan, self.folder, self.as_json = plan, folder, as_json
        self.controllers = servers.controllers()
        self.addresses = servers.addresses()
        self.console = servers.console()

    @contextmanager
    def __call__(self, recording: Recording) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(serve_control(self.folder, recording.switch))
            lines = [
                stack.enter_context(
                    serve_controllers(
                        recording.switch, self.plan.placed, one, recording.missed.__setitem__
                    )
                )
                for one in self.controllers
            ]
            _print_start(self.plan, self.folder, self.as_json)
            for line in chain.from_iterable(lines):
                print(line, file=sys.stderr, flush=True)
            _say_open(self.addresses)
            serve_monitors(recording, self.addresses, stack, self.console)
            recording.on_fault = None if self.console is not None else _say_fault
            yield


def _say_fault(fault: str) -> None:
    print(f"warning {fault}", file=sys.stderr, flush=True)


def _say_open(addresses: Mapping[str, Address]) -> None:
    for what, at in addresses.items():
        path = "/metrics" if what == "metrics" else "/"
        reach = "" if at.is_loopback else "; everybody who reaches this machine can read it"
        print(f"{what:7} http://{at}{path}{reach}", file=sys.stderr, flush=True)


def _seconds(duration: str | None) -> float | None:
    if duration is None:
        return None
    try:
        return TIME.parse(duration) / 1e9
    except ValueError as error:
        raise ScenarioError(f"--duration {duration}: {error}") from error


def _print_start(plan: LivePlan, folder: Path, as_json: bool) -> None:
    if not as_json:
        ports = ", ".join(f"{port.number} = {port.interface}" for port in plan.ports)
        print(f"{plan.name} runs: {ports}; Ctrl-C ends it", flush=True)
        print(f"rows and control in {shown(folder)}", flush=True)


def _as_dict(
    folder: Path, summaries: list[PortSummary], counters: dict[str, Any]
) -> dict[str, Any]:
    return {
        "folder": shown(folder),
        "measured": [summary.as_dict() for summary in summaries],
        "disturbed": _disturbed(counters),
        "counters": counters,
    }


def _disturbed(counters: dict[str, Any]) -> bool:
    return bool(counters["live"]["lateness"]["p99"] > DISTURBED)


def _show(
    plan: LivePlan, folder: Path, summaries: list[PortSummary], counters: dict[str, Any]
) -> None:
    live = counters["live"]
    print(f"\n{live['elapsed'] / 1e9:.1f} s")
    for port in live["ports"]:
        print(
            f"port {port['port']} ({port['interface']}): {port['received']:,} frames in, "
            f"{port['sent']:,} out{_troubles(port)}"
        )
    for summary in summaries:
        _show_port(summary)
    lateness = live["lateness"]
    if lateness["count"]:
        what = "disturbed: departures" if _disturbed(counters) else "departures"
        print(
            f"{what} late by {duration(lateness['median'])} (median), {duration(lateness['p99'])} "
            f"(99 %), {duration(lateness['max'])} (most)"
        )
    if live["nowhere"]:
        print(f"{live['nowhere']:,} frames for ports that have no interface")
    for protocol, messages in live["missed"].items():
        if messages:
            print(f"{messages:,} messages of {protocol} were lost: a controller read too slowly")
    if live["rows_lost"]:
        print(f"{live['rows_lost']:,} rows were lost: they came faster than they were written")
    for fault in counters["switch"]["faults"]:
        place = f" at {fault['place']}" if fault["place"] else ""
        print(f"{fault['count']:,} times: {fault['first']}{place}")
    print(f"rows    {shown(folder)}")


def _troubles(port: dict[str, Any]) -> str:
    counts = (
        ("lost", "lost before they were taken"),
        ("not_sent", "not taken by the interface"),
        ("oversized", "longer than a frame (an offload at the other end is on)"),
        ("unfinished", "without their checksum (tx offload at the other end is on)"),
        ("failures", "times the interface was down or gone"),
    )
    return "".join(f"; {port[key]:,} {words}" for key, words in counts if port[key])


def _show_port(summary: PortSummary) -> None:
    drops = ", ".join(f"{n:,} {verdict}" for verdict, n in summary.dropped.items() if n)
    print(
        f"port {summary.port}, {RATE.format(summary.rate)}: {summary.packets:,} packets, "
        f"{summary.throughput / 1e6:.2f} Mbit/s, drops: {drops or 'none'}"
        + (f", {summary.marked:,} marked" if summary.marked else "")
    )
    if summary.mean is not None and summary.median is not None and summary.p99 is not None:
        print(
            f"  sojourn time {duration(summary.mean)} (mean), {duration(summary.median)} (median), "
            f"{duration(summary.p99)} (99 %)"
        )
