"""A study's folder: decisions as Parquet, figures as JSON and Markdown, pictures.

Depends on outcomes as they come, so that what has been replayed is on the disk whatever happens
afterwards. Uses no terminal.
"""

import json
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sojourn.common.atomic_write import replacing, write_text
from sojourn.common.filenames import is_plain, names_for
from sojourn.common.resources import shown
from sojourn.common.textfile import read_json
from sojourn.errors import OutputError, output_error
from sojourn.model.units import TIME
from sojourn.runtime.manifest import remove_files
from sojourn.tools.replay import table
from sojourn.tools.replay.study import REFERENCE, Study, TraceOutcome
from sojourn.tools.replay.trace import SyntheticTrace, Trace

DESCRIPTION, DECISIONS, TABLES = "replay.json", "decisions", "tables.md"
EQUIVALENCE_PLOT, RACE_PLOT = "equivalence.png", "race.png"


def _is_ours(file: object) -> bool:
    """True if `file`, from an untrusted list, is one that a study writes."""
    if file in (DESCRIPTION, TABLES, EQUIVALENCE_PLOT, RACE_PLOT):
        return True
    folder, _, name = file.partition("/") if isinstance(file, str) else ("", "", "")
    return folder == DECISIONS and is_plain(name) and name.endswith(".parquet")


@dataclass
class StudyFolder:
    """A folder that fills while a study goes on."""

    path: Path
    study: Study
    done: list[dict[str, Any]] = field(default_factory=list)
    compared: list[tuple[str, list[table.Row]]] = field(default_factory=list)
    raced: list[tuple[str, list[table.Row]]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """Faults: operations that the programs' targets lack."""
    _pooled: dict[str, dict[str, Any]] = field(default_factory=dict)
    _races: dict[str, dict[str, Any]] = field(default_factory=dict)

    def create(self) -> None:
        """Makes the folder, in place of an earlier study's; refuses any other."""
        try:
            if self.path.exists():
                self._clear()
            self.path.mkdir(parents=True, exist_ok=True)
            self._describe()
            (self.path / DECISIONS).mkdir(exist_ok=True)
        except OSError as error:
            raise output_error(error, shown(self.path)) from error

    def _clear(self) -> None:
        if not self.path.is_dir():
            raise OutputError(f"{shown(self.path)}: there is a file of that name")
        decisions = self.path / DECISIONS
        if decisions.is_symlink() or (decisions.exists() and not decisions.is_dir()):
            raise OutputError(
                f"{shown(decisions)}: not a folder of its own; nothing was touched\n"
                "Give another folder with --out."
            )
        if not any(self.path.iterdir()):
            return
        if not (self.path / DESCRIPTION).is_file():
            raise OutputError(
                f"{shown(self.path)}: not empty and not a replay's folder; nothing was touched\n"
                "Give another folder with --out."
            )
        remove_files(self.path, self._earlier_files(), _is_ours)

    def _earlier_files(self) -> list[str]:
        """The files of an earlier study in the folder; `OutputError` if the list is unreadable."""
        try:
            described = read_json(self.path / DESCRIPTION)
            files = described["files"]
            if isinstance(files, list) and all(map(_is_ours, files)):
                return files
        except (ValueError, RecursionError, KeyError, TypeError):
            pass
        raise OutputError(
            f"{shown(self.path)}: its {DESCRIPTION} has no list of the files that a replay wrote; "
            "nothing was touched\nGive another folder with --out, or remove this one."
        )

    @property
    def _decision_files(self) -> dict[Trace, str]:
        """Each trace's file of decisions, no two the same."""
        traces = self.study.traces
        names = names_for([trace.name for trace in traces])
        return {
            trace: f"{DECISIONS}/{name}.parquet" for trace, name in zip(traces, names, strict=True)
        }

    @property
    def _files(self) -> list[str]:
        """All that this study may write."""
        pictures = [EQUIVALENCE_PLOT, RACE_PLOT]
        return [DESCRIPTION, TABLES, *pictures, *self._decision_files.values()]

    def add(self, found: TraceOutcome) -> None:
        """Writes one trace's decisions, and all figures so far."""
        several = len(self.study.latencies) > 1
        rows = [table.comparison_row(each, several=several) for each in found.outcomes]
        self.compared.append((table.headline(found), rows))
        if several:
            races = [table.race_row(each) for each in found.outcomes]
            self.raced.append((table.headline(found), races))
        self.warnings += [
            f"{each.subject.label} on {found.trace.name}: {fault}"
            for each in found.outcomes
            for fault in each.decisions.faults
        ]
        self.done.append(_as_dict(found) | {"decisions": self._decision_files[found.trace]})
        self._pool(found)
        try:
            self._write_decisions(found)
            self._describe()
            write_text(self.path / TABLES, self.markdown())
        except OSError as error:
            raise output_error(error, shown(self.path)) from error

    def _pool(self, found: TraceOutcome) -> None:
        group = found.trace.group
        for each in found.outcomes:
            label = each.subject.label
            if each.latency == self.study.latencies[0]:
                by_aqm = self._pooled.setdefault(group, {})
                by_aqm.setdefault(label, []).append(each.comparison)
        if len(self.study.latencies) > 1:
            for subject in self.study.subjects:
                races = [each.race for each in found.outcomes if each.subject == subject]
                self._races.setdefault(group, {}).setdefault(subject.label, []).append(races)

    def _by_rate(self, groups: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """The groups from the slowest line to the fastest; recorded traces have none."""
        made = [trace for trace in self.study.traces if isinstance(trace, SyntheticTrace)]
        slowest_first = [trace.group for trace in sorted(made, key=lambda trace: trace.rate)]
        names = dict.fromkeys([*slowest_first, *groups])
        return {name: groups[name] for name in names if name in groups}

    def finish(self) -> None:
        """Draws the pictures."""
        # Imported here because the plotting library takes longer to load than all the rest.
        from sojourn.tools.replay.plots import write_equivalence, write_race

        try:
            write_equivalence(self._by_rate(self._pooled), self.path / EQUIVALENCE_PLOT)
            if self._races:
                write_race(self._by_rate(self._races), self.path / RACE_PLOT)
        except OSError as error:
            raise output_error(error, shown(self.path)) from error

    def markdown(self) -> str:
        """All tables, for a page."""
        parts = [table.markdown(table.COMPARED, self.compared)]
        if self.raced:
            parts.append(table.markdown(table.RACED, self.raced))
        return "\n".join(parts)

    def as_dict(self) -> dict[str, Any]:
        """Settings and results, for JSON."""
        study = self.study
        return {
            "reference": study.reference,
            "recirculation_latency": list(study.latencies),
            "aqms": {subject.label: subject.sources for subject in study.subjects},
            "provenance": {"sojourn": version("sojourn"), "python": platform.python_version()},
            "files": self._files,
            "traces": self.done,
        }

    def _describe(self) -> None:
        text = json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"
        write_text(self.path / DESCRIPTION, text)

    def _write_decisions(self, found: TraceOutcome) -> None:
        """One row for each packet: the input of all AQMs, and the decision of each."""
        rows = found.rows
        columns: dict[str, Any] = {
            "time": rows.time,
            "sojourn": rows.sojourn,
            "backlog": rows.backlog,
            "size": rows.size,
            REFERENCE: found.reference.dropped,
        }
        several = len(self.study.latencies) > 1
        for each in found.outcomes:
            name = each.subject.label
            if several:
                name += f", {TIME.format(each.latency)}"
            columns[name] = each.decisions.dropped
            columns[f"{name}, unsynchronised"] = each.decisions.unsynchronised
        with replacing(self.path / self._decision_files[found.trace]) as fresh:
            pq.write_table(pa.table(columns), fresh, compression="zstd")


def _as_dict(found: TraceOutcome) -> dict[str, Any]:
    outcomes = []
    for each in found.outcomes:
        outcome = {
            "aqm": each.subject.label,
            "recirculation_latency": each.latency,
            "copies": each.decisions.copies,
            "unsynchronised_packets": int(each.decisions.unsynchronised.sum()),
            "warnings": list(each.decisions.faults),
        } | each.comparison.as_dict()
        if each.race is not None:
            outcome["race"] = each.race.as_dict()
        outcomes.append(outcome)
    return {
        "trace": found.trace.name,
        "group": found.trace.group,
        "packets": len(found.rows),
        "first": int(found.rows.time[0]),
        "last": int(found.rows.time[-1]),
        "outcomes": outcomes,
    }
