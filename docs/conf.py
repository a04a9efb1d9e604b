"""The site: `make docs` makes it of the pages in this folder, without a network."""

import json
import re
from collections.abc import Iterator
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

project = "Sojourn"
author = "The Sojourn authors"
release = metadata.version("sojourn")
extensions = ["myst_nb", "sphinx.ext.autodoc"]
html_theme = "furo"
html_static_path = ["static"]
templates_path = ["templates"]
html_css_files = ["site.css"]
html_title = f"Sojourn {release}"
exclude_patterns = ["_build", "templates"]
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
# A notebook runs when the site is made; one that fails is an error.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_in_temp = True
nb_merge_streams = True
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


def _commands() -> Iterator[str]:
    """The page of all commands, read from the command line itself."""
    import typer

    from sojourn.cli.shared import COMMANDS, app

    group = typer.main.get_command(app)
    yield "# Commands\n"
    yield (
        "Every command has `--help` and `--json`. A mistake of yours ends with status 2, a fault "
        "of ours with 1, Ctrl-C with 130. `sojourn --install-completion` has the shell complete "
        "commands and options.\n"
    )
    for name in sorted(COMMANDS):
        context = group.make_context("sojourn", [name], resilient_parsing=True)
        _, command, _ = group.resolve_command(context, [name])
        yield from _command(f"sojourn {name}", command)


def _command(name: str, command: Any) -> Iterator[str]:
    """A command with its arguments and options; of a group its commands."""
    own = {"help", "as_json"}
    params = [param for param in command.params if param.name not in own and not param.hidden]
    arguments = [_metavar(param) for param in params if param.param_type_name == "argument"]
    yield f"## {name}\n"
    yield _prose(command.help or "") + "\n"
    if hasattr(command, "commands"):
        for each, inner in command.commands.items():
            yield from _command(f"{name} {each}", inner)
        return
    context = command.make_context(name, [], resilient_parsing=True)
    yield "```text\n" + " ".join([name, *arguments, "[OPTIONS]"]) + "\n```\n"
    for param in params:
        yield f"`{_called(param, context)}`\n: {_prose(_told(param))}\n"


def _metavar(param: Any) -> str:
    """How an argument is written."""
    name = (param.metavar or param.name.upper()).strip("{}[]")
    return (name if param.required else f"[{name}]") + ("..." if param.nargs == -1 else "")


def _called(param: Any, context: Any) -> str:
    """An argument, or an option's names and what it takes."""
    if param.param_type_name == "argument":
        return _metavar(param)
    names = ", ".join([*param.opts, *param.secondary_opts])
    return names if param.is_flag else f"{names} {param.make_metavar(context)}"


def _told(param: Any) -> str:
    """What is said of it, and what it is if it is not given."""
    text = (getattr(param, "help", "") or "").strip()
    default = None if callable(param.default) or getattr(param, "is_flag", False) else param.default
    if getattr(param, "show_default", False) and default not in (None, False, "", (), []):
        text += f" By default `{default}`."
    return text or "."


def _prose(text: str) -> str:
    """Help text as Markdown, in which nothing but code in backticks is marked up."""
    parts = text.replace("\b", "").split("`")
    parts[::2] = [re.sub(r"([*_<>\[\]])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts).strip()


def _write_commands(_app: object) -> None:
    """Writes that page, if it has changed."""
    page = Path(__file__).parent / "commands.md"
    text = "\n".join(_commands())
    if not page.is_file() or page.read_text() != text:
        page.write_text(text)


def _sections(node: Any) -> Iterator[str]:
    """The text of a page as HTML that has nothing but sections with their identifiers."""
    from docutils import nodes

    for child in node.children:
        if isinstance(child, nodes.section):
            yield f'<section id="{escape(child["ids"][0])}">{"".join(_sections(child))}</section>'
        elif not isinstance(child, nodes.comment):
            yield escape(child.astext()) + "\n"


def _write_texts(app: Any, exception: Exception | None) -> None:
    """Writes the texts of all pages, which `templates/search.html` reads."""
    if exception is not None or app.builder.name != "html":
        return
    texts = {
        app.builder.get_target_uri(name): (
            f'<div role="main">{"".join(_sections(app.env.get_doctree(name)))}</div>'
        )
        for name in sorted(app.env.found_docs)
    }
    script = Path(app.outdir) / "_static" / "page_texts.js"
    script.write_text(f"const PAGE_TEXTS = {json.dumps(texts)};\n")


def setup(app: object) -> None:
    """Sphinx calls this."""
    from pygments.lexer import inherit
    from pygments.lexers.c_cpp import CLexer
    from pygments.token import Name

    class P4Lexer(CLexer):
        """P4 looks like C to a reader of colours, but for annotations."""

        tokens: ClassVar = {"whitespace": [(r"@\w+", Name.Decorator), inherit]}

    app.add_lexer("p4", P4Lexer)  # type: ignore[attr-defined]
    app.connect("builder-inited", _write_commands)  # type: ignore[attr-defined]
    app.connect("build-finished", _write_texts)  # type: ignore[attr-defined]
