"""Backends: the simulator, a Linux kernel and live switches, each of which runs a plan."""
