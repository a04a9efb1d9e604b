"""How far simulation and kernel are apart: the same cells on both grounds, side by side.

`grid` says what the cells are, `measure` runs them, `verdict` compares, `page` shows. Stands on the
runner and on both grounds; no ground knows of it.
"""
