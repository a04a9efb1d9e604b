"""PSA through the command line: a router with a native discipline, P4Runtime, p4c's packet tests.

SOJOURN_PSA_TESTS names the folder of p4c's packet tests, `testdata/p4_16_samples`. The packet tests
of `tests/stf/psa` run in `test_stf.py`.
"""

import csv
import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import Sojourn
from sojourn.common.resources import programs_folder
from sojourn.tools.check.checker import check
from sojourn.tools.stf import run_stf
from test_controller_process import CONNECTED, SCENARIO, TESTS

ROOT = TESTS.parent
OTHERS = os.environ.get("SOJOURN_PSA_TESTS")
TEMPLATE = ROOT / "python/sojourn/tools/new/templates/psa/program.p4"

ROUTER = """
duration = "3 s"
aqms = [
    { use = "psa/router", label = "tail drop" },
    { use = "psa/router", label = "fq_codel", discipline = "fq_codel" },
]
[switch]
rate = "20 Mbit/s"
queue_limit = "500 kB"
[[flows]]
count = 4
rtt = ["10 ms", "40 ms"]
"""


def test_a_router_runs_with_and_without_a_discipline_in_its_queues(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    (tmp_path / "router.toml").write_text(ROUTER)
    ran = sojourn("run", "router.toml", "--out", "out", "--json")
    assert ran.returncode == 0, ran.stderr
    tail, managed = json.loads(ran.stdout)["aqms"]
    assert tail["tail_drops"] > 0 and tail["aqm_drops"] == 0
    assert managed["aqm_drops"] > 0 and managed["mean"] < tail["mean"] / 3
    # Each packet has a route, a right checksum and time to live.
    assert tail["utilisation"] > 0.9 and managed["utilisation"] > 0.9


def ipv4(ttl: int, checksum: int | None = None) -> str:
    """An IPv4 header with 32 bits of options, in hexadecimal; its checksum unless one is given."""
    head = bytes.fromhex(f"46000018 0001 0000 {ttl:02x}11 0000 0a000004 0a800004 01010100")
    words = sum(int.from_bytes(head[at : at + 2], "big") for at in range(0, len(head), 2))
    right = ~((words & 0xFFFF) + (words >> 16)) & 0xFFFF
    return (
        head[:10] + (right if checksum is None else checksum).to_bytes(2, "big") + head[12:]
    ).hex()


def test_the_router_changes_the_checksum_with_the_time_to_live(tmp_path: Path) -> None:
    routes = "table_add Router.routes send 10.128.0.0/9 => 2 0x020000000001 0x020000000002\n"
    frame = "packet 1 ffffffffffff 000000000001 0800 {} 00112233\n"
    sent = "expect 2 020000000002 020000000001 0800 {} 00112233 $\n"
    lines = [frame.format(ipv4(ttl)) + sent.format(ipv4(ttl - 1)) for ttl in (2, 64, 255)]
    lines += [frame.format(wrong) + "no_packet\n" for wrong in (ipv4(1), ipv4(64, 0x1234))]
    test = tmp_path / "router.stf"
    test.write_text(routes + "".join(lines))
    outcome = run_stf(programs_folder() / "psa" / "router.p4", test)
    assert outcome.passed, outcome.failures


def test_check_takes_the_router_and_names_the_rule_that_a_program_breaks(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    program = programs_folder() / "psa" / "router.p4"
    found = json.loads(sojourn("check", program, "--json").stdout)
    assert found["ok"] and found["diagnostics"] == [] and found["architecture"] == "psa"
    text = TEMPLATE.read_text()
    for old, new, code in (
        ("IngressPipeline(MyParser(), MyIngress(), MyDeparser()) ip;\n", "", "E0"),
        ("bit<16> ethertype;", "bit<15> ethertype;", "S0203"),
        ("(512) last_drop", "(70000000) last_drop", "S0202"),
        ("now - last > SPACING", "now / last > SPACING", "S0205"),
        ("struct empty_t {}", "struct empty_t {}\nextern void odd();", ""),
        ("md.enqueued = normal_meta", "odd(); md.enqueued = normal_meta", "S0201"),
    ):
        assert old in text
        if code == "S0201":
            text = text.replace("struct empty_t {}", "struct empty_t {}\nextern void odd();")
        (tmp_path / "wrong.p4").write_text(text.replace(old, new))
        found = json.loads(sojourn("check", "wrong.p4", "--json").stdout)
        codes = [diagnostic["code"] for diagnostic in found["diagnostics"]]
        assert found["ok"] == (not code), (new, codes)
        assert not code or any(known.startswith(code) for known in codes), (new, codes)


def test_a_controller_of_p4runtime_fills_its_tables(tmp_path: Path, sojourn: Sojourn) -> None:
    pytest.importorskip("grpc", reason="not installed: pip install 'sojourn[dev]'")
    pytest.importorskip("p4.v1", reason="not installed: pip install 'sojourn[dev]'")
    (tmp_path / "router.p4").write_text(TEMPLATE.read_text())
    (tmp_path / "live_controller.py").write_text((TESTS / "live_controller.py").read_text())
    (tmp_path / "helper.py").write_text("")
    agent = (
        "forward()\n"
        "print(me._info.pkg_info.arch)\n"
        "print([getattr(one, 'key', one) for one in me._info.type_info.new_types])\n"
        "time.sleep(60)\n"
    )
    (tmp_path / "agent.py").write_text(CONNECTED + agent)
    (tmp_path / "controlled.toml").write_text(SCENARIO)
    ran = sojourn("run", "controlled.toml", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    log = (tmp_path / "out/router/controller.log").read_text().splitlines()
    assert log == ["psa", "['PortId_t']"]
    rows = pq.read_table(tmp_path / "out/router/packets.parquet").to_pylist()
    assert sum(row["verdict"] == "sent" for row in rows) > 5


def verdicts() -> list[tuple[str, str]]:
    """p4c's tests with their results, as the page lists them."""
    with (ROOT / "docs/data/psa-tests.csv").open() as file:
        return [(row["test"], row["result"]) for row in csv.DictReader(file)]


def test_the_page_lists_each_test_once_and_a_reason_for_each_that_does_not_pass() -> None:
    names = [name for name, _ in verdicts()]
    assert len(names) == len(set(names)) == 26
    with (ROOT / "docs/data/psa-tests.csv").open() as file:
        assert all(row["result"] == "passes" or row["reason"] for row in csv.DictReader(file))


@pytest.mark.skipif(OTHERS is None, reason="SOJOURN_PSA_TESTS names no folder")
@pytest.mark.parametrize(("name", "result"), verdicts())
def test_p4cs_packet_tests_have_the_result_that_the_page_states(name: str, result: str) -> None:
    folder = Path(str(OTHERS))
    program, test = folder / f"{name}.p4", folder / f"{name}.stf"
    assert {path.stem for path in folder.glob("psa-*-bmv2.p4")} == {n for n, _ in verdicts()}
    if result == "loads":
        assert not test.exists()
        assert check(program).ok
        return
    outcome = run_stf(program, test)
    said = [f"{failure.line}: {failure.message}" for failure in outcome.failures]
    assert outcome.passed == (result == "passes"), said
