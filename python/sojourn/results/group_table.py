"""Arrow tables of groups of flows: one row for each AQM, queue and group, with all figures.

Depends on the figures of groups; times are in ns, rates in bit/s, shares of 1.
"""

from typing import get_type_hints

import pyarrow as pa

from sojourn.results.groups import NAMES, GroupFigures
from sojourn.results.result import Result

_TYPES = {int: pa.int64(), float: pa.float64(), str: pa.string()}


def group_fields() -> list[pa.Field]:
    """The columns of the figures, the group's name first."""
    hints = get_type_hints(GroupFigures)
    found = []
    for name in NAMES:
        kinds = getattr(hints[name], "__args__", (hints[name],))
        kind = next(one for one in kinds if one is not type(None))
        found.append(pa.field(name, _TYPES[kind], len(kinds) > 1))
    return found


def group_table(result: Result) -> pa.Table:
    """The groups of all runs of a result."""
    schema = pa.schema(
        [
            pa.field("aqm", pa.string(), False),
            pa.field("bottleneck", pa.string(), False),
            *group_fields(),
        ]
    )
    rows = [
        {"aqm": label, "bottleneck": queue} | row.as_dict()
        for label, aqm in result.aqms.items()
        for queue, found in aqm.grouped.items()
        for row in found.rows
    ]
    return pa.Table.from_pylist(rows, schema)
