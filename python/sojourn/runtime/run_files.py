"""Names of all files in a run's folder, known before the first is written.

`files_of` is the list by which an earlier run is removed: a file that is not in it stays. Depends
on names alone.
"""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sojourn.common.filenames import is_plain

if TYPE_CHECKING:
    from sojourn.model.scenario.bottleneck import Bottleneck

RUN, REPORT, SUMMARY = "run.json", "report.html", "summary.json"
"""Beside the AQMs' folders; each of these has a summary of its own, too."""

PACKETS, FLOWS, COUNTERS, LOG = (
    "packets.parquet",
    "flows.parquet",
    "counters.json",
    "program.log",
)
"""Files of an AQM's folder after its run; the log only if the program wrote one."""

TOTALS = "totals.parquet"
"""In place of the rows of a queue in a run with `rows = false`."""

CONTROLLER_LOG = "controller.log"
"""Output of a controller process, if the scenario has one."""

EXCHANGES, DATAGRAMS = "exchanges.parquet", "datagrams.parquet"
"""Further files if transfers or requests, or voices, are among the flows."""

REGISTERS = "registers.parquet"
"""Values of a program's registers over time, if the scenario has any traced."""

JOURNAL = ".arrows"
"""Ending of a file of rows while it is being written, in place of `.parquet`."""

CAPTURE = "bottleneck.pcapng"
"""Frames at the first queue; those of others have their queue in the name, as rows have."""

BALLAST = ".ballast"
"""In an AQM's folder while it runs."""

GUEST = "guest"
"""Folder in an AQM's folder: what a Linux guest was given and left."""

GUEST_JOB = "job.json"
"""In the guest's folder: what it was given."""

UNFINISHED = ".unfinished"
"""Folder in a run's folder: the run that is to take its place."""

DELAY_PLOT, DISTRIBUTION_PLOT = "queue_delay", "distribution"
"""Beginnings of the pictures' names."""

SLOWDOWN_PLOT = "slowdown"
"""The picture of slowdown by size, without its ending."""

TOPOLOGY_PLOT = "topology"
"""The picture of a network with the load of its links, without its ending."""

_ONCE = (RUN, REPORT, SUMMARY, f"{SLOWDOWN_PLOT}.png", f"{TOPOLOGY_PLOT}.png")
"""Names in the run's folder that do not depend on its queues."""


def plot_names(bottlenecks: "Iterable[Bottleneck]") -> list[str]:
    """The pictures of all queues."""
    return [
        f"{plot}{bottleneck.ending}.png"
        for bottleneck in bottlenecks
        for plot in (DELAY_PLOT, DISTRIBUTION_PLOT)
    ]


def top_names(bottlenecks: "Iterable[Bottleneck]") -> list[str]:
    """Names in the run's folder outside the AQMs' folders."""
    return [*_ONCE, *plot_names(bottlenecks)]


def files_of(folders: Iterable[str], bottlenecks: "Iterable[Bottleneck]") -> list[str]:
    """All that a run may write, relative to its folder; what ends in `/` is a folder as a whole."""
    bottlenecks = list(bottlenecks)
    rows = [FLOWS, EXCHANGES, DATAGRAMS, REGISTERS, *(queue.rows for queue in bottlenecks)]
    journals = [journal_of(name) for name in rows]
    queues = [name for queue in bottlenecks for name in (queue.capture, queue.totals)]
    own = [*rows, *journals, *queues, COUNTERS, LOG, CONTROLLER_LOG, SUMMARY, BALLAST]
    own.append(f"{GUEST}/")
    return [*top_names(bottlenecks), *(f"{folder}/{name}" for folder in folders for name in own)]


def journal_of(rows: str) -> str:
    """The journal of the file of rows that is called `rows`."""
    return rows.removesuffix(".parquet") + JOURNAL


def _stands_beside(name: str) -> bool:
    """True if a run may write it outside the AQMs' folders: the names of `top_names` for any
    queues."""
    pictures = (f"{plot}.png" for plot in (DELAY_PLOT, DISTRIBUTION_PLOT))
    return name in _ONCE or any(_is_of_a_queue(name, one) for one in pictures)


def _stands_below(name: str) -> bool:
    """True if a run may write it into an AQM's folder: what `files_of` gives for any queues."""
    rows = (FLOWS, EXCHANGES, DATAGRAMS, REGISTERS)
    logs = (LOG, CONTROLLER_LOG)
    once = (*rows, *map(journal_of, rows), COUNTERS, *logs, SUMMARY, BALLAST, f"{GUEST}/")
    each = (PACKETS, journal_of(PACKETS), CAPTURE, TOTALS)
    return name in once or any(_is_of_a_queue(name, one) for one in each)


def _is_of_a_queue(name: str, first: str) -> bool:
    """True if `name` is that of a queue's file, of which the first one's is called `first`."""
    stem, _, ending = first.rpartition(".")
    return name.startswith(stem) and name.endswith(f".{ending}")


def is_ours(file: object) -> bool:
    """True if `file`, from an untrusted list, is one that a run may write: it leads to no other
    folder, and has a name that `files_of` gives."""
    if not isinstance(file, str):
        return False
    *folders, name = PurePosixPath(file).parts or ("",)
    ending = "/" if file.endswith("/") else ""
    return (
        len(folders) <= 1
        and "/".join([*folders, name]) + ending == file
        and all(is_plain(part) for part in (*folders, name))
        and (_stands_below(name + ending) if folders else _stands_beside(name + ending))
    )
