"""Scripts that were written for `bfshell -b`, executed by a client of a BfRt server.

    python -m sojourn.control.bfrt_script setup.py --front 1/0=136

connects to `--address`, or to the server of a run (SOJOURN_CONTROL), and executes the script as the
vendor's shell does. Must not depend on the engine.
"""

import argparse
import os
import re
from pathlib import Path
from typing import Any

from sojourn.control.bfrt_client import Connection
from sojourn.control.bfrt_shell import Shell


def run_script(connection: Connection, script: Path, **names: Any) -> dict[str, Any]:
    """Executes a script of the vendor's shell; returns its names, as a prompt has them then.

    `names` are further global names, such as those of `run_pd_rpc`.
    """
    space = {"bfrt": Shell(connection), "__file__": str(script), "__name__": "__main__", **names}
    exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), space)
    return space


def front_port(text: str) -> tuple[tuple[int, int], int]:
    """`1/0=136`: the connector and lane of a board, and the port's number in the chip."""
    found = re.fullmatch(r"(\d+)/(\d+)=(\d+)", text)
    if not found:
        raise argparse.ArgumentTypeError(f'{text}: give CONNECTOR/LANE=PORT, like "1/0=136"')
    cage, lane, port = map(int, found.groups())
    return (cage, lane), port


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Executes a script of the vendor's bfrt_python.")
    parser.add_argument("script", type=Path)
    parser.add_argument("--address", default=os.environ.get("SOJOURN_CONTROL"))
    parser.add_argument("--front", type=front_port, action="append", default=[])
    given = parser.parse_args()
    if not given.address:
        parser.error("give the server's --address, or SOJOURN_CONTROL")
    run_script(Connection(given.address, front=dict(given.front)), given.script)


if __name__ == "__main__":
    main()
