"""The part of a run inside the guest: topology, traffic, captures and samples.

Depends on the standard library of the Python that started it and on `ip` and `tc`. The guest has
the host's file system, but not the package's own libraries. Its only input is a job (JSON); it
leaves raw files in the job's folder. It must not depend on scenarios or AQMs.
"""
