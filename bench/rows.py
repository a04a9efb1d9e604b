"""Digests of every file of rows that runs write: a change of the code must leave them identical.

Usage: bench/rows.py --out FILE [--seconds S] [--compare FILE]

Runs every shipped scenario with its own AQMs, cut to S seconds of simulated time, one of them
with all that is shipped, and a replay. Writes the SHA-256 of what each file of rows says and of
each run's counters. With `--compare`, says what differs from an earlier FILE, and ends in 1 if
anything does. Without Verilator the hardware modules are left out, in both files or in neither.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.model.aqms import catalogue, find_aqm
from sojourn.model.hardware.verilator import VerilatorError, verilator_root
from sojourn.model.scenario import find_scenario, read_scenario, shipped_scenarios
from sojourn.model.scenario.model import choose
from sojourn.runtime.arrow_tables import rows_table
from sojourn.runtime.engine import simulate
from sojourn.runtime.plan import make_plan
from sojourn.runtime.run_files import COUNTERS
from sojourn.tools.replay.decisions import decide
from sojourn.tools.replay.trace import SyntheticTrace

ROOT = Path(__file__).resolve().parent.parent

EVERYTHING = "bufferbloat"
"""The scenario in which all AQMs run."""

REPLAYED = ("codel", "codel_exact", "codel_act", "p4_codel", "v1model/codel")


def main() -> None:
    parser = argparse.ArgumentParser(description="digests of all rows")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=2.0, help="of simulated time, at most")
    parser.add_argument("--compare", type=Path)
    arguments = parser.parse_args()
    digests: dict[str, str] = {}
    for name in shipped_scenarios():
        digests |= scenario_digests(name, arguments.seconds)
        print(f"{name}: {len(digests)} files so far", flush=True)
    digests |= replay_digests()
    text = json.dumps(dict(sorted(digests.items())), indent=1) + "\n"
    arguments.out.write_text(text, encoding="utf-8")
    if arguments.compare is not None:
        sys.exit(differences(json.loads(arguments.compare.read_text("utf-8")), digests))


def scenario_digests(name: str, seconds: float) -> dict[str, str]:
    """Digests of what all runs of a shipped scenario leave, by their paths."""
    path = find_scenario(name)
    scenario = read_scenario(path)
    short = min(scenario.duration, int(seconds * 1e9))
    changes: dict[str, Any] = {"duration": short}
    if name == EVERYTHING:
        listed = {choice.use for choice in scenario.aqms}
        others = [choose(aqm.name) for aqm in catalogue() if aqm.name not in listed]
        changes["aqms"] = [*scenario.aqms, *others]
    if not has_verilator():
        chosen = changes.get("aqms", scenario.aqms)
        changes["aqms"] = [one for one in chosen if find_aqm(one.use, path.parent).module is None]
        if not changes["aqms"]:
            print(f"{name}: left out, Verilator is not installed")
            return {}
    scenario = scenario.model_copy(update=changes)
    with tempfile.TemporaryDirectory() as folder:
        simulate(make_plan(scenario, name=name, beside=path.parent), Path(folder))
        files = sorted(Path(folder).rglob("*"))
        rows = [file for file in files if file.suffix == ".parquet" or file.name == COUNTERS]
        return {f"{name}/{file.relative_to(folder)}": digest(said(file)) for file in rows}


def has_verilator() -> bool:
    """Whether hardware modules can be compiled."""
    try:
        verilator_root()
    except VerilatorError:
        return False
    return True


def said(file: Path) -> bytes:
    """What a file says, however it is written: its schema and each column's values, or counters.

    Counters name the places of faults, in whichever folder the programs are.
    """
    if file.suffix != ".parquet":
        counters = json.dumps(json.loads(file.read_bytes()), sort_keys=True)
        return counters.replace(f"{ROOT}/", "").encode()
    table = rows_table(file)
    values = [column.to_numpy() for column in table.columns]
    plain = [" ".join(one).encode() if one.dtype == object else one.tobytes() for one in values]
    return b"".join([str(table.schema).encode(), *plain])


def replay_digests() -> dict[str, str]:
    """Digests of what AQMs decide about the packets of one trace."""
    rows = SyntheticTrace("wander", 1_000_000_000, 500_000_000).read()
    scenario = read_scenario(find_scenario(EVERYTHING))
    chosen = scenario.model_copy(update={"aqms": [choose(name) for name in REPLAYED]})
    digests = {}
    for run in make_plan(chosen).runs:
        decided = decide(run.config["aqm"], rows, label=run.label, latency=1_000)
        assert decided is not None
        bits = np.packbits([decided.dropped, decided.unsynchronised]).tobytes()
        digests[f"replay/{run.label}"] = digest(bits + str(decided.copies).encode())
    return digests


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def differences(before: dict[str, str], after: dict[str, str]) -> int:
    """Says what differs; 1 if anything does."""
    names = sorted(before.keys() | after.keys())
    changed = [name for name in names if before.get(name) != after.get(name)]
    for name in changed:
        how = "changed" if name in before and name in after else "only in one of them"
        print(f"{name}: {how}")
    print(f"{len(after)} files, {len(changed)} differ")
    return 1 if changed else 0


if __name__ == "__main__":
    main()
