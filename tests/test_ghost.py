"""Ghost thread and flow control of Tofino 2 on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Sojourn
from sojourn.common.resources import programs_folder

T2NA = programs_folder() / "t2na"
EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "ghost.toml"
SCENARIO = """
duration = "3 s"
aqms = [{aqms}]

[switch]
rate = "100 Mbit/s"

[[flows]]
count = 3
rtt = ["5 ms", "10 ms"]
"""


def _aqm(name: str, delay: str, **more: str) -> str:
    ghost = ", ".join([f'delay = "{delay}"', *(f"{key} = {value}" for key, value in more.items())])
    label = " ".join([name, delay, *more])
    return f'{{ use = "t2na/{name}", label = "{label}", ghost = {{ {ghost} }} }}'


def _run(sojourn: Sojourn, folder: Path, *aqms: str) -> dict[str, Any]:
    scenario = folder / "scenario.toml"
    scenario.write_text(SCENARIO.format(aqms=", ".join(aqms)))
    done = sojourn("run", scenario, "--out", folder / "out", "--json")
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_the_shipped_example_runs_in_short(sojourn: Sojourn) -> None:
    done = sojourn("run", EXAMPLE, "--duration", "500 ms", "--no-report")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["ghost_codel", "ghost_pi2"])
def test_the_ghost_takes_stages_of_ingress_and_egress_has_none(sojourn: Sojourn, name: str) -> None:
    found = json.loads(sojourn("check", T2NA / f"{name}.p4", "--json").stdout)
    egress = found["stages"]["passes"][1]["stages"]
    assert (egress, found["stages"]["fits"]) == (0, True)
    placed = [one for stage in found["stages"]["stages"] for one in stage["placed"]]
    ghost = [one for one in placed if one["name"].startswith("ghost: ")]
    assert ghost and all(one["pass"] == "ingress" for one in ghost)
    text = sojourn("check", T2NA / f"{name}.p4").stdout
    assert "ghost: " in text


def test_packets_are_dropped_before_the_queue_and_a_run_names_its_assumptions(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    names = [_aqm("ghost_codel", delay) for delay in ("0 us", "1 us", "10 us")]
    said = _run(sojourn, tmp_path, *names, _aqm("ghost_pi2", "1 us"), '"codel"')
    native = said["aqms"][-1]
    for one in said["aqms"][:3]:
        # The senders lose about as many packets as with the law at the head of the queue.
        assert 0.6 < one["ingress_drops"] / native["aqm_drops"] < 1.6, one
        assert one["aqm_drops"] == 0
        assert one["recirculated"] == one["mirrored"] == 0
    for label in ("ghost_codel 10 us", "ghost_pi2 1 us"):
        texts = "\n".join(said["assumptions"][label])
        assert "depth_report_enable" in texts and "qlength is 2 cells" in texts
    assert "takes 10 us" in "\n".join(said["assumptions"]["ghost_codel 10 us"])
    assert "codel" not in said["assumptions"]
    described = json.loads((tmp_path / "out" / "run.json").read_text())["runs"]
    ghost = {run["label"]: run["aqm"].get("ghost") for run in described}
    assert ghost["codel"] is None
    assert ghost["ghost_pi2 1 us"] == {
        "delay": 1_000, "interval": 2, "waiting": 16, "cells": 2, "order": "compiler", "mode": "any"
    }  # fmt: skip


def test_mode_color_reports_the_depths_that_cross_a_limit_of_the_queue_for_a_colour(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    shipped = (T2NA / "ghost_codel.toml").read_text()
    limits = "[[queues]]\nport = 2\nlimit_cells = 400\nyellow_eighths = 1\nred_eighths = 4\n"
    (tmp_path / "limits.toml").write_text(shipped + limits)
    (tmp_path / "silent.toml").write_text(f"{shipped}{limits}reports = false\n")
    modes = {"any": "limits", "color": "limits", "off": "silent"}
    aqms = [
        f'{{ use = "t2na/ghost_codel", label = "{label}", control = "{control}.toml", '
        f'ghost = {{ mode = "{"color" if label == "color" else "any"}" }} }}'
        for label, control in modes.items()
    ]
    said = _run(sojourn, tmp_path, *aqms)
    delivered = {
        label: int(texts[0].removeprefix("ghost: ").split()[0])
        for label, texts in said["assumptions"].items()
    }
    # Some at the other port, to which the acknowledgements go.
    assert 0 < delivered["color"] < delivered["any"] / 10, delivered
    assert delivered["off"] < delivered["any"], delivered
    assert "mode COLOR reports" in "\n".join(said["assumptions"]["color"])


def test_a_run_is_the_same_twice_and_another_word_order_is_another_run(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    aqms = [_aqm("ghost_codel", "1 us"), _aqm("ghost_codel", "1 us", order='"model"')]
    rows = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        said = _run(sojourn, tmp_path / folder, *aqms)
        out = tmp_path / folder / "out"
        rows.append([path.read_bytes() for path in sorted(out.glob("*/packets.parquet"))])
        assert len(said["aqms"]) == len(rows[-1]) == 2
    assert rows[0] == rows[1]
    assert rows[0][0] != rows[0][1]


def test_decisions_on_one_trace_are_those_of_the_law_as_far_as_depth_allows(
    sojourn: Sojourn,
) -> None:
    def drops(*delays: str) -> list[dict[str, Any]]:
        options = [word for delay in delays for word in ("--ghost-delay", delay)]
        done = sojourn(
            "replay", "bursts", "--rate", "100 Mbit/s", "--packet-size", "1500",
            "--duration", "2 s", "--aqm", "t2na/ghost_codel", *options, "--json",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (trace,) = json.loads(done.stdout)["traces"]
        found: list[dict[str, Any]] = trace["outcomes"]
        return found

    rows = drops("0 us", "1 us", "10 us")
    assert len(rows) == 3
    assert rows == drops("10 us", "1 us", "0 us")
    slot = 1538 * 8 * 10
    for row in rows:
        # Each of the law's drops has one of the program's, most at the same packet or the next.
        assert row["drops"] == row["reference_drops"] > 0, row
        assert (row["missed"], row["extra"]) == (0, 0), row
        assert row["drop_time_error_ns"]["median"] <= slot, row


def test_ghost_is_refused_for_a_program_without_a_ghost_thread(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO.format(aqms=_aqm("codel", "1 us")))
    done = sojourn("run", scenario, "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "the program's pipeline has no ghost thread" in " ".join(done.stderr.split())


def test_a_time_gate_pauses_its_queue(sojourn: Sojourn, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    text = SCENARIO.format(aqms='"t2na/time_gate"').replace("[[flows]]", "")
    udp = '[[flows]]\nkind = "udp"\nrate = "10 Mbit/s"\nrtt = "1 ms"\n'
    scenario.write_text(text.split("count = 3")[0] + udp)
    done = sojourn("run", scenario, "--duration", "1 s", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    (one,) = said["aqms"]
    (path,) = (tmp_path / "out").glob("*/counters.json")
    counters = json.loads(path.read_text())
    assert counters["flow_control"]["paused"] > 0 < counters["flow_control"]["resumed"]
    # The gate is closed for 2^26 ns.
    assert 60e6 < one["max"] < 70e6
    (note,) = said["assumptions"][one["aqm"]]
    assert "125 ns" in note
