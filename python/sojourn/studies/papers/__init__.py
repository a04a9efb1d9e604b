"""Papers as data: set-ups, figures and claims of each, with the reproduced ones.

A paper is a folder with a `paper.toml`. Simulated figures come from sweeps, computed ones from
`computed/`.
"""
