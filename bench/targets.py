"""Writes the tables of `docs/targets.md` into `docs/data`: CoDel and FQ-CoDel on every target.

python bench/targets.py            # needs what `use = "verilog/codel"` needs, and for one row
                                   # `sojourn linux build-kernel`
"""

import contextlib
import csv
import io
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sojourn
from npu import VARIANTS, carried
from sojourn.backends.linux.backend import linux
from sojourn.backends.linux.kernel import KernelError
from sojourn.backends.sim import SIMULATOR
from sojourn.cli.shared import app
from sojourn.common.resources import hardware_folder, programs_folder
from sojourn.results.result import AqmResult

SEEDS = range(1, 6)
INTERVAL = 100_000_000
"""Of CoDel, ns."""
STUDENT = 2.776
"""The factor of a 95 % interval of five values (Student's t, four degrees of freedom)."""


@dataclass(frozen=True)
class Target:
    """CoDel on one target."""

    name: str
    aqm: dict[str, Any]
    replayed: bool = False
    """Whether it can be asked about packets that leave a queue."""
    kernel: bool = False
    """Whether it runs on the Linux kernel."""


TARGETS = (
    Target("RFC 8289", {"use": "codel"}),
    Target("Linux' `codel`", {"use": "codel_linux"}),
    Target("Tofino, P4-CoDel", {"use": "p4_codel", "math_unit": "vendor"}, replayed=True),
    Target("Tofino, CoDel-ACT", {"use": "codel_act", "math_unit": "vendor"}, replayed=True),
    Target("Tofino, `codel_exact`", {"use": "codel_exact"}, replayed=True),
    Target("bmv2", {"use": "v1model/codel"}, replayed=True),
    Target("NPU, without a mutex", {"use": "npu/codel"}),
    Target("NPU, mutex", {"use": "npu/codel", "defines": {"CODEL_MUTEX": "1"}}),
    Target("NPU, compare-and-swap", {"use": "codel_cas"}),
    Target("Verilog", {"use": "verilog/codel"}, replayed=True),
)

SCENARIO = {
    "duration": "10 s",
    "switch": {"rate": "100 Mbit/s"},
    "flows": [{"count": 3, "rtt": ["5 ms", "10 ms"]}],
}


FAIR_TARGETS = (
    Target("RFC 8290", {"use": "fq_codel"}),
    Target("Linux' `fq_codel`", {"use": "fq_codel"}, kernel=True),
    Target("Tofino", {"use": "tna/fq_codel"}),
    Target("bmv2", {"use": "v1model/fq_codel"}),
    Target("Verilog", {"use": "verilog/fq_codel"}),
)

FAIR_SCENARIO = {
    "duration": "10 s",
    "switch": {"rate": "100 Mbit/s"},
    "flows": [
        {"count": 4, "rtt": ["5 ms", "20 ms"]},
        {"kind": "voip", "count": 5, "rtt": "10 ms", "start": "1 s"},
    ],
}
DOWNLOADS = 4
"""Of those flows, the first ones."""

Runs = dict[str, list[AqmResult]]
"""Each target's run of each seed; without those that cannot be made here."""


def interval(values: list[float]) -> str:
    return f"{mean(values):.3g} ± {STUDENT * stdev(values) / len(values) ** 0.5:.2g}"


def milliseconds(time: float | None) -> float:
    """Of ns; nothing came if there are none, and then there is no page."""
    assert time is not None
    return time / 1e6


def runs(scenario: dict[str, Any], targets: tuple[Target, ...], folder: Path) -> Runs:
    found: Runs = {target.name: [] for target in targets}
    for seed in SEEDS:
        for kernel in (False, True):
            mine = [target for target in targets if target.kernel == kernel]
            aqms = [{**target.aqm, "label": target.name.replace("`", "")} for target in mine]
            if not mine:
                continue
            try:
                backend = linux("virtual") if kernel else SIMULATOR
                out = folder / f"{seed}-{kernel}"
                given = {**scenario, "aqms": aqms}
                result = sojourn.run(given, seed=seed, out=out, backend=backend)
            except KernelError as error:
                print(f"{mine[0].name}: {error}", file=sys.stderr)
                continue
            for target, aqm in zip(mine, result.aqms.values(), strict=True):
                found[target.name].append(aqm)
    return found


def drops(run: AqmResult) -> float:
    return float(run.summary.aqm_drops + run.summary.ingress_drops)


def common(mine: list[AqmResult]) -> list[str]:
    """Mean delay, ms, its 99th percentile, drops, goodput, Mbit/s."""
    return [
        interval([milliseconds(run.summary.mean) for run in mine]),
        interval([milliseconds(run.summary.p99) for run in mine]),
        interval([drops(run) for run in mine]),
        interval([run.summary.goodput / 1e6 for run in mine]),
    ]


def calls(mine: list[AqmResult]) -> list[str]:
    """Mean one-way delay of the calls, ms, and its 99th percentile."""
    voices = [run.voices[0] for run in mine]
    return [
        interval([milliseconds(voice.mean) for voice in voices]),
        interval([milliseconds(voice.p99) for voice in voices]),
    ]


def fairness(run: AqmResult) -> float:
    """Jain's index of what the downloads got: 1 is equal, 1 / DOWNLOADS is all to one."""
    sent = run.packets.filter(pc.not_equal(run.packets["verdict"].cast(pa.string()), "aqm"))
    flows = np.asarray(sent["flow"])
    got = np.bincount(flows, np.asarray(sent["size"]), DOWNLOADS)[:DOWNLOADS]
    return float(got.sum() ** 2 / (DOWNLOADS * (got**2).sum()))


def same_drops(target: Target, recorded: Path, out: Path) -> str:
    """The share of the RFC's drops that it makes at the very same packet of a recorded trace."""
    if not target.replayed:
        return ""
    aqm = str(target.aqm["use"])
    arguments = ["replay", str(recorded), "--aqm", aqm, "--out", str(out)]
    if "math_unit" in target.aqm:
        arguments += ["--math-unit", target.aqm["math_unit"]]
    with contextlib.redirect_stdout(io.StringIO()):
        app(arguments, standalone_mode=False)
    outcomes = json.loads((out / "replay.json").read_text())["traces"][0]["outcomes"]
    reference, same = outcomes[0]["reference_drops"], outcomes[0]["same_packet"]
    return f"{100 * same / reference:.1f} %"


def equal_rows(mine: list[AqmResult], reference: list[AqmResult]) -> str:
    pairs = zip(mine, reference, strict=True)
    same = [
        (one.folder / "packets.parquet").read_bytes()
        == (other.folder / "packets.parquet").read_bytes()
        for one, other in pairs
    ]
    return f"{sum(same)} of {len(same)}"


def stages(target: Target) -> str:
    """Of ingress and egress, if the target has stages."""
    if not target.name.startswith("Tofino"):
        return ""
    name = str(target.aqm["use"]).removeprefix("tna/")
    found = sojourn.check(programs_folder() / "tna" / f"{name}.p4").stages
    assert found is not None, "a program for Tofino"
    return " + ".join(str(each["stages"]) for each in found[0]["passes"])


def write_table(name: str, head: str, rows: list[list[str]]) -> None:
    """A data file of the page; `head` has the columns with `|` between them."""
    with (DATA / f"targets-{name}.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(head.split(" | "))
        table.writerows(rows)


def before_the_wrap(run: AqmResult) -> int:
    """Drops in the last INTERVAL before a clock of 32 bits of nanoseconds begins anew."""
    dropped = run.packets.filter(pc.equal(run.packets["verdict"].cast(pa.string()), "aqm"))
    clock = np.asarray(dropped["dequeued"]) % 2**32
    return int((clock >= 2**32 - INTERVAL).sum())


def luts(row: str) -> str:
    """Of a row of hardware/README.md's first table, which `hardware/synthesis.py` makes."""
    lines = (hardware_folder() / "README.md").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"| {row}"))
    return f"{int(line.split('|')[2]):,}"


DATA = Path(__file__).parents[1] / "docs" / "data"
LIMITS = Path(__file__).with_name("targets_limits.csv")
"""Limits of each target; names in braces stand for figures."""


def main() -> None:
    codel_head = (
        "target | mean delay, ms | p99, ms | drops | goodput, Mbit/s | runs with the RFC's rows "
        "| same drops on the RFC's packets | stages"
    )
    fair_head = (
        "target | calls: mean delay, ms | p99, ms | all: mean delay, ms | p99, ms | drops "
        "| goodput, Mbit/s | fairness | runs with the RFC's rows | stages"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codel = runs(SCENARIO, TARGETS, folder / "codel")
        fair = runs(FAIR_SCENARIO, FAIR_TARGETS, folder / "fair")
        reference = codel["RFC 8289"]
        codel_rows = [
            [
                target.name,
                *common(codel[target.name]),
                equal_rows(codel[target.name], reference),
                same_drops(target, reference[0].folder, folder / f"replay-{number}"),
                stages(target),
            ]
            for number, target in enumerate(TARGETS)
        ]
        fair_rows = [
            [
                target.name,
                *calls(mine),
                *common(mine),
                f"{mean(fairness(run) for run in mine):.3f}",
                equal_rows(mine, fair["RFC 8290"]),
                stages(target),
            ]
            for target in FAIR_TARGETS
            if (mine := fair[target.name])
        ]
        goodput = {name: mean(run.summary.goodput for run in mine) for name, mine in codel.items()}
        write_table("codel", codel_head, codel_rows)
        write_table("fq-codel", fair_head, fair_rows)
        (DATA / "targets-limits.csv").write_text(
            LIMITS.read_text().format(
                turns=100 * (1 - goodput["Tofino, `codel_exact`"] / goodput["RFC 8289"]),
                wrapped=before_the_wrap(codel["Tofino, P4-CoDel"][0]),
                p4_drops=drops(codel["Tofino, P4-CoDel"][0]),
                exact=stages(next(one for one in TARGETS if one.aqm["use"] == "codel_exact")),
                mutex=carried(VARIANTS["with a mutex"], 480),
                codel_lut=luts("codel, 1 queue"),
                queue_lut=luts("codel_queue, 1 queue"),
                fair_lut=luts("fq_codel, 1,024 flows"),
            )
        )


if __name__ == "__main__":
    main()
