"""Generates small TNA programs, each with one language construct in one place.

A cell is a pair of a construct and a place, where it stands in the program. Every cell has a
program, and a seed chooses kinds and widths. `tests/verdicts/tofino.csv` has what the open Tofino
compiler says of each; it is written by

    python tests/tofino_programs.py --judge FOLDER [--jobs 2] [--part 1/2] [--again]

where FOLDER holds `p4c-tofino` (see `test_judge_tofino.py`). The file is written after each answer,
so that a run can be stopped and started again; `--part` divides it among processes, `--again` asks
also about programs that have a verdict, `--show ID` prints one. Must not depend on Sojourn.
"""

import argparse
import csv
import fcntl
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SEED = 39
PROGRAMS = 520
VERDICTS = Path(__file__).parent / "verdicts" / "tofino.csv"

WIDTHS = (8, 16, 32, 48)

VALUES = {
    "add": "{a} + {b}",
    "subtract": "{a} - {b}",
    "saturating_add": "{a} |+| {b}",
    "saturating_subtract": "{a} |-| {b}",
    "multiply": "{a} * {b}",
    "divide": "{a} / {b}",
    "remainder": "{a} % {b}",
    "shift": "{a} << 3",
    "shift_by": "{a} >> {b8}",
    "and": "{a} & {b}",
    "or": "{a} | {b}",
    "complement": "~{a}",
    "choose": "({a} == {k}) ? {a} : {b}",
    "slice": "(bit<{w}>){a}[{top}:1]",
    "concatenate": "{a}[{low}:0] ++ {b}[{high}:0]",
}
"""Constructs that give a number of the operands' width."""

TRUTHS = {
    "equal": "{a} == {b}",
    "not_equal": "{a} != {b}",
    "less": "{a} < {b}",
    "equal_constant": "{a} == {k}",
    "less_constant": "{a} < {k}",
    "both_equal": "{a} == {k} && {b} == {k}",
    "either_equal": "{a} == {k} || {b} == {k}",
}
"""Constructs that give a truth value."""

CALLS = {
    "hash": "hash.get({{ {a}, {b} }})",
    "register": "count.execute(0)",
}
"""Constructs that call an extern object; what they give has the operands' width."""

CONSTRUCTS = [*VALUES, *TRUTHS, *CALLS]

CONTROL_PLACES = ("action", "table_action", "apply", "condition", "key", "index", "hash_input")
PARSER_PLACES = ("parser", "select")
DEPARSER_PLACES = ("mirror", "session", "resubmit", "digest", "checksum")
PLACES = (*CONTROL_PLACES, *PARSER_PLACES, *DEPARSER_PLACES)

KINDS = {
    **dict.fromkeys(
        CONTROL_PLACES,
        ("header", "metadata", "local", "struct_local", "header_local", "argument", "constant"),
    ),
    "table_action": ("header", "metadata", "local", "parameter", "two_parameters", "constant"),
    **dict.fromkeys(PARSER_PLACES, ("header", "metadata", "local", "constant")),
    **dict.fromkeys(DEPARSER_PLACES, ("header", "metadata", "constant")),
}
"""Where operands of a kind can stand."""


@dataclass(frozen=True, order=True)
class Case:
    """One program."""

    construct: str
    place: str
    kind: str
    width: int

    @property
    def name(self) -> str:
        return f"{self.construct}/{self.place}/{self.kind}/{self.width}"

    @classmethod
    def named(cls, name: str) -> "Case":
        construct, place, kind, width = name.split("/")
        return cls(construct, place, kind, int(width))


def cases(seed: int = SEED, count: int = PROGRAMS) -> list[Case]:
    """The programs: one of each cell first, then others, chosen by `seed`."""
    every = [
        Case(construct, place, kind, width)
        for construct in CONSTRUCTS
        for place in PLACES
        for kind in KINDS[place]
        for width in WIDTHS
    ]
    chosen = random.Random(seed)
    order = chosen.sample(every, len(every))
    cells = {(case.construct, case.place): case for case in reversed(order)}
    first = list(cells.values())
    taken = set(first)
    rest = [case for case in order if case not in taken]
    return [*first, *rest[: max(0, count - len(first))]]


TextOf = Callable[[Case], str]


def operands(case: Case) -> dict[str, str | int]:
    """What a construct's template is filled with."""
    width = case.width
    first, second = {
        "header": ("hdr.d.a", "hdr.d.b"),
        "metadata": ("m.a", "m.b"),
        "local": ("la", "lb"),
        "struct_local": ("pair.a", "pair.b"),
        "header_local": ("own.a", "own.b"),
        "argument": ("x", "y"),
        "parameter": ("hdr.d.a", "p"),
        "two_parameters": ("p", "q"),
        "constant": ("hdr.d.a", f"{width}w5"),
    }[case.kind]
    eight = second if width == 8 else f"(bit<8>){second}"
    half = width // 2
    return {
        "a": first,
        "b": second,
        "b8": eight,
        "k": f"{width}w7",
        "w": width,
        "top": width - 1,
        "low": half - 1,
        "high": width - half - 1,
    }


def expression(case: Case) -> str:
    """The construct with its operands."""
    template = (VALUES | TRUTHS | CALLS)[case.construct]
    return template.format(**operands(case))


def text(case: Case) -> str:
    """The whole program."""
    parts = _Parts(case)
    return _PROGRAM.format(width=case.width, **parts.filled())


class _Parts:
    """The parts of a program that depend on its case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.is_truth = case.construct in TRUTHS
        self.declarations: list[str] = []
        self.parameters: list[str] = []
        self.before: list[str] = []
        self.apply: list[str] = []
        self.parser_locals = ""
        self.parser = ""
        self.transition = "transition accept;"
        self.deparser_declarations: list[str] = []
        self.deparser: list[str] = []
        self.function = ""

    def filled(self) -> dict[str, str]:
        value = self._value()
        getattr(self, f"_{self.case.place}")(value)
        objects = self._objects()
        deparsed = self.case.place in DEPARSER_PLACES
        parsed = self.case.place in PARSER_PLACES
        return {
            "function": self.function,
            "parser_locals": (objects if parsed else "") + self.parser_locals,
            "parser": self.parser,
            "transition": self.transition,
            "declarations": "\n    ".join([objects * (not deparsed and not parsed)])
            + "\n    ".join(self.declarations),
            "apply": "\n        ".join([*self.before, *self.apply]),
            "deparser_declarations": (objects if deparsed else "")
            + "\n    ".join(self.deparser_declarations),
            "deparser": "\n        ".join(self.deparser),
        }

    def _objects(self) -> str:
        """The extern objects that the construct calls."""
        width = self.case.width
        own = {
            "hash": f"Hash<bit<{width}>>(HashAlgorithm_t.CRC32) hash;",
            "register": f"Register<bit<{width}>, bit<8>>(256) cells;\n"
            f"    RegisterAction<bit<{width}>, bit<8>, bit<{width}>>(cells) count = {{\n"
            f"        void apply(inout bit<{width}> cell, out bit<{width}> seen) {{\n"
            "            seen = cell;\n            cell = cell + 1;\n        }\n    };",
        }
        return own.get(self.case.construct, "") + "\n    "

    def _value(self) -> str:
        """The expression, and what has to stand before it."""
        case, width = self.case, self.case.width
        value = expression(case)
        if case.kind == "argument":
            result = "bool" if self.is_truth else f"bit<{width}>"
            if case.construct in CALLS:
                # A function cannot call an object's method: its arguments come from one.
                one = f"bit<{width}> same(in bit<{width}> x) {{ return x; }}"
                self.function = one
                filled = operands(case) | {"a": "same(hdr.d.a)", "b": "same(hdr.d.b)"}
                return CALLS[case.construct].format(**filled)
            self.function = (
                f"{result} of(in bit<{width}> x, in bit<{width}> y) {{ return {value}; }}"
            )
            return "of(hdr.d.a, hdr.d.b)"
        self._before()
        return value

    def _before(self) -> None:
        width, parsed = self.case.width, self.case.place in PARSER_PLACES
        match self.case.kind:
            case "local" if parsed:
                self.parser_locals = f"bit<{width}> la; bit<{width}> lb;"
                self.parser = "la = hdr.d.a; lb = hdr.d.b; "
            case "local":
                self.declarations.append(f"bit<{width}> la; bit<{width}> lb;")
                self.before.append("la = hdr.d.a; lb = hdr.d.b;")
            case "struct_local":
                self.declarations.append("pair_t pair;")
                self.before.append("pair.a = hdr.d.a; pair.b = hdr.d.b;")
            case "header_local":
                self.declarations.append("d_t own;")
                self.before.append("own.setValid(); own.a = hdr.d.a; own.b = hdr.d.b;")
            case "parameter":
                self.parameters = [f"bit<{width}> p"]
            case "two_parameters":
                self.parameters = [f"bit<{width}> p", f"bit<{width}> q"]

    def _number(self, value: str) -> str:
        """The value as a number of the operands' width."""
        if self.is_truth:
            return f"(bit<{self.case.width}>)(bit<1>)({value})"
        return value

    def _truth(self, value: str) -> str:
        if self.is_truth:
            return value
        return f"({value}) == {self.case.width}w3"

    def _action(self, value: str) -> None:
        self.declarations.append(f"action work() {{ hdr.d.c = {self._number(value)}; }}")
        self.apply.append("work();")

    def _table_action(self, value: str) -> None:
        parameters = ", ".join(self.parameters)
        self.declarations.append(
            f"action work({parameters}) {{ hdr.d.c = {self._number(value)}; }}"
        )
        self.declarations.append(
            "table kinds { key = { hdr.d.kind : exact; } actions = { work; } size = 16; }"
        )
        self.apply.append("kinds.apply();")

    def _apply(self, value: str) -> None:
        self.apply.append(f"hdr.d.c = {self._number(value)};")

    def _condition(self, value: str) -> None:
        self.apply.append(f"if ({self._truth(value)}) {{ hdr.d.kind = 9; }}")

    def _key(self, value: str) -> None:
        self.declarations.append("action mark() { hdr.d.kind = 9; }")
        self.declarations.append(
            f'table kinds {{ key = {{ {value} : exact @name("what"); }} actions = {{ mark; }} '
            "size = 16; }"
        )
        self.apply.append("kinds.apply();")

    def _index(self, value: str) -> None:
        index = "bit<32>"
        number = self._number(value)
        number = number if self.case.width == 32 else f"(bit<32>)({number})"
        self.declarations.append(f"Register<bit<8>, {index}>(256) seen;")
        self.declarations.append(
            f"RegisterAction<bit<8>, {index}, bit<8>>(seen) see = {{\n"
            "        void apply(inout bit<8> cell, out bit<8> before) {\n"
            "            before = cell;\n            cell = 1;\n        }\n    };"
        )
        self.apply.append(f"hdr.d.kind = see.execute({number});")

    def _hash_input(self, value: str) -> None:
        self.declarations.append("Hash<bit<8>>(HashAlgorithm_t.CRC8) mix;")
        self.apply.append(f"hdr.d.kind = mix.get({{ {self._number(value)} }});")

    def _parser(self, value: str) -> None:
        self.parser += f"m.c = {self._number(value)};"
        self.apply.append("hdr.d.c = m.c;")

    def _select(self, value: str) -> None:
        cases = "true: more; false: accept;" if self.is_truth else "3: more; default: accept;"
        self.transition = f"transition select({value}) {{ {cases} }}"

    def _copied(self, kind: str, call: str, value: str) -> None:
        self.before.append(f"dprs.{kind}_type = 1;")
        self.deparser_declarations.append(f"{kind.capitalize()}() {kind};")
        call = call.format(value=value)
        self.deparser.append(f"if (dprs.{kind}_type == 1) {{ {kind}.{call}; }}")

    def _mirror(self, value: str) -> None:
        self.before.append("m.session = 5;")
        self._copied(
            "mirror", "emit<copy_t>(m.session, {{ m.kind, {value} }})", self._number(value)
        )

    def _session(self, value: str) -> None:
        self.before.append("m.session = 5;")
        session = f"(MirrorId_t)({self._number(value)})"
        self._copied("mirror", "emit<copy_t>({value}, {{ m.kind, m.a }})", session)

    def _resubmit(self, value: str) -> None:
        self._copied("resubmit", "emit<short_t>({{ {value} }})", self._number(value))

    def _digest(self, value: str) -> None:
        self.before.append("dprs.digest_type = 1;")
        self.deparser_declarations.append("Digest<short_t>() digest;")
        fields = self._number(value)
        self.deparser.append(f"if (dprs.digest_type == 1) {{ digest.pack({{ {fields} }}); }}")

    def _checksum(self, value: str) -> None:
        self.deparser_declarations.append("Checksum() sum;")
        fields = self._number(value)
        self.deparser.append(f"hdr.d.sum = sum.update({{ {fields}, hdr.d.kind, hdr.d.pad }});")


_PROGRAM = """\
#include <core.p4>
#include <tna.p4>

header d_t {{
    bit<{width}> a;
    bit<{width}> b;
    bit<{width}> c;
    bit<16> sum;
    bit<8> kind;
    bit<8> pad;
}}
header more_t {{ bit<32> word; }}
header copy_t {{ bit<8> kind; bit<{width}> value; }}
header short_t {{ bit<{width}> value; }}
struct pair_t {{ bit<{width}> a; bit<{width}> b; }}
struct headers_t {{ d_t d; more_t more; }}
struct metadata_t {{
    bit<{width}> a;
    bit<{width}> b;
    bit<{width}> c;
    bit<8> kind;
    MirrorId_t session;
}}

{function}

parser IP(packet_in packet, out headers_t hdr, out metadata_t m,
          out ingress_intrinsic_metadata_t ig) {{
    {parser_locals}
    state start {{
        packet.extract(ig);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.d);
        m.a = hdr.d.a;
        m.b = hdr.d.b;
        m.kind = hdr.d.kind;
        m.c = 0;
        m.session = 0;
        {parser}
        {transition}
    }}
    state more {{
        packet.extract(hdr.more);
        transition accept;
    }}
}}

control IG(inout headers_t hdr, inout metadata_t m, in ingress_intrinsic_metadata_t ig,
           in ingress_intrinsic_metadata_from_parser_t prsr,
           inout ingress_intrinsic_metadata_for_deparser_t dprs,
           inout ingress_intrinsic_metadata_for_tm_t tm) {{
    {declarations}
    apply {{
        tm.ucast_egress_port = 4;
        {apply}
    }}
}}

control ID(packet_out packet, inout headers_t hdr, in metadata_t m,
           in ingress_intrinsic_metadata_for_deparser_t dprs) {{
    {deparser_declarations}
    apply {{
        {deparser}
        packet.emit(hdr);
    }}
}}

struct none_t {{ }}

parser EP(packet_in packet, out none_t hdr, out none_t m, out egress_intrinsic_metadata_t eg) {{
    state start {{
        packet.extract(eg);
        transition accept;
    }}
}}

control EG(inout none_t hdr, inout none_t m, in egress_intrinsic_metadata_t eg,
           in egress_intrinsic_metadata_from_parser_t prsr,
           inout egress_intrinsic_metadata_for_deparser_t dprs,
           inout egress_intrinsic_metadata_for_output_port_t port) {{
    apply {{ }}
}}

control ED(packet_out packet, inout none_t hdr, in none_t m,
           in egress_intrinsic_metadata_for_deparser_t dprs) {{
    apply {{
        packet.emit(hdr);
    }}
}}

Pipeline(IP(), IG(), ID(), EP(), EG(), ED()) pipe;
Switch(pipe) main;
"""


@dataclass(frozen=True)
class Verdict:
    """What the compiler says of a program."""

    takes: bool
    why: str
    """The class of its message, in words of our own; empty if it takes the program."""


CLASSES = (
    ("in the parser", "the parser computes"),
    ("too complex", "too complex"),
    ("PHV input", "the gateway has too many inputs"),
    ("Compiler Bug", "the compiler fails"),
    ("action spanning", "the action takes more than one step"),
    ("not supported", "not supported"),
    ("could not fit", "finds no stage"),
    ("type mismatch|TypeError|type-error", "the language refuses it"),
)
"""Of messages, by what they contain."""


def classified(output: str) -> str:
    """The class of the first error in a compiler's output."""
    lines = [line for line in output.splitlines() if re.search(r"error|Bug", line)]
    for line in lines:
        for pattern, words in CLASSES:
            if re.search(pattern, line, re.I):
                return words
    return "another message" if lines else "ends without a message"


def asked(program: str, compiler: Path) -> Verdict:
    """What a compiler says of a program's text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.p4"
        path.write_text(program)
        done = subprocess.run(
            [compiler, path], capture_output=True, text=True, cwd=folder, timeout=1200
        )
    takes = done.returncode == 0
    return Verdict(takes, "" if takes else classified(done.stdout + done.stderr))


def verdicts(path: Path) -> dict[Case, Verdict]:
    """What the compiler has said of each program."""
    if not path.is_file():
        return {}
    with path.open(newline="") as file:
        return {
            Case.named(row["program"]): Verdict(row["compiler"] == "takes", row["why"])
            for row in csv.DictReader(file)
        }


def write(known: dict[Case, Verdict], path: Path) -> None:
    """Writes what the compiler has said, in one step."""
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["program", "compiler", "why"])
        for case, verdict in sorted(known.items()):
            writer.writerow([case.name, "takes" if verdict.takes else "refuses", verdict.why])
    unfinished.replace(path)


def add(case: Case, verdict: Verdict, path: Path) -> None:
    """Adds one verdict to the file, which several processes write."""
    with (Path(tempfile.gettempdir()) / f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write(verdicts(path) | {case: verdict}, path)


def ask_all(
    wanted: Iterable[Case], text_of: TextOf, compiler: Path, jobs: int
) -> Iterator[tuple[Case, Verdict]]:
    """Asks about each program, `jobs` at a time; the answers as they come."""
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        pending = [(case, pool.submit(asked, text_of(case), compiler)) for case in wanted]
        for case, answer in pending:
            yield case, answer.result()


def command(every: list[Case], text_of: TextOf, compiler: str, path: Path) -> None:
    """The command line of a set of programs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--judge", type=Path, help=f"folder with {compiler}")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", default="1/1", metavar="N/PARTS")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--show", metavar="ID")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="writes the programs there")
    given = parser.parse_args()
    if given.show:
        print(text_of(Case.named(given.show)), end="")
        return
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        for case in every:
            (given.out / f"{case.name.replace('/', '-')}.p4").write_text(text_of(case))
        return
    if not given.judge:
        sys.exit("name the compiler's folder with --judge, or a program with --show")
    known = {} if given.again else verdicts(path)
    first, parts = (int(number) for number in given.part.split("/"))
    wanted = [case for case in every[first - 1 :: parts] if case not in known]
    for case, verdict in ask_all(wanted, text_of, given.judge / compiler, given.jobs):
        add(case, verdict, path)
        print(f"{case.name}: {'takes' if verdict.takes else 'refuses, ' + verdict.why}", flush=True)


if __name__ == "__main__":
    command(cases(), text, "p4c-tofino", VERDICTS)
