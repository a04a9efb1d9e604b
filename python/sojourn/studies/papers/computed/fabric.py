"""Completion times on a small leaf-spine fabric: the pFabric experiment of the SP-PIFO paper.

Sixteen hosts stand for the paper's 144, at the same load of each link. The paper's hosts send
through the discipline under test; hosts here have a plain queue, so a switch with it stands behind
each. Depends on the runner and on a run's transfers.
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
from sojourn.studies.papers.computed.finding import Computed
from sojourn.studies.papers.computed.ratio import judged

_LEAVES, _HOSTS = 4, 4
_SEEDS = (1, 2, 3)
_DURATION = "500 ms"
_SHORT, _LONG = 100_000, 1_000_000
"""Flows below the one, and from the other on, in bytes."""

_SENDERS: Mapping[str, tuple[str, list[dict[str, Any]], bool]] = {
    "ranked": (
        "newreno",
        [
            {"use": "pifo", "label": "PIFO", "limit_packets": 80},
            {"use": "sp_pifo", "label": "SP-PIFO"},
        ],
        True,
    ),
    "TCP": ("newreno", [{"use": "fifo", "label": "TCP", "limit_bytes": "146 kB"}], False),
}
"""Congestion control, disciplines, and whether senders write remaining bytes as ranks."""

_PUBLISHED = (
    (3600, {"SP-PIFO": (1.13, 1.10), "TCP": (5.30, 11.3)}),
    (11100, {"SP-PIFO": (1.26, 1.36), "TCP": (14.2, 17.0)}),
)
"""Flow starts per second among 144 hosts; mean and 99th percentile of short flows over PIFO's."""

Times = Mapping[str, Sequence[float]]
"""A figure of each discipline, one for each seed."""


@cache
def _measured(starts: int) -> tuple[Times, Times]:
    """Mean and 99th percentile of the completion times of short flows, ns."""
    mean: dict[str, list[float]] = {}
    tail: dict[str, list[float]] = {}
    # The mean size is that of web search with each step at its lower end.
    load = round(starts / 144 * 0.988 * 8)
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
    """Hosts of 1 Gbit/s at leaves, and a spine by 4 Gbit/s; `load` is that of a host, Mbit/s."""
    hosts, switches, links = list[str](), [_switch("spine")], list[dict[str, Any]]()
    for leaf in range(_LEAVES):
        switches.append(_switch(f"leaf{leaf}"))
        links.append({"between": [f"leaf{leaf}", "spine"], "rate": "4 Gbit/s", "rows": False})
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
    return {"name": name, "port_speed": "100 Gbit/s"}


def short_flows() -> Computed:
    """Figure 8: completion times of flows below 100 kB over those under PIFO."""
    found = []
    for starts, published in _PUBLISHED:
        for place, figure in enumerate(("mean", "99th percentile")):
            times = _measured(starts)[place]
            for label, values in published.items():
                ratios = [a / b for a, b in zip(times[label], times["PIFO"], strict=True)]
                says = f"{starts} starts/s, {figure}: {label} to PIFO"
                found.append(judged(says, values[place], ratios))
    return Computed(tuple(found))
