"""The clock of the benches: 200 MHz."""

from typing import Any

from cocotb.triggers import Timer


async def clock(dut: Any) -> None:
    while True:
        dut.clk.value = 0
        await Timer(2500, "ps")
        dut.clk.value = 1
        await Timer(2500, "ps")
