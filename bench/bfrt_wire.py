"""Read rate of a BfRt server without the vendor's client: entries are received and not decoded.

    sojourn switch crates/protocols/tests/tofino.p4 --port 1=none --bfrt 127.0.0.1:50052
    python bench/bfrt_wire.py 127.0.0.1:50052 [ENTRIES]

Entries are written in messages that are made before the clock runs, and read as bytes that are not
decoded: the time is that of the server, the kernel and gRPC. Then the same bytes
are parsed by protobuf's compiled parser, which is the least that any client in Python needs.
"""

import sys
import time

import grpc

from sojourn.control import messages

_PROGRAM = "tofino"
_TOGETHER = 5_000


def entity(table: int, action: int, number: int) -> bytes:
    """An entry of `Ingress.exact_t` as an update on the wire."""
    update = messages.message("bfrt_proto.Update")()
    update.type = 1
    entry = update.entity.table_entry
    entry.table_id = table
    key = entry.key.fields.add()
    key.field_id = 1
    key.exact.value = number.to_bytes(6, "big")
    entry.data.action_id = action
    field = entry.data.fields.add()
    field.field_id = 1
    field.stream = (1).to_bytes(2, "big")
    made: bytes = update.SerializeToString()
    return made


def main(address: str, entries: int = 100_000) -> None:
    """Prints the seconds of each."""
    channel = grpc.insecure_channel(address, options=[("grpc.max_receive_message_length", -1)])
    as_is = {"request_serializer": bytes, "response_deserializer": bytes}
    write = channel.unary_unary("/bfrt_proto.BfRuntime/Write", **as_is)
    read = channel.unary_stream("/bfrt_proto.BfRuntime/Read", **as_is)
    numbers = {}
    for name, action in (("table", ""), ("action", "Ingress.send")):
        asked = messages.message("bfrt_proto.ReadRequest")(p4_name=_PROGRAM)
        named = asked.entities.add().object_id.table_object
        named.table_name = "pipe.Ingress.exact_t"
        if action:
            named.action_name.action = action
        response = messages.message("bfrt_proto.ReadResponse")()
        response.ParseFromString(next(read(asked.SerializeToString())))
        numbers[name] = response.entities[0].object_id.id
    requests = []
    for first in range(0, entries, _TOGETHER):
        request = messages.message("bfrt_proto.WriteRequest")(p4_name=_PROGRAM)
        for number in range(first, min(first + _TOGETHER, entries)):
            request.updates.add().MergeFromString(
                entity(numbers["table"], numbers["action"], number + 1)
            )
        requests.append(request.SerializeToString())
    begun = time.monotonic()
    for request in requests:
        write(request)
    print(f"{entries:,} entries written in {time.monotonic() - begun:.2f} s")
    asked = messages.message("bfrt_proto.ReadRequest")(p4_name=_PROGRAM)
    asked.entities.add().table_entry.table_id = numbers["table"]
    begun = time.monotonic()
    received = list(read(asked.SerializeToString()))
    size = sum(map(len, received))
    print(f"received in {time.monotonic() - begun:.2f} s, {size:,} bytes")
    begun, count = time.monotonic(), 0
    for part in received:
        response = messages.message("bfrt_proto.ReadResponse")()
        response.ParseFromString(part)
        count += len(response.entities)
    assert count == entries, count
    print(f"parsed in {time.monotonic() - begun:.2f} s")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
