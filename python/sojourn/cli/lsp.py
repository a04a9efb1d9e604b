"""`sojourn lsp`: the language server, for editors."""

from sojourn.cli.shared import Define, Include, app, definitions
from sojourn.errors import ScenarioError


@app.command()
def lsp(include: Include = None, define: Define = None) -> None:
    """Serve P4 to an editor: diagnostics, types, stages, definitions; on stdin and stdout.

    It needs the extra `lsp`: pip install 'sojourn[lsp]'.
    """
    try:
        from sojourn.tools.lsp.server import server
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise ScenarioError(
            "sojourn lsp needs pygls: pip install 'sojourn[lsp]' brings it"
        ) from None
    server([str(path) for path in include or ()], definitions(define)).start_io()
