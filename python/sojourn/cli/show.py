"""A finished run folder, shown on the terminal."""

import json

from rich.text import Text

from sojourn.cli.shared import open_console
from sojourn.common.resources import shown
from sojourn.results.assumptions import assumptions
from sojourn.results.faults import faults
from sojourn.results.may_not_fit import programs_that_may_not_fit
from sojourn.results.no_traffic_diagnosis import blocked, ingress_drops
from sojourn.results.remarks import interruptions, random_links, warm_up
from sojourn.results.result import Result
from sojourn.results.table import result_tables
from sojourn.results.totals import LEFT_OUT
from sojourn.runner import finish, summaries
from sojourn.runtime.folder import RunFolder
from sojourn.runtime.run_files import REPORT


def finish_with_status(folder: RunFolder, *, report: bool = True) -> Result:
    """Derives what a run folder shows, with a spinner meanwhile."""
    console = open_console(stderr=True)
    if not console.is_terminal:
        return finish(folder, report=report)
    with console.status("figures, plots and report" if report else "figures"):
        return finish(folder, report=report)


def show(result: Result, *, as_json: bool) -> None:
    """Prints the table and where report and rows are, or all of it as JSON."""
    if as_json:
        warnings = {label: faults(aqm.findings.counters) for label, aqm in result.aqms.items()}
        for sentence in interruptions(result):
            label, _, text = sentence.rpartition(": ")
            warnings[label].append(text)
        for label, text in blocked(result).items():
            warnings[label].append(text)
        for label, texts in programs_that_may_not_fit(result).items():
            warnings[label] += texts
        document = {"folder": str(result.path)} | summaries(result)
        document |= {"warnings": warnings, "assumptions": assumptions(result)}
        print(json.dumps(document, indent=2))
        return
    console = open_console()
    scenario = result.scenario
    console.print(Text(f"\n{scenario.title or result.folder.name}", style="bold"))
    if scenario.look_at:
        console.print(Text(f"Look at {scenario.look_at}"))
    for table in result_tables(result, console.width):
        console.print(table)
    for note in [*_notes(result), *_warnings(result)]:
        console.print(Text(note))
    if (result.path / REPORT).is_file():
        console.print(Text(f"report  {shown(result.path / REPORT)}"), soft_wrap=True)
    if scenario.rows:
        console.print(Text(f"rows    {shown(result.path)}/*/packets.parquet"), soft_wrap=True)


def _notes(result: Result) -> list[str]:
    """A backend's notes on its runs: deviations, disturbances, missing parts."""
    notes = [f"note    {sentence}" for sentence in warm_up(result)]
    notes += [] if result.scenario.rows else [f"note    {LEFT_OUT}"]
    notes += [f"note    {label}: left no rows; the run ended before" for label in result.missing]
    notes += [f"note    {label}: {text}" for label, text in ingress_drops(result).items()]
    notes += [f"note    {sentence}" for sentence in random_links(result)]
    assumed = assumptions(result).items()
    notes += [f"note    {label}: {text}" for label, texts in assumed for text in texts]
    for label, about in result.folder.backend.get("runs", {}).items():
        notes += [f"note    {label}: {text}" for text in about["differences"]]
        if about["disturbed"]:
            notes.append(f"note    {label}: disturbed: {about['disturbed']}")
    return notes


def _warnings(result: Result) -> list[str]:
    """Faults in a run that did not end it."""
    sentences = [
        *interruptions(result),
        *(f"{label}: {text}" for label, text in blocked(result).items()),
        *(
            f"{label}: {text}"
            for label, texts in programs_that_may_not_fit(result).items()
            for text in texts
        ),
    ]
    return [f"warning {sentence}" for sentence in sentences] + [
        f"warning {label}: {text}"
        for label, aqm in result.aqms.items()
        for text in faults(aqm.findings.counters)
    ]
