"""HPCC over telemetry that a P4 program writes: flows fill 95 % of a link, and nothing waits.

The arithmetic is tested in `crates/net/src/tcp/congestion/hpcc.rs`, the headers in
`crates/net/src/wire/telemetry.rs`.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from sojourn.common.resources import scenarios_folder
from sojourn.errors import ScenarioError
from sojourn.runner import plan_scenario, record

ETA = 0.95
WARM_UP = 5_000_000
"""ns."""


def shipped() -> dict[str, Any]:
    return tomllib.loads((scenarios_folder() / "hpcc.toml").read_text())


def planned(scenario: dict[str, Any]) -> Any:
    return plan_scenario(scenario, beside=scenarios_folder())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped scenario."""
    folder = tmp_path_factory.mktemp("hpcc") / "run"
    record(planned(shipped()), folder)
    (counters,) = folder.rglob("counters.json")
    return counters.parent


def test_two_flows_fill_the_link_to_eta_and_nearly_nothing_waits(folder: Path) -> None:
    rows = pq.read_table(folder / "packets.parquet", columns=["enqueued", "dequeued", "size"])
    entered, left, size = (rows[name].to_numpy().astype(np.int64) for name in rows.column_names)
    late = entered >= WARM_UP
    span = (left[late].max() - WARM_UP) / 1e9
    # With preamble, check sequence and gap, as the program counts.
    rate = float((size[late] + 24).sum()) * 8 / span
    assert rate / 10e9 == pytest.approx(ETA, abs=0.02)
    delay = left[late] - entered[late]
    # A packet takes 1.2 us.
    assert np.percentile(delay, 99) < 4 * 1_200
    assert json.loads((folder / "counters.json").read_text())["malformed_frames"] == 0


def test_without_a_base_rtt_the_scenario_is_refused() -> None:
    scenario = shipped()
    del scenario["flows"][0]["base_rtt"]
    with pytest.raises(ScenarioError, match="needs base_rtt"):
        planned(scenario)
