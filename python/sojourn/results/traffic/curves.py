"""Distributions of completion times and of voices' delays: for each group, one curve for each AQM.

Depends on a run's rows. Must not depend on a plotting library.
"""

from collections.abc import Iterator

import numpy as np

from sojourn.model.scenario.groups import Group, groups_of
from sojourn.results.result import Result
from sojourn.results.statistics import Floats, Longs
from sojourn.results.traffic.transfers import read_exchanges
from sojourn.runtime.arrow_tables import rows_table
from sojourn.runtime.run_files import DATAGRAMS

Curve = tuple[str, Floats, Floats]
"""A label, times in ms and shares in %."""


def completion_curves(result: Result) -> Iterator[tuple[str, list[Curve]]]:
    """A panel for each group that has exchanges."""
    found: dict[str, list[Curve]] = {}
    for label, aqm in result.aqms.items():
        flows = result.scenario.flows
        for group, exchanges in read_exchanges(
            aqm.folder, flows, result.compared, aqm.summary.since
        ):
            spans = exchanges.spans()
            if (spans >= 0).any():
                found.setdefault(group.name, []).append(_curve(label, spans[spans >= 0]))
    yield from found.items()


def voice_curves(result: Result) -> Iterator[tuple[str, list[Curve]]]:
    """A panel for each group of voices."""
    for group in groups_of(result.scenario.flows):
        if group.kind != "voip":
            continue
        delays = {label: _delays_of(result, label, group) for label in result.aqms}
        curves = [_curve(label, delay) for label, delay in delays.items() if len(delay)]
        if curves:
            yield group.name, curves


def _delays_of(result: Result, label: str, group: Group) -> Longs:
    aqm = result.aqms[label]
    table = rows_table(aqm.folder / DATAGRAMS, ["flow", "sent", "received"])
    flow, sent, received = (table[name].to_numpy().astype(np.int64) for name in table.column_names)
    own = (flow >= group.first) & (flow < group.end) & (sent >= aqm.summary.since)
    if result.compared is not None:
        own &= received <= result.compared
    return np.asarray((received - sent)[own], np.int64)


def _curve(label: str, spans: Longs) -> Curve:
    ordered = np.sort(spans) / 1e6
    # A thousand steps are more than a page shows.
    places = np.unique(np.linspace(0, len(ordered) - 1, 1000).astype(np.int64))
    return label, ordered[places], 100 * (places + 1) / len(ordered)
