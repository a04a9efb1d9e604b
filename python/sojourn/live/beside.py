"""What is served beside a live switch: metrics and a page, if they are asked for."""

from collections.abc import Mapping
from contextlib import ExitStack

from sojourn.live.address import Address
from sojourn.live.observed import Observed
from sojourn.live.running import Recording


def observe(recording: Recording, addresses: Mapping[str, Address], beside: ExitStack) -> None:
    """Serves what `addresses` has an address for, until `beside` is closed."""
    if not addresses:
        return
    # Here, so that nobody waits for them who does not want them.
    from sojourn.live.metrics import metrics
    from sojourn.live.watch import watched

    observed = Observed(recording)
    servers = {"metrics": metrics, "watch": watched}
    for what, at in addresses.items():
        beside.enter_context(servers[what](observed, at))
