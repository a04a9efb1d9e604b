"""Sweeps: one scenario with many seeds and values, on every core or on a cluster, as one table.

`file` says what a sweep may be, `axes` and `plan` make jobs of it, `work` runs one of them wherever
it is sent by `local` or `cluster`, `scheduler` keeps what comes back in a `store`; `table`,
`intervals`, `plots` and `page` are made from what is kept. `sweep` is the whole way.
"""
