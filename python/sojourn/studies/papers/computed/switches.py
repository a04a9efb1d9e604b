"""Findings that need an optional target, and findings from single packets.

Depends on the list of AQMs, the runner, and on captures.
"""

import json
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from sojourn.model.aqms import catalogue
from sojourn.model.hardware.verilator import VerilatorError
from sojourn.runner import plan_scenario, record
from sojourn.studies.papers.computed.finding import Computed
from sojourn.studies.papers.verdict import Found, Status
from sojourn.tools.delays.payload_delays import read_delays

NOT_HERE = "not in this version"


def _of(architecture: str) -> list[str]:
    return [aqm.name for aqm in catalogue() if aqm.kind == architecture]


def npu() -> Computed:
    """B5."""
    says = (
        "the NPU: AQM at ingress from the queue's state, an exact table for counts 1 to 16, then "
        "leading zeros, races between threads, a queue counted in packets"
    )
    programs = _of("npu")
    if not programs:
        why = f"the NPU is {NOT_HERE}"
        return Computed((Found(says, "section III.B", "-", Status.UNSEEN, why),))
    packets, lost = _races()
    ours = f"{', '.join(programs)}; {lost} updates lost over {packets:,} packets, ten flows"
    status = Status.HOLDS if lost else Status.FAILS
    return Computed((Found(says, "section III.B", ours, status),))


_RACES = {
    "duration": "2 s",
    "aqms": [{"use": "npu/codel"}],
    "switch": {"rate": "100 Mbit/s"},
    "flows": [{"count": 10, "rtt": "5 ms"}],
}


def _races() -> tuple[int, int]:
    """Packets, and updates of CoDel's state that its threads lost as the program is published."""
    with tempfile.TemporaryDirectory(prefix="sojourn-paper-") as scratch:
        folder = Path(scratch) / "run"
        record(plan_scenario(_RACES), folder)
        (rows,) = folder.rglob("packets.parquet")
        (counters,) = folder.rglob("counters.json")
        faults = json.loads(counters.read_text())["faults"]
        lost = sum(fault["count"] for fault in faults if fault["kind"] == "lost_update")
        return pq.read_metadata(rows).num_rows, lost


def hardware_module() -> Computed:
    """B7."""
    says = "P4-NetFPGA: CoDel as a hardware module beside the P4 pipeline"
    programs = _of("verilog")
    if not programs:
        why = f"the hardware module is {NOT_HERE}"
        return Computed((Found(says, "section III.C", "-", Status.UNSEEN, why),))
    try:
        packets, drops, same = _module_beside_native()
    except VerilatorError as error:
        return Computed((Found(says, "section III.C", "-", Status.UNSEEN, str(error)),))
    ours = (
        f"{programs[0]}, three flows as in Table I: {packets:,} packets, {drops} drops, rows "
        f"{'byte for byte' if same else 'NOT'} those of the native CoDel"
    )
    status = Status.HOLDS if same and drops else Status.FAILS
    return Computed((Found(says, "section III.C", ours, status),))


_BESIDE = {
    "duration": "4 s",
    "aqms": ["codel", "verilog/codel"],
    "switch": {"rate": "100 Mbit/s", "queue_limit": "1.94 MB"},
    "flows": [{"count": 3, "rtt": "5 ms"}],
}


def _module_beside_native() -> tuple[int, int, bool]:
    """Packets, the module's drops, and whether its rows are the native discipline's."""
    with tempfile.TemporaryDirectory(prefix="sojourn-paper-") as scratch:
        folder = Path(scratch) / "run"
        record(plan_scenario(_BESIDE), folder)
        native, module = (folder / name for name in ("codel", "verilog-codel"))
        rows = [(one / "packets.parquet").read_bytes() for one in (native, module)]
        counters = json.loads((module / "counters.json").read_text())
        drops = int(counters["bottlenecks"][0]["discipline"]["drops"])
        packets = int(pq.read_metadata(module / "packets.parquet").num_rows)
        return packets, drops, rows[0] == rows[1]


_MEASURED = {
    "duration": "2 s",
    "aqms": [{"use": "v1model/codel", "label": "codel.p4", "defines": {"QUEUE_MEASUREMENT": 1}}],
    "switch": {"rate": "20 Mbit/s", "queue_limit": "500 kB"},
    "flows": [{"count": 4, "rtt": "4 ms"}],
}


def payload_delay() -> Computed:
    """C4: the delay in the first 32 bits of the payload, against the queue's own rows."""
    with tempfile.TemporaryDirectory(prefix="sojourn-paper-") as scratch:
        folder = Path(scratch) / "run"
        record(plan_scenario(_MEASURED, capture=True), folder)
        (rows,) = folder.rglob("packets.parquet")
        (capture,) = folder.rglob("*.pcapng")
        (counters,) = folder.rglob("counters.json")
        table = pq.read_table(rows, columns=["enqueued", "dequeued", "verdict", "size"]).to_pylist()
        read = [one.delay for one in read_delays(capture)]
        malformed = '"malformed_frames": 0' in counters.read_text("utf-8")
    waited = [
        (row["dequeued"] - row["enqueued"]) // 1000 * 1000
        for row in table
        if row["verdict"] == "sent" and row["size"] > 100
    ]
    pairs = list(zip(read, waited, strict=False))
    same = sum(abs(one - other) <= 1000 for one, other in pairs)
    good = bool(pairs) and same == len(pairs)
    found = (
        Found(
            "queue_measurement writes the queue delay into the first 32 bits of the TCP payload",
            "of every packet",
            f"{same} of {len(pairs)} packets within 1 us of the queue's own row",
            Status.HOLDS if good else Status.FAILS,
        ),
        Found(
            "the checksum is updated, and TCP goes on",
            "iperf3 does not mind",
            "no frame was malformed" if malformed else "frames were malformed",
            Status.HOLDS if malformed else Status.FAILS,
        ),
    )
    return Computed(found)


def packet_handle() -> Computed:
    """D3: a handle on every packet: the same number in the rows of every queue."""
    with tempfile.TemporaryDirectory(prefix="sojourn-paper-") as scratch:
        folder = Path(scratch) / "run"
        record(plan_scenario("two_bottlenecks", aqms=["codel"]), folder)
        tables = [
            set(pq.read_table(path, columns=["packet"]).column(0).to_pylist())
            for path in sorted(folder.rglob("packets*.parquet"))
        ]
    second = min(tables, key=len)
    first = max(tables, key=len)
    shared = len(second & first)
    found = Found(
        "an exact handle on every packet",
        "asked for, never done",
        f"{shared:,} of the {len(second):,} packets of the second queue are found in the first's "
        "rows by their number",
        Status.HOLDS if shared == len(second) else Status.FAILS,
    )
    return Computed((found,))
