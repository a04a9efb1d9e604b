"""The options that choose a backend, and the backend that they mean."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from sojourn.backends.backend import ATTEMPTS, Backend
from sojourn.backends.sim import SIMULATOR
from sojourn.cli.shared import AcceptDisturbed, Attempts, Kernel
from sojourn.errors import ScenarioError


@dataclass(frozen=True)
class BackendOptions:
    """The options that choose a backend."""

    on: Annotated[
        Literal["sim", "linux", "live"],
        typer.Option(
            help="Where it runs: in virtual time, on a Linux kernel, or as real packets through "
            "the live switch."
        ),
    ] = "sim"
    kernel: Kernel = "uml"
    traffic: Annotated[
        Literal["sockets", "iperf3"],
        typer.Option(help="With --on linux and live: who sends; sockets start exactly on time."),
    ] = "sockets"
    accept_disturbed: AcceptDisturbed = False
    attempts: Attempts = ATTEMPTS

    def backend(self) -> Backend:
        """The chosen backend; `ScenarioError` for options of another one."""
        if self.on != "linux" and self.kernel != "uml":
            raise ScenarioError("--kernel is for --on linux")
        given = (self.traffic, self.accept_disturbed, self.attempts)
        if self.on == "sim":
            if given != ("sockets", False, ATTEMPTS):
                raise ScenarioError(
                    "--traffic, --accept-disturbed and --attempts are for --on linux and --on live"
                )
            return SIMULATOR
        settings: Any = {
            "accept_disturbed": self.accept_disturbed,
            "traffic": self.traffic,
            "attempts": self.attempts,
        }
        if self.on == "live":
            from sojourn.backends.live.backend import live

            return live(**settings)
        from sojourn.backends.linux.backend import linux

        return linux(self.kernel, **settings)
