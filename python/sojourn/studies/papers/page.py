"""A paper's page, and the summary of all papers as HTML and as Markdown.

Stands on what was assessed, drawn and searched, and on templates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    told = []
    for head, one in report.columns.items():
        found = {status: number for status, number in counts(one.claims).items() if number}
        parts = ", ".join(f"{number} {words[s][number > 1]}" for s, number in found.items())
        told.append(f"{head}: {parts}" if len(report.columns) > 1 else parts)
    return f"Of {claims}{', ' if len(told) > 1 else ': '}{'; '.join(told)}."


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


def markdown(reports: Sequence[Report], pictures: str) -> str:
    """The summary over papers; its pictures are in the folder `pictures` next to the text."""
    lines = list(_PUBLISHED_HEAD if _is_published(reports) else _PAPERS_HEAD)
    for report in reports:
        lines += [f"## {report.paper.title}", "", f"{report.paper.where} `sojourn paper "]
        lines[-1] += f"{report.paper.name}`. {tally(report)}"
        if report.quick:
            lines += ["", _QUICK]
        lines += ["", *_verdicts(report), ""]
        for one in report.claims:
            if one.claim.remark:
                lines += [f"{one.claim.id}: {one.claim.remark}", ""]
        for searched in report.searches:
            lines += [f"**{searched.search.says}**", "", "| claim | | holds |", "|---|---|---|"]
            for outcome in searched.outcomes:
                says = _cell(outcome.check.says)
                lines.append(f"| {outcome.claim} | {says} | {_cell(outcome.decided)} |")
            lines += ["", searched.best, ""]
        for figure in report.figures:
            if figure.file:
                called = f"{figure.source}: {figure.caption}"
                lines.append(f"![{called}]({pictures}/{report.paper.name}-{figure.file})")
                lines += ["", f"*{called}*", ""]
            elif figure.rows:
                lines += [f"*{figure.source}: {figure.caption}*", ""]
                lines.append("| " + " | ".join(map(_cell, figure.heads)) + " |")
                lines.append("|" + "---|" * len(figure.heads))
                lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in figure.rows]
                lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _verdicts(report: Report) -> list[str]:
    """The claims with a verdict in each column, and what the columns stand for."""
    heads = ["claim", "what the paper says", *report.columns]
    lines = ["| " + " | ".join(map(_cell, heads)) + " |", "|" + "---|" * len(heads)]
    for place, one in enumerate(report.claims):
        verdicts = [column.claims[place].verdict.text for column in report.columns.values()]
        cells = [one.claim.id, one.claim.text, *verdicts]
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    for note in report.column_notes:
        lines += ["", note]
    return lines + _explained(report)


def _explained(report: Report) -> list[str]:
    """The assumptions that each claim needs, the claims that each combination explains, and those
    that none does."""
    lines = []
    if report.assessment.needs:
        lines += ["", "| claim | holds, with or without a difference |", "|---|---|"]
        lines += [f"| {n.claim.id} | {_cell(n.text)} |" for n in report.assessment.needs]
        heads = [one.name for one in report.paper.assumptions]
        heads += ["claims that hold", "their parts", "which"]
        lines += ["", "| " + " | ".join(map(_cell, heads)) + " |", "|" + "---|" * len(heads)]
        for one in report.assessment.combinations:
            claims, parts = one.score
            which = [c.claim.id for c in one.claims if c.verdict.status in GOOD]
            all_parts = sum(len(c.found) for c in one.claims)
            cells = [*one.levels.values(), f"{claims} of {len(one.claims)}"]
            cells += [f"{parts} of {all_parts}", ", ".join(which)]
            lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    if report.assessment.contradictions:
        lines += ["", "What no combination explains; values are those of the first one above:", ""]
        lines += [f"- {_plain(pair)}" for pair in report.assessment.contradictions]
    return lines


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
    "Made by `make published SOURCES=DIR`, where DIR holds a clone of each repository in the table",
    "below. `sojourn published` lists them, `sojourn published --sources DIR` says what becomes of",
    "each program, `sojourn run published/NAME --sources DIR` runs one beside ours. None of their",
    "text is in this repository: a recipe has a control plane and a scenario of ours, and the hash",
    "of every file that it is for. Values are means of the seeds with 95 % intervals.",
    "",
)


def _is_published(reports: Sequence[Report]) -> bool:
    return all(report.paper.name == "published" for report in reports)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def write_summary(reports: Sequence[Report], folder: Path) -> Path:
    """The summary page over all papers that were run."""
    page = render("studies/papers/summary.html", reports=reports, tally=tally, tone=TONE)
    path = folder / PAGE
    path.write_text(page, encoding="utf-8")
    return path
