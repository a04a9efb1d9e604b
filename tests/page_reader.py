"""Executes a documentation page: writes its files, applies its changes, runs its commands.

A page is Markdown. Three kinds of its fenced blocks are steps, in the order of the page:

- `console`: a line that begins with `$ ` is a command; what stands below it is what it prints.
  `...` stands for any text: in a line for a part of it, alone in a line for any number of lines.
  A command below which nothing stands may print anything.
- `{code-block}` or `{literalinclude}` with a `:caption:`: the file of that name, in the folder
  where the reader is.
- `diff`: changes to files that are there.

A command ends well unless the page shows its error. As a program, it writes what comes out into the
pages: `python tests/page_reader.py docs/tutorials/tofino.md`.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_FENCE = re.compile(
    r"^```(?P<kind>console|diff|\{code-block\} [a-z0-9]+\n:caption: (?P<file>[^\n]+)"
    r"|\{literalinclude\} (?P<source>\S+)\n:caption: (?P<copy>[^\n]+))\n"
    r"(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_PROGRESS = re.compile(r"^\d+ of \d+ runs; .*\n", re.MULTILINE)
"""Lines that only a slow machine has time for."""
_BAD = re.compile(r"^(error|[\w./-]+: FAILED|.*: error)", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command as it is printed, and what the page shows of its output."""

    line: str
    shown: str
    place: slice
    """Of what is shown, in the page's text."""

    @property
    def fails(self) -> bool:
        """Whether the page shows that it does."""
        return bool(_BAD.search(self.shown))


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    command: Command
    status: int
    printed: str

    @property
    def as_shown(self) -> bool:
        """Whether it is what the page shows; `...` is anything."""
        return (self.status != 0) == self.command.fails and agrees(self.command.shown, self.printed)


@dataclass(frozen=True)
class File:
    """A file that the reader writes."""

    name: str
    text: str


@dataclass(frozen=True)
class Change:
    """A diff that the reader carries out."""

    text: str


Step = Command | File | Change


def steps(page: str, beside: Path = Path()) -> Iterator[Step]:
    """The steps of a page's text, in their order; the page includes files from `beside`."""
    for block in _FENCE.finditer(page):
        if block["file"]:
            yield File(block["file"], block["text"].lstrip("\n"))
        elif block["source"]:
            yield File(block["copy"], (beside / block["source"]).read_text())
        elif block["kind"] == "diff":
            yield Change(block["text"])
        else:
            yield from _commands(block["text"], block.start("text"))


def _commands(text: str, start: int) -> Iterator[Command]:
    """The commands of a console block that begins at `start` of its page."""
    for found in re.finditer(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        line = re.sub(r"\\\n\s*", "", found[1])
        yield Command(line, found[2], slice(start + found.start(2), start + found.end(2)))


@dataclass
class Reader:
    """Somebody who does what a page says, in a folder."""

    folder: Path
    done: list[Ran] = field(default_factory=list)

    def follow(self, page: Path) -> None:
        """Takes every step of a page."""
        for step in steps(page.read_text(), page.parent):
            match step:
                case File(name, text):
                    (self.folder / name).write_text(text)
                case Change(text):
                    apply = ["git", "apply", "--whitespace=nowarn", "-"]
                    subprocess.run(apply, cwd=self.folder, input=text, text=True, check=True)
                case Command():
                    self._type(step)

    def _type(self, command: Command) -> None:
        where = self.folder / ".where"
        script = f'{command.line}\nstatus=$?\npwd >"{where}"\nexit $status'
        ran = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        self.folder = Path(where.read_text().rstrip("\n"))
        where.unlink()
        printed = _PROGRESS.sub("", ran.stdout)
        self.done.append(Ran(command, ran.returncode, _tidy(printed)))


def _environment() -> dict[str, str]:
    """A terminal of 100 columns without colours, in which `sojourn` is on the PATH."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return inherited | {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}


def _tidy(text: str) -> str:
    """Without blanks at ends of lines and empty lines around."""
    lines = [line.rstrip() for line in text.split("\n")]
    return "\n".join(lines).strip("\n")


def agrees(shown: str, printed: str) -> bool:
    """Whether a command printed what a page shows, `...` being anything."""
    return not shown.strip() or _matched(shown, printed, re.escape) is not None


def _matched(shown: str, printed: str, expected: Callable[[str], str]) -> re.Match[str] | None:
    """`printed` held against what is shown; a group for each line but those that are `...`.
    `expected` makes a pattern of a part of a line."""
    parts = []
    for line in _tidy(shown).split("\n"):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append("(" + ".*".join(map(expected, line.split("..."))) + r")\n")
    return re.fullmatch("".join(parts), printed + "\n")


def _figures_aside(text: str) -> str:
    """A pattern of text in which every number may be another, and as wide as it likes."""
    words = re.split(r"(\s+|[-+]?\d[\d.,]*)", text)
    words[::2] = map(re.escape, words[::2])
    words[1::2] = (r"\s*" if word.isspace() else r"[-+]?\d[\d.,]*" for word in words[1::2])
    return "".join(words)


def _updated(shown: str, printed: str) -> str:
    """What a page shows, with the figures that came out; all that came out if more is new."""
    matched = _matched(shown, printed, _figures_aside)
    if matched is None:
        return printed
    came = iter(matched.groups())
    lines = []
    for line in _tidy(shown).split("\n"):
        new = line if line.strip() == "..." else next(came)
        lines.append(line if "..." in line else new)
    return "\n".join(lines)


def rewritten(page: str, reader: Reader) -> str:
    """The page with what came out in place of what it shows and is not so."""
    for ran in reversed(reader.done):
        place = ran.command.place
        if not agrees(ran.command.shown, ran.printed):
            new = _updated(ran.command.shown, ran.printed)
            page = page[: place.start] + new + "\n" + page[place.stop :]
    return page


def main() -> None:
    """Writes what comes out into the pages that are named."""
    for path in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            reader = Reader(Path(folder))
            page = path.read_text()
            reader.follow(path)
            path.write_text(rewritten(page, reader))
            print(f"{path}: {len(reader.done)} commands")


if __name__ == "__main__":
    main()
