"""A live switch's counters in Prometheus' text format, by the project's own Python client.

Each scrape reads the switch; nothing is counted here. Must not depend on the page.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from urllib.parse import SplitResult

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from sojourn import _core
from sojourn.backends.live.address import Address
from sojourn.backends.live.http import PageHandler, PageServer, pages
from sojourn.backends.live.live_stats import BOUNDS, LiveStats

_INTERFACE = {
    "received": "Frames that came in",
    "received_bytes": "Bytes that came in",
    "sent": "Frames that went out",
    "sent_bytes": "Bytes that went out",
    "lost": "Frames that the kernel dropped before the switch took them",
    "not_sent": "Frames that the interface did not take",
    "failures": "Times that the interface was gone or down",
}


class LiveCollector(Collector):
    """The collector behind each scrape."""

    def __init__(self, observed: LiveStats) -> None:
        self._observed = observed

    def collect(self) -> Iterator[Metric]:
        """All metrics, at this moment."""
        report = self._observed.report()
        for key, text in _INTERFACE.items():
            family = CounterMetricFamily(
                f"sojourn_interface_{key}", text, labels=["port", "interface"]
            )
            for port in report["live"]["ports"]:
                family.add_metric([str(port["port"]), port["interface"]], port[key])
            yield family
        yield from self._of_rows()
        queues = GaugeMetricFamily(
            "sojourn_queue_packets", "Packets in a queue", labels=["port", "queue"]
        )
        for port in report["switch"]["ports"]:
            for number, queue in enumerate(port["queues"]):
                queues.add_metric([str(port["port"]), str(number)], queue["packets"])
        yield queues
        late = GaugeMetricFamily(
            "sojourn_departure_lateness_seconds",
            "How much later than due frames left shaped ports since the start",
            labels=["percentile"],
        )
        for percentile, key in (
            ("50", "median"), ("99", "p99"), ("99.9", "p999"), ("100", "max"),
        ):  # fmt: skip
            late.add_metric([percentile], report["live"]["lateness"][key] / 1e9)
        yield late
        lost = CounterMetricFamily("sojourn_rows_lost", "Rows that could not be written in time")
        lost.add_metric([], report["live"]["rows_lost"])
        yield lost
        yield from self._of_program()

    def _of_rows(self) -> Iterator[Metric]:
        packets = CounterMetricFamily(
            "sojourn_packets", "Packets at a shaped port by verdict", labels=["port", "verdict"]
        )
        waited = HistogramMetricFamily(
            "sojourn_sojourn_time_seconds",
            "Time between enqueue and dequeue of what was sent",
            labels=["port"],
        )
        for port, totals in self._observed.totals().items():
            for verdict, count in totals.verdicts.items():
                packets.add_metric([str(port), verdict], count)
            buckets, count = [], 0
            for bound, here in zip((*map(str, BOUNDS), "+Inf"), totals.below, strict=True):
                count += here
                buckets.append((bound, float(count)))
            waited.add_metric([str(port)], buckets, totals.seconds)
        yield packets
        yield waited

    def _of_program(self) -> Iterator[Metric]:
        register = GaugeMetricFamily(
            "sojourn_register",
            "A register of the program, its first cells",
            labels=["register", "index", "field"],
        )
        counted = {
            unit: CounterMetricFamily(
                f"sojourn_counter_{unit}",
                f"A counter of the program, its first cells, {unit}",
                labels=["counter", "index"],
            )
            for unit in ("packets", "bytes")
        }
        for kind, name, cell, values in self._observed.cells():
            if kind == "register":
                for place, value in enumerate(values):
                    register.add_metric([name, str(cell), str(place)], value)
            else:
                for family, value in zip(counted.values(), values, strict=True):
                    family.add_metric([name, str(cell)], value)
        yield register
        yield from counted.values()


class _Server(PageServer):
    def __init__(self, at: Address, observed: LiveStats) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(LiveCollector(observed))
        super().__init__(at, _Handler)


class _Handler(PageHandler):
    server: _Server

    def answer(self, asked: SplitResult) -> None:
        """All metrics, in the format that the scraper takes."""
        if asked.path != "/metrics":
            self.say(404, "text/plain", b"there is /metrics\n")
            return
        encode, kind = choose_encoder(self.headers.get("Accept") or "")
        try:
            self.say(200, kind, encode(self.server.registry))
        except _core.SojournError:
            self.say(503, "text/plain", b"the switch has ended\n")


def metrics(observed: LiveStats, at: Address) -> AbstractContextManager[None]:
    """Serves them while it holds."""
    return pages("metrics", at, lambda at: _Server(at, observed))
