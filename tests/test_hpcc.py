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
from sojourn.results.remarks import remarks
from sojourn.results.result import read_result
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


def measured(folder: Path) -> tuple[float, float]:
    """The share of the link in use, and the 99th percentile of the queue delay, ns."""
    rows = pq.read_table(folder / "packets.parquet", columns=["enqueued", "dequeued", "size"])
    entered, left, size = (rows[name].to_numpy().astype(np.int64) for name in rows.column_names)
    late = entered >= WARM_UP
    span = (left[late].max() - WARM_UP) / 1e9
    # With preamble, check sequence and gap, as the program counts.
    rate = float((size[late] + 24).sum()) * 8 / span
    delay = left[late] - entered[late]
    return rate / 10e9, float(np.percentile(delay, 99))


def test_two_flows_fill_the_link_to_eta_and_nearly_nothing_waits(folder: Path) -> None:
    used, delay = measured(folder)
    assert used == pytest.approx(ETA, abs=0.02)
    # A packet takes 1.2 us.
    assert delay < 4 * 1_200
    counters = json.loads((folder / "counters.json").read_text())
    assert counters["malformed_frames"] == 0
    # Two switches on the way.
    telemetry = counters["telemetry"]
    assert telemetry["hops"] == 2 * telemetry["returned"]


def test_a_program_of_another_architecture_that_writes_the_same_hops_does(tmp_path: Path) -> None:
    scenario = shipped() | {"aqms": ["v1model/hpcc"]}
    record(planned(scenario), tmp_path / "run")
    (counters,) = tmp_path.rglob("counters.json")
    used, delay = measured(counters.parent)
    # Its clock has microseconds, in which a link of 10 Gbit/s carries 1,250 bytes.
    assert used == pytest.approx(ETA, abs=0.04)
    assert delay < 4 * 1_200


def test_where_no_switch_writes_hops_the_run_says_so(tmp_path: Path) -> None:
    scenario = shipped() | {"duration": "5 ms", "aqms": ["fifo", "v1model/hpcc"]}
    run = record(planned(scenario), tmp_path / "run")
    (said,) = (line for line in remarks(read_result(run)) if "hpcc" in line)
    assert said.startswith("fifo: hpcc: ") and "returned no hop" in said
    assert "must write INT, as v1model/hpcc" in said


def test_without_a_base_rtt_the_scenario_is_refused() -> None:
    scenario = shipped()
    del scenario["flows"][0]["base_rtt"]
    with pytest.raises(ScenarioError, match="needs base_rtt"):
        planned(scenario)
