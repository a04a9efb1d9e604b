"""Files carry the field's names: the names that were given up do not come back.

Each row is a folder and the stems of files that it must not hold.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

GIVEN_UP = {
    "crates/bmv2/src": ["joined", "untouched"],
    "crates/control/src": ["carry", "hits", "law", "taken", "words"],
    "crates/control/src/commands": ["same_again"],
    "crates/jit/src": ["cells", "ends"],
    "crates/live/src": ["identity", "lateness", "wake"],
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
        "inbound",
        "numbers",
        "outlet",
        "parts",
        "region",
        "regions",
        "taken",
        "windows",
    ],
    "crates/net/src/tcp": ["accurate", "ticks"],
    "crates/net/src/tcp/connection": ["hearing", "opening", "telling"],
    "crates/net/src/tcp/sender": ["calm", "timers"],
    "crates/net/src/wire": ["compact", "predicted", "written"],
    "crates/p4/src/check": ["place"],
    "crates/p4/src/elaborate": ["parts", "place"],
    "crates/p4/src/interp": ["flat", "halt", "machine"],
    "crates/p4/src/interp/bytecode": ["around", "join", "kept"],
    "crates/p4/src/interp/tables": ["by_name", "lately", "memo", "plain"],
    "crates/packet/src": ["carried", "overlapping", "passed", "register", "room"],
    "crates/protocols/src/bfrt": ["document", "fixed"],
    "crates/protocols/src/bfrt/read": ["fixed", "questions"],
    "crates/py/src": ["surroundings"],
    "crates/switch/src": ["wire"],
    "crates/switch/src/switch": ["overlap", "rounds"],
    "crates/switch/src/tm": ["line"],
    "crates/target/src": ["deparsed", "guards", "traced", "uses", "watch"],
    "crates/tofino/src": ["admitted", "ethernet_alone", "framed", "handover", "joined", "unread"],
    "crates/tofino/src/fit": ["located"],
    "crates/tofino/src/salu": ["by_unit", "ready"],
    "crates/verilog/src": ["asked", "head", "order", "stated_law"],
    "crates": ["native", "targets"],
    "python/sojourn": [
        "agree",
        "ground",
        "layout",
        "live",
        "linux",
        "nothing_through",
        "own_files",
        "reading",
        "record",
        "scripted",
        "writing",
    ],
    "python/sojourn/backends": ["ground"],
    "python/sojourn/backends/linux": ["ground", "leaving", "needs", "spaces"],
    "python/sojourn/backends/linux/guest": ["between"],
    "python/sojourn/backends/live": ["ask", "beside", "enclosure", "ground", "observed", "served"],
    "python/sojourn/common": ["layout", "writing"],
    "python/sojourn/control": ["scripted"],
    "python/sojourn/model/scenario": ["choice", "fit", "place", "short"],
    "python/sojourn/results": ["nothing_through", "reading"],
    "python/sojourn/results/report": ["packed", "plain", "what_was_run"],
    "python/sojourn/runtime": ["own_files", "record"],
    "python/sojourn/studies": ["agree"],
    "python/sojourn/studies/sweeps": ["coordinate", "reads"],
    "python/sojourn/tools/lab": ["inside"],
    "python/sojourn/tools/lsp": ["looked"],
    "python/sojourn/tools/replay": ["ask", "race"],
}


@pytest.mark.parametrize("folder", GIVEN_UP)
def test_a_name_that_was_given_up_does_not_come_back(folder: str) -> None:
    assert (ROOT / folder).is_dir(), "the table names a folder that is gone"
    found = {path.stem for path in (ROOT / folder).iterdir()}
    assert not found & set(GIVEN_UP[folder])
