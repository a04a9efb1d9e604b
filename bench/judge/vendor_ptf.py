"""Runs the vendor's PTF tests for TNA against `sojourn switch --bfrt` and compares the results with
the recorded ones.

    python bench/judge/vendor_ptf.py CLONE --ptf PYTHON [--only WORD] [--jobs N] [--log FOLDER]

Meant are the `test.py` next to the programs of `pkgsrc/p4-examples/p4_16_programs` in a clone of
p4lang/open-p4studio; nothing of them is stored here. They use the vendor's own client, unmodified.
PYTHON is one that has `ptf`, `grpcio-tools`, `googleapis-common-protos`, `protobuf`, `six`,
`crcmod`, `thrift` and `psutil`, and is not newer than 3.10: some tests draw samples from sets.
Each file is run in a user and network namespace of its own, so that no root is needed where
users may have such (`unshare`, `ip`). `docs/data/bfrt-tests.csv` has the number of
tests that pass for every file. A file with another number is printed; the status is then 1.
"""

import argparse
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from veth_pairs import add_pair

_KNOWN = Path(__file__).parents[2] / "docs" / "data" / "bfrt-tests.csv"
_PROGRAMS = Path("pkgsrc/p4-examples/p4_16_programs")
_UTILITIES = Path("pkgsrc/ptf-modules/ptf-utils")
_BFRT = Path("pkgsrc/bf-drivers/src/bf_rt")
_LIBRARY = Path("pkgsrc/ptf-modules/bf-pktpy")
_OWN_PACKETS = {"tna_dyn_hashing"}
"""Files that take packets apart with the vendor's own library, where the others take scapy, too."""
_LONGER = {
    "bri_grpc_error": 400.0,
    "bri_set_forwarding_pipeline/hitless": 600.0,
    "bri_set_forwarding_pipeline/hitless_negative": 2400.0,
    "selector_resize": 3600.0,
    "tna_action_selector": 3600.0,
    "tna_idletimeout": 400.0,
}
"""Seconds that files need which do a lot, or wait: most of it for packets that are not to come."""
_CPU = 64
_PORTS = dict.fromkeys([*range(17), _CPU], "")
"""As the vendor's own runner has them, with what is said of each; some files bring their own."""
_PIPES = 4
_STARTED = {"bri_set_forwarding_pipeline": "tna_exact_match"}
"""What runs at first where tests have no program of their own and set one."""
_BESIDE = {"tna_32q_multiprogram": ("program_a", "program_b", (1, 3))}
"""Where two programs share the chip: their folders, and the pipes of the second."""
_TARGETS = {"bri_handle": "hw"}
"""Where tests ask what they run on: for the clock of filters, which is the chip's, 1.22 GHz; the
vendor's model has one of 1.271."""
_ELSEWHERE = ("pal_rpc", "p4_pd_rpc", "mc_pd_rpc", "conn_mgr_pd_rpc")
"""Packages of the vendor's other interface (thrift) that tests import and use on hardware only."""


@dataclass
class Outcome:
    """What became of one file of tests."""

    name: str
    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Tests and what the first of their errors says."""
    note: str = ""
    """Why none of them ran."""

    @property
    def count(self) -> int:
        """How many tests there are."""
        return len(self.passed) + len(self.failed)


def client_folder(clone: Path, python: str, folder: Path) -> Path:
    """A folder with the packages that the tests import, made of the clone's own files."""
    packages = folder / "packages"
    client, tests = packages / "bfrt_grpc", packages / "p4testutils"
    for package in (client, tests):
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    for name in ("client.py", "info_parse.py"):
        shutil.copy(clone / _BFRT / "bfruntime_grpc_client/python" / name, client)
    for name in _ELSEWHERE:
        (packages / name).mkdir()
        (packages / name / "__init__.py").touch()
        (packages / name / "ttypes.py").touch()
    for utility in (clone / _UTILITIES).glob("*.py"):
        shutil.copy(utility, tests)
    definition = clone / _BFRT / "proto"
    places = subprocess.run(
        [python, "-c", "import google.rpc, os; print(os.path.dirname(google.rpc.__path__[0]))"],
        check=True,
        capture_output=True,
        text=True,
    )
    include = Path(places.stdout.strip()).parent
    command = [python, "-m", "grpc_tools.protoc", f"-I{definition}", f"-I{include}"]
    outputs = [f"--python_out={client}", f"--grpc_python_out={client}", "bfruntime.proto"]
    subprocess.run([*command, *outputs], check=True)
    made = client / "bfruntime_pb2_grpc.py"
    made.write_text(
        made.read_text().replace("import bfruntime_pb2", "import bfrt_grpc.bfruntime_pb2")
    )
    return packages


def find(clone: Path, only: str | None) -> Iterator[tuple[str, Path, Path | None]]:
    """Files of tests with their names and programs."""
    root = clone / _PROGRAMS
    for test in sorted(root.rglob("test.py")):
        name = str(test.parent.relative_to(root))
        started = _STARTED.get(name.split("/")[0], test.parent.name)
        program = root / started / f"{started}.p4"
        if name in _BESIDE:
            program = next((test.parent / _BESIDE[name][0]).glob(f"{name}*.p4"))
        if only is None or only in name:
            yield name, test.parent, program if program.is_file() else None


def ports_of(tests: Path) -> dict[int, str]:
    """The ports that tests want, each with what the runner is to say of it."""
    given = tests / "ports.json"
    if not given.is_file():
        return _PORTS
    ports = {}
    for port in json.loads(given.read_text()).get("PortToVeth", []):
        said = {key: value for key, value in port.items() if key[:4] not in ("devi", "veth", "if")}
        ports[port["device_port"]] = "".join(f";{key}={value}" for key, value in said.items())
    return ports or _PORTS


def looped_pipes(tests: Path) -> set[int]:
    """The pipes whose ports go back into the chip, as tests have the vendor's model started."""
    given = [tests / name for name in ("custom_model_options", "README.md")]
    said = "".join(path.read_text() for path in given if path.is_file())
    found = re.search(r"--int-port-loop (\w+)", said)
    mask = int(found[1], 0) if found else 0
    return {pipe for pipe in range(_PIPES) if mask >> pipe & 1}


def build_folder(tests: Path, program: Path, folder: Path) -> Path:
    """What the vendor's compiler would leave of the programs that tests name.

    That is their `bf-rt.json`, and the program's text where the compiler has the chip's binary.
    """
    root, named = folder / "built", {program.stem}
    named |= set(re.findall(r'p4_name\w* = "(\w+)"', (tests / "test.py").read_text()))
    programs = next(above for above in program.parents if above.name == _PROGRAMS.name)
    for name in sorted(named):
        source = next(programs.rglob(f"{name}.p4"), None)
        if source is None:
            continue
        command = [sys.executable, "-m", "sojourn", "emit", str(source), "--for", "bfrt"]
        command += ["-I", str(programs), "--out", str(folder / "emitted" / name)]
        subprocess.run(command, capture_output=True)
        pipelines = re.findall(r"^\s*Pipeline\b[^;]*\)\s*(\w+);", source.read_text(), re.M)
        for pipeline in pipelines or ["pipe"]:
            pipe = root / name / pipeline
            pipe.mkdir(parents=True)
            (pipe / "context.json").write_text("{}")
            shutil.copy(source, pipe / "tofino.bin")
        for made in (folder / "emitted" / name).rglob("bf-rt.json"):
            shutil.copy(made, root / name / "bf-rt.json")
    return root


def link_tools(folder: Path) -> Path:
    """A folder with the commands that tests call to take a link down and bring it up again."""
    tools = folder / "tools"
    tools.mkdir()
    for name, state in (("port_ifdown", "down"), ("port_ifup", "up")):
        command = tools / name
        command.write_text(f'#!/bin/sh\nexec ip link set dev "$1" {state}\n')
        command.chmod(0o755)
    return tools


def run_inside(arguments: argparse.Namespace) -> int:
    """Inside the namespace: links, the switch, the tests."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    ports = ports_of(Path(arguments.tests))
    looped = looped_pipes(Path(arguments.tests))
    fronts = [(port, add_pair(number)) for number, port in enumerate(ports)]
    links = [f"--port={port}={'loop' if port >> 7 in looped else veth}" for port, veth in fronts]
    log = Path(arguments.log)
    command = [sys.executable, "-m", "sojourn", "switch", arguments.program, *links]
    others = {(pipe << 7) + local for pipe in range(_PIPES) for local in range(68)} - set(ports)
    ends = {port: "loop" if port >> 7 in looped else "none" for port in others}
    command += [f"--port={port}={ends[port]}" for port in sorted(others)]
    command += ["--bfrt", "127.0.0.1:50052", "--out", str(log / "run")]
    command += ["-I", str(Path(arguments.program).parent)]
    of_tests = Path(arguments.tests).name
    folders = [*Path(arguments.program).parents[1:3]]
    if of_tests in _BESIDE:
        _, second, pipes = _BESIDE[of_tests]
        other = next((Path(arguments.tests) / second).glob(f"{of_tests}*.p4"))
        command += [f"--pipe={pipe}={other}" for pipe in pipes]
    if of_tests == "multiple_programs":
        # What the texts include that tests hand in.
        folders += Path(arguments.program).parents[1].glob("tna_32q_multiprogram/program_?")
    for folder in folders:
        command += ["-I", str(folder)]
    if "v1model.p4" not in Path(arguments.program).read_text():
        command += ["--pipes", str(_PIPES)]
    built = build_folder(Path(arguments.tests), Path(arguments.program), log)
    with (log / "switch.txt").open("w") as output:
        switch = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    for _ in range(300):
        if switch.poll() is not None or "bfrt 127" in (log / "switch.txt").read_text():
            break
        time.sleep(0.1)
    if switch.poll() is not None:
        return 3
    interfaces: list[str] = []
    for number, port in enumerate(ports):
        interfaces += ["--interface", f"0-{port}@veth{2 * number + 1}{ports[port]}"]
    given = {
        "arch": "tofino",
        "target": _TARGETS.get(of_tests, "asic-model"),
        "p4_name": Path(arguments.program).stem,
        "num_pipes": str(_PIPES),
        "port_mode": "100g",
        "pkt_size": "100",
        "test_seed": "7",
        "counter_byte_adjust": "0",
        "traffic_gen": "None",
        "use_pi": "False",
        "thrift_server": "localhost",
        "grpc_server": "127.0.0.1",
        "bfrt_grpc_port": "50052",
        "base_pick_path": f"{built}/",
        "base_put_path": str(log / "put"),
    }
    parameters = ";".join(f"{name}='{value}'" for name, value in given.items())
    packages = Path(arguments.packages)
    ptf = Path(arguments.ptf).with_name("ptf")
    tests = [arguments.ptf, str(ptf), "--test-dir", arguments.tests, "--pypath", str(packages)]
    tests += ["--pypath", str(packages / "p4testutils"), "--verbose"]
    tests += [f"--test-params={parameters};setup=False;cleanup=False;", *interfaces]
    paths = [str(packages), str(packages / "p4testutils")]
    if arguments.library:
        tests += ["--packet-manipulation-module", "bf_pktpy.ptf.packet_pktpy"]
        paths.append(arguments.library)
    environment = os.environ | {"PYTHONPATH": ":".join(paths)}
    environment["PATH"] = f"{link_tools(log)}:{environment['PATH']}"
    with (log / "ptf.txt").open("w") as output:
        done = subprocess.Popen(
            tests, stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=log
        )
        try:
            done.wait(timeout=arguments.longest)
        except subprocess.TimeoutExpired:
            done.kill()
            output.write("\nended after the longest time\n")
    switch.send_signal(signal.SIGINT)
    try:
        switch.wait(timeout=30)
    except subprocess.TimeoutExpired:
        switch.kill()
    return 0


def run(
    name: str, tests: Path, program: Path, packages: Path, log: Path, arguments: argparse.Namespace
) -> Outcome:
    """Runs one file of tests and reads what came of each."""
    log.mkdir(parents=True)
    command = [
        "unshare",
        "-Urn",
        sys.executable,
        __file__,
        "--inside",
    ]
    places = {"--program": program, "--tests": tests, "--packages": packages, "--log": log}
    for option, place in places.items():
        command += [option, str(place)]
    longest = max(arguments.longest, _LONGER.get(name, 0.0))
    command += ["--ptf", arguments.ptf, "--longest", str(longest)]
    if name in _OWN_PACKETS:
        command += ["--library", str(arguments.clone.resolve() / _LIBRARY)]
    done = subprocess.run(command, capture_output=True, text=True)
    (log / "inside.txt").write_text(done.stdout + done.stderr)
    if done.returncode:
        return Outcome(
            name, note=_last((log / "switch.txt"), "error") or done.stderr.strip()[-200:]
        )
    return read_results(name, (log / "ptf.txt").read_text(errors="replace"))


_TEST = r"^(?:MODULE)\.(\w+)"
_ERROR = r"^(?:ERROR|FAIL): (?:MODULE)\.(\w+).*?\n-+\n(.*?)(?=^=====|^Ran |\Z)"


def read_results(name: str, text: str, module: str = "test") -> Outcome:
    """What the runner's output says of the tests in modules of such a name."""
    begins, error = (pattern.replace("MODULE", module) for pattern in (_TEST, _ERROR))
    outcome = Outcome(name)
    begun = list(dict.fromkeys(re.findall(begins, text, re.M)))
    errors = dict(re.findall(error, text, re.M | re.S))
    if not begun:
        lines = [line for line in text.strip().splitlines() if line.strip()]
        outcome.note = lines[-1] if lines else "nothing was said"
        return outcome
    for test in begun:
        if test in errors:
            outcome.failed[test] = _reason(errors[test])
        else:
            outcome.passed.append(test)
    if "Ran " not in text:
        outcome.failed[begun[-1]] = "was not finished"
        outcome.passed = [test for test in outcome.passed if test != begun[-1]]
    return outcome


def _reason(trace: str) -> str:
    """The last line of a trace that says something."""
    lines = [line.strip() for line in trace.strip().splitlines()]
    said = [line for line in lines if re.match(r"\w*(Error|Exception)\b|\S+Exception", line)]
    return (said or lines or ["?"])[-1][:300]


def _last(path: Path, word: str) -> str:
    """The last line of a file that has a word in it."""
    if not path.is_file():
        return ""
    found = [line for line in path.read_text().splitlines() if word in line]
    return found[-1] if found else ""


def known(table: Path) -> dict[str, tuple[int, int]]:
    """For each row of a data file, `passed of tests` in its second column as two numbers."""
    if not table.is_file():
        return {}
    with table.open(newline="") as lines:
        _, *rows = csv.reader(lines)
    counts = {row[0]: row[1].split(" of ") for row in rows}
    return {name: (int(passed), int(tests)) for name, (passed, tests) in counts.items()}


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("clone", type=Path, nargs="?")
    parser.add_argument("--ptf", default=sys.executable, help="a Python that has ptf")
    parser.add_argument("--only", help="files whose names have this word in them")
    parser.add_argument("--jobs", type=int, default=2, help="files at once")
    parser.add_argument("--log", help="a folder for what was said")
    parser.add_argument("--longest", type=float, default=900, help="seconds for a file")
    for inner in ("--program", "--tests", "--packages", "--library"):
        parser.add_argument(inner, help=argparse.SUPPRESS)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return run_inside(arguments)
    folder = Path(arguments.log or tempfile.mkdtemp(prefix="vendor-ptf-")).resolve()
    clone = arguments.clone.resolve()
    packages = client_folder(clone, arguments.ptf, folder)
    files = list(find(clone, arguments.only))

    def one(given: tuple[str, Path, Path | None]) -> Outcome:
        name, tests, program = given
        if program is None:
            return Outcome(name, note="no program of its own")
        return run(name, tests, program, packages, folder / name, arguments)

    outcomes = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for outcome in pool.map(one, files):
            outcomes.append(outcome)
            print(
                f"{outcome.name}: {len(outcome.passed)} of {outcome.count} {outcome.note}".rstrip(),
                flush=True,
            )
            for test, why in outcome.failed.items():
                print(f"    {test}: {why}", flush=True)
    whole = sum(1 for outcome in outcomes if outcome.passed and not outcome.failed)
    tests = sum(outcome.count for outcome in outcomes)
    passed = sum(len(outcome.passed) for outcome in outcomes)
    print(f"{whole} of {len(outcomes)} files pass; {passed} of {tests} tests that ran; {folder}")
    expected = known(_KNOWN)
    surprises = [
        outcome.name
        for outcome in outcomes
        if expected.get(outcome.name, (0, 0)) != (len(outcome.passed), outcome.count)
    ]
    if surprises:
        print(f"otherwise than {_KNOWN.name} says: {', '.join(surprises)}")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
