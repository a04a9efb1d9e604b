"""The result of a computation: findings, with curves and text."""

from dataclasses import dataclass

from sojourn.studies.papers.verdict import Found


@dataclass(frozen=True)
class Curve:
    """Values over a count, to be drawn as a line."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    published: bool = False
    """True for a paper's own values of the curve before."""


@dataclass(frozen=True)
class CurvePlot:
    """A figure of curves."""

    name: str
    source: str
    caption: str
    x: str
    y: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Computed:
    """The result of a computation."""

    found: tuple[Found, ...]
    figures: tuple[CurvePlot, ...] = ()
    text: str = ""
    """Printed as it is: a stage table, diagnostics."""
