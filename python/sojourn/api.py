"""The public functions that no single module below offers.

Each function is a line or two over the modules that do the work. Behaviour belongs there.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from sojourn import _core
from sojourn.errors import ScenarioError, UnknownAqmError
from sojourn.model import python_discipline
from sojourn.model.aqms import Aqm, catalogue, find_aqm, is_path, known_names
from sojourn.model.programs import compiled, refuse_unread_macros, with_own_folder
from sojourn.model.python_discipline import Discipline
from sojourn.model.scenario import Scenario, find_scenario, read_scenario
from sojourn.model.scenario.aqm_spec import choose
from sojourn.model.scenario.read import messages, shipped_scenarios
from sojourn.model.session_aqms import remember
from sojourn.model.units import RATE, TIME, Dimension
from sojourn.results.notebook import open_run
from sojourn.results.result import Result
from sojourn.tools.stf import StfResult, run_stf


def load_program(
    program: str | Path,
    *,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] | None = None,
) -> _core.Program:
    """The P4 program in the file `program`, compiled; `include_paths` and `defines` are `-I`, `-D`.

    It has its target, the SHA-256 of its sources, its stages and its state as JSON. Raises
    `UnknownAqmError` if there is no such file, `ProgramError` for faults in it, whose `diagnostics`
    are data, `ScenarioError` for a macro that none of its files reads.

    >>> from sojourn.common.resources import programs_folder
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
    """The available AQMs: native disciplines with their parameters, then the shipped P4 programs.

    >>> next(aqm.parameters[0].name for aqm in sojourn.list_aqms() if aqm.name == "codel")
    'target'
    """
    return catalogue()


def register_aqm(name: str, use: str | Path, **options: Any) -> None:
    """Names an AQM for this session: in `aqms` of `run`, `sweep` and scenarios.

    `use` is the path of a `.p4` or `.sv` file, `FILE.py:CLASS`, or a known AQM. `options` are the
    other keys of a scenario's table, as `control`, `defines`, `include_paths` and a discipline's
    parameters. A run's folder has the full table. The same name again replaces it. Raises
    `UnknownAqmError` if there is no such file or AQM, `ScenarioError` for a name that is taken or
    looks like a path, and for unknown options.

    >>> sojourn.register_aqm("hasty", "codel", target="1 ms", interval="20 ms")
    >>> sojourn.run("bufferbloat", aqms=["codel", "hasty"], report=False, set={"duration": "1 s"})
    Result of bufferbloat, seed 1, in ...
      codel  mean ... ms, p99 ... ms, goodput ... Mbit/s, ... drops
      hasty  mean ... ms, p99 ... ms, goodput ... Mbit/s, ... drops
    """
    _refuse_name(name)
    aqm = find_aqm(str(use))
    file = aqm.program or aqm.module
    named = use if file is None else file.absolute()
    choice = {"use": str(named if aqm.own is None else aqm.own.use), **options}
    for key in ("control", "include_paths"):
        if key in choice:
            choice[key] = _absolute(choice[key])
    try:
        choose(choice)
    except ValidationError as error:
        raise ScenarioError("\n".join(messages(error, choice, name))) from None
    remember(name, choice)


def register_discipline(name: str, discipline: type[Discipline]) -> None:
    """Names a queue discipline in Python for this session: in `aqms` of `run`, `sweep` and
    scenarios.

    Each queue has an object of the class (docs/own-discipline.md). The keywords of its constructor
    are its parameters. The same name again replaces it. Raises `ScenarioError` for a name that is
    taken or looks like a path, and for a class without the methods.

    >>> class Fullest(sojourn.Discipline):
    ...     def __init__(self, most: int = 100):
    ...         self.most = most
    ...     def enqueue(self, packet, queue, now):
    ...         full = queue.packets >= self.most
    ...         return sojourn.Decision.DROP if full else sojourn.Decision.KEEP
    >>> sojourn.register_discipline("fullest", Fullest)
    >>> sojourn.run("bufferbloat", aqms=["fullest", {"use": "fullest", "most": 10, "label": "ten"}],
    ...             report=False, set={"duration": "1 s"})
    Result of bufferbloat, seed 1, in ...
      fullest  mean ... ms, p99 ... ms, goodput ... Mbit/s, ... drops
      ten      mean ... ms, p99 ... ms, goodput ... Mbit/s, ... drops
    """
    _refuse_name(name)
    remember(name, {"use": python_discipline.given(name, discipline)})


def _refuse_name(name: str) -> None:
    if is_path(name) or "/" in name or ":" in name:
        raise ScenarioError(f"{name}: a name, not a path")
    if name in known_names():
        raise ScenarioError(f"{name}: is shipped under that name already")


def _absolute(paths: Any) -> Any:
    """A path, or a list of them, from this session's folder."""
    if isinstance(paths, str | Path):
        return str(Path(paths).absolute())
    return [str(Path(path).absolute()) for path in paths]


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

    >>> from sojourn.common.resources import programs_folder
    >>> _ = Path("empty.stf").write_text("# no packets")
    >>> sojourn.run_test(programs_folder() / "v1model/router.p4", "empty.stf").passed
    True
    """
    return run_stf(Path(program), Path(test), include_paths=include_paths, defines=defines)


def compare_runs(runs: Mapping[str, Result | str | Path]) -> pa.Table:
    """Compares runs, results or their folders by name: a row for each AQM and set-up.

    Runs that differ in the seed alone are one set-up, named after its first. Each figure is a mean
    (ns, bit/s, shares of 1), with half its 95 % interval if there are several seeds; a
    `_difference` is to the first set-up. Raises `ScenarioError` for fewer than two runs.

    >>> slow, fast = (sojourn.run("bufferbloat", aqms="codel", report=False,
    ...                           set={"duration": "0.5 s", "switch.rate": rate})
    ...               for rate in ("50 Mbit/s", "100 Mbit/s"))
    >>> table = sojourn.compare_runs({"slow": slow, "fast": fast})
    >>> table.column("setup").to_pylist()
    ['slow', 'fast']
    >>> table.column("goodput_difference")[1].as_py() > 0
    True
    """
    from sojourn.results.compare import compare
    from sojourn.results.metrics import SHOWN

    if len(runs) < 2:
        raise ScenarioError("runs: name two at least")
    opened = [
        (name, run if isinstance(run, Result) else open_run(run)) for name, run in runs.items()
    ]
    rows = []
    for line in compare(opened)[1]:
        row: dict[str, Any] = {"aqm": line.aqm, "setup": line.setup}
        for metric, value, apart in zip(SHOWN, line.values, line.differences, strict=True):
            for name, found in ((metric.name, value), (f"{metric.name}_difference", apart)):
                row[name] = None if found is None else found.mean
                row[f"{name}_half_interval"] = None if found is None else found.half
        rows.append(row)
    return pa.Table.from_pylist(rows)


def replay_trace(
    trace: str | Path,
    aqms: str | Sequence[str],
    *,
    rate: str | None = None,
    duration: str | None = None,
    seed: int = 1,
    defines: Mapping[str, str] | None = None,
) -> pa.Table:
    """Puts the same packets to P4 programs and to RFC 8289, and compares their drops.

    `trace` is a run's folder or the name of a synthetic one (docs/equivalence.md), for which
    `rate`, `duration` and `seed` are. A row per queue of the trace and AQM: how many drops RFC 8289
    makes and how many the AQM, the share of packets that both decide alike, the RFC's drops that
    it makes at the same packet, and within 1 us, and those that are missing or too many. Raises
    `ScenarioError` for a name or a quantity that makes no sense.

    >>> table = sojourn.replay_trace("bursts", "codel_exact", rate="100 Mbit/s", duration="2 s")
    >>> table.column("missed").to_pylist(), table.column("extra").to_pylist()
    ([0], [0])
    """
    from sojourn.tools.replay import Study, find_traces, subjects

    traces = find_traces(
        [str(trace)],
        rates=None if rate is None else [_parsed("rate", rate, RATE)],
        duration=None if duration is None else _parsed("duration", duration, TIME),
        seed=seed,
        packet_size=None,
    )
    asked = subjects([aqms] if isinstance(aqms, str) else aqms, macros=dict(defines or {}))
    rows = []
    for found in Study(traces, asked, [_COPIES_TAKE]).outcomes():
        for outcome in found.outcomes:
            named = {"trace": found.trace.name, "aqm": outcome.subject.label}
            figures = outcome.comparison.as_dict()
            rows.append(named | {name: figures[name] for name in _COMPARED})
    return pa.Table.from_pylist(rows)


_COMPARED = (
    "packets", "equal", "reference_drops", "drops", "same_packet", "within_1_us", "missed", "extra",
)  # fmt: skip
_COPIES_TAKE = 1_000
"""ns from a mirror request to the copy's egress pass."""


def _parsed(key: str, text: str, dimension: Dimension) -> int:
    try:
        return dimension.parse(text)
    except ValueError as error:
        raise ScenarioError(f"{key}: {text!r}: {error}") from error
