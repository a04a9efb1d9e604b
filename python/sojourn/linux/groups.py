"""Whether a run has a network of groups of hosts: senders, one switch, receivers.

Its flows are told apart by addresses and have round-trip times of their own, which hosts with an
address each have not. Stands on the engine's configuration of a run.
"""

from typing import Any

from sojourn.errors import ScenarioError
from sojourn.linux.addresses import BEHIND, FRONT


def has_groups(config: dict[str, Any]) -> bool:
    """Whether flows are between groups of hosts."""
    return any(isinstance(host["addresses"], str) for host in config["network"]["hosts"])


def switch_of(config: dict[str, Any]) -> dict[str, Any]:
    """The one switch between the groups, with the link that it sends into."""
    network = config["network"]
    (switch,), link = network["switches"], network["links"][-1]
    return {**switch, **link}


def check_groups(config: dict[str, Any]) -> None:
    """`ScenarioError` if groups lie otherwise than this ground can build them."""
    network = config["network"]
    between = [tuple(link["between"]) for link in network["links"]]
    names = [switch["name"] for switch in network["switches"]]
    if len(names) != 1 or between != [(FRONT, names[0]), (names[0], BEHIND)]:
        raise ScenarioError(
            f"hosts: on this ground groups of hosts are {FRONT} and {BEHIND} with one switch "
            "between them; give [switch], or --on sim"
        )
