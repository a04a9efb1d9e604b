"""The least compiler and the licences that the project states hold for Cargo.lock."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def read(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text())


def version(text: str) -> tuple[int, ...]:
    numbers = [int(part) for part in text.split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))


@pytest.fixture(scope="module")
def packages() -> list[dict[str, Any]]:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is missing")
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cargo metadata: {done.stderr.strip().splitlines()[-1]}")
    found: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    return found


def satisfied(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression holds with the allowed licences; `/` is an old `OR`."""
    text = re.sub(r"\s*/\s*", " OR ", expression)
    names = re.compile(r"[A-Za-z0-9.+-]+(?: WITH [A-Za-z0-9.+-]+)?")

    def value(match: re.Match[str]) -> str:
        name = match[0]
        return name.lower() if name in ("AND", "OR") else str(name in allowed)

    return bool(eval(names.sub(value, text)))  # Nothing but True, False, and, or, parentheses.


def test_an_expression_needs_one_side_of_or_and_both_of_and() -> None:
    assert satisfied("MIT/GPL-3.0", {"MIT"})
    assert satisfied("(MIT OR GPL-3.0) AND ISC", {"MIT", "ISC"})
    assert not satisfied("MIT AND GPL-3.0", {"MIT"})
    assert not satisfied("Apache-2.0 WITH LLVM-exception", {"Apache-2.0"})


def test_every_licence_is_one_that_deny_toml_allows(packages: list[dict[str, Any]]) -> None:
    allowed = set(read("deny.toml")["licenses"]["allow"])
    refused = [
        (package["name"], package["license"])
        for package in packages
        if not satisfied(package["license"] or "none", allowed)
    ]
    assert not refused


def test_no_dependency_needs_a_newer_compiler(packages: list[dict[str, Any]]) -> None:
    least = version(read("Cargo.toml")["workspace"]["package"]["rust-version"])
    needed = [(version(p["rust_version"]), p["name"]) for p in packages if p["rust_version"]]
    assert [name for at, name in needed if at > least] == []


def test_every_crate_states_the_least_compiler(packages: list[dict[str, Any]]) -> None:
    own = [package for package in packages if package["source"] is None]
    assert own
    assert [package["name"] for package in own if not package["rust_version"]] == []


def test_the_makefile_names_the_least_compiler() -> None:
    least = read("Cargo.toml")["workspace"]["package"]["rust-version"]
    assert f"install Rust {least} or newer" in (ROOT / "Makefile").read_text()
