"""Other projects' controllers and tests of P4Runtime, run against `sojourn switch --p4runtime`.

    python bench/judge/p4runtime_clients.py CLONES --finsy PYTHON --ptf PYTHON [--only WORD]
        [--log FOLDER]

CLONES has clones of byllyfish/finsy, p4lang/p4runtime-shell, p4lang/tutorials, stratum/fabric-tna
and, for the program of the shell's documented sessions, opennetworkinglab/onos; what is not there
is left out. Nothing of them is kept here. The one PYTHON has what finsy's tests want (`finsy`,
`pytest`, `pytest-asyncio`, `shellous`, `black`), the other what is older than that:
`p4runtime-shell`, `p4runtime` 1.4.1, `protobuf` below 3.21, `ptf`, `scapy`, `numpy`, `scipy`,
`matplotlib`. Each runs against a switch of its own in a user and network namespace of its own, so
that no root is needed where users may have such (`unshare`, `ip`). `docs/p4runtime.md` says
how many pass; this script reads it and reports each test with another result. Status 1 if
there is one.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from vendor_ptf import Outcome, known, read_results
from veth_pairs import add_pair

_KNOWN = Path(__file__).parents[2] / "docs" / "data" / "p4runtime-clients.csv"
_SOJOURN = [sys.executable, "-m", "sojourn"]
_ADDRESS = "127.0.0.1:9559"
_LONGEST = 900
"""Seconds for the tests of one client."""


@dataclass
class Job:
    """What runs in a namespace: a switch, and a client that knows its address."""

    switch: list[str]
    """Arguments of `sojourn switch`, without its links."""
    ports: list[int]
    """Ports that have an interface, whose other end is the client's: `veth1`, `veth3` ..."""
    client: list[str]
    folder: str
    """Where the client runs."""
    log: str
    environment: dict[str, str] = field(default_factory=dict)
    typed: str = ""
    """What is typed into it."""


def run_inside(job: Job) -> int:
    """In the namespace: links, the switch, the client."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # Some ask for the machine's own address.
    subprocess.run(["ip", "route", "add", "default", "dev", "lo"], check=True)
    command = [*_SOJOURN, "switch", *job.switch, "--p4runtime", _ADDRESS]
    for number, port in enumerate(job.ports):
        command += ["--port", f"{port}={add_pair(number)}"]
    log = Path(job.log)
    with (log / "switch.txt").open("w") as output:
        switch = subprocess.Popen(
            [*command, "--out", str(log / "run")], stdout=output, stderr=subprocess.STDOUT
        )
    try:
        until = time.monotonic() + 60
        while "p4runtime 127" not in (log / "switch.txt").read_text():
            if switch.poll() is not None or time.monotonic() > until:
                return 3
            time.sleep(0.1)
        with (log / "client.txt").open("w") as output:
            try:
                subprocess.run(
                    job.client, stdout=output, stderr=subprocess.STDOUT, text=True, cwd=job.folder,
                    input=job.typed, env=os.environ | job.environment, timeout=_LONGEST,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                output.write("\nended after the longest time\n")
    finally:
        switch.send_signal(signal.SIGINT)
        try:
            switch.wait(timeout=30)
        except subprocess.TimeoutExpired:
            switch.kill()
    return 0


def run(job: Job) -> str:
    """What the client says, or nothing if there was no switch."""
    log = Path(job.log)
    (log / "job.json").write_text(json.dumps(asdict(job), indent=1))
    command = ["unshare", "-Urn", sys.executable, __file__, "--inside", str(log / "job.json")]
    done = subprocess.run(command, capture_output=True, text=True)
    (log / "inside.txt").write_text(done.stdout + done.stderr)
    if done.returncode:
        return ""
    return (log / "client.txt").read_text(errors="replace")


def _without_switch(name: str, log: Path) -> Outcome:
    reported = log / "switch.txt"
    lines = reported.read_text().strip().splitlines() if reported.is_file() else []
    return Outcome(name, note=lines[-1] if lines else "the switch did not start")


def finsy(clone: Path, python: str, log: Path) -> Iterator[Outcome]:
    """Its own tests that take the server from outside, and the rest of them beside."""
    name, tests = "finsy", clone / "tests"
    reaching = {
        found
        for path in tests.glob("test_*.py")
        for found in re.findall(r"def (test_\w+)\([^)]*p4rt_server_target", path.read_text())
    }
    # The program of its P4Info, without which the server has nothing that its entries fit.
    program = clone.parent / "tutorials/exercises/basic/solution/basic.p4"
    client = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={log}/tests.xml"]
    environment = {"FINSY_TEST_P4RUNTIME_TARGET": _ADDRESS, "FINSY_TEST_NO_BENCHMARK": "1"}
    environment["PYTHONPATH"] = str(clone)
    job = Job([str(program)], [], [*client, "tests"], str(clone), str(log), environment)
    if not run(job) or not (log / "tests.xml").is_file():
        yield _without_switch(name, log)
        return
    at_server, alone = Outcome(f"{name}: at the server"), Outcome(f"{name}: the rest")
    for case in ElementTree.parse(log / "tests.xml").iter("testcase"):
        test = str(case.get("name"))
        outcome = at_server if test.split("[")[0] in reaching else alone
        failed = case.find("failure") if case.find("error") is None else case.find("error")
        if failed is not None:
            outcome.failed[test] = str(failed.get("message")).splitlines()[0][:300]
        elif case.find("skipped") is None:
            outcome.passed.append(test)
    yield at_server
    yield alone


_AS_ONOS = ["-D", "CPU_PORT=255", "--port", "1=none", "--port", "2=none"]
"""How ONOS compiles the program of the sessions, and the ports that they name."""
_OF_ANOTHER = "read_table_entry_counter"
"""A page about a program that is nowhere beside it."""
_REMARK = re.compile(r"  # .*")
_PROMPT, _GOES_ON = "P4Runtime sh >>> ", r"^ +\.\.\.: ?"


@dataclass
class Typed:
    """Something of a documented session: what is typed, and what is shown for it."""

    lines: list[str]
    shown: list[str]


def sessions(page: Path) -> Iterator[list[Typed]]:
    """The sessions that a page shows."""
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S):
        session: list[Typed] = []
        for line in block.splitlines():
            if line.startswith(_PROMPT.rstrip()):
                session.append(Typed([_REMARK.sub("", line[len(_PROMPT) :])], []))
            elif session and re.match(_GOES_ON, line):
                session[-1].lines.append(re.sub(_GOES_ON, "", line))
            elif session:
                session[-1].shown.append(line)
        # A command that runs until it is interrupted is skipped.
        yield [typed for typed in session if "timeout=None" not in "".join(typed.lines)]


def wrong(typed: Typed, came: str) -> str:
    """What came that should not have, or did not that should; nothing if all is as it is shown."""
    came = re.sub(r"\x1b\[[\d;]*m", "", came)
    errors = re.findall(r"^(?:\w*Error|\w*Exception)\b.*(?:\n\t.*)?", came, re.M)
    if errors:
        return " ".join(errors[-1].split())[:300]
    if not any(".read(lambda e: print" in line or "print(te)" in line for line in typed.lines):
        return ""
    read = _plain(came)
    missing = [line for line in typed.shown if line.strip() and _plain(line) not in read]
    return f"`{missing[0].strip()}` was not read" if missing else ""


def _plain(text: str) -> str:
    """Without ids, which follow from the program, and with values as short as they can be."""
    return re.sub(r"(?:\\\\x00)+(?=\\\\x)", "", re.sub(r"(\w+_id): \d+", r"\1", text))


def shell(clone: Path, python: str, log: Path) -> Iterator[Outcome]:
    """The sessions of its README and its `usage` folder, typed into it."""
    sources = clone.parent / "onos/pipelines/fabric/impl/src/main/resources"
    pages = [clone / "README.md", *sorted((clone / "usage").glob("*.md"))]
    pages = [page for page in pages if page.stem != _OF_ANOTHER]
    for page in pages:
        outcome = Outcome(f"p4runtime-shell: {page.stem}")
        for number, session in enumerate(sessions(page)):
            place = log / f"{page.stem}-{number}"
            place.mkdir()
            marked = [
                f"{line}\n"
                for at, typed in enumerate(session)
                for line in [f"print('=== {at}')", *typed.lines, *[""] * (len(typed.lines) > 1)]
            ]
            client = [python, "-m", "p4runtime_sh", "--grpc-addr", _ADDRESS]
            client += ["--device-id", "1", "--election-id", "0,1"]
            job = Job(
                [str(sources / "fabric.p4"), "-I", str(sources), *_AS_ONOS], [], client,
                str(place), str(place), {"IPY_TEST_SIMPLE_PROMPT": "1"}, "".join(marked),
            )  # fmt: skip
            said = run(job)
            if not said:
                yield _without_switch(outcome.name, place)
                return
            parts = re.split(r"^.*>>> === (\d+)$", said, flags=re.M)
            found = dict(zip(parts[1::2], parts[2::2], strict=True))
            for at, typed in enumerate(session):
                what = f"{number}.{at}: {typed.lines[0]}"
                why = wrong(typed, found[str(at)]) if str(at) in found else "was not reached"
                if why:
                    outcome.failed[what] = why
                else:
                    outcome.passed.append(what)
        yield outcome


def ptf(
    name: str,
    tests: Path,
    python: str,
    log: Path,
    switch: list[str],
    *,
    ports: list[int],
    nowhere: tuple[int, ...] = (),
    given: dict[str, str],
    paths: list[Path],
    module: str,
    chosen: str = "",
) -> Outcome:
    """A folder of packet tests."""
    log.mkdir(parents=True, exist_ok=True)
    emitted = log / "emitted"
    command = [*_SOJOURN, "emit", *switch, "--for", "p4runtime", "--out", str(emitted)]
    done = subprocess.run(command, capture_output=True, text=True)
    info = next(emitted.rglob("*.txtpb"), None)
    if info is None:
        return Outcome(name, note=(done.stderr.strip().splitlines() or ["no P4Info"])[-1])
    given = {"p4info": str(info), "config": switch[0], "grpcaddr": _ADDRESS, **given}
    client = [python, str(Path(python).with_name("ptf")), "--test-dir", str(tests), "--verbose"]
    for number, port in enumerate(ports):
        client += ["--interface", f"{port}@veth{2 * number + 1}"]
    client.append("--test-params=" + ";".join(f"{key}='{value}'" for key, value in given.items()))
    client += chosen.split()
    environment = {"PYTHONPATH": ":".join(map(str, paths))}
    alone = [word for port in nowhere for word in ("--port", f"{port}=none")]
    job = Job(
        [*switch, *alone, "--device-id", given["device_id"]],
        ports,
        client,
        str(log),
        str(log),
        environment,
    )
    said = run(job)
    if not said:
        return _without_switch(name, log)
    outcome = read_results(name, said, module)
    skipped = set(re.findall(rf"^(?:{module})\.(\w+) \.\.\. skipped", said, re.M))
    outcome.passed = [test for test in outcome.passed if test not in skipped]
    return outcome


_CONFIG = """
from google.protobuf import descriptor_pb2, message_factory
file = descriptor_pb2.FileDescriptorProto(name="p4/tmp/p4config.proto", package="p4.tmp")
file.syntax = "proto3"
message = file.message_type.add(name="P4DeviceConfig")
message.field.add(name="reassign", number=1, type=8, label=1)
message.field.add(name="device_data", number=3, type=12, label=1)
P4DeviceConfig = message_factory.GetMessages([file])["p4.tmp.P4DeviceConfig"]
"""
"""What the tutorials' machine has of p4lang/PI and no package has: a program's wrapping."""
_EXTENDED = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"


def _with_wrapping(folder: Path) -> Path:
    """A folder with that module in the package `p4`."""
    (folder / "p4/tmp").mkdir(parents=True)
    (folder / "p4/__init__.py").write_text(_EXTENDED)
    (folder / "p4/tmp/__init__.py").touch()
    (folder / "p4/tmp/p4config_pb2.py").write_text(_CONFIG)
    return folder


def tutorials(clone: Path, python: str, log: Path) -> Iterator[Outcome]:
    """The packet tests beside the exercises."""
    beside = _with_wrapping(log / "beside")
    for tests in sorted(clone.glob("exercises/*/ptf")):
        exercise = tests.parent.name
        place = log / exercise
        (place / "logs").mkdir(parents=True)
        program = tests.parent / "solution" / f"{exercise}.p4"
        yield ptf(
            f"tutorials: {exercise}", tests, python, place, [str(program)],
            ports=list(range(8)), given={"device_id": "0"}, paths=[beside, clone / "utils"],
            module="|".join(path.stem for path in tests.glob("*.py")),
        )  # fmt: skip


_PROFILES = {
    "fabric": ([], "all ^upf ^int ^bng ^dth ^xconnect ^p4rt ^int-dod"),
    "fabric-upf": (["WITH_UPF"], "all ^int ^bng ^dth ^p4rt ^int-dod"),
    "fabric-int": (["WITH_INT"], "all ^upf ^bng ^dth ^p4rt ^int-dod"),
    "fabric-upf-int": (["WITH_UPF", "WITH_INT"], "all ^bng ^dth ^p4rt ^int-dod"),
}
"""What each profile is compiled with, and its tests, as its own makefiles have it."""
_RECIRCULATION = 510
"""The port that has no front and of which the program makes one to recirculate by: bmv2 has all."""
_BESIDE = {
    "testvector": ["tvutils"],
    "gnmi": ["gnmi_pb2", "gnmi_pb2_grpc"],
}
"""Packages that the tests import and use only where they make vectors, or for a real switch."""


def fabric(clone: Path, python: str, log: Path) -> Iterator[Outcome]:
    """The packet tests of fabric-tna, which those of fabric-p4test have become, on v1model."""
    beside = log / "beside"
    for package, modules in _BESIDE.items():
        (beside / package).mkdir(parents=True)
        for module in ["__init__", *modules]:
            (beside / package / f"{module}.py").touch()
    sources, tests = clone / "p4src", clone / "ptf/tests"
    program = sources / "v1model/fabric_v1model.p4"
    for profile, (macros, chosen) in _PROFILES.items():
        switch = [str(program), "-I", str(sources)]
        for macro in macros:
            switch += ["-D", macro]
        yield ptf(
            f"fabric-tna: {profile}", tests / "unary", python, log / profile, switch,
            ports=[1, 2, 3, 4], nowhere=(_RECIRCULATION,), module="test|slicing|stats",
            chosen=chosen, paths=[beside, tests / "common"],
            given={
                "device_id": "1", "cpu_port": "255", "generate_tv": "False", "loopback": "False",
                "pltfm": "bmv2", "profile": profile,
            },
        )  # fmt: skip


Client = Callable[[Path, str, Path], Iterator[Outcome]]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("clones", type=Path, nargs="?")
    parser.add_argument("--finsy", help="a Python that has finsy and pytest")
    parser.add_argument("--ptf", help="a Python that has p4runtime-shell and ptf")
    parser.add_argument("--only", default="", help="clients whose names have this word in them")
    parser.add_argument("--log", help="a folder for what was said")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return run_inside(Job(**json.loads(arguments.inside.read_text())))
    folder = Path(arguments.log or tempfile.mkdtemp(prefix="p4runtime-clients-")).resolve()
    clients: dict[str, tuple[str | None, Client]] = {
        "finsy": (arguments.finsy, finsy),
        "p4runtime-shell": (arguments.ptf, shell),
        "tutorials": (arguments.ptf, tutorials),
        "fabric-tna": (arguments.ptf, fabric),
    }
    expected, surprises = known(_KNOWN), []
    for name, (python, client) in clients.items():
        clone = arguments.clones.resolve() / name
        if arguments.only not in name or python is None or not clone.is_dir():
            continue
        log = folder / name
        shutil.rmtree(log, ignore_errors=True)
        log.mkdir(parents=True)
        for outcome in client(clone, str(Path(python).absolute()), log):
            passed = (len(outcome.passed), outcome.count)
            print(f"{outcome.name}: {passed[0]} of {passed[1]} {outcome.note}".rstrip(), flush=True)
            for test, why in outcome.failed.items():
                print(f"    {test}: {why}", flush=True)
            if expected.get(outcome.name) != passed:
                surprises.append(outcome.name)
    print(folder)
    if surprises:
        print(f"otherwise than {_KNOWN.name} says: {', '.join(surprises)}")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
