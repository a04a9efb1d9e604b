"""Monitors of a live switch: metrics, a page, a terminal, each only if requested."""

from collections.abc import Mapping
from contextlib import ExitStack

from rich.console import Console

from sojourn.backends.live.address import Address
from sojourn.backends.live.live_stats import LiveStats
from sojourn.backends.live.switch_run import Recording


def serve_monitors(
    recording: Recording,
    addresses: Mapping[str, Address],
    beside: ExitStack,
    terminal: Console | None = None,
) -> None:
    """Serves the monitors in `addresses` and draws on `terminal`, until `beside` is closed."""
    if not addresses and terminal is None:
        return
    # Imported here: only a run with monitors waits for them.
    from sojourn.backends.live.metrics import metrics
    from sojourn.backends.live.terminal_view import drawn_live
    from sojourn.backends.live.watch_page import watched

    observed = LiveStats(recording)
    servers = {"metrics": metrics, "watch": watched}
    for what, at in addresses.items():
        beside.enter_context(servers[what](observed, at))
    if terminal is not None:
        beside.enter_context(drawn_live(observed, terminal))
