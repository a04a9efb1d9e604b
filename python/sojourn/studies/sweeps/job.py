"""One run of a sweep as a message to a worker, and the worker's answer.

A job is text: the scenario with one AQM and one seed, the files that it reads, and which engine it
was planned for. Its digest names its folder: equal digests have equal results, so a run that is
there need not be run again. Depends on plans; runs nothing.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sojourn import _core

SHIPPED = "shipped:"
"""Begins the path of what every machine has with its Sojourn."""


@dataclass(frozen=True)
class Job:
    """One scenario, one AQM, one seed."""

    digest: str
    scenario: Mapping[str, Any]
    """As `scenario_from_dict` takes it, with the one AQM."""
    name: str
    label: str
    engine: str
    files: Mapping[str, str] = field(default_factory=dict)
    """Input files that Sojourn does not ship: text by relative path. The scenario names them by the
    same paths, and shipped ones by `SHIPPED` and their path below `data_root()`."""
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run."""

    result: Mapping[str, Any]
    """Figures as plain data; see `run_job`."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Stored files of its folder, by path below it."""


@dataclass(frozen=True)
class Failure:
    """A run that came to nothing, and why."""

    message: str


def digest_of(
    scenario: Mapping[str, Any], read: Mapping[str, str], engine: str, keep: tuple[str, ...]
) -> str:
    """The name of a run's folder: 32 hexadecimal digits.

    `read` has the SHA-256 of every file that the run reads, by the name that `scenario` has for it.
    Where the files are on this machine is not part of it; the same files elsewhere are the same
    run.
    """
    document = {"scenario": scenario, "read": read, "engine": engine, "keep": sorted(keep)}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@cache
def engine_identity() -> str:
    """The version and the digest of the engine's own code: what has to be equal on all machines for
    their results to be."""
    library = Path(_core.__file__)
    digest = hashlib.sha256()
    digest.update(library.read_bytes())
    for path in sorted(library.parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return f"{version('sojourn')} ({digest.hexdigest()[:12]})"
