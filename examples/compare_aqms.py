"""Queue delay, goodput and drops of three AQMs on one link, from Python.

    python examples/compare_aqms.py

The same flows run once through each AQM: tail drop, the native CoDel of RFC 8289 and CoDel as a P4
program for Tofino. A result holds Arrow tables; `result.summary` has one row for each AQM.
"""

from typing import Any

import sojourn

SCENARIO: dict[str, Any] = {
    "duration": "2 s",
    "aqms": ["fifo", "codel", "codel_exact"],
    "switch": {"rate": "20 Mbit/s", "queue_limit": "250 kB"},
    "flows": [
        {"name": "near", "count": 2, "rtt": "10 ms"},
        {"name": "far", "count": 2, "rtt": "40 ms"},
    ],
}


def main() -> None:
    """Runs the scenario and prints a line for each AQM."""
    result = sojourn.run(SCENARIO, report=False)
    for row in result.summary.to_pylist():
        drops = row["aqm_drops"] + row["tail_drops"]
        print(
            f"{row['aqm']:12} mean delay {row['mean'] / 1e6:6.2f} ms, "
            f"goodput {row['goodput'] / 1e6:5.2f} Mbit/s, {drops} drops"
        )


if __name__ == "__main__":
    main()
