"""Programs that ran although their chip may refuse them, in words for table, report and JSON.

Depends on what `run.json` says of an AQM: the engine's estimate of the program's stages, made when
the run began. Uses no terminal.
"""

from sojourn.results.result import Result


def programs_that_may_not_fit(result: Result) -> dict[str, list[str]]:
    """For each run whose program its chip may refuse: why."""
    found = {}
    for label, aqm in result.aqms.items():
        said = aqm.run.aqm.get("doubts")
        if isinstance(said, list) and said:
            found[label] = [f"it ran, but on its chip {doubt}" for doubt in map(str, said)]
    return found
