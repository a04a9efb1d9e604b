"""Pairs of veth interfaces between a switch and its tests, inside a network namespace."""

import subprocess
from pathlib import Path


def add_pair(number: int) -> str:
    """Makes `veth0` and `veth1` for 0, `veth2` and `veth3` for 1; the first, which is the switch's.

    Frames have up to 9,500 bytes, and the kernel sends none of its own for IPv6.
    """
    here, there = f"veth{2 * number}", f"veth{2 * number + 1}"
    link = ["ip", "link", "add", here, "mtu", "9500", "type", "veth"]
    subprocess.run([*link, "peer", there, "mtu", "9500"], check=True)
    for end in (here, there):
        Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1")
        subprocess.run(["ip", "link", "set", end, "up"], check=True)
    return here
