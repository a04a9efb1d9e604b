"""A job, run: on this machine or another, in a scratch folder that is gone afterwards.

Depends on the runner. Needs nothing but the job: no folder is shared with whoever sent it.
"""

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sojourn.backends.backend import Backend
from sojourn.backends.sim import Simulator
from sojourn.common.atomic_write import write_text
from sojourn.common.resources import data_root
from sojourn.errors import OutputError, ScenarioError, SojournError
from sojourn.results.result import AqmResult, Result, read_result
from sojourn.runner import finish, plan_scenario, record
from sojourn.studies.sweeps.inputs import choices_in, paths_in
from sojourn.studies.sweeps.job import SHIPPED, Failure, Job, Outcome, engine_identity

_KEPT: Mapping[str, Callable[[Path], bool]] = {
    "rows": lambda path: path.suffix in (".parquet", ".pcapng", ".json", ".log"),
    "report": lambda path: path.suffix in (".html", ".png", ".json"),
}
"""The values of `keep`, each with its files of a run's folder."""


def work(job: Job) -> Outcome | Failure:
    """Runs `job` in the simulator of this machine."""
    if job.engine != engine_identity():
        return Failure(
            f"this machine has Sojourn {engine_identity()}, the sweep was planned with "
            f"{job.engine}; install the same wheel on all of them"
        )
    # The other cores are for other jobs.
    return work_on(Simulator(threads=1), job)


def work_on(backend: Backend, job: Job) -> Outcome | Failure:
    """Runs `job` on `backend`. Mistakes in what was asked for come back as a `Failure`, faults as
    well: one run of thousands does not end the others."""
    try:
        with tempfile.TemporaryDirectory(prefix="sojourn-run-") as scratch:
            return _worked(job, Path(scratch), backend)
    except OSError as error:
        return Failure(_no_scratch(error.strerror or str(error)))


class BackendWorkers:
    """One run after the other, in this process, on a backend in real time: two at once would
    disturb each other."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.name = f"--on {backend.name}, one after the other"

    def outcomes(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome | Failure]]:
        """Runs `jobs` in their order."""
        for job in jobs:
            yield job, work_on(self._backend, job)


def _worked(job: Job, scratch: Path, backend: Backend) -> Outcome | Failure:
    try:
        return _run(job, scratch, backend)
    except OutputError as error:
        # Its folder is ours and not the one that the user has chosen.
        return Failure(_no_scratch(str(error.args[0]).splitlines()[0].rpartition(": ")[2]))
    except SojournError as error:
        return Failure(str(error.args[0]).replace(f"{scratch}/files/", ""))
    except OSError:
        raise
    except Exception as error:
        return Failure(f"a fault in Sojourn: {type(error).__name__}: {error}")


def _no_scratch(why: str) -> str:
    place = tempfile.gettempdir()
    return f"{place}, where the machine that ran it works: {why}; TMPDIR names another place"


def _run(job: Job, scratch: Path, backend: Backend) -> Outcome:
    files = scratch / "files"
    plan = plan_scenario(_unpacked(job, files), beside=files, backend=backend)
    folder = record(plan, scratch / "run", backend=backend)
    result = finish(folder) if "report" in job.keep else read_result(folder)
    (aqm,) = result.aqms.values()
    kept = {str(path): (folder.path / path).read_bytes() for path in _kept(folder.path, job.keep)}
    return Outcome(figures_of(result, aqm), kept)


def _unpacked(job: Job, root: Path) -> dict[str, Any]:
    """The scenario of `job`, whose files are laid out below `root` as they were."""
    root.mkdir()
    for name, text in job.files.items():
        path = (root / name).resolve()
        if not path.is_relative_to(root.resolve()):
            raise ScenarioError(f"{name}: a file's path leads out of its folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    scenario: dict[str, Any] = json.loads(json.dumps(dict(job.scenario)))
    for table, key, front in paths_in(scenario):
        table[key] = front + _found(table[key].removeprefix(front))
    for choice in choices_in(scenario):
        if folders := choice.get("include_paths"):
            choice["include_paths"] = [_found(folder) for folder in folders]
    return scenario


def _found(name: str) -> str:
    """A portable path on this machine: a shipped file's, or one from the scenario's folder on."""
    if name.startswith(SHIPPED):
        return str(data_root() / name.removeprefix(SHIPPED))
    return name


def figures_of(result: Result, aqm: AqmResult) -> dict[str, Any]:
    """All that the sweep's tables have of a run, as plain data."""
    bottlenecks = [
        {"bottleneck": bottleneck.name, "aqm_there": bottleneck.own_aqm or aqm.label}
        | aqm.bottlenecks[bottleneck.name].summary.as_dict()
        for bottleneck in result.scenario.bottlenecks
    ]
    return {
        "bottlenecks": bottlenecks,
        "fairness": aqm.groups[0].fairness,
        "times": [asdict(one) | {"what": one.what.strip()} for one in aqm.times],
        "voices": [asdict(one) for one in aqm.voices],
        "groups": [
            {"bottleneck": queue} | row.as_dict()
            for queue, found in aqm.grouped.items()
            for row in found.rows
        ],
        "distributions": [
            {
                "bottleneck": queue,
                "group": row.group,
                "queued": count,
                "delay": curve.delay.tolist(),
                "share": curve.share.round(7).tolist(),
            }
            for queue, found in aqm.grouped.items()
            for row, curve, count in zip(found.rows, found.distributions, found.queued, strict=True)
            if count and aqm.has_rows
        ],
        "phases": [
            {"bottleneck": name, "phase": number} | asdict(phase)
            for name, phases in aqm.phases.items()
            for number, phase in enumerate(phases)
        ],
    }


def _kept(folder: Path, keep: tuple[str, ...]) -> list[Path]:
    with contextlib.suppress(KeyError):
        wanted = [_KEPT[kind] for kind in keep]
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return [p.relative_to(folder) for p in files if any(want(p) for want in wanted)]
    raise ScenarioError(f"keep: {', '.join(keep)}: allowed are {', '.join(_KEPT)}")
