"""`sojourn check`: the language, the target, the stages."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

import sojourn
from sojourn.cli.shared import Json, app, open_console
from sojourn.errors import EXIT_USER, ScenarioError
from sojourn.stages import estimate, explanation


@app.command()
def check(
    program: Annotated[Path | None, typer.Argument(help="A P4 program.")] = None,
    language_only: Annotated[
        bool, typer.Option("--language-only", help="Stop after the type checker.")
    ] = False,
    explain: Annotated[
        str | None, typer.Option(metavar="CODE", help="Tell what a rule of the target is about.")
    ] = None,
    include: Annotated[
        list[Path] | None, typer.Option("-I", metavar="DIR", help="Where #include looks first.")
    ] = None,
    define: Annotated[
        list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="Define a macro.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a P4 program: the language, whether the target can load it, and its stages."""
    if explain is not None:
        print(explanation(explain))
        return
    if program is None:
        raise ScenarioError("sojourn check: name a P4 program, or a rule with --explain CODE")
    defines = dict(_definition(text) for text in define or ())
    result = sojourn.check(
        program,
        language_only=language_only,
        include_paths=include or (),
        defines=defines,
        colour=open_console().is_terminal and "NO_COLOR" not in os.environ,
    )
    stages = None
    if result.ok and not language_only:
        stages = estimate(program, include_paths=include or (), defines=defines)
    if as_json:
        found = {"ok": result.ok, "diagnostics": result.diagnostics}
        print(json.dumps(found | {"stages": stages.data if stages else None}, indent=2))
    else:
        if result.rendered:
            print(result.rendered.rstrip("\n"))
        if result.ok:
            print(f"{program}: {'no errors' if language_only else 'no errors; it can be run'}")
        if stages:
            print("\n" + stages.text.rstrip("\n"))
    if not result.ok:
        raise typer.Exit(EXIT_USER)


def _definition(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.isidentifier():
        raise ScenarioError(f"-D {text}: write NAME or NAME=VALUE")
    return name, value if "=" in text else "1"
