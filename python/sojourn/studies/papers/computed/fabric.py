"""Completion times on the paper's leaf-spine fabric: the pFabric experiment of the SP-PIFO paper.

144 hosts at nine leaves and four spines, as in the paper. The paper's hosts send through the
discipline under test; hosts here have a plain queue, so a switch with it stands behind each.
Depends on the runner and on a run's transfers.
"""

import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from sojourn.runner import plan_scenario, record
from sojourn.runtime.run_files import EXCHANGES
from sojourn.studies.papers.computed.finding import Computed, Curve, CurvePlot
from sojourn.studies.papers.computed.ratio import judged

_LEAVES, _SPINES, _HOSTS = 9, 4, 16
_OF_PAPER = 144
"""Hosts that the paper's flow starts are of."""
_SEEDS = (1,)
_DURATION = "300 ms"
_SHORT = 100_000
"""Bytes that a short flow has less than."""

_RED = {"min_th": 9, "max_th": 10, "max_p": 1, "w_q": 1, "gentle": False, "harddrop": False}
"""DCTCP's step at 10 packets, the paper's 14.6 kB."""
_SENDERS: Mapping[str, tuple[str, list[dict[str, Any]], bool]] = {
    "ranked": (
        "newreno",
        [
            {"use": "pifo", "label": "PIFO", "limit_packets": 80},
            {"use": "sp_pifo", "label": "SP-PIFO"},
        ],
        True,
    ),
    "DCTCP": (
        "dctcp",
        [{"use": "red", "label": "DCTCP", "ecn": True, "limit_bytes": "146 kB"} | _RED],
        False,
    ),
    "TCP": ("newreno", [{"use": "fifo", "label": "TCP", "limit_bytes": "146 kB"}], False),
}
"""Congestion control, disciplines, and whether senders write remaining bytes as ranks."""

_PUBLISHED: Mapping[str, Mapping[int, tuple[float, float]]] = {
    "SP-PIFO": {
        3600: (1.127, 1.090), 5200: (1.170, 1.213), 7000: (1.211, 1.275), 8900: (1.224, 1.323),
        11100: (1.257, 1.363), 14150: (1.286, 1.302), 19000: (1.333, 1.302),
    },
    "DCTCP": {
        3600: (1.472, 1.965), 5200: (1.681, 2.368), 7000: (1.951, 3.020), 8900: (2.233, 3.459),
        11100: (2.740, 4.312), 14150: (3.801, 6.346), 19000: (5.950, 10.30),
    },
    "TCP": {
        3600: (5.307, 11.23), 5200: (7.449, 12.63), 7000: (9.842, 14.32), 8900: (11.70, 15.08),
        11100: (14.22, 17.01), 14150: (17.55, 18.43), 19000: (22.26, 22.12),
    },
}  # fmt: skip
"""By flow starts per second: mean and 99th percentile of short flows over PIFO's."""

_JUDGED = (3600, 11100, 19000)
"""Of these starts the ratios are judged; of all they are drawn."""
_FIGURES = ("mean", "99th percentile")

Times = Mapping[str, Sequence[float]]
"""A figure of each discipline, one for each seed."""


@cache
def _measured(starts: int) -> tuple[Times, Times]:
    """Mean and 99th percentile of the completion times of short flows, ns."""
    mean: dict[str, list[float]] = {}
    tail: dict[str, list[float]] = {}
    # The mean size is that of web search with each step at its lower end.
    load = round(starts / _OF_PAPER * 0.988 * 8)
    with tempfile.TemporaryDirectory(prefix="sojourn-paper-") as scratch:
        for name, (control, aqms, ranked) in _SENDERS.items():
            scenario = _fabric(load, control, ranked=ranked) | {"aqms": aqms}
            for seed in _SEEDS:
                folder = Path(scratch) / f"{name}-{seed}"
                run = record(plan_scenario(scenario, seed=seed), folder)
                for one in run.runs:
                    times = _completion(folder / one.folder)
                    mean.setdefault(one.label, []).append(float(times.mean()))
                    tail.setdefault(one.label, []).append(float(np.percentile(times, 99)))
    return mean, tail


def _completion(folder: Path) -> Any:
    """The completion times of short flows, ns."""
    table = pq.read_table(folder / EXCHANGES, columns=["size", "started", "finished"])
    size, started, finished = (table.column(name).to_numpy() for name in table.column_names)
    done = (finished > 0) & (size < _SHORT)
    return finished[done] - started[done]


def _fabric(load: int, control: str, *, ranked: bool) -> dict[str, Any]:
    """Hosts of 1 Gbit/s at leaves, spines by 4 Gbit/s; `load` is that of a host, Mbit/s."""
    spines = [f"spine{number}" for number in range(_SPINES)]
    hosts, switches, links = list[str](), [_switch(name) for name in spines], list[dict[str, Any]]()
    for leaf in range(_LEAVES):
        switches.append(_switch(f"leaf{leaf}"))
        up = [{"between": [f"leaf{leaf}", spine], "rate": "4 Gbit/s"} for spine in spines]
        links.extend(link | {"rows": False} for link in up)
        for number in range(_HOSTS):
            host, own = f"h{leaf}_{number}", f"n{leaf}_{number}"
            hosts.append(host)
            switches.append(_switch(own))
            links.append({"between": [host, own]})
            port = {"between": [own, f"leaf{leaf}"], "rate": "1 Gbit/s"}
            links.append(port | {"rows": len(hosts) == 1})
    flows = {
        "kind": "transfers", "from": "*", "to": "*", "load": f"{load} Mbit/s",
        "sizes": "websearch", "interpolate": "lower", "congestion_control": control,
        "min_rto": "1 ms", "delayed_ack": "0 ms",
    }  # fmt: skip
    return {
        "duration": _DURATION,
        "rows": False,
        "hosts": hosts,
        "switches": switches,
        "links": links,
        "flows": [flows | ({"rank": "remaining"} if ranked else {})],
    }


def _switch(name: str) -> dict[str, Any]:
    return {"name": name, "port_speed": "100 Gbit/s", "multipath": "ecmp"}


def _ratios(starts: int, place: int) -> dict[str, list[float]]:
    """A figure over that of PIFO, of each discipline and seed."""
    times = _measured(starts)[place]
    of_pifo = times["PIFO"]
    return {
        label: [a / b for a, b in zip(times[label], of_pifo, strict=True)] for label in _PUBLISHED
    }


def short_flows() -> Computed:
    """Figure 8: completion times of flows below 100 kB over those under PIFO, by load."""
    found = []
    for starts in _JUDGED:
        for place, figure in enumerate(_FIGURES):
            for label, ratios in _ratios(starts, place).items():
                says = f"{starts} starts/s, {figure}: {label} to PIFO"
                found.append(judged(says, _PUBLISHED[label][starts][place], ratios))
    return Computed(tuple(found), tuple(_curves(place) for place in range(len(_FIGURES))))


def _curves(place: int) -> CurvePlot:
    """The ratios of all loads, ours and the paper's."""
    curves = []
    for label, published in _PUBLISHED.items():
        along = tuple(float(starts) for starts in published)
        ours = tuple(float(np.mean(_ratios(starts, place)[label])) for starts in published)
        paper = tuple(both[place] for both in published.values())
        curves.append(Curve(label, along, ours))
        curves.append(Curve(f"{label}, paper", along, paper, published=True))
    figure = _FIGURES[place]
    caption = f"Completion times of flows below 100 kB over PIFO's, {figure}, {_DURATION}"
    name = f"fig-8-{figure.replace(' ', '-')}"
    return CurvePlot(name, "Figure 8", caption, "flow starts/s", "times PIFO", tuple(curves))
