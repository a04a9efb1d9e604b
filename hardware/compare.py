"""The module and the native CoDel on the same packets, decision by decision.

    python hardware/compare.py [MILLIONS] [RUN/AQM ...]

Every synthetic trace of `sojourn replay` at the RFC's TARGET and INTERVAL and at a data centre's,
seed after seed until there are so many packets (10 million if not said), and the rows of recorded
runs. Each decision is held against the native CoDel with the control law that control_law.sv
states, which must be the same, and against the one with the exact law, which differs after 1023
drops in one drop state. Verilator has to be there as for `sojourn run`.
"""

import sys
import time
from itertools import count
from pathlib import Path

import numpy as np

from sojourn.model.hardware.modules import added, shipped
from sojourn.tools.replay.decisions import decide
from sojourn.tools.replay.trace import PROFILES, RFC_8289, Parameters, RecordedTrace, SyntheticTrace

DATA_CENTRE = Parameters(50_000, 1_000_000)
SETTINGS = (
    (RFC_8289, (10**8, 10**9), 30 * 10**9),
    (DATA_CENTRE, (10**10, 10**11), 10**9 // 4),
)


def traces(seed: int):
    """All profiles at both settings."""
    for parameters, rates, duration in SETTINGS:
        for rate in rates:
            for profile in PROFILES:
                yield SyntheticTrace(
                    profile, rate, duration * 10**8 // rate + 10**8, parameters, seed
                )


def main() -> None:
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    recorded = sys.argv[2:]
    module = added(shipped()["verilog/codel"]).name
    packets = dropped = different = wrong = 0
    asked = 0.0

    def compare(name: str, rows, parameters: Parameters) -> None:
        nonlocal packets, dropped, different, wrong, asked
        discipline = {
            "kind": "native",
            "target": parameters.target,
            "interval": parameters.interval,
        }
        native = decide(discipline | {"name": "codel"}, rows, label="codel").dropped
        stated = decide(discipline | {"name": "codel@rom"}, rows, label="stated law").dropped
        begin = time.perf_counter()
        mine = decide(discipline | {"name": module}, rows, label="verilog/codel").dropped
        asked += time.perf_counter() - begin
        wrong += int((stated != mine).sum())
        differ = np.flatnonzero(native != mine)
        packets, dropped = packets + len(rows), dropped + int(native.sum())
        different += len(differ)
        if len(differ):
            first = int(differ[0])
            before, all_of = int(native[:first].sum()), int(native.sum())
            print(
                f"{name}: {len(differ)} of {len(rows)} decisions differ from the exact law's, the "
                f"first after {before} of {all_of} drops; module {int(mine.sum())} drops"
            )

    for folder in recorded:
        trace = RecordedTrace(Path(folder) / "packets.parquet")
        compare(folder, trace.read(), RFC_8289)
    for seed in count(1):
        for trace in traces(seed):
            if packets >= millions * 1e6:
                break
            compare(f"{trace.name}, seed {seed}", trace.read(), trace.parameters)
        if packets >= millions * 1e6:
            break
    print(f"{packets} packets, {dropped} drops of the native CoDel")
    print(f"{wrong} decisions differ from the native CoDel's with the law of control_law.sv")
    print(f"{different} from those with the exact law")
    print(f"{packets / asked:,.0f} packets/s")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
