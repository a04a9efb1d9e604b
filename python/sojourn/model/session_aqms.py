"""Names that a Python session gives to AQMs, for the scenarios that it runs.

A scenario is stored with the full table in place of the name, so that a run's folder does not
depend on the session. Must not depend on scenarios.
"""

from collections.abc import Mapping
from typing import Any

_REGISTERED: dict[str, dict[str, Any]] = {}


def remember(name: str, choice: Mapping[str, Any]) -> None:
    """From now on `name` is `choice`: a table with `use`, its paths absolute."""
    _REGISTERED[name] = dict(choice)


def registered() -> Mapping[str, Mapping[str, Any]]:
    """Every name, and what it stands for."""
    return _REGISTERED


def spelled_out(choice: Mapping[str, Any]) -> dict[str, Any]:
    """`choice` with a registered name's own options under those that are given."""
    use = choice.get("use")
    own = _REGISTERED.get(use) if isinstance(use, str) else None
    if own is None:
        return dict(choice)
    given = {key: value for key, value in choice.items() if key != "use"}
    return {"label": use, **own, **given}
