"""`sojourn linux`: the kernel of measured runs, and its requirements."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from sojourn.backends.linux import build
from sojourn.cli.shared import app, open_console
from sojourn.common.resources import shown

linux = typer.Typer(help="Kernels for --on linux.", no_args_is_help=True)
app.add_typer(linux, name="linux")


@linux.callback()
def _kernels() -> None:
    """Kernels for --on linux."""


@linux.command("build-kernel")
def build_kernel(
    tree: Annotated[
        Path | None,
        typer.Option(help="An unpacked kernel source, in place of Debian's linux-source-6.1."),
    ] = None,
) -> None:
    """Build the kernel with virtual time, for `--kernel virtual`; ten minutes on two cores."""
    with open_console(stderr=True).status("") as status:
        kernel = build.build_kernel(tree, status.update)
    open_console().print(Text(f"kernel  {shown(kernel)}"), soft_wrap=True)
    open_console().print("use it  sojourn run SCENARIO --on linux --kernel virtual")
