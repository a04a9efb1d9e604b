"""Small v1model programs: a construct in a place, of operands of a kind, in a width.

As `tofino_programs`, for p4c's bmv2 back end. `tests/verdicts/v1model.csv` has what it says of
each; it is written by

    python tests/v1model_programs.py --judge FOLDER [--jobs 2]

where FOLDER holds `p4c-bmv2` (see `test_judge_bmv2.py`).
"""

import random
from pathlib import Path

from tofino_programs import TRUTHS, VALUES, Case, command

SEED = 39
PROGRAMS = 120
VERDICTS = Path(__file__).parent / "verdicts" / "v1model.csv"

NUMBERS = {
    **VALUES,
    "divide_by_power": "{a} / {power}",
    "divide_zero": "{w}w0 / {a}",
    "remainder_of_zero": "{w}w0 % {a}",
    "shift_one": "(1 << {b}) - 1",
    "member": "E.one + {a}",
}
CONSTRUCTS = [*NUMBERS, *TRUTHS]
PLACES = ("action", "table_action", "apply", "condition", "key", "parser", "select")
KINDS = {
    **dict.fromkeys(PLACES, ("header", "metadata", "local", "constant")),
    "table_action": ("header", "parameter", "constant"),
}
WIDTHS = (8, 13, 16, 48)
"""A header of fields of 13 bits is no whole number of bytes."""


def cases(seed: int = SEED, count: int = PROGRAMS) -> list[Case]:
    """One of each construct in each place, then others, chosen by `seed`."""
    every = [
        Case(construct, place, kind, width)
        for construct in CONSTRUCTS
        for place in PLACES
        for kind in KINDS[place]
        for width in WIDTHS
    ]
    order = random.Random(seed).sample(every, len(every))
    cells = {(case.construct, case.place): case for case in reversed(order)}
    taken = set(cells.values())
    rest = [case for case in order if case not in taken]
    return [*cells.values(), *rest[: max(0, count - len(cells))]]


def text(case: Case) -> str:
    """The whole program."""
    width = case.width
    first, second = {
        "header": ("hdr.d.a", "hdr.d.b"),
        "metadata": ("m.a", "m.b"),
        "local": ("la", "lb"),
        "parameter": ("hdr.d.a", "p"),
        "constant": ("hdr.d.a", f"{width}w5"),
    }[case.kind]
    half = width // 2
    filled = {
        "a": first,
        "b": second,
        "b8": second if width == 8 else f"(bit<8>){second}",
        "k": f"{width}w7",
        "w": width,
        "power": f"{width}w8",
        "top": width - 1,
        "low": half - 1,
        "high": width - half - 1,
    }
    value = (NUMBERS | TRUTHS)[case.construct].format(**filled)
    is_truth = case.construct in TRUTHS
    number = f"(bit<{width}>)(bit<1>)({value})" if is_truth else value
    truth = value if is_truth else f"({value}) == {width}w3"
    parts = dict.fromkeys(("parser_locals", "parser", "declarations", "apply"), "")
    parts["transition"] = "transition accept;"
    local = f"bit<{width}> la; bit<{width}> lb;"
    parsed = case.place in ("parser", "select")
    if case.kind == "local":
        parts["parser_locals" if parsed else "declarations"] = local
        parts["parser" if parsed else "apply"] = "la = hdr.d.a; lb = hdr.d.b; "
    match case.place:
        case "action":
            parts["declarations"] += f" action work() {{ hdr.d.c = {number}; }}"
            parts["apply"] += "work();"
        case "table_action":
            parameter = f"bit<{width}> p" if case.kind == "parameter" else ""
            parts["declarations"] += (
                f" action work({parameter}) {{ hdr.d.c = {number}; }}"
                " table t { key = { hdr.d.kind : exact; } actions = { work; NoAction; } }"
            )
            parts["apply"] += "t.apply();"
        case "apply":
            parts["apply"] += f"hdr.d.c = {number};"
        case "condition":
            parts["apply"] += f"if ({truth}) {{ hdr.d.kind = 9; }}"
        case "key":
            parts["declarations"] += (
                f' table t {{ key = {{ {value} : exact @name("what"); }}'
                " actions = { NoAction; } }"
            )
            parts["apply"] += "t.apply();"
        case "parser":
            parts["parser"] += f"m.c = {number};"
            parts["apply"] += "hdr.d.c = m.c;"
        case "select":
            ways = "true: more; false: accept;" if is_truth else "3: more; default: accept;"
            parts["transition"] = f"transition select({value}) {{ {ways} }}"
    return _PROGRAM.format(width=width, **parts)


_PROGRAM = """\
#include <core.p4>
#include <v1model.p4>

enum bit<{width}> E {{ one = 1 }}
header d_t {{
    bit<{width}> a;
    bit<{width}> b;
    bit<{width}> c;
    bit<8> kind;
}}
header more_t {{ bit<32> word; }}
struct headers_t {{ d_t d; more_t more; }}
struct metadata_t {{ bit<{width}> a; bit<{width}> b; bit<{width}> c; }}

parser P(packet_in packet, out headers_t hdr, inout metadata_t m, inout standard_metadata_t s) {{
    {parser_locals}
    state start {{
        packet.extract(hdr.d);
        m.a = hdr.d.a;
        m.b = hdr.d.b;
        {parser}
        {transition}
    }}
    state more {{
        packet.extract(hdr.more);
        transition accept;
    }}
}}

control V(inout headers_t hdr, inout metadata_t m) {{ apply {{ }} }}

control I(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t s) {{
    {declarations}
    apply {{
        s.egress_spec = 1;
        {apply}
    }}
}}

control E_(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t s) {{ apply {{ }} }}

control C(inout headers_t hdr, inout metadata_t m) {{ apply {{ }} }}

control D(packet_out packet, in headers_t hdr) {{
    apply {{
        packet.emit(hdr.d);
        packet.emit(hdr.more);
    }}
}}

V1Switch(P(), V(), I(), E_(), C(), D()) main;
"""

if __name__ == "__main__":
    command(cases(), text, "p4c-bmv2", VERDICTS)
