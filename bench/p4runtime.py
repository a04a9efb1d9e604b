"""100,000 entries through the P4Runtime server of a running switch and back; atomic batches.

    sojourn switch v1model/router --p4runtime 127.0.0.1:9559
    python bench/p4runtime.py 127.0.0.1:9559

Pushes a program of the server's own tests. Needs `grpcio` and the messages of the package
`p4runtime`, in an environment of their own.
"""

import sys
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
BATCHES = 2_000


def main(address: str) -> None:
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
    atomic = []
    for number in range(BATCHES):
        port = bytes([1 + number % 2])
        request = _write([_entry(table, send, key, port) for key in (1, 2)])
        request.atomicity = p4.WriteRequest.DATAPLANE_ATOMIC
        for update in request.updates:
            update.type = p4.Update.MODIFY
        atomic.append(request)
    begun = time.monotonic()
    for request in atomic:
        stub.Write(request)
    print(f"{BATCHES / (time.monotonic() - begun):,.0f} atomic batches of two a second")
    stream.cancel()


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
    main(sys.argv[1])
