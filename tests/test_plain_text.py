"""Names in a scenario are shown literally, in every output."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Sojourn
from sojourn.errors import ScenarioError
from sojourn.model.scenario import scenario_from_dict

LABELS = [
    "$x^$",
    "[/bold]",
    "[red]",
    "<script>a()</script>",
    "<b>",
    "<a href=//a.b>",
    "_hidden",
    ":smile:",
    "a\\",
    "{x}",
    "%s",
    "雨",
]


def scenario(**changes: Any) -> dict[str, Any]:
    return {
        "duration": "100 ms",
        "switch": {"rate": "10 Mbit/s"},
        "flows": [{"rtt": "5 ms"}],
        "aqms": ["fifo"],
    } | changes


def as_toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def test_labels_and_titles_are_shown_as_they_are_written(sojourn: Sojourn, tmp_path: Path) -> None:
    aqms = ", ".join(f'{{ use = "fifo", label = {as_toml(label)} }}' for label in LABELS)
    title = "$\\frac{$ [/] [bold] <i>${title}</i> :smile: \\"
    (tmp_path / "odd.toml").write_text(
        f"title = {as_toml(title)}\nlook_at = {as_toml(title)}\nnotes = {as_toml(title)}\n"
        f'duration = "100 ms"\naqms = [{aqms}]\n'
        '[switch]\nrate = "10 Mbit/s"\n[[flows]]\nkind = "transfers"\nload = "1 Mbit/s"\n'
        'rtt = "5 ms"\n'
    )
    done = sojourn("run", "odd.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for label in LABELS:
        assert label in done.stdout
    assert f"\n{title}\n" in done.stdout
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<script>a()" not in page
    assert "<a href=" not in page
    assert "&lt;script&gt;a()&lt;/script&gt;" in page
    assert "$\\frac{$ [/] [bold] &lt;i&gt;${title}&lt;/i&gt; :smile: \\" in page
    assert (tmp_path / "out" / "distribution.png").read_bytes().startswith(b"\x89PNG")
    listed = json.loads((tmp_path / "out" / "summary.json").read_text())["aqms"]
    assert [row["aqm"] for row in listed] == LABELS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"aqms": [{"use": "fifo", "label": "\x1b[2J"}]}, "U+001B"),
        ({"aqms": [{"use": "fifo", "label": "a\nb"}]}, "U+000A"),
        ({"aqms": [{"use": "fifo", "label": ""}]}, "label"),
        ({"aqms": [{"use": "fifo", "label": "x" * 101}]}, "at most 100"),
        ({"aqms": [{"use": "a\0b.p4"}]}, "U+0000"),
        ({"aqms": [{"use": "codel_act", "control": "a\0b"}]}, "U+0000"),
        ({"aqms": [{"use": "codel_act", "include_paths": ["a\0b"]}]}, "U+0000"),
        ({"title": "x" * (1 << 20)}, "at most 1000"),
        ({"title": "\x1b]0;owned\x07"}, "U+001B"),
    ],
)
def test_text_that_cannot_be_shown_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        scenario_from_dict(scenario(**changes))
    assert message in str(error.value)
    assert len(str(error.value)) < 500
