"""docs/gallery.md with its pictures, made of the shipped scenarios: `make gallery`.

    python bench/gallery.py [NAME...]

runs each scenario, or those that are named, as it is shipped, and draws the queue delay of all its
AQMs over time. A scenario that cannot run here keeps the picture that it has.
"""

import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

import sojourn
from sojourn import Scenario, SojournError
from sojourn.results.plots import as_png

DOCS = Path(__file__).parent.parent / "docs"
PICTURES = DOCS / "gallery"
DPI = 72
HEAD = """# Gallery

The delay in each shipped scenario's first queue over time, of the packets that left it.
"""


def main() -> None:
    """Pictures of the scenarios that are named, and the page of all."""
    PICTURES.mkdir(exist_ok=True)
    scenarios = {name: sojourn.load_scenario(name) for name in sojourn.list_scenarios()}
    for name in sys.argv[1:] or scenarios:
        try:
            _draw(name)
        except SojournError as error:
            print(f"{name}: {error}", file=sys.stderr)
    parts = [HEAD, *(_section(name, scenario) for name, scenario in scenarios.items())]
    (DOCS / "gallery.md").write_text("\n".join(parts))


def _draw(name: str) -> None:
    figure = sojourn.run(name, report=False).plot("delay")
    # Few colours: a third of the bytes.
    picture = Image.open(BytesIO(as_png(figure, dpi=DPI))).convert("RGB").quantize(64)
    picture.save(PICTURES / f"{name}.png", optimize=True)
    print(name)


def _section(name: str, scenario: Scenario) -> str:
    """A scenario's title, what to look at, its command and its picture."""
    lines = [f"## {name}", "", f"{scenario.title.rstrip('.')}. Look at {scenario.look_at.strip()}"]
    lines += ["", f"    sojourn run {name}", ""]
    if (PICTURES / f"{name}.png").is_file():
        lines += [f"![{name}](gallery/{name}.png)", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
