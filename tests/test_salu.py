"""The stateful ALU through Python: a hand-made instruction, and the vendor's vectors.

SOJOURN_SALU_VECTORS names the folder of the vendor's design-verification vectors.
"""

import copy
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sojourn import SojournError
from sojourn.tools.stateful_alu import run_salu

VECTORS = os.environ.get("SOJOURN_SALU_VECTORS")

_IDLE = {
    "op": 0,
    "arith": True,
    "predicate": 0,
    "a": "const",
    "b": "const",
    "const_src": 0,
    "const_from_regfile": False,
}
_NEVER = {
    "opcode": 1,
    "mem": None,
    "mem_negate": False,
    "phv": None,
    "phv_negate": False,
    "const_src": 0,
    "const_from_regfile": False,
}
ADD = {
    "const_regfile": [0, 0, 0, 0],
    "math_table": [0] * 16,
    "math_unit": {"scale": 0, "invert": False, "shift": 0},
    "predicate_output": {"comb": 0, "psh": 0},
    "instructions": [
        {
            "width": 32,
            "dual": False,
            "lo2_b_is_math": False,
            "math_source": "mem_lo",
            "compare": [_NEVER | {"unit": "lo"}, _NEVER | {"unit": "hi"}],
            "update": {
                # Opcode 12 adds modulo the width; the predicate holds whatever the comparisons say.
                "lo1": _IDLE | {"op": 12, "predicate": 0b1111, "a": "mem_lo", "b": "phv_lo"},
                "lo2": _IDLE,
                "hi1": _IDLE,
                "hi2": _IDLE,
            },
            # Source 1 is the old memory word.
            "output": {"predicate": 0b1111, "source": 1},
        }
    ],
}
CASE = {"instruction": 0, "bit_offset": 32, "phv": "05", "word": "fffffffe00000007"}


def test_an_addition_wraps_and_the_output_is_the_old_word() -> None:
    word, output = run_salu(ADD, CASE)
    assert word == 0x00000003_00000007
    assert output == 0xFFFFFFFE


def test_a_malformed_configuration_is_refused() -> None:
    broken = copy.deepcopy(ADD)
    del broken["instructions"][0]["width"]  # type: ignore[index]
    with pytest.raises(SojournError, match="width"):
        run_salu(broken, CASE)


def vectors() -> list[Path]:
    return sorted(Path(VECTORS).glob("*.json.gz")) if VECTORS else []


@pytest.mark.skipif(not VECTORS, reason="SOJOURN_SALU_VECTORS is not set")
def test_the_folder_of_vectors_is_not_empty() -> None:
    assert vectors()


@pytest.mark.parametrize("path", vectors(), ids=lambda path: path.name)
def test_every_vector_of_the_vendor_is_reproduced(path: Path) -> None:
    wrong = [
        (group["setup"], case)
        for group in json.loads(gzip.decompress(path.read_bytes()))
        for case in group["cases"]
        if not reproduced(group["setup"], case)
    ]
    assert wrong == []


def reproduced(setup: dict[str, Any], case: dict[str, Any]) -> bool:
    word, output = run_salu(setup, case)
    words = all(
        word >> int(bit) & 0xFFFFFFFF == int(expected, 16)
        for bit, expected in case["expect_word"].items()
    )
    return words and case["expect_output"] in (None, f"{output:08x}")
