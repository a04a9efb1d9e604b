"""The language server, tested with pygls's own client over standard input and output."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sojourn.common.resources import programs_folder

pytest.importorskip("pygls", reason="not installed: pip install 'sojourn[lsp]'")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PROGRAM = programs_folder() / "tna/codel_exact.p4"


class Mistakes:
    """The mistakes that the server has told, by file."""

    def __init__(self) -> None:
        self.by_uri: dict[str, list[Any]] = {}
        self.news = asyncio.Event()

    async def until(self, uri: str, wanted: Callable[[list[Any]], bool]) -> list[Any]:
        """The mistakes of a file as soon as they are as `wanted`."""
        async with asyncio.timeout(60):
            while not (uri in self.by_uri and wanted(self.by_uri[uri])):
                self.news.clear()
                await self.news.wait()
        return self.by_uri[uri]


@asynccontextmanager
async def editor() -> AsyncIterator[tuple[LanguageClient, Mistakes]]:
    """A client that has begun to talk to a server of its own."""
    client, mistakes = LanguageClient("editor", "1"), Mistakes()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def hear(params: types.PublishDiagnosticsParams) -> None:
        mistakes.by_uri[params.uri] = list(params.diagnostics)
        mistakes.news.set()

    await client.start_io(sys.executable, "-m", "sojourn", "lsp")
    await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    try:
        yield client, mistakes
    finally:
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()


def opened(client: LanguageClient, path: Path, text: str) -> str:
    """Opens a file in the editor; its address."""
    item = types.TextDocumentItem(path.as_uri(), "p4", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    return path.as_uri()


def place(text: str, words: str, behind: str = "") -> types.Position:
    """Where `words` stand first behind `behind`."""
    at = text.index(words, text.index(behind))
    before = text[:at]
    return types.Position(before.count("\n"), at - (before.rfind("\n") + 1))


def test_errors_appear_and_disappear_while_the_user_types(tmp_path: Path) -> None:
    async def scene() -> None:
        path = tmp_path / "mine.p4"
        right = "#include <core.p4>\nconst bit<8> ONE = 1;\n// \u00e9\U0001f600\n"
        path.write_text(right)
        async with editor() as (client, mistakes):
            uri = opened(client, path, right + "/* \U0001f600 */ const bit<8> TWO = ONEE;\n")
            wrong = await mistakes.until(uri, lambda found: any(f.code == "E0401" for f in found))
            [found] = [f for f in wrong if f.code == "E0401"]
            assert "`ONEE` is not declared" in found.message
            # In the units of the protocol the picture counts two.
            assert (found.range.start.line, found.range.start.character) == (3, 28)
            change = types.TextDocumentContentChangeWholeDocument(right)
            document = types.VersionedTextDocumentIdentifier(2, uri)
            client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
            await mistakes.until(uri, lambda found: not any(f.code == "E0401" for f in found))
        assert path.read_text() == right

    asyncio.run(scene())


def test_hover_definition_and_stages_of_a_program_and_of_its_part() -> None:
    async def scene() -> None:
        part = PROGRAM.parent / "aqm/codel_exact.p4"
        text = part.read_text()
        async with editor() as (client, mistakes):
            opened(client, PROGRAM, PROGRAM.read_text())
            uri = opened(client, part, text)
            await mistakes.until(PROGRAM.as_uri(), lambda found: found == [])
            document = types.TextDocumentIdentifier(uri)
            lenses = await client.text_document_code_lens_async(types.CodeLensParams(document))
            line = place(text, "Register<bit<32>, bit<16>>(QUEUE_STATES) above;").line
            [lens] = [one for one in lenses if one.range.start.line == line]
            assert lens.command.title == "egress stage 1: 16384 x bit<32>"
            whole = types.CodeLensParams(types.TextDocumentIdentifier(PROGRAM.as_uri()))
            first = (await client.text_document_code_lens_async(whole))[0].command.title
            assert first == "10 of 12 stages (ingress 1, egress 10), by estimate"

            use = place(text, "above_update.execute")
            said = await client.text_document_hover_async(types.HoverParams(document, use))
            assert "an instance" in said.contents.value and "stage 1" in said.contents.value
            asked = types.DefinitionParams(document, use)
            found = await client.text_document_definition_async(asked)
            assert found.uri == uri
            declared = text.splitlines()[found.range.start.line]
            assert declared[found.range.start.character :].startswith("above_update")

    asyncio.run(scene())
