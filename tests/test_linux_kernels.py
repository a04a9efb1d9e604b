"""Kernels with virtual time: their choice, their build's refusals, and DualPI2 on the one that has
it. A run needs that kernel, which nothing here builds."""

import hashlib
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import Sojourn
from sojourn import _core
from sojourn.backends.linux import build, dualpi2, virtual_kernels
from sojourn.backends.linux.backend import Linux, linux
from sojourn.backends.linux.build import BuildError, build_kernel
from sojourn.backends.linux.host_kernel import HostKernelError, require_host
from sojourn.backends.linux.kernel import Kernel, KernelError
from sojourn.backends.linux.tc import Qdisc, qdisc
from sojourn.backends.linux.virtual_kernels import NEWER, VIRTUAL
from sojourn.runner import plan_scenario
from sojourn.studies.agreement.grid import COUPLED, MIXED, RATES, RTTS, Cell, cells

newer_kernel = pytest.mark.skipif(
    not NEWER.path.is_file(), reason=f"no kernel {NEWER.name}: `{NEWER.command}` builds it"
)


def in_kernel(name: str, **parameters: int) -> Qdisc:
    aqm = {"kind": "native", "name": name, **parameters}
    return qdisc(aqm, 10_000_000, 1_000_000)


def test_the_reference_kernel_is_found_by_its_own_configuration_alone() -> None:
    configuration = Path(virtual_kernels.__file__).with_name("virtual.config").read_bytes()
    digest = hashlib.sha256(configuration + b"1000").hexdigest()[:12]
    assert VIRTUAL.path.name == f"linux-virtual-{digest}"
    assert NEWER.path.name.startswith("linux-virtual-7.3-")
    assert NEWER.path.name.rpartition("-")[2] != digest


@pytest.mark.parametrize(("name", "command"), [("virtual", "build-kernel`"), ("7.3", "l 7.3`")])
def test_a_kernel_that_is_not_built_names_the_command_that_builds_it(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(KernelError, match=f"--kernel {name}: not built yet; .*{command}"):
        linux(name)


def test_a_kernel_is_built_from_the_source_of_its_own_version_only(tmp_path: Path) -> None:
    (tmp_path / "arch" / "um").mkdir(parents=True)
    makefile = "# SPDX\nVERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n"
    (tmp_path / "Makefile").write_text(makefile)
    with pytest.raises(BuildError, match=r"Linux 7\.3; --kernel virtual is built from 6\.1"):
        build_kernel(tmp_path, print)
    with pytest.raises(BuildError, match=r"arch/um/Kconfig|Kconfig"):
        (tmp_path / "arch" / "um" / "Kconfig").write_text("")
        build_kernel(tmp_path, print, NEWER)


def test_a_package_that_is_missing_is_named_with_the_suite_that_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_SOURCES", tmp_path)
    with pytest.raises(BuildError, match=r"linux-source-7\.3\n.*trixie-backports"):
        build_kernel(None, print, NEWER)


def test_the_linux_preset_gives_the_kernels_own_defaults() -> None:
    made = in_kernel("dualpi2_linux")
    values = {option.name: option.value for option in made.options}
    assert values["limit"] == made.limit == min(10_000, 10_000_000 // 1520)
    # sch_dualpi2.c, dualpi2_reset_default.
    assert (
        values
        | {
            "target": 15_000,
            "tupdate": 16_000,
            "alpha": 41,
            "beta": 819,
            "step_thresh": 1000,
            "min_qlen_step": 0,
            "coupling_factor": 2,
            "drop_on_overload": 1,
            "classic_protection": 10,
            "ecn_mask": 1,
        }
        == values
    )
    assert not made.differences
    assert "ecn_mask 3" in in_kernel("dualpi2_linux", any_ect=1).text


def test_settings_that_the_kernels_dualpi2_lacks_are_differences() -> None:
    rfc = in_kernel("dualpi2", l4s_dscp=45)
    for name in ("range", "classic_protection", "min_backlog", "random", "l4s_dscp"):
        assert any(line.startswith(name) for line in rfc.differences), name
    assert "step_thresh 1000" in rfc.text


def test_a_kernel_without_dualpi2_is_refused_with_one_that_has_it(tmp_path: Path) -> None:
    program = tmp_path / "linux"
    program.write_bytes(b"\x7fELF...codel")
    scenario = Cell(COUPLED, 1, RATES[0], RTTS[0], MIXED).scenario(10**9, seed=1)
    with pytest.raises(KernelError, match=r"dualpi2: .* has no sch_dualpi2.*6\.17.*--kernel 7\.3"):
        plan_scenario(scenario, backend=Linux(Kernel(program)))
    program.write_bytes(b"\x7fELF...dualpi2")
    plan_scenario(scenario, backend=Linux(Kernel(program)))


def test_a_machine_without_dualpi2_is_sent_to_the_kernel_that_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("sojourn.backends.linux.host_kernel._has", lambda kind: kind == "htb")
    with pytest.raises(HostKernelError, match=r"has no sch_dualpi2\n.*--kernel 7\.3"):
        require_host([(dualpi2.KIND, dualpi2.MODULE)], delays=False)


def test_cells_of_dualpi2_have_dctcp_beside_cubic_and_no_others_have() -> None:
    assert not list(cells(aqms=[COUPLED], controls=["cubic", "dctcp"]))
    (cell,) = cells([COUPLED], [3], RATES[:1], RTTS[:1], [MIXED])
    flows: list[dict[str, Any]] = cell.scenario(10**9, seed=1)["flows"]
    assert [(f["count"], f["congestion_control"]) for f in flows] == [(3, "dctcp"), (3, "cubic")]
    assert {c.aqm for c in cells(controls=[MIXED])} == set()


@newer_kernel
def test_the_kernels_dualpi2_marks_dctcp_and_drops_of_cubic(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    (tmp_path / "both.toml").write_text(
        'duration = "2 s"\n'
        '[switch]\nrate = "20 Mbit/s"\n'
        '[[flows]]\ncongestion_control = "dctcp"\nrtt = "10 ms"\n'
        '[[flows]]\ncongestion_control = "cubic"\nrtt = "10 ms"\n'
        '[[aqms]]\nuse = "dualpi2_linux"\nany_ect = true\n'
    )
    done = sojourn("run", "both.toml", "--on", "linux", "--kernel", NEWER.name, "--out", "run")
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "run").rglob("packets.parquet")
    packets = pq.read_table(path)
    verdicts = packets["verdict"].cast("string")
    marked = set(packets.filter(pc.equal(verdicts, _core.verdicts()[3]))["flow"].to_pylist())
    dropped = set(packets.filter(pc.equal(verdicts, _core.verdicts()[1]))["flow"].to_pylist())
    assert (marked, dropped) == ({0}, {1})
