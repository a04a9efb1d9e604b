"""The hosts that receive: every connection is accepted and read at once, as by iperf3's server.

Stands on the kernel's sockets. What arrives is discarded in the kernel (MSG_TRUNC); how much it
was, the sockets themselves know.
"""

import select
import socket
from collections.abc import Sequence

_PORT_ANY = {int(socket.AF_INET): "0.0.0.0", int(socket.AF_INET6): "::"}
_ROOM = 1 << 20
_AT_ONCE = 16 * 1024
"""Bytes that wait before a receiver is woken: a system call in the guest costs what several packets
do. Acknowledgements do not wait for it (tcp_input.c, `__tcp_ack_snd_check`)."""


class Receivers:
    """Listens on `port` for TCP and takes in UDP, by the versions of IP that are used."""

    def __init__(self, port: int, families: Sequence[int]) -> None:
        self._poll = select.epoll()
        self._listening: dict[int, socket.socket] = {}
        self._udp = []
        for family in families:
            address = _PORT_ANY[family]
            listening = socket.socket(family, socket.SOCK_STREAM)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, _AT_ONCE)
            listening.bind((address, port))
            listening.listen(1024)
            listening.setblocking(False)
            self._listening[listening.fileno()] = listening
            self._poll.register(listening, select.EPOLLIN)
            # Never read: the capture counts datagrams, and a full buffer drops them quietly.
            udp = socket.socket(family, socket.SOCK_DGRAM)
            if family == socket.AF_INET6:
                udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            udp.bind((address, port))
            self._udp.append(udp)

    def run(self) -> None:
        """Reads for ever; the guest ends it."""
        open_sockets: dict[int, socket.socket] = {}
        room = bytearray(_ROOM)
        while True:
            for number, _ in self._poll.poll():
                if number in self._listening:
                    accepted, _ = self._listening[number].accept()
                    accepted.setblocking(False)
                    open_sockets[accepted.fileno()] = accepted
                    self._poll.register(accepted, select.EPOLLIN)
                elif not _read(open_sockets[number], room):
                    self._poll.unregister(number)
                    open_sockets.pop(number).close()


def _read(connection: socket.socket, room: bytearray) -> bool:
    """Discards what has come; false at the end of the connection."""
    try:
        return connection.recv_into(room, _ROOM, socket.MSG_TRUNC) > 0
    except BlockingIOError:
        return True
    except OSError:
        return False
