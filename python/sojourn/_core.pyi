"""The engine's door, written in Rust (crates/py). Times in ns, columns little-endian."""

class SojournError(Exception):
    """Something that the user can put right."""

class ConfigError(SojournError):
    """A run's configuration is not allowed."""

class ProgramError(SojournError):
    """A P4 program cannot be loaded; the message has its diagnostics, drawn for a terminal."""

class Simulation:
    """One run. It reads no clock: it is told how far to go."""

    def __init__(self, config: str) -> None: ...
    def advance(self, until: int, max_rows: int) -> None:
        """Runs until `until`, the end, or until `max_rows` packet rows wait."""

    @property
    def now(self) -> int: ...
    @property
    def finished(self) -> bool: ...
    def take_packets(self) -> dict[str, bytes]: ...
    def take_flows(self) -> dict[str, bytes]: ...
    def take_capture(self) -> list[tuple[int, int, bytes, int]]:
        """Frames: time, interface (0 entered, 1 left), bytes, length on the wire."""

    def report(self) -> str:
        """The counters so far, as JSON."""

def check_config(config: str) -> None:
    """Checks a configuration, and that its program can be loaded."""

def native_disciplines() -> list[tuple[str, str, list[tuple[str, str, int | None, str]]]]:
    """Name, one line and parameters of each; of a parameter: name, unit, default, one line."""

def check(
    path: str,
    language_only: bool,
    include_paths: list[str],
    defines: dict[str, str],
    colour: bool,
) -> tuple[bool, str, str]:
    """Whether there was no error; the diagnostics drawn for a terminal; the same as JSON."""

def declarations(path: str, include_paths: list[str], defines: dict[str, str]) -> str:
    """Constants and tables of a program, as JSON."""

def stages(path: str, include_paths: list[str], defines: dict[str, str]) -> tuple[str, str]:
    """The stages of a program that loads: as JSON, and drawn for a terminal."""

def explain(code: str) -> tuple[str, str, str, str] | None:
    """Code, title, reason and cure of a rule of the target."""

def run_salu(setup: str, case: str) -> tuple[int, int]:
    """The new memory word and the output of one instruction."""
