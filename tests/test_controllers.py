"""`sojourn switch --p4runtime` and `--bfrt`: controllers over loopback."""

import contextlib
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import Sojourn, call_sojourn
from sojourn import ControlError, connect, open_switch
from sojourn.common.resources import programs_folder
from sojourn.control.bfrt_client import Connection
from sojourn.control.bfrt_shell import Shell
from sojourn.control.p4runtime import P4RuntimeTransport, Tls

pytest.importorskip("grpc", reason="not installed: pip install 'sojourn[control]'")

PROGRAMS = programs_folder()
TESTS = Path(__file__).parent.parent / "crates/protocols/tests"
EMPTY = "tables = []\n"


@dataclass
class Running:
    """A switch that runs: where its servers listen, and its folder."""

    p4runtime: str
    bfrt: str
    folder: Path


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextlib.contextmanager
def running(program: str, folder: Path, *options: str) -> Iterator[Running]:
    """A switch in a process of its own, whose ports are connected to nothing."""
    servers = ("--p4runtime", f"127.0.0.1:{free_port()}", "--bfrt", f"127.0.0.1:{free_port()}")
    ports = ("--port", "1=none", "--port", "2=none", "--port", "68=none")
    out = folder / "run"
    command = ("switch", program, *ports, *servers, "--out", str(out), *options)
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", *command], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        addresses: dict[str, str] = {}
        while len(addresses) < 2:
            line = process.stderr.readline()
            assert line, process.wait()
            if found := re.match(r"(p4runtime|bfrt) (\S+), device", line):
                addresses[found[1]] = found[2]
        yield Running(addresses["p4runtime"], addresses["bfrt"], out)
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A switch with the program of the servers' own tests."""
    with running(str(TESTS / "controlled.p4"), tmp_path_factory.mktemp("router")) as switch:
        yield switch


def test_tables_are_objects_over_p4runtime(router: Running) -> None:
    with connect(router.p4runtime, election=5) as switch:
        table = switch.table("exact_t")
        key = table.keys[0]
        before = len(table)
        with switch.batch():
            table.add({key: 7}, "send", {"port": 2})
            table.add({key: 8}, "drop")
        assert len(table) == before + 2
        table.modify({key: 7}, "send", {"port": 1})
        (found,) = [entry for entry in table.entries if entry.match == {key: 7}]
        assert found.args == {"port": 1}
        # All of a batch or nothing.
        with pytest.raises(ControlError), switch.batch():
            table.add({key: 9}, "drop")
            table.add({key: 7}, "drop")
        assert len(table) == before + 2
        with contextlib.suppress(ZeroDivisionError), switch.batch():
            table.add({key: 9}, "drop")
            raise ZeroDivisionError
        assert len(table) == before + 2
        table.delete({key: 7})
        table.delete({key: 8})
        with connect(router.p4runtime, election=4) as other:
            assert len(other.table("exact_t")) == before
            with pytest.raises(ControlError, match="another controller is primary"):
                other.table("exact_t").clear()


def test_ctl_reaches_a_switch_by_its_address(router: Running, sojourn: Sojourn) -> None:
    dumped = sojourn("ctl", router.p4runtime, "table", "dump", "exact_t")
    assert dumped.returncode == 0, dumped.stderr
    assert re.match(r"\S*exact_t: \d+ entries", dumped.stdout)
    nobody = sojourn("ctl", "127.0.0.1:1", "table", "dump", "exact_t")
    assert nobody.returncode == 2 and "127.0.0.1:1" in nobody.stderr


def test_ctl_reads_and_writes_registers_by_the_address_of_a_server(
    router: Running, sojourn: Sojourn
) -> None:
    with connect(router.p4runtime, election=5) as switch:
        switch.register("kept")[3] = 77
    read = sojourn("ctl", router.p4runtime, "register", "read", "kept", "3")
    assert read.returncode == 0, read.stderr
    assert "77" in read.stdout
    options = ("--election-id", "7")
    written = sojourn("ctl", router.p4runtime, "register", "write", "kept", "3", "78", *options)
    assert written.returncode == 0, written.stderr
    assert "78" in sojourn("ctl", router.p4runtime, "register", "read", "kept", "3").stdout
    unknown = sojourn("ctl", router.p4runtime, "register", "read", "kepd", "3")
    assert unknown.returncode == 2 and "kept" in unknown.stderr


def test_the_same_objects_reach_a_switch_in_virtual_time(router: Running) -> None:
    virtual = open_switch(TESTS / "controlled.p4")
    seen = []
    for switch in (virtual, connect(router.folder)):
        with switch:
            table = switch.table("exact_t")
            key = table.keys[0]
            table.add({key: 7}, "send", {"port": 2})
            seen.append(table.entries)
            table.delete({key: 7})
    assert seen[0] == seen[1]
    virtual.table("exact_t").add({key: 7}, "send", {"port": 2})
    frame = (7).to_bytes(6, "big") + bytes(54)
    virtual.send(1, frame)
    assert virtual.run(1_000_000) == [(2, frame)]


@pytest.fixture(scope="module")
def tofino(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """codel_exact with tables that are still empty."""
    folder = tmp_path_factory.mktemp("tofino")
    (folder / "empty.toml").write_text(EMPTY)
    program = str(PROGRAMS / "tna" / "codel_exact.p4")
    with running(program, folder, "--control", str(folder / "empty.toml")) as switch:
        yield switch


def test_an_emitted_script_fills_a_switch_as_its_control_plane_does(
    tofino: Running, tmp_path: Path, sojourn: Sojourn
) -> None:
    program = str(PROGRAMS / "tna" / "codel_exact.p4")
    done = sojourn("emit", program, "--for", "tofino", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    (script,) = (path for path in tmp_path.glob("*.py") if "add_with_" in path.read_text())
    connection = Connection(tofino.bfrt)
    exec(compile(script.read_text(), script.name, "exec"), {"bfrt": Shell(connection)})
    pipe = getattr(Shell(connection), connection.name)
    with running(program, tmp_path) as filled:
        other = Connection(filled.bfrt)
        names = [name for name, table in other.tables.items() if "Match" in table["table_type"]]
        assert names
        for name in names:
            tables: list[Any] = []
            for root in (pipe, getattr(Shell(other), other.name)):
                for part in name.split("."):
                    root = getattr(root, part)
                tables.append(sorted(root.dump(), key=str))
            assert tables[0] == tables[1], name
        other.channel.close()
    connection.channel.close()


def test_registers_and_sessions_are_tables_of_bfrt(tofino: Running) -> None:
    connection = Connection(tofino.bfrt)
    bfrt = Shell(connection)
    bfrt.mirror.cfg.entry_with_normal(
        sid=9,
        direction="EGRESS",
        session_enable=True,
        ucast_egress_port=68,
        ucast_egress_port_valid=True,
    ).push()
    assert bfrt.mirror.cfg.get(sid=9)["ucast_egress_port"] == 68
    bfrt.mirror.cfg.delete(sid=9)
    name = next(name for name, t in connection.tables.items() if t["table_type"] == "Register")
    register: Any = getattr(bfrt, connection.name)
    for part in name.split("."):
        register = getattr(register, part)
    cell = register.get(REGISTER_INDEX=0)
    assert cell["REGISTER_INDEX"] == [] or cell["REGISTER_INDEX"] == [0]
    grpc = __import__("grpc")
    with pytest.raises(grpc.RpcError) as refused:
        bfrt.mirror.cfg.delete(sid=9)
    assert refused.value.code() == grpc.StatusCode.UNKNOWN
    connection.channel.close()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_controllers_without_a_certificate_that_is_signed_do_not_connect(tmp_path: Path) -> None:
    def openssl(*arguments: str) -> None:
        subprocess.run(("openssl", *arguments), check=True, capture_output=True, cwd=tmp_path)

    def asked(name: str, kind: str, out: str, *options: str) -> None:
        """A key of a name's own, and a certificate or what one is asked for with."""
        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        files = ("-keyout", f"{name}.key", "-out", f"{name}.{out}")
        openssl("req", kind, *key, *files, "-subj", f"/CN={name}", *options)

    for name in ("ca", "other"):
        asked(name, "-x509", "crt", "-days", "9")
    (tmp_path / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    for name, ca in (("server", "ca"), ("client", "ca"), ("stranger", "other")):
        asked(name, "-new", "csr")
        openssl(
            "x509",
            "-req",
            "-in",
            f"{name}.csr",
            "-CA",
            f"{ca}.crt",
            "-CAkey",
            f"{ca}.key",
            "-CAcreateserial",
            "-out",
            f"{name}.crt",
            "-days",
            "9",
            "-extfile",
            "names",
        )
    tls = ("--tls-cert", "server.crt", "--tls-key", "server.key", "--tls-clients", "ca.crt")
    for protocol in ("p4runtime", "bfrt"):
        known = [str(tmp_path / one) if "." in one else one for one in tls[:4]]
        address = (f"--{protocol}", f"0.0.0.0:{free_port()}")
        ports = ("--port", "1=none", "--port", "2=none")
        said = call_sojourn(tmp_path, "switch", "v1model/router", *ports, *address, *known)
        assert said.returncode == 2, said.stderr
        assert "--tls-clients" in said.stderr and "--open-to-network" in said.stderr
    options = [str(tmp_path / one) if "." in one else one for one in tls]

    def certificates(name: str) -> Tls:
        own = (tmp_path / f"{name}.crt", tmp_path / f"{name}.key")
        return Tls(tmp_path / "ca.crt", *own)

    with running(str(TESTS / "controlled.p4"), tmp_path, *options) as switch:
        door = P4RuntimeTransport(switch.p4runtime, tls=certificates("client"))
        assert "exact_t" in door.describe()
        door.close()
        for tls_of in (None, certificates("stranger"), Tls(tmp_path / "ca.crt")):
            with pytest.raises(ControlError):
                P4RuntimeTransport(switch.p4runtime, tls=tls_of)


def test_a_program_that_p4runtime_cannot_express_is_refused_with_the_reason(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    wire = Path(__file__).parent / "stf/v1model/wire.p4"
    header = '@controller_header("packet_by") header by_h { bit<8> how; }\n'
    included, rest = wire.read_text().rsplit('#include "frame.p4"\n', 1)
    program = tmp_path / "by.p4"
    program.write_text(f'{included}#include "frame.p4"\n{header}{rest}')
    port = ("--p4runtime", f"127.0.0.1:{free_port()}", "--port", "1=none", "--port", "2=none")
    once = ("-I", str(wire.parent), "--duration", "100 ms", "--out", str(tmp_path / "run"))
    ran = sojourn("switch", str(program), *port, *once)
    assert ran.returncode == 0, ran.stderr
    assert "no packet has a header `packet_by`" in ran.stderr
    assert "until a controller sets one there is none" in ran.stderr
    plain = sojourn("switch", str(wire), *port, *once[:-1], str(tmp_path / "plain"))
    assert plain.returncode == 0 and "warning" not in plain.stderr, plain.stderr


def test_several_programs_and_p4runtime_do_not_go_together(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    several = ("tna/p4_codel", "--pipes", "2", "--pipe", "1=tna/codel_exact", "--port", "1=none")
    refused = sojourn(
        "switch", *several, "--p4runtime", "127.0.0.1:9559", "--out", str(tmp_path / "r")
    )
    assert refused.returncode == 2
    assert "--pipe" in refused.stderr and "--bfrt" in refused.stderr


def test_a_controller_that_is_silent_or_gone_loses_its_connection(router: Running) -> None:
    """Without a frame the server asks whether the client is there; who says nothing is cut off."""
    host, _, port = router.p4runtime.rpartition(":")
    silent = socket.create_connection((host, int(port)))
    deaf = socket.create_connection((host, int(port)))
    deaf.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000"))
    for connection in (silent, deaf):
        connection.settimeout(120)
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(4096):
                pass
        connection.close()
    door = P4RuntimeTransport(router.p4runtime)
    door.close()
