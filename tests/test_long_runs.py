"""Programs over hours: floods of unresponsive traffic, idle times, clocks that wrap.

bmv2 has times of 32 bits of microseconds, which start again after 71.6 minutes and have another
sign after half of that; on Tofino 32 bits of nanoseconds do so each 4.3 s. What a program decides
may depend on neither. (`test_replay.py` holds the four CoDels to it packet by packet.)
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest

import sojourn as package

SIGN, AGAIN = 2**31 / 1e6, 2**32 / 1e6
"""s: where 32 bits of microseconds have another sign, and where they start again."""

PROGRAMS = [
    "codel_exact",
    "tna/fq_codel",
    *(f"v1model/{name}" for name in ("codel", "codel_act", "fq_codel", "pie", "pi2", "red")),
]

AS_PUBLISHED = ["codel_act", "p4_codel"]
"""On Tofino; nothing bounds how far their next drop falls behind the clock."""

BEFORE_THE_QUEUE = ["v1model/pie", "v1model/pi2", "v1model/red"]

SWITCH = """
[switch]
rate = "300 kbit/s"
queue_limit = "150 kB"
"""

FLOOD = """
[[flows]]
kind = "udp"
rate = "360 kbit/s"
packet_size = "1400 B"
rtt = "10 ms"

[[flows]]
kind = "udp"
rate = "30 kbit/s"
packet_size = "200 B"
rtt = "10 ms"
"""

EPISODES = ((0, 60), (SIGN - 30, SIGN + 30), (AGAIN - 30, AGAIN + 30))


def times(start: float, stop: float) -> str:
    """The flood's flows, from `start` to `stop`."""
    when = f'start = "{start * 1000:.0f} ms"\nstop = "{stop * 1000:.0f} ms"\n'
    return "\n".join(f"{flow.strip()}\n{when}" for flow in FLOOD.strip().split("\n\n"))


def run(
    folder: Path, duration: float, flows: str, switch: str = SWITCH, aqms: list[str] = PROGRAMS
) -> package.Result:
    head = f'duration = "{duration:.0f} s"\naqms = {aqms}\n'.replace("'", '"')
    (folder / "hours.toml").write_text(head + switch + flows)
    return package.run(folder / "hours.toml", out=folder / "out")


class Rows:
    """When each packet was decided about, s; whether it was dropped by the program; how long the
    others waited, s."""

    def __init__(self, result: package.Result, name: str) -> None:
        found = next(a for label, a in result.aqms.items() if label.split(" ")[0] == name)
        rows = pq.read_table(found.folder / "packets.parquet")
        verdict = np.array(rows["verdict"].cast("string").to_pylist())
        self.time: npt.NDArray[np.float64] = rows["dequeued"].to_numpy() / 1e9
        self.dropped = np.isin(verdict, ["aqm", "ingress"])
        self.waited = (rows["dequeued"].to_numpy() - rows["enqueued"].to_numpy()) / 1e9
        self.sent = verdict == "sent"

    def share(self, start: float, stop: float) -> float:
        """Of the packets of that time, those that the program dropped."""
        return float(self.dropped[(self.time >= start) & (self.time < stop)].mean())


@pytest.fixture(scope="module")
def flood(tmp_path_factory: pytest.TempPathFactory) -> package.Result:
    return run(tmp_path_factory.mktemp("flood"), AGAIN + 120, FLOOD, aqms=PROGRAMS + AS_PUBLISHED)


@pytest.fixture(scope="module")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> package.Result:
    flows = "\n".join(times(start, stop) for start, stop in EPISODES)
    return run(tmp_path_factory.mktemp("episodes"), AGAIN + 40, flows)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_flood_of_72_minutes_never_silences_a_program(flood: package.Result, name: str) -> None:
    rows = Rows(flood, name)
    usual = rows.share(100, 1000)
    assert usual > 0.15
    edges = np.arange(100, AGAIN + 100, 100)
    shares = [rows.share(start, start + 100) for start in edges]
    assert shares == pytest.approx([usual] * len(shares), abs=0.05)
    drops = rows.time[rows.dropped & (rows.time >= 100)]
    # RED's average over 512 packets swings at so slow a rate; the native one's pauses are as long.
    assert np.diff(drops).max() < (10.0 if name == "v1model/red" else 2.0), "s without a drop"


def test_a_flood_silences_the_two_published_laws_as_their_headers_say(
    flood: package.Result,
) -> None:
    pauses = {}
    for name in AS_PUBLISHED:
        rows = Rows(flood, name)
        pauses[name] = np.diff(rows.time[rows.dropped & (rows.time >= 100)])
    # Half of what 32 bits of nanoseconds hold, and then about as long no pause, by turns.
    act = pauses["codel_act"]
    assert 2.0 < act.max() < 2.3
    assert (act > 2).sum() == pytest.approx((AGAIN + 20) / (2**32 / 1e9), rel=0.1)
    assert pauses["p4_codel"].max() > 60


DELUGE = """
[[flows]]
kind = "udp"
rate = "150 Mbit/s"
packet_size = "1400 B"
rtt = "10 ms"
stop = "2 s"

[[flows]]
kind = "udp"
rate = "2 Mbit/s"
packet_size = "1400 B"
rtt = "10 ms"
start = "4 s"
"""


@pytest.fixture(scope="module")
def deluge(tmp_path_factory: pytest.TempPathFactory) -> package.Result:
    """Thirty times what the line carries, and then a flow that it can carry."""
    switch = SWITCH.replace("300 kbit/s", "5 Mbit/s")
    return run(tmp_path_factory.mktemp("deluge"), 8, DELUGE, switch, BEFORE_THE_QUEUE)


@pytest.mark.parametrize("name", BEFORE_THE_QUEUE)
def test_packets_after_a_flood_are_forwarded(deluge: package.Result, name: str) -> None:
    # PIE's probability is 1 by then: what is not sent cannot report that the queue is empty.
    rows = Rows(deluge, name)
    assert rows.sent[(rows.time >= 1) & (rows.time < 2)].mean() < 0.1
    sent = rows.sent[(rows.time >= 5) & (rows.time < 8)]
    assert len(sent) > 500 and sent.mean() > 0.99


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_idle_half_hour_and_a_clock_that_starts_again_change_no_decision_to_speak_of(
    episodes: package.Result, name: str
) -> None:
    rows = Rows(episodes, name)
    first, *others = [rows.share(start, stop) for start, stop in EPISODES]
    assert first > 0.1
    assert others == pytest.approx([first] * 2, abs=0.05)
