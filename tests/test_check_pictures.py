"""`sojourn check --svg` and `--html`: the picture of the stages, parsed again from the output."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from xml.etree import ElementTree

import pytest

from conftest import call_sojourn

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "p4" / "tna"
SVG = "{http://www.w3.org/2000/svg}"

Sojourn = Callable[..., CompletedProcess[str]]


def _texts(element: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def _lane(svg: ElementTree.Element, register: str) -> ElementTree.Element:
    lanes = [each for each in svg.iter(f"{SVG}g") if each.get("data-register") == register]
    assert len(lanes) == 1
    return lanes[0]


@pytest.fixture
def p4_codel(sojourn: Sojourn, tmp_path: Path) -> ElementTree.Element:
    """The picture of P4-CoDel, by the command line."""
    done = sojourn("check", PROGRAMS / "p4_codel.p4", "--svg", "p4_codel.svg")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("drawn: p4_codel.svg\n")
    return ElementTree.parse(tmp_path / "p4_codel.svg").getroot()


def test_all_twelve_stages_are_drawn_and_no_more(p4_codel: ElementTree.Element) -> None:
    numbers = [text for text in _texts(p4_codel) if re.fullmatch(r"\d+", text)]
    assert numbers == [str(stage) for stage in range(12)]


def test_a_lane_names_the_steps_of_an_operand_and_of_the_output(
    p4_codel: ElementTree.Element,
) -> None:
    # From the program's own text: the schedule is indexed by the port, needs the time and
    # whether this is the first violation, and its output decides on the drop.
    texts = _texts(_lane(p4_codel, "Egress.codel.schedule"))
    assert {"# egress_port", "→ now", "→ first_violation", "due"} <= set(texts)
    assert "? due == 1 &&" in texts


def test_a_lane_runs_to_the_right(p4_codel: ElementTree.Element) -> None:
    lane = _lane(p4_codel, "Egress.codel.dropping")
    place = {text.text: float(text.get("x", "nan")) for text in lane.iter(f"{SVG}text")}
    assert place["# egress_port"] < place["→ violation"] < place["first_violation"]


def test_ingress_and_egress_stand_in_the_same_column(p4_codel: ElementTree.Element) -> None:
    place = {text.text: float(text.get("x", "nan")) for text in p4_codel.iter(f"{SVG}text")}
    assert place["forward"] == place["now, delay"]
    assert place["remainder"] > place["now, delay"]


def test_no_text_leaves_the_picture(sojourn: Sojourn, tmp_path: Path) -> None:
    for program in ("p4_codel", "codel_act", "codel_exact"):
        assert sojourn("check", PROGRAMS / f"{program}.p4", "--svg", "x.svg").returncode == 0
        svg = ElementTree.parse(tmp_path / "x.svg").getroot()
        width = float(svg.get("width", "0"))
        for text in svg.iter(f"{SVG}text"):
            if "mono" in (text.get("class") or "") and text.get("text-anchor") is None:
                right = float(text.get("x", "0")) + len(text.text or "") * 10.5 * 0.602
                assert right <= width, text.text


def test_the_page_needs_no_network_and_explains_each_step(sojourn: Sojourn, tmp_path: Path) -> None:
    done = sojourn("check", PROGRAMS / "codel_act.p4", "--html", "codel_act.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "codel_act.html").read_text()
    assert not re.search(r"(src|href)\s*=|@import|url\(", page)
    found = re.search(r"const details = (.*);\n", page)
    assert found
    steps = json.loads(found[1])["steps"]
    drawn = {step for ids in re.findall(r'data-steps="([^"]*)"', page) for step in ids.split()}
    assert drawn == set(steps)
    shadow = next(step for step in steps.values() if step["head"] == "stateful count_i_shadow")
    assert any("delta" in wait for wait in shadow["waits"])


def test_a_refused_program_is_not_drawn(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "bad.p4").write_text("#include <core.p4>\n")
    done = sojourn("check", "bad.p4", "--svg", "bad.svg")
    assert done.returncode == 2
    assert not (tmp_path / "bad.svg").exists()


def test_a_picture_that_cannot_be_written_is_named(sojourn: Sojourn) -> None:
    done = sojourn("check", PROGRAMS / "p4_codel.p4", "--svg", "nowhere/x.svg")
    assert done.returncode == 2
    assert "nowhere/x.svg" in done.stderr


def test_an_unknown_target_is_named_with_the_known_ones(sojourn: Sojourn) -> None:
    assert sojourn("check", PROGRAMS / "p4_codel.p4", "--target", "tofino1").returncode == 0
    done = sojourn("check", PROGRAMS / "p4_codel.p4", "--target", "tofino9")
    assert done.returncode == 2
    assert "tofino9" in done.stderr
    assert "tofino1" in done.stderr


def test_the_json_names_the_source_of_each_registers_operands(sojourn: Sojourn) -> None:
    done = sojourn("check", PROGRAMS / "p4_codel.p4", "--json")
    state = json.loads(done.stdout)["stages"]["state"]
    assert [register["short"] for register in state] == ["dropping", "schedule"]
    inputs = {(each["role"], each["field"], each["stage"]) for each in state[1]["inputs"]}
    assert inputs == {
        ("index", "eg_intr_md.egress_port", None),
        ("operand", "codel.now", 0),
        ("operand", "codel.first_violation", 3),
    }
    assert [(each["role"], each["stage"]) for each in state[1]["outputs"]] == [("condition", 5)]


RFC_8289 = PROGRAMS.parent / "plain" / "codel_rfc8289.p4"


def test_the_rfcs_state_variables_form_the_atomic_block_of_the_2021_papers_figure_2(
    sojourn: Sojourn,
) -> None:
    done = sojourn("check", RFC_8289, "--dependencies", "--json")
    assert done.returncode == 0, done.stderr
    [control] = json.loads(done.stdout)["dependencies"]["controls"]
    blocks = [set(block["variables"]) for block in control["blocks"]]
    # The paper has no first_above_time: its `dropping` says both.
    assert blocks == [{"first_above_time"}, {"dropping"}, {"drop_next", "count", "lastcount"}]


def test_dependencies_are_reported_for_a_program_that_the_chip_does_not_take(
    sojourn: Sojourn,
) -> None:
    assert sojourn("check", RFC_8289).returncode == 2
    done = sojourn("check", RFC_8289, "--dependencies")
    assert done.returncode == 0
    assert "drop_next, count, lastcount: ONE ATOMIC BLOCK" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_reads_and_writes_stand_in_the_order_of_the_program(sojourn: Sojourn) -> None:
    done = sojourn("check", RFC_8289, "--dependencies", "--json")
    [control] = json.loads(done.stdout)["dependencies"]["controls"]
    lines = [step["at"]["line"] for step in control["steps"] if not step["drops"]]
    assert lines == sorted(lines)
    touched = {name for step in control["steps"] for name in step["reads"]}
    assert touched == {"first_above_time", "dropping", "drop_next", "count", "lastcount"}


def test_the_picture_of_the_dependencies_has_a_column_for_each_variable_in_the_blocks_order(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    assert sojourn("check", RFC_8289, "--dependencies", "--svg", "rfc.svg").returncode == 0
    svg = ElementTree.parse(tmp_path / "rfc.svg").getroot()
    place = {text.text: float(text.get("x", "nan")) for text in svg.iter(f"{SVG}text")}
    names = ["first_above_time", "dropping", "drop_next", "count", "lastcount"]
    assert sorted(names, key=lambda name: place[name]) == names
    assert _texts(svg).count("one atomic block") == 1


def test_a_program_without_state_gets_a_message(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "empty.p4").write_text("#include <core.p4>\n")
    done = sojourn("check", "empty.p4", "--dependencies")
    assert (done.returncode, done.stdout) == (0, "no state variables\n")


def test_dependencies_of_a_program_with_a_mistake_show_the_mistake(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    (tmp_path / "bad.p4").write_text("#include <core.p4>\ncontrol c() { apply { x = 1; } }\n")
    done = sojourn("check", "bad.p4", "--dependencies", "--svg", "bad.svg")
    assert done.returncode == 2
    assert "bad.p4:2" in done.stdout
    assert not (tmp_path / "bad.svg").exists()


BMV2 = """#include <core.p4>
#include <v1model.p4>
struct h_t {} struct m_t {}
parser P(packet_in p, out h_t h, inout m_t m, inout standard_metadata_t s) {
    state start { transition accept; }
}
control V(inout h_t h, inout m_t m) { apply {} }
control I(inout h_t h, inout m_t m, inout standard_metadata_t s) {
    register<bit<32>>(16) a; register<bit<32>>(16) b;
    apply {
        bit<32> x; bit<32> y;
        a.read(x, 0); b.read(y, 0);
        if (x > 5) { b.write(0, y + 1); mark_to_drop(s); }
        a.write(0, y);
    }
}
control E(inout h_t h, inout m_t m, inout standard_metadata_t s) { apply {} }
control C(inout h_t h, inout m_t m) { apply {} }
control D(packet_out p, in h_t h) { apply {} }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""


def test_a_program_for_bmv2_has_state_variables_too(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "bmv2.p4").write_text(BMV2)
    done = sojourn("check", "bmv2.p4", "--dependencies", "--json")
    assert done.returncode == 0, done.stderr
    [control] = json.loads(done.stdout)["dependencies"]["controls"]
    assert [block["variables"] for block in control["blocks"]] == [["a", "b"]]
    assert [step["uses"] for step in control["steps"] if step["drops"]] == [["a"]]


def test_a_program_for_bmv2_is_named_as_such_if_tofino_is_requested(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    (tmp_path / "bmv2.p4").write_text(BMV2)
    done = sojourn("check", "bmv2.p4", "--target", "tofino1")
    assert done.returncode == 2
    assert "v1model" in done.stderr


FIGURES = {
    "stages_p4_codel.svg": ("p4/tna/p4_codel.p4",),
    "stages_codel_act.svg": ("p4/tna/codel_act.p4",),
    "stages_codel_exact.svg": ("p4/tna/codel_exact.p4",),
    "state_codel_rfc8289.svg": ("p4/plain/codel_rfc8289.p4", "--dependencies"),
}


@pytest.mark.parametrize("figure", FIGURES)
def test_the_pictures_in_the_documents_are_current(tmp_path: Path, figure: str) -> None:
    # From the repository's own folder, as `make stage-figures` does: the pictures name their files.
    done = call_sojourn(ROOT, "check", *FIGURES[figure], "--svg", tmp_path / figure)
    assert done.returncode == 0, done.stderr
    kept = (ROOT / "docs" / figure).read_text(encoding="utf-8")
    drawn = (tmp_path / figure).read_text(encoding="utf-8")
    assert drawn == kept, "the program has changed: `make stage-figures`"
