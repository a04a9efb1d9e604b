"""The messages of the control protocols, made from the definitions that the engine was built from.

Needs the packages `grpcio` and `protobuf` (`pip install "sojourn[control]"`). No generated code is
stored.
"""

from functools import cache
from importlib import import_module
from typing import Any

from sojourn import _core
from sojourn.control.description import ControlError


def grpc() -> Any:
    """The package `grpc`."""
    try:
        return import_module("grpc")
    except ImportError:
        raise ControlError(
            'this needs grpcio and protobuf: pip install "sojourn[control]"'
        ) from None


@cache
def _pool() -> Any:
    grpc()
    pool = import_module("google.protobuf.descriptor_pool").DescriptorPool()
    files = import_module("google.protobuf.descriptor_pb2").FileDescriptorSet()
    files.ParseFromString(_core.definitions())
    for file in files.file:
        pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    return pool


@cache
def message(name: str) -> Any:
    """The class of a message by its full name, as in `p4.v1.WriteRequest`."""
    factory = import_module("google.protobuf.message_factory")
    return factory.GetMessageClass(_pool().FindMessageTypeByName(name))


class Stub:
    """The calls of a service, as methods by their names."""

    def __init__(self, channel: Any, service: str) -> None:
        for method in _pool().FindServiceByName(service).methods:
            kind = {
                (False, False): channel.unary_unary,
                (False, True): channel.unary_stream,
                (True, False): channel.stream_unary,
                (True, True): channel.stream_stream,
            }[method.client_streaming, method.server_streaming]
            call = kind(
                f"/{service}/{method.name}",
                request_serializer=message(method.input_type.full_name).SerializeToString,
                response_deserializer=message(method.output_type.full_name).FromString,
            )
            setattr(self, method.name, call)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)
