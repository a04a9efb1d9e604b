"""Percentiles of the queue delay of each flow, computed from the rows of a run.

    python examples/delay_per_flow.py

`packets()` reads the rows of all AQMs in batches: one row for each packet at the bottleneck, times
in ns. Any Arrow, pandas or DuckDB code can follow.
"""

import pyarrow.compute as pc

import sojourn


def main() -> None:
    """Runs a shipped scenario, shortened, and prints the 99th percentile of each flow."""
    result = sojourn.run("three_flows", aqms="codel", report=False, set={"duration": "2 s"})
    rows = result.packets().read_all()
    sent = rows.filter(pc.equal(rows["verdict"].cast("string"), "sent"))
    for flow in sorted(pc.unique(sent["flow"]).to_pylist()):
        own = sent.filter(pc.equal(sent["flow"], flow))
        delay = pc.subtract(own["dequeued"], own["enqueued"])
        [late] = pc.quantile(delay, q=0.99).to_pylist()
        print(f"flow {flow}: {own.num_rows} packets, 99 % within {late / 1e6:.2f} ms")


if __name__ == "__main__":
    main()
