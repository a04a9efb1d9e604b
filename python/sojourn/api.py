"""What Python users ask for by one name and the modules below have in pieces.

Stands on them. Each function here is a line or two; what it does is theirs.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sojourn import _core
from sojourn.aqms import Aqm, catalogue
from sojourn.errors import UnknownAqmError
from sojourn.programs import compiled, refuse_unread_macros, with_own_folder
from sojourn.scenario import Scenario, find_scenario, read_scenario
from sojourn.scenario.read import shipped_scenarios
from sojourn.stf import StfResult, run_stf


def load_program(
    program: str | Path,
    *,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] | None = None,
) -> _core.Program:
    """The P4 program in the file `program`, compiled; `include_paths` and `defines` are `-I`, `-D`.

    It tells its target, the SHA-256 of its sources, its stages and its state as JSON. Raises
    `UnknownAqmError` if there is no such file, `ProgramError` for what is wrong with it, whose
    `diagnostics` are data, `ScenarioError` for a macro that none of its files reads.

    >>> from sojourn.layout import programs_folder
    >>> sojourn.load_program(programs_folder() / "tna/codel_act.p4").target
    'tofino1'
    """
    if not Path(program).is_file():
        raise UnknownAqmError(f"{program}: no such P4 program")
    paths = with_own_folder(include_paths, program)
    found = compiled(program, include_paths=paths, defines=defines)
    refuse_unread_macros([found], dict(defines or {}), "defines:")
    return found


def load_scenario(scenario: str | Path) -> Scenario:
    """The scenario in a file, or the shipped one of that name, as a model to look into and change.

    Raises `ScenarioError` with all that is wrong with it, file and line.

    >>> scenario = sojourn.load_scenario("bufferbloat")
    >>> scenario.links[-1].rate
    100000000
    >>> sojourn.run(scenario.model_copy(update={"duration": 10**9}), aqms="codel", report=False)
    Result of scenario, seed 1, in ...
      codel  mean ... ms, p99 ... ms, goodput ... Mbit/s, ... drops
    """
    return read_scenario(find_scenario(str(scenario)))


def list_scenarios() -> dict[str, str]:
    """The shipped scenarios, each with its line.

    >>> "bufferbloat" in sojourn.list_scenarios()
    True
    """
    return {name: read_scenario(find_scenario(name)).title for name in shipped_scenarios()}


def list_aqms() -> list[Aqm]:
    """What can be run: native disciplines with their parameters, then the shipped P4 programs.

    >>> next(aqm.parameters[0].name for aqm in sojourn.list_aqms() if aqm.name == "codel")
    'target'
    """
    return catalogue()


def run_test(
    program: str | Path,
    test: str | Path,
    *,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] | None = None,
) -> StfResult:
    """Runs a packet test in the STF format (docs/stf.md) on a program.

    The result says whether it passed and what of it failed. Raises `StfError` if the test cannot be
    read or does not fit the program, `ProgramError` if the program cannot be loaded.

    >>> from sojourn.layout import programs_folder
    >>> _ = Path("empty.stf").write_text("# no packets")
    >>> sojourn.run_test(programs_folder() / "v1model/router.p4", "empty.stf").passed
    True
    """
    return run_stf(Path(program), Path(test), include_paths=include_paths, defines=defines)
