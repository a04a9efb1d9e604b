"""Ctrl-C and SIGTERM: handled once, and within a second whatever is at work.

The first signal raises an exception, which ends started processes and keeps written files. Signals
that follow it closely are ignored, so that files can be closed. The engine works without the
interpreter, which handles no signal meanwhile; then a thread of its own ends the process. Only a
run writes while the engine works, and a run is watched from outside the engine. Must not depend on
commands.
"""

import contextlib
import os
import signal
import sys
import time
from threading import Event, Thread, Timer
from types import FrameType

from sojourn.errors import EXIT_INTERRUPTED

_SAME_WISH = 3.0
"""Seconds in which further signals mean what the first one meant."""
_DEAF = 0.8
"""Seconds after which an interpreter that has not heard a signal is in the engine."""
_AGAIN = 0.05
"""Seconds until a signal that went unheard is given again."""


class _Signals:
    def __init__(self) -> None:
        self._first = -_SAME_WISH
        self._heard = Event()

    def hear(self, _number: int, _frame: FrameType | None) -> None:
        """Runs in the main thread as soon as it is back in the interpreter."""
        self._heard.set()
        now = time.monotonic()
        if now - self._first >= _SAME_WISH:
            self._first = now
            raise KeyboardInterrupt

    def reraise(self, ignored: "sys.UnraisableHookArgs", /) -> None:
        """Raises an exception again that was raised where it could not be caught, as in a
        destructor."""
        if ignored.exc_type is KeyboardInterrupt:
            self._first = -_SAME_WISH
            Timer(_AGAIN, signal.raise_signal, [signal.SIGINT]).start()
        else:
            sys.__unraisablehook__(ignored)

    def watch(self, pipe: int) -> None:
        """Runs in a thread of its own: each byte is a signal that the process got."""
        while os.read(pipe, 1):
            if not self._heard.wait(_DEAF):
                with contextlib.suppress(Exception):
                    print("interrupted", file=sys.stderr, flush=True)
                os._exit(EXIT_INTERRUPTED)


def listen() -> None:
    """From here on SIGINT and SIGTERM end the process as this file says."""
    signals = _Signals()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    sys.unraisablehook = signals.reraise
    Thread(target=signals.watch, args=(reading,), name="signals", daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        # What is ignored by whoever started the process stays so.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signals.hear)


def ignore() -> None:
    """From here on signals are the wish that is being carried out. An interpreter that ends gives
    each signal its default again, which would end it with another status, but leaves alone those
    that are ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
