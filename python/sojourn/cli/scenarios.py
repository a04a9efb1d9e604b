"""`sojourn scenarios`: the list of shipped scenarios."""

import json

from sojourn.api import list_scenarios
from sojourn.cli.shared import Json, app
from sojourn.model.scenario import find_scenario


@app.command()
def scenarios(as_json: Json = False) -> None:
    """List the shipped scenarios, one line each."""
    found = list_scenarios()
    if as_json:
        rows = [
            {"name": name, "title": title, "file": str(find_scenario(name))}
            for name, title in found.items()
        ]
        print(json.dumps(rows, indent=2))
        return
    width = max(map(len, found))
    for name, title in found.items():
        print(f"{name.ljust(width)}  {title}".rstrip())
