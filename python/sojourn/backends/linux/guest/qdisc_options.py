"""A qdisc whose options `tc` does not know: made and read over rtnetlink.

The options are numbers and sizes that the job has; numbers of messages and attributes are those of
<linux/rtnetlink.h>. Must not depend on what an option means.
"""

import os
import socket
import struct
from collections.abc import Iterator
from typing import Any

_ROUTE = 0
_NEW, _GET = 36, 38
_REQUEST, _ACKNOWLEDGE, _CREATE, _EXCLUSIVE, _DUMP = 0x1, 0x4, 0x400, 0x200, 0x300
_ERROR, _DONE = 2, 3
_KIND, _OPTIONS, _STATS, _XSTATS = 1, 2, 3, 4
_NESTED = 0x8000
_HEAD = struct.Struct("IHHII")
_QDISC = struct.Struct("BxxxiIII")
_COUNTS = struct.Struct("QIIIIIII")
"""struct tc_stats: bytes, packets, drops, overlimits, rates of both, packets and bytes queued."""
_NAMES = ("bytes", "packets", "drops", "overlimits", "bps", "pps", "qlen", "backlog")
_SIZES = {1: "B", 2: "H", 4: "I"}
_ROOM = 1 << 16


def add_qdisc(given: dict[str, Any]) -> None:
    """Makes the qdisc in this process's namespace; `OSError` if the kernel refuses it."""
    nested = b"".join(
        _attribute(number, struct.pack(_SIZES[size], value))
        for number, size, value in given["options"]
    )
    body = _QDISC.pack(
        0, socket.if_nametoindex(given["device"]), _id(given["handle"]), _id(given["parent"]), 0
    )
    body += _attribute(_KIND, given["kind"].encode() + b"\0")
    body += _attribute(_OPTIONS | _NESTED, nested)
    for kind, answer in _ask(_NEW, _ACKNOWLEDGE | _CREATE | _EXCLUSIVE, body):
        if kind == _ERROR and (number := -int(struct.unpack_from("i", answer)[0])):
            raise OSError(number, f"qdisc {given['kind']}: {os.strerror(number)}")


def statistics(given: dict[str, Any]) -> dict[str, Any]:
    """The qdisc's counters as `tc -j -s` names them; `extended` has the words of its own."""
    index = socket.if_nametoindex(given["device"])
    for kind, answer in _ask(_GET, _DUMP, _QDISC.pack(0, index, 0, 0, 0)):
        if kind != _NEW or _QDISC.unpack_from(answer)[1:3] != (index, _id(given["handle"])):
            continue
        found = dict(_attributes(answer[_QDISC.size :]))
        counts = dict(zip(_NAMES, _COUNTS.unpack_from(found[_STATS]), strict=True))
        own = found.get(_XSTATS, b"")
        return {
            "kind": given["kind"],
            "handle": given["handle"],
            **counts,
            "extended": list(struct.unpack(f"{len(own) // 4}I", own[: len(own) & ~3])),
        }
    raise RuntimeError(f"no qdisc {given['handle']} at {given['device']}")


def _id(text: str) -> int:
    """A handle such as `10:` or `1:1`, whose digits are hexadecimal."""
    major, _, minor = text.partition(":")
    return int(major, 16) << 16 | int(minor or "0", 16)


def _attribute(number: int, content: bytes) -> bytes:
    padding = b"\0" * (-len(content) % 4)
    return struct.pack("HH", 4 + len(content), number) + content + padding


def _attributes(text: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place + 4 <= len(text):
        length, number = struct.unpack_from("HH", text, place)
        yield number & ~_NESTED, text[place + 4 : place + length]
        place += max(length + 3 & ~3, 4)


def _ask(kind: int, flags: int, body: bytes) -> Iterator[tuple[int, bytes]]:
    """The kinds and bodies of the answers, up to the last."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _ROUTE) as link:
        link.send(_HEAD.pack(_HEAD.size + len(body), kind, _REQUEST | flags, 1, 0) + body)
        while True:
            text, place = link.recv(_ROOM), 0
            while place + _HEAD.size <= len(text):
                length, said, *_ = _HEAD.unpack_from(text, place)
                yield said, text[place + _HEAD.size : place + length]
                if said in (_ERROR, _DONE):
                    return
                place += length + 3 & ~3
