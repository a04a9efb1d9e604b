"""ACC-Turbo's controller, unmodified, as a process of a run.

Gives it the run's server and a folder for the files that it writes. It needs `schedule`, and
`bfrt_grpc` of the vendor's open-p4studio. Must not depend on Sojourn's package.
"""

import os
import runpy
import sys
import tempfile
from importlib import import_module
from pathlib import Path


def main(controller: Path) -> None:
    """Executes the controller as if started in its folder of the repository."""
    sys.path.insert(0, str(controller.parent))
    core = import_module("core")
    core.CoreAPI.__init__.__defaults__ = (0, None, os.environ["SOJOURN_CONTROL"])
    with tempfile.TemporaryDirectory() as folder:
        for path in ("python_controller", "run_fig_07b/results"):
            (Path(folder) / path).mkdir(parents=True)
        os.chdir(Path(folder) / "python_controller")
        runpy.run_path(str(controller), run_name="__main__")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
