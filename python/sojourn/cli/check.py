"""`sojourn check`: the language, the target, the stages and their picture."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from sojourn.cli.shared import Define, Include, Json, app, definitions
from sojourn.common.atomic_write import write_named
from sojourn.control.file import ProgramChoice
from sojourn.control.install import control_plane_faults
from sojourn.errors import EXIT_USER, ScenarioError, output_error
from sojourn.model.programs import target_names, with_own_folder
from sojourn.tools.check.checker import CheckResult
from sojourn.tools.check.checker import check as check_program
from sojourn.tools.check.stages import NOT_SIMULATED, Stages, explanation


class _CheckCommand(TyperCommand):
    """`--explain` may stand without its code, which is then empty."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for at, arg in enumerate(args):
            if arg == "--explain" and (at + 1 == len(args) or args[at + 1].startswith("-")):
                args = [*args[: at + 1], "", *args[at + 1 :]]
                break
        return super().parse_args(ctx, args)


@app.command(cls=_CheckCommand)
def check(
    program: Annotated[Path | None, typer.Argument(help="A P4 program.")] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"What it is compiled for: {', '.join(target_names())}."),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw the stages.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="The same as a page to look around in."),
    ] = None,
    state: Annotated[
        bool,
        typer.Option(
            "--dependencies",
            help="Who reads and writes each state variable, and which are one atomic block; "
            "--svg draws that. Also for a program that the chip does not take.",
        ),
    ] = False,
    language_only: Annotated[
        bool, typer.Option("--language-only", help="Stop after the type checker.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="[CODE]", help="Tell what a rule of the target is about, or list them."
        ),
    ] = None,
    include: Include = None,
    define: Define = None,
    as_json: Json = False,
) -> None:
    """Check a P4 program: the language, whether the target can load it, and its stages.

    A control-plane file beside the program is checked with it.
    """
    if explain is not None:
        print(explanation(explain).rstrip("\n"))
        return
    if target is not None and target not in target_names():
        known = " and ".join(target_names())
        raise ScenarioError(f"--target {target}: no such target; there are {known}")
    if program is None:
        raise ScenarioError("sojourn check: name a P4 program, or a rule with --explain CODE")
    if language_only and (svg or html):
        raise ScenarioError("--language-only knows no stages: leave it, or --svg and --html, out")
    defines = definitions(define)
    if state:
        if html:
            raise ScenarioError("--dependencies has no page: draw it with --svg FILE")
        _check_state(program, include or (), defines, svg, as_json)
        return
    _check(program, target, language_only, include or (), defines, (svg, html), as_json)


def _check(
    program: Path,
    target: str | None,
    language_only: bool,
    include: Sequence[Path],
    defines: Mapping[str, str],
    pictures: tuple[Path | None, Path | None],
    as_json: bool,
) -> None:
    result = _asked(program, language_only, include, defines, target)
    found = result.architecture
    if found and target not in (None, found):
        raise ScenarioError(f"{program}: this program is for {found}, not for {target}")
    stages = Stages(*result.stages) if result.stages else None
    if found and stages is None and any(pictures):
        raise ScenarioError(f"{program}: {found} has no stages: leave --svg and --html out")
    drawn = _draw(program, stages, *pictures)
    control = _control_plane_faults(program, result, include, defines)
    ok = result.ok and not control
    if as_json:
        data: dict[str, Any] = {"ok": ok, "diagnostics": result.diagnostics}
        data |= {"architecture": found, "stages": stages.data if stages else None}
        data |= {"control_plane": control or None}
        print(json.dumps(data, indent=2))
    else:
        if result.rendered:
            print(result.rendered.rstrip("\n"))
        if result.ok:
            print(f"{program}: {_verdict(result, language_only)}")
        if stages:
            print("\n" + stages.text.rstrip("\n"))
        for path in drawn:
            print(f"drawn: {path}")
        if control:
            print(f"control plane: {control}")
    if not ok:
        raise typer.Exit(EXIT_USER)


def _control_plane_faults(
    program: Path, result: CheckResult, include: Sequence[Path], defines: Mapping[str, str]
) -> str:
    """What is wrong in the control-plane file beside a program that can be run."""
    if not result.ok or result.program is None or result.architecture is None:
        return ""
    if any(each["code"] == NOT_SIMULATED for each in result.diagnostics):
        return ""
    paths = with_own_folder(include, program)
    return control_plane_faults(ProgramChoice(program, None, paths, dict(defines)))


def _check_state(
    program: Path,
    include: Sequence[Path],
    defines: Mapping[str, str],
    svg: Path | None,
    as_json: bool,
) -> None:
    """The state variables; what the chip has against the program does not matter here."""
    from sojourn.tools.check.dependencies import dependencies, draw_dependencies

    result = _asked(program, True, include, defines)
    found = None
    if result.ok:
        found = dependencies(program, include_paths=include, defines=defines)
        if svg:
            _write(svg, draw_dependencies(program, found.data))
    if as_json:
        said: dict[str, Any] = {"ok": result.ok, "diagnostics": result.diagnostics}
        print(json.dumps(said | {"dependencies": found.data if found else None}, indent=2))
    else:
        if result.rendered:
            print(result.rendered.rstrip("\n"))
        if found:
            print(found.text.rstrip("\n"))
            if svg:
                print(f"drawn: {svg}")
    if not result.ok:
        raise typer.Exit(EXIT_USER)


def _asked(
    program: Path,
    language_only: bool,
    include: Sequence[Path],
    defines: Mapping[str, str],
    target: str | None = None,
) -> CheckResult:
    return check_program(
        program,
        language_only=language_only,
        include_paths=include,
        defines=defines,
        colour=_in_colour(),
        target=target,
    )


def _in_colour() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def _draw(program: Path, stages: Stages | None, svg: Path | None, html: Path | None) -> list[Path]:
    """Writes what was asked for; a program that is refused has no stages to draw."""
    if stages is None or not (svg or html):
        return []
    # The pictures stand on more than the check.
    from sojourn.tools.check.stages.page import stages_page
    from sojourn.tools.check.stages.picture import draw_stages

    for path, draw in ((svg, draw_stages), (html, stages_page)):
        if path:
            _write(path, draw(program, stages.data))
    return [path for path in (svg, html) if path]


def _write(path: Path, text: str) -> None:
    try:
        write_named(path, text)
    except OSError as error:
        raise output_error(error, path) from error


def _verdict(result: CheckResult, language_only: bool) -> str:
    if language_only:
        return "no errors"
    if any(each["code"] == NOT_SIMULATED for each in result.diagnostics):
        return "no errors, but parts of it are not simulated, so that it cannot be run"
    return "no errors; it can be run"
