"""Tables of groups of flows, transfers, requests and voices, for the terminal and for the report.

Uses what `transfers` and `voice` derived. A table is a title, a sentence that says how to read
it, heads and rows of text; who shows it is not known here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sojourn.model.scenario.bottleneck import Bottleneck
from sojourn.model.units import RATE
from sojourn.results.groups import GroupFigures
from sojourn.results.link_phases import Phase
from sojourn.results.pauses import pause_rows
from sojourn.results.result import AqmResult, Result
from sojourn.results.slowdown_bins import class_of
from sojourn.results.style import milliseconds
from sojourn.results.traffic.transfers import Times
from sojourn.results.traffic.voice import Voice


@dataclass(frozen=True)
class Section:
    """A table. The first two columns are names; a head has its unit on a second line."""

    title: str
    text: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]


def sections(result: Result) -> list[Section]:
    """The tables that this run has something for."""
    aqms = result.aqms
    times = _rows({label: list(_time_rows(aqm)) for label, aqm in aqms.items()})
    voices = _rows(
        {
            label: [(_calls(voice, aqm), *_voice_cells(voice)) for voice in aqm.voices]
            for label, aqm in aqms.items()
        }
    )
    found = [*_groups(result)]
    if result.scenario.rows:
        found += [_phases(result, queue) for queue in result.scenario.bottlenecks if queue.steps]
    if times:
        found.append(Section("Completion times", _TIMES_TEXT, _TIMES_HEADS, times))
    slow = _rows({label: list(_slowdown_rows(aqm)) for label, aqm in aqms.items()})
    if slow:
        found.append(Section("Slowdown by size", _SLOWDOWN_TEXT, _SLOWDOWN_HEADS, slow))
    paused = {label: aqm.pauses for label, aqm in aqms.items() if aqm.pauses is not None}
    if paused:
        rows = _rows({label: list(pause_rows(one)) for label, one in paused.items()})
        found.append(Section("Would have paused", _PAUSES_TEXT, _PAUSES_HEADS, rows))
    if voices:
        found.append(Section("Voice", _VOICE_TEXT, _VOICE_HEADS, voices))
    return found


def _groups(result: Result) -> Iterator[Section]:
    """The groups of flows at each measured queue, where there are several groups."""
    if len(result.scenario.flows) < 2:
        return
    several = len(result.scenario.bottlenecks) > 1
    for place, queue in enumerate(result.scenario.bottlenecks):
        shown = {
            label: [row for row in aqm.grouped[queue.name].rows if row.packets or not place]
            for label, aqm in result.aqms.items()
        }
        rows = _rows({label: list(map(_group_cells, found)) for label, found in shown.items()})
        if place and not rows:
            continue
        where = f" at {queue.name}" if several else ""
        yield Section(f"Groups of flows{where}", _GROUPS_TEXT, _GROUPS_HEADS, rows)


def _group_cells(row: GroupFigures) -> tuple[str, ...]:
    return (
        row.group,
        *(milliseconds(delay) for delay in (row.mean, row.median, row.p95, row.p99)),
        f"{row.goodput / 1e6:.2f}",
        "-" if row.drop_share is None else f"{100 * row.drop_share:.2f}",
        f"{row.marks}",
        "-" if row.fairness is None else f"{row.fairness:.3f}",
    )


def _time_rows(aqm: AqmResult) -> Iterator[tuple[str, ...]]:
    """Completion times; slowdown in the first row of each group."""
    slow = {row.group: (row.slowdown_median, row.slowdown_p99) for row in aqm.groups}
    for times in aqm.times:
        median, p99 = slow.pop(times.group, (None, None))
        cells = ("-" if value is None else f"{value:.2f}" for value in (median, p99))
        yield (times.what, *_time_cells(times), *cells)


def _slowdown_rows(aqm: AqmResult) -> Iterator[tuple[str, ...]]:
    """Slowdown of each group, of all transfers and by pFabric's classes."""
    for one in aqm.slowdowns:
        if one.bins == "hpcc":
            continue
        what = one.group if one.bins == "all" else f"  {class_of(one.largest)}"
        figures = (one.mean, one.p50, one.p95, one.p99, one.p999)
        yield (what, f"{one.transfers}", *(f"{value:.2f}" for value in figures))


def _calls(voice: Voice, aqm: AqmResult) -> str:
    """The row of a group of voices; its name says more than its number where there are several."""
    named = len(aqm.voices) > 1 or voice.group != "voip"
    return f"{voice.group} ({voice.calls})" if named else f"{voice.calls} calls"


def _phases(result: Result, queue: Bottleneck) -> Section:
    where = f" at {queue.name}" if len(result.scenario.bottlenecks) > 1 else ""
    rows = _rows(
        {
            label: [_phase_cells(phase) for phase in aqm.phases[queue.name]]
            for label, aqm in result.aqms.items()
        }
    )
    return Section(f"Between changes of the rate{where}", _PHASES_TEXT, _PHASES_HEADS, rows)


def _rows(sections: dict[str, list[tuple[str, ...]]]) -> list[tuple[str, ...]]:
    """Each thing once with all AQMs below each other; it is named in the first of its rows."""
    rows: list[tuple[str, ...]] = []
    # A run that was stopped early may have less to tell than the others.
    for place in range(max(map(len, sections.values()), default=0)):
        before = ""
        for label, lines in sections.items():
            if place < len(lines):
                what, *cells = lines[place]
                rows.append(("" if what == before else what, label, *cells))
                before = what
    return rows


_TIMES_TEXT = (
    "A transfer's time is from its first SYN until its receiver has every byte, a request's until "
    "its response is complete, a round's until the last response is. Those that the end of the run "
    "cut short are in no other column. Slowdown, median and 99th percentile, is the time over that "
    "in an empty network: one and a half round trips, for a request one, and the payload at the "
    "slowest link's rate."
)
_TIMES_HEADS = (
    "what",
    "AQM",
    "number\n",
    "cut\nshort",
    "mean\nms",
    "median\nms",
    "p95\nms",
    "p99\nms",
    "slow-\ndown",
    "slowd.\np99",
)
_SLOWDOWN_TEXT = (
    "Completion time over the ideal one: the base round-trip time of the two hosts, and all bytes "
    "with headers at the slowest link's rate; below 1 counts as 1. A handshake adds a round trip."
)
_SLOWDOWN_HEADS = ("what", "AQM", "number\n", "mean\n", "median\n", "p95\n", "p99\n", "p99.9\n")
_PAUSES_TEXT = (
    "How often and how long priority flow control would have paused the senders of links, and the "
    "link that it would have paused the longest. Nobody was paused: what came then is counted "
    "beyond the headroom, too, if that was full."
)
_PAUSES_HEADS = (
    "link",
    "AQM",
    "links\n",
    "pauses\n",
    "paused\nms",
    "paused\n%",
    "beyond\nheadroom",
)
_GROUPS_TEXT = (
    "Queue delay, goodput and losses of each group of flows, below those of all flows. Fairness is "
    "Jain's index of the goodputs within the row's flows: 1 if each got the same, 1/n if one of n "
    "got all."
)
_GROUPS_HEADS = (
    "group",
    "AQM",
    "mean\nms",
    "median\nms",
    "p95\nms",
    "p99\nms",
    "goodput\nMbit/s",
    "drops\n%",
    "CE\nmarks",
    "fair-\nness",
)
_PHASES_TEXT = (
    "Settled: how long after the change until no mean delay, over a 150th of that time, is above "
    "twice that of its last third and above a packet's time on the wire; a dash if the delay grows "
    "instead."
)
_PHASES_HEADS = (
    "from",
    "AQM",
    "mean\nms",
    "max\nms",
    "settled\ns",
    "dropped\n%",
    "util.\n%",
)
_VOICE_TEXT = (
    "One-way delay, RFC 3550's jitter, and what is missing where it should be played: lost, or "
    "later than the jitter buffer allows. R and MOS are the estimate of ITU-T G.107's E-model for "
    "G.711 with loss concealment: 4.4 is the best, below 3.6 many are dissatisfied."
)
_VOICE_HEADS = (
    "what",
    "AQM",
    "mean\nms",
    "p95\nms",
    "p99\nms",
    "jitter\nms",
    "lost\n%",
    "late\n%",
    "R\n",
    "MOS\n",
)


def _phase_cells(phase: Phase) -> tuple[str, ...]:
    return (
        f"{phase.start / 1e9:g} s: {RATE.format(phase.rate)}",
        milliseconds(phase.mean),
        milliseconds(phase.max),
        "-" if phase.settled is None else f"{phase.settled / 1e9:.1f}",
        "-" if phase.dropped is None else f"{100 * phase.dropped:.2f}",
        f"{100 * phase.utilisation:.1f}",
    )


def _time_cells(times: Times) -> tuple[str, ...]:
    spans = (times.mean, times.median, times.p95, times.p99)
    return f"{times.count}", f"{times.unfinished}", *(milliseconds(span) for span in spans)


def _voice_cells(voice: Voice) -> tuple[str, ...]:
    return (
        *(milliseconds(delay) for delay in (voice.mean, voice.p95, voice.p99, voice.jitter)),
        f"{100 * voice.lost:.2f}",
        f"{100 * voice.late:.2f}",
        f"{voice.rating:.1f}",
        f"{voice.score:.2f}",
    )
