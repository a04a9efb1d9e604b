"""The sweep's page: plots, means with their intervals, failures, the scenario, the sweep file.

Depends on the stored outcomes of a sweep. Runs nothing.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from sojourn.common.atomic_write import write_text
from sojourn.results.pages import render
from sojourn.studies.sweeps.plan import SweepPlan
from sojourn.studies.sweeps.scheduler import State
from sojourn.studies.sweeps.summary import Rows
from sojourn.studies.sweeps.table import TABLE

PAGE = "index.html"


def write_page(
    plan: SweepPlan,
    state: State,
    rows: Sequence[Rows],
    plots: Sequence[tuple[str, str]],
    folder: Path,
) -> None:
    """Writes the page into the sweep's folder, next to the plots that it shows."""
    page = render(
        "studies/sweeps/page.html",
        title=plan.title,
        state=_outcome(state),
        failures=[{"run": run, "message": failure.message} for run, failure in state.failures],
        plots=plots,
        summaries=rows,
        table=TABLE,
        engine=f"Sojourn {plan.engine}",
        scenario=plan.scenario,
        asked=json.dumps(plan.sweep.model_dump(mode="json", exclude_defaults=True), indent=2),
    )
    write_text(folder / PAGE, page)


def ended(state: State) -> str:
    """The end of this start of the sweep, in a sentence."""
    found = f"{state.found} of them from an earlier start" if state.found else ""
    return _sentence(state, found)


def _outcome(state: State) -> str:
    """The content of the sweep's folder, which does not depend on the number of starts."""
    return _sentence(state, "")


def _sentence(state: State, found: str) -> str:
    failed = f"{len(state.failures)} failed" if state.failures else ""
    ended = f"{state.found + state.done} of {state.total} runs"
    return ", ".join(filter(None, (ended, found, failed)))
