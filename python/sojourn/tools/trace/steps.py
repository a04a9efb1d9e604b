"""The steps of a program on one packet, as the engine records them.

The packet runs on a switch alone or in a run. A run is repeated up to the packet, which is the same
packet because scenario and seed are. Must not depend on how the steps are shown.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sojourn import _core
from sojourn.common.resources import shown
from sojourn.common.suggest import did_you_mean
from sojourn.control.file import ProgramChoice, as_plain
from sojourn.control.install import configured_switch
from sojourn.errors import ConfigError, ScenarioError
from sojourn.results.faults import of_program
from sojourn.runtime.arrow_tables import DROPS, VERDICTS, rows_table
from sojourn.runtime.engine import advance, controlled, discard_rows
from sojourn.runtime.folder import RecordedRun, RunFolder
from sojourn.runtime.plan import PlannedRun, make_plan
from sojourn.runtime.queue_totals import no_rows
from sojourn.runtime.run_files import PACKETS

_GENERATED = 1 << 63
"""The engine's number of the first packet that a switch generates."""
GENERATED_WORD = "generated"
"""Names packets of a packet generator, in place of a number."""
_BETWEEN = 1_000
_SETTLE = 10**9
_MOST_ROWS = 1 << 30
_AFTERWARDS = 10_000_000
"""ns for which a run goes on behind the packet, for copies that its passes have asked for."""


@dataclass(frozen=True)
class Traced:
    """One packet's way."""

    title: str
    """The packet and its fate."""
    passes: tuple[dict[str, Any], ...]
    """The passes through the program, in order of time, as the engine has them."""
    sent: tuple[tuple[int, bytes], ...] = ()
    """Output of the switch: port and frame; nothing of a packet in a run."""
    faults: tuple[str, ...] = ()
    """Faults: operations that the program's target lacks."""


def trace_frames(
    choice: ProgramChoice,
    frames: Sequence[bytes],
    *,
    port: int = 1,
    at: int = 0,
) -> list[Traced]:
    """The ways of `frames` through a switch alone, one after the other: registers keep what the
    ones before have left there.

    The first comes in by `port` at the instant `at`, ns. `ProgramError`, `ControlPlaneError` say
    what is wrong with program or control plane.
    """
    switch = _followed_switch(choice)
    ways = []
    switch.wait(at)
    for number, frame in enumerate(frames, 1):
        switch.receive(port, frame)
        switch.settle(_SETTLE)
        sent = switch.take()
        ways.append(
            Traced(
                f"packet {number}: {len(frame)} bytes by port {port}: {_left(sent)}",
                tuple(json.loads(switch.take_passes())),
                tuple(sent),
                tuple(of_program(json.loads(switch.faults()))),
            )
        )
        switch.wait(_BETWEEN)
    return ways


def trace_generated(choice: ProgramChoice, count: int) -> list[Traced]:
    """The ways of the first `count` instants' packets that timers of a packet generator make, on a
    switch alone. Errors as for `trace_frames`, and if no timer is set."""
    switch = _followed_switch(choice)
    ways: list[Traced] = []
    while len(ways) < count and (due := switch.next_timer) is not None:
        switch.wait(due - switch.now)
        switch.settle(_SETTLE)
        sent = switch.take()
        if passes := json.loads(switch.take_passes()):
            title = f"generated at {passes[0]['time'] / 1e6:.6f} ms: {_left(sent)}"
            faults = of_program(json.loads(switch.faults()))
            ways.append(Traced(title, tuple(passes), tuple(sent), tuple(faults)))
    if not ways:
        file = shown(choice.control_file or choice.program)
        raise ScenarioError(f"{file}: no [[pktgen]] with a timer, so no packet is generated")
    return ways


def _followed_switch(choice: ProgramChoice) -> _core.PacketSwitch:
    switch = configured_switch(choice)
    try:
        switch.follow()
    except ConfigError as error:
        raise ScenarioError(f"{shown(choice.program)}: {error}") from error
    return switch


def _left(sent: Sequence[tuple[int, bytes]]) -> str:
    if not sent:
        return "nothing left the switch"
    return "; ".join(f"{len(frame)} bytes left by port {port}" for port, frame in sent)


def trace_in_run(path: Path, packet: str, label: str | None = None) -> Traced:
    """The way of a packet of the run in the folder `path`, with the run's other packets around it.

    `packet` is its number in the run's rows, or a verdict, for the first packet of which it is
    true, or `generated` for the first of a packet generator. `label` is an AQM of the run, a P4
    program; without it the first one.
    """
    folder = RunFolder.open(path)
    if packet != GENERATED_WORD and not folder.scenario.rows:
        raise no_rows(path, "a trace")
    place, run = _chosen(folder, path, label)
    if packet == GENERATED_WORD:
        return _generated_in_run(folder, path, place)
    row = _row(path / run.folder / PACKETS, packet)
    number, dequeued = row["packet"], row["dequeued"]
    if not 0 <= row["enqueued"] <= dequeued <= folder.scenario.duration:
        raise ScenarioError(
            f"{shown(path)}: the rows of this run cannot be read: packet {number} was not in its "
            "queue while the run went on"
        )
    planned, simulation = _repeated(folder, path, place, number)
    end = dequeued + _AFTERWARDS
    with controlled(planned, simulation) as controller:
        for now in advance(simulation, end, _MOST_ROWS, controller):
            discard_rows(simulation)
            if now >= end:
                break
    delay = (dequeued - row["enqueued"]) / 1e6
    title = (
        f"packet {number} of {run.label}, seed {folder.scenario.seed}: {row['size']} bytes of flow "
        f"{row['flow']}, at the queue at {row['enqueued'] / 1e9:.6f} s, {delay:.3f} ms there: "
        f"{_said(row['verdict'])}"
    )
    return Traced(title, tuple(json.loads(simulation.take_passes())))


def _generated_in_run(folder: RunFolder, path: Path, place: int) -> Traced:
    """The way of the first packet that a packet generator of the run makes."""
    planned, simulation = _repeated(folder, path, place, _GENERATED)
    duration = folder.scenario.duration
    passes: list[dict[str, Any]] = []
    with controlled(planned, simulation) as controller:
        for now in advance(simulation, duration, _MOST_ROWS, controller):
            discard_rows(simulation)
            passes += json.loads(simulation.take_passes())
            if passes and now >= passes[0]["time"] + _AFTERWARDS:
                break
    label = folder.runs[place].label
    if not passes:
        raise ScenarioError(f"{shown(path)}: no packet was generated in the run of {label}")
    first = passes[0]["time"]
    title = (
        f"the first generated packet of {label}, seed {folder.scenario.seed}, made at "
        f"{first / 1e9:.6f} s"
    )
    return Traced(title, tuple(one for one in passes if one["time"] <= first + _AFTERWARDS))


def _repeated(
    folder: RunFolder, path: Path, place: int, number: int
) -> tuple[PlannedRun, _core.Simulation]:
    """A run of the folder once more, from its start, in which packet `number` is followed."""
    run = folder.runs[place]
    scenario = folder.scenario.model_copy(update={"aqms": [folder.scenario.aqms[place]]})
    if folder.beside is None:
        raise ScenarioError(
            f"{shown(path)}: made by an earlier version, which does not name every file that a run "
            "reads; run the scenario again"
        )
    planned = make_plan(scenario, name=folder.name, beside=folder.beside).runs[0]
    _refuse_changed(planned.sources, run)
    config = planned.config
    for switch in (config, *config["network"]["switches"]):
        if switch.get("aqm") and switch["aqm"]["kind"] == "p4":
            switch["aqm"] = switch["aqm"] | {"follow": [number]}
    try:
        text = json.dumps(config, default=as_plain)
        simulation = _core.Simulation(text, list(planned.programs))
    except ConfigError as error:
        raise ScenarioError(f"{run.label}: {error}") from error
    return planned, simulation


def _refuse_changed(planned: Mapping[str, str], run: RecordedRun) -> None:
    """`ScenarioError` if the files that the run reads are no longer those that it read."""
    names = dict.fromkeys([*run.sources, *planned])
    changed = [name for name in names if planned.get(name) != run.sources.get(name)]
    if changed:
        raise ScenarioError(
            f"{run.label}: not the same as in this run: {', '.join(changed)}; run the scenario "
            "again"
        )


def _said(verdict: str) -> str:
    return f"dropped ({verdict})" if verdict in DROPS else {"mark": "marked"}.get(verdict, verdict)


def _chosen(folder: RunFolder, path: Path, label: str | None) -> tuple[int, RecordedRun]:
    programs = {
        run.label: (place, run)
        for place, run in enumerate(folder.runs)
        if run.aqm.get("kind") == "p4"
    }
    if not programs:
        raise ScenarioError(f"{shown(path)}: no P4 program is among its AQMs")
    if folder.backend["name"] != "sim":
        raise ScenarioError(
            f"{shown(path)}: ran on {folder.backend['name']}; only a run in virtual time can be "
            "made again packet by packet"
        )
    if label is None:
        return next(iter(programs.values()))
    if label not in programs:
        known = ", ".join(programs)
        raise ScenarioError(f"--aqm {label}: it can be {known}{did_you_mean(label, programs)}")
    return programs[label]


def _row(path: Path, packet: str) -> dict[str, Any]:
    try:
        rows = rows_table(path, ["packet", "flow", "size", "enqueued", "dequeued", "verdict"])
    except (OSError, LookupError, ValueError, pa.ArrowException) as error:
        raise ScenarioError(f"{shown(path)}: {error}") from error
    if packet in VERDICTS:
        found = rows.filter(pc.equal(rows["verdict"].cast("string"), packet))
        none = f"no packet has the verdict {packet} in this run"
    elif packet.isdecimal() and len(packet) < 19:
        found = rows.filter(pc.equal(rows["packet"], int(packet)))
        least, most = (pc.min(rows["packet"]), pc.max(rows["packet"]))
        none = f"no packet {packet} was at the bottleneck; its rows have {least} to {most}"
    else:
        raise ScenarioError(
            f"packet {packet!r}: of a run it is a number in {shown(path)}, or "
            f"{', '.join(VERDICTS)} for the first packet of which that is true, or "
            f"{GENERATED_WORD} for the first of a packet generator"
        )
    if not found.num_rows:
        raise ScenarioError(f"{shown(path)}: {none}")
    row: dict[str, Any] = found.slice(0, 1).to_pylist()[0]
    return row
