"""100,000 entries through the P4Runtime server of a running switch and back; atomic batches, alone
and under traffic.

    sojourn switch v1model/router --p4runtime 127.0.0.1:9559 --port 1=veth0
    python bench/p4runtime.py 127.0.0.1:9559 veth1

Pushes a program of the server's own tests. Traffic is sent into the other end of port 1, if it is
named, and comes back: each frame shows which versions of two entries it has met, and status 1 says
that one has met two. Needs `grpcio` and the messages of the package
`p4runtime`, in an environment of their own.
"""

import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import grpc
from p4.v1 import p4runtime_pb2 as p4
from p4.v1 import p4runtime_pb2_grpc as service

TESTS = Path(__file__).parent.parent / "crates/protocols/tests"
ENTRIES = 100_000
TOGETHER = 5_000
BATCHES = 5_000
KIND = 0x88B6
"""Of the frames that show what they have met."""


def main(address: str, interface: str | None = None) -> int:
    """Prints the seconds of each."""
    channel = grpc.insecure_channel(
        address, options=[("grpc.max_receive_message_length", 64 << 20)]
    )
    stub = service.P4RuntimeStub(channel)
    stream = _primary(stub)
    pushed = p4.SetForwardingPipelineConfigRequest(device_id=1)
    pushed.election_id.low = 1
    pushed.action = p4.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
    pushed.config.p4_device_config = (TESTS / "controlled.p4").read_bytes()
    info = pushed.config.p4info
    info.ParseFromString((TESTS / "controlled.p4info.bin").read_bytes())
    begun = time.monotonic()
    stub.SetForwardingPipelineConfig(pushed)
    print(f"a program compiled and put in place in {time.monotonic() - begun:.2f} s")
    ids = {one.preamble.name: one.preamble.id for one in info.tables}
    ids |= {one.preamble.name: one.preamble.id for one in info.actions}
    table, send = ids["Forward.exact_t"], ids["Forward.send"]
    written = [
        _write([_entry(table, send, number, b"\x01") for number in range(first, first + TOGETHER)])
        for first in range(1, ENTRIES, TOGETHER)
    ]
    begun = time.monotonic()
    for request in written:
        stub.Write(request)
    print(f"{ENTRIES:,} entries written in {time.monotonic() - begun:.2f} s")
    wanted = p4.ReadRequest(device_id=1)
    wanted.entities.add().table_entry.table_id = table
    begun = time.monotonic()
    read = sum(len(response.entities) for response in stub.Read(wanted))
    print(f"{read:,} entries read in {time.monotonic() - begun:.2f} s")
    kind = KIND.to_bytes(2, "big")
    both = [(ids[f"Forward.{name}_t"], ids[f"Forward.set_{name}"]) for name in ("first", "second")]
    atomic = []
    for number in range(BATCHES + 1):
        version = bytes([number % 251])
        request = _write([_entry(of, sets, KIND, version) for of, sets in both])
        request.atomicity = p4.WriteRequest.DATAPLANE_ATOMIC
        for update in request.updates if number else ():
            update.type = p4.Update.MODIFY
        atomic.append(request)
    stub.Write(atomic[0])
    wrong = 0
    for traffic in (None, interface) if interface else (None,):
        seen = _Traffic(traffic, kind) if traffic else None
        begun = time.monotonic()
        for request in atomic[1:]:
            stub.Write(request)
        taken = time.monotonic() - begun
        print(f"{BATCHES / taken:,.0f} atomic batches of two a second", end="")
        if seen is not None:
            versions, wrong = seen.end()
            rate = f"{seen.count / taken:,.0f} frames a second"
            print(f" beside {rate}; {versions} versions seen, {wrong} of two batches", end="")
        print()
    stream.cancel()
    return int(wrong > 0)


class _Traffic:
    """Frames into an interface and out of it again, in threads of their own."""

    def __init__(self, interface: str, kind: bytes) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, KIND)
        self._socket.bind((interface, KIND))
        self._socket.settimeout(0.2)
        self._over = False
        self._seen: set[bytes] = set()
        self.count = 0
        # The entry for this destination sends it back out of port 1.
        self._frame = bytes([0, 0, 0, 0, 0, 1]) + bytes([2, 0, 0, 0, 0, 0]) + kind + bytes(46)
        self._threads = [threading.Thread(target=work) for work in (self._send, self._hear)]
        for thread in self._threads:
            thread.start()

    def _send(self) -> None:
        while not self._over:
            for _ in range(16):
                self._socket.send(self._frame)
            time.sleep(0.001)

    def _hear(self) -> None:
        while not self._over:
            try:
                frame, (_, _, direction, *_) = self._socket.recvfrom(2048)
            except TimeoutError:
                continue
            if direction != socket.PACKET_OUTGOING:
                self.count += 1
                self._seen.add(frame[10:12])

    def end(self) -> tuple[int, int]:
        """How many versions were seen, and in how many frames there were two."""
        self._over = True
        for thread in self._threads:
            thread.join()
        return len(self._seen), sum(first != second for first, second in self._seen)


def _primary(stub: Any) -> Any:
    asks: SimpleQueue[Any] = SimpleQueue()
    request = p4.StreamMessageRequest()
    request.arbitration.device_id = 1
    request.arbitration.election_id.low = 1
    asks.put(request)

    def each() -> Iterator[Any]:
        while True:
            yield asks.get()

    stream = stub.StreamChannel(each())
    next(stream)
    return stream


def _entry(table: int, action: int, key: int, port: bytes) -> Any:
    update = p4.Update(type=p4.Update.INSERT)
    entry = update.entity.table_entry
    entry.table_id = table
    match = entry.match.add(field_id=1)
    match.exact.value = key.to_bytes((key.bit_length() + 7) // 8, "big")
    entry.action.action.action_id = action
    entry.action.action.params.add(param_id=1, value=port)
    return update


def _write(updates: list[Any]) -> Any:
    request = p4.WriteRequest(device_id=1, updates=updates)
    request.election_id.low = 1
    return request


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
