"""A minimal P4Runtime controller: primary of device 1."""

import contextlib
import os
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import grpc

# The package's messages are of an older generator than protobuf's fast readers take.
os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
from p4.v1 import p4runtime_pb2 as p4
from p4.v1 import p4runtime_pb2_grpc as service

DEVICE = 1
PATIENCE = 30
"""s"""


class Controller:
    """The primary controller of a device, on one stream."""

    def __init__(self, channel: Any, device: int = DEVICE) -> None:
        self._device = device
        self._stub = service.P4RuntimeStub(channel)
        self._asks: SimpleQueue[Any] = SimpleQueue()
        self._stream = self._stub.StreamChannel(iter(self._asks.get, None), timeout=2 * PATIENCE)
        self._info: Any = None
        request = p4.StreamMessageRequest()
        request.arbitration.device_id = device
        request.arbitration.election_id.low = 1
        self._asks.put(request)
        assert next(self._stream).arbitration.status.code == 0, "it is primary"

    def push(self, program: bytes, info: bytes) -> None:
        """Puts a program in the place of the one that runs."""
        request = p4.SetForwardingPipelineConfigRequest(device_id=self._device)
        request.election_id.low = 1
        request.action = p4.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
        request.config.p4_device_config = program
        request.config.p4info.ParseFromString(info)
        self._stub.SetForwardingPipelineConfig(request, timeout=PATIENCE)
        self._info = request.config.p4info

    def _id(self, kind: str, name: str) -> int:
        objects = getattr(self._info, kind)
        return next(one.preamble.id for one in objects if one.preamble.name == name)

    def add(self, table: str, key: bytes, action: str, value: bytes) -> None:
        """An entry with one exact key and an action with one parameter."""
        request = p4.WriteRequest(device_id=self._device)
        request.election_id.low = 1
        update = request.updates.add(type=p4.Update.INSERT)
        entry = update.entity.table_entry
        entry.table_id = self._id("tables", table)
        entry.match.add(field_id=1).exact.value = key.lstrip(b"\0")
        entry.action.action.action_id = self._id("actions", action)
        entry.action.action.params.add(param_id=1, value=value)
        self._stub.Write(request, timeout=PATIENCE)

    def entries(self, table: str) -> int:
        """How many a table has."""
        request = p4.ReadRequest(device_id=self._device)
        request.entities.add().table_entry.table_id = self._id("tables", table)
        answers = self._stub.Read(request, timeout=PATIENCE)
        return sum(len(answer.entities) for answer in answers)

    def packet_in(self) -> tuple[bytes, dict[str, int]]:
        """The next packet for the controller, and what its header said."""
        packet = next(one.packet for one in self._stream if one.HasField("packet"))
        names = {one.id: one.name for one in self._header("packet_in")}
        metadata = {
            names[one.metadata_id]: int.from_bytes(one.value, "big") for one in packet.metadata
        }
        return packet.payload, metadata

    def packet_out(self, frame: bytes, **header: int) -> None:
        """Sends a packet; fields of its header that are not given are 0."""
        request = p4.StreamMessageRequest()
        request.packet.payload = frame
        for field in self._header("packet_out"):
            value = header.get(field.name, 0)
            octets = value.to_bytes(max((value.bit_length() + 7) // 8, 1), "big")
            request.packet.metadata.add(metadata_id=field.id, value=octets)
        self._asks.put(request)

    def _header(self, name: str) -> Any:
        headers = self._info.controller_packet_metadata
        return next(one.metadata for one in headers if one.preamble.name == name)

    def close(self) -> None:
        """Ends its stream."""
        self._asks.put(None)
        self._stream.cancel()


@contextlib.contextmanager
def primary(address: str) -> Iterator[Controller]:
    """The primary controller of the switch that listens there, once it does."""
    with grpc.insecure_channel(address) as channel:
        grpc.channel_ready_future(channel).result(timeout=PATIENCE)
        controller = Controller(channel)
        try:
            yield controller
        finally:
            controller.close()
