"""BfRt's names for the declarations of a program, in bfrt_python's form.

Depends on the program's description. The rules are those of the SDE's command line: the last part
of a dotted name is the parameter's, more of it where two would be alike.
"""

import keyword
import re
from collections.abc import Sequence

from sojourn.control import Action, Key, Table
from sojourn.tools.emit.job import Job

PRIORITY = "match_priority"
"""The key element that BfRt adds to a table whose entries can overlap; the lowest number wins."""

_REPLACED = (("$", ""), ("-", "_"), (":", "_"), ("[", "_"), ("]", "_"), ("__", "_"))


def program_node(name: str) -> str:
    """The name under which bfrt_python has a program."""
    if name.isidentifier() and not keyword.iskeyword(name):
        return name
    replaced = re.sub(r"[^\w]", "_", name, flags=re.ASCII)
    return replaced if replaced[:3].upper() == "P4_" else f"p4_{replaced}"


def pipe_node(job: Job) -> str:
    """The place of a program's tables and registers: below its pipeline, called as in the text."""
    return f"bfrt.{program_node(job.name)}.{job.description.pipelines[0]}"


def parameters(table: Table, action: Action) -> tuple[dict[str, str], dict[str, str]]:
    """The parameter names of `add_with_ACTION`: by key element, and by parameter of the action."""
    keys = [key.name for key in table.keys]
    data = [parameter.name for parameter in action.parameters]
    taken = [PRIORITY] if table.ordered else []
    depth = 1
    while depth < 20:
        short = [*(_last(key, depth) for key in keys), *(_last(name, depth) for name in data)]
        if len({*short, *taken}) == len(short) + len(taken):
            break
        depth += 1
    return (
        {key: _no_keyword(_last(key, depth), "key_") for key in keys},
        {name: _no_keyword(_last(name, depth), "data_") for name in data},
    )


def key_parameters(key: Key, name: str) -> Sequence[str]:
    """The parameters that one key element takes."""
    match key.match_kind:
        case "exact":
            return (name,)
        case "ternary":
            return (name, f"{name}_mask")
        case "lpm":
            return (name, f"{name}_p_length")
        case "range":
            return (f"{name}_start", f"{name}_end")
        case kind:
            raise AssertionError(f"{kind} keys have entries of their own kind")


def _last(name: str, depth: int) -> str:
    name = name.replace(".isValid()", ".$valid")
    for sign, replacement in _REPLACED:
        name = name.replace(sign, replacement)
    return "_".join(name.split(".")[-depth:])


def _no_keyword(name: str, prefix: str) -> str:
    return f"{prefix}{name}" if keyword.iskeyword(name) else name
