"""The summary over papers as Markdown, whose tables are data files beside it.

Depends on reports. Draws, measures and judges nothing.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sojourn.studies.papers.assess import GOOD
from sojourn.studies.papers.model import Paper
from sojourn.studies.papers.page import QUICK, Report, tally
from sojourn.studies.papers.verdict import Found


@dataclass
class Document:
    """The summary over papers as Markdown, whose tables of figures are CSV files beside it."""

    folder: str
    """The folder of pictures and tables, as the text names it."""
    tables: dict[str, str] = field(default_factory=dict)
    """Text of each CSV file, by its name."""

    def markdown(self, reports: Sequence[Report]) -> str:
        """The text; fills `tables`."""
        lines = list(_PUBLISHED_HEAD if _is_published(reports) else _PAPERS_HEAD)
        for report in reports:
            lines += self._report(report)
        return "\n".join(lines).rstrip() + "\n"

    def _report(self, report: Report) -> Iterator[str]:
        paper = report.paper
        yield from (f"## {paper.title}", "")
        yield from (f"{paper.where} `sojourn paper {paper.name}`. {tally(report)}", "")
        if report.quick:
            yield from (QUICK.replace("--quick", "`--quick`"), "")
        yield from self._verdicts(report)
        if _is_published([report]):
            yield from self._parts(report)
        yield from self._explained(report)
        remarks = [(one.claim.id, one.claim.remark) for one in report.claims if one.claim.remark]
        if remarks:
            yield from self._table(paper, ("claim", "remark"), remarks, "remarks")
        for searched in report.searches:
            yield from (f"**{searched.search.says}**", "")
            rows = [(one.claim, one.check.says, one.decided) for one in searched.outcomes]
            rows.append(("all", "together", searched.best))
            yield from self._table(paper, ("claim", "check", "holds"), rows)
        for figure in report.figures:
            called = f"{figure.source}: {figure.caption}"
            if figure.file:
                yield from (f"![{figure.source}]({self.folder}/{paper.name}-{figure.file})", "")
                yield from (f"*{called}*", "")
            elif figure.rows:
                yield from (f"*{called}*", "")
                yield from self._table(paper, figure.heads, figure.rows)

    def _verdicts(self, report: Report) -> Iterator[str]:
        """The claims with a verdict in each column, and what the columns stand for."""
        rows = [
            [one.claim.id, one.claim.text]
            + [column.claims[place].verdict.text for column in report.columns.values()]
            for place, one in enumerate(report.claims)
        ]
        heads = ("claim", "text of the paper", *report.columns)
        yield from self._table(report.paper, heads, rows)
        for note in report.column_notes:
            yield from (note, "")

    def _parts(self, report: Report) -> Iterator[str]:
        """What each claim says, with its figure, ours and the verdict."""
        rows = [
            (one.claim.id, found.says, found.paper, found.ours, _judged(found))
            for one in report.claims
            for found in one.found
        ]
        heads = ("claim", "part", "figure", "ours", "verdict")
        yield from self._table(report.paper, heads, rows, "parts")

    def _explained(self, report: Report) -> Iterator[str]:
        """What each claim needs, how much each combination explains, what none does."""
        assessment = report.assessment
        if assessment.needs:
            rows = [(need.claim.id, need.text) for need in assessment.needs]
            heads = ("claim", "holds, with or without a difference")
            yield from self._table(report.paper, heads, rows)
            yield from self._table(report.paper, *_combinations(report))
        if assessment.contradictions:
            yield from (
                "What no combination explains; values are those of the first one above:",
                "",
            )
            yield from (f"- {_plain(pair)}" for pair in assessment.contradictions)
            yield ""

    def _table(
        self,
        paper: Paper,
        heads: Sequence[str],
        rows: Iterable[Sequence[str]],
        called: str | None = None,
    ) -> Iterator[str]:
        """A data file, and the directive by which the site renders it; without a name of its own
        it has the next number."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows([_data(cell) for cell in row] for row in rows)
        number = sum(name.startswith(f"{paper.name}-table-") for name in self.tables) + 1
        name = f"{paper.name}-{called or f'table-{number}'}.csv"
        self.tables[name] = text.getvalue()
        yield from ("```{csv-table}", f":file: {self.folder}/{name}", ":header-rows: 1", "```", "")


def _judged(found: Found) -> str:
    """The verdict of a part, and what it is in other set-ups."""
    note = f": {found.note}" if found.note else ""
    others = "".join(f"; {name}: {ours}, {status}" for name, ours, status in found.beside)
    return f"{found.status}{note}{others}"


def _data(cell: str) -> str:
    """A cell of a data file; `-` for no value would begin a list in Markdown."""
    return "" if cell == "-" else cell.removeprefix("- ")


def _combinations(report: Report) -> tuple[list[str], list[list[str]]]:
    """Column heads, and a row for each combination of assumptions."""
    heads = [one.name for one in report.paper.assumptions]
    heads += ["claims that hold", "their parts", "which"]
    rows = []
    for one in report.assessment.combinations:
        claims, parts = one.score
        which = [c.claim.id for c in one.claims if c.verdict.status in GOOD]
        all_parts = sum(len(c.found) for c in one.claims)
        cells = [*one.levels.values(), f"{claims} of {len(one.claims)}"]
        rows.append([*cells, f"{parts} of {all_parts}", ", ".join(which)])
    return heads, rows


def _plain(pair: tuple[str, str]) -> str:
    says, measured = pair
    return f"{says} ({measured})" if measured else says


_PAPERS_HEAD = (
    "# Papers: every figure by one command",
    "",
    "Made by `make papers`. `sojourn papers` lists the papers, `sojourn paper NAME` runs all",
    "set-ups of one and writes a page: each figure and table drawn again in the paper's form",
    "with our 95 % intervals, the paper's value beside ours, and a verdict for each claim.",
    "",
)
_PUBLISHED_HEAD = (
    "# Programs that others have published",
    "",
    "Made by `make published SOURCES=DIR`; DIR holds clones of the repositories below.",
    "`sojourn published` lists them, with `--sources DIR` what becomes of each program,",
    "`sojourn run published/NAME --sources DIR` runs one next to ours. None of their text is here:",
    "a recipe has a scenario, a control plane unless theirs runs, and the hash of every file that",
    "it is for. Values are means of the seeds with 95 % intervals.",
    "",
)


def _is_published(reports: Sequence[Report]) -> bool:
    return all(report.paper.name == "published" for report in reports)
