"""Scenarios: hosts, flows, switch, AQMs, duration and seed, written by a person in TOML.

`model` is the schema; `read` turns a file into the model or into a message that names the fault.
The package must not depend on plans, runs or results.
"""

from sojourn.model.scenario.model import AqmChoice, Scenario
from sojourn.model.scenario.read import (
    find_scenario,
    read_scenario,
    scenario_from_dict,
    shipped_scenarios,
)

__all__ = [
    "AqmChoice",
    "Scenario",
    "find_scenario",
    "read_scenario",
    "scenario_from_dict",
    "shipped_scenarios",
]
