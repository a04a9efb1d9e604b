"""File names: validity of names from outside, and the name of a label.

Depends on nothing. Touches no disk.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

_LONGEST = 100
"""Bytes of a name that is made from a label; file systems take 255, endings included."""


def is_plain(name: object) -> bool:
    """True if `name` is a single step down from a folder, and nothing else on any system."""
    return (
        isinstance(name, str)
        and name not in ("", ".", "..")
        and len(name.encode("utf-8", errors="replace")) <= 255
        and not re.search(r'[\x00-\x1f\x7f/\\:*?"<>|]', name)
        and name.isprintable()
    )


def names_for(labels: Sequence[str], reserved: Iterable[str] = ()) -> list[str]:
    """A file's name for each of `labels`, no two the same, whatever the labels are.

    A label that is a good name stays what it is; the later ones of those that come to the same get
    a number. None of `reserved` is used. Names that differ only in case count as the same, for some
    file systems take them so.
    """
    taken = {_folded(name) for name in reserved}
    names = []
    for label in labels:
        plain = _plain(label)
        name, number = plain, 1
        while _folded(name) in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(_folded(name))
        names.append(name)
    return names


def clashing(labels: Sequence[str], place: Callable[[str], str]) -> tuple[str, str] | None:
    """Two of `labels` that `place` puts into one place, case aside; none if there are none."""
    taken: dict[str, str] = {}
    for label in labels:
        other = taken.setdefault(_folded(place(label)), label)
        if other != label:
            return other, label
    return None


def _plain(label: str) -> str:
    name = re.sub(r"[^\w.+-]+", "-", label).strip("-.") or "run"
    if len(name.encode()) > _LONGEST:
        digest = hashlib.sha256(label.encode()).hexdigest()[:8]
        name = name.encode()[: _LONGEST - 9].decode(errors="ignore") + "-" + digest
    return name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
