"""Studies: the decisions of several AQMs over several traces, compared with RFC 8289 and with the
same program without delay.

Depends on `decisions`, `compare` and `latency_cost`. Runs over one trace share the processor's
cores; no figure depends on how. Must not depend on files other than traces, or on a terminal.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import Any

from sojourn import _core
from sojourn.errors import ScenarioError
from sojourn.model.aqms import find_aqm, is_path
from sojourn.model.hardware import modules
from sojourn.model.inputs import Inputs, named
from sojourn.model.programs import refuse_unread_macros
from sojourn.model.scenario.model import choose
from sojourn.model.units import TIME
from sojourn.runtime.plan import AqmConfig, aqm_config
from sojourn.tools.replay.compare import Comparison, compare
from sojourn.tools.replay.decisions import Decisions, decide
from sojourn.tools.replay.latency_cost import Race, race
from sojourn.tools.replay.trace import RFC_8289, Parameters, Rows, Trace

REFERENCE = "codel"
"""The native discipline whose law is RFC 8289."""
DEFAULT_AQMS = ("codel_exact", "codel_act", "p4_codel")


@dataclass(frozen=True)
class Subject:
    """A P4 program, or a hardware module, under replay."""

    label: str
    config: dict[str, Any]
    """As the engine takes it."""
    program: _core.Program | None = None
    """Compiled, if it is one."""
    inputs: Inputs = field(default_factory=dict)
    """The files that it is made of."""

    @property
    def sources(self) -> dict[str, str]:
        """The files that it is made of, by name, each with its SHA-256."""
        return named(self.inputs, Path())


@dataclass(frozen=True)
class Outcome:
    """One program's result on one trace, its copies taking `latency` ns."""

    subject: Subject
    latency: int
    decisions: Decisions
    comparison: Comparison
    race: Race | None
    """Absent unless several latencies are compared."""


@dataclass(frozen=True)
class TraceOutcome:
    """All programs over one trace."""

    trace: Trace
    rows: Rows
    reference: Decisions
    outcomes: tuple[Outcome, ...]


@dataclass
class Progress:
    """The progress of a study; packets are counted once for each run over them."""

    trace: str = ""
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Study:
    """The settings of a study: subjects and traces."""

    traces: Sequence[Trace]
    subjects: Sequence[Subject]
    latencies: Sequence[int]
    parameters: Parameters = RFC_8289
    progress: Progress = field(default_factory=Progress)

    @property
    def reference(self) -> dict[str, Any]:
        """RFC 8289's law as the engine takes it."""
        return {
            "kind": "native",
            "name": REFERENCE,
            "target": self.parameters.target,
            "interval": self.parameters.interval,
        }

    def outcomes(self, refresh: Callable[[], None] = lambda: None) -> Iterator[TraceOutcome]:
        """Goes through the traces, one in memory at a time; `refresh` hears of progress."""
        for trace in self.traces:
            self.progress.trace, self.progress.done, self.progress.total = trace.name, 0, 0
            refresh()
            yield self._over(trace, refresh)

    def _over(self, trace: Trace, refresh: Callable[[], None]) -> TraceOutcome:
        rows = trace.read()
        if not len(rows):
            raise ScenarioError(f"{trace.name}: no packet leaves the queue in this trace")
        reference = decide(self.reference, rows, label=REFERENCE)
        assert reference is not None, "nobody stops the reference"
        # Several latencies are held against none at all.
        wanted = sorted({0, *self.latencies} if len(self.latencies) > 1 else self.latencies)
        self.progress.total = len(rows) * len(self.subjects) * len(wanted)
        decided = self._ask_all(rows, wanted, refresh)
        outcomes = []
        for subject in self.subjects:
            for latency in self.latencies:
                decisions = decided[subject.label, latency]
                alone = None
                if len(wanted) > 1:
                    alone = race(latency, decisions, decided[subject.label, 0])
                comparison = compare(rows.time, reference.dropped, decisions.dropped)
                outcomes.append(Outcome(subject, latency, decisions, comparison, alone))
        return TraceOutcome(trace, rows, reference, tuple(outcomes))

    def _ask_all(
        self, rows: Rows, latencies: Sequence[int], refresh: Callable[[], None]
    ) -> dict[tuple[str, int], Decisions]:
        stop = Event()

        def go_on(packets: int) -> bool:
            self.progress.done += packets
            return not stop.is_set()

        futures: dict[tuple[str, int], Future[Decisions | None]] = {}
        with ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="replay") as workers:
            for subject in self.subjects:
                for latency in latencies:
                    futures[subject.label, latency] = workers.submit(
                        decide, subject.config, rows,
                        label=subject.label, latency=latency, go_on=go_on,
                        programs=(subject.program,) if subject.program else (),
                    )  # fmt: skip
            try:
                found = {}
                for key, future in futures.items():
                    while (decisions := _wait(future)) is None:
                        refresh()
                    found[key] = decisions
                return found
            finally:
                stop.set()
                workers.shutdown(cancel_futures=True)


def _wait(future: Future[Decisions | None]) -> Decisions | None:
    try:
        return future.result(timeout=0.1)
    except TimeoutError:
        return None


def subjects(
    names: Sequence[str],
    *,
    math_unit: str | None = None,
    parameters: Parameters = RFC_8289,
    macros: Mapping[str, str] = MappingProxyType({}),
    ghost_delays: Sequence[int] = (),
) -> list[Subject]:
    """The programs and hardware modules of `names`, with CoDel's `parameters` unless they are the
    RFC's own.

    `macros` are defined for all of them. A program with a ghost thread is a subject for each of
    `ghost_delays`.
    """
    defines = dict(macros)
    compiled_all = []
    if parameters != RFC_8289:
        defines |= {"TARGET": str(parameters.target), "INTERVAL": str(parameters.interval)}
    found: list[Subject] = []
    for name in dict.fromkeys(names):
        typed = str(Path(name).absolute()) if is_path(name) else name
        aqm = find_aqm(typed)
        if any(aqm.name == other.label for other in found):
            raise ScenarioError(f"--aqm: two programs are called {aqm.name}")
        if aqm.module is not None:
            given = {"target": parameters.target, "interval": parameters.interval}
            module = modules.added(aqm.module)
            made = AqmConfig({"kind": "native", "name": module.name, **given}, None, module.files)
            found.append(Subject(aqm.name, made.config, None, made.inputs))
            continue
        if aqm.program is None:
            raise ScenarioError(
                f"--aqm {name}: a native discipline decides only about a queue that its own drops "
                "change; a replay is for P4 programs and hardware modules\n"
                f"The reference, RFC 8289's law ({REFERENCE}), is always there."
            )
        choice = choose(typed).model_copy(update={"defines": defines, "math_unit": math_unit})
        made = aqm_config(choice, aqm, None)
        assert made.program is not None, "it is a program"
        subject = Subject(aqm.name, made.config, made.program, made.inputs)
        found += _at_delays(subject, ghost_delays)
        compiled_all.append(made.program)
    refuse_unread_macros(compiled_all, macros)
    return found


def _at_delays(subject: Subject, delays: Sequence[int]) -> list[Subject]:
    """A subject for each delay of depth reports, if its program has a ghost thread."""
    assert subject.program is not None, "it is a program"
    if not delays or not subject.program.has_ghost:
        return [subject]
    return [
        replace(
            subject,
            label=f"{subject.label}, ghost {TIME.format(delay)}",
            config=subject.config | {"ghost": subject.config["ghost"] | {"delay": delay}},
        )
        for delay in delays
    ]
