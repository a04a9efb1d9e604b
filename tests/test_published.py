"""Published programs of other authors: recipes, checked clones, runs, refusals.

The mechanism is tested with stand-ins of ours in a temporary folder; SOJOURN_SOURCES names a folder
with real clones, and then they are run.
"""

import csv
import json
import os
import re
import runpy
import shutil
import tomllib
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from conftest import Sojourn
from sojourn._core import check_config
from sojourn.common.resources import is_own, programs_folder
from sojourn.control.file import as_plain
from sojourn.errors import ScenarioError, SojournError
from sojourn.model.programs import compiled, with_own_folder
from sojourn.model.scenario.read import scenario_from_dict
from sojourn.runner import plan_scenario
from sojourn.studies.papers.library import find_papers
from sojourn.studies.papers.setups import plan_setup
from sojourn.studies.published.apply_recipe import published_scenario, states
from sojourn.studies.published.recipe import Recipe, base_scenario, recipes, recipes_folder
from sojourn.studies.published.sources import find_clone

REAL = os.environ.get("SOJOURN_SOURCES")

PROGRAM = "p4/wire.p4"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Recipe, Path]]:
    """A recipe of ours called `wire`, and a folder with a clone of its repository."""
    sources = tmp_path / "sources"
    program = sources / "wires" / PROGRAM
    shutil.copytree(programs_folder() / "tna", program.parent)
    shutil.copyfile(programs_folder() / "tna/p4_codel.p4", program)
    library = tmp_path / "recipes"
    folder = library / "wire"
    folder.mkdir(parents=True)
    shutil.copyfile(programs_folder() / "tna/p4_codel.toml", folder / "wire.toml")
    (library / "base.toml").write_text(
        'duration = "100 ms"\nswitch = { rate = "10 Mbit/s" }\n'
        'flows = [{ count = 2, rtt = "5 ms" }]\n'
    )
    (folder / "recipe.toml").write_text(
        f"""
line = "a wire"
repository = "somebody/wires"
commit = "{"0123456789" * 4}"
work = "nobody's"
beside = ["fifo"]

[[programs]]
name = "wire"
label = "Their wire"
program = "{PROGRAM}"
control = "wire.toml"

[[programs]]
name = "loop"
label = "Their loop"
program = "{PROGRAM}"
why_not = "it wants a control plane in the loop"

[set]
"switch.rate" = "20 Mbit/s"

[files]
"{PROGRAM}" = "{sha256(program.read_bytes()).hexdigest()}"
"""
    )
    for module in ("recipe", "apply_recipe"):
        monkeypatch.setattr(f"sojourn.studies.published.{module}.recipes_folder", lambda: library)
    recipes.cache_clear()
    yield recipes()["wire"], sources
    recipes.cache_clear()


def test_a_recipes_programs_run_from_a_clone_next_to_ours(stand_in: tuple[Recipe, Path]) -> None:
    _, sources = stand_in
    for place in (sources, sources / "wires"):
        name, document = published_scenario("published/wire", place)
        scenario = scenario_from_dict(document)
        assert name == "wire"
        assert document["switch"]["rate"] == "20 Mbit/s", "the recipe's own key"
        ours, theirs = scenario.aqms
        assert (ours.use, theirs.label) == ("fifo", "Their wire")
        assert theirs.use == str(sources / "wires" / PROGRAM)


def test_a_process_of_a_recipe_finds_its_files_and_those_of_the_clone(
    stand_in: tuple[Recipe, Path], tmp_path: Path
) -> None:
    _, sources = stand_in
    path = tmp_path / "recipes/wire/recipe.toml"
    control = (
        '[controller]\nprocess = ["{python}", "{recipe}/agent.py", "--of={clone}/p4"]\n'
        'server = "bfrt"\n[files]'
    )
    path.write_text(path.read_text().replace("[files]", control))
    recipes.cache_clear()
    _, document = published_scenario("published/wire", sources)
    python, agent, option = document["control"]["process"]
    assert (python, agent) == ("{python}", f"{tmp_path}/recipes/wire/agent.py")
    assert option == f"--of={sources}/wires/p4"
    assert document["control"]["server"] == "bfrt"


def test_programs_that_cannot_run_are_compiled_and_the_reason_is_given(
    stand_in: tuple[Recipe, Path],
) -> None:
    wire, loop = states(stand_in[1])
    assert wire.runs and "tofino1, 6 stages" in wire.says
    assert loop.takes and not loop.runs


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda clone: shutil.rmtree(clone.parent), "no such folder"),
        (lambda clone: shutil.rmtree(clone), "no clone of somebody/wires"),
        (lambda clone: (clone / PROGRAM).write_text("// mine"), f"{PROGRAM} is other than in"),
    ],
)
def test_sources_that_are_not_the_recipes_are_refused(
    stand_in: tuple[Recipe, Path], harm: Callable[[Path], object], message: str
) -> None:
    recipe, sources = stand_in
    harm(sources / "wires")
    with pytest.raises(ScenarioError) as refused:
        find_clone(recipe, sources)
    assert message in str(refused.value), refused.value


def test_a_file_that_is_not_there_is_named(stand_in: tuple[Recipe, Path]) -> None:
    recipe, sources = stand_in
    more = recipe.model_copy(update={"files": recipe.files | {"p4/gone.p4": "0" * 64}})
    with pytest.raises(ScenarioError, match=r"p4/gone.p4 is not there"):
        find_clone(more, sources)


def test_a_scenario_without_sources_and_sources_without_a_recipe_are_refused(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    for arguments, message in (
        (("run", "published/pi2-for-p4"), "clone of acnbell/pi2forp4: --sources DIR"),
        (("run", "published/pi2-for-p5", "--sources", "."), 'did you mean "pi2-for-p4"?'),
        (("run", "bufferbloat", "--sources", "."), "--sources is for published/NAME"),
        (("run", "published/p4-tas", "--sources", "."), "published/p4-tas cannot be run"),
        (("run", "published/pi2-for-p4", "--sources", "gone"), "--sources gone: no such folder"),
        (("run", "published/pi2-for-p4", "--sources", "."), "no clone of acnbell/pi2forp4"),
        (("paper", "published"), "--sources DIR"),
        (("paper", "codel-act", "--sources", "."), "--sources is for `sojourn paper published`"),
    ):
        done = sojourn(*arguments)
        plain = " ".join(done.stderr.split())
        assert done.returncode == 2 and message in plain, (arguments, done.stderr)
    assert not list(tmp_path.iterdir()), "nothing is written before that is known"


def test_the_list_names_repository_and_commit_of_each(sojourn: Sojourn) -> None:
    listed = {one["name"]: one for one in json.loads(sojourn("published", "--json").stdout)}
    assert listed["published/pie-for-tofino"]["repository"] == "COMSYS/pie-for-tofino"
    for one in listed.values():
        assert len(one["commit"]) == 40 and one["programs"]


def test_every_file_that_a_recipe_names_exists() -> None:
    scenario_from_dict(base_scenario() | {"aqms": ["fifo"]})
    for recipe in recipes().values():
        assert all(len(digest) == 64 for digest in recipe.files.values()), recipe.name
        for program in recipe.programs:
            assert program.why_not or program.control, f"{recipe.name}/{program.name}"
            assert program.made_by or program.why_not or program.program in recipe.files


def test_each_program_that_runs_has_a_claim_with_its_figure_on_the_page() -> None:
    page = tomllib.loads((recipes_folder().parent / "paper.toml").read_text())
    labels = {
        f"{recipe.name}/{program.name}": program.label
        for recipe in recipes().values()
        for program in recipe.programs
        if not program.why_not
    }
    run = {one.get("published") for setup in page["setups"] for one in setup["aqms"]}
    assert set(labels) <= run
    judged = {check["of"]["aqm"] for claim in page["claims"] for check in claim["checks"]}
    judged |= {
        check["to"]["aqm"] for claim in page["claims"] for check in claim["checks"] if "to" in check
    }
    assert set(labels.values()) <= judged
    # The page's data: a figure, ours and a verdict for each part of each claim.
    data = Path(__file__).parent.parent / "docs/published/published-parts.csv"
    with data.open(encoding="utf-8", newline="") as file:
        parts = list(csv.DictReader(file))
    assert [(row["claim"], row["part"]) for row in parts] == [
        (claim["id"], check["says"]) for claim in page["claims"] for check in claim["checks"]
    ]
    assert all(row["figure"] and row["ours"] and row["verdict"] for row in parts)


def test_the_page_without_a_single_clone_names_the_missing_ones(tmp_path: Path) -> None:
    (paper,) = find_papers("published", tmp_path)
    setup = paper.setups[0]
    _, missing = plan_setup(setup, quick=True)
    assert any("PI2 for P4: " in one and "no clone of acnbell/pi2forp4" in one for one in missing)
    (table,) = paper.tables
    assert {row[3] for row in table.rows} == {"no"}


def test_a_payload_prefix_is_bytes_that_fit_the_packet() -> None:
    flow = {"kind": "udp", "rate": "1 Mbit/s", "rtt": "5 ms", "packet_size": "60 B"}
    base = {"duration": "1 s", "aqms": ["fifo"], "switch": {"rate": "10 Mbit/s"}}
    for key, value, message in (
        ("payload_begins", "2323", 'like "0x2323"'),
        ("payload_begins", "0x232", 'like "0x2323"'),
        ("payload_begins", "0x" + "00" * 65, "65 bytes; at most 64 are allowed"),
        ("payload_begins", "0x" + "00" * 19, "payload_begins"),
        ("dscp", 64, "dscp"),
    ):
        with pytest.raises(SojournError, match=re.escape(message)):
            plan = plan_scenario(base | {"flows": [flow | {key: value}]})
            check_config(json.dumps(plan.runs[0].config, default=as_plain))
    plan = plan_scenario(base | {"flows": [flow | {"payload_begins": "0x" + "00" * 18}]})
    check_config(json.dumps(plan.runs[0].config, default=as_plain))


@pytest.mark.skipif(REAL is None, reason="SOJOURN_SOURCES names no folder with clones")
def test_real_clones_compile_as_their_recipes_say_and_run() -> None:
    import sojourn

    assert REAL is not None
    for state in states(Path(REAL)):
        name = f"{state.recipe.name}/{state.program.name}"
        assert state.runs is not bool(state.program.why_not), f"{name}: {state.says}"
        if state.takes and not state.program.made_by:
            clone = find_clone(state.recipe, Path(REAL))
            read = compiled(
                clone / state.program.program, include_paths=with_own_folder(())
            ).sources
            own = [path for path in read if path.resolve().is_relative_to(clone.resolve())]
            checked = {(clone / file).resolve() for file in state.recipe.files}
            assert {path.resolve() for path in own} <= checked, name
    for recipe in recipes().values():
        if all(program.why_not for program in recipe.programs):
            continue
        _, document = published_scenario(recipe.name, Path(REAL))
        result = sojourn.run(document, set={"duration": "300 ms"})
        for label, aqm in result.aqms.items():
            assert aqm.summary.packets > 0, f"{recipe.name}: {label}"


@pytest.mark.skipif(REAL is None, reason="SOJOURN_SOURCES names no folder with clones")
def test_the_published_p4_codel_and_ours_drop_the_same_packets(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    _, document = published_scenario("p4-codel", Path(str(REAL)))
    theirs = next(one for one in document["aqms"] if "l1switchCodel" in str(one))
    folder = tmp_path / "theirs"
    shutil.copytree(Path(theirs["use"]).parent, folder)
    shutil.copyfile(theirs["control"], folder / "l1switchCodel.toml")
    arguments = ("replay", "bursts", "--rate", "100 Mbit/s", "--packet-size", "1500")
    program = folder / "l1switchCodel.p4"
    done = sojourn(*arguments, "--aqm", program, "--aqm", "p4_codel", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    (decisions,) = (tmp_path / "out/decisions").glob("*.parquet")
    found = pq.read_table(decisions)
    one, other = (found.column(name).to_pylist() for name in ("l1switchCodel", "p4_codel"))
    assert one == other and sum(one) > 1_000


def test_the_control_plane_of_pie_cp_computes_as_its_source() -> None:
    path = recipes_folder() / "pie-for-tofino" / "pie_cp.py"
    assert is_own(path), "it is no code of a stranger"
    pie = runpy.run_path(str(path))
    alpha, beta = pie["gains"]()
    # 15 ms is halved seven times; beta grows by a quarter of each alpha before.
    assert alpha == pytest.approx(0.125 / 128 * 120 * 4294.967295)
    assert beta == pytest.approx((1.25 + 0.125 / 4 * (2 - 2 / 128)) * 120 * 4294.967295)

    cells = {name: [0] for name in (DELAY, "Ingress.drop_prob_reg", DUPLICATE)}
    switch = SimpleNamespace(register=cells.__getitem__)
    loop = pie["Pie"]()
    cells[DELAY][0] = 1_125
    loop.update(switch)
    first = int((1_000 * alpha + 1_125 * beta) / 2_048)
    assert cells["Ingress.drop_prob_reg"] == cells[DUPLICATE] == [first]
    # Between 1e-5 and 1e-4 of the whole the change is divided by 128.
    loop.update(switch)
    assert cells[DUPLICATE][0] == pytest.approx(first + 1_000 * alpha / 128, abs=1)
    cells[DELAY][0] = 0
    loop.update(switch)
    assert cells[DUPLICATE] == [0]


DELAY, DUPLICATE = "Egress.delay_reg", "Ingress.drop_prob_reg_duplicate"


def test_the_agent_of_cebinae_computes_as_its_source() -> None:
    agent = runpy.run_path(str(recipes_folder() / "cebinae" / "agent.py"))
    assert [agent["of_16_bits"](size) for size in (5, 0xFFFF, 0x12345)] == [
        5 << 16,
        0xFFFF << 16,
        0x2345 << 16,
    ]

    # The flows of 4 and 3.7 MB are within 10 % of the largest; that of 2.5 MB is not.
    port, slots = agent["PORT"], agent["SLOTS"]
    flows = [agent["Slot"](0, 0, 0)] * (2 * slots)
    flows[7], flows[9] = agent["Slot"](1, 11, 4_000_000), agent["Slot"](2, 12, 2_500_000)
    flows[slots + 3] = agent["Slot"](3, 13, 3_700_000)
    for is_repaired in (True, False):
        tables = Tables()
        switch = SimpleNamespace(table=tables)
        loop = agent["Agent"](agent["Settings"](is_repaired=is_repaired))
        loop.head = 1
        loop.tax(switch, flows)
        assert loop.top == {(1, 11), (3, 13)}
        top = 7_700_000 * 95 // 100
        assert loop.sizes == {port << 1: top, port: 12_500_000 - top}
        (args,) = (made[2] for made in tables.made if made[:2] == ("tiGetRates_head", port << 1))
        rate = top // 1_000_000
        written = (rate, top) if is_repaired else (rate << 16, (top & 0xFFFF) << 16)
        assert args == dict(zip(("r_head", "r_head_x_dT"), written, strict=True))
        # The size that a rotation takes off is that of the round before: none yet.
        assert [made[2] for made in tables.made if made[0] == "tiReadLastSize"] == [
            {"lastRate_x_dT": 0}
        ] * 2
        loop.tax(
            switch, [*flows[: slots + 3], agent["Slot"](3, 13, 9_000_000), *flows[slots + 4 :]]
        )
        assert loop.top == {(1, 11), (3, 13)}, "the largest is looked for in the first stage alone"


def test_the_agent_of_flowtamer_multiplies_by_logarithms_and_moves_the_window() -> None:
    agent = runpy.run_path(str(recipes_folder() / "flowtamer" / "agent.py"))
    entries, numbers = agent["logarithms"](), agent["exponentials"]()

    def logarithm(number: int) -> int:
        (found,) = (log for value, mask, log in entries if number & mask == value)
        assert isinstance(found, int)
        return found

    # 6 leading bits: each factor is right to 1/64.
    for window, multiplier in ((1_751_122, 2), (15_000, 8), (40_000, 30)):
        product = numbers[logarithm(window) + logarithm(multiplier)]
        assert product == pytest.approx(window * multiplier, rel=2 / 64)

    loop = agent["Agent"]()
    registers = {name: Cells() for name in ("working_copy", "new_rwnd")}
    for name in ("sum_eg_deq_qdepth", "pkt_count"):
        registers |= {f"{name}{copy}": Cells() for copy in (0, 1)}
    switch = SimpleNamespace(register=registers.__getitem__)
    switch.pipe = lambda number: switch
    windows = []
    for copy, cells in enumerate((4_000, 100, 2_000)):
        registers[f"sum_eg_deq_qdepth{copy % 2}"][agent["PORT"]] = 10 * cells
        registers[f"pkt_count{copy % 2}"][agent["PORT"]] = 10
        loop.round(switch)
        windows.append(registers["new_rwnd"][agent["PORT"]])
    # 320 kB halve it, 8 kB raise it, 160 kB leave it.
    assert windows == [875_561, 877_061, 877_061]


class Cells(dict[int, int]):
    """A register of a test."""

    def fill(self, value: int) -> None:
        """Writes its only cell."""
        self[0] = value


class Tables:
    """Tables that remember what was written: name, group of flows, arguments."""

    def __init__(self) -> None:
        self.made: list[tuple[str, object, object]] = []

    def __call__(self, name: str) -> SimpleNamespace:
        def write(match: dict[str, int], action: str, args: object = None) -> None:
            self.made.append((name, match.get("f"), args))

        return SimpleNamespace(add=write, modify=write, delete=write)


def test_the_fabric_of_openoptics_connects_each_pair_once_in_a_round() -> None:
    pytest.importorskip("grpc", reason="not installed: pip install 'sojourn[dev]'")
    agent = runpy.run_path(str(recipes_folder() / "openoptics" / "agent.py"))
    found = agent["circuits"](4)
    assert {frozenset(pair) for _, *pair in found} == {
        frozenset(pair) for pair in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    }
    for number in range(3):
        meets = [node for at, *pair in found if at == number for node in pair]
        assert sorted(meets) == [0, 1, 2, 3]


def test_the_request_of_conweaves_agent_is_the_word_of_its_source() -> None:
    pytest.importorskip("grpc", reason="not installed: pip install 'sojourn[dev]'")
    agent = runpy.run_path(str(recipes_folder() / "conweave" / "agent.py"))
    # 1 bit, pipe 1 of 2 bits, group 1 of 4, 3 bits, queue 16 of 7, credit of 15.
    assert agent["request"](agent["PAUSE"]) == int("10100010000010000" + "1".zfill(15), 2)
