"""The kinds of fuzzed input: the seeds of a mutation, and the reader of the result.

A reader gives its outcome in a few words, raises a `SojournError`, or has failed. Files of the
tree are the seeds. Must not know how inputs are changed.
"""

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from servers import bfrt_messages, p4runtime_messages, server

from sojourn import _core, check
from sojourn.common.resources import programs_folder, scenarios_folder
from sojourn.control.description import read_description
from sojourn.model.programs import compiled, with_own_folder
from sojourn.runner import plan_scenario
from sojourn.runtime.pcapng import CaptureWriter
from sojourn.tools.delays.captures import read_frames
from sojourn.tools.delays.payload_delays import read_delays
from sojourn.tools.lab.entries import read_runtime
from sojourn.tools.lab.topology import read_topology
from sojourn.tools.stf.runner import run_stf

_P4 = programs_folder()
_TESTS = Path(__file__).parents[2] / "tests" / "stf"
_FRAMES = 2_000
"""Frames that a mutated program gets in machine code, in flat code and by the tree."""

Run = Callable[[bytes], str]


@dataclass(frozen=True)
class Kind:
    """A kind of input."""

    seeds: Callable[[], Sequence[bytes]]
    opened: Callable[..., AbstractContextManager[Run]]
    words: Sequence[bytes] = ()
    needs_noise: bool = field(default=False)


def _files(*patterns: Path) -> Callable[[], Sequence[bytes]]:
    @cache
    def read() -> Sequence[bytes]:
        paths = [path for one in patterns for path in sorted(one.parent.glob(one.name))]
        return tuple(path.read_bytes() for path in paths)

    return read


@cache
def _programs() -> Sequence[bytes]:
    """Programs with the files of their own folders written out, so that mutations reach those."""
    folders = (
        _P4 / "tna",
        _P4 / "v1model",
        _P4 / "npu",
        _P4 / "psa",
        _TESTS / "tna",
        _TESTS / "v1model",
    )
    paths = [path for folder in folders for path in sorted(folder.glob("*.p4"))]
    flat = [_flat(path, frozenset()) for path in paths]
    return tuple(text.encode() for text in flat if " main;" in text)


def _flat(path: Path, within: frozenset[Path]) -> str:
    if path in within:
        return ""

    def included(line: re.Match[str]) -> str:
        other = path.parent / line[1]
        return _flat(other, within | {path}) if other.is_file() else line[0]

    return re.sub(r'^#include "([^"]+)".*$', included, path.read_text("utf-8"), flags=re.M)


def _reads(name: str, read: Callable[[Path], str]) -> Callable[..., AbstractContextManager[Run]]:
    """A reader of a file called `name`."""

    @contextmanager
    def opened(scratch: Path, *_: Path) -> Iterator[Run]:
        def run(data: bytes) -> str:
            path = scratch / name
            path.write_bytes(data)
            return read(path)

        yield run

    return opened


def _check(path: Path) -> str:
    found = check(path)
    if found.program is not None:
        found.program.dependencies()
    return " ".join(sorted({str(one["code"]) for one in found.diagnostics}))


@contextmanager
def _executed(scratch: Path, noise: Path | None = None) -> Iterator[Run]:
    """Mutated programs that still load, run by three executors that must agree."""

    def run(data: bytes) -> str:
        assert noise is not None
        path = scratch / "case.p4"
        path.write_bytes(data)
        _core.PacketSwitch(compiled(path, include_paths=with_own_folder((), path)))
        done = subprocess.run(
            (noise, str(_FRAMES), "1", path), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        return done.stdout.rpartition(":")[2]

    yield run


def _scenario(path: Path) -> str:
    plan = plan_scenario(str(path))
    return f"{len(plan.runs)} runs"


def _capture(path: Path) -> str:
    frames = sum(1 for _ in read_frames(path))
    delays = sum(1 for _ in read_delays(path))
    return f"{min(frames, 9)} frames {min(delays, 9)} delays"


def _stf(path: Path) -> str:
    result = run_stf(_TESTS / "v1model" / "tables.p4", path)
    return f"{len(result.failures)} failures"


def _topology(path: Path) -> str:
    found = read_topology(path)
    return f"{len(found.hosts)} hosts {len(found.switches)} switches"


@cache
def _description() -> str:
    program = _P4 / "v1model" / "router.p4"
    known = compiled(program, include_paths=with_own_folder((), program))
    return _core.PacketSwitch(known).describe()


def _runtime(path: Path) -> str:
    return f"{len(read_runtime(path, read_description(_description())))} operations"


def _captures() -> Sequence[bytes]:
    import tempfile

    frame = bytes.fromhex("00112233445566778899aabb0800") + bytes(46)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seed.pcapng"
        writer = CaptureWriter(path)
        writer.write((at, 0, frame, len(frame)) for at in range(0, 10_000, 1_000))
        writer.close()
        pcap = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
        record = bytes.fromhex("01000000020000003c0000003c000000") + frame
        return path.read_bytes(), pcap + 3 * record


def _topologies() -> Sequence[bytes]:
    host = {
        "ip": "10.0.1.1/24",
        "mac": "08:00:00:00:01:11",
        "commands": [
            "route add default gw 10.0.1.10 dev eth0",
            "arp -i eth0 -s 10.0.1.10 08:00:00:00:01:00",
        ],
    }
    other = {"ip": "10.0.2.2/24", "mac": "08:00:00:00:02:22"}
    links = [["h1", "s1-p1"], ["h2", "s1-p2", "5ms", 0.5]]
    made = {"hosts": {"h1": host, "h2": other}, "switches": {"s1": {}}, "links": links}
    return (json.dumps(made, indent=1).encode(),)


def _runtimes() -> Sequence[bytes]:
    table = json.loads(_description())["tables"][0]
    entry = {
        "table": table["name"],
        "match": {key["name"]: ["10.0.1.1", 32] for key in table["keys"]},
        "action_name": table["actions"][0]["name"],
        "action_params": {"port": 1},
    }
    group = {"multicast_group_id": 1, "replicas": [{"egress_port": 1, "instance": 1}]}
    clone = {"clone_session_id": 1, "replicas": [{"egress_port": 1}], "packet_length_bytes": 64}
    made = {"table_entries": [entry], "multicast_group_entries": [group],
            "clone_session_entries": [clone]}  # fmt: skip
    return (json.dumps(made, indent=1).encode(),)


_WORDS = (
    b"bit<8> int<8> varbit<32> bool header struct union enum control parser state table action "
    b"apply key entries default const in out inout if else switch for return exit transition "
    b"select extract emit setValid isValid push_front register @name << >> ++ |+| |-| &&& .. = == "
    b'( ) { } [ ] ; : , . + - * / % ? ! ~ 0 1 8w255 -1 "x" #define #include #if'
).split()

KINDS: dict[str, Kind] = {
    "p4": Kind(_programs, _reads("case.p4", _check), _WORDS),
    "execution": Kind(_programs, _executed, _WORDS, needs_noise=True),
    "scenario": Kind(_files(scenarios_folder() / "*.toml"), _reads("case.toml", _scenario)),
    "capture": Kind(_captures, _reads("case.pcap", _capture)),
    "stf": Kind(_files(_TESTS / "v1model" / "*.stf"), _reads("case.stf", _stf)),
    "topology": Kind(_topologies, _reads("topology.json", _topology)),
    "runtime": Kind(_runtimes, _reads("s1-runtime.json", _runtime)),
    "p4runtime": Kind(p4runtime_messages, server("p4runtime", "v1model/router")),
    "bfrt": Kind(bfrt_messages, server("bfrt", "p4_codel")),
}
