"""Scenarios: hosts, flows, switch, AQMs, duration and seed, written by a person in TOML.

`model` says what may stand in one, `read` turns a file into the model or into a good message,
`plan` turns the model into the configurations that the engine runs. None of them runs anything.
"""

from sojourn.scenario.model import AqmChoice, Scenario
from sojourn.scenario.plan import Plan, PlannedRun, make_plan
from sojourn.scenario.read import (
    find_scenario,
    read_scenario,
    scenario_from_dict,
    shipped_scenarios,
)

__all__ = [
    "AqmChoice",
    "Plan",
    "PlannedRun",
    "Scenario",
    "find_scenario",
    "make_plan",
    "read_scenario",
    "scenario_from_dict",
    "shipped_scenarios",
]
