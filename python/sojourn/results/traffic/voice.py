"""Figures of a voice: delay, jitter, loss, and the quality that the E-model predicts.

Reads the rows of `datagrams.parquet` and the source's parameters. Jitter is RFC 3550's section
6.4.1. Quality is ITU-T G.107 (06/2015) with its default values except for measured ones: the delay
from mouth to ear, and the loss of packets, including those that come too late to be played. G.711
has no impairment of its own (Ie 0), and with the loss concealment of its Appendix I a robustness
Bpl of 25.1 (G.113 Appendix I).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn.model.scenario.flows import FlowGroup, VoipFlows
from sojourn.model.scenario.groups import groups_of
from sojourn.runtime.arrow_tables import rows_table
from sojourn.runtime.run_files import DATAGRAMS

_ROBUSTNESS = 25.1
_IMPAIRMENT = 0.0
_ADAPTS = 2_000_000_000
"""ns for which a jitter buffer keeps its delay; about the length of a talk spurt."""
_BEST = 93.2
"""R of G.107 with all default values, at no delay and no loss."""

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Voice:
    """The voices of one group together. Times in ns."""

    calls: int
    sent: int
    mean: float | None
    p95: float | None
    p99: float | None
    """Of the one-way delay."""
    jitter: float | None
    """RFC 3550's at the end of each call, on average over the calls."""
    lost: float
    """Share of the datagrams that never came."""
    late: float
    """Share that came too late to be played."""
    rating: float
    """The E-model's R of the calls on average."""
    score: float
    """The mean opinion score that R stands for."""
    group: str = ""
    """The name of the group of flows."""


def read_voices(
    folder: Path,
    counters: dict[str, Any],
    flows: Sequence[FlowGroup],
    until: int | None = None,
    since: int = 0,
) -> list[Voice]:
    """The voices in `folder`, a row per group; with `until`, as if the run had ended then; of what
    was sent after the warm-up `since`, ns."""
    voices = []
    table = None
    for named in groups_of(flows):
        group, first, last = named.flows, named.first, named.end
        if isinstance(group, VoipFlows):
            table = table if table is not None else rows_table(folder / DATAGRAMS)
            sent = [counters["flows"][flow]["segments"] for flow in range(first, last)]
            rows = tuple(
                table.column(name).to_numpy().astype(np.int64)
                for name in ("flow", "number", "sent", "received")
            )
            if until is not None:
                early = rows[3] <= until
                rows = tuple(column[early] for column in rows)
            calls = [
                call
                for flow, count in zip(range(first, last), sent, strict=True)
                if (call := _call(*_later(_of_flow(rows, flow), count, group, since), group))
                is not None
            ]
            part = until is not None or since
            counted = sum(call.sent for call in calls) if part else sum(sent)
            voices.append(replace(_together(calls, counted), group=named.name))
    return voices


@dataclass(frozen=True)
class _Call:
    delays: Longs
    sent: int
    jitter: float
    lost: int
    late: int
    rating: float


def _of_flow(rows: tuple[Longs, ...], flow: int) -> tuple[Longs, Longs, Longs]:
    own = rows[0] == flow
    return rows[1][own], rows[2][own], rows[3][own]


def _later(
    rows: tuple[Longs, Longs, Longs], sent: int, group: VoipFlows, since: int
) -> tuple[tuple[Longs, Longs, Longs], int]:
    """The datagrams of a call that were sent after the warm-up, numbered from 0, and how many."""
    number, departed, arrived = rows
    if not since or not len(number):
        return rows, sent
    began = int(departed[0]) - int(number[0]) * group.interval
    first = max(-(-(since - began) // group.interval), 0)
    later = number >= first
    return (number[later] - first, departed[later], arrived[later]), max(sent - first, 0)


def _call(rows: tuple[Longs, Longs, Longs], sent: int, group: VoipFlows) -> _Call | None:
    number, departed, arrived = rows
    if not len(number) or not sent:
        return None
    # What was on its way when the run ended is not lost.
    sent = min(sent, int(number.max()) + 1)
    delays = arrived - departed
    deadlines = _deadlines(delays, departed, group.jitter_buffer)
    played = delays <= deadlines
    lost, late = sent - len(number), int((~played).sum())
    heard = np.zeros(sent, bool)
    heard[number[played]] = True
    mouth_to_ear = float(deadlines.mean()) + group.interval
    rating = r_value(mouth_to_ear / 1e6, (lost + late) / sent, burst_ratio(~heard))
    return _Call(delays, sent, jitter(departed, arrived), lost, late, rating)


def _deadlines(delays: Longs, departed: Longs, jitter_buffer: int) -> Longs:
    """The delay up to which each datagram is played: the jitter buffer adapts to the least delay of
    each few seconds."""
    period = (departed - departed.min()) // _ADAPTS
    least = np.full(int(period.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, period, delays)
    deadlines: Longs = least[period] + jitter_buffer
    return deadlines


def _together(calls: list[_Call], sent: int) -> Voice:
    if not calls:
        return Voice(0, sent, None, None, None, None, 1.0 if sent else 0.0, 0.0, 0.0, 1.0)
    delays = np.concatenate([call.delays for call in calls])
    p95, p99 = np.percentile(delays, (95, 99), method="inverted_cdf")
    counted = sum(call.sent for call in calls)
    rating = sum(call.rating for call in calls) / len(calls)
    return Voice(
        calls=len(calls),
        sent=sent,
        mean=float(delays.mean()),
        p95=float(p95),
        p99=float(p99),
        jitter=sum(call.jitter for call in calls) / len(calls),
        lost=sum(call.lost for call in calls) / counted,
        late=sum(call.late for call in calls) / counted,
        rating=rating,
        score=opinion_score(rating),
    )


def jitter(departed: Longs, arrived: Longs) -> float:
    """RFC 3550 section 6.4.1: a sixteenth of each change of the transit time, smoothed; ns."""
    estimate = 0.0
    for change in np.abs(np.diff(arrived - departed)):
        estimate += (float(change) - estimate) / 16
    return estimate


def burst_ratio(missing: npt.NDArray[np.bool_]) -> float:
    """G.107's BurstR: how long the gaps are, against gaps of the same number at random."""
    count = int(missing.sum())
    if not count or count == len(missing):
        return 1.0
    edges = np.diff(missing.astype(np.int8), prepend=0)
    gaps = int((edges == 1).sum())
    # At random with loss p, a gap has 1 / (1 - p) packets on average.
    return max((count / gaps) * (1 - count / len(missing)), 1.0)


def r_value(delay: float, loss: float, burst: float) -> float:
    """The E-model's R at a delay from mouth to ear in ms and a share of lost packets.

    G.107 section 7: the impairment by delay beyond 100 ms (Idd, equations 7-27 and 7-28) and by
    loss (Ie-eff, equation 7-29). Echo is taken as cancelled.
    """
    by_delay = 0.0
    if delay > 100:
        x = math.log2(delay / 100)
        by_delay = 25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2)
    percent = 100 * loss
    by_loss = _IMPAIRMENT + (95 - _IMPAIRMENT) * percent / (percent / burst + _ROBUSTNESS)
    return max(_BEST - by_delay - by_loss, 0.0)


def opinion_score(rating: float) -> float:
    """The mean opinion score of an R: G.107 Annex B, 1 to 4.5."""
    if rating <= 0:
        return 1.0
    if rating >= 100:
        return 4.5
    score = 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6
    return max(score, 1.0)
