"""CoDel-exact from end to end: its control law in tables, and its effect on traffic."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

import sojourn as package
from sojourn.common.resources import programs_folder
from sojourn.control.file import ProgramChoice, read_control_plane
from sojourn.errors import ControlPlaneError

TNA = programs_folder() / "tna"

SHORT = """
duration = "3 s"
aqms = ["codel", "codel_exact"]

[switch]
rate = "50 Mbit/s"

[[flows]]
count = 3
rtt = ["5 ms", "10 ms"]
"""


def entries(control: Path | None = None, **defines: str) -> dict[str, list[dict]]:
    """The entries of each table as the engine gets them."""
    include = (str(programs_folder() / "include"),)
    choice = ProgramChoice(TNA / "codel_exact.p4", "tofino1", include, defines, control)
    tables = read_control_plane(choice)["tables"]
    return {table["name"].rpartition(".")[2]: table["entries"] for table in tables}


# ---- The control law ---------------------------------------------------------------------------


def test_every_count_of_the_exact_table_has_the_nearest_nanosecond() -> None:
    for at, entry in enumerate(entries()["control_law"], start=1):
        assert entry["match"] == {"md.count": at}
        spacing = entry["args"]["ns"]
        # (s - 1/2)^2 <= INTERVAL^2 / count < (s + 1/2)^2, without a float.
        exact = Fraction(10**16, at)
        assert (spacing - Fraction(1, 2)) ** 2 <= exact < (spacing + Fraction(1, 2)) ** 2
    assert at == 16_383


def test_every_larger_count_matches_one_entry_that_is_right_to_a_thousandth() -> None:
    free = 1 << 14
    for entry in entries()["control_law_beyond"]:
        value, mask = entry["match"]["md.count"]["value"], entry["match"]["md.count"]["mask"]
        last = value + (1 << 32) - 1 - mask
        assert value == free, "neither a gap nor an overlap"
        assert value & mask == value
        for count in (value, last):
            ideal = 1e8 / math.sqrt(count)
            assert abs(entry["args"]["ns"] - ideal) <= 0.001 * ideal + 0.5
        free = last + 1
    assert free == 1 << 32


def test_the_entries_follow_the_program_s_own_interval() -> None:
    spacings = [entry["args"]["ns"] for entry in entries(INTERVAL="20000000")["control_law"]]
    assert spacings[:3] == [20_000_000, 14_142_136, 11_547_005]
    # 16,384 to 16,447 share a spacing, the harmonic mean of the two at the ends.
    between = 2 * 2e7 / (math.sqrt(16_384) + math.sqrt(16_447))
    beyond = entries(INTERVAL="20000000")["control_law_beyond"][0]
    assert beyond["args"]["ns"] == round(between)


def test_the_tables_have_room_for_exactly_these_entries() -> None:
    text = (TNA / "aqm" / "codel_exact.p4").read_text()
    assert "size = 16384;" in text
    assert f"size = {len(entries()['control_law_beyond'])};" in text


def test_a_spacing_is_rounded_half_up() -> None:
    # 3 / sqrt(4) = 1.5 and 1 / sqrt(4) = 0.5
    for interval, nanoseconds in (("3", 2), ("1", 1)):
        [fourth] = [
            e for e in entries(INTERVAL=interval)["control_law"] if e["match"] == {"md.count": 4}
        ]
        assert fourth["args"]["ns"] == nanoseconds


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ('{ interval = "100 ms", counts = [1, 9] }', "name a constant"),
        ("{ interval = 100000000, counts = [1, 9] }", "name a constant"),
        ('{ interval = "CODEL_EXACT_INTERVAL_N", counts = [1, 9] }', '"CODEL_EXACT_INTERVAL_NS'),
        ('{ interval = "CODEL_EXACT_INTERVAL_NS" }', "counts"),
        ('{ interval = "CODEL_EXACT_INTERVAL_NS", counts = [0, 9] }', "first and the last"),
        ('{ interval = "CODEL_EXACT_INTERVAL_NS", counts = [9, 1] }', "first and the last"),
        ('{ interval = "CODEL_EXACT_INTERVAL_NS", counts = [1, 4294967296] }', "32 bits"),
    ],
)
def test_a_control_law_that_cannot_be_computed_is_refused(
    tmp_path: Path, options: str, said: str
) -> None:
    table = "[[tables]]\nname = 'Egress.codel.control_law'\n"
    path = tmp_path / "mine.toml"
    path.write_text(f"{table}entries_from = {{ control_law = {options} }}\n")
    with pytest.raises(ControlPlaneError, match=said) as raised:
        entries(path)
    assert "mine.toml" in str(raised.value)
    assert "Egress.codel.control_law" in str(raised.value)


def test_an_unknown_generator_is_answered_with_a_near_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[[tables]]\nname = 'control_law'\nentries_from = { control_lav = {} }\n")
    with pytest.raises(ControlPlaneError, match='did you mean "control_law"'):
        entries(path)


# ---- In traffic --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> package.Result:
    folder = tmp_path_factory.mktemp("exact")
    (folder / "short.toml").write_text(SHORT)
    return package.run(folder / "short.toml", out=folder / "out")


def test_it_drops_about_as_many_packets_as_the_native_codel(result: package.Result) -> None:
    native, ours = (result.aqms[name].summary for name in ("codel", "codel_exact"))
    assert native.aqm_drops > 30
    assert abs(ours.aqm_drops - native.aqm_drops) <= 0.15 * native.aqm_drops
    assert ours.tail_drops == 0
    assert ours.mean is not None and native.mean is not None
    assert abs(ours.mean - native.mean) <= 0.15 * native.mean


def test_a_copy_is_made_of_almost_every_dropped_packet_and_comes_back(
    result: package.Result,
) -> None:
    summary = result.aqms["codel_exact"].summary
    # None for the first drop of a cycle that starts from 1.
    assert 0.9 * summary.aqm_drops <= summary.mirrored <= summary.aqm_drops
    assert summary.recirculated == summary.mirrored
    assert 0 < summary.unsynchronised < 2_000 * summary.mirrored


def test_a_runs_description_names_the_source_of_computed_entries(
    result: package.Result,
) -> None:
    path = result.path / "run.json"
    [_, ours] = json.loads(path.read_text())["runs"]
    laws = [t["entries_from"] for t in ours["aqm"]["control"]["tables"] if "entries_from" in t]
    assert {law["control_law"]["interval"] for law in laws} == {"CODEL_EXACT_INTERVAL_NS"}
    assert path.stat().st_size < 20_000


def test_without_its_mirror_session_it_keeps_to_the_math_unit_s_law(
    result: package.Result, tmp_path: Path
) -> None:
    control, _, _ = (TNA / "codel_exact.toml").read_text().partition("[[mirror_sessions]]")
    (tmp_path / "deaf.toml").write_text(control)
    (tmp_path / "deaf_run.toml").write_text(
        SHORT.replace(
            '["codel", "codel_exact"]', '[{ use = "codel_exact", control = "deaf.toml" }]'
        )
    )
    deaf = package.run(tmp_path / "deaf_run.toml", out=tmp_path / "out").aqms["codel_exact"]
    counters = json.loads((deaf.folder / "counters.json").read_text())
    # Every copy that is asked for is lost and counted as lost.
    assert counters["mirror_drops"] > 0.9 * deaf.summary.aqm_drops - 1
    assert deaf.summary.mirrored == 0
    # Steps are up to 12 % too long, never more than 0.2 % too short.
    whole = result.aqms["codel_exact"].summary
    assert abs(deaf.summary.aqm_drops - whole.aqm_drops) <= 0.2 * whole.aqm_drops


def test_capable_senders_get_marks_instead_of_drops(tmp_path: Path) -> None:
    (tmp_path / "ecn.toml").write_text(
        SHORT.replace('"codel", ', "")
        .replace('"codel_exact"', '{ use = "codel_exact", defines = { CODEL_ECN = 1 } }')
        .replace("count = 3", "count = 3\necn = true")
    )
    summary = package.run(tmp_path / "ecn.toml", out=tmp_path / "out").aqms["codel_exact"].summary
    assert summary.marks > 20
    # A SYN is not ECN-capable, nor is what is sent again.
    assert summary.aqm_drops < summary.marks / 10
    assert summary.utilisation > 0.95
