"""A discipline in Python: drops or marks at the head while the queue's delay is above a target."""

from sojourn import Decision, Discipline, QueuedPacket, QueueState, Time


class DelayLimit(Discipline):
    """One signal an interval while the delay stays above the target."""

    def __init__(
        self,
        target: int = Time("5 ms"),
        interval: int = Time("100 ms"),
        ecn: bool = False,
    ) -> None:
        self.target = target
        self.interval = interval
        self.signal = Decision.MARK if ecn else Decision.DROP
        self.next = 0

    def dequeue(self, packet: QueuedPacket, queue: QueueState, now: int) -> Decision:
        """Decides about the packet at the head; `queue` is what stays behind it."""
        if packet.sojourn < self.target or queue.packets == 0:
            self.next = now + self.interval
            return Decision.KEEP
        if now < self.next:
            return Decision.KEEP
        self.next = now + self.interval
        return self.signal
