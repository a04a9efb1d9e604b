"""Commands about the switch's ports and queues: rates, depths, interfaces."""

from sojourn.control import SetQueue
from sojourn.control.values import index
from sojourn.runtime_cli.session import Outcome, Session, take


def rate(words: list[str], _session: Session) -> Outcome:
    """`set_queue_rate PACKETS_PER_SECOND [PORT [PRIORITY]]`"""
    value, port, priority = _where(words, "packets per second")
    return (SetQueue(port, priority, packets_per_second=value),)


def bitrate(words: list[str], _session: Session) -> Outcome:
    """`set_queue_bitrate BITS_PER_SECOND [PORT [PRIORITY]]`"""
    value, port, priority = _where(words, "bits per second")
    return (SetQueue(port, priority, bits_per_second=value),)


def depth(words: list[str], _session: Session) -> Outcome:
    """`set_queue_depth PACKETS [PORT [PRIORITY]]`"""
    value, port, priority = _where(words, "packets")
    return (SetQueue(port, priority, depth=value),)


def port_add(words: list[str], _session: Session) -> Outcome:
    """`port_add INTERFACE PORT`: a run has its ports already, and no interfaces."""
    index(take(words, 2)[1], "port")
    return ()


def _where(words: list[str], what: str) -> tuple[int, int | None, int | None]:
    value, *where = take(words, 1, 3)
    port = index(where[0], "port") if where else None
    priority = index(where[1], "priority") if len(where) > 1 else None
    return index(value, what), port, priority
