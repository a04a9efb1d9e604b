"""The stages as one HTML page that needs no network: the picture with what the mouse shows, and
the same as tables.

Stands on the picture and the estimate's data. Knows nothing of traffic.
"""

import json
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from sojourn.stages.picture import draw_stages


def stages_page(program: str | Path, data: dict[str, Any]) -> str:
    """The page of an estimate: `data` as `estimate` gives it."""
    name = Path(program).name
    template = Template((files("sojourn.stages") / "page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(f"{name}: stages"),
        picture=draw_stages(program, data),
        paths="".join(_critical_path(each) for each in data["passes"] if each["critical_path"]),
        state=_state(data["state"]),
        totals=_totals(data),
        notes="".join(f"<p>note: {escape(note)}</p>" for note in data["notes"]),
        details=json.dumps(_details(data)).replace("</", "<\\/"),
    )


def _place(at: dict[str, Any] | None) -> str:
    return f"{Path(at['file']).name}:{at['line']}" if at else ""


def _rows(rows: list[list[str]]) -> str:
    return "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )


def _critical_path(each: dict[str, Any]) -> str:
    rows = []
    for step in each["critical_path"]:
        reason = step["reason"]["text"] if step["reason"] else ""
        rows.append([str(step["stage"]), step["kind"], step["name"], _place(step["at"]), reason])
    stages = each["critical_stages"]
    return (
        f"<h2>Critical path of {each['name']}: {stages} {'stage' if stages == 1 else 'stages'}</h2>"
        "<table><tr><th>stage</th><th>kind</th><th>step</th><th>line</th>"
        f"<th>why not earlier</th></tr>{_rows(rows)}</table>"
    )


def _state(state: list[dict[str, Any]]) -> str:
    if not state:
        return ""
    rows = []
    for register in state:
        accesses = ", ".join(
            f"{access['action']} ({_touch(access)} {_place(access['at'])})"
            for access in register["accesses"]
        )
        size = f"{register['size']} x " if register["size"] else ""
        where = f"{register['pass']}\u00a0{register['stage']}"
        rows.append([register["name"], size + register["entry"], where, accesses])
    return (
        "<h2>State variables</h2><table><tr><th>register</th><th>entries</th><th>stage</th>"
        f"<th>accesses</th></tr>{_rows(rows)}</table>"
    )


def _touch(access: dict[str, Any]) -> str:
    return "".join(sign for sign, has in (("r", access["reads"]), ("w", access["writes"])) if has)


def _totals(data: dict[str, Any]) -> str:
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
    return (
        "<h2>Totals</h2><table class='numbers'><tr><th>resource</th><th>used</th><th>of</th>"
        f"<th>fullest stage</th><th></th></tr>{_rows(rows)}</table>"
    )


def _details(data: dict[str, Any]) -> dict[str, Any]:
    """What the mouse shows of each step."""
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
