"""Documentation of the public items of each crate and of the package.

In Rust that is what a crate's front page hands out: each name stands in an example of the crate's
documentation, which `cargo test --doc` runs. In Python it is what `sojourn` hands out: a docstring
says what each thing is, in which unit its numbers are and what it raises.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sojourn
from sojourn.results.statistics import DelayOverTime, QueueOverTime, Summary

CRATES = Path(__file__).parents[1] / "crates"
SHOWN = sorted(page.parents[1] for page in CRATES.glob("*/src/lib.rs") if page.parts[-3] != "py")
"""All but the one whose names are Python's: `_core.pyi` describes those."""


def handed_out(crate: Path) -> list[str]:
    """The names at a crate's root with which something can be done: functions, traits, and types
    with functions of their own. Plain data is seen where a function returns it."""
    code = "\n".join(path.read_text("utf-8") for path in (crate / "src").rglob("*.rs"))
    does = set(re.findall(r"^pub (?:fn|trait) (\w+)", code, re.M))
    impl = r"^impl(?:<[^{]*?>)? (\w+)(?:<[^{]*>)? \{(.*?)^\}"
    for name, body in re.findall(impl, code, re.M | re.S):
        if re.search(r"^    pub (?:const )?fn ", body, re.M):
            does.add(name)
    names = []
    for path in re.findall(r"^pub use ([^;]+);", front_page(crate), re.M):
        names += re.findall(r"(\w+)\s*(?=[,}]|$)", path)
    return [name for name in names if name in does]


def modules(crate: Path) -> Iterator[tuple[str, Path]]:
    """Names and files of a crate's public modules that have functions or traits."""
    for name in re.findall(r"^pub mod (\w+);", front_page(crate), re.M):
        places = (crate / "src" / f"{name}.rs", crate / "src" / name / "mod.rs")
        path = next(path for path in places if path.exists())
        if re.search(r"^pub (?:fn|trait) ", path.read_text("utf-8"), re.M):
            yield name, path


def front_page(crate: Path) -> str:
    return re.sub(r"//.*", "", (crate / "src/lib.rs").read_text(encoding="utf-8"))


def examples(*files: Path) -> str:
    """All lines of the files' documentation that are compiled."""
    lines, running, fenced = [], False, False
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            comment = re.match(r"\s*//[/!] ?(.*)", line)
            if comment is None:
                running = fenced = False
                continue
            fence = re.match(r"```(.*)", comment[1])
            if fence is not None:
                fenced = not fenced
                running = fenced and not {"text", "ignore", "p4"} & set(fence[1].split(","))
            elif running:
                lines.append(comment[1])
    return "\n".join(lines)


LEFT_TOWER = {"analysis", "bmv2", "control", "externs", "npu", "p4", "psa", "target", "tofino"}
"""Crates that hand names to each other, and to the engine, whose tests use them as a library."""


def used_elsewhere(name: str) -> set[str]:
    """Names of a crate of the left tower that another crate imports, or its own tests use."""
    if name not in LEFT_TOWER:
        return set()
    files = [path for path in CRATES.rglob("*.rs") if path.parts[-3] != name]
    code = "\n".join(
        path.read_text("utf-8") for path in files if f"crates/{name}/" not in str(path)
    )
    paths = re.findall(rf"sojourn_{name}::((?:\w+::)*\w+|(?:\w+::)*\{{[^}}]*\}})", code)
    own = [path for path in (CRATES / name).rglob("*.rs") if "test" in path.as_posix()]
    tested = "\n".join(path.read_text("utf-8") for path in own)
    return {word for path in [*paths, tested] for word in re.findall(r"\w+", path)}


@pytest.mark.parametrize("name", [crate.name for crate in SHOWN])
def test_every_public_item_of_a_crate_has_an_example_that_runs(name: str) -> None:
    crate = CRATES / name
    shown = set(re.findall(r"\w+", examples(*sorted((crate / "src").rglob("*.rs")))))
    shown |= used_elsewhere(name)
    missing = [name for name in handed_out(crate) if name not in shown]
    for name, path in modules(crate):
        if name not in shown and not examples(path):
            missing.append(name)
    assert not missing, f"no example of {crate.name} shows {', '.join(missing)}"


def functions() -> list[str]:
    return [name for name in sojourn.__all__ if inspect.isfunction(getattr(sojourn, name))]


@pytest.mark.parametrize("name", functions())
def test_docstrings_of_public_names_state_usage_and_exceptions(name: str) -> None:
    function = getattr(sojourn, name)
    documentation = inspect.getdoc(function) or ""
    assert ">>> " in documentation, "an example, which runs"
    if inspect.signature(function).parameters:
        assert re.search(r"Raises\s+`\w+Error`", documentation)


def test_the_figures_of_a_result_have_units() -> None:
    for figures in (Summary, DelayOverTime, QueueOverTime):
        assert re.search(r"\bns\b", inspect.getsource(figures)), figures.__name__
    assert "bit/s" in (Summary.__doc__ or "")
