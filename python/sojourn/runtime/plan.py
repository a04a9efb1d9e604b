"""Plans: a scenario as one engine configuration for each AQM.

The configuration is the engine's JSON, all integers in ns, bit/s and bytes. Depends on the model
and the catalogue of AQMs. Runs nothing.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import ValidationError

from sojourn import _core
from sojourn.common.filenames import names_for
from sojourn.common.resources import is_own, shown
from sojourn.common.suggest import did_you_mean
from sojourn.control.controller import Node
from sojourn.control.file import ProgramChoice, engine_parts, plain, written_control_plane
from sojourn.control.process import ProcessSettings
from sojourn.control.process_files import executable_of, files_of_command
from sojourn.control.route_entries import takes_routes, with_routes
from sojourn.errors import ScenarioError
from sojourn.model.aqms import HARDWARE, PYTHON, Aqm, find_aqm, is_path
from sojourn.model.hardware import modules
from sojourn.model.inputs import Inputs, absolute, hashed, named
from sojourn.model.programs import doubt_of, inputs_of, refuse_unread_macros, with_own_folder
from sojourn.model.scenario.aqm_spec import Ghost
from sojourn.model.scenario.bottleneck import Bottleneck
from sojourn.model.scenario.buffering import Buffering
from sojourn.model.scenario.flows import TransferFlows
from sojourn.model.scenario.link_trace import read_trace
from sojourn.model.scenario.model import AqmChoice, Scenario, choose
from sojourn.model.scenario.network import Link, NetworkSwitch, addresses
from sojourn.model.scenario.read import messages
from sojourn.model.scenario.routes import Routes
from sojourn.model.scenario.workloads import WORKLOADS
from sojourn.model.scenario_code import admit, admit_command
from sojourn.model.script_modules import script_files
from sojourn.runtime.engine_flows import engine_flows
from sojourn.runtime.run_files import top_names

_P4_OPTIONS = (
    "architecture",
    "math_unit",
    "executor",
    "include_paths",
    "defines",
    "control",
    "discipline",
    "ghost",
    "flow_control_delay",
    "trace",
)


@dataclass(frozen=True)
class PlannedController:
    """A controller of a run: a script in Python, or a process."""

    work: Path | ProcessSettings
    """The script's file, or the process."""
    nodes: tuple[Node, ...]
    """Its switches."""
    poll: int
    """Interval between polls for messages and packets of the program, ns."""
    cpu_port: int | None = None
    """The port of its switches by which packets go to it and come from it."""
    files: tuple[Path, ...] = ()
    """The script or the files that the command names, and the modules that they import from their
    folders."""
    executables: tuple[Path, ...] = ()
    """The executable of the process."""
    aqms: tuple[str, ...] | None = None
    """Labels of the AQMs whose runs have it; nothing for all."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """What the scenario gives the script."""


class AqmConfig(NamedTuple):
    """An AQM, ready for the engine."""

    config: dict[str, Any]
    program: _core.Program | None = None
    """Compiled, if it is one."""
    files: tuple[Path, ...] = ()
    """Its inputs besides its program's text: control plane, hardware module."""

    @property
    def inputs(self) -> Inputs:
        """Every file that it reads."""
        program = {} if self.program is None else inputs_of(self.program)
        return {**program, **hashed(self.files)}


@dataclass(frozen=True)
class PlannedRun:
    """One AQM of a scenario, ready for the engine."""

    label: str
    """Its label in tables and plots."""
    folder: str
    """Its folder in the run's folder."""
    family: str
    """Name without variant; variants of one AQM look alike in plots."""
    variant: str
    """Its variant within the family, or nothing."""
    config: dict[str, Any]
    programs: tuple[_core.Program, ...] = ()
    """The P4 programs that the configuration means, compiled."""
    bottlenecks: tuple[Bottleneck, ...] = ()
    """The measured queues, in the engine's order."""
    control_file: Path | None = None
    """The AQM's control-plane file, if it is a program that has one."""
    controller: PlannedController | None = None
    """The controller, if there is one."""
    inputs: Inputs = field(default_factory=dict)
    """Every file that it reads."""
    executables: Inputs = field(default_factory=dict)
    """The executables that it starts; unlike files that it reads, these stay on their machine."""
    beside: Path = Path()
    """The scenario's folder."""
    totals: tuple[int, int] | None = None
    """The target and the end of the warm-up, ns, if the run writes totals in place of rows."""

    @cached_property
    def configuration(self) -> _core.Configuration:
        """`config` as the engine has read it, once for check and run; or its `ConfigError`."""
        text = json.dumps(self.config, default=_empty)
        return _core.Configuration(text, list(_beside(self.config)))

    def captures(self, place: Bottleneck) -> bool:
        """Whether the frames of a bottleneck are captured: those of all, or its link's alone."""
        return bool(self.config["capture"]) or place.captured

    def aqm_at(self, place: int) -> dict[str, Any]:
        """The AQM in the switch at a place of the network, as the engine's configuration has it."""
        aqm: dict[str, Any] = self.config["network"]["switches"][place].get("aqm")
        return aqm or self.config["aqm"]

    @property
    def sources(self) -> dict[str, str]:
        """Every file that it reads or starts, by name, with its SHA-256."""
        return named({**self.inputs, **self.executables}, self.beside)

    @property
    def described(self) -> dict[str, Any]:
        """Its AQM as a run's folder names it."""
        described: dict[str, Any] = self.config["aqm"]
        if doubts := [doubt for program in self.programs if (doubt := doubt_of(program))]:
            described = described | {"doubts": doubts}
        if "control" not in described:
            return described
        return described | {"control": plain(described["control"])}


def _empty(own: object) -> list[Any] | str:
    """The placeholder in a configuration for a part that the engine gets separately."""
    match own:
        case _core.Entries():
            return []
        case _core.Text():
            return ""
    raise TypeError(f"{type(own).__name__} is not data")


def _beside(
    config: Mapping[str, Any],
) -> Iterator[tuple[int | None, int, _core.Entries | _core.Text]]:
    """The engine's own parts of a configuration's control planes: the index of the switch whose
    program it is for, if it has its own, and that of a table."""
    switches = enumerate(switch["aqm"] for switch in config["network"]["switches"])
    for place, aqm in [(None, config["aqm"]), *switches]:
        for table, own in engine_parts((aqm or {}).get("control") or {}):
            yield place, table, own


@dataclass(frozen=True)
class Plan:
    """A scenario and its runs."""

    name: str
    scenario: Scenario
    runs: tuple[PlannedRun, ...]
    beside: Path = Path()
    """The folder that relative paths in the scenario start from."""


def make_plan(
    scenario: Scenario,
    *,
    name: str = "scenario",
    beside: Path | None = None,
    aqms: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] = (),
    seed: int | None = None,
    math_unit: str | None = None,
    executor: str | None = None,
    capture: bool = False,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] = MappingProxyType({}),
) -> Plan:
    """The runs of `scenario`, with the changes of the command line.

    `beside` is the folder that relative paths in the scenario start from. An AQM in `aqms` takes
    the options that the scenario gives it, if it does. `include_paths` and `defines` go to all P4
    programs among the AQMs, in addition to their own.
    """
    choices = _chosen(scenario, [aqms] if isinstance(aqms, str | Mapping) else list(aqms))
    _refuse_repeats(choices)
    own_defines = [choice.defines for choice in choices]
    if include_paths or defines:
        choices = [
            _with_macros(choice, include_paths, defines)
            if find_aqm(choice.use, beside).program is not None
            else choice
            for choice in choices
        ]
    for_programs = {"math_unit": math_unit, "executor": executor}
    if update := {key: value for key, value in for_programs.items() if value is not None}:
        choices = [_with_options(choice, update, beside) for choice in choices]
    changes: dict[str, Any] = {"aqms": _without_repeats(choices)}
    if seed is not None:
        changes["seed"] = _checked_seed(seed)
    scenario = scenario.model_copy(update=changes)

    found = [(choice, find_aqm(choice.use, beside)) for choice in scenario.aqms]
    for choice, aqm in found:
        _refuse_foreign_options(choice, aqm)
    labels = _labels(found, beside)
    bottlenecks = scenario.bottlenecks
    folders = names_for(labels, reserved=top_names(bottlenecks))
    common, own_aqms = _common_config(scenario, capture, beside)
    runs = tuple(
        _planned(choice, aqm, names, common, beside, own_aqms, bottlenecks, scenario)
        for (choice, aqm), *names in zip(found, labels, folders, strict=True)
    )
    _refuse_unread(runs, own_defines, defines)
    if files := _data_files(scenario, beside or Path()):
        runs = tuple(replace(run, inputs={**run.inputs, **files}) for run in runs)
    if scenario.control is not None:
        runs = _with_controller(runs, _controller(scenario, absolute(beside or Path())))
    return Plan(name, scenario, runs, absolute(beside or Path()))


def _checked_seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ScenarioError(f"seed {seed!r}: write a whole number from 0 to 2^63 - 1")
    return seed


def _with_controller(
    runs: tuple[PlannedRun, ...], controller: PlannedController
) -> tuple[PlannedRun, ...]:
    """The runs with their controller, whose files are among their inputs."""
    read, started = hashed(controller.files), hashed(controller.executables)
    labels = [run.label for run in runs]
    for label in controller.aqms or ():
        if label not in labels and len(runs) > 1:
            hint = did_you_mean(label, labels)
            raise ScenarioError(f"control.aqms: no AQM is called {label}{hint}")
    meant = [run for run in runs if controller.aqms is None or run.label in controller.aqms]
    if isinstance(controller.work, ProcessSettings):
        if controller.work.port and len(meant) > 1:
            raise ScenarioError(
                f"control.port: {len(meant)} AQMs run at the same time, each with a controller and "
                "a server of its own; leave the port out, or choose one AQM (--aqm)"
            )
        admit_command(
            controller.work.shown,
            "a controller process of the scenario",
            controller.work.folder,
        )
    elif not is_own(controller.work):
        admit(controller.work, "a Python script of the scenario")
    return tuple(
        replace(
            run,
            controller=_controlled(run, controller),
            inputs={**run.inputs, **read},
            executables=started,
        )
        if run in meant
        else run
        for run in runs
    )


def _data_files(scenario: Scenario, beside: Path) -> dict[Path, str]:
    """The traces of links and the tables of sizes that a scenario names, hashed."""
    traces = [path for link in scenario.links for path in link.traces]
    tables = [
        group.sizes
        for group in scenario.flows
        if isinstance(group, TransferFlows)
        and group.sizes is not None
        and group.sizes not in WORKLOADS
    ]
    return hashed(beside / path for path in [*traces, *tables])


def _controller(scenario: Scenario, folder: Path) -> PlannedController:
    """The controller of a scenario in `folder`."""
    control = scenario.control
    assert control is not None
    rest = (_nodes(scenario, control.switch), control.poll, control.cpu_port)
    aqms = None if control.aqms is None else tuple(control.aqms)
    if control.script is not None:
        path = _script(control.script, folder)
        files = tuple(script_files(path))
        return PlannedController(path, *rest, files, aqms=aqms, args=control.args)
    command = tuple(control.process or ())
    device = int(control.server == "p4runtime") if control.device is None else control.device
    settings = ProcessSettings(
        command,
        folder,
        control.server,
        control.latency,
        control.timeout,
        control.poll,
        control.port or 0,
        device,
    )
    files = files_of_command(command, folder)
    started = (executable_of(command[0], folder),)
    return PlannedController(settings, *rest, files, started, aqms)


def _nodes(scenario: Scenario, asked: str | list[str] | None) -> tuple[Node, ...]:
    """The switches that a controller is for."""
    names = [node.name for node in scenario.switches]
    if asked is None:
        return (Node(0, names[0] if names else ""),)
    wanted = [asked] if isinstance(asked, str) else asked
    for number, name in enumerate(wanted):
        if name not in names:
            hint = did_you_mean(name, names)
            raise ScenarioError(f"control.switch: there is no switch {name}{hint}")
        if name in wanted[:number]:
            raise ScenarioError(f"control.switch: {name} is named twice")
    return tuple(Node(names.index(name), name) for name in wanted)


def _script(name: str, folder: Path) -> Path:
    """A controller's script, which a scenario has below its own folder."""
    path = absolute(folder / name)
    if is_own(path):
        # A script of the package imports the modules beside it, not those beside a link to it.
        path = path.resolve()
    elif not path.resolve().is_relative_to(folder.resolve()):
        raise ScenarioError(f"control.script: {name} is not below the scenario's folder")
    if not path.is_file():
        raise ScenarioError(f"control.script: there is no {shown(path)}")
    return path


def _controlled(run: PlannedRun, controller: PlannedController) -> PlannedController:
    """The controller, if what the run has in its switches can be controlled."""
    for node in controller.nodes:
        aqm = run.aqm_at(node.place)
        if aqm["kind"] != "p4":
            where = f" of {node.name}" if len(controller.nodes) > 1 else ""
            raise ScenarioError(
                f"control: {aqm['name']}{where} is a native discipline, which has no control "
                "plane; choose P4 programs (--aqm)"
            )
        if controller.cpu_port is not None:
            run.config["network"]["switches"][node.place]["cpu_port"] = controller.cpu_port
    return controller


def _refuse_repeats(choices: list[AqmChoice]) -> None:
    for index, choice in enumerate(choices):
        if choice in choices[:index]:
            raise ScenarioError(
                f"aqms: {choice.label or choice.use} is given twice; a run of one AQM with several "
                "seeds is --seeds, variants of it need a label each"
            )


def _with_macros(
    choice: AqmChoice, include_paths: Sequence[str | Path], defines: Mapping[str, str]
) -> AqmChoice:
    given = [str(Path(path).absolute()) for path in include_paths]
    return choice.model_copy(
        update={
            "include_paths": [*choice.include_paths, *given],
            "defines": {**choice.defines, **defines},
        }
    )


def _refuse_unread(
    runs: Sequence[PlannedRun], own: Sequence[Mapping[str, Any]], given: Mapping[str, str]
) -> None:
    """Refuses macros that no program reads, as they are typing errors that results would not
    show."""
    programs = [run.programs[-1] for run in runs if run.config["aqm"]["kind"] == "p4"]
    refuse_unread_macros(programs, given)
    if len(own) != len(runs):
        return
    for run, defines in zip(runs, own, strict=True):
        if run.config["aqm"]["kind"] == "p4":
            written = {name: str(value) for name, value in defines.items()}
            refuse_unread_macros(run.programs[-1:], written, f"aqms: {run.label}: defines:")


def _chosen(scenario: Scenario, names: list[str | Mapping[str, Any]]) -> list[AqmChoice]:
    if not names:
        return list(scenario.aqms)
    chosen: list[AqmChoice] = []
    for name in names:
        if not isinstance(name, str):
            chosen.append(_from_python(name))
            continue
        listed = [choice for choice in scenario.aqms if choice.use == name]
        # A path typed on the command line starts from where the user is, not from the scenario.
        typed = str(Path(name).absolute()) if is_path(name) else name
        chosen += listed or [choose(typed)]
    return chosen


def _from_python(written: object) -> AqmChoice:
    """A choice that a caller wrote as a table; its paths start from where the caller is."""
    if not isinstance(written, Mapping):
        raise ScenarioError(f'aqms: {written!r}: write a name, or a table like {{"use": "codel"}}')
    try:
        choice = choose(dict(written))
    except ValidationError as error:
        lines = messages(error, {"aqms": [dict(written)]}, "aqms", within=("aqms", 0))
        raise ScenarioError("\n".join(lines)) from None
    here = [str(Path(path).absolute()) for path in choice.include_paths]
    control = str(Path(choice.control).absolute()) if choice.control else None
    use = str(Path(choice.use).absolute()) if is_path(choice.use) else choice.use
    under = choice.discipline
    if under is not None and is_path(under.use):
        under = under.model_copy(update={"use": str(Path(under.use).absolute())})
    update = {"use": use, "include_paths": here, "control": control, "discipline": under}
    return choice.model_copy(update=update)


def _with_options(choice: AqmChoice, update: Mapping[str, str], beside: Path | None) -> AqmChoice:
    if find_aqm(choice.use, beside).program is None:
        return choice
    return choice.model_copy(update=update)


def _without_repeats(choices: list[AqmChoice]) -> list[AqmChoice]:
    return [choice for index, choice in enumerate(choices) if choice not in choices[:index]]


def _refuse_foreign_options(choice: AqmChoice, aqm: Aqm) -> None:
    if aqm.program is None:
        kind = {HARDWARE: "a hardware module", PYTHON: "a discipline in Python"}.get(
            aqm.kind, "a native discipline"
        )
        given = [key for key in _P4_OPTIONS if getattr(choice, key) not in (None, [], {})]
    else:
        kind = "a P4 program"
        given = list(choice.parameters)
    if given:
        raise ScenarioError(f"aqms: {choice.use} is {kind}, which has no {' or '.join(given)}")


def _labels(found: list[tuple[AqmChoice, Aqm]], beside: Path | None) -> list[str]:
    """Names for tables and plots; the math unit is named where it is not the vendor's or varies."""
    varied = Counter(aqm.name for _, aqm in found)
    labels = []
    for choice, aqm in found:
        unit = _math_unit(choice)
        shown = unit != "vendor" or varied[aqm.name] > 1
        named = shown and _has_math_unit(choice, aqm, beside)
        labels.append(choice.label or (f"{aqm.name} ({unit})" if named else aqm.name))
    for label, times in Counter(labels).items():
        if times > 1:
            raise ScenarioError(f'aqms: {times} of them are called "{label}"; give each a label')
    return labels


def _has_math_unit(choice: AqmChoice, aqm: Aqm, beside: Path | None) -> bool:
    if aqm.program is None:
        return False
    return program_choice(choice, aqm.program, aqm, beside).compiled.math_unit


def _math_unit(choice: AqmChoice) -> str:
    return choice.math_unit or "vendor"


def _common_config(
    scenario: Scenario, capture: bool, beside: Path | None
) -> tuple[dict[str, Any], list[AqmConfig]]:
    """The part of the configuration that all runs share, and the AQMs of single switches."""
    here = beside or Path()
    common: dict[str, Any] = {
        "duration": scenario.duration,
        "seed": scenario.seed,
        "capture": capture,
        "netem": scenario.netem.model_dump(),
        "flows": engine_flows(scenario, here),
    }
    neighbours: dict[str, list[str]] = {}
    for link in scenario.links:
        for near, far in (link.between, link.between[::-1]):
            neighbours.setdefault(near, []).append(far)
    nodes = [_node(node, neighbours.get(node.name, []), beside) for node in scenario.switches]
    network = {
        "hosts": addresses(scenario.hosts),
        "switches": [node for node, _ in nodes],
        "links": [_engine_form(link, here) for link in scenario.links],
    }
    return common | {"network": network}, [aqm for _, aqm in nodes if aqm is not None]


def _engine_form(link: Link, beside: Path) -> dict[str, Any]:
    """A link as integers in the engine's units."""
    ports, netems = ("port", "port_back"), ("netem", "netem_back")
    traces = ("link_trace", "link_trace_back")
    optional = (*ports, *netems, *traces)
    plain = {key: getattr(link, key) for key in Link.model_fields if key not in optional}
    given = {key: value for key in optional if (value := getattr(link, key)) is not None}
    plain |= {key: given[key] for key in ports if key in given}
    plain |= {key: given[key].model_dump() for key in netems if key in given}
    plain |= {key: read_trace(beside / given[key]) for key in traces if key in given}
    return plain | {"schedule": [step.in_engine() for step in link.schedule]}


def _node(
    node: NetworkSwitch, neighbours: Sequence[str], beside: Path | None
) -> tuple[dict[str, Any], AqmConfig | None]:
    """A switch as the engine takes it, and its own AQM."""
    others = {"control", *Buffering.model_fields}
    plain = {key: getattr(node, key) for key in type(node).model_fields if key not in others}
    plain |= node.in_engine(neighbours)
    if plain["pipes"] is None:
        del plain["pipes"]
    if node.aqm is None:
        return plain, None
    aqm = find_aqm(node.aqm.use, beside)
    _refuse_foreign_options(node.aqm, aqm)
    own = aqm_config(node.aqm, aqm, beside)
    return plain | {"aqm": own.config}, own


def _with_own_routes(
    scenario: Scenario, switches: Sequence[dict[str, Any]], run: dict[str, Any]
) -> list[dict[str, Any]]:
    """The switches with the entries that the network gives to their programs, or to the run's."""
    aqms = [switch.get("aqm") or run for switch in switches]
    if not any(map(takes_routes, aqms)):
        return list(switches)
    routes = Routes(scenario)
    return [
        switch | {"aqm": with_routes(aqm, routes, switch["name"])} if takes_routes(aqm) else switch
        for switch, aqm in zip(switches, aqms, strict=True)
    ]


def _with_control(
    node: NetworkSwitch, switch: dict[str, Any], run: dict[str, Any]
) -> dict[str, Any]:
    """A switch with what the control plane of its program, or of the run's, does to it later."""
    if not node.control:
        return switch
    aqm = switch.get("aqm") or run
    if aqm["kind"] != "p4":
        raise ScenarioError(
            f"{node.name}.control: {aqm['name']} is a native discipline, which has no control "
            "plane; choose P4 programs (--aqm), and change rates by a schedule"
        )
    return switch | {"aqm": aqm | {"later": [step.model_dump() for step in node.control]}}


def _planned(
    choice: AqmChoice,
    aqm: Aqm,
    names: Sequence[str],
    common: dict[str, Any],
    beside: Path | None,
    own_aqms: Sequence[AqmConfig],
    bottlenecks: tuple[Bottleneck, ...],
    scenario: Scenario,
) -> PlannedRun:
    chosen = None if aqm.program is None else program_choice(choice, aqm.program, aqm, beside)
    main = _config(choice, aqm, chosen, beside)
    label, folder = names
    variant = label.removeprefix(aqm.name).strip(" ()")
    routed = _with_own_routes(scenario, common["network"]["switches"], main.config)
    switches = [
        _with_control(node, switch, main.config)
        for node, switch in zip(scenario.switches, routed, strict=True)
    ]
    if takes_routes(main.config):
        # The engine reads the run's own control plane, too, though no switch takes it.
        first = with_routes(main.config, Routes(scenario), scenario.switches[0].name)
        main = main._replace(config=first)
    network = common["network"] | {"switches": switches}
    everything = common | {"network": network, "aqm": main.config}
    aqms = (*own_aqms, main)
    return PlannedRun(
        label,
        folder,
        aqm.name,
        variant,
        everything,
        tuple(one.program for one in aqms if one.program is not None),
        bottlenecks,
        None if chosen is None else chosen.control_file,
        inputs={path: digest for one in aqms for path, digest in one.inputs.items()},
        beside=beside or Path(),
        totals=None if scenario.rows else (scenario.target, scenario.warm_up),
    )


def aqm_config(choice: AqmChoice, aqm: Aqm, beside: Path | None) -> AqmConfig:
    """An AQM as the engine takes it; its program, if it is one, is compiled."""
    chosen = None if aqm.program is None else program_choice(choice, aqm.program, aqm, beside)
    return _config(choice, aqm, chosen, beside)


def _config(
    choice: AqmChoice, aqm: Aqm, chosen: ProgramChoice | None, beside: Path | None
) -> AqmConfig:
    """The same, once it is known which program is meant."""
    if chosen is None:
        native, files = _as_native(choice, aqm)
        return AqmConfig({"kind": "native"} | native, None, files)
    files = () if chosen.control_file is None else (chosen.control_file,)
    config: dict[str, Any] = {
        "kind": "p4",
        "program": str(chosen.program),
        "architecture": chosen.architecture or chosen.compiled.target,
        "math_unit": _math_unit(choice),
        "include_paths": list(chosen.include_paths),
        "defines": chosen.defines,
        "control": written_control_plane(chosen),
    }
    if choice.executor is not None:
        config["executor"] = choice.executor
    if choice.discipline is not None:
        config["discipline"], under = _discipline(choice.discipline, beside)
        files += under
    if choice.ghost is not None or chosen.compiled.has_ghost:
        # With the defaults, so that `run.json` says what the run assumes.
        config["ghost"] = (choice.ghost or Ghost()).model_dump()
    if choice.flow_control_delay is not None:
        config["flow_control_delay"] = choice.flow_control_delay
    if choice.trace:
        config["trace"] = choice.trace
    return AqmConfig(config, chosen.compiled, files)


def _as_native(choice: AqmChoice, aqm: Aqm) -> tuple[dict[str, Any], tuple[Path, ...]]:
    """A native discipline as the engine takes it, or a hardware module or a class in Python, which
    is added to the engine, and the files of those."""
    if aqm.own is not None:
        own = aqm.own.added()
        return {"name": own.name} | own.values(choice.parameters, aqm.name), own.files
    if aqm.module is None:
        return {"name": aqm.name} | choice.parameters, ()
    module = modules.added(aqm.module)
    return {"name": module.name} | choice.parameters, module.files


def _discipline(choice: AqmChoice, beside: Path | None) -> tuple[dict[str, Any], tuple[Path, ...]]:
    """The discipline under a program as the engine takes it, and its files."""
    given = [key for key in _P4_OPTIONS if getattr(choice, key) not in (None, [], {})]
    aqm = find_aqm(choice.use, beside)
    if aqm.program is not None or given or choice.label:
        raise ScenarioError(
            f"aqms: discipline = {choice.use}: name a native discipline, with its parameters alone"
        )
    return _as_native(choice, aqm)


def program_choice(
    choice: AqmChoice, program: Path, aqm: Aqm, beside: Path | None
) -> ProgramChoice:
    """The program that `choice` names with all that decides what its text means."""
    base = beside or Path()
    paths = [str(base / path) for path in choice.include_paths]
    return ProgramChoice(
        program,
        choice.architecture or aqm.architecture,
        with_own_folder(paths, program),
        {name: str(value) for name, value in choice.defines.items()},
        base / choice.control if choice.control else None,
    )
