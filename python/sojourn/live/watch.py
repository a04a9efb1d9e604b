"""A page that shows a live switch in a browser: delay, rate, drops, marks, registers.

One file without anything from elsewhere; what it shows it asks for twice a second. Knows only what
`observed` knows.
"""

import contextlib
import json
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from urllib.parse import parse_qs, urlsplit

from sojourn import _core
from sojourn.errors import OutputError
from sojourn.live.address import Address
from sojourn.live.observed import Observed
from sojourn.live.serving import serving


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, at: Address, observed: Observed) -> None:
        self.observed = observed
        self.page = (files("sojourn.live") / "watch.html").read_bytes()
        if ":" in at.host:
            self.address_family = socket.AF_INET6
        super().__init__((at.host, at.port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10

    def do_GET(self) -> None:
        """The page, or what it shows."""
        asked = urlsplit(self.path)
        if asked.path == "/":
            self._say(200, "text/html; charset=utf-8", self.server.page)
        elif asked.path == "/data":
            self._data(parse_qs(asked.query).get("since", ["0"])[0])
        else:
            self._say(404, "text/plain", b"there is / and /data\n")

    def _data(self, since: str) -> None:
        try:
            shown = json.dumps(self.server.observed.shown(float(since)))
        except ValueError:
            self._say(400, "text/plain", b"since is a number of seconds\n")
        except _core.SojournError:
            self._say(503, "text/plain", b"the switch has ended\n")
        else:
            self._say(200, "application/json", shown.encode())

    def _say(self, status: int, kind: str, body: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Content-Security-Policy", _ONLY_ITSELF)
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody is told of requests."""


_ONLY_ITSELF = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"
)


@contextlib.contextmanager
def watched(observed: Observed, at: Address) -> Iterator[None]:
    """Serves the page while it holds."""
    try:
        server = _Server(at, observed)
    except OSError as error:
        raise OutputError(f"--watch {at}: {error.strerror}") from error
    with serving(server):
        yield
