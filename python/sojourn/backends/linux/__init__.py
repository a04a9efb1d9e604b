"""The Linux backend: a scenario on a real kernel's TCP and queue disciplines.

`backend` is the entry point. `guest/` runs inside the guest and must not depend on the rest.
"""
