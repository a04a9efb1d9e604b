"""Studies of many runs: sweeps, papers, published programs, agreement with a kernel."""
