"""The HTTP server of the watch page and the metrics: its permitted clients, and its pauses."""

import errno
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from urllib.parse import SplitResult

import pytest

from sojourn.backends.live import server_thread as module
from sojourn.backends.live.address import Address
from sojourn.backends.live.http import PageHandler, PageServer, is_here
from sojourn.backends.live.server_thread import serving


class Handler(PageHandler):
    """Answers with the path."""

    def answer(self, asked: SplitResult) -> None:
        """The path."""
        self.say(200, "text/plain", asked.path.encode())


@pytest.fixture
def server() -> Iterator[PageServer]:
    made = PageServer(Address("127.0.0.1", 0), Handler)
    with serving(made):
        yield made


def asked(server: PageServer, host: str | None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    connection.putrequest("GET", "/data", skip_host=True)
    if host is not None:
        connection.putheader("Host", host)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read()


@pytest.mark.parametrize("host", ["127.0.0.1:9464", "[::1]:9464", "localhost", "LocalHost:80"])
def test_a_request_for_this_machine_is_answered(server: PageServer, host: str) -> None:
    assert asked(server, host) == (200, b"/data")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "a@[", ""]
)
def test_a_request_with_a_foreign_host_name_is_refused(server: PageServer, host: str) -> None:
    assert not is_here(host)
    assert asked(server, host)[0] == 421


def test_the_machines_own_name_is_known() -> None:
    assert is_here(f"{socket.gethostname()}:9464")


def test_accepting_pauses_while_no_descriptor_is_left(
    server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    over = threading.Event()

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        over.wait(60)

    monkeypatch.setattr(module, "time", type("Clock", (), {"sleep": staticmethod(pause)}))
    tried = 0

    def refused() -> object:
        nonlocal tried
        tried += 1
        raise OSError(errno.EMFILE, "Too many open files")

    plain = server.socket
    full = {"accept": staticmethod(refused), "fileno": plain.fileno, "close": plain.close}
    server.socket = type("Full", (), full)()  # type: ignore[assignment]
    waiting = socket.create_connection(plain.getsockname())
    end = time.monotonic() + 60
    while not pauses and time.monotonic() < end:
        time.sleep(0.01)
    assert (tried, pauses) == (1, [module._PAUSE])
    server.socket = plain
    over.set()
    waiting.close()
