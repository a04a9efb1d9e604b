"""The examples in the docstrings of the public names, run as they stand."""

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import sojourn


def examples() -> Iterator[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = {"sojourn": sojourn, "Path": Path}
    for name in sojourn.__all__:
        thing = getattr(sojourn, name)
        if str(getattr(thing, "__module__", "")).startswith("sojourn."):
            yield from finder.find(thing, name, globs=dict(names))


@pytest.mark.parametrize("example", [e for e in examples() if e.examples], ids=lambda e: e.name)
def test_an_example_states_its_result(
    example: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(example, out=output.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


def test_every_public_function_has_an_example() -> None:
    with_one = {e.name for e in examples() if e.examples}
    functions = {name for name in sojourn.__all__ if inspect.isfunction(getattr(sojourn, name))}
    assert functions - with_one == set()
