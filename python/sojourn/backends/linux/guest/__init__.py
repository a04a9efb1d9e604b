"""What runs inside the guest: topology, traffic, capture and samples of one run.

Stands on the standard library of the Python that started it and on `ip` and `tc`; the guest has the
host's file system, but not the package's own libraries. It is told everything by a job (JSON) and
leaves raw files in the job's folder; it must not know scenarios, AQMs or what the files are for.
"""
