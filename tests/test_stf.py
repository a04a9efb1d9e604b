"""Packet tests in STF: a test for every construct passes, and `sojourn test` reports errors."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Sojourn
from sojourn.tools.stf import run_stf
from sojourn.tools.stf.parse import parse_stf
from sojourn.tools.stf.report import StfError
from sojourn.tools.stf.statements import Check

STF = Path(__file__).parent / "stf"
TESTS = sorted(STF.rglob("*.stf"))
STATE = STF / "tna" / "state.p4"
REGISTER = "seen(0)"
KINDS = STF / "tna" / "match_kinds.p4"


@pytest.mark.parametrize("test", TESTS, ids=lambda path: str(path.relative_to(STF)))
def test_every_construct_passes_its_packet_test(test: Path) -> None:
    result = run_stf(test.with_suffix(".p4"), test)
    assert result.passed, "\n".join(
        f"{failure.line}: {failure.message}\n" + "\n".join(failure.detail)
        for failure in result.failures
    )
    assert result.packets_in > 0


def test_differences_to_p4cs_driver_for_tofino_have_the_same_meaning() -> None:
    tofino = """add t k:1 act(a:1 b:0x2);
add t k:2 other
setdefault t other
packet 1 00 11 \\
    22 33 \\
    44  # the last of it
check_register r(0) lo = 7
check_counter c(1) packets = 3
"""
    plain = """add t k:1 act(a:1, b:0x2)
add t k:2 other()
setdefault t other()
packet 1 00 11 22 33 44


check_register r(0) == 7
check_counter c(1) packets == 3
"""
    without_halves = [
        (line, replace(each, half=None) if isinstance(each, Check) else each)
        for line, each in parse_stf(tofino, "t")
    ]
    assert without_halves == parse_stf(plain, "p")


def test_a_register_is_compared_by_the_half_that_is_named(tmp_path: Path) -> None:
    text = "packet 1 02 0000 00\nexpect 9\ncheck_register {} >= 0\n"
    for half in ("", " lo"):
        assert run_stf(STATE, failing(tmp_path, text.format(REGISTER + half))).passed
    for half, why in (("hi", "has entries of one word, lo"), ("top", "they are lo and hi")):
        with pytest.raises(StfError, match=why):
            run_stf(STATE, failing(tmp_path, text.format(f"{REGISTER} {half}")))


def failing(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "try.stf"
    path.write_text(text)
    return path


def test_a_packet_that_differs_is_shown_with_its_wrong_digits_marked(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    test = failing(tmp_path, "packet 1 02 0000 00\nexpect 9 02 00** 3f $\n")
    done = sojourn("test", STATE, test)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "try.stf: FAILED (1 packet in, 1 out)"
    assert (
        lines[1] == "  try.stf:2: port 9: the packet from line 1 is not as expected: byte 3 differs"
    )
    expected, received, marks = lines[2:5]
    assert expected == "    expected  0000  02 00 ** 3f"
    assert received == "    received  0000  02 00 00 01"
    assert marks.index("^") == received.rindex("01")
    assert marks.strip() == "^^"


def test_lengths_count_only_in_front_of_a_dollar_sign(sojourn: Sojourn, tmp_path: Path) -> None:
    long = failing(tmp_path, "packet 1 02 0000 00 ff\nexpect 9 02 0000 01 $\n")
    done = sojourn("test", STATE, long)
    assert done.returncode == 1
    assert "too long: 5 bytes instead of 4 bytes" in done.stdout
    short = failing(tmp_path, "packet 1 02 0000 00\nexpect 9 02 0000 01 ff\n")
    done = sojourn("test", STATE, short)
    assert done.returncode == 1
    assert "too short: 4 bytes instead of 5 bytes" in done.stdout


def test_missing_and_surplus_packets_are_distinguished(sojourn: Sojourn, tmp_path: Path) -> None:
    text = "packet 1 02 0000 00\npacket 1 03 0000 00\nexpect 9 03\nexpect 4 aa\n"
    done = sojourn("test", STATE, failing(tmp_path, text))
    assert done.returncode == 1
    assert "try.stf:1: port 9: a packet that nothing expects leaves" in done.stdout
    assert "try.stf:4: port 4: the packet that is expected does not come" in done.stdout
    assert "packets that left: 2 by port 9" in done.stdout


def test_no_packet_fails_if_its_packet_makes_one_leave(sojourn: Sojourn, tmp_path: Path) -> None:
    done = sojourn("test", STATE, failing(tmp_path, "packet 1 02000000\nno_packet\nexpect 9\n"))
    assert done.returncode == 1
    assert "try.stf:2: no packet was expected, but a packet leaves (from line 1)" in done.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add by_valu key:1 note(value:1)", "there is no table by_valu"),
        ("add by_value kee:1 note(value:1)", 'has no key kee; did you mean "key"?'),
        ("add by_value key:1 nota(value:1)", 'has no action nota; did you mean "note"?'),
        ("add by_value key:1 note(val:1)", "action Ingress.note has no parameter val"),
        ("add by_value key:1 note()", "action Ingress.note needs value as well"),
        ("add by_value key:0x12345 note(value:1)", "0x12345 does not fit 16 bits"),
        ("add by_value key:0x12** note(value:1)", "it has to have a whole value, not 0x12**"),
        ("add by_prefix key:1/17 note(value:1)", "has 16 bits: prefix length 17 is too long"),
        ("add by_range key:9..3 note(value:1)", "the range 9..3 is empty"),
        ("add by_value key:1 note(value:300)", "300 does not fit 8 bits (largest is 255)"),
        ("add by_value key:1 note(value:1) extra", "extra is left over at the end of the line"),
        ("add by_value key 1 note(value:1)", ": is missing after key key; found 1"),
        ("setdefault by_value note(value:1", "an argument is missing"),
        ("packet 1 012", "3 hexadecimal digits are not whole bytes"),
        ("packet 1 zz", "packet data are hexadecimal digits, not z"),
        ("packet", "nothing is not a port; write packet PORT DATA"),
        ("packet 512 00", "there is no port 512: they are 0 to 511"),
        ("expect 1 00$11", "$ stands only at the end"),
        ("expct 1 00", 'expct is not a statement of STF; did you mean "expect"?'),
        ("mc_node_associate 3 0", "there is no multicast group 3; mc_mgrp_create 3 makes one"),
        ("mirroring_add 0 3", "mirror session 0 is outside 1 to 1015"),
        ("register_read sen 1", "there is no register sen"),
        ("wait 3", "the unit is missing"),
        ("remove some", "only remove all exists"),
        ("no_packet", "no_packet before any packet"),
    ],
)
def test_an_error_in_a_file_is_reported_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(StfError) as caught:
        run_stf(KINDS, failing(tmp_path, f"# a comment\n\n{text}\n"))
    assert "try.stf:3: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("zeros", [5, 20, 23, 4999])
@pytest.mark.parametrize(
    "statement",
    [
        "mirroring_add 5 {}",
        "mirroring_add {} 5",
        "mc_mgrp_create {}",
        "mc_node_create {} 1",
        "mc_node_create 1 {}",
        "add by_value key:{} note(value:1)",
        "add by_value key:1 note(value:{})",
        "packet {} 00",
        "expect {} 00",
    ],
)
def test_a_number_that_is_too_large_is_reported_as_such(
    tmp_path: Path, statement: str, zeros: int
) -> None:
    text = statement.format("1" + "0" * zeros)
    with pytest.raises(StfError) as caught:
        run_stf(KINDS, failing(tmp_path, text + "\n"))
    message = str(caught.value)
    assert "try.stf:1: " in message
    assert "floating point" not in message
    assert "line 1 column" not in message


@pytest.mark.parametrize("value", ["4294967296", "1" + "0" * 23, "1" + "0" * 4999, "0x1*"])
def test_a_priority_that_no_entry_can_have_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(StfError, match=r"try.stf:1: a priority: "):
        run_stf(KINDS, failing(tmp_path, f"add by_mask {value} key:1 note(value:1)\n"))


def test_two_entries_that_are_the_same_are_refused(tmp_path: Path) -> None:
    text = "add by_value key:1 note(value:1)\nadd by_value key:1 note(value:2)\n"
    with pytest.raises(StfError, match=r"try.stf:2: table `Ingress.by_value` has an entry with"):
        run_stf(KINDS, failing(tmp_path, text))


def test_a_wrong_file_ends_with_status_2(sojourn: Sojourn, tmp_path: Path) -> None:
    done = sojourn("test", KINDS, failing(tmp_path, "packet 1 012\n"))
    assert done.returncode == 2
    assert "try.stf:1: 3 hexadecimal digits are not whole bytes" in done.stderr


def test_several_files_are_summed_up_and_a_bad_one_outweighs_a_failed_one(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    good, bad = failing(tmp_path, "packet 1 02000000\nexpect 9\n"), tmp_path / "bad.stf"
    bad.write_text("packet 1 02000000\n")
    done = sojourn("test", STATE, good, bad)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "1 passed, 1 failed"
    bad.write_text("paket 1 02000000\n")
    done = sojourn("test", STATE, good, bad)
    assert done.returncode == 2
    assert done.stdout.splitlines()[-1] == "1 passed, 1 not run"


def test_a_program_that_cannot_be_loaded_is_the_users_mistake(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    assert sojourn("test", "nowhere.p4").returncode == 2
    (tmp_path / "broken.p4").write_text("control {")
    (tmp_path / "broken.stf").write_text("packet 1 00\n")
    done = sojourn("test", "broken.p4")
    assert done.returncode == 2
    assert "broken.p4:1" in done.stderr
    done = sojourn("test", STATE, "nowhere.stf")
    assert done.returncode == 2
    assert "nowhere.stf" in done.stderr


def test_json_has_the_expected_and_the_received_packets(sojourn: Sojourn, tmp_path: Path) -> None:
    test = failing(tmp_path, "packet 1 02 0000 00\nexpect 9 02 00** 3f $\n")
    done = sojourn("test", STATE, test, "--json")
    assert done.returncode == 1
    (outcome,) = json.loads(done.stdout)["tests"]
    assert (outcome["verdict"], outcome["packets_in"], outcome["packets_out"]) == ("failed", 1, 1)
    (failure,) = outcome["failures"]
    assert (failure["line"], failure["expected"], failure["received"]) == (
        2,
        "0200**3f$",
        "02000001",
    )


def test_every_mistake_of_a_file_is_reported_at_once() -> None:
    with pytest.raises(StfError) as caught:
        parse_stf("packet x\n# fine\nexpekt 1\n", "t.stf")
    assert [line.split(":")[1] for line in str(caught.value).splitlines()] == ["1", "3"]


PRIORITY = """#include "frame.p4"
control TestIngress(inout headers_t hdr, inout metadata_t md,
                    inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 9;
        standard_metadata.priority = hdr.frame.kind[2:0];
    }
}
V1Switch(FrameParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), FrameDeparser()) main;
"""


def test_a_priority_is_a_queue_that_the_switch_has_to_have(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    program = tmp_path / "priority.p4"
    program.write_text(PRIORITY)
    include = ("-I", STF / "v1model")
    one = failing(
        tmp_path, "packet 1 00 0000 00\nexpect 9 00 0000 00 $\npacket 1 03 0000 00\nno_packet\n"
    )
    done = sojourn("test", program, one, *include)
    assert done.returncode == 0, done.stdout + done.stderr
    all_ = tmp_path / "all.stf"
    all_.write_text("".join(f"packet 1 0{n} 0000 00\nexpect 9 0{n} 0000 00 $\n" for n in range(8)))
    done = sojourn("test", program, all_, *include, "--priority-queues", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    done = sojourn("test", program, all_, *include, "--priority-queues", "7")
    assert done.returncode == 1
    done = sojourn("test", STATE, all_, "--priority-queues", "2")
    assert done.returncode == 2
    assert "priority queues are bmv2's" in done.stderr
