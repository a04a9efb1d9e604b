"""Entries of P4 tables that a network gives: `entries_from = { routes = ... }`.

One control-plane file serves every switch of a network: the table of routes gets an entry for each
host, with the port of the switch at hand. A switch by itself gets those of the network with one
switch: senders behind port 1, receivers behind port 2. Depends on a scenario's routes and on plain
control planes. Must not depend on a program.
"""

from ipaddress import ip_address
from typing import Any

from pydantic import Field, ValidationError

from sojourn.errors import ScenarioError
from sojourn.model.scenario import scenario_from_dict
from sojourn.model.scenario.quantities import Strict
from sojourn.model.scenario.routes import Routes

_KEY = "routes"
_RATE_ALONE = "1 Gbit/s"
"""Of the links of a switch by itself."""


class _Routes(Strict):
    """Value of `routes`."""

    key: str
    """The table's key for the destination address."""
    action: str
    port: str
    """The action's parameter for the port."""
    rate: str | None = None
    """Its parameter for the rate of the link there, Mbit/s."""
    match: str = Field("lpm", pattern="^(lpm|exact)$")
    """Kind of the key."""
    version: int = 4
    """Of IP: 4 or 6."""
    args: dict[str, Any] = Field(default_factory=dict)
    """The action's other parameters."""


def takes_routes(aqm: dict[str, Any]) -> bool:
    """Whether the program of an AQM has a table with the network's routes."""
    return aqm["kind"] == "p4" and _has_routes(aqm.get("control", {}))


def _has_routes(control: dict[str, Any]) -> bool:
    tables = control.get("tables", [])
    return isinstance(tables, list) and any(
        isinstance(table, dict) and _KEY in (table.get("entries_from") or {}) for table in tables
    )


def with_routes(aqm: dict[str, Any], routes: Routes, switch: str) -> dict[str, Any]:
    """The AQM with the entries of one switch in its tables."""
    tables = [_filled(table, routes, switch) for table in aqm["control"]["tables"]]
    return aqm | {"control": aqm["control"] | {"tables": tables}}


def with_default_routes(control: dict[str, Any]) -> dict[str, Any]:
    """The control plane of a switch by itself."""
    if not _has_routes(control):
        return control
    switch, flows = {"rate": _RATE_ALONE}, [{"kind": "tcp", "rtt": "1 ms"}]
    document = {"aqms": ["fifo"], "duration": "1 s", "switch": switch, "flows": flows}
    alone = scenario_from_dict(document, "a switch by itself")
    routes, name = Routes(alone), alone.switches[0].name
    return control | {"tables": [_filled(table, routes, name) for table in control["tables"]]}


def _filled(table: dict[str, Any], routes: Routes, switch: str) -> dict[str, Any]:
    given = (table.get("entries_from") or {}).get(_KEY)
    if given is None:
        return table
    where = f"control plane: {table.get('name')}: entries_from.routes"
    try:
        asked = _Routes.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        known = ", ".join(_Routes.model_fields)
        raise ScenarioError(f"{where}: {key}: {first['msg'].lower()} (keys: {known})") from None
    if asked.version not in (4, 6):
        raise ScenarioError(f"{where}: version: {asked.version}: allowed are 4 and 6")
    entries = []
    for address, bits, port in routes.of(switch, asked.version):
        value: Any = f"0x{int(ip_address(address)):0{8 if asked.version == 4 else 32}x}"
        if asked.match == "lpm":
            value = {"value": value, "prefix": bits}
        rate = {} if asked.rate is None else {asked.rate: routes.rate(switch, port) // 1_000_000}
        args = asked.args | {asked.port: port} | rate
        entries.append({"match": {asked.key: value}, "action": asked.action, "args": args})
    own = {key: value for key, value in table.items() if key != "entries_from"}
    return own | {"entries": [*own.get("entries", []), *entries]}
