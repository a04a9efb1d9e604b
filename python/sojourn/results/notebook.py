"""The return value of `sojourn.run`: a result that displays itself in a notebook and returns its
rows.

Modules for tables and plots are imported when they are needed. Must not depend on a terminal.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Self

import pyarrow as pa

from sojourn.common.resources import shown
from sojourn.errors import ScenarioError
from sojourn.results.no_pandas import missing_pandas, with_hint
from sojourn.results.result import Result, read_result
from sojourn.results.statistics import Summary
from sojourn.results.style import milliseconds
from sojourn.runtime.arrow_tables import FLOW_SCHEMA, PACKET_SCHEMA, iter_rows
from sojourn.runtime.folder import RunFolder
from sojourn.runtime.queue_totals import no_rows
from sojourn.runtime.run_files import FLOWS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class RunResult(Result):
    """A scenario's runs, one per AQM, as notebooks and scripts use them.

    `aqms` has each AQM's own figures and rows; here is what is of all of them.
    """

    temporary: TemporaryDirectory[str] | None = None
    """The folder, if it is to go with the result."""

    @classmethod
    def of(cls, result: Result, temporary: TemporaryDirectory[str] | None = None) -> Self:
        """The same result with the methods of a notebook."""
        own = {field.name: getattr(result, field.name) for field in fields(Result)}
        return cls(**own, temporary=temporary)

    @property
    def summary(self) -> pa.Table:
        """The result table: one row for each AQM, all figures of `Summary`; ns, bit/s, shares of 1.

        >>> result = sojourn.run("bufferbloat", aqms="codel", set={"duration": "1 s"}, report=False)
        >>> result.summary.column("aqm").to_pylist()
        ['codel']
        """
        rows = [
            {"aqm": label, "complete": aqm.complete} | aqm.summary.as_dict()
            for label, aqm in self.aqms.items()
        ]
        names = ["aqm", "complete", *(field.name for field in fields(Summary))]
        return pa.Table.from_pydict({name: [row[name] for row in rows] for name in names})

    @property
    def groups(self) -> pa.Table:
        """The groups of flows: a row per AQM, measured queue and group, after one for all flows of
        the queue; ns, bit/s, shares of 1.

        >>> result = sojourn.run("voip", aqms="codel", set={"duration": "3 s"}, report=False)
        >>> result.groups.column("group").to_pylist()
        ['all flows', 'tcp cubic', 'voip']
        """
        from sojourn.results.group_table import group_table

        return group_table(self)

    @property
    def slowdowns(self) -> pa.Table:
        """Slowdown by size of transfers whose sizes are those of a table: a row per AQM, group and
        bin; sizes in bytes."""
        from sojourn.results.slowdown_bins import slowdown_table

        return slowdown_table(self)

    def packets(self, *aqms: str, bottleneck: str | None = None) -> pa.RecordBatchReader:
        """The rows of all AQMs, or of those named, as they are read: a piece at a time.

        The first column is `aqm`, the others are those of `PACKET_SCHEMA` in
        `sojourn.runtime.arrow_tables`. `.read_all()` makes a table, and with pandas
        `.read_pandas()` a data frame. In a network they are the rows of the first measured queue,
        or of the one that is named. `ScenarioError` without rows or pandas, and for an unknown
        name.

        >>> result = sojourn.run("bufferbloat", aqms="codel", set={"duration": "1 s"}, report=False)
        >>> reader = result.packets("codel")
        >>> reader.schema.names[:3]
        ['aqm', 'packet', 'flow']
        >>> reader.read_all().num_rows == result.aqms["codel"].summary.packets
        True
        """
        queues = {queue.name: queue.rows for queue in self.scenario.bottlenecks}
        rows = _one_of(queues, bottleneck or next(iter(queues)), "measured queue")
        return self._reader(PACKET_SCHEMA, rows, aqms)

    def flows(self, *aqms: str) -> pa.RecordBatchReader:
        """Samples of every flow, one each 10 ms, in the same way; see
        `sojourn.runtime.arrow_tables.FLOW_SCHEMA`.

        >>> result = sojourn.run("bufferbloat", aqms="codel", set={"duration": "1 s"}, report=False)
        >>> "cwnd" in result.flows().schema.names
        True
        """
        return self._reader(FLOW_SCHEMA, FLOWS, aqms)

    def _reader(self, schema: pa.Schema, file: str, names: tuple[str, ...]) -> pa.RecordBatchReader:
        if not self.scenario.rows:
            raise no_rows(self.path, "this table")
        chosen = {name: _one_of(self.aqms, name, "AQM").folder for name in names or self.aqms}
        named = pa.dictionary(pa.int32(), pa.string())
        whole = pa.schema([pa.field("aqm", named, False), *schema])
        labels = pa.array(list(chosen), pa.string())

        def batches() -> Iterator[pa.RecordBatch]:
            for place, folder in enumerate(chosen.values()):
                for batch in iter_rows(folder / file):
                    places = pa.array([place] * len(batch), pa.int32())
                    column = pa.DictionaryArray.from_arrays(places, labels)
                    arrays = [column, *batch.columns]
                    yield pa.RecordBatch.from_arrays(arrays, schema=whole)

        return with_hint(pa.RecordBatchReader.from_batches(whole, batches()))

    def to_pandas(self) -> "pd.DataFrame":
        """`summary` as a data frame, by AQM. `ScenarioError` if pandas is not installed."""
        try:
            import pandas  # noqa: F401
        except ImportError as error:
            raise missing_pandas() from error
        return self.summary.to_pandas().set_index("aqm")

    def plot(
        self,
        kind: Literal["delay", "distribution"] = "delay",
        bottleneck: str | None = None,
    ) -> "Figure":
        """A matplotlib figure: the queue delay over time, or its distribution.

        Of the first measured queue, or the one that is named. `ScenarioError` for another kind.

        >>> result = sojourn.run("bufferbloat", aqms="codel", set={"duration": "1 s"}, report=False)
        >>> result.plot("distribution").savefig("distribution.svg")
        """
        from sojourn.results.plots import delay_over_time, distribution
        from sojourn.results.queues import queues

        if not self.scenario.rows:
            raise no_rows(self.path, "a plot")
        draw = _one_of({"delay": delay_over_time, "distribution": distribution}, kind, "plot")
        measured = {queue.bottleneck.name: queue for queue in queues(self)}
        queue = _one_of(measured, bottleneck or next(iter(measured)), "measured queue")
        figure: Figure = draw(self, queue)
        return figure

    def __repr__(self) -> str:
        """A line, and one an AQM."""
        whole = f"{self.folder.name}, seed {self.scenario.seed}, in {shown(self.path)}"
        return "\n".join([f"Result of {whole}", *(f"  {line}" for line in self._lines())])

    def _lines(self) -> Iterator[str]:
        width = max((len(label) for label in self.aqms), default=0)
        for label, aqm in self.aqms.items():
            figures = aqm.summary
            drops = figures.aqm_drops + figures.tail_drops + figures.ingress_drops
            partial = "" if aqm.complete else ", partial"
            yield (
                f"{label.ljust(width)}  mean {milliseconds(figures.mean)} ms, "
                f"p99 {milliseconds(figures.p99)} ms, goodput {figures.goodput / 1e6:.1f} Mbit/s, "
                f"{drops} drops{partial}"
            )
        yield from (f"{label.ljust(width)}  left no rows" for label in self.missing)

    def _repr_html_(self) -> str:
        """The table and the delay over time, for a notebook."""
        from sojourn.results.report.tables import result_table

        title = escape(self.scenario.title or self.folder.name)
        picture = self._picture() if self.scenario.rows else ""
        return f"<p><b>{title}</b></p>{result_table(self).__html__()}{picture}"

    def _picture(self) -> str:
        from base64 import b64encode

        from sojourn.results.plots import as_png

        encoded = b64encode(as_png(self.plot(), dpi=90)).decode()
        return (
            f'<img alt="queue delay over time" style="max-width:100%" '
            f'src="data:image/png;base64,{encoded}">'
        )


def open_run(folder: str | Path) -> RunResult:
    """The result of an earlier run, out of its folder. Raises `ScenarioError` if it is not one.

    >>> run = sojourn.run("bufferbloat", aqms="codel", set={"duration": "1 s"}, out="earlier")
    >>> sojourn.open_run("earlier").summary.equals(run.summary)
    True
    """
    return RunResult.of(read_result(RunFolder.open(Path(folder))))


def _one_of(known: Any, name: str, what: str) -> Any:
    if name not in known:
        raise ScenarioError(f"{name}: no such {what}; there are {', '.join(known)}")
    return known[name]
