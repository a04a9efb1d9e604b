"""A computed ratio next to the paper's, with its verdict.

Depends on intervals and verdicts.
"""

from collections.abc import Sequence

from sojourn.results.intervals import interval
from sojourn.studies.papers.model import Check
from sojourn.studies.papers.verdict import Found, judge, shown

_ALIKE = "both counted at departure"


def judged(says: str, paper: float, values: Sequence[float], alike: Sequence[float] = ()) -> Found:
    """Whether ratios, one for each seed, are near the paper's; `alike` has those with both
    disciplines counted at departure."""
    check = Check(
        says=says, setup="", metric="", of={}, unit="times", paper=f"{paper:g} times", near=paper
    )
    found = interval(list(values))
    status, difference, off = judge(check, found)
    other = interval(list(alike))
    beside = () if other is None else ((_ALIKE, shown(check, other), judge(check, other)[0]),)
    return Found(says, check.paper, shown(check, found), status, difference, off, beside)
