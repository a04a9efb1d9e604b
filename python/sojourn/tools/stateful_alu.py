"""The Tofino's stateful ALU, driven on raw configurations; for holding the model against vectors.

Depends on the engine. `run_salu` takes the JSON objects that the published vectors consist of.
"""

import json
from typing import Any

from sojourn import _core

__all__ = ["run_salu"]


def run_salu(setup: dict[str, Any], case: dict[str, Any]) -> tuple[int, int]:
    """Executes one instruction on one 128-bit word of register memory.

    `setup` is a stateful ALU's configuration (instructions, constants, math unit), `case` one
    access (instruction, bit offset, PHV operand, memory word). Returns the new memory word and the
    32-bit output. Raises `ConfigError` if either is malformed.
    """
    word, output = _core.run_salu(json.dumps(setup), json.dumps(case))
    return int(word), int(output)
