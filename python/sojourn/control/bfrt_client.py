"""A client of BfRt that is bound to the program that runs: entries as messages, names as documents.

Must not depend on the engine.
"""

import json
from collections.abc import Iterator
from typing import Any

from sojourn.control import messages

INSERT, MODIFY, DELETE = 1, 2, 4
ALL_PIPES = 0xFFFF
Front = dict[tuple[int, int], int]
"""The ports of a board: connector and lane to the number in the chip."""


def message(name: str) -> Any:
    """A new message of the package."""
    return messages.message(f"bfrt_proto.{name}")()


class Connection:
    """A client that is bound to the program that runs."""

    def __init__(self, address: str, client: int = 1, front: Front | None = None) -> None:
        self.front = front or {}
        self.channel = messages.grpc().insecure_channel(
            address, options=[("grpc.max_receive_message_length", 64 << 20)]
        )
        self.stub = messages.Stub(self.channel, "bfrt_proto.BfRuntime")
        self.client = client
        got = self.stub.GetForwardingPipelineConfig(message("GetForwardingPipelineConfigRequest"))
        self.name = got.config[0].p4_name
        documents = (got.config[0].bfruntime_info, got.non_p4_config.bfruntime_info)
        self.tables = {
            _place(table["name"]): table
            for document in documents
            for table in json.loads(document)["tables"]
        }
        self.batch: list[Any] | None = None

    def write(self, kind: int, entry: Any, pipe: int = ALL_PIPES) -> None:
        """One update, or one more of the batch."""
        update = message("Update")
        update.type = kind
        update.entity.table_entry.CopyFrom(entry)
        if self.batch is not None:
            self.batch.append(update)
        else:
            self.flush([update], pipe)

    def flush(self, updates: list[Any], pipe: int = ALL_PIPES) -> None:
        """Has updates carried out, all or none."""
        request = message("WriteRequest")
        request.client_id, request.p4_name, request.atomicity = self.client, self.name, 1
        request.target.pipe_id = pipe
        request.updates.extend(updates)
        self.stub.Write(request)

    def read(self, entry: Any, pipe: int = ALL_PIPES) -> Iterator[Any]:
        """Entries."""
        request = message("ReadRequest")
        request.client_id, request.p4_name = self.client, self.name
        request.target.pipe_id = pipe
        request.entities.add().table_entry.CopyFrom(entry)
        for response in self.stub.Read(request):
            for entity in response.entities:
                yield entity.table_entry


def _place(name: str) -> str:
    """Where a table stands in the tree: `$PORT` and `$PORT_STAT` below `port`."""
    plain = name.replace("$", "")
    return f"port.{plain.lower()}" if name.startswith("$PORT") else plain
