"""Papers as data: what each ran, drew and claimed, and ours beside it.

A paper is a folder with a `paper.toml`. Stands on sweeps; what is computed and not simulated is in
`computed/`.
"""
