"""Agreement of simulation and kernel: the same cells on both backends.

`grid` lists the cells, `measure` runs them, `verdict` compares, `page` shows. Depends on the runner
and on both backends; no backend depends on it.
"""
