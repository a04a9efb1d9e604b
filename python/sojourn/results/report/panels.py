"""Panels: Bokeh plots above each other on one horizontal axis, with curves, legend and menu.

Zoom is linked, and the page shows the values of all panels at the instant under the pointer.
Depends on no run and no page.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from sojourn.results.report.models import Keys, Model, source
from sojourn.results.report.models import field as column
from sojourn.results.statistics import Floats
from sojourn.results.style import INK, MUTED, RULE, TARGET_COLOUR

Numbers = np.ndarray[Any, np.dtype[Any]]
"""Numbers of any kind."""

_PAPER = "#ffffff"
"""Background of the light page; the page has another one for the dark."""
_FONT = "system-ui, sans-serif"
_SHORT = 200
"""Ratio of the bounds below which a logarithmic axis has three numbers a decade."""
_AXIS = 46
"""Height in pixels of the axis below the last panel."""


@dataclass(frozen=True)
class Scale:
    """An axis: its bounds, its label and whether it is logarithmic.

    A bound without a value follows the visible curves.
    """

    low: float | None = None
    high: float | None = None
    label: str = ""
    logarithmic: bool = False

    def range(self) -> Model:
        """The range, shared by all plots that get this instance's model."""
        if self.low is None or self.high is None:
            ends = {"start": self.low, "end": self.high}
            known = {name: end for name, end in ends.items() if end is not None}
            return Model.of("DataRange1d", only_visible=True, **known)
        return Model.of("Range1d", start=self.low, end=self.high)

    def scale(self) -> Model:
        """The mapping from values to pixels."""
        return Model.of("LogScale" if self.logarithmic else "LinearScale")

    def _log_ticker(self) -> Model:
        """Powers of ten; on a short axis also twice and five times of them. BokehJS's own ticks of
        a short axis are so many that their numbers overlap."""
        if self.low is not None and self.high is not None and self.high < _SHORT * self.low:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
            return Model.of("FixedTicker", ticks=ticks, minor_ticks=[])
        return Model.of("LogTicker", mantissas=[1], num_minor_ticks=0)

    def axis(self, **keys: Any) -> Model:
        """The drawn axis."""
        if self.logarithmic:
            kind, ticker = "LogAxis", self._log_ticker()
        else:
            kind, ticker = "LinearAxis", Model.of("BasicTicker", num_minor_ticks=0)
        return Model.of(
            kind,
            ticker=ticker,
            formatter=Model.of("BasicTickFormatter", use_scientific=False),
            axis_label=self.label,
            axis_label_text_color=INK,
            axis_label_text_font=_FONT,
            axis_label_text_font_size="12px",
            axis_label_text_font_style="normal",
            axis_line_color=None,
            major_tick_line_color=None,
            major_label_text_color=INK,
            major_label_text_font=_FONT,
            major_label_text_font_size="11px",
            **keys,
        )


@dataclass(frozen=True)
class Reading:
    """A curve's value under the pointer: its unit and digits after the point.

    With `last`, the last sample before the pointer counts; otherwise the nearest one, if it is
    `within` that distance on the horizontal axis.
    """

    unit: str
    decimals: int
    last: bool = False
    within: float | None = None


@dataclass(frozen=True)
class Entry:
    """An entry of the legend, which shows and hides the curves with its label."""

    label: str
    colour: str
    dash: str = "solid"
    note: str = ""


class Panel:
    """A panel's curves, lines and texts."""

    def __init__(self, title: str, scale: Scale, *, colour: str = INK) -> None:
        self.title, self.scale, self.colour = title, scale, colour
        self.curves: list[Model] = []
        self.notes: list[Model] = []

    def add_line(
        self,
        x: Floats,
        y: Floats,
        entry: Entry,
        reading: Reading,
        *,
        width: float = 1.4,
        group: str | None = None,
        visible: bool = True,
        steps: bool = False,
        **columns: Floats,
    ) -> None:
        """A curve, or steps that hold each value until the next, with more columns of its samples.

        `group` is the label of its legend or menu entry, the curve's own label by default.
        """
        mode = {"mode": "after"} if steps else {}
        glyph = Model.of(
            "Step" if steps else "Line",
            x=column("x"),
            y=column("y"),
            line_color=entry.colour,
            line_dash=entry.dash,
            line_width=width,
            **mode,
        )
        columns = {"x": x, "y": y, **columns}
        self._add(glyph, columns, group or entry.label, _tag(entry, reading), visible)

    def add_band(self, x: Floats, y: Floats, entry: Entry) -> None:
        """Polygons, parted by NaN, in a pale shade."""
        glyph = Model.of(
            "Patch",
            x=column("x"),
            y=column("y"),
            fill_color=entry.colour,
            fill_alpha=0.22,
            line_color=None,
        )
        self._add(glyph, {"x": x, "y": y}, entry.label, None, True)

    def add_strokes(
        self, x: Floats, height: float, count: Numbers, entry: Entry, reading: Reading
    ) -> None:
        """A stroke at `height` for each instant of `x`; `count` is the value under the pointer."""
        glyph = Model.of(
            "Scatter",
            x=column("x"),
            y=height,
            marker="dash",
            angle=np.pi / 2,
            size=7,
            line_color=entry.colour,
            fill_color=entry.colour,
        )
        self._add(glyph, {"x": x, "value": count}, entry.label, _tag(entry, reading), True)

    def _add(
        self,
        glyph: Model,
        columns: Mapping[str, Numbers],
        group: str,
        tag: Keys | None,
        visible: bool,
    ) -> None:
        self.curves.append(
            Model.of(
                "GlyphRenderer",
                name=group,
                tags=[] if tag is None else [tag],
                data_source=source(columns),
                glyph=glyph,
                visible=visible,
            )
        )

    def add_rule(
        self, dimension: str, at: float, *, colour: str = TARGET_COLOUR, dash: str = "dashed"
    ) -> None:
        """A straight line across the panel: `width` at a height, `height` at an instant."""
        self.notes.append(
            Model.of(
                "Span",
                dimension=dimension,
                location=at,
                line_color=colour,
                line_width=1,
                line_dash=dash,
            )
        )

    def add_text(self, x: float, y: float, text: str, colour: str) -> None:
        """A text to the right of and below a point."""
        self.notes.append(
            Model.of(
                "Label",
                x=x,
                y=y,
                text=_plain(text),
                x_offset=4,
                text_baseline="top",
                text_color=colour,
                text_font=_FONT,
                text_font_size="11px",
            )
        )


@dataclass
class Figure:
    """Panels above each other, whose horizontal axis is `scale`.

    `panel_height` is in pixels. `at` and `decimals` give the pointer's place, as `at 1.25 s`.
    """

    scale: Scale
    panel_height: int
    at: str = "at {} s"
    decimals: int = 2
    zoom: str = "width"
    panels: list[Panel] = field(default_factory=list)
    legend: list[Entry] = field(default_factory=list)
    menu: list[str] = field(default_factory=list)

    def add_panel(self, title: str, scale: Scale, *, colour: str = INK) -> Panel:
        """A panel below those that are there."""
        panel = Panel(title, scale, colour=colour)
        self.panels.append(panel)
        return panel

    @property
    def height(self) -> int:
        """Of all panels with the axis below, in pixels."""
        return len(self.panels) * self.panel_height + _AXIS

    def model(self) -> Model:
        """The column of plots."""
        shared = self.scale.range()
        pointer = Model.of("Span", dimension="height", line_color=MUTED, line_width=1)
        return Model.of(
            "Column",
            sizing_mode="stretch_width",
            spacing=0,
            tags=[{"at": self.at, "decimals": self.decimals}],
            children=[self._plot(panel, shared, pointer) for panel in self.panels],
        )

    def _plot(self, panel: Panel, shared: Model, pointer: Model) -> Model:
        last = panel is self.panels[-1]
        below, left = self.scale.axis(visible=last), panel.scale.axis()
        tools = [
            Model.of("BoxZoomTool", dimensions=self.zoom),
            Model.of("CrosshairTool", overlay=pointer),
        ]
        return Model.of(
            "Figure",
            height=self.panel_height + (_AXIS if last else 0),
            sizing_mode="stretch_width",
            title=_title(panel) if panel.title else None,
            x_range=shared,
            y_range=panel.scale.range(),
            x_scale=self.scale.scale(),
            y_scale=panel.scale.scale(),
            renderers=[*panel.curves, *panel.notes],
            left=[left],
            below=[below],
            center=[
                Model.of("Grid", dimension=0, axis=below, grid_line_color=RULE),
                Model.of("Grid", dimension=1, axis=left, grid_line_color=RULE),
            ],
            toolbar=Model.of("Toolbar", tools=tools),
            toolbar_location=None,
            background_fill_color=None,
            border_fill_color=_PAPER,
            outline_line_color=None,
            min_border_left=48,
            min_border_right=14,
            lod_threshold=None,
        )


def _title(panel: Panel) -> Model:
    return Model.of(
        "Title",
        text=_plain(panel.title),
        text_color=panel.colour,
        text_font=_FONT,
        text_font_size="12px",
        text_font_style="normal" if panel.colour == INK else "bold",
    )


def _plain(text: str) -> Model:
    """Text without mathematics, for which BokehJS would load MathJax from the network."""
    return Model.of("PlainText", text=text)


def _tag(entry: Entry, reading: Reading) -> Keys:
    known = {name: value for name, value in asdict(reading).items() if value is not None}
    return {"label": entry.label, "colour": entry.colour, **known}


def extent(time: Floats) -> tuple[float, float]:
    """The first and last instant, and one unit more if they are the same."""
    if not len(time):
        return 0.0, 1.0
    low, high = float(np.min(time)), float(np.max(time))
    return low, high if high > low else low + 1
