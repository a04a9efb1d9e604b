"""Messages for the servers of a live switch, and the switch that gets them.

Messages are made from the engine's own interface definitions: fields by chance, with the numbers
that the program has. The first byte of an input chooses the call. Must not know what a message
means.
"""

import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from sojourn import _core

_CALLS = {
    "p4runtime": (
        "p4.v1.P4Runtime",
        ("Write", "Read", "SetForwardingPipelineConfig", "GetForwardingPipelineConfig",
         "StreamChannel", "Capabilities"),
    ),
    "bfrt": (
        "bfrt_proto.BfRuntime",
        ("Write", "Read", "SetForwardingPipelineConfig", "GetForwardingPipelineConfig",
         "StreamChannel"),
    ),
}  # fmt: skip
_SEEDS = 200
"""Messages of each protocol."""
_SECONDS = 20.0
"""For the answer to a call."""
_START = 60.0


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    files = descriptor_pb2.FileDescriptorSet.FromString(_core.definitions())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


def p4runtime_messages() -> Sequence[bytes]:
    """Messages of P4Runtime, each behind the byte that chooses its call."""
    return _messages("p4runtime")


def bfrt_messages() -> Sequence[bytes]:
    """The same of BfRt."""
    return _messages("bfrt")


@cache
def _messages(protocol: str) -> Sequence[bytes]:
    service, calls = _CALLS[protocol]
    methods = _pool().FindServiceByName(service).methods_by_name
    chance, made = random.Random(protocol), []
    for number in range(_SEEDS):
        call = number % len(calls)
        message = _filled(methods[calls[call]].input_type, chance, 0)
        made.append(bytes([call]) + message.SerializePartialToString())
    return tuple(made)


def _filled(descriptor: Any, chance: random.Random, depth: int) -> Any:
    """A message with half of its fields, of values that are often right."""
    message = message_factory.GetMessageClass(descriptor)()
    for field in descriptor.fields:
        if chance.random() < 0.5 or depth > 8:
            continue
        one = _value(field, chance, depth)
        if field.is_repeated:
            if field.message_type is not None and field.message_type.GetOptions().map_entry:
                continue
            getattr(message, field.name).extend([one] * chance.choice((1, 1, 2)))
        elif field.message_type is not None:
            getattr(message, field.name).CopyFrom(one)
        else:
            setattr(message, field.name, one)
    return message


def _value(field: Any, chance: random.Random, depth: int) -> Any:
    if field.message_type is not None:
        return _filled(field.message_type, chance, depth + 1)
    if field.enum_type is not None:
        return chance.choice(field.enum_type.values).number
    match field.cpp_type:
        case field.CPPTYPE_BOOL:
            return chance.random() < 0.5
        case field.CPPTYPE_STRING if field.type == field.TYPE_BYTES:
            return chance.choice((b"", b"\1", b"\0\1", chance.randbytes(4), chance.randbytes(16)))
        case field.CPPTYPE_STRING:
            return chance.choice(("", "x", "Ingress.route", "router"))
        case field.CPPTYPE_FLOAT | field.CPPTYPE_DOUBLE:
            return chance.choice((0.0, 1.0, -1.0, float("inf"), float("nan")))
    return chance.choice((0, 1, 1, 2, 5, 255, 1 << 24, (1 << 31) - 1))


def server(protocol: str, program: str) -> Callable[..., AbstractContextManager[Any]]:
    """Sends inputs to a switch of its own, which must go on and answer."""
    service, calls = _CALLS[protocol]

    @contextmanager
    def opened(scratch: Path, *_: Path) -> Iterator[Callable[[bytes], str]]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        log = scratch / "switch.log"
        ports = ["--port", "1=none", "--port", "2=none", f"--{protocol}", address]
        out = ["--out", str(scratch / "switch")]
        command = [sys.executable, "-m", "sojourn", "switch", program, *ports, *out]
        with log.open("wb") as file:
            switch = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        channel = grpc.insecure_channel(address)
        try:
            grpc.channel_ready_future(channel).result(timeout=_START)

            def run(data: bytes) -> str:
                name = calls[data[0] % len(calls)] if data else calls[0]
                answer = _call(channel, f"/{service}/{name}", name, data[1:])
                if switch.poll() is not None or b"panicked" in log.read_bytes():
                    raise RuntimeError(log.read_text("utf-8", "replace")[-2000:])
                return f"{name} {answer}"

            yield run
        finally:
            channel.close()
            switch.terminate()
            switch.wait()

    return opened


def _call(channel: grpc.Channel, path: str, name: str, message: bytes) -> str:
    try:
        if name == "StreamChannel":
            stream = channel.stream_stream(path)(iter((message,)), timeout=_SECONDS)
            return str(len(next(iter(stream), b"")) > 0)
        if name == "Read":
            return str(sum(1 for _ in channel.unary_stream(path)(message, timeout=_SECONDS)) > 0)
        channel.unary_unary(path)(message, timeout=_SECONDS)
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED and name != "StreamChannel":
            raise RuntimeError(f"{path}: no answer within {_SECONDS:.0f} s") from error
        return f"{error.code().name} {error.details()}"
    return "ok"
