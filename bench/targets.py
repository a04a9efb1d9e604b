"""Prints the table of `docs/targets.md`: CoDel on every target, same traffic and same packets.

python bench/targets.py            # needs what `use = "verilog/codel"` needs
"""

import contextlib
import io
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import sojourn
from sojourn.cli.shared import app
from sojourn.layout import programs_folder

SEEDS = range(1, 6)
STUDENT = 2.776
"""The factor of a 95 % interval of five values (Student's t, four degrees of freedom)."""


@dataclass(frozen=True)
class Target:
    """CoDel on one target."""

    name: str
    aqm: dict[str, Any]
    replayed: bool = False
    """Whether it can be asked about packets that leave a queue."""


TARGETS = (
    Target("RFC 8289", {"use": "codel"}),
    Target("Linux' `codel`", {"use": "codel_linux"}),
    Target("Tofino, P4-CoDel", {"use": "p4_codel", "math_unit": "vendor"}, replayed=True),
    Target("Tofino, CoDel-ACT", {"use": "codel_act", "math_unit": "vendor"}, replayed=True),
    Target("Tofino, `codel_exact`", {"use": "codel_exact"}, replayed=True),
    Target("bmv2", {"use": "v1model/codel"}, replayed=True),
    Target("NPU, as published", {"use": "npu/codel"}),
    Target("NPU, mutex", {"use": "npu/codel", "defines": {"CODEL_MUTEX": "1"}}),
    Target("NPU, compare-and-swap", {"use": "codel_cas"}),
    Target("Verilog", {"use": "verilog/codel"}),
)

SCENARIO = {
    "duration": "10 s",
    "switch": {"rate": "100 Mbit/s"},
    "flows": [{"count": 3, "rtt": ["5 ms", "10 ms"]}],
}


def interval(values: list[float]) -> str:
    return f"{mean(values):.3g} ± {STUDENT * stdev(values) / len(values) ** 0.5:.2g}"


def runs(folder: Path) -> dict[str, list[Path]]:
    """Each target's run of each seed."""
    aqms = [{**target.aqm, "label": target.name.replace("`", "")} for target in TARGETS]
    found: dict[str, list[Path]] = {target.name: [] for target in TARGETS}
    for seed in SEEDS:
        out = folder / str(seed)
        result = sojourn.run({**SCENARIO, "aqms": aqms}, seed=seed, out=out)
        for target, aqm in zip(TARGETS, result.aqms.values(), strict=True):
            found[target.name].append(aqm.folder)
    return found


def summaries(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Each target's row of the result table, for each seed."""
    found: dict[str, list[dict[str, Any]]] = {target.name: [] for target in TARGETS}
    for seed in SEEDS:
        rows = json.loads((folder / str(seed) / "summary.json").read_text())["aqms"]
        for target, row in zip(TARGETS, rows, strict=True):
            found[target.name].append(row)
    return found


def same_drops(target: Target, recorded: Path, out: Path) -> str:
    """The share of the RFC's drops that it makes at the very same packet of a recorded trace."""
    if not target.replayed:
        return "-"
    aqm = str(target.aqm["use"])
    arguments = ["replay", str(recorded), "--aqm", aqm, "--out", str(out)]
    if "math_unit" in target.aqm:
        arguments += ["--math-unit", target.aqm["math_unit"]]
    with contextlib.redirect_stdout(io.StringIO()):
        app(arguments, standalone_mode=False)
    outcomes = json.loads((out / "replay.json").read_text())["traces"][0]["outcomes"]
    drops, same = outcomes[0]["reference_drops"], outcomes[0]["same_packet"]
    return f"{100 * same / drops:.1f} %"


def equal_rows(folders: list[Path], reference: list[Path]) -> str:
    pairs = zip(folders, reference, strict=True)
    same = [
        (one / "packets.parquet").read_bytes() == (other / "packets.parquet").read_bytes()
        for one, other in pairs
    ]
    return f"{sum(same)} of {len(same)}"


def stages(target: Target) -> str:
    """Of ingress and egress, if the target has stages."""
    use = str(target.aqm["use"])
    path = programs_folder() / "tna" / f"{use}.p4"
    if not path.exists():
        return "-"
    found = sojourn.check(path).stages
    if found is None:
        return "-"
    return " + ".join(str(each["stages"]) for each in found[0]["passes"])


def main() -> None:
    head = (
        "target | mean delay, ms | p99, ms | drops | goodput, Mbit/s | runs with the RFC's rows "
        "| same drops on the RFC's packets | stages"
    )
    print(f"| {head} |\n|{'---|' * 8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folders = runs(folder)
        rows = summaries(folder)
        reference = folders[TARGETS[0].name]
        for number, target in enumerate(TARGETS):
            mine = rows[target.name]
            drops = [float(row["aqm_drops"] + row["ingress_drops"]) for row in mine]
            cells = [
                target.name,
                interval([row["mean"] / 1e6 for row in mine]),
                interval([row["p99"] / 1e6 for row in mine]),
                interval(drops),
                interval([row["goodput"] / 1e6 for row in mine]),
                equal_rows(folders[target.name], reference),
                same_drops(target, reference[0], folder / f"replay-{number}"),
                stages(target),
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
