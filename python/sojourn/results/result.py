"""The result of a run: for each AQM its figures and its rows as Arrow tables.

Rows are read on first access. Depends on a run's folder. Must not depend on terminals.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa

from sojourn.common.resources import shown
from sojourn.common.textfile import read_json
from sojourn.errors import ScenarioError
from sojourn.model.scenario import Scenario
from sojourn.model.scenario.bottleneck import Bottleneck
from sojourn.results.faults import faults
from sojourn.results.groups import Grouped, GroupFigures, GroupTally, OwnFigures, grouped
from sojourn.results.link_phases import Phase, read_phases
from sojourn.results.pauses import Pauses, read_pauses
from sojourn.results.slowdown_bins import SlowdownBin, read_slowdowns
from sojourn.results.statistics import Findings, Summary, read_findings
from sojourn.results.totals import read_totals
from sojourn.results.traffic.transfers import Times, read_times
from sojourn.results.traffic.voice import Voice, read_voices
from sojourn.runtime.arrow_tables import rows_table
from sojourn.runtime.folder import RecordedRun, RunFolder
from sojourn.runtime.queue_totals import no_rows
from sojourn.runtime.run_files import COUNTERS, FLOWS, PACKETS, journal_of

_UNREADABLE = (
    OSError,
    pa.ArrowException,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors of unreadable files."""


@dataclass(frozen=True)
class AqmResult:
    """One AQM's run."""

    run: RecordedRun
    folder: Path
    findings: Findings
    """Of the first measured queue."""
    bottlenecks: Mapping[str, Findings] = field(default_factory=dict)
    """Of every measured queue, by its name."""
    times: tuple[Times, ...] = ()
    """Completion and response times, if transfers or requests are among the flows."""
    voices: tuple[Voice, ...] = ()
    """Figures of voices, if there are any."""
    phases: Mapping[str, tuple[Phase, ...]] = field(default_factory=dict)
    """Between the changes of a link's rate, by the name of the measured queue."""
    grouped: Mapping[str, Grouped] = field(default_factory=dict)
    """The groups of flows at every measured queue, by its name."""
    slowdowns: tuple[SlowdownBin, ...] = ()
    """Slowdown by size, of groups of transfers whose sizes are those of a table."""
    pauses: Pauses | None = None
    """Those of priority flow control, if the scenario counts them."""
    complete: bool = True
    """Whether it ran to the scenario's end."""
    has_rows: bool = True
    """Whether there are rows: not with `rows = false`."""
    ran: int = 0
    """Simulated time, ns; its figures may cover a part of it, see `Result.compared`."""

    @property
    def label(self) -> str:
        """The label in tables and plots."""
        return self.run.label

    @property
    def summary(self) -> Summary:
        """Its row in the result table."""
        return self.findings.summary

    @property
    def groups(self) -> tuple[GroupFigures, ...]:
        """All flows and each group of flows, at the first measured queue."""
        return next(iter(self.grouped.values())).rows if self.grouped else ()

    def _need_rows(self) -> None:
        if not self.has_rows:
            raise no_rows(self.folder, "this table")

    @cached_property
    def packets(self) -> pa.Table:
        """One row for each packet at the bottleneck, in a network at the first one.

        The schema is `sojourn.runtime.arrow_tables.PACKET_SCHEMA`. The rows of other bottlenecks
        are in other files of the folder. `ScenarioError` for a run without rows."""
        self._need_rows()
        return rows_table(self.folder / PACKETS)

    @cached_property
    def flows(self) -> pa.Table:
        """Samples of every flow, one each 10 ms; see `sojourn.runtime.arrow_tables.FLOW_SCHEMA`."""
        self._need_rows()
        return rows_table(self.folder / FLOWS)


@dataclass(frozen=True)
class Result:
    """A scenario's runs, one per AQM, in the scenario's order."""

    folder: RunFolder
    aqms: Mapping[str, AqmResult]
    missing: tuple[str, ...] = ()
    """Those that were stopped, or failed, before they left any rows."""

    @property
    def interrupted(self) -> Mapping[str, int]:
        """The runs that did not come to the scenario's end: for how long each ran, ns."""
        return {n: aqm.ran for n, aqm in self.aqms.items() if not aqm.complete}

    @property
    def compared(self) -> int | None:
        """The time that the figures of all AQMs are of, ns, if a run did not come to the
        scenario's end: what all of them have. `None` if they are of whole runs."""
        return min(self.interrupted.values(), default=None) if self.scenario.rows else None

    @property
    def scenario(self) -> Scenario:
        """The scenario as it was run."""
        return self.folder.scenario

    @property
    def path(self) -> Path:
        """The folder on disk."""
        return self.folder.path


class _Shaper(NamedTuple):
    """A measured port's shaper as the run recorded it; zeros without one."""

    rate: int
    """bit/s"""
    burst: int
    """B"""


def _shapers(path: Path) -> list[_Shaper]:
    counters = read_json(path / COUNTERS)
    return [
        _Shaper(int(queue["shaper_rate"]), int(queue["shaper_burst"]))
        for queue in counters["bottlenecks"]
    ]


def read_result(folder: RunFolder) -> Result:
    """Reads what the runs in `folder` left; a run that never came to leave anything is missing."""
    scenario = folder.scenario
    begun = [run for run in folder.runs if _has_begun(folder.path / run.folder)]
    ran = {run.label: _ran(folder.path / run.folder) for run in begun}
    # A run that has come nowhere has nothing to compare the others with.
    begun = [run for run in begun if ran[run.label] > 0] or begun
    common = min((ran[run.label] for run in begun), default=0)
    # Totals are of whole runs, however long each of them is.
    until = common if scenario.rows and 0 < common < scenario.duration else None
    aqms = {run.label: _read_run(folder, run, until) for run in begun or folder.runs}
    missing = tuple(run.label for run in folder.runs if run not in begun)
    return Result(folder, MappingProxyType(aqms), missing)


def _read_run(folder: RunFolder, run: RecordedRun, until: int | None) -> AqmResult:
    """One AQM's figures; with `until`, as if the run had ended then, ns."""
    scenario = folder.scenario
    path = folder.path / run.folder
    since = counted_from(scenario, until)
    try:
        shapers = _shapers(path)
        measured = {
            bottleneck.name: _read_bottleneck(path, scenario, bottleneck, shaper, since, until)
            for bottleneck, shaper in zip(scenario.bottlenecks, shapers, strict=True)
        }
        findings = {name: one.findings for name, one in measured.items()}
        first = next(iter(findings.values()))
        _check_counters(first.counters, scenario)
        times = read_times(path, scenario.flows, until, since)
        slow = read_slowdowns(path, scenario, until, since)
        voices = read_voices(path, first.counters, scenario.flows, until, since)
        own = OwnFigures(path, scenario, first.counters, voices, since=since, until=until)
        groups = {
            bottleneck.name: grouped(
                path,
                scenario,
                bottleneck,
                findings[bottleneck.name],
                measured[bottleneck.name].tally,
                own,
                until,
            )
            for bottleneck in scenario.bottlenecks
        }
        phases = {
            bottleneck.name: tuple(
                read_phases(path, bottleneck, first.summary.simulated, since, shaper.burst)
            )
            if scenario.rows
            else ()
            for bottleneck, shaper in zip(scenario.bottlenecks, shapers, strict=True)
            if bottleneck.steps
        }
    except _UNREADABLE as error:
        raise ScenarioError(
            f"{shown(path)}: the rows of this run cannot be read: {_said(error)}"
        ) from error
    return AqmResult(
        run,
        path,
        first,
        MappingProxyType(findings),
        tuple(times),
        tuple(voices),
        MappingProxyType(phases),
        MappingProxyType(groups),
        slowdowns=slow,
        pauses=read_pauses(scenario, first.counters),
        complete=first.counters["simulated"] >= scenario.duration,
        has_rows=scenario.rows,
        ran=first.counters["simulated"],
    )


class _Measured(NamedTuple):
    """What the rows of a measured queue give."""

    findings: Findings
    tally: GroupTally


def _read_bottleneck(
    path: Path,
    scenario: Scenario,
    bottleneck: Bottleneck,
    shaper: _Shaper,
    since: int,
    until: int | None,
) -> _Measured:
    """Reads the rows of a measured queue once, for its figures and for those of its groups."""
    tally = GroupTally(path, scenario)
    findings = read_findings(
        path,
        target=scenario.target,
        rate=bottleneck.as_built(shaper.rate).mean_rate,
        duration=scenario.duration,
        packet_rate=bottleneck.packet_rate,
        burst=shaper.burst,
        rows=bottleneck.rows,
        since=since,
        until=until,
        also=tally,
        totals=None if scenario.rows else read_totals(path / bottleneck.totals),
    )
    return _Measured(findings, tally)


def counted_from(scenario: Scenario, until: int | None) -> int:
    """The end of the warm-up, ns; 0 if the part of the run that is compared does not reach it."""
    return scenario.warm_up if until is None or until > scenario.warm_up else 0


def _check_counters(counters: Mapping[str, Any], scenario: Scenario) -> None:
    """`ValueError` or `LookupError` if counters are of other queues or faults than a run of the
    scenario has."""
    faults(counters)
    found, expected = len(counters["bottlenecks"]), len(scenario.bottlenecks)
    if found != expected:
        raise ValueError(f"{COUNTERS}: {found} bottlenecks, and the scenario has {expected}")


def _ran(path: Path) -> int:
    """The simulated time of a run, ns; 0 if the file is unreadable, which is reported later."""
    try:
        simulated = read_json(path / COUNTERS)["simulated"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return 0
    return simulated if isinstance(simulated, int) else 0


def _has_begun(path: Path) -> bool:
    return any((path / name).exists() for name in (COUNTERS, PACKETS, journal_of(PACKETS)))


def _said(error: Exception) -> str:
    """The fault of files from a run or from another source."""
    if isinstance(error, OSError):
        return f"{error.strerror or error}: {Path(str(error.filename)).name}"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return f"{error}"[:300]
