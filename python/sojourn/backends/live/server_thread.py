"""Servers that answer in a thread of their own while something else goes on.

Without a free descriptor an accept fails at once and the listener stays readable, so accepting
pauses. Must not know what a server answers.
"""

import contextlib
import threading
import time
from collections.abc import Iterator
from socketserver import BaseServer, TCPServer
from typing import Any

_PAUSE = 0.1
"""Seconds between an accept that failed and the next one."""


class PausingServer(TCPServer):
    """A server whose accepts pause while the process has no descriptor left."""

    def get_request(self) -> Any:
        """The next connection."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(_PAUSE)
            raise


@contextlib.contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """Serves while it holds; then closes the server."""
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
