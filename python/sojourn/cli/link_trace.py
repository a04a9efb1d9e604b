"""`sojourn link-trace`: traces of delivery opportunities for `link_trace`, made and generated."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.shared import app
from sojourn.common.atomic_write import write_named
from sojourn.common.resources import shown
from sojourn.errors import ScenarioError, output_error
from sojourn.model.scenario.link_trace import (
    Rates,
    as_lines,
    markov_rates,
    opportunities,
    periodic_rates,
    read_rates,
)
from sojourn.model.units import RATE, TIME, Dimension

traces = typer.Typer(
    help="Make a link's trace in mahimahi's format: from a CSV of rates, or generated.",
    no_args_is_help=True,
)
app.add_typer(traces, name="link-trace")

Out = Annotated[Path, typer.Option(metavar="FILE", help="The trace to write.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the random numbers.")]
Duration = Annotated[str, typer.Option(help='After which the trace repeats, like "60 s".')]


@traces.callback()
def _traces() -> None:
    """Traces of delivery opportunities in mahimahi's format, for the key `link_trace`."""


@traces.command("from-csv")
def from_csv(
    rates: Annotated[Path, typer.Argument(help="Lines of seconds and Mbit/s.")],
    out: Out,
) -> None:
    """Convert rates over time: each line's rate holds until the next one, the last line ends it."""
    _write(out, read_rates(rates))


@traces.command()
def markov(
    out: Out,
    levels: Annotated[
        str, typer.Option(help="Rates, comma-separated and rising.")
    ] = "2 Mbit/s,5 Mbit/s,10 Mbit/s,20 Mbit/s",
    hold: Annotated[str, typer.Option(help="Mean time at a rate, exponential.")] = "1 s",
    duration: Duration = "60 s",
    seed: Seed = 1,
) -> None:
    """Generate a rate that moves between neighbouring levels, as a Markov chain."""
    given = [_read(RATE, "--levels", word) for word in levels.split(",")]
    if len(given) < 2 or given != sorted(set(given)):
        raise ScenarioError(f"--levels {levels}: at least two rates, each above the one before")
    spans = _read(TIME, "--hold", hold), _read(TIME, "--duration", duration)
    _bound("--hold", hold, spans[0], spans[1])
    _write(out, markov_rates(given, hold=spans[0], duration=spans[1], seed=seed))


@traces.command()
def periodic(
    out: Out,
    low: Annotated[str, typer.Option(help="The lowest rate.")] = "20 Mbit/s",
    high: Annotated[str, typer.Option(help="The highest rate.")] = "100 Mbit/s",
    period: Annotated[str, typer.Option(help="From one reconfiguration to the next.")] = "15 s",
    outage: Annotated[str, typer.Option(help="Without opportunities, at each.")] = "50 ms",
    duration: Duration = "60 s",
    seed: Seed = 1,
) -> None:
    """Generate a rate that is drawn anew each period, as a satellite terminal's is each 15 s."""
    levels = _read(RATE, "--low", low), _read(RATE, "--high", high)
    if levels[0] > levels[1]:
        raise ScenarioError(f"--low {low}: must not be more than --high {high}")
    each, gap = _read(TIME, "--period", period), _read(TIME, "--outage", outage, least=0)
    if gap >= each:
        raise ScenarioError(f"--outage {outage}: must be shorter than --period {period}")
    whole = _read(TIME, "--duration", duration)
    _bound("--period", period, each, whole)
    _write(out, periodic_rates(levels, duration=whole, period=each, outage=gap, seed=seed))


_LONGEST = 1_000_000 * 10**9
"""Of a trace, ns."""


_MOST_CHANGES = 1_000_000
"""Rates of a generated trace."""


def _bound(option: str, text: str, each: int, duration: int) -> None:
    if duration > each * _MOST_CHANGES:
        least = TIME.format(-(-duration // _MOST_CHANGES))
        raise ScenarioError(f"{option} {text}: at least {least} for this --duration")


def _read(dimension: Dimension, option: str, text: str, *, least: int = 1) -> int:
    try:
        value = dimension.parse(text)
    except ValueError as error:
        raise ScenarioError(f"{option} {text}: {error}") from None
    if dimension is TIME and least and not 10**6 <= value <= _LONGEST:
        raise ScenarioError(f"{option} {text}: allowed is 1 ms to 1000000 s")
    if value < least:
        raise ScenarioError(f"{option} {text}: must be more than zero")
    return value


def _write(out: Path, rates: Rates) -> None:
    lines: Iterable[str] = as_lines(opportunities(rates))
    text = "".join(lines)
    count = text.count("\n")
    if not count:
        raise ScenarioError("the trace would have no opportunity: no rate lasts long enough")
    try:
        write_named(out, text)
    except OSError as error:
        raise output_error(error, shown(out)) from error
    last = int(text[:-1].rpartition("\n")[2])
    mean = RATE.format(round(count * 1_500 * 8 * 1_000 / last))
    print(
        f"trace  {shown(out)}: {count} opportunities in {last / 1_000:g} s, {mean} of IP on average"
    )
