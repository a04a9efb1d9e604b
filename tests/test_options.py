"""Option groups: fields of a dataclass are options of the command."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from sojourn.cli.options import grouped


@dataclass(frozen=True)
class Size:
    """Two options."""

    width: Annotated[int, typer.Option(min=1)] = 2
    height: Annotated[int, typer.Option("--tall")] = 3


def test_fields_of_a_dataclass_are_options() -> None:
    app = typer.Typer()
    seen = []

    @app.command()
    @grouped
    def area(name: str, size: Size, loud: bool = False) -> None:
        seen.append((name, size, loud))

    result = CliRunner().invoke(app, ["box", "--width", "5", "--loud"])
    assert result.exit_code == 0, result.output
    assert seen == [("box", Size(5, 3), True)]
    assert list(inspect.signature(area).parameters) == ["name", "width", "height", "loud"]
    assert CliRunner().invoke(app, ["box", "--width", "0"]).exit_code == 2
    assert CliRunner().invoke(app, ["box", "--tall", "x"]).exit_code == 2
