"""The site: `make docs` makes it of the pages in this folder, without a network."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

project = "Sojourn"
author = "The Sojourn authors"
release = metadata.version("sojourn")
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"Sojourn {release}"
exclude_patterns = ["_build"]
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_member_order = "bysource"
suppress_warnings = [
    # Links to files beside the pages, which are in the repository and not in the site.
    "myst.xref_missing",
    # A page that nobody has put into the index yet is found by searching.
    "toc.not_included",
    # The docstrings are Markdown, or nearly.
    "docutils",
]


def _help_of(*words: str) -> str:
    """What the command line says of itself."""
    shell = os.environ | {"COLUMNS": "96", "NO_COLOR": "1", "TERM": "dumb"}
    command = [sys.executable, "-m", "sojourn", *words, "--help"]
    done = subprocess.run(command, env=shell, capture_output=True, text=True, check=True)
    said = done.stdout.replace("python -m sojourn", "sojourn")
    return "\n".join(line.rstrip() for line in said.split("\n")).strip("\n")


def _write_commands(_app: object) -> None:
    """A page of all commands, made from their own help."""
    from sojourn.cli.shared import COMMANDS

    parts = ["# Commands", "```text\n" + _help_of() + "\n```"]
    for name in sorted(COMMANDS):
        parts += [f"## sojourn {name}", "```text\n" + _help_of(name) + "\n```"]
    page = Path(__file__).parent / "commands.md"
    text = "\n\n".join(parts) + "\n"
    if not page.is_file() or page.read_text() != text:
        page.write_text(text)


def setup(app: object) -> None:
    """Sphinx calls this."""
    from pygments.lexers.c_cpp import CLexer

    # P4 looks like C to a reader of colours, and has no lexer of its own.
    app.add_lexer("p4", CLexer)  # type: ignore[attr-defined]
    app.connect("builder-inited", _write_commands)  # type: ignore[attr-defined]
