"""Fabrics, workloads, loads that are shares of a link, slowdown by size, and shared buffers."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from conftest import call_sojourn
from sojourn.errors import ScenarioError
from sojourn.model.scenario import Scenario, flow_endpoints, read_scenario, scenario_from_dict
from sojourn.model.scenario.groups import groups_of
from sojourn.model.scenario.routes import Routes
from sojourn.model.scenario.workloads import WORKLOADS
from sojourn.results.link_loads import link_loads, places
from sojourn.results.result import read_result
from sojourn.results.slowdown import ideal_times
from sojourn.results.slowdown_bins import read_slowdowns, slowdown_table
from sojourn.results.topology_plot import topology_loads, topology_svg
from sojourn.results.traffic.transfers import Exchanges
from sojourn.runner import plan_scenario
from sojourn.runtime.arrow_tables import EXCHANGE_SCHEMA
from sojourn.runtime.folder import RunFolder
from sojourn.runtime.plan import make_plan
from sojourn.tools.delays.captures import read_frames

LEAF_SPINE: dict[str, Any] = {
    "leaf_spine": {"leaves": 2, "spines": 2, "hosts": 2},
    "host_rate": "1 Gbit/s",
    "rate": "2 Gbit/s",
}
TRANSFERS: dict[str, Any] = {
    "kind": "transfers", "sizes": "hadoop", "load": "40 %", "from": "*", "to": "*",
}  # fmt: skip


def document(topology: Any = None, *flows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "duration": "20 ms",
        "aqms": ["fifo"],
        "topology": topology or LEAF_SPINE,
        "flows": list(flows) or [TRANSFERS],
        **more,
    }


def scenario(topology: Any = None, *flows: dict[str, Any], **more: Any) -> Scenario:
    return scenario_from_dict(document(topology, *flows, **more))


def run(folder: Path, written: dict[str, Any], *more: str) -> Any:
    """The result of a scenario through the command line, in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "scenario.toml").write_text(_toml(written))
    ran = call_sojourn(folder, "run", "scenario.toml", "--out", "out", "--no-report", *more)
    assert ran.returncode == 0, ran.stderr
    return read_result(RunFolder.open(folder / "out"))


def _toml(written: dict[str, Any]) -> str:
    lines = [f"{key} = {_value(value)}" for key, value in written.items() if key != "flows"]
    for flow in written["flows"]:
        lines += ["[[flows]]", *(f"{key} = {_value(value)}" for key, value in flow.items())]
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, _Listed):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)


@pytest.mark.parametrize(
    ("name", "mean", "lower"),
    [
        ("websearch", 1.711e6, 0.988e6),
        ("datamining", 12.66e6, 2.117e6),
        ("hadoop", 120.4e3, 56.9e3),
        ("storage", 40.9e3, 14.7e3),
        ("rpc", 2.89e3, 2.37e3),
    ],
)
def test_a_workload_has_the_mean_of_its_publication(name: str, mean: float, lower: float) -> None:
    points = ((0, 0.0), *WORKLOADS[name])
    found = sum(
        (low + high) / 2 * (to - upto) / 100 for (low, upto), (high, to) in pairwise(points)
    )
    # Of RPC there are 39 of 843 points.
    assert found == pytest.approx(mean, rel=0.03 if name == "rpc" else 0.002)
    found = sum(low * (to - upto) / 100 for (low, upto), (_, to) in pairwise(points))
    assert found == pytest.approx(lower, rel=0.005)


def test_a_share_is_of_the_hosts_link_or_of_the_uplinks() -> None:
    uplinks = TRANSFERS | {"load_of": "uplinks"}
    twice = TRANSFERS | {"count": 8}
    loads = [
        {flow["load"] for flow in make_plan(scenario(None, flows)).runs[0].config["flows"]}
        for flows in (TRANSFERS, uplinks, twice, TRANSFERS | {"load": "1 Mbit/s"})
    ]
    # 40 % of 1 Gbit/s; of two links of 2 Gbit/s for two hosts; of two sources at each host.
    assert loads == [{400_000_000}, {800_000_000}, {200_000_000}, {1_000_000}]


def test_every_shape_has_its_hosts_switches_and_links() -> None:
    shapes = {
        "leaf_spine": {"leaves": 3, "spines": 2, "hosts": 4, "parallel": 2},
        "fat_tree": 4,
        "parking_lot": 3,
        "dumbbell": {"senders": 4, "receivers": 2},
    }
    found = []
    for key, shape in shapes.items():
        made = scenario({key: shape}, TRANSFERS)
        found.append((len(made.hosts), len(made.switches), len(made.links)))
        names = [queue.name for queue in made.bottlenecks]
        files = [queue.rows for queue in made.bottlenecks]
        assert len(set(names)) == len(names) and len(set(files)) == len(files)
    # A fat tree of k = 4: k^3/4 hosts, 5 k^2/4 switches, 3 k^3/4 links.
    assert found == [(12, 5, 24), (16, 20, 48), (8, 4, 11), (6, 2, 7)]


def test_a_fabric_as_run_is_a_scenario() -> None:
    made = make_plan(scenario({**LEAF_SPINE, "shared_buffer": "1 MB", "alpha": 0.5})).scenario
    written = json.loads(json.dumps(made.model_dump(mode="json", exclude_none=True)))
    assert scenario_from_dict(written) == made
    assert made.flows[0].count == 4


def test_flows_of_several_hosts_take_them_in_turn_and_none_sends_to_itself() -> None:
    long = {"from": "h1_*", "to": "*", "count": 5}
    group = scenario(None, long).flows[0]
    hosts = ["h1_1", "h1_2", "h2_1", "h2_2"]
    assert flow_endpoints.senders(group, hosts) == ["h1_1", "h1_2", "h1_1", "h1_2", "h1_1"]
    assert flow_endpoints.receivers(group, hosts) == [
        ["h1_2"],
        ["h2_1"],
        ["h2_1"],
        ["h2_2"],
        ["h1_2"],
    ]
    drawn = scenario(None, TRANSFERS | {"from": ["h1_1"], "to": ["h1_1", "h2_2"]}).flows[0]
    assert flow_endpoints.receivers(drawn, hosts) == [["h2_2"]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topology": {}}, "topology: give one of leaf_spine, fat_tree, parking_lot, dumbbell"),
        ({"topology": {"fat_tree": 3}}, "topology.fat_tree.k: 3: "),
        ({"topology": {"fat_trees": 4}}, 'fat_trees: unknown key; did you mean "fat_tree"?'),
        ({"topology": {"leaf_spine": {"leafs": 4}}}, 'leafs: unknown key; did you mean "leaves"?'),
        ({"topology": {"dumbbell": 64}}, "a switch with 65 links; at most 64 are allowed"),
        ({"topology": {**LEAF_SPINE, "aqm_of": {"core": "fifo"}}}, 'no tier "core" (tiers: leaf'),
        ({"topology": {**LEAF_SPINE, "flowlet_gap": "1 ms"}}, "flowlet_gap is of multipath"),
        ({"hosts": ["a", "b"]}, "not beside topology: give either that"),
        ({"flows": [TRANSFERS | {"to": "x*"}]}, '"x*": no host has such a name (h1_1, '),
        ({"flows": [TRANSFERS | {"to": ["h1_1", "h3"]}]}, '"h3": not a host'),
        ({"topology": {"fat_tree": 30}}, "20250 links; at most 20000 are allowed"),
        ({"topology": {"fat_tree": 20}}, "4000000 pairs of hosts; at most 2000000 are allowed"),
        ({"flows": [TRANSFERS | {"load": "0 %"}]}, "more than 0 % to 1000 %"),
        ({"flows": [TRANSFERS | {"load": "1 Gbit/s", "load_of": "uplinks"}]}, "load_of is of a"),
        ({"flows": [TRANSFERS | {"sigma": 2.0}]}, 'sigma is of arrivals = "lognormal"'),
        ({"flows": [TRANSFERS | {"min_rto": "10 us"}]}, "min_rto is 1 ms to 60 s"),
        ({"flows": [TRANSFERS | {"delayed_ack": "1 s"}]}, "delayed_ack is 0 ms to 200 ms"),
        ({"flows": [TRANSFERS | {"hz": 200}]}, "hz: "),
        ({"flows": [TRANSFERS | {"rank": "deadline"}]}, 'rank = "deadline" needs deadline'),
        ({"flows": [TRANSFERS | {"rank": "remaining", "deadline": "1 ms"}]}, "needs deadline"),
    ],
)
def test_a_mistake_in_a_fabric_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        scenario_from_dict(document() | change)
    assert message in str(error.value)


def test_a_workload_that_is_not_there_is_no_file_either() -> None:
    with pytest.raises(ScenarioError, match=r"websearsh: no such file.*did you mean .websearch"):
        make_plan(scenario(None, TRANSFERS | {"sizes": "websearsh"}))


def test_transfers_go_to_every_other_host_and_flows_spread_over_the_spines(
    tmp_path: Path,
) -> None:
    small = TRANSFERS | {"sizes": "storage", "load": "30 %"}
    result = run(tmp_path, document({**LEAF_SPINE, "measure": "fabric"}, small))
    (aqm,) = result.aqms.values()
    rows = pq.read_table(aqm.folder / "exchanges.parquet").to_pylist()
    assert {row["source"] for row in rows} == {0, 1, 2, 3}
    assert {row["number"] for row in rows} == {0, 1, 2}, "the receiver among those of the source"
    up = [aqm.bottlenecks[f"leaf1>spine{n}"].summary.packets for n in (1, 2)]
    assert min(up) > 0.2 * sum(up)


def test_one_seed_for_all_switches_leaves_links_of_a_fat_tree_empty(
    tmp_path: Path,
) -> None:
    empty = {}
    for seed in (None, 7):
        topology = {"fat_tree": 4, "host_rate": "1 Gbit/s", "measure": ["core*"]}
        topology |= {} if seed is None else {"hash_seed": seed}
        flows = TRANSFERS | {"sizes": "storage", "load": "60 %", "from": "h1_*", "to": "h3_*"}
        result = run(tmp_path / str(seed), document(topology, flows))
        (aqm,) = result.aqms.values()
        down = [
            found.summary.packets
            for name, found in aqm.bottlenecks.items()
            if name.startswith("core") and name.endswith(("agg3_1", "agg3_2"))
        ]
        assert len(down) == 4
        empty[seed] = down.count(0)
    assert empty == {None: 0, 7: 2}


def test_saturated_queues_share_a_buffer_by_the_dynamic_threshold(
    tmp_path: Path,
) -> None:
    """Choudhury and Hahne: n saturated queues settle at alpha B / (1 + n alpha)."""
    buffer, alpha = 400_000, 0.5
    topology = {
        "dumbbell": {"senders": 6, "receivers": 3},
        "rate": "10 Gbit/s", "host_rate": "1 Gbit/s", "measure": ["right*"],
        "shared_buffer": f"{buffer} B", "alpha": alpha,
    }  # fmt: skip
    flood = {"kind": "udp", "rate": "900 Mbit/s", "from": "left*", "to": "right*"}
    flood |= {"start_jitter": "0 ms"}
    result = run(tmp_path, document(topology, flood))
    (aqm,) = result.aqms.values()
    settled = alpha * buffer / (1 + 3 * alpha)
    for receiver in (1, 2, 3):
        found = aqm.bottlenecks[f"right>right{receiver}"].summary
        # A full frame of 1518 bytes takes 19 cells of 80 bytes, and 1538 byte times on the wire.
        frames = settled / (19 * 80)
        assert found.max == pytest.approx(frames * 1538 * 8, rel=0.04)
        assert found.tail_drops > 0


def test_queues_of_each_pool_settle_by_that_pool_with_their_own_cells_on_top(
    tmp_path: Path,
) -> None:
    topology = {
        "dumbbell": {"senders": 6, "receivers": 3},
        "rate": "10 Gbit/s", "host_rate": "1 Gbit/s", "measure": ["right*"],
        "shared_buffer": "800 kB", "alpha": 0.5, "guaranteed": "8 kB", "headroom": "16 kB",
        "pools": _Listed([{"towards": ["right1", "right2"], "size": "200 kB", "alpha": 2.0}]),
    }  # fmt: skip
    flood = {"kind": "udp", "rate": "900 Mbit/s", "from": "left*", "to": "right*"}
    flood |= {"start_jitter": "0 ms"}
    (aqm,) = run(tmp_path, document(topology, flood)).aqms.values()
    # The switch `right` has four queues. Its other pool is what the rest takes nothing of.
    rest = 800_000 - 200_000 - 4 * 24_000
    settled = [2 * 200_000 / (1 + 2 * 2)] * 2 + [0.5 * rest / (1 + 0.5)]
    for receiver, shared in enumerate(settled, 1):
        found = aqm.bottlenecks[f"right>right{receiver}"].summary
        frames = (shared + 24_000) / (19 * 80)
        assert found.max == pytest.approx(frames * 1538 * 8, rel=0.05)


FLOOD: dict[str, Any] = {
    "kind": "udp", "rate": "900 Mbit/s", "from": "left*", "to": "right*", "start_jitter": "0 ms",
}  # fmt: skip
"""Six senders of 900 Mbit/s for three receivers of 1 Gbit/s each."""


def test_congested_queues_settle_by_active_buffer_managements_closed_form(tmp_path: Path) -> None:
    buffer, alpha = 400_000, 0.5
    topology = {
        "dumbbell": {"senders": 6, "receivers": 3},
        "rate": "10 Gbit/s", "host_rate": "1 Gbit/s", "measure": ["right*"],
        "shared_buffer": f"{buffer} B", "alpha": alpha, "sharing": "abm",
    }  # fmt: skip
    (aqm,) = run(tmp_path, document(topology, FLOOD)).aqms.values()
    settled = alpha * buffer / (3 * (1 + alpha))
    for receiver in (1, 2, 3):
        found = aqm.bottlenecks[f"right>right{receiver}"].summary
        frames = settled / (19 * 80)
        assert found.median == pytest.approx(frames * 1538 * 8, rel=0.04)


def test_priority_flow_control_is_counted_at_the_links_that_it_would_pause(tmp_path: Path) -> None:
    topology = {
        "dumbbell": {"senders": 6, "receivers": 3},
        "rate": "10 Gbit/s", "host_rate": "1 Gbit/s", "shared_buffer": "1 MB", "alpha": 8,
        "pfc": {"xoff": "100 kB", "headroom": "20 kB", "resume_below": "30 kB"},
    }  # fmt: skip
    path = tmp_path / "scenario.toml"
    path.write_text(_toml(document(topology, FLOOD)))
    ran = call_sojourn(tmp_path, "run", "scenario.toml", "--out", "out", "--no-report")
    assert ran.returncode == 0, ran.stderr
    assert "Would have paused" in ran.stdout and "left>right" in ran.stdout
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    (pauses,) = summary["aqms"][0]["pauses"]
    # The queues are at the switch `right`, and all that is in them came by one link.
    assert (pauses["link"], pauses["pauses"]) == ("left>right", 1)
    # 2.4 Gbit/s more come than go: 100 kB are there after 0.33 ms of the 20.
    assert pauses["paused"] == pytest.approx(20e6 - 0.33e6, rel=0.02)
    assert pauses["beyond_headroom"] > 1_000
    # Nobody was paused: the queues overflow.
    assert summary["aqms"][0]["bottlenecks"]["right>right1"]["tail_drops"] > 0


def test_short_bursts_pause_and_resume_by_a_part_of_what_is_free(tmp_path: Path) -> None:
    topology = {
        "dumbbell": 4, "host_rate": "1 Gbit/s", "rate": "1 Gbit/s", "shared_buffer": "200 kB",
        "pfc": {"alpha": 0.25, "headroom": "200 kB"},
    }  # fmt: skip
    bursts: dict[str, Any] = {
        "kind": "incast", "from": "left*", "to": "right1", "response": "20 kB", "every": "2 ms",
        "min_rto": "1 ms",
    }  # fmt: skip
    (aqm,) = run(tmp_path, document(topology, bursts)).aqms.values()
    assert aqm.pauses is not None
    rounds = round(aqm.pauses.simulated / 2e6)
    for one in aqm.pauses.links:
        assert one.link.endswith(">left"), one
        assert 1 <= one.pauses <= 3 * rounds and one.paused < aqm.pauses.simulated / 2
        assert one.beyond_headroom == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pfc": {"xoff": "9 kB", "headroom": "9 kB"}}, "pfc is of a shared buffer: give"),
        ({"shared_buffer": "1 MB", "pfc": {"headroom": "9 kB"}}, "give one of xoff, in bytes, and"),
        ({"shared_buffer": "1 MB", "sharing": "amb"}, "sharing: "),
        ({"guaranteed": "8 kB"}, "guaranteed is of a shared buffer: give shared_buffer, too"),
        (
            {"shared_buffer": "1 MB", "pools": [{"towards": ["x*"], "size": "1 kB"}]},
            '"x*": no host',
        ),
        ({"shared_buffer": "1 MB", "pools": [{"to": ["h*"], "size": "1 kB"}]}, "to: unknown key"),
    ],
)
def test_a_mistake_in_a_pool_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        scenario({**LEAF_SPINE, **change})
    assert message in str(error.value)


def test_pools_larger_than_the_buffer_are_refused_with_both_sizes(tmp_path: Path) -> None:
    topology = {**LEAF_SPINE, "shared_buffer": "100 kB", "headroom": "30 kB"}
    (tmp_path / "scenario.toml").write_text(_toml(document(topology)))
    ran = call_sojourn(tmp_path, "run", "scenario.toml", "--out", "out")
    assert ran.returncode and "120000 bytes" in ran.stderr, ran.stderr


def test_loads_of_links_are_counted_in_both_directions_and_drawn(tmp_path: Path) -> None:
    topology = {**LEAF_SPINE, "measure": "all"}
    flows = {"kind": "udp", "rate": "200 Mbit/s", "from": "h1_1", "to": "h2_1", "count": 2}
    written = document(topology, flows | {"start_jitter": "0 ms"})
    result = run(tmp_path, written)
    (aqm,) = result.aqms.values()
    found = link_loads(result.scenario, json.loads((aqm.folder / "counters.json").read_text()))
    loads = {(one.start, one.end): one for one in found}
    # Four links of hosts and four between switches, both ways.
    assert len(found) == len(loads) == 16
    for link in (("h1_1", "leaf1"), ("leaf2", "h2_1")):
        assert loads[link].utilisation == pytest.approx(0.4, rel=0.05)
    up = [loads["leaf1", f"spine{spine}"].bytes for spine in (1, 2)]
    assert sum(up) == pytest.approx(loads["h1_1", "leaf1"].bytes, rel=0.01)
    assert loads["leaf1", "h1_1"].bytes == loads["leaf1", "h1_2"].bytes == 0
    for name, queue in aqm.bottlenecks.items():
        near, far = name.split(">")
        assert loads[near, far].frames >= queue.summary.packets
    figure = topology_loads(result)
    assert figure and "h1_1 to leaf1, 4" in figure.axes[0].get_title(loc="left")
    drawing = topology_svg(result)
    assert drawing.startswith("<svg") and "currentColor" in drawing


def test_nodes_of_a_fat_tree_stand_in_rows_above_their_hosts() -> None:
    found = places(scenario({"fat_tree": 4}))
    assert [len(row) for row in found.rows] == [16, 8, 8, 4]
    assert len(set(found.at.values())) == 36
    across = {name: x for name, (x, _) in found.at.items()}
    assert across["h1_1_1"] < across["edge1_1"] < across["h1_1_2"] < across["edge1_2"]
    assert {y for name, (_, y) in found.at.items() if name.startswith("core")} == {1.0}


def test_switches_of_a_chain_stand_in_its_order() -> None:
    found = places(scenario({"parking_lot": 4}))
    assert list(found.rows[1]) == ["s1", "s2", "s3", "s4", "s5"]


def test_bins_of_slowdown_are_hpccs_and_pfabrics(tmp_path: Path) -> None:
    own = scenario(None, TRANSFERS | {"from": "h1_1", "to": "h2_1"})
    sizes = np.arange(1, 201) * 1_000
    exchanges = Exchanges(*(np.zeros(200, np.int64),) * 2, sizes, *(np.zeros(200, np.int64),) * 2)
    ideal = ideal_times(own, groups_of(own.flows)[0], exchanges)
    assert ideal is not None
    # 4 links of 1 us and 3 switches of 1.1 us, both ways; a full frame on two links of 1 Gbit/s and
    # two of 2 Gbit/s; a payload of 1,000 bytes with 90 bytes of headers at 1 Gbit/s.
    assert ideal[0] == pytest.approx(8_000 + 6_600 + 3 * 1538 * 8 + 1_090 * 8, abs=1)
    rows = {
        "flow": range(1, 201), "source": [0] * 200, "number": [0] * 200, "size": sizes,
        "started": [1] * 200, "finished": [1 + round(2 * one) for one in ideal],
    }  # fmt: skip
    pq.write_table(_table(rows), tmp_path / "exchanges.parquet")
    bins = read_slowdowns(tmp_path, own, None, 0)
    assert [one.transfers for one in bins] == [200, 100, 100, *[10] * 20]
    assert [one.largest for one in bins[:4]] == [200_000, 100_000, 200_000, 10_000]
    for one in bins:
        assert one.mean == pytest.approx(2, rel=1e-3) and one.p999 == pytest.approx(2, rel=1e-3)


def _table(rows: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table({name: list(values) for name, values in rows.items()}, schema=EXCHANGE_SCHEMA)


def test_a_run_shows_slowdown_as_table_picture_and_arrow(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(_toml(document(None, TRANSFERS | {"to": "h2_*"})))
    ran = call_sojourn(tmp_path, "run", "scenario.toml", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert "Slowdown by size" in ran.stdout and "up to 100 kB" in ran.stdout
    for name in ("slowdown", "topology"):
        assert (tmp_path / f"out/{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "Load of each link" in (tmp_path / "out/report.html").read_text()
    table = slowdown_table(read_result(RunFolder.open(tmp_path / "out")))
    assert table.schema.names[:4] == ["aqm", "group", "bins", "smallest"]
    assert table.column("bins").to_pylist().count("hpcc") == 20
    assert min(table.column("p50").to_pylist()) >= 1


def test_routes_reach_every_host_and_spread_over_ports_of_equal_cost() -> None:
    made = scenario({"fat_tree": 4})
    routes = Routes(made)
    at_edge = {address: port for address, _, port in routes.of("edge1_1", 4)}
    assert len(at_edge) == 16
    # Ports 1 and 2 lead to its two hosts, 3 and 4 upwards.
    assert sorted(at_edge.values()) == [1, 2, *[3] * 7, *[4] * 7]
    at_agg = {address: port for address, _, port in routes.of("agg1_1", 4)}
    shared = [at_agg[address] for address, port in at_edge.items() if port == 3]
    assert len(set(shared) & {3, 4}) == 2, "not the same choice at both"


def test_a_p4_program_in_every_leaf_forwards_by_the_networks_routes(
    tmp_path: Path,
) -> None:
    ran = call_sojourn(
        tmp_path, "run", "leaf_spine", "--aqm", "leaf_spine/step.p4", "--duration", "2 ms",
        "--out", "out", "--no-report",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    counters = json.loads((tmp_path / "out/step/counters.json").read_text())
    assert counters["unroutable_packets"] == 0 and counters["stray_frames"] == 0
    assert sum(queue["packets"] for queue in counters["bottlenecks"]) > 1_000


def test_a_mistake_in_entries_from_routes_is_named(tmp_path: Path) -> None:
    control = tmp_path / "routes.toml"
    control.write_text(
        '[[tables]]\nname = "Router.routes"\nentries_from = { routes = { action = "send" } }\n'
    )
    aqm = {"use": "v1model/router", "control": str(control)}
    with pytest.raises(ScenarioError, match=r"Router\.routes: entries_from\.routes: key: .*keys: "):
        make_plan(scenario(aqms=[aqm]))


def test_a_short_retransmission_timeout_shortens_incast(tmp_path: Path) -> None:
    flows: dict[str, Any] = {
        "kind": "incast", "from": "left*", "to": "right1", "response": "32 kB", "every": "400 ms",
    }  # fmt: skip
    longest = []
    short = {"min_rto": "1 ms", "delayed_ack": "1 ms"}
    for number, more in enumerate(({}, short, short | {"hz": 100})):
        topology = {"dumbbell": 40, "host_rate": "1 Gbit/s", "queue_limit": "32 kB"}
        written = document(topology, flows | more, duration="1500 ms")
        result = run(tmp_path / f"{number}", written)
        rounds = next(iter(result.aqms.values())).times[1]
        assert rounds.what.strip() == "whole rounds"
        longest.append(rounds.p99)
    # Without the keys a lost tail costs 200 ms and more.
    assert longest[0] > 200e6 > 50e6 > longest[1]
    # A timer of 1 ms lasts at least a tick.
    assert longest[2] > longest[1] + 10e6


def test_the_shipped_leaf_spine_has_a_p4_program_in_every_leaf() -> None:
    plan = plan_scenario("leaf_spine")
    config = plan.runs[-1].config
    kinds = [switch["aqm"]["kind"] for switch in config["network"]["switches"]]
    assert kinds == ["p4"] * 4 + ["native"] * 2
    assert "step.p4" in " ".join(plan.runs[-1].sources)


def test_the_linux_backend_refuses_features_that_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "fabric.toml"
    path.write_text(_toml(document()))
    from sojourn.backends.linux.checks import check_run

    plan = make_plan(read_scenario(path))
    with pytest.raises(ScenarioError, match="multipath, shared_buffer: the simulator has"):
        check_run(plan, plan.runs[0], "sockets")


def test_a_failed_link_loses_frames_until_the_routers_know_and_none_after(tmp_path: Path) -> None:
    lost, up = {}, {}
    for name, reroute in (("at once", "0 ms"), ("later", "4 ms"), ("never", "50 ms")):
        failure = {"between": ["spine1", "leaf2"], "at": "5 ms", "reroute": reroute}
        topology = {**LEAF_SPINE, "measure": "fabric", "failures": _Listed([failure])}
        flows = {"kind": "udp", "rate": "100 Mbit/s", "from": "h1_*", "to": "h2_*", "count": 16}
        folder = tmp_path / name.replace(" ", "-")
        result = run(folder, document(topology, flows | {"start_jitter": "0 ms"}))
        (aqm,) = result.aqms.values()
        counters = json.loads((aqm.folder / "counters.json").read_text())
        lost[name] = counters.get("frames_into_down_links", 0)
        up[name] = aqm.bottlenecks["leaf1>spine1"].summary.packets
    # Half of 1.6 Gbit/s pass spine1: some 66 frames of 1514 bytes a millisecond.
    assert lost["at once"] < 10
    assert 150 < lost["later"] < 400
    assert lost["never"] > 3 * lost["later"]
    assert up["at once"] < up["later"] < up["never"]


def test_a_link_that_returns_carries_flows_again(tmp_path: Path) -> None:
    failure = {"between": ["leaf1", "spine1"], "at": "5 ms", "until": "10 ms"}
    topology = {**LEAF_SPINE, "measure": "fabric", "failures": _Listed([failure])}
    flows = {"kind": "udp", "rate": "100 Mbit/s", "from": "h1_*", "to": "h2_*", "count": 16}
    (aqm,) = run(tmp_path, document(topology, flows)).aqms.values()
    rows = pq.read_table(aqm.folder / "packets.parquet", columns=["enqueued"])
    times = np.array(rows.column("enqueued")) / 1e6
    assert aqm.bottlenecks["leaf1>spine1"].summary.packets == len(times)
    assert not ((times > 5.1) & (times < 10)).any()
    assert (times < 5).any() and (times > 10.1).any()


class _Listed(list[dict[str, Any]]):
    """A list of tables as TOML writes it in a line."""


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        ({"between": ["h1_1", "leaf1"], "at": "1 ms"}, "h1_1 and leaf1: no link between these two"),
        ({"between": ["leaf1", "leaf2"], "at": "1 ms"}, "failures[0].between: leaf1 and leaf2: no"),
        ({"between": ["leaf1", "spine1"], "at": "2 ms", "until": "1 ms"}, "until must be later"),
        ({"between": ["leaf1", "spine1"], "att": "2 ms"}, 'att: unknown key; did you mean "at"?'),
    ],
)
def test_a_mistake_in_a_failure_is_named(failure: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        scenario({**LEAF_SPINE, "failures": [failure]})
    assert message in str(error.value)


def test_ranks_and_code_points_are_in_the_packets_that_programs_read(tmp_path: Path) -> None:
    flows = TRANSFERS | {"rank": "remaining", "dscp": 10, "from": "h1_1", "to": "h2_1"}
    flows |= {"sizes": "storage"}
    topology = {**LEAF_SPINE, "measure": ["h2_1"]}
    result = run(tmp_path, document(topology, flows), "--pcap")
    (aqm,) = result.aqms.values()
    frames = [bytes(frame.data) for frame in read_frames(aqm.folder / "bottleneck.pcapng")]
    data = [frame for frame in frames if int.from_bytes(frame[16:18], "big") > 1_000]
    assert data and {frame[15] >> 2 for frame in frames} == {10}
    sizes = pq.read_table(aqm.folder / "exchanges.parquet").column("size").to_pylist()
    ranks = [int.from_bytes(frame[18:20], "big") for frame in data]
    assert min(ranks) >= 1 and max(ranks) <= -(-max(sizes) // 1024)
    assert len(set(ranks)) > 5


def test_short_transfers_overtake_long_ones_where_queues_go_by_rank(tmp_path: Path) -> None:
    flows = TRANSFERS | {
        "load": "20 %", "rank": "remaining", "from": "left*", "to": "right1",
        "min_rto": "1 ms", "delayed_ack": "1 ms",
    }  # fmt: skip
    topology = {"dumbbell": 4, "host_rate": "1 Gbit/s", "rate": "4 Gbit/s", "measure": ["right1"]}
    written = document(topology, flows, duration="200 ms")
    written["aqms"] = ["fifo", "pifo", "sp_pifo", "aifo", "packs"]
    result = run(tmp_path, written)
    short = {
        label: next(one.mean for one in aqm.slowdowns if one.bins == "pfabric")
        for label, aqm in result.aqms.items()
    }
    for label in ("pifo", "sp_pifo", "packs"):
        assert short[label] < 0.5 * short["fifo"], short
    for label in ("sp_pifo", "aifo", "packs"):
        folder = result.aqms[label].folder
        (queue,) = json.loads((folder / "counters.json").read_text())["bottlenecks"]
        assert queue["discipline"]["inversions"] > 0


def test_transfers_of_an_earlier_deadline_overtake_where_queues_go_by_rank(tmp_path: Path) -> None:
    common = TRANSFERS | {
        "load": "11 %", "rank": "deadline", "from": "left*", "to": "right1",
        "min_rto": "1 ms", "delayed_ack": "1 ms",
    }  # fmt: skip
    flows = [common | {"name": text, "deadline": text} for text in ("1 ms", "200 ms")]
    topology = {"dumbbell": 4, "host_rate": "1 Gbit/s", "rate": "4 Gbit/s", "measure": ["right1"]}
    written = document(topology, *flows, duration="200 ms") | {"aqms": ["pifo"]}
    result = run(tmp_path, written)
    table = pq.read_table(result.aqms["pifo"].folder / "exchanges.parquet")
    source, started, finished = (
        table.column(name).to_numpy() for name in ("source", "started", "finished")
    )
    # Half of the sources are of the first group.
    early = source < (source.max() + 1) // 2
    done = finished > 0
    took = finished - started
    assert 1.5 * took[done & early].mean() < took[done & ~early].mean()


def test_a_deadline_beyond_the_ranks_is_refused_with_the_last_one(tmp_path: Path) -> None:
    flows = TRANSFERS | {"rank": "deadline", "deadline": "6 s"}
    (tmp_path / "late.toml").write_text(_toml(document(None, flows, duration="1 s")))
    ran = call_sojourn(tmp_path, "run", "late.toml", "--out", "out", "--no-report")
    assert ran.returncode == 2
    assert "deadline (ns) = 6000000000" in ran.stderr and "6553500000 ns" in ran.stderr
