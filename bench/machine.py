"""Description of the machine of a measurement, by the kernel. Must not depend on Sojourn."""

import os
import platform
from pathlib import Path


def machine() -> str:
    """The processor's name and the number of its cores."""
    names = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines()
        if line.startswith("model name")
    ]
    return f"{os.cpu_count()} cores, {names[0] if names else platform.machine()}"
