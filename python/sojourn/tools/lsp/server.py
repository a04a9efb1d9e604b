"""The language server: diagnostics while typing, hover with type and stage, go to definition, and
the stages of each line.

Depends on pygls and on `analysis.py`. A program is analysed again once its text has not changed for
a moment.
"""

import asyncio
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from sojourn.errors import SojournError
from sojourn.tools.lsp.analysis import Analysis, analyse, root_of

_REST = 0.15
"""Seconds without a keystroke after which a text is looked at."""
_SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


class P4Server(LanguageServer):
    """The state of the open files."""

    def __init__(self, include_paths: list[str], defines: dict[str, str]) -> None:
        super().__init__("sojourn", version("sojourn"))
        self.include_paths, self.defines = include_paths, defines
        self.programs: dict[Path, Analysis] = {}
        """By the open file: the program that it is, or is a part of."""
        self.published: dict[Path, set[Path]] = {}
        """Files with published diagnostics of a program."""

    def texts(self) -> dict[Path, str]:
        """The texts of the open files."""
        open_ = self.workspace.text_documents.values()
        return {_path(document.uri): document.source for document in open_}

    async def analyse(self, uri: str) -> None:
        """Analyses the program of a file again and publishes its diagnostics."""
        path, texts = _path(uri), self.texts()

        def ask() -> Analysis:
            root = root_of(path, texts)
            return analyse(root, texts, self.include_paths, self.defines)

        try:
            looked = await asyncio.to_thread(ask)
        except SojournError as error:
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, str(error)))
            return
        self.programs[path] = looked
        self._tell(looked)

    def _tell(self, looked: Analysis) -> None:
        by_file: dict[Path, list[types.Diagnostic]] = {looked.program: []}
        for found in looked.diagnostics:
            place = found["place"]
            path = Path(place["path"]).resolve() if place else looked.program
            by_file.setdefault(path, []).append(self._diagnostic(path, found))
        # A file without errors gets an empty list.
        before = self.published.get(looked.program, set())
        self.published[looked.program] = set(by_file)
        for path in before | set(by_file):
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(_uri(path), by_file.get(path, []))
            )

    def _diagnostic(self, path: Path, found: Mapping[str, Any]) -> types.Diagnostic:
        message = found["message"]
        if found["label"]:
            message += f": {found['label']}"
        for text in (*found["notes"], *found["help"]):
            message += f"\n{text}"
        return types.Diagnostic(
            range=self.range(path, found["place"]),
            message=message,
            severity=_SEVERITY.get(found["severity"], types.DiagnosticSeverity.Information),
            code=found["code"] or None,
            source="sojourn",
        )

    def lines(self, path: Path) -> list[str]:
        """The lines of a file, as it is open or as it lies there."""
        known = self.workspace.text_documents.get(_uri(path))
        if known is not None:
            return list(known.lines)
        try:
            return path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        except OSError:
            return []

    def range(self, path: Path, place: Mapping[str, Any] | None) -> types.Range:
        """A place of the engine's in the client's units; the beginning if there is none."""
        if place is None:
            return types.Range(types.Position(0, 0), types.Position(0, 0))
        start = types.Position(place["line"] - 1, place["column"] - 1)
        end = types.Position(place["end_line"] - 1, max(place["end_column"] - 1, 0))
        codec = self.workspace.position_codec
        return codec.range_to_client_units(self.lines(path), types.Range(start, end))

    def name_at(
        self, at: types.HoverParams | types.DefinitionParams
    ) -> tuple[Analysis, Path, Mapping[str, Any]] | None:
        """The program around a place, the file, and the name there."""
        path = _path(at.text_document.uri)
        looked = self.programs.get(path)
        if looked is None:
            return None
        codec = self.workspace.position_codec
        place = codec.position_from_client_units(self.lines(path), at.position)
        name = looked.name_at(path, place.line + 1, place.character + 1)
        return None if name is None else (looked, path, name)

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Kind, type, declaration and stages of the name at a position."""
        found = self.name_at(params)
        if found is None:
            return None
        looked, path, name = found
        typed = f" of type `{name['type']}`" if name["type"] else ""
        lines = [f"`{name['name']}`: {name['kind']}{typed}"]
        declared = name["declared"]
        lines.append(f"declared in {Path(declared['path']).name}:{declared['line']}")
        here = looked.stages_at(path, params.position.line + 1)
        there = looked.stages_at(Path(declared["path"]).resolve(), declared["line"])
        lines += list(dict.fromkeys([*here, *there]))
        content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(lines))
        return types.Hover(content, self.range(path, name["at"]))

    def lenses(self, path: Path) -> list[types.CodeLens]:
        """The stages of each line of an analysed file."""
        looked = self.programs.get(path)
        if looked is None:
            return []
        by_line: dict[int, list[str]] = {}
        if looked.fits and path == looked.program:
            by_line[1] = [looked.fits]
        for line, text in looked.placed(path):
            if text not in by_line.setdefault(line, []):
                by_line[line].append(text)
        return [_lens(line, " | ".join(texts)) for line, texts in sorted(by_line.items())]


def _path(uri: str) -> Path:
    return Path(to_fs_path(uri) or uri).resolve()


def _uri(path: Path) -> str:
    return from_fs_path(str(path)) or path.as_uri()


def server(include_paths: list[str], defines: dict[str, str]) -> P4Server:
    """A server with its features; `start_io` runs it."""
    made = P4Server(include_paths, defines)

    @made.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(of: P4Server, params: types.DidOpenTextDocumentParams) -> None:
        await of.analyse(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(of: P4Server, params: types.DidSaveTextDocumentParams) -> None:
        await of.analyse(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(of: P4Server, params: types.DidChangeTextDocumentParams) -> None:
        uri, number = params.text_document.uri, params.text_document.version
        await asyncio.sleep(_REST)
        document = of.workspace.text_documents.get(uri)
        if document is not None and document.version == number:
            await of.analyse(uri)

    @made.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(of: P4Server, params: types.HoverParams) -> types.Hover | None:
        return of.hover(params)

    @made.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(of: P4Server, params: types.DefinitionParams) -> types.Location | None:
        found = of.name_at(params)
        if found is None:
            return None
        declared = found[2]["declared"]
        path = Path(declared["path"]).resolve()
        return types.Location(_uri(path), of.range(path, declared))

    @made.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(of: P4Server, params: types.CodeLensParams) -> list[types.CodeLens]:
        path = _path(params.text_document.uri)
        if path not in of.programs:
            await of.analyse(params.text_document.uri)
        return of.lenses(path)

    return made


def _lens(line: int, text: str) -> types.CodeLens:
    at = types.Position(line - 1, 0)
    return types.CodeLens(types.Range(at, at), types.Command(title=text, command=""))
