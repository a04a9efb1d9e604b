"""The commands of the site's pages, run as they are printed.

The lines of a page indented by four spaces run here. `test_readme.py` runs those of README.md and
docs/tour.md, `test_tutorials.py` those in `console` blocks, with what they print.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import test_readme
from conftest import UNSHARE, call_sojourn
from sojourn.common.resources import programs_folder

ROOT = Path(__file__).parent.parent
SITE = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "p4/README.md", ROOT / "ARCHITECTURE.md"]
PAGES = [page for page in SITE if page not in test_readme.PAGES]

ELSEWHERE = {
    # Minutes of every core.
    "make equivalence": "tests/test_replay.py",
    "sojourn replay  ": "tests/test_replay.py",
    "sojourn run bufferbloat --seeds 1..20": "tests/test_readme.py",
    "sojourn run hardware": "tests/test_readme.py",
    "sojourn run leaf_spine": "tests/test_datacentre.py",
    "sojourn run int_chain": "tests/test_int.py",
    "sojourn int run": "tests/test_int.py",
    "python -m sojourn.control.bfrt_script": "tests/test_bfrt_script.py",
    "sojourn replay bursts --rate": "tests/test_ghost.py",
    "sojourn run docs/examples/ghost.toml": "tests/test_ghost.py",
    "sojourn sweep docs/examples/coexistence.toml": "tests/test_coexistence.py",
    "sojourn paper dualpi2-2022": "tests/test_papers.py",
    "python bench/targets.py": "tests/test_hardware.py",
    # What `make test` does itself.
    "make demo": "tests/test_demo.py",
    "cargo run -p sojourn-tofino --example rules": "tests/test_stages.py",
    "cargo test -p sojourn-switch --test second_sources": "Makefile",
    "cargo run -p sojourn-switch --example second_sources": "Makefile",
    "cargo test -p sojourn-engine --test engine dualpi2": "crates/engine/tests/dualpi2.rs",
    "cargo test -p sojourn-net --lib reference_has_it": "crates/net/src/tcp/tests/prague.rs",
    "python tests/tofino_programs.py --judge FOLDER": "tests/test_generated_programs.py",
    "python tests/v1model_programs.py --judge FOLDER": "tests/test_generated_programs.py",
    # Names that stand for the reader's own.
    "sojourn test PROGRAM.p4": "tests/test_stf.py",
    "example load -- FOLDER": "crates/engine/examples/load.rs",
    "l1switchCodel.p4": "tests/test_published.py",
    # On a kernel, or in real time.
    "--on linux": "tests/test_linux.py",
    "--on live": "tests/test_live_backend.py",
    "sojourn agree": "tests/test_agree.py",
    "bench/same_traffic.py": "tests/test_linux_traffic.py",
    "sojourn lab": "tests/test_lab.py",
    "sojourn delays wire.pcap": "tests/test_live.py",
    # With what is not Sojourn's: a cluster, a clone, a judge, an editor.
    "--cluster": "tests/test_sweep.py",
    "bench/judge/": "tests/test_judge_tofino.py",
    "bench/tutorials.py": "tests/test_lab.py",
    "bench/second_sources/": "Makefile",
    "cargo run --release -p sojourn-engine --example noise": "crates/engine/tests/noise.rs",
    "sojourn link-trace from-csv": "tests/test_link_keys.py",
    "sojourn lsp": "tests/test_lsp.py",
}
"""What a command has that is run elsewhere, and where the same is run, or what it runs if it wants
files that nobody has here."""

LIVE = ("sojourn switch ", "sojourn ctl ")

_NAMES = r"sojourn|make|cargo (?:run|test)|(?:\.venv/bin/)?python"
_SET_OFF = re.compile(rf"^    ((?:{_NAMES}) (?:[^\n]*\\\n)*[^\n]*)$", re.MULTILINE)

BASIC = """
#include <core.p4>
#include <v1model.p4>

header ipv4_t { bit<8> version_ihl; bit<8> tos; bit<16> len; bit<32> id_fragment; bit<8> ttl;
                bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dstAddr; }
struct headers { ipv4_t ipv4; }
struct metadata {}

parser Read(packet_in packet, out headers hdr, inout metadata md, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.ipv4); transition accept; }
}
control MyIngress(inout headers hdr, inout metadata md, inout standard_metadata_t sm) {
    register<bit<32>>(16) drops;
    action drop() { mark_to_drop(sm); drops.write(0, 1); }
    action forward(bit<9> port) { sm.egress_spec = port; }
    table ipv4_lpm {
        key = { hdr.ipv4.dstAddr : lpm; }
        actions = { forward; drop; }
        default_action = drop();
    }
    apply { ipv4_lpm.apply(); }
}
control MyEgress(inout headers hdr, inout metadata md, inout standard_metadata_t sm) { apply {} }
control Check(inout headers hdr, inout metadata md) { apply {} }
control Write(packet_out packet, in headers hdr) { apply { packet.emit(hdr.ipv4); } }

V1Switch(Read(), Check(), MyIngress(), MyEgress(), Check(), Write()) main;
"""


def printed(page: Path) -> Iterator[str]:
    """Each command of a page, in its order."""
    for found in _SET_OFF.finditer(page.read_text()):
        line = re.sub(r"\s*\\\n\s*", " ", found[1])
        yield line.removesuffix("...")


def by_hand(line: str) -> str | None:
    """Where a command is run that is not run here."""
    return next((there for part, there in ELSEWHERE.items() if part in line), None)


def words(line: str) -> list[str]:
    """Without what a page says beside the command."""
    return shlex.split(re.split(r"\s{4,}", line)[0], comments=True)


EVERY = [(page, line) for page in PAGES for line in printed(page)]
PLAIN = list(
    dict.fromkeys(
        line
        for _, line in EVERY
        if not by_hand(line) and not line.startswith(LIVE) and line not in test_readme.COMMANDS
    )
)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reader, with the files that pages call the reader's own."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(programs_folder(), folder / "p4")
    (folder / "my.toml").write_text(test_readme.SMALL)
    (folder / "my_sweep.toml").write_text(test_readme.SWEEP)
    return folder


def test_there_are_commands_on_many_pages() -> None:
    assert len(EVERY) > 80
    assert len({page for page, _ in EVERY}) > 20


def test_commands_that_other_tests_run_exist_on_their_page_with_their_test() -> None:
    for part, there in ELSEWHERE.items():
        assert any(part in line for _, line in EVERY), part
        assert (ROOT / there).exists(), there
        examples = re.findall(r"docs/examples/(\S+)", part)
        assert all(name in (ROOT / there).read_text() for name in examples), there


@pytest.mark.parametrize("line", PLAIN)
def test_a_command_of_a_page_runs_as_printed(line: str, reader: Path) -> None:
    first, *rest = words(line)
    assert first == "sojourn", line
    done = call_sojourn(reader, *rest)
    # A note on progress or a warning may stand there; an end in error may not.
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


PORTS = "--port 1=veth1 --port 2=veth2"
TOLD = {
    "live.md": f"sojourn switch v1model/codel {PORTS} --out FOLDER",
    "control.md": f"sojourn switch basic.p4 {PORTS} --p4runtime 127.0.0.1:9559 "
    "--out results/switch-basic",
}
"""The switch to which a page's `sojourn ctl` speaks."""


def switches() -> Iterator[tuple[str, list[str]]]:
    """Each command that begins a switch, with those that are then said to it."""
    for page in PAGES:
        if controls := [line for line in printed(page) if line.startswith("sojourn ctl ")]:
            yield TOLD[page.name], controls
        yield from ((line, []) for line in printed(page) if line.startswith("sojourn switch "))


def setup() -> str:
    """The lines with which a page makes two hosts."""
    page = (ROOT / "docs/live.md").read_text()
    lines = page[page.index("    for h in a b; do ip netns add") :].split("\n\n")[0]
    return re.sub(r"^    ", "", lines, flags=re.MULTILINE)


def certificates(folder: Path) -> None:
    """An authority and a server's certificate, of the names that the pages use."""
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9"
    for name in ("ca", "server"):
        out = f"{make} -subj /CN={name} -keyout {name}.key -out {name}.crt"
        subprocess.run(out.split(), cwd=folder, check=True, capture_output=True)


def own_files(folder: Path) -> None:
    """What a reader has beside the switch."""
    folder.mkdir()
    (folder / "basic.p4").write_text(BASIC)
    for kind in (".p4", ".toml"):
        shutil.copy(programs_folder() / f"v1model/codel{kind}", folder / f"my_codel{kind}")
    (folder / "commands.txt").write_text("table_dump routes\n")
    certificates(folder)


def test_switches_of_the_pages_run_as_printed(tmp_path: Path, user_namespaces: None) -> None:
    for program, package in (("ethtool", "ethtool"), ("openssl", "openssl")):
        if not shutil.which(program):
            pytest.skip(f"not installed: apt-get install {package}")
    given = []
    for number, (command, controls) in enumerate(switches()):
        folder = tmp_path / str(number)
        own_files(folder)
        given.append({"folder": str(folder), "command": command, "controls": controls})
    assert len(given) > 8
    done = subprocess.run(
        [*UNSHARE, "--mount", sys.executable, str(ROOT / "tests/live_page_commands.py")],
        input=json.dumps({"setup": setup(), "switches": given}),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for one in sorted(json.loads(done.stdout), key=lambda one: "began" not in one):
        assert one["status"] == 0 and one.get("began", True), f"{one['command']}\n{one['printed']}"
