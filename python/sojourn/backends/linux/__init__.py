"""The Linux kernel as a ground: a scenario on a real kernel's TCP and queue disciplines.

`backend` is the way in; `guest/` is what runs inside the guest and knows nothing of the rest.
"""
