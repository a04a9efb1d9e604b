"""Findings from the compiler: programs that do not fit, stages, atomic blocks, a program's own
lines.

Depends on the checker, the stage estimate and the analysis of state.
"""

import re
from pathlib import Path

from sojourn.common.resources import programs_folder
from sojourn.errors import UnknownAqmError
from sojourn.model.aqms import find_aqm
from sojourn.studies.papers.computed.finding import Computed
from sojourn.studies.papers.verdict import Found, Status
from sojourn.tools.check.checker import check
from sojourn.tools.check.dependencies.analysis import dependencies
from sojourn.tools.check.stages import estimate


def _program(name: str) -> Path:
    return programs_folder() / name


def _codes(name: str, defines: dict[str, str] | None = None) -> tuple[list[str], str]:
    """The codes of the errors of a program, and what the checker prints."""
    result = check(_program(name), defines=defines)
    errors = [d["code"] for d in result.diagnostics if d["severity"] == "error"]
    return errors, result.rendered


def rfc_refused() -> Computed:
    """A9: Figures 4, 5, 9 and 10."""
    program = "plain/codel_init_update.p4"
    order, order_text = _codes(program)
    twice, twice_text = _codes(program, {"TWICE": "1"})
    plain, _ = _codes("plain/codel_rfc8289.p4")
    found = (
        Found(
            "codel_init and codel_update cannot share registers: each is bound to one stage",
            "refused (section IV.A, reason 1; Fig. 4, 9)",
            _refusal(order, "T1102"),
            _as_said(order, "T1102"),
        ),
        Found(
            "codel_init alone: a packet accesses a register only once",
            "refused (section IV.A, reason 2; Fig. 5, 10)",
            _refusal(twice, "T0701"),
            _as_said(twice, "T0701"),
        ),
        Found(
            "RFC 8289's listing line by line is no program for the chip either",
            "refused",
            _refusal(plain, "T0703"),
            Status.HOLDS if plain else Status.FAILS,
        ),
    )
    shown = [_first_diagnostics(text) for text in (order_text, twice_text)]
    return Computed(found, text="\n".join(shown))


def _refusal(codes: list[str], wanted: str) -> str:
    if not codes:
        return "accepted"
    others = sorted(set(codes) - {wanted})
    also = f", and {', '.join(others)}" if others else " and nothing else"
    return f"refused: {codes.count(wanted)} times {wanted}{also}"


def _as_said(codes: list[str], wanted: str) -> Status:
    """For this reason and for no other."""
    return Status.HOLDS if codes and set(codes) == {wanted} else Status.FAILS


def _first_diagnostics(text: str) -> str:
    """The first error of a check, as it is printed; the program by its name only."""
    first = re.split(r"\n(?=error)", text.strip())[0]
    return first.replace(f"{programs_folder()}/", "p4/") + "\n"


def _stages(name: str, paper: int, says: str, source: str) -> Found:
    data = estimate(_program(name)).data
    egress = next(one["stages"] for one in data["passes"] if one["name"] == "egress")
    used, room = data["stages_used"], data["stages_available"]
    status = Status.HOLDS if egress == paper else Status.DIFFERS
    off = (egress - paper) / paper
    return Found(
        says,
        f"{paper} stages ({source})",
        f"{egress} stages of egress; {used} of {room} with ingress (estimate)",
        status if data["fits"] else Status.FAILS,
        "" if egress == paper else f"{egress - paper:+d} stages",
        off,
    )


def p4_codel_stages() -> Computed:
    """B4: Figure 4."""
    found = (
        _stages(
            "tna/p4_codel.p4",
            4,
            "CoDel without if_3: f1, SALU 1, SALU 2, final decision",
            "Figure 4",
        ),
    )
    note = (
        "The paper's first function, f1, is three steps of the chip: a difference, a saturating\n"
        "subtraction, a comparison in a gateway. The published program compiled with the\n"
        "open-source back end takes 6 stages of egress, too.\n\n"
    )
    return Computed(found, text=note + estimate(_program("tna/p4_codel.p4")).text)


def codel_act_stages() -> Computed:
    """The paper's implementation details: 11 stages."""
    found = _stages(
        "tna/codel_act.p4", 11, "CoDel-ACT is placed in the chip's 12 stages", "section V"
    )
    return Computed((found,), text=estimate(_program("tna/codel_act.p4")).text)


def fq_codel_fits() -> Computed:
    """B6: fq_codel on PISA."""
    says = "fq_codel on PISA: flows hashed to queues in ingress, a CoDel state for each in egress"
    try:
        find_aqm("tna/fq_codel")
    except UnknownAqmError:
        why = "p4/tna/fq_codel.p4 is not in this version"
        return Computed((Found(says, "possible", "-", Status.UNSEEN, why),))
    data = estimate(_program("tna/fq_codel.p4")).data
    used, room = data["stages_used"], data["stages_available"]
    found = Found(
        says,
        "possible",
        f"a program of {used} of {room} stages (estimate)",
        Status.HOLDS if data["fits"] else Status.FAILS,
    )
    return Computed((found,), text=estimate(_program("tna/fq_codel.p4")).text)


def atomic_block() -> Computed:
    """B8: Figure 2."""
    analysis = dependencies(_program("plain/codel_rfc8289.p4"))
    (control,) = analysis.data["controls"]
    blocks = [set(one["variables"]) for one in control["blocks"]]
    three = {"drop_next", "count", "lastcount"}
    found = (
        Found(
            "count, last_count and drp_next are one atomic block",
            "one block of three (Fig. 2 and its text)",
            "; ".join(", ".join(one["variables"]) for one in control["blocks"]),
            Status.HOLDS if three in blocks else Status.FAILS,
        ),
        Found(
            "dropping is independent of the other three",
            "a block by itself",
            "a block by itself" if {"dropping"} in blocks else "part of a larger one",
            Status.HOLDS if {"dropping"} in blocks else Status.FAILS,
        ),
    )
    return Computed(found, text=analysis.text)


def one_line() -> Computed:
    """C3: what the program with CoDel has that the plain router has not."""
    with_codel = _program("v1model/codel.p4").read_text("utf-8")
    plain = _program("v1model/router.p4").read_text("utf-8")
    includes = [line for line in with_codel.splitlines() if re.match(r'#include "aqm/codel', line)]
    calls = re.findall(r"^\s*Codel\.apply\(.*\);$", with_codel, re.MULTILINE)
    same = "Codel" not in plain and len(includes) == len(calls) == 1
    loads = check(_program("v1model/codel.p4")).ok
    found = Found(
        "CoDel drops into any program",
        "one include and one line in egress",
        f"{includes[0] if includes else 'none'} and {calls[0].strip() if calls else 'none'}",
        Status.HOLDS if same and loads else Status.FAILS,
    )
    return Computed((found,))
