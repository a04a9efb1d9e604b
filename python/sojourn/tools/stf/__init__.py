"""Packet tests in p4c's STF format: read, run on the engine's switch, compared.

The format is that of p4c's `tools/stf` and its bmv2 driver, with the additions that `docs/stf.md`
names. Depends on the control plane's operations and the engine's switch; prints nothing.
"""

from sojourn.tools.stf.report import Failure, StfError, StfResult
from sojourn.tools.stf.runner import run_stf

__all__ = ["Failure", "StfError", "StfResult", "run_stf"]
