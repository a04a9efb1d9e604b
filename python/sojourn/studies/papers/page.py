"""A paper's page, and the summary of all papers as HTML and as Markdown.

Depends on what was assessed, drawn and searched, and on templates.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn.model.units import TIME
from sojourn.results.pages import render
from sojourn.studies.papers import draw
from sojourn.studies.papers.assess import GOOD, Assessed, Assessment, Combination, counts
from sojourn.studies.papers.measure import Measured
from sojourn.studies.papers.model import Paper
from sojourn.studies.papers.search import Searched
from sojourn.studies.papers.verdict import Status
from sojourn.studies.sweeps.job import engine_identity

PAGE = "index.html"
TONE = {
    Status.HOLDS: "holds",
    Status.DIFFERS: "differs",
    Status.FAILS: "fails",
    Status.UNSEEN: "unseen",
}


@dataclass(frozen=True)
class Shown:
    """A figure or table on a page."""

    source: str
    caption: str
    about: str
    file: str | None = None
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Report:
    """A paper with all that came out."""

    paper: Paper
    measured: Mapping[str, Measured]
    assessment: Assessment
    searches: list[Searched]
    figures: list[Shown]
    folder: Path
    quick: bool

    @property
    def claims(self) -> tuple[Assessed, ...]:
        """As the paper's text has them."""
        return self.assessment.published.claims

    @property
    def columns(self) -> dict[str, Combination]:
        """The verdicts that are shown: as published, and for each reading the combination that
        explains most."""
        readings = self.assessment.readings
        heads = {f"{level}, best": one for level, one in readings.items()}
        return {"as published" if heads else "verdict": self.assessment.published} | heads

    @property
    def column_notes(self) -> list[str]:
        """The assumptions that the columns stand for."""
        if not self.paper.assumptions:
            return []
        return [f"{head}: {one.named()}." for head, one in self.columns.items()]


def show_figures(
    paper: Paper, measured: Mapping[str, Measured], claims: Sequence[Assessed], folder: Path
) -> list[Shown]:
    """Draws all figures and tables into `folder`: the simulated ones, then the computed."""
    shown = []
    for spec in paper.figures:
        own = measured[spec.setup]
        if spec.kind == "table":
            heads, rows = draw.table(spec, own)
            shown.append(Shown(spec.source, spec.caption, own.setup.says, None, heads, rows))
        else:
            file = draw.draw(spec, own, folder)
            about = own.setup.says if file else f"Not drawn: {'; '.join(own.failures) or 'no run'}."
            shown.append(Shown(spec.source, spec.caption, about, file))
    for claim in claims:
        for part in claim.computed:
            for drawn in part.figures:
                file = draw.draw_curves(drawn, folder)
                shown.append(Shown(drawn.source, drawn.caption, claim.claim.measured, file))
    for table in paper.tables:
        rows = tuple(table.rows)
        shown.append(Shown(table.source, table.caption, table.about, None, table.heads, rows))
    return shown


def write_page(report: Report) -> Path:
    """Writes the page into the paper's folder."""
    page = render(
        "studies/papers/page.html",
        paper=report.paper,
        tally=tally(report),
        quick=_QUICK if report.quick else "",
        claims=report.claims,
        columns=report.columns,
        column_notes=report.column_notes,
        assessment=report.assessment,
        good=GOOD,
        figures=report.figures,
        searches=[_searched(one) for one in report.searches],
        setups=list(report.measured.values()),
        targets=" or ".join(dict.fromkeys(TIME.format(m.target) for m in report.measured.values())),
        tone=TONE,
        engine=f"Sojourn {engine_identity()}",
    )
    path = report.folder / PAGE
    path.write_text(page, encoding="utf-8")
    return path


def tally(report: Report) -> str:
    """The number of claims for each verdict, in a sentence."""
    words = {
        Status.HOLDS: ("holds", "hold"),
        Status.DIFFERS: ("holds with a difference", "hold with a difference"),
        Status.FAILS: ("does not hold as published", "do not hold as published"),
        Status.UNSEEN: ("cannot be seen here", "cannot be seen here"),
    }
    claims = "1 claim" if len(report.claims) == 1 else f"{len(report.claims)} claims"
    reported = []
    for head, one in report.columns.items():
        found = {status: number for status, number in counts(one.claims).items() if number}
        parts = ", ".join(f"{number} {words[s][number > 1]}" for s, number in found.items())
        reported.append(f"{head}: {parts}" if len(report.columns) > 1 else parts)
    return f"Of {claims}{', ' if len(reported) > 1 else ': '}{'; '.join(reported)}."


def _searched(one: Searched) -> dict[str, Any]:
    claims = [outcome.claim for outcome in one.outcomes]
    seen: dict[str, int] = {}
    marks = []
    for claim in claims:
        seen[claim] = seen.get(claim, 0) + 1
        marks.append(f" ({seen[claim]})" if claims.count(claim) > 1 else "")
    rows = []
    for name, factor in one.search.factors.items():
        for place, level in enumerate(factor.levels):
            cells = []
            for outcome in one.outcomes:
                effect = next(effect for effect in outcome.effects if effect.factor == name)
                found = effect.levels[place]
                cells.append(
                    {
                        "text": f"{found.held} of {found.of}",
                        "decides": name in outcome.decided,
                    }
                )
            published = " (as published)" if level == factor.published else ""
            rows.append(
                {"factor": "" if place else name, "level": level + published, "cells": cells}
            )
    outcomes = [
        {"claim": o.claim, "check": o.check, "decided": o.decided, "mark": mark}
        for o, mark in zip(one.outcomes, marks, strict=True)
    ]
    return {
        "search": one.search,
        "outcomes": outcomes,
        "best": one.best,
        "effects": rows,
        "failures": one.failures,
    }


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
            yield from (_QUICK.replace("--quick", "`--quick`"), "")
        yield from self._verdicts(report)
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


_QUICK = "Made with --quick: few seeds, short runs."
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


def write_summary(reports: Sequence[Report], folder: Path) -> Path:
    """The summary page over all papers that were run."""
    page = render("studies/papers/summary.html", reports=reports, tally=tally, tone=TONE)
    path = folder / PAGE
    path.write_text(page, encoding="utf-8")
    return path
