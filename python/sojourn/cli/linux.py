"""`sojourn linux`: the kernel of measured runs, and its requirements."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from sojourn.backends.linux import build
from sojourn.backends.linux.virtual_kernels import VIRTUAL_KERNELS
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
        typer.Option(help="The unpacked source, in place of Debian's package of it."),
    ] = None,
    kernel: Annotated[
        Literal["virtual", "7.3"],
        typer.Option(help="'virtual' is 6.1, by which agreement is judged; 7.3 has DualPI2."),
    ] = "virtual",
) -> None:
    """Build a kernel with virtual time, for `--kernel`; ten minutes on two cores."""
    with open_console(stderr=True).status("") as status:
        built = build.build_kernel(tree, status.update, VIRTUAL_KERNELS[kernel])
    open_console().print(Text(f"kernel  {shown(built)}"), soft_wrap=True)
    open_console().print(f"use it  sojourn run SCENARIO --on linux --kernel {kernel}")
