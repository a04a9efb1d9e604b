"""A finished sweep's folder, opened again: tables, plots and page without its scenario.

Depends on the files of the folder. Runs nothing.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sojourn.common.resources import shown
from sojourn.common.textfile import read_json
from sojourn.errors import ScenarioError
from sojourn.runtime.run_files import RUN
from sojourn.studies.sweeps.job import Failure
from sojourn.studies.sweeps.plan import recorded_plan
from sojourn.studies.sweeps.scheduler import State
from sojourn.studies.sweeps.store import FAILURES, SWEEP
from sojourn.studies.sweeps.sweep import SweepResult
from sojourn.studies.sweeps.table import TABLE


def is_sweep(folder: Path) -> bool:
    """Whether `folder` has a sweep and not a run; a run with `--seeds` is a sweep."""
    return (folder / SWEEP).is_file() and not (folder / RUN).is_file()


def open_sweep(folder: Path) -> SweepResult:
    """The sweep in `folder`; `ScenarioError` if its tables are not there."""
    plan = recorded_plan(folder / SWEEP)
    try:
        table = pq.read_table(folder / TABLE)
        total = int(read_json(folder / SWEEP)["runs"])
        failures = read_json(folder / FAILURES) if (folder / FAILURES).is_file() else []
        listed = [(str(one["run"]), Failure(str(one["message"]))) for one in failures]
    except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
        raise ScenarioError(
            f"{shown(folder)}: a sweep without its tables: {error}\n"
            "Give the sweep's command again: runs that have ended are kept."
        ) from error
    ended = len(set(table.column("run").to_pylist()))
    return SweepResult(plan, State(total, ended, failures=listed), table, folder)
