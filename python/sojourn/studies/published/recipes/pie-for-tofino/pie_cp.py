"""Control plane of PIE-CP: reads the delay, computes PIE's probability, and writes it.

Source: the main loop of `bfrt_cpp/src/run_controlplane_pie.cpp` of the repository, whose constants
and order these are. `delay_reg` counts 1,024 ns, which the loop takes for microseconds.
"""

from sojourn.control.controller import ScriptedSwitch

INTERVAL = "117 us"
"""The loop's `desiredIntervalUs`."""
QDELAY_REF, T_UPDATE = 125.0, 150.0
"""Microseconds."""
MOST = 4_294_967_295
"""The probability of one."""
STEPS = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))
"""Below such a probability the change is divided."""


def gains() -> tuple[float, float]:
    """alpha and beta, scaled from PIE's 15 ms to the chip's times."""
    interval, alpha, beta = 15_000.0, 0.125, 1.25
    while interval > T_UPDATE:
        interval /= 2.0
        beta += alpha / 4.0
        alpha /= 2.0
    scale = 15_000.0 / QDELAY_REF * MOST / 1e6
    return alpha * scale, beta * scale


class Pie:
    """The loop and what it keeps."""

    def __init__(self) -> None:
        self.alpha, self.beta = gains()
        self.probability = self.before = 0.0

    def update(self, switch: ScriptedSwitch) -> None:
        """One turn."""
        delay = float(_number(switch.register("Egress.delay_reg")[0]))
        change = self.alpha * (delay - QDELAY_REF) + self.beta * (delay - self.before)
        for below, divisor in STEPS:
            if self.probability < below * MOST:
                change /= divisor
                break
        self.probability += change
        self.before = delay
        if delay == 0:
            self.probability *= 0.98
        self.probability = min(max(self.probability, 0.0), float(MOST))
        switch.register("Ingress.drop_prob_reg")[0] = int(self.probability)
        switch.register("Ingress.drop_prob_reg_duplicate")[0] = int(self.probability)


def _number(cell: int | tuple[int, ...]) -> int:
    return cell if isinstance(cell, int) else cell[0]


def start(switch: ScriptedSwitch) -> None:
    """Begins the loop."""
    switch.every(INTERVAL, Pie().update)
