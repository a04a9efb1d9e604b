"""The process in which inputs of one kind are tried, until its time is over or one fails.

Writes each input into its scratch folder before it is tried, so that whoever watches has it
whatever becomes of this process. Memory is limited: an allocation that an input has sized fails.
"""

import hashlib
import re
import resource
import sys
import time
from pathlib import Path

from inputs import KINDS
from mutate import Random, mutated

from sojourn.errors import SojournError

_MEMORY = 6 << 30
"""Bytes of address space."""
_MOST_STORED = 2_000
"""Inputs of a kind in the corpus."""


def main(
    kind: str, seed: str, first: str, seconds: str, corpus: str, scratch: str, *noise: str
) -> None:
    """Tries inputs number `first` and up."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    place, stored = Path(scratch), Path(corpus) / kind
    stored.mkdir(parents=True, exist_ok=True)
    tried = KINDS[kind]
    seeds = [*tried.seeds(), *(path.read_bytes() for path in sorted(stored.iterdir()))]
    end, number, known = time.monotonic() + float(seconds), int(first), set[str]()
    with tried.opened(place, *map(Path, noise)) as run:
        while time.monotonic() < end:
            random = Random(f"{kind} {seed} {number}")
            data = random.choice(seeds)
            if number >= len(tried.seeds()):
                data = mutated(data, seeds, tried.words, random)
            (place / "case").write_bytes(data)
            outcome = _outcome(run, data)
            number += 1
            (place / "tried").write_text(str(number))
            if outcome not in known and len(known) < _MOST_STORED:
                known.add(outcome)
                (stored / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    (place / "case").unlink(missing_ok=True)


def _outcome(run, data: bytes) -> str:  # type: ignore[no-untyped-def]
    """What an input led to, without its own words. Anything but an error for the user ends it
    all."""
    try:
        outcome = str(run(data))
    except SojournError as error:
        outcome = f"{type(error).__name__} {error}"
    return re.sub(r"[\d\W]+|\b\w{1,2}\b", " ", outcome)[:200]


if __name__ == "__main__":
    main(*sys.argv[1:])
