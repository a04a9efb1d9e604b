"""`sojourn lab`: topologies in p4lang's form around live switches. The files are our own.

Needs network namespaces, of root's or of one's own.
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Sojourn
from sojourn.backends.live.namespaces import NamespacesError, require
from sojourn.control import read_description
from sojourn.errors import ScenarioError
from sojourn.model.programs import compiled, with_own_folder
from sojourn.tools.lab import read_topology
from sojourn.tools.lab.entries import check, ports_of, read_runtime
from sojourn.tools.lab.lab_init import plan_of
from sojourn.tools.lab.lab_process import programs_of

SOJOURN = [sys.executable, "-m", "sojourn"]
PROGRAM = """
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t { bit<64> front; bit<8> ttl; bit<8> protocol; bit<16> sum; bit<32> src; bit<32> dst; }
struct headers { ethernet_t ethernet; ipv4_t ipv4; }
struct metadata { }
parser Read(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start {
        p.extract(h.ethernet);
        transition select(h.ethernet.type) { 0x800: ip; default: accept; }
    }
    state ip { p.extract(h.ipv4); transition accept; }
}
control Verify(inout headers h, inout metadata m) { apply { } }
control In(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action drop() { mark_to_drop(s); }
    action to(bit<48> mac, bit<9> port) { h.ethernet.dst = mac; s.egress_spec = port; }
    action to_all() { s.mcast_grp = 1; }
    table hosts {
        key = { h.ipv4.dst: lpm; }
        actions = { to; drop; to_all; }
        default_action = drop();
    }
    apply { if (h.ipv4.isValid()) { hosts.apply(); } else { drop(); } }
}
control Out(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control Compute(inout headers h, inout metadata m) { apply { } }
control Write(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(Read(), Verify(), In(), Out(), Compute(), Write()) main;
"""


def topology() -> dict[str, Any]:
    def host(number: int) -> dict[str, Any]:
        return {
            "ip": f"10.0.{number}.{number}/24",
            "mac": f"08:00:00:00:0{number}:11",
            "commands": [
                f"route add default gw 10.0.{number}.9 dev eth0",
                f"arp -i eth0 -s 10.0.{number}.9 08:00:00:00:0{number}:00",
            ],
        }

    return {
        "hosts": {"h1": host(1), "h2": host(2), "h3": host(3)},
        "switches": {"s1": {"runtime_json": "s1.json"}, "s2": {"runtime_json": "s2.json"}},
        "links": [
            ["h1", "s1-p1"],
            ["s1-p2", "s2-p2", "5", 2.0],
            ["h2", "s2-p1"],
            ["h3", "s1-p3"],
        ],
    }


def runtime(routes: dict[str, tuple[str, int]]) -> dict[str, Any]:
    return {
        "target": "bmv2",
        "table_entries": [
            {"table": "In.hosts", "default_action": True, "action_name": "In.drop"},
            *(
                {
                    "table": "In.hosts",
                    "match": {"h.ipv4.dst": [address, 32]},
                    "action_name": "In.to",
                    "action_params": {"mac": mac, "port": port},
                }
                for address, (mac, port) in routes.items()
            ),
        ],
        "multicast_group_entries": [
            {"multicast_group_id": 1, "replicas": [{"egress_port": 2, "instance": 1}]}
        ],
    }


@pytest.fixture
def files(tmp_path: Path) -> Path:
    macs = {number: f"08:00:00:00:0{number}:11" for number in (1, 2, 3)}
    s1 = {"10.0.1.1": (macs[1], 1), "10.0.2.2": (macs[2], 2), "10.0.3.3": (macs[3], 3)}
    s2 = {"10.0.1.1": (macs[1], 2), "10.0.2.2": (macs[2], 1)}
    (tmp_path / "topology.json").write_text(json.dumps(topology()))
    (tmp_path / "s1.json").write_text(json.dumps(runtime(s1)))
    (tmp_path / "s2.json").write_text(json.dumps(runtime(s2)))
    (tmp_path / "hosts.p4").write_text(PROGRAM)
    return tmp_path


@pytest.fixture(scope="module")
def namespaces() -> None:
    try:
        require()
    except NamespacesError as error:
        pytest.skip(str(error).splitlines()[0])


def test_hosts_reach_each_other_through_the_live_switches_of_a_topology(
    namespaces: None, ping: None, files: Path
) -> None:
    environment = os.environ | {"XDG_CACHE_HOME": str(files / "cache")}

    def sojourn(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*SOJOURN, *words], capture_output=True, text=True, cwd=files, timeout=40,
            env=environment,
        )  # fmt: skip

    lab = subprocess.Popen(
        [*SOJOURN, "lab", "--out", "lab", "topology.json", "hosts.p4"],
        stdout=subprocess.PIPE, text=True, cwd=files, env=environment,
    )  # fmt: skip
    try:
        assert lab.stdout is not None
        said = [lab.stdout.readline() for _ in range(3)]
        assert "h1, h2, h3" in said[0], said
        far = sojourn("lab", "exec", "h1", "ping", "-c", "3", "-i", "0.2", "10.0.2.2")
        assert far.returncode == 0, far.stdout + far.stderr
        fastest = float(far.stdout.rpartition("= ")[2].split("/")[0])
        assert fastest >= 10, "the link's delay, there and back"
        near = "ping -c 1 -W 5 10.0.1.1 && ! ping -c 1 -W 1 10.0.2.2"
        lost = sojourn("lab", "exec", "h3", "sh", "-c", near)
        assert lost.returncode == 0, "no way leads back from h2, and nobody answers"
        assert "no host" in sojourn("lab", "exec", "h9", "true").stderr
        dumped = sojourn("ctl", "lab/s2", "table_dump hosts").stdout
        assert "10.0.2.2/32" in dumped
    finally:
        lab.send_signal(signal.SIGTERM)
        lab.wait(timeout=30)
    assert (files / "lab" / "s1" / "packets-port-2.parquet").is_file(), "the slow link is measured"
    assert "no lab runs" in sojourn("lab", "exec", "h1", "true").stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"links": [["h1", "s1-p1"], ["h2", "s1-p1"]]}, "an end of two links"),
        ({"links": [["h1", "s7-p1"]]}, "neither a host nor a switch's port"),
        ({"links": [["h1", "s1-p1"]]}, "has no link"),
        ({"links": [["h1", "s1-p1", "0", -3]]}, "a rate is Mbit/s"),
        ({"hosts": {"h1": {"ip": "10.0.1.999/24", "mac": "08:00:00:00:01:11"}}}, "10.0.1.999"),
        ({"hosts": {"h1": {"ip": "10.0.1.1/24", "mac": "none"}}}, "no Ethernet address"),
        (
            {
                "hosts": {
                    "h1": {
                        "ip": "10.0.1.1/24",
                        "mac": "08:00:00:00:01:11",
                        "commands": ["touch /tmp/x"],
                    }
                }
            },
            "understood are",
        ),
        ({"switches": {"s1": {"runtime_json": "../../none.json"}}}, "no such file"),
        ({"switches": {"a/b": {}}}, "a name is"),
        ({"switches": {"s1": {"program": "build/other.json"}}}, "--switch s1=other.p4"),
        ({"hosts": 3}, "hosts, switches and links"),
    ],
)
def test_a_topology_that_cannot_be_built_is_refused_before_anything_is_made(
    files: Path, change: dict[str, Any], message: str
) -> None:
    given = topology()
    if "switches" in change:
        given |= {"hosts": {}, "links": []}
    elif isinstance(change.get("hosts"), dict):
        given["links"] = [["h1", "s1-p1"]]
    (files / "topology.json").write_text(json.dumps(given | change))
    with pytest.raises(ScenarioError, match=re.escape(message)):
        programs_of(read_topology(files / "topology.json"), str(files / "hosts.p4"), {})


def test_an_entry_that_does_not_fit_the_program_is_named_with_its_place(
    sojourn: Sojourn, files: Path
) -> None:
    given = runtime({"10.0.1.1": ("08:00:00:00:01:11", 1)})
    given["table_entries"][1]["action_params"]["prot"] = 3
    (files / "s2.json").write_text(json.dumps(given))
    said = sojourn("lab", str(files / "topology.json"), str(files / "hosts.p4"))
    assert said.returncode == 2
    message = " ".join(said.stderr.split())
    assert "s2.json: table_entries[1]: action In.to has no parameter prot" in message


GROUP = {"multicast_group_id": 3, "replicas": [{"egress_port": 2, "instance": 1}]}
CLONE = {"clone_session_id": 100, "replicas": [{"egress_port": 252, "instance": 1}]}


@pytest.mark.parametrize(
    ("key", "entry", "message"),
    [
        ("table_entries", "In.hosts", '"In.hosts" is no entry'),
        ("table_entries", {}, "table: missing; write a name"),
        ("table_entries", {"table": "In.hosts"}, "action_name: missing"),
        (
            "table_entries",
            {"table": "In.hosts", "action_name": "In.drop", "match": {"h.ipv4.dst": ["here", 8]}},
            'h.ipv4.dst: "here" is no number, IP address or Ethernet address',
        ),
        (
            "table_entries",
            {
                "table": "In.hosts",
                "action_name": "In.drop",
                "match": {"h.ipv4.dst": ["10.0.0.1", 33]},
            },
            "table `In.hosts`",
        ),
        (
            "table_entries",
            {"table": "In.typed", "action_name": "In.drop", "match": {}},
            "the exact key h.ethernet.type is missing",
        ),
        ("multicast_group_entries", GROUP | {"multicast_group_id": "1"}, 'multicast_group_id: "1"'),
        ("multicast_group_entries", GROUP | {"multicast_group_id": 0}, "from 1 to 32767"),
        ("multicast_group_entries", {"multicast_group_id": 3}, "replicas: missing"),
        (
            "multicast_group_entries",
            GROUP | {"replicas": [{"egress_port": 512}]},
            "egress_port: 512; write a whole number from 0 to 511",
        ),
        ("clone_session_entries", CLONE | {"clone_session_id": None}, "clone_session_id: missing"),
        ("clone_session_entries", CLONE | {"packet_length_bytes": -1}, "packet_length_bytes: -1"),
    ],
)
def test_an_invalid_runtime_file_is_reported_with_its_place(
    sojourn: Sojourn, files: Path, key: str, entry: Any, message: str
) -> None:
    given = runtime({})
    given.setdefault(key, []).append(entry)
    (files / "s2.json").write_text(json.dumps(given))
    (files / "hosts.p4").write_text(WITH_TERNARY)
    said = sojourn("lab", str(files / "topology.json"), str(files / "hosts.p4"))
    assert said.returncode == 2, said.stdout + said.stderr
    told = " ".join(said.stderr.split())
    assert f"s2.json: {key}[{len(given[key]) - 1}]: " in told and message in told, told
    assert "_core" not in told and "Error(" not in told


WITH_TERNARY = PROGRAM.replace(
    "    apply { if",
    "    table any { key = { h.ipv4.dst: ternary; h.ipv4.ttl: range; } actions = { drop; } }\n"
    "    table typed { key = { h.ethernet.type: exact; } actions = { drop; } }\n"
    "    apply { any.apply(); typed.apply(); if",
)


def test_entries_without_match_and_clones_to_anywhere_are_operations(files: Path) -> None:
    given = runtime({})
    given["table_entries"] = [{"table": "In.any", "action_name": "In.drop", "priority": 1}]
    given["clone_session_entries"] = [
        CLONE,
        {"clone_session_id": 101, "replicas": [{"egress_port": 251}]},
        {"clone_session_id": 102, "replicas": [{"egress_port": 1}, {"egress_port": 2}]},
    ]
    path = files / "s2.json"
    path.write_text(json.dumps(given))
    (files / "hosts.p4").write_text(WITH_TERNARY)
    program = compiled(files / "hosts.p4", include_paths=with_own_folder(()))
    operations = read_runtime(path, read_description(program.declarations()))
    check(operations, program)
    assert operations[0].what["entry"]["match"] == {}
    assert [one.what for one in operations[2:]] == [
        {"op": "set_multicast_group", "id": 0x8064, "nodes": [{"rid": 1, "ports": [252]}]},
        {"op": "set_mirror_session", "session": 100, "group": 0x8064},
        {"op": "set_mirror_session", "session": 101, "port": 251},
        {
            "op": "set_multicast_group",
            "id": 0x8066,
            "nodes": [{"rid": 0, "ports": [1]}, {"rid": 0, "ports": [2]}],
        },
        {"op": "set_mirror_session", "session": 102, "group": 0x8066},
    ]
    # A port that no link has is there, connected to nothing.
    assert ports_of(path) == {1, 2, 251, 252}
    plan = plan_of(read_topology(files / "topology.json"), "s2", str(files / "hosts.p4"))
    assert {port.number: port.interface for port in plan.ports} == {
        1: "s2-p1",
        2: "s2-p2",
        251: "none",
        252: "none",
    }
