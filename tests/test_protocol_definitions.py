"""The P4Runtime definitions of the engine equal those of the PyPI package `p4runtime`."""

import os
import subprocess
import sys
from typing import Any

import pytest

from sojourn import _core

descriptors = pytest.importorskip(
    "google.protobuf.descriptor_pb2", reason="not installed: pip install 'sojourn[dev]'"
)
pytest.importorskip("p4.v1", reason="not installed: pip install 'sojourn[dev]'")

DUMP = """
import sys
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from p4.config.v1 import p4info_pb2, p4types_pb2
from p4.v1 import p4data_pb2, p4runtime_pb2
files = FileDescriptorSet()
for module in (p4runtime_pb2, p4data_pb2, p4info_pb2, p4types_pb2):
    module.DESCRIPTOR.CopyToProto(files.file.add())
sys.stdout.buffer.write(files.SerializeToString())
"""
"""Prints the definitions of the package. Its generated code needs protobuf in pure Python."""

NEWER = {
    "p4.v1.Replica": {"backup_replicas"},
}
"""Fields that P4Runtime 1.5 has and the installed package may not have yet."""

Fields = dict[str, tuple[Any, ...]]


def fields_of(message: Any) -> Fields:
    """Number, type, label, type name and oneof of each field by name."""
    return {
        field.name: (
            field.number,
            field.type,
            field.label,
            field.type_name,
            message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else None,
        )
        for field in message.field
    }


def listed(files: list[Any]) -> dict[str, Fields]:
    """Messages, enumerations and services of the packages `p4.*` by full name."""
    found: dict[str, Fields] = {}

    def enumeration(of: Any, scope: str) -> None:
        found[f"{scope}.{of.name}"] = {value.name: (value.number,) for value in of.value}

    def message(of: Any, scope: str) -> None:
        name = f"{scope}.{of.name}"
        found[name] = fields_of(of)
        for inner in of.nested_type:
            message(inner, name)
        for inner in of.enum_type:
            enumeration(inner, name)

    for file in files:
        for of in file.message_type:
            message(of, file.package)
        for of in file.enum_type:
            enumeration(of, file.package)
        for service in file.service:
            found[f"{file.package}.{service.name}"] = {
                method.name: (
                    method.input_type,
                    method.output_type,
                    method.client_streaming,
                    method.server_streaming,
                )
                for method in service.method
            }
    return found


def test_every_field_has_the_name_number_and_type_of_the_published_package() -> None:
    environment = os.environ | {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}
    printed = subprocess.run(
        [sys.executable, "-c", DUMP], env=environment, capture_output=True, check=True
    ).stdout
    published = list(descriptors.FileDescriptorSet.FromString(printed).file)
    own = descriptors.FileDescriptorSet.FromString(_core.definitions())
    ours = listed([file for file in own.file if file.package.startswith("p4.")])
    theirs = listed(published)
    assert len(theirs) > 100
    assert not set(theirs) - set(ours), "a message of the package is missing here"
    for name, fields in theirs.items():
        differing = {
            field
            for field in ours[name].keys() | fields.keys()
            if ours[name].get(field) != fields.get(field)
        }
        assert differing <= NEWER.get(name, set()), (name, differing)
