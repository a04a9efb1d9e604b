"""Sweeps: one scenario with many seeds and values, on every core or on a cluster, as one table.

`file` is the schema of a sweep, `axes` and `plan` make its jobs. `local` and `cluster` send them to
`run_job`, which runs one job; `scheduler` puts the outcomes into a `store`. `table`, `plots` and
`page` are made from the store. `sweep` runs all steps.
"""
