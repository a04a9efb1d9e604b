"""Servers that answer in a thread of their own while something else goes on.

Knows nothing of what they are asked.
"""

import contextlib
import threading
from collections.abc import Iterator
from socketserver import BaseServer


@contextlib.contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """While it holds, `server` answers; then it is closed."""
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    with until_closed(server, thread):
        yield


@contextlib.contextmanager
def until_closed(server: BaseServer, thread: threading.Thread) -> Iterator[None]:
    """While it holds, `server` goes on in its `thread`; then it is closed."""
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
