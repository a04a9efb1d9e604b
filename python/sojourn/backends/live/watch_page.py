"""A page that shows a live switch in a browser: delay, rate, drops, marks, registers.

One file without external resources; it polls twice a second. Depends only on `live_stats`.
"""

import json
from contextlib import AbstractContextManager
from importlib.resources import files
from urllib.parse import SplitResult, parse_qs

from sojourn import _core
from sojourn.backends.live.address import Address
from sojourn.backends.live.http import PageHandler, PageServer, pages
from sojourn.backends.live.live_stats import LiveStats

_ONLY_ITSELF = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "connect-src 'self'"
    )
}


class _Server(PageServer):
    def __init__(self, at: Address, observed: LiveStats) -> None:
        self.observed = observed
        self.page = (files("sojourn.backends.live") / "watch.html").read_bytes()
        super().__init__(at, _Handler)


class _Handler(PageHandler):
    server: _Server

    def answer(self, asked: SplitResult) -> None:
        """The page, or its data."""
        if asked.path == "/":
            self.say(200, "text/html; charset=utf-8", self.server.page, _ONLY_ITSELF)
        elif asked.path == "/data":
            self._data(parse_qs(asked.query).get("since", ["0"])[0])
        else:
            self.say(404, "text/plain", b"there is / and /data\n")

    def _data(self, since: str) -> None:
        try:
            shown = json.dumps(self.server.observed.shown(float(since)))
        except ValueError:
            self.say(400, "text/plain", b"since is a number of seconds\n")
        except _core.SojournError:
            self.say(503, "text/plain", b"the switch has ended\n")
        else:
            self.say(200, "application/json", shown.encode(), _ONLY_ITSELF)


def watched(observed: LiveStats, at: Address) -> AbstractContextManager[None]:
    """Serves the page while it holds."""
    return pages("watch", at, lambda at: _Server(at, observed))
