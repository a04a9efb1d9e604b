"""Delays of any size are readable: the plots' axis begins below the target, tables keep digits."""

from pathlib import Path

import pytest

import sojourn
from sojourn.results.queues import plotted
from sojourn.results.report.figures import over_time
from sojourn.results.style import delay_floor, milliseconds

MS = 1_000_000

DATA_CENTRE = """
duration = "20 ms"
target = "50 us"
aqms = ["fifo"]
access_rate = "40 Gbit/s"

[switch]
rate = "10 Gbit/s"
queue_limit = "100 kB"

[[flows]]
count = 4
rtt = "20 us"
start_jitter = "0 ms"
"""


def test_the_axis_of_delays_begins_below_the_target() -> None:
    assert delay_floor(5 * MS) == pytest.approx(0.2)
    assert delay_floor(100 * MS) == pytest.approx(0.2)
    assert delay_floor(0.1 * MS) == pytest.approx(0.004)
    assert delay_floor(5 * MS, 0.05 * MS) == pytest.approx(0.002)


@pytest.mark.parametrize(
    ("nanoseconds", "shown"),
    [(0, "0.00"), (280, "0.00028"), (1_150, "0.0011"), (12_300, "0.01"), (123 * MS, "123")],
)
def test_a_table_keeps_two_digits_of_a_short_delay(nanoseconds: float, shown: str) -> None:
    assert milliseconds(nanoseconds) == shown


def test_a_report_draws_delays_far_below_a_millisecond(tmp_path: Path) -> None:
    scenario = tmp_path / "rack.toml"
    scenario.write_text(DATA_CENTRE)
    result = sojourn.run(scenario, out=tmp_path / "out")
    queue = plotted(result)[0]
    assert queue.highest < 0.2, "ms: below the axis of a target of 5 ms"
    scale = over_time(result, queue).panels[0].scale
    assert scale.low is not None and scale.high is not None
    assert scale.low < queue.highest < scale.high
