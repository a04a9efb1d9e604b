"""Files and types carry the field's names: replaced names do not return.

A row of the first table is a folder and the stems of files that it must not hold. A row of the
second is a crate and the names that none of its items may have.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

GIVEN_UP = {
    "bench": ["beside_ns3", "shaped"],
    "bench/judge": ["pairs"],
    "crates": ["native", "targets"],
    "crates/analysis/src": ["blocks", "call", "set", "steps", "walk"],
    "crates/bmv2/src": ["joined", "untouched"],
    "crates/bmv2/src/runtime": ["code", "copies", "input"],
    "crates/bmv2/src/tests": ["copies", "shipped", "watch"],
    "crates/control/src": ["by_name", "carry", "hits", "law", "taken", "words"],
    "crates/control/src/commands": ["copies", "same_again"],
    "crates/control/src/schema": ["make"],
    "crates/engine/src/replay": ["depths", "law", "native_law"],
    "crates/engine/tests": ["rounds"],
    "crates/jit/src": ["cells", "ends"],
    "crates/jit/tests": ["programs_by_chance"],
    "crates/live/src": ["delay", "flows", "identity", "lateness", "sys", "wake"],
    "crates/net/src": ["tournament"],
    "crates/net/src/app": ["draws", "questions"],
    "crates/net/src/config": ["bounds"],
    "crates/net/src/host": ["exchange"],
    "crates/net/src/simulation": [
        "border",
        "changes",
        "cut",
        "departures",
        "directory",
        "framed_tests",
        "inbound",
        "numbers",
        "outlet",
        "parts",
        "region",
        "regions",
        "taken",
        "windows",
    ],
    "crates/net/src/tcp": ["accurate", "handshake", "ticks"],
    "crates/net/src/tcp/connection": ["hearing", "opening", "telling"],
    "crates/net/src/tcp/sender": ["calm", "timeouts", "timers", "usage"],
    "crates/net/src/wire": ["compact", "predicted", "written"],
    "crates/p4/src": ["terminal", "visible"],
    "crates/p4/src/check": ["afford", "assignable", "named", "place", "report"],
    "crates/p4/src/elaborate": ["parts", "place"],
    "crates/p4/src/interp": ["chain", "flat", "halt", "invalid", "machine"],
    "crates/p4/src/interp/bytecode": ["around", "join", "kept", "states"],
    "crates/p4/src/interp/tables": ["by_name", "lately", "memo", "plain"],
    "crates/packet/src": ["carried", "overlapping", "passed", "register", "room"],
    "crates/protocols/src": ["accept", "agenda"],
    "crates/protocols/src/bfrt": ["document", "fixed", "scope"],
    "crates/protocols/src/bfrt/read": ["fixed", "matched", "questions"],
    "crates/protocols/src/bfrt/write": ["matched"],
    "crates/protocols/src/p4runtime": ["access", "data", "hub"],
    "crates/protocols/src/p4runtime/write": ["resources"],
    "crates/py/src": ["surroundings"],
    "crates/switch/src": ["routes", "spread", "wire"],
    "crates/switch/src/discipline/codel": ["law"],
    "crates/switch/src/generator": ["machine"],
    "crates/switch/src/switch": ["change", "generate", "measure", "outgoing", "overlap", "rounds"],
    "crates/switch/src/tm": ["cells", "line", "opportunities", "pace", "queued"],
    "crates/switch/tests/switch": ["overlapping"],
    "crates/target/src": ["chip", "deparsed", "guards", "traced", "uses", "watch"],
    "crates/tofino/src": [
        "admitted",
        "copies",
        "ethernet_alone",
        "framed",
        "handover",
        "joined",
        "left_out",
        "unread",
    ],
    "crates/tofino/src/fit": ["located"],
    "crates/tofino/src/parde": ["chains", "known", "reach", "sums"],
    "crates/tofino/src/runtime": [
        "code",
        "field",
        "limits",
        "numbers",
        "parser",
        "stateful",
        "symmetric",
    ],
    "crates/tofino/src/salu": ["by_unit", "ready"],
    "crates/tofino/src/tests": ["copies"],
    "crates/verilog/src": ["asked", "head", "order", "stated_law"],
    "hardware/bench": ["exits"],
    "python/sojourn": [
        "agree",
        "ground",
        "layout",
        "linux",
        "live",
        "nothing_through",
        "own_files",
        "reading",
        "record",
        "scripted",
        "writing",
    ],
    "python/sojourn/backends": ["ground"],
    "python/sojourn/backends/linux": [
        "ground",
        "leaving",
        "measured",
        "needs",
        "scratch",
        "shim",
        "single",
        "spaces",
    ],
    "python/sojourn/backends/linux/guest": [
        "between",
        "listening",
        "log",
        "loop",
        "ring",
        "sockets",
        "ticks",
        "watch",
    ],
    "python/sojourn/backends/live": [
        "ask",
        "beside",
        "enclosure",
        "ground",
        "measured",
        "observed",
        "running",
        "served",
        "serving",
        "terminal",
    ],
    "python/sojourn/common": ["layout", "writing"],
    "python/sojourn/control": ["scripted"],
    "python/sojourn/model": ["registered"],
    "python/sojourn/model/scenario": ["choice", "described", "ends", "fit", "place", "short"],
    "python/sojourn/results": ["cycles", "doubts", "nothing_through", "phases", "reading"],
    "python/sojourn/results/report": [
        "over_flows",
        "over_queue",
        "packed",
        "plain",
        "registers",
        "what_was_run",
    ],
    "python/sojourn/runtime": ["own_files", "record"],
    "python/sojourn/studies": ["agree"],
    "python/sojourn/studies/papers/computed": ["kind", "law", "near"],
    "python/sojourn/studies/published": ["use"],
    "python/sojourn/studies/sweeps": ["coordinate", "reads", "work"],
    "python/sojourn/tools": ["tofino"],
    "python/sojourn/tools/lab": ["inside", "running"],
    "python/sojourn/tools/lsp": ["looked"],
    "python/sojourn/tools/replay": ["ask", "race"],
    "tests": [
        "linux_parts",
        "live_printed",
        "pages",
        "test_doubts",
        "test_executor",
        "test_first_hour",
        "test_hours",
        "test_start_up",
        "test_strange_folders",
    ],
}


@pytest.mark.parametrize("folder", GIVEN_UP)
def test_a_name_that_was_given_up_does_not_come_back(folder: str) -> None:
    assert (ROOT / folder).is_dir(), "the table names a folder that is gone"
    found = {path.stem for path in (ROOT / folder).iterdir()}
    assert not found & set(GIVEN_UP[folder])


ITEMS_GIVEN_UP = {
    "bmv2": ["Joined", "Joint", "tell_egress", "tell_ingress"],
    "control": [
        "Asked",
        "Before",
        "ByName",
        "Followed",
        "Hits",
        "Law",
        "Met",
        "ProfileWas",
        "SameAgain",
        "TableWas",
        "Taken",
        "Wrong",
        "carry",
        "carry_out",
        "gather",
        "said",
    ],
    "engine": ["Asked", "Beside", "Law", "carry_out", "told"],
    "jit": ["Kept"],
    "live": ["Bell", "Held", "Sleeper", "bell"],
    "net": [
        "Accurate",
        "Act",
        "Before",
        "Behind",
        "Border",
        "CompactSegment",
        "Cut",
        "Departures",
        "Directory",
        "Door",
        "Draws",
        "Due",
        "Exact",
        "Gathered",
        "HandedOver",
        "Heard",
        "Held",
        "Home",
        "Homes",
        "Inbound",
        "Marks",
        "Questions",
        "Refused",
        "Region",
        "Sending",
        "Shown",
        "Tournament",
        "Usual",
        "UsualSegment",
        "WayIn",
        "WayOut",
        "Written",
        "carry_out",
        "hear",
        "hear_exactly",
        "heard",
        "hears_exactly",
        "put_down",
        "see_exactly",
        "see_mark",
        "tell",
    ],
    "npu": ["Asked", "Wanted", "carry_out", "go_on"],
    "p4": ["Alike", "Around", "Lately", "Made", "Manner", "Memo", "Outside", "Undone", "tell"],
    "packet": ["Carried", "Luggage", "Register", "Thing"],
    "protocols": ["Aged", "Became", "Gathered", "Given", "Manner", "Wanted", "Weighed", "hear"],
    "py": ["Asked", "Beside", "Gathered", "Given", "Surroundings", "ToldLink", "ToldWay"],
    "switch": [
        "Held",
        "Inside",
        "Noted",
        "Noting",
        "QueueWas",
        "Rounds",
        "Told",
        "Was",
        "carry_out",
    ],
    "target": ["Became", "Given", "Ragged", "SharedSeen", "Wanted", "Watch", "look"],
    "tofino": ["Before", "Beside", "Deposit"],
    "verilog": ["Asked", "Head", "Order"],
}

DEFINITION = re.compile(r"^\s*(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|type|fn) (\w+)", re.M)


@pytest.mark.parametrize("crate", ITEMS_GIVEN_UP)
def test_an_item_does_not_carry_a_name_that_was_given_up(crate: str) -> None:
    source = ROOT / "crates" / crate / "src"
    found = {
        (str(path.relative_to(source)), name)
        for path in source.rglob("*.rs")
        for name in DEFINITION.findall(path.read_text())
    }
    assert found
    given_up = set(ITEMS_GIVEN_UP[crate])
    assert not {(file, name) for file, name in found if name in given_up}


def test_no_constructor_is_called_of() -> None:
    """`new`, `from_…` or a verb says what a function does; `of` says nothing."""
    unnamed = re.compile(r"\bfn of\b")
    found = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "crates").glob("*/src/**/*.rs")
        if unnamed.search(path.read_text())
    ]
    assert not found
