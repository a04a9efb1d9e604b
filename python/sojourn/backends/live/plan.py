"""Turns a user's options into the engine's input: ports, rates, the program of the switch.

Finds and configures AQMs as scenarios do. Opens nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sojourn import _core
from sojourn.control.file import control_file
from sojourn.control.route_entries import with_default_routes
from sojourn.errors import ScenarioError
from sojourn.model.aqms import Aqm, find_aqm
from sojourn.model.inputs import Inputs
from sojourn.model.programs import refuse_unread_macros
from sojourn.model.scenario.aqm_spec import AqmChoice, choose
from sojourn.model.scenario.read import messages
from sojourn.model.units import RATE, SIZE, Dimension
from sojourn.runtime.plan import AqmConfig, aqm_config

_LAST = 511
NOTHING = "none"
"""In place of an interface: the port is connected to nothing."""
LOOP = "loop"
"""In place of an interface: what leaves the port comes back in at it."""


@dataclass(frozen=True)
class LivePort:
    """A port and what it is connected to."""

    number: int
    interface: str
    """An interface's name, `tap:NAME`, `none` or `loop`."""
    rate: int | None
    """bit/s of its shaper; without one it is not measured."""
    queue_limit: int | None
    """Bytes of each of its queues."""


@dataclass(frozen=True)
class LivePlan:
    """The plan of a live switch."""

    name: str
    ports: tuple[LivePort, ...]
    config: dict[str, Any]
    """As the engine takes it."""
    programs: list[_core.Program]
    """The program, compiled, if there is one; and those of other pipes."""
    around: dict[str, Any] = field(default_factory=dict)
    """Links around the switch, with rates and delays, in the engine's form."""
    control_file: Path | None = None
    """The program's control-plane file, if it has one."""
    cpu_port: int | None = None
    """The port of the controllers, which has no interface."""
    inputs: Inputs = field(default_factory=dict)
    """The files that it reads."""

    @property
    def placed(self) -> list[tuple[_core.Program, list[int]]]:
        """The programs, with the pipes of each that is not the first."""
        pipes = [[], *(other["pipes"] for other in self.config.get("beside", ()))]
        return list(zip(self.programs, pipes, strict=True))

    @property
    def measured(self) -> tuple[LivePort, ...]:
        """The ports in front of which packets wait and are measured."""
        described = {port["id"]: port for port in self.config["ports"]}
        return tuple(port for port in self.ports if _is_measured(described[port.number]))


def _is_measured(port: dict[str, Any]) -> bool:
    shaped = (port.get("rate"), port.get("packets_per_second")) != (None, None)
    return shaped and port.get("rows", True)


def live_plan(
    program: str | None,
    *,
    ports: Sequence[str],
    rates: Sequence[str] = (),
    queue_limits: Sequence[str] = (),
    aqm: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    control: Path | None = None,
    include_paths: Sequence[Path] = (),
    defines: Mapping[str, str] | None = None,
    seed: int = 1,
    capture: bool = False,
    pipes: int = 1,
    beside: Sequence[str] = (),
    cpu_port: int | None = None,
) -> LivePlan:
    """The plan of `sojourn switch`.

    `ports` are like `1=veth1`, `2=none` for one that is connected to nothing, or `2=loop` for one
    whose packets come back in at it, `rates` like `2=100 Mbit/s`, `queue_limits` like `2=200 kB`,
    `beside` like `1=other.p4` for a pipe that runs another program. A `program` is a name or a
    path; `aqm` is a native discipline in the queues under it, or without a program in those of a
    wire between two ports, with its `parameters`.
    """
    live_ports = _ports(ports, rates, queue_limits, cpu_port)
    found = _what_runs(program, aqm)
    discipline = _with_parameters(aqm, parameters or {})
    written = _written(program, discipline, found, control, include_paths, defines)
    main = aqm_config(_choice(written), found, None)
    aqms = [main]
    engine: dict[str, Any] = {
        "ports": [_port(port) for port in live_ports]
        + ([] if cpu_port is None else [{"id": cpu_port}]),
        "aqm": main.config,
        "seed": seed,
        "capture": capture,
        "pipes": pipes,
    }
    for other, own in _in_pipes(beside, pipes, main.program).items():
        made = _beside(other, written)
        engine.setdefault("beside", []).append({"pipes": own, "p4": made.config})
        aqms.append(made)
    for one in aqms:
        if "control" in one.config:
            one.config["control"] = with_default_routes(one.config["control"])
    programs = [one.program for one in aqms if one.program is not None]
    refuse_unread_macros(programs, dict(defines or {}))
    program_file = main.config.get("program")
    return LivePlan(
        found.name,
        tuple(live_ports),
        engine,
        programs,
        control_file=None if program_file is None else control_file(Path(program_file), control),
        cpu_port=cpu_port,
        inputs={path: digest for one in aqms for path, digest in one.inputs.items()},
    )


def _ports(
    ports: Sequence[str],
    rates: Sequence[str],
    queue_limits: Sequence[str],
    cpu_port: int | None,
) -> list[LivePort]:
    """The ports of the options, in the order of their numbers."""
    interfaces = _by_port("--port", ports)
    shaped = {n: _quantity("--rate", RATE, text) for n, text in _by_port("--rate", rates).items()}
    limits = {
        n: _quantity("--queue-limit", SIZE, text)
        for n, text in _by_port("--queue-limit", queue_limits).items()
    }
    for option, given in (("--rate", shaped), ("--queue-limit", limits)):
        for number in given.keys() - interfaces.keys():
            raise ScenarioError(f"{option} {number}: there is no --port {number}")
    if not interfaces and cpu_port is None:
        raise ScenarioError("name the ports: --port 1=veth1 --port 2=veth2")
    if cpu_port in interfaces:
        raise ScenarioError(f"--port {cpu_port}: that is the controllers' port; see --cpu-port")
    return [
        LivePort(number, name, shaped.get(number), limits.get(number))
        for number, name in sorted(interfaces.items())
    ]


def _choice(written: dict[str, Any]) -> AqmChoice:
    """The choice that a table means; parameters that are wrong are the user's."""
    try:
        return choose(written)
    except ValidationError as error:
        lines = messages(error, {"aqms": [written]}, "--set", within=("aqms", 0))
        raise ScenarioError("\n".join(lines).replace("aqms[0].", "")) from None


def _with_parameters(aqm: str | None, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """The table of a discipline."""
    if aqm is not None:
        return {"use": aqm, **parameters}
    if parameters:
        raise ScenarioError("--set is for the discipline of --aqm; there is none")
    return None


def _written(
    program: str | None,
    aqm: dict[str, Any] | None,
    found: Aqm,
    control: Path | None,
    include_paths: Sequence[Path],
    defines: Mapping[str, str] | None,
) -> dict[str, Any]:
    """The table of a scenario that means the same."""
    written: dict[str, Any] = {"use": program} if program is not None else dict(aqm or {})
    if program is not None:
        written |= {"include_paths": [str(path.resolve()) for path in include_paths]}
        written |= {"defines": dict(defines or {})}
        if control is not None:
            written["control"] = str(control.resolve())
        if aqm is not None and found.program is not None:
            written["discipline"] = aqm
    elif control is not None or include_paths or defines:
        raise ScenarioError("--control, -I and -D are for a program; there is none")
    return written


def _in_pipes(
    given: Sequence[str], pipes: int, first: _core.Program | None
) -> dict[str, list[int]]:
    """The pipes of each program other than the first."""
    found: dict[str, list[int]] = {}
    for pipe, program in _by_port("--pipe", given).items():
        if first is None:
            raise ScenarioError("--pipe: name the program of pipe 0, too")
        if not 1 <= pipe < pipes:
            raise ScenarioError(
                f"--pipe {pipe}: pipe 0 runs the first program, and with --pipes {pipes} the last "
                f"one is {pipes - 1}"
            )
        found.setdefault(program, []).append(pipe)
    return found


def _beside(program: str, written: Mapping[str, Any]) -> AqmConfig:
    """The program of other pipes than the first."""
    own = {key: written[key] for key in ("include_paths", "defines")} | {"use": program}
    made = aqm_config(choose(own), _what_runs(program, None), None)
    if made.program is None:
        raise ScenarioError(f"--pipe: {program} is no P4 program")
    made.config.pop("kind")
    return made


def _what_runs(program: str | None, aqm: str | None) -> Aqm:
    if program is None and aqm is None:
        raise ScenarioError("name a program, or --aqm with a native discipline for a wire")
    found = find_aqm(str(program or aqm))
    if program is None and found.program is not None:
        raise ScenarioError(f"--aqm {aqm}: a P4 program; name it without --aqm")
    if program is not None and found.program is None and aqm is not None:
        raise ScenarioError(f"{program} and --aqm {aqm}: a queue has one discipline")
    return found


def _port(port: LivePort) -> dict[str, Any]:
    described: dict[str, Any] = {"id": port.number}
    if port.interface == LOOP:
        described["loops"] = True
    if port.rate is not None:
        described["rate"] = port.rate
    if port.queue_limit is not None:
        described["queue_limit"] = port.queue_limit
    return described


def _by_port(option: str, given: Sequence[str]) -> dict[int, str]:
    found: dict[int, str] = {}
    for text in given:
        number, equals, value = text.partition("=")
        if not equals or not value or not number.isdecimal() or int(number) > _LAST:
            examples = {"--port": "1=veth1", "--rate": '2="100 Mbit/s"', "--pipe": "1=other.p4"}
            what = "pipe" if option == "--pipe" else "port"
            example = examples.get(option, '2="200 kB"')
            raise ScenarioError(f"{option} {text}: write a {what}'s number and a value: {example}")
        if int(number) in found:
            raise ScenarioError(f"{option} {number}: given twice")
        found[int(number)] = value
    return found


def _quantity(option: str, dimension: Dimension, text: str) -> int:
    try:
        return dimension.parse(text)
    except ValueError as error:
        raise ScenarioError(f"{option} {text}: {error}") from error
