"""A paper's page, and the summary of all papers.

Depends on what was assessed, drawn and searched, and on templates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
QUICK = "Made with --quick: few seeds, short runs."
"""Above what `--quick` made."""
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
        quick=QUICK if report.quick else "",
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


def write_summary(reports: Sequence[Report], folder: Path) -> Path:
    """The summary page over all papers that were run."""
    page = render("studies/papers/summary.html", reports=reports, tally=tally, tone=TONE)
    path = folder / PAGE
    path.write_text(page, encoding="utf-8")
    return path
