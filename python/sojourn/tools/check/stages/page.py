"""The stages as one HTML page that needs no network: the picture with tooltips, and the same as
tables.

Depends on the picture and the estimate's data. Must not depend on traffic.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.results.pages import render
from sojourn.tools.check.stages.picture import draw_stages


def stages_page(program: str | Path, data: dict[str, Any]) -> str:
    """The page of an estimate: `data` as `estimate` gives it."""
    name = Path(program).name
    return render(
        "tools/check/stages/page.html",
        title=f"{name}: stages",
        picture=draw_stages(program, data),
        notes=data["notes"],
        tables=[
            *(_critical_path(each) for each in data["passes"] if each["critical_path"]),
            *([_state(data["state"])] if data["state"] else []),
            _totals(data),
        ],
        details=json.dumps(_details(data)).replace("</", "<\\/"),
    )


@dataclass(frozen=True)
class _Table:
    """A table of the page."""

    title: str
    heads: tuple[str, ...]
    rows: list[list[str]]
    kind: str = ""
    """Its class in the page."""


def _place(at: dict[str, Any] | None) -> str:
    return f"{Path(at['file']).name}:{at['line']}" if at else ""


def _critical_path(each: dict[str, Any]) -> _Table:
    rows = []
    for step in each["critical_path"]:
        reason = step["reason"]["text"] if step["reason"] else ""
        rows.append([str(step["stage"]), step["kind"], step["name"], _place(step["at"]), reason])
    stages = each["critical_stages"]
    title = f"Critical path of {each['name']}: {stages} {'stage' if stages == 1 else 'stages'}"
    return _Table(title, ("stage", "kind", "step", "line", "why not earlier"), rows)


def _state(state: list[dict[str, Any]]) -> _Table:
    rows = []
    for register in state:
        accesses = ", ".join(
            f"{access['action']} ({_touch(access)} {_place(access['at'])})"
            for access in register["accesses"]
        )
        size = f"{register['size']} x " if register["size"] else ""
        where = f"{register['pass']}\u00a0{register['stage']}"
        rows.append([register["name"], size + register["entry"], where, accesses])
    return _Table("State variables", ("register", "entries", "stage", "accesses"), rows)


def _touch(access: dict[str, Any]) -> str:
    return "".join(sign for sign, has in (("r", access["reads"]), ("w", access["writes"])) if has)


def _totals(data: dict[str, Any]) -> _Table:
    rows = [
        [
            total["name"],
            str(total["used"]),
            str(total["limit"]),
            f"{total['most']} of {total['limit_per_stage']}",
            "estimate" if total["estimate"] else "",
        ]
        for total in data["totals"]
    ]
    rows += [
        [
            f"{each['width']}-bit containers",
            str(each["used"]),
            str(each["limit"]),
            "",
            "estimate",
        ]
        for each in data["containers"]
    ]
    return _Table("Totals", ("resource", "used", "of", "fullest stage", ""), rows, "numbers")


def _details(data: dict[str, Any]) -> dict[str, Any]:
    """The tooltip of each step."""
    names = {total["resource"]: total["name"] for total in data["totals"]}
    steps: dict[str, Any] = {}
    for stage in data["stages"]:
        for each in stage["placed"]:
            steps.setdefault(
                each["id"],
                {
                    "head": f"{each['kind']} {each['name']}",
                    "where": f"{each['pass']} stage {stage['stage']}, {_place(each['at'])}",
                    "detail": each["detail"],
                    "waits": [
                        f"{wait['text']}, {wait['stages']} after {_named(data, wait['on'])}"
                        for wait in each["waits"]
                        if wait["stages"]
                    ],
                    "needs": [f"{used} {names[name]}" for name, used in each["needs"].items()],
                },
            )
    registers = {
        register["name"]: [
            *(access["step"] for access in register["accesses"]),
            *(each["step"] for each in register["inputs"] + register["outputs"] if each["step"]),
        ]
        for register in data["state"]
    }
    return {"steps": steps, "registers": registers}


def _named(data: dict[str, Any], identity: str) -> str:
    placed = (each for stage in data["stages"] for each in stage["placed"])
    return next((each["name"] for each in placed if each["id"] == identity), identity)
