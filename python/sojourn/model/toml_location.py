"""The line of a TOML file on which a key is written, for messages that point there.

Uses nothing but the text: the standard library's TOML reader keeps no places. It follows table
headers and keys at the start of a line, and returns nothing for anything else.
"""

import re
from functools import lru_cache

_HEADER = re.compile(r"\s*+(?P<open>\[\[?)(?P<name>[\w.\-\"' \t]++)\]\]?\s*+(#.*)?$")
_KEY = re.compile(r"\s*+[\"']?(?P<key>[\w\-]++)[\"']?(?P<sub>(\s*\.\s*[\w\-]++)*+)\s*+=")


def line_of(text: str, keys: tuple[int | str, ...]) -> int | None:
    """The line (from 1) where `keys` is written, or the nearest enclosing one that is found."""
    places = _places(text)
    while keys:
        if keys in places:
            return places[keys]
        keys = keys[:-1]
    return None


@lru_cache(maxsize=1)
def _places(text: str) -> dict[tuple[int | str, ...], int]:
    places: dict[tuple[int | str, ...], int] = {}
    counts: dict[tuple[int | str, ...], int] = {}
    table: tuple[int | str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = ()
            for part in header["name"].split("."):
                table = (*table, part.strip(" \"'"))
                array = table
                if array in counts:
                    table = (*array, counts[array])
            if header["open"] == "[[":
                index = counts[array] = counts.get(array, -1) + 1
                table = (*array, index)
            places.setdefault(table, number)
        elif key := _KEY.match(line):
            parts = (key["key"], *(part.strip() for part in key["sub"].split(".")[1:]))
            places.setdefault((*table, *parts), number)
    return places
