"""Papers as data: every claim has its entry, set-ups can be run, verdicts state the measured
values."""

import json
from collections import Counter
from pathlib import Path

import pytest

from conftest import Sojourn
from sojourn.errors import ScenarioError
from sojourn.results.intervals import Interval
from sojourn.studies.papers import draw
from sojourn.studies.papers.assess import assess
from sojourn.studies.papers.computed import COMPUTED
from sojourn.studies.papers.computed.control_law import spacing
from sojourn.studies.papers.library import find_papers, papers
from sojourn.studies.papers.measure import Measured, value_of
from sojourn.studies.papers.model import Check, FigureSpec, Paper
from sojourn.studies.papers.search import draw_settings, plan_search
from sojourn.studies.papers.setups import plan_setup, run_setup
from sojourn.studies.papers.verdict import Found, Status, judge, verdict
from sojourn.studies.sweeps.local import LocalWorkers

CLAIMS = {
    "codel-act": ["A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9"],
    "p4-codel-2021": ["B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8"],
    "p4-codel-2018": ["C1", "C2", "C3", "C4", "C5"],
    "cs244-codel": ["D1", "D2", "D3"],
    "dualpi2-2022": ["F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8"],
    "sp-pifo-2020": ["G1", "G2", "G3", "G4"],
    "cebinae-2022": ["H1", "H2", "H3", "H4"],
}
COMPUTED_CLAIMS = ("A2", "A3", "A9", "B4", "B5", "B8", "G1", "G2", "G3", "G4")
"""Those that are computed or checked, not simulated."""


def test_every_claim_of_every_paper_has_its_entry() -> None:
    assert {name: [c.id for c in paper.claims] for name, paper in papers().items()} == CLAIMS


def test_computed_claims_are_not_simulated() -> None:
    claims = {claim.id: claim for paper in papers().values() for claim in paper.claims}
    for name in COMPUTED_CLAIMS:
        assert claims[name].computed and not claims[name].checks, name
    named = {name for claim in claims.values() for name in claim.computed}
    assert named == set(COMPUTED)


@pytest.mark.parametrize("name", CLAIMS)
def test_every_set_up_can_be_planned_and_every_check_selects_its_rows(name: str) -> None:
    (paper,) = find_papers(name)
    for setup in paper.setups:
        for quick in (True, False):
            plan, _ = plan_setup(setup, quick=quick)
            assert plan.runs
        labels = {run.job.label for run in plan.runs} | {one.label for one in setup.optional}
        labels |= {"Linux kernel"} if setup.linux else set()
        for one in paper.assumptions:
            for level in one.levels.values():
                assert {*level.aqms, *level.aqms.values()} <= labels, level
        axes = {axis.name: set(map(axis.stored, axis.values)) for axis in plan.axes}
        named = {axis.name: axis for axis in plan.axes}
        checks = [c for claim in paper.claims for c in claim.checks]
        for check in checks:
            if setup.name not in (check.setup, *check.also):
                continue
            for where in (check.of, check.to or {}):
                assert where.get("aqm", check.of["aqm"]) in labels, check.says
                for key in where.keys() & axes.keys():
                    assert named[key].stored(where[key]) in axes[key], check.says


def test_every_search_can_be_planned_also_where_an_assumption_is_of_one_aqm_only() -> None:
    repeated = 0
    for paper in papers().values():
        for search in paper.searches:
            for quick in (True, False):
                plan = plan_search(search, quick=quick)
                count = search.quick_settings if quick else search.settings
                settings = draw_settings(search, count)
                assert len(plan.runs) == len(settings) * len(search.aqms)
                repeated += len(plan.runs) - len({run.job.digest for run in plan.runs})
    assert repeated > 0, "else nothing of this is tested"


def test_an_unknown_paper_is_reported_with_those_that_there_are(sojourn: Sojourn) -> None:
    done = sojourn("paper", "codel-akt")
    assert done.returncode == 2
    assert 'did you mean "codel-act"?' in done.stderr and "p4-codel-2018" in done.stderr


def test_the_list_has_a_line_for_each_paper(sojourn: Sojourn) -> None:
    listed = json.loads(sojourn("papers", "--json").stdout)
    assert {one["name"]: [c["id"] for c in one["claims"]] for one in listed} == CLAIMS


def test_a_paper_is_run_and_every_claim_and_figure_is_on_its_page(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    document = tmp_path / "docs" / "papers.md"
    document.parent.mkdir()
    arguments = ("paper", "p4-codel-2018", "--quick", "--out", tmp_path / "out", "--json")
    done = sojourn(*arguments, "--markdown", document)
    assert done.returncode == 0, done.stderr
    (paper,) = json.loads(done.stdout)
    verdicts = {claim["id"]: claim for claim in paper["claims"]}
    assert list(verdicts) == CLAIMS["p4-codel-2018"]
    # What is computed does not depend on seeds.
    for name in ("C2", "C3", "C4"):
        assert verdicts[name]["status"] == "holds", verdicts[name]
    (link,) = (one for one in verdicts["C1"]["found"] if one["says"] == "throughput of the link")
    assert link["status"] == "holds" and link["paper"] == "equal to the link"
    page = (tmp_path / "out" / "p4-codel-2018" / "index.html").read_text()
    (paper,) = find_papers("p4-codel-2018")
    for claim in paper.claims:
        assert f'id="{claim.id}"' in page
    for figure in paper.figures:
        assert figure.source in page
        if figure.kind != "table":
            assert (tmp_path / "out" / "p4-codel-2018" / f"{figure.name}.png").stat().st_size > 5000
    assert "p4-codel-2018/index.html#C5" in (tmp_path / "out" / "index.html").read_text()
    text = document.read_text()
    pictures = sorted((tmp_path / "docs" / "papers").glob("*.png"))
    assert pictures and all(f"papers/{one.name}" in text for one in pictures)
    tables = sorted((tmp_path / "docs" / "papers").glob("*.csv"))
    assert tables and all(f":file: papers/{one.name}\n" in text for one in tables)
    assert text.count("```{csv-table}") == len(tables)
    # Again: nothing is run, the same comes out.
    again = sojourn(*arguments)
    assert again.stdout == done.stdout


def test_the_papers_errors_come_out_under_its_own_reading_of_the_math_unit_only() -> None:
    # Figures 6 and 11, section III: numbers of the paper's text.
    for name in ("control_law_error", "drop_next_error"):
        for found in COMPUTED[name]().found:
            assert found.status is Status.HOLDS, found
            assert [status for _, _, status in found.beside] == [Status.FAILS], found
    # The value that tells the readings apart, by the vendor's model and the other.
    assert (spacing(1, "vendor"), spacing(1, "paper")) == (100_663_296, 141_557_760)


def test_the_hypothetical_program_is_refused_for_the_papers_two_reasons_and_no_other() -> None:
    order, twice, *_ = COMPUTED["rfc_refused"]().found
    assert "T1102 and nothing else" in order.ours and order.status is Status.HOLDS
    assert "T0701 and nothing else" in twice.ours and twice.status is Status.HOLDS


def test_an_unknown_target_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn.studies.papers.computed.switches.catalogue", list)
    for name, what in (("npu", "NPU"), ("hardware_module", "hardware module")):
        (found,) = COMPUTED[name]().found
        assert found.status is Status.UNSEEN and found.note == f"the {what} is not in this version"


def checked(**bounds: float) -> Check:
    return Check(
        says="delay", setup="one", metric="mean", of={"aqm": "codel"}, paper="some", **bounds
    )


@pytest.mark.parametrize(
    ("bounds", "mean", "half", "status"),
    [
        ({"near": 8.3}, 8.9, 0.1, Status.HOLDS),
        ({"near": 8.3}, 11.0, 0.1, Status.DIFFERS),
        ({"near": 8.3}, 13.0, 0.1, Status.FAILS),
        ({"below": 5.0}, 4.0, 0.5, Status.HOLDS),
        ({"below": 5.0}, 4.8, 0.5, Status.UNSEEN),
        ({"below": 5.0}, 5.2, 0.5, Status.UNSEEN),
        ({"below": 5.0}, 6.0, 0.5, Status.FAILS),
        ({"above": 1.0}, 2.0, 0.5, Status.HOLDS),
        ({"above": 1.0}, 0.4, 0.5, Status.FAILS),
        ({"above": 1.0}, 0.4, 0.7, Status.UNSEEN),
    ],
)
def test_a_bound_holds_only_if_the_interval_is_on_its_side(
    bounds: dict[str, float], mean: float, half: float, status: Status
) -> None:
    assert judge(checked(**bounds), Interval(mean, half, 3))[0] is status


def test_a_check_without_anything_to_hold_it_against_is_refused() -> None:
    with pytest.raises(ValueError, match="give one of near, below and above"):
        checked()


def test_a_claim_holds_if_all_its_parts_do_and_reports_where_else_it_does() -> None:
    def part(status: Status, *beside: tuple[str, str, Status]) -> Found:
        return Found("x", "1", "1", status, "+20 %", 0.2, beside)

    good, bad = Status.HOLDS, Status.FAILS
    assert verdict([part(good), part(good)]).text == "holds"
    assert verdict([part(good), part(Status.DIFFERS)]).text == "holds with a difference of +20 %"
    assert verdict([part(bad), part(bad)]).text == "does not hold"
    assert verdict([part(good), part(bad)]).text == "holds in part (1 of its 2 parts)"
    unseen = part(Status.UNSEEN)
    assert verdict([part(good), unseen]).text == (
        "holds, as far as it can be seen: 1 of 2 parts cannot"
    )
    assert verdict([part(good), part(bad), unseen]).text == (
        "holds in part (1 of its 2 parts that can be seen here)"
    )
    elsewhere = [part(bad, ("uncapped", "2", good)), part(good, ("uncapped", "2", good))]
    assert verdict(elsewhere).text.endswith("; it holds with uncapped")
    # What fails has to be measured there, too.
    assert "uncapped" not in verdict([part(bad), *elsewhere]).text
    assert verdict([part(good, ("vendor", "2", bad))]).text == "holds; not with vendor"


def test_a_search_has_each_level_equally_often_and_begins_as_published() -> None:
    (paper,) = find_papers("codel-act")
    for search in paper.searches:
        settings = draw_settings(search, search.settings)
        assert settings == draw_settings(search, search.settings)
        assert len({tuple(one.levels.items()) for one in settings}) == len(settings)
        for name, factor in search.factors.items():
            found = Counter(one.levels[name] for one in settings)
            assert max(found.values()) - min(found.values()) <= 1 + search.settings - len(settings)
            assert settings[0].levels[name] == factor.published


def small(**changes: object) -> Paper:
    """A paper of one claim, a set-up in two forms and two assumptions."""
    setup = {"name": "capped", "says": "", "scenario": "bufferbloat", "aqms": ["codel"]}
    check = {
        "says": "mean", "setup": "capped", "metric": "mean", "of": {"aqm": "ACT"},
        "paper": "below 5", "below": 5.0,
    }  # fmt: skip
    document = {
        "name": "small", "line": "", "title": "", "authors": "", "where": "",
        "setups": [setup, {"name": "open", "says": "", "like": "capped", "set": {"seed": 2}}],
        "claims": [{"id": "X", "text": "", "source": "", "measured": "", "checks": [check]}],
        "assumptions": [
            {"name": "the algorithm", "levels": {"listing": {}, "slides": {"aqms": {"ACT": "ACT2"}}}
            },
            {"name": "the cap", "levels": {"90 %": {}, "none": {"setups": {"capped": "open"}}}},
        ],
    }  # fmt: skip
    return Paper.model_validate(document | changes)


def rows(paper: Paper, means: dict[str, dict[str, float]]) -> dict[str, Measured]:
    """Set-ups in which each AQM has that mean in three seeds."""
    found = {}
    for setup in paper.setups:
        runs = [
            {"aqm": aqm, "seed": seed, "mean": mean + 0.001 * seed}
            for aqm, mean in means[setup.name].items()
            for seed in (1, 2, 3)
        ]
        found[setup.name] = Measured(setup, (), {"runs": runs}, 5_000_000, Path())
    return found


@pytest.mark.parametrize("log", [False, True])
def test_box_plots_of_short_and_long_delays_have_one_axis_that_shows_both(
    log: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (setup, _) = small().setups
    names = ("p5", "p25", "median", "mean", "p75", "p95", "p99")
    delays = {
        "short": (0.0, 0.2, 0.4, 0.5, 0.6, 2.0, 5.0),
        "long": (50, 100, 150, 150, 160, 170, 180),
    }
    runs = [
        {"aqm": aqm, "seed": 1} | {name: 1e6 * ms for name, ms in zip(names, values, strict=True)}
        for aqm, values in delays.items()
    ]
    measured = Measured(setup, (), {"runs": runs}, 5_000_000, tmp_path)
    spec = FigureSpec(name="x", source="", caption="", kind="boxes", setup=setup.name, log=log)
    figures = []
    monkeypatch.setattr(draw, "_save", lambda figure, _folder, name: figures.append(figure) or name)
    assert draw.draw(spec, measured, tmp_path) == "x.png"
    (figure,) = figures
    for panel in figure.axes:
        low, high = panel.get_ylim()
        assert panel.get_yscale() == ("log" if log else "linear")
        assert high > 150
        assert 0 < low < 0.5 if log else low == 0


def test_a_set_up_like_another_has_its_changes_and_the_rest_of_the_other() -> None:
    first, second = small().setups
    assert (second.scenario, second.aqms, second.set) == (first.scenario, first.aqms, {"seed": 2})
    with pytest.raises(ValueError, match="like 'later', which is no earlier set-up"):
        small(setups=[{"name": "capped", "says": "", "like": "later"}])


def test_every_claim_is_judged_under_every_combination_of_the_assumptions() -> None:
    paper = small()
    means = {"capped": {"ACT": 9.0, "ACT2": 8.0}, "open": {"ACT": 7.0, "ACT2": 4.0}}
    found = assess(paper, rows(paper, means))
    assert dict(found.published.levels) == {"the algorithm": "listing", "the cap": "90 %"}
    assert found.published.claims[0].verdict.status is Status.FAILS
    best = found.combinations[0]
    assert dict(best.levels) == {"the algorithm": "slides", "the cap": "none"}
    assert best.claims[0].verdict.status is Status.HOLDS and best.score == (1, 1)
    assert found.readings["slides"] is best
    assert found.readings["listing"] is found.published, "of equals the text's own"
    (need,) = found.needs
    assert need.text == "in 1 of 4 combinations; needs the algorithm slides, the cap none"


def test_a_check_over_several_set_ups_takes_the_most_or_the_least_of_their_cells() -> None:
    paper = small()
    measured = rows(paper, {"capped": {"ACT": 3.0}, "open": {"ACT": 7.0}})
    over = Check(
        says="x", setup="capped", over=["open"], metric="mean", of={"aqm": "ACT"}, paper="",
        take="max", below=5.0,
    )  # fmt: skip
    runs = [measured["capped"], measured["open"]]
    highest = value_of(runs, over)
    lowest = value_of(runs, over.model_copy(update={"take": "min"}))
    assert highest is not None and highest.mean == pytest.approx(7.002)
    assert lowest is not None and lowest.mean == pytest.approx(3.002)
    with pytest.raises(ValueError, match="`take` says which of their cells"):
        Check(says="x", setup="capped", over=["open"], metric="mean", of={}, paper="", below=5.0)


def test_the_doubled_count_is_off_by_4_per_cent_from_the_second_drop_on_only() -> None:
    # Figure 6 begins there; the first spacing is P4-CoDel's, as both counts begin with 1.
    _, doubled = COMPUTED["control_law_error"]().found
    assert doubled.ours.endswith("from the second drop on; +41.6 % at the first")


def test_no_paper_is_found_under_an_empty_name() -> None:
    with pytest.raises(ScenarioError, match="no paper ''"):
        find_papers("")


def test_a_set_up_has_the_rows_that_its_figures_and_checks_select(tmp_path: Path) -> None:
    (paper,) = find_papers("cs244-codel")
    (setup,) = (one for one in paper.setups if one.name == "short transfers")
    short = setup.model_copy(update={"quick": {"duration": "1 s"}})
    measured = run_setup(
        short, tmp_path, quick=True, workers=LocalWorkers, tell=lambda _name, _state: None
    )
    (spec,) = (one for one in paper.figures if one.setup == setup.name)
    _, rows = draw.table(spec, measured)
    assert rows and all("-" not in row[1:] for row in rows), rows
    for claim in paper.claims:
        for check in claim.checks:
            if check.setup == setup.name:
                assert value_of(measured, check) is not None, check.says
    with pytest.raises(ScenarioError, match="has what = 'transfer'; there are transfers cubic"):
        measured.select("times", {"what": "transfer"})


def test_two_set_ups_of_one_folder_are_refused() -> None:
    (paper,) = find_papers("codel-act")
    first = paper.setups[0].model_dump()
    twice = [first | {"name": "a b"}, first | {"name": "A-b"}]
    changed = paper.model_dump() | {"setups": twice, "claims": [], "figures": [], "searches": []}
    with pytest.raises(ValueError, match="'a b' and 'A-b' would have one folder"):
        type(paper).model_validate(changed)
