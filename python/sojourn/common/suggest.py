"""The nearest name for a mistyped one, by `difflib`. Must not depend on what the names mean."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 500
"""Names among which one is looked for; of more, each mistake would take its time."""
_LONGEST = 200
"""Characters of a word that has a near name; comparing takes time that grows with their product."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that `word` was probably meant to be, if there is one."""
    names = list(known)
    if len(names) > _MOST or len(word) > _LONGEST:
        return None
    by_folded = {name.casefold(): name for name in names}
    close = get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The suggestion as the tail of a message: `; did you mean "cubic"?`, or nothing."""
    name = nearest(word, known)
    return f'; did you mean "{name}"?' if name else ""
