"""The HTTP server behind the watch page and the metrics.

A browser lets any page read from a name that the page's owner has pointed at this machine (DNS
rebinding). Requests are therefore answered only if their `Host` is an address, this machine's name
or `localhost`. Must not know what is answered.
"""

import contextlib
import ipaddress
import socket
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import SplitResult, urlsplit

from sojourn.backends.live.address import Address
from sojourn.backends.live.server_thread import PausingServer, serving
from sojourn.errors import OutputError

_IDLE = 10
"""Seconds after which a connection that sends nothing is closed."""


class PageServer(PausingServer, ThreadingHTTPServer):
    """Listens on an address; a subclass has what its handler shows."""

    daemon_threads = True

    def __init__(self, at: Address, handler: type["PageHandler"]) -> None:
        if ":" in at.host:
            self.address_family = socket.AF_INET6
        super().__init__((at.host, at.port), handler)


class PageHandler(BaseHTTPRequestHandler):
    """Answers one connection; a subclass has `answer`."""

    timeout = _IDLE

    def do_GET(self) -> None:
        """Refuses a request for another machine, and answers all others."""
        host = self.headers.get("Host")
        if host is None or is_here(host):
            self.answer(urlsplit(self.path))
        else:
            self.say(421, "text/plain", b"this server answers for addresses and localhost only\n")

    def answer(self, asked: SplitResult) -> None:
        """Answers a request."""
        raise NotImplementedError

    def say(
        self, status: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        """Sends an answer that no cache stores."""
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Logs no request."""


def is_here(host: str) -> bool:
    """True if a `Host` header is an address, this machine's name or `localhost`."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in ("localhost", socket.gethostname().lower())
    return True


@contextlib.contextmanager
def pages(option: str, at: Address, server: Callable[[Address], PageServer]) -> Iterator[None]:
    """Serves on an address while it holds."""
    try:
        made = server(at)
    except OSError as error:
        raise OutputError(f"--{option} {at}: {error.strerror}") from error
    with serving(made):
        yield
