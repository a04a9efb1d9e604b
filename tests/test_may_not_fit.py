"""A program that its chip may refuse runs, and every output of the run says so."""

import json
from pathlib import Path

from conftest import Sojourn

COUNTERS = range(5)
"""Counters that one table action updates: more than a stage of Tofino 1 has units for."""

PROGRAM = """
#include <core.p4>
#include <tna.p4>
#include "common/ingress.p4"

struct egress_metadata_t {{}}

#include "common/egress.p4"

control Egress(EGRESS_PARAMETERS) {{
    {declarations}
    action count() {{ {calls} }}
    table kinds {{
        key = {{ eg_intr_md.egress_port : exact; }}
        actions = {{ count; }}
        size = 4;
    }}

    apply {{
        kinds.apply();
    }}
}}

control EgressDeparser(EGRESS_DEPARSER_PARAMETERS) {{
    apply {{
        packet.emit(hdr.ethernet);
    }}
}}

#include "common/switch.p4"
""".format(
    declarations=" ".join(
        f"Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS) n{n};" for n in COUNTERS
    ),
    calls=" ".join(f"n{n}.count(0);" for n in COUNTERS),
)

SCENARIO = """
duration = "500 ms"
aqms = ["fifo", "counted.p4"]

[switch]
rate = "10 Mbit/s"

[[flows]]
rtt = "5 ms"
"""


def test_a_run_says_that_the_chip_may_refuse_its_program(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "counted.p4").write_text(PROGRAM)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    done = sojourn("run", "scenario.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    said = "it ran, but on its chip the program may not fit"
    assert f"warning counted: {said}" in " ".join(done.stdout.split())
    assert said in (tmp_path / "out" / "report.html").read_text()
    warnings = json.loads(sojourn("report", "out", "--json").stdout)["warnings"]
    assert any(said in text for text in warnings["counted"])
    assert not any(said in text for text in warnings["fifo"])
