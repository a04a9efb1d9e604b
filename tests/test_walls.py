"""Import rules of the Python package: permitted dependencies, and no cycles.

Imports are read from the source, those inside functions included; imports for the type checker
alone do not count. The Rust floors have the same test in crates/engine/tests/walls.rs.
"""

import ast
import re
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "sojourn"

STANDARD_LIBRARY_ONLY = ("backends/linux/guest",)
"""What runs where nothing else is installed."""

FACES = ("cli", "__main__", "__init__")
"""What users meet; nothing below knows it."""

LAYERS = (
    ("_core",),
    ("errors",),
    ("common",),
    ("model",),
    ("control",),
    ("runtime",),
    ("results",),
    ("backends",),
    ("runner",),
    ("studies", "tools"),
    ("api",),
    ("__init__", "cli"),
    ("__main__",),
)
"""The parts of the package from the lowest to the highest. Imports point down."""


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name, the extension module among them."""
    found = {"sojourn._core": PACKAGE / "_core.pyi"}
    for path in PACKAGE.rglob("*.py"):
        parts = ["sojourn", *path.relative_to(PACKAGE).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


def imports(path: Path) -> list[tuple[int, str]]:
    """Line and dotted name of everything that a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def graph() -> dict[str, set[str]]:
    """Module -> modules of the package that it imports."""
    known = modules()

    def module_of(name: str) -> str | None:
        """The module that an imported name is, or is in."""
        return name if name in known else parent if (parent := _parent(name)) in known else None

    return {
        module: {
            target
            for _, name in imports(path)
            if (target := module_of(name)) is not None and target != module
        }
        for module, path in known.items()
        if path.suffix == ".py"
    }


def _parent(name: str) -> str:
    return name.rpartition(".")[0]


def _part(module: str) -> str:
    """The file or folder directly in the package that a module belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def test_nothing_is_imported_in_a_circle() -> None:
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise AssertionError(f"imported in a circle: {circle}") from None


def test_nothing_below_knows_a_face() -> None:
    for module, targets in graph().items():
        if _part(module) not in FACES:
            above = [target for target in targets if _part(target) in FACES]
            assert not above, f"{module} imports {above}"


def test_imports_point_down() -> None:
    height = {part: level for level, parts in enumerate(LAYERS) for part in parts}
    upward = {
        (module, target)
        for module, targets in graph().items()
        for target in targets
        if height[_part(module)] < height[_part(target)]
    }
    assert not upward


def test_packet_tests_and_emitted_files_do_not_depend_on_figures() -> None:
    for module, targets in graph().items():
        if module.startswith(("sojourn.tools.stf", "sojourn.tools.emit")):
            above = {target for target in targets if _part(target) == "results"}
            assert above <= {"sojourn.results.faults"}, f"{module} imports {above}"


def test_the_guest_stands_on_the_standard_library_alone() -> None:
    import sys

    for folder in STANDARD_LIBRARY_ONLY:
        files = sorted((PACKAGE / folder).rglob("*.py"))
        assert files
        own = {path.stem for path in files}
        for path in files:
            for line, name in imports(path):
                top = name.split(".")[0]
                inside = name.startswith("sojourn.backends.linux.guest") or top in own
                assert inside or top in sys.stdlib_module_names, f"{path}:{line}: {name}"


def test_the_help_has_every_command_with_its_own_line() -> None:
    from importlib import import_module

    import typer
    from typer.core import TyperGroup

    from sojourn.cli.shared import COMMANDS, app

    for path in sorted((PACKAGE / "cli").glob("*.py")):
        if path.stem != "__init__":
            import_module(f"sojourn.cli.{path.stem}")
    known = typer.main.get_command(app)
    assert isinstance(known, TyperGroup)
    lines = {
        name: str(command.help).strip().split("\n\n")[0] for name, command in known.commands.items()
    }
    assert {name: " ".join(line.split()) for name, line in lines.items()} == COMMANDS


def compiled_again(changed: str) -> set[str]:
    """The crates that Cargo compiles when one has changed."""
    below = {}
    for path in ROOT.glob("crates/*/Cargo.toml"):
        named = tomllib.loads(path.read_text(encoding="utf-8")).get("dependencies", {})
        below[path.parent.name] = {name.removeprefix("sojourn-") for name in named}
    found, more = set[str](), {changed}
    while more:
        found |= more
        more = {crate for crate, stands_on in below.items() if stands_on & found} - found
    return found


def test_a_change_recompiles_the_crates_that_the_map_lists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for what in ("TCP, links, traffic", "the language"):
        row = re.search(rf"^\| {what} \(`(\w+)`\) \| ([^;|]+);", text, re.MULTILINE)
        assert row is not None, what
        assert set(re.findall(r"`(\w+)`", row[2])) == compiled_again(row[1]), what


def test_the_map_lists_every_crate_and_no_other() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("| place |")[1].split("\n\n")[0]
    listed = set(re.findall(r"`(crates/\w+)`", table))
    assert listed == {f"crates/{path.parent.name}" for path in ROOT.glob("crates/*/Cargo.toml")}
    named = re.findall(r"`((?:crates|python|p4|hardware|tests|docs)/[\w./]*)`", text)
    missing = [name for name in named if not (ROOT / name).exists()]
    assert not missing, missing


def test_the_map_lists_the_python_packages_in_their_order() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("| package | holds |")[1].split("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)/`", table, re.MULTILINE)
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert listed == [part for parts in LAYERS for part in parts if part in packages]


def test_the_map_can_be_read_in_ten_minutes() -> None:
    words = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split()
    assert len(words) <= 1500
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(readme) <= 100
