"""`sojourn trace`: one packet through a program, step by step."""

import json
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text
from rich.tree import Tree

from sojourn.cli.shared import (
    Define,
    Include,
    Json,
    NoScripts,
    app,
    definitions,
    open_console,
    warn_of_unread_macros,
)
from sojourn.common.atomic_write import write_text
from sojourn.common.resources import shown
from sojourn.control.file import ProgramChoice
from sojourn.errors import ScenarioError, UnknownAqmError, output_error
from sojourn.model.programs import with_own_folder
from sojourn.model.scenario_code import refuse_if
from sojourn.model.units import TIME
from sojourn.tools.delays.captures import read_frames
from sojourn.tools.delays.link_layer import LinkType
from sojourn.tools.trace import (
    GENERATED_WORD,
    Line,
    Traced,
    lines_of,
    trace_frames,
    trace_generated,
    trace_in_run,
    trace_page,
)

_MOST_BYTES = 9_216
_STYLES = {
    "pass": "bold",
    "block": "bold cyan",
    "state": "cyan",
    "table": "blue",
    "register": "yellow",
    "alu": "dim",
    "idle": "dim",
    "end": "bold",
}


@app.command()
def trace(
    program: Annotated[Path, typer.Argument(help="A P4 program, or the folder of a run.")],
    packet: Annotated[
        str,
        typer.Argument(
            help="A frame in hexadecimal digits, or a pcap file; of a run a packet's number, or "
            "aqm, tail, mark for the first of that verdict. Of either, `generated` for packets of "
            "the packet generator."
        ),
    ],
    port: Annotated[int, typer.Option(min=0, max=511, help="Where the frame comes in.")] = 1,
    at: Annotated[str, typer.Option(help='When it comes in, as in "5 ms".')] = "0 s",
    control: Annotated[
        Path | None, typer.Option(help="Control-plane file; by default the one beside the program.")
    ] = None,
    count: Annotated[
        int,
        typer.Option(
            min=1, max=1_000, help="Of a pcap file or `generated`: how many, from the first."
        ),
    ] = 1,
    aqm: Annotated[
        str | None, typer.Option(help="Of a run: which P4 program. [default: the first]")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with the tree to open.")
    ] = None,
    include: Include = None,
    define: Define = None,
    no_scripts: NoScripts = False,
    as_json: Json = False,
) -> None:
    """Show one packet's way through a program: states, tables, actions, registers.

    A frame goes through a switch alone, where no queue builds; of a run, the packet goes through it
    as it did, in its queue and behind the packets before it.
    """
    refuse_if(no_scripts)
    if program.is_dir():
        ways = [trace_in_run(program, packet, aqm)]
    else:
        if not program.is_file():
            raise UnknownAqmError(f"{program}: no such P4 program, and no run's folder")
        choice = ProgramChoice(
            program, None, with_own_folder(include, program), definitions(define), control
        )
        warn_of_unread_macros(choice.compiled, choice.defines)
        if packet == GENERATED_WORD:
            ways = trace_generated(choice, count)
        else:
            ways = trace_frames(choice, _frames(packet, count), port=port, at=_time(at))
    if html is not None:
        try:
            write_text(html, trace_page(shown(program), ways))
        except OSError as error:
            raise output_error(error, shown(html)) from error
    if as_json:
        print(json.dumps({"packets": [_as_dict(way) for way in ways]}, indent=2))
        return
    for way in ways:
        _print(way)
    if html is not None:
        print(f"page  {shown(html)}")


def _frames(packet: str, count: int) -> list[bytes]:
    digits = "".join(packet.split()).removeprefix("0x").replace(":", "")
    try:
        frame = bytes.fromhex(digits)
    except ValueError:
        path = Path(packet)
        if not path.is_file():
            raise ScenarioError(
                f"{packet[:60]}: neither a frame in hexadecimal digits nor a pcap file"
            ) from None
        return _ethernet_frames(path, count)
    if not 0 < len(frame) <= _MOST_BYTES:
        raise ScenarioError(f"a frame of {len(frame)} bytes; it can have 1 to {_MOST_BYTES}")
    return [frame]


def _ethernet_frames(path: Path, count: int) -> list[bytes]:
    """The first `count` frames of a capture, which have to be a switch's."""
    captured = read_frames(path)
    first = list(islice(captured, count))
    for number, frame in enumerate(first, 1):
        if frame.link is not LinkType.ETHERNET:
            raise ScenarioError(
                f"{shown(path)}: frame {number} is of link type {frame.link.title}, without an "
                "Ethernet header; capture on an Ethernet interface, not on `any`"
            )
    if not first:
        raise ScenarioError("\n".join([f"{shown(path)}: no frame in it", *captured.skipped]))
    return [frame.data for frame in first]


def _time(text: str) -> int:
    try:
        return TIME.parse(text)
    except ValueError as error:
        raise ScenarioError(f"--at {text}: {error}") from None


def _print(way: Traced) -> None:
    console = open_console()
    console.print(Text(way.title, style="bold"), soft_wrap=True)
    for line in lines_of(way.passes):
        console.print(_tree(line))
    for port, frame in way.sent:
        console.print(Text(f"port {port}: {frame.hex()}"), soft_wrap=True)
    for fault in way.faults:
        console.print(Text(f"warning: {fault}"), soft_wrap=True)


def _tree(line: Line, into: Tree | None = None) -> Tree:
    text = Text(line.text, style=_STYLES.get(line.kind, ""))
    if line.place:
        text.append(f"  {line.place}", style="dim")
    node = Tree(text, guide_style="dim") if into is None else into.add(text)
    for below in line.below:
        _tree(below, node)
    return node


def _as_dict(way: Traced) -> dict[str, object]:
    sent = [{"port": port, "bytes": frame.hex()} for port, frame in way.sent]
    return {
        "packet": way.title,
        "passes": way.passes,
        "sent": sent,
        "warnings": list(way.faults),
    }
