"""The engine's door, written in Rust (crates/py). Times in ns, columns little-endian."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

class SojournError(Exception):
    """Something that the user can put right."""

class ConfigError(SojournError):
    """A run's configuration is not allowed."""

class ProgramError(SojournError):
    """A P4 program cannot be loaded; the message has its diagnostics, drawn for a terminal."""

    diagnostics: list[dict[str, Any]]
    """The same as plain data: `severity`, `code`, `message`, `place` and more."""

def row_columns(rows: str) -> list[tuple[str, int, str, str, str]]:
    """The columns of `packets`, `flows`, `exchanges`, `datagrams`, `registers` or `trace`: name,
    bits of a value, how it is shown (`number`, `time` or `name`), unit, meaning."""

def verdicts() -> list[str]:
    """What became of packets, by the number in their rows."""

def without_comment(line: str) -> str:
    """A line of commands without what stands behind `#` or `//`."""

class Commands:
    """A session of `simple_switch_CLI` against a program that is known by its description in JSON.

    `ConfigError` says what is wrong with a description or a line.
    """

    def __init__(self, description: str) -> None: ...
    def read(self, line: str) -> tuple[str, str]:
        """What a line asks for: operations, and questions each with what it is about, as JSON."""

def definitions() -> bytes:
    """The interface definitions of P4Runtime and BfRt, a `FileDescriptorSet` with all that they
    import."""

def switch_commands() -> list[str]:
    """The commands of bmv2's `simple_switch_CLI` that are known."""

def congestion_controls() -> list[tuple[str, str, str | None]]:
    """Name, one line and the Linux kernel's name of every congestion control."""

class QueuedPacket:
    """A packet, as a discipline in Python sees it."""

    @property
    def number(self) -> int:
        """Number of the packet in the run."""

    @property
    def size(self) -> int:
        """Length without FCS, bytes."""

    @property
    def enqueued(self) -> int:
        """Arrival at the queue, ns."""

    @property
    def sojourn(self) -> int:
        """Time since it arrived, ns."""

    @property
    def ecn(self) -> int:
        """ECN field: 0 for a transport without ECN, 1 for ECT(1), 2 for ECT(0), 3 for CE."""

    @property
    def flow(self) -> int:
        """Hash of protocol, addresses and ports."""

class QueueState:
    """A queue's state, as a discipline in Python sees it, without the packet that it decides
    about."""

    @property
    def packets(self) -> int:
        """Packets held."""

    @property
    def bytes(self) -> int:
        """Their bytes."""

    @property
    def dropped(self) -> int:
        """Packets that the discipline has dropped."""

    @property
    def marked(self) -> int:
        """Packets that it has marked."""

def add_python_discipline(
    name: str,
    parameters: list[tuple[str, str, int]],
    make: Callable[[Mapping[str, int]], tuple[object, object]],
    explain: Callable[[BaseException, tuple[int, str] | None], str],
) -> None:
    """Adds a class to the disciplines under `name`: name, kind and default of its parameters, what
    makes `enqueue` and `dequeue` of an object from their values, what describes its exceptions."""

def add_controlled_queue(name: str) -> None:
    """Adds an agent's queue to the disciplines under `name`."""

class ControlledQueue:
    """The agent's side of the queue of that name in runs that are built from here on."""

    def __init__(self, name: str) -> None: ...
    def set_probability(self, ppm: int) -> None:
        """Drops each arriving packet with a probability, in millionths."""

    def set_target(self, target: int) -> None:
        """Runs CoDel with a TARGET, ns."""

    def counts(self) -> tuple[int, int, int, int, int, int, int, int]:
        """Packets and bytes held; packets that arrived, were dropped, were marked and were sent,
        the bytes of the last, and the sum of their sojourn times in ns."""

class Configuration:
    """A run's configuration, read from JSON once; `ConfigError` says what is not allowed in it."""

    def __init__(
        self, config: str, beside: Sequence[tuple[int | None, int, Entries | Text]] = ()
    ) -> None:
        """What is `beside` takes the place of empty things in the control planes of `config`: the
        place of a switch that has an AQM of its own, that of a table, and the table's entries; or
        the commands' text."""

class Columns:
    """Rows of one kind: a column's bytes, little-endian, by its name, made when they are asked
    for."""

    @property
    def count(self) -> int:
        """How many rows there are."""

    def __eq__(self, other: object, /) -> bool:
        """True if both have the same rows."""

    def __getitem__(self, name: str, /) -> bytes: ...

class Simulation:
    """One run. It reads no clock: it is told how far to go."""

    def __init__(self, config: Configuration | str, programs: list[Program] = ...) -> None: ...
    def use_threads(self, threads: int) -> None:
        """Uses up to so many from here on; what happens is the same with any number."""

    def advance(self, until: int, max_rows: int) -> None:
        """Runs until `until`, the end, or until `max_rows` packet rows wait; `SojournError` if a
        discipline ends the run."""

    @property
    def now(self) -> int: ...
    @property
    def finished(self) -> bool: ...
    @property
    def bottlenecks(self) -> int: ...
    @property
    def waiting(self) -> int:
        """Rows of all kinds and captured frames that wait to be taken."""

    def take_packets(self, bottleneck: int = 0) -> Columns:
        """The rows that wait at a measured queue."""

    def take_flows(self) -> Columns: ...
    def take_exchanges(self) -> Columns: ...
    def take_datagrams(self) -> Columns: ...
    def take_capture(self, bottleneck: int = 0) -> list[tuple[int, int, bytes, int]]:
        """Frames at a measured queue: time, interface (0 entered, 1 left), bytes, length on the
        wire."""

    def watched_registers(self) -> list[str]:
        """The registers that are looked at, by full name."""

    def take_registers(self) -> Columns:
        """Changes of their values that wait."""

    def take_passes(self) -> str:
        """The passes of packets that were followed since the last call, as JSON."""

    def take_log(self) -> tuple[int, list[tuple[int, str]]]:
        """What the program has written into its log since the last call: lines that were too many
        to keep, then time in ns and text of each."""

    def describe(self, switch: int) -> str:
        """As `PacketSwitch.describe`, of a switch by its place in the network."""

    def apply(self, switch: int, operations: str | Operations) -> list[int | None]:
        """As `PacketSwitch.apply`, now."""

    def read(self, switch: int, query: str, pipe: int = 0) -> str:
        """As `PacketSwitch.read`, of one of the chip's pipes."""

    def take_digests(self, switch: int) -> list[tuple[str, int, bytes]]:
        """Messages of the program to its control plane since the last call: name, ns, bytes."""

    def take_controllers_packets(self, switch: int) -> list[tuple[int, bytes]]:
        """What a switch has sent to its controller since the last call: ns, bytes."""

    def packet_out(self, switch: int, frame: bytes) -> None:
        """Has a frame of the controller's reach its port of a switch now."""

    def switch_report(self, switch: int) -> str:
        """What is counted at a switch, as JSON."""

    def counters(self, log_lines: int) -> str:
        """The counters so far with how many lines programs have logged, as JSON, a line each."""

class Replay:
    """An AQM that is asked about the packets of a trace."""

    def __init__(self, config: str, programs: list[Program] = ...) -> None: ...
    def decide(self, rows: dict[str, bytes]) -> bytes:
        """A byte a row: bit 0 for a drop, bit 1 if a mirrored copy was still under way."""

    def copies(self) -> tuple[int, int, int]:
        """Mirrored copies: asked for, without a session, passes that they have made."""

    def faults(self) -> str:
        """What the program did so far that its target cannot do, by kind, as JSON."""

class QueueReplay:
    """A discipline with a queue of its own that is told when packets come and go: `config` has its
    `name` and its parameters."""

    def __init__(self, config: str) -> None: ...
    def carry_out(self, steps: dict[str, bytes]) -> dict[str, bytes]:
        """What became of packets, `packet`, `fate` and `step`, after steps of a `time`, a `step` (0
        puts a packet in, 1 one that can be marked, 2 takes one out, 3 wants room), a `size` and a
        `flow`. Fates: 0 sent, 1 with a mark, 2 dropped, 3 dropped at the tail."""

    def counters(self) -> dict[str, int]:
        """The discipline's own counters."""

    def faults(self) -> str:
        """What a hardware module did wrong, as JSON."""

class SyntheticTrace:
    """A trace that the engine makes up."""

    def __init__(self, config: str) -> None: ...
    def take(self, most: int) -> dict[str, bytes]:
        """The next rows."""

def check_config(config: Configuration | str, programs: list[Program] = ...) -> None:
    """Checks a configuration, and that its program can be loaded."""

def start_jitter(seed: int, flow: int) -> int:
    """How much later than configured a flow starts under a seed, ns."""

def default_network() -> str:
    """The network of a run that says nothing of it, as JSON: every default of one stands there."""

def shaper_as_built(rate: int, burst: int) -> tuple[int, int]:
    """What the switch's hardware makes of a shaper: rate in bit/s and burst in bytes.

    Raises `ConfigError` if it cannot express one of them."""

def workload(config: str) -> str:
    """What is random about the flows of a configuration, as JSON: for each its start, and the
    bursts, pauses or transfers that the simulator would draw."""

def native_disciplines() -> list[tuple[str, str, list[tuple[str, str, str, int | None, str]]]]:
    """Name, one line and parameters of each; of a parameter: name, kind,
    unit, default, one line. With an `@` in their names, hardware modules and what they are
    compared with, which takes what every module takes."""

def add_hardware_module(name: str, path: Path) -> None:
    """Adds the hardware module that is compiled in the library at `path` to the disciplines; one
    that is there already under `name` is kept. `SojournError` if it cannot be loaded."""

def check_discipline(name: str, parameters: dict[str, int]) -> tuple[str, int, int, int] | None:
    """A parameter that is outside what is allowed: name, value, least and most."""

def check(
    path: str,
    language_only: bool,
    include_paths: list[str],
    defines: dict[str, str],
    colour: bool,
    target: str | None,
) -> Verdict:
    """Verdict of the language on a program, and unless `language_only` of its target. A
    `target` defines its macros and comes before others that claim the program."""

def inspect(
    path: str, include_paths: list[str], defines: dict[str, str], texts: dict[str, str]
) -> str:
    """What an editor asks of a program, as JSON: `diagnostics`, `names`, `target`, `stages`;
    `texts` stand in place of files."""

class Verdict:
    """What is said of a program."""

    ok: bool
    """There was no error."""
    rendered: str
    """The diagnostics drawn for a terminal."""
    diagnostics: str
    """The same as JSON."""
    program: Program | None
    """The program, if the language takes it and more than the language was asked."""
    stages: tuple[str, str] | None
    """Its stages as JSON and as text, if it fits a target that has stages."""

class Program:
    """A P4 program, compiled once."""

    def __init__(self, path: str, include_paths: list[str], defines: dict[str, str]) -> None:
        """`ProgramError` has what the language has against it."""

    @property
    def target(self) -> str:
        """The name of the target that it is for."""

    @property
    def has_ghost(self) -> bool:
        """Whether its pipeline has a ghost thread."""

    @property
    def math_unit(self) -> bool:
        """Whether its target has a math unit."""

    @property
    def digest(self) -> str:
        """The SHA-256 of its text and of what decides what the text means."""

    @property
    def sources(self) -> dict[Path, str]:
        """The SHA-256 of each file that it was compiled from."""

    def is_current(self) -> bool:
        """Whether the files that it was compiled from are still the same."""

    def text(self) -> str:
        """The program as text, to be compiled elsewhere, as JSON."""

    def declarations(self) -> str:
        """What it declares for its control plane, as JSON."""

    def p4info(self) -> tuple[str, bytes]:
        """Its P4Info: as text, and in binary."""

    def bfrt(self) -> str:
        """Its `bf-rt.json`, by which the runtime interface of Tofino knows it."""

    def expand_control_plane(self, control: str) -> str:
        """A control plane, as JSON, with its computed entries written out."""

    def stages(self) -> tuple[str, str]:
        """Its stages: as JSON, and drawn for a terminal."""

    def doubt(self) -> str | None:
        """Why its target's chip may refuse it although it runs; `None` if nothing is known."""

    def dependencies(self) -> tuple[str, str]:
        """Its state variables and what they depend on: as JSON, and for a terminal."""

def targets() -> list[tuple[str, str]]:
    """Name and folder of shipped programs of every target."""

def explain(code: str) -> str | None:
    """The story of a rule of the target; none if there is no such rule."""

def rule_list() -> str:
    """The rules of the target, one a line."""

def run_salu(setup: str, case: str) -> tuple[int, int]:
    """The new memory word and the output of one instruction."""

class VirtualServer:
    """A server of a control protocol in front of a switch of a run, until it is closed."""

    def __init__(
        self,
        simulation: Simulation,
        place: int,
        protocol: str,
        address: str,
        device: int,
        program: Program,
    ) -> None:
        """Serves `p4runtime` or `bfrt` at a loopback address. `program`: the one that the switch
        runs."""

    @property
    def address(self) -> str:
        """Host and port where it listens."""

    @property
    def requests(self) -> tuple[int, int]:
        """Requests and messages of controllers so far, and those that wait."""

    @property
    def sent(self) -> int:
        """Messages sent to controllers."""

    @property
    def missed(self) -> int:
        """Packets, digests and notifications lost because controllers read too slowly."""

    def settle(self) -> None:
        """Returns once it has read what controllers have sent, and written its messages."""

    def execute(self, simulation: Simulation) -> None:
        """Executes what controllers have done without a request."""

    def admit(self, simulation: Simulation) -> bool:
        """Executes the request that has waited longest; false if none waits."""

    def poll(self, simulation: Simulation) -> None:
        """Sends packets, messages and idle entries of the switch to controllers."""

    def close(self) -> None:
        """Ends it."""

class ControlServer:
    """A server of a control protocol in front of a live switch, until it is closed."""

    @staticmethod
    def p4runtime(
        switch: LiveSwitch,
        address: str,
        device: int,
        programs: list[Program],
        cpu_port: int | None = ...,
        tls: tuple[bytes, bytes, bytes | None] | None = ...,
        open: bool = ...,
    ) -> ControlServer:
        """P4Runtime. `tls`: certificate and key as PEM, and who signs the clients' certificates;
        without that signer only loopback, unless `open`. `programs`: those that controllers may
        name, first the one that runs."""

    @staticmethod
    def bfrt(
        switch: LiveSwitch,
        address: str,
        device: int,
        programs: list[tuple[Program, list[int]]],
        tls: tuple[bytes, bytes, bytes | None] | None = ...,
        open: bool = ...,
    ) -> ControlServer:
        """BfRt, for the programs that run, each with its pipes if it is not the only one; the rest
        as for P4Runtime."""

    @property
    def no_pipeline(self) -> str | None:
        """Why P4Runtime has no pipeline before a controller sets one; none if it has."""

    @property
    def address(self) -> str:
        """Where it listens."""

    @property
    def missed(self) -> int:
        """Packets, digests and notifications that controllers read too slowly to get."""

    def close(self) -> None:
        """Ends it."""

class LiveSwitch:
    """A switch between real interfaces, in a thread of its own from the start on."""

    def __init__(
        self,
        config: str,
        interfaces: dict[int, str],
        spin: int,
        programs: list[Program],
        around: str = ...,
        record: bool = ...,
        cpu: int | None = ...,
    ) -> None:
        """`around`: in JSON, the links behind its ports, with rates and delays, and whether packets
        have the numbers by which other switches know them. With `record`, what arrives is kept
        until it is taken. Port `cpu` is that of controllers, if there is one."""

    def describe(self) -> str:
        """Tables, actions, registers and the rest by name, as JSON."""

    def apply(self, operations: str) -> list[int | None]:
        """Carries out a list of operations in JSON, all of them or none; the handle of each entry
        that was added."""

    def read(self, query: str) -> str:
        """What a question in JSON is answered, as JSON."""

    def read_all(self, queries: str) -> str:
        """Answers to questions of one instant, as a list in JSON; null where there is none."""

    def set_delay(self, port: int, outgoing: bool, class_: int, delay: int) -> None:
        """Gives a class of destinations of a way of a port's link another delay, ns, from now
        on."""

    def set_rate(self, port: int, rate: int) -> None:
        """Gives the way to the switch of a port's link another rate, bit/s, from now on."""

    def flows(self) -> list[tuple[str, str, int, int, int]]:
        """The flows of a switch that was stopped, by number from 1 on: source, destination,
        protocol, both ports."""

    def fetch(self) -> int:
        """Fetches the rows and frames that wait in the ring; how many they were."""

    def take_packets(self, port: int) -> Columns: ...
    def take_capture(self, port: int) -> list[tuple[int, int, bytes, int]]: ...
    def take_arrivals(self) -> list[tuple[int, int, bytes]]:
        """When, ns, at which port, and the bytes of the recorded frames that were fetched."""

    def take_log(self) -> tuple[int, list[tuple[int, str]]]: ...
    def report(self) -> str:
        """What is to be said of interfaces and switch so far, as JSON."""

    def faults(self) -> str:
        """What the program did so far that the switch cannot do, by kind, as JSON."""

    def stop(self) -> None:
        """Ends the thread; rows that still wait are fetched."""

def drive_switch(
    config: str, programs: list[Program], arrivals: Sequence[tuple[int, int, bytes]], until: int
) -> tuple[dict[int, Columns], str]:
    """The rows of each port, and the switch's statistics as JSON, of a live switch's configuration
    into which frames come at instants in virtual time: ns, port, bytes, in the order of time."""

class Entries:
    """Entries of a table, in their order, as rows."""

    def __len__(self) -> int: ...
    def json(self) -> str:
        """All of them as a control plane writes them, a list in JSON."""

class Text:
    """A text that Python holds and does not read; `str` makes one that it can."""

    def __init__(self, text: str) -> None: ...

def take_entries(text: bytes) -> tuple[str, list[Entries | None]]:
    """Takes entries that are plainly written out of a control plane's TOML: what is left of the
    text, and for each `[[tables]]` its first entries, which were taken, if any were. None are of
    what is no UTF-8."""

class Operations:
    """Operations in their order, gathered for a switch."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(self, operation: str) -> None:
        """Puts one behind the others, as JSON."""

    def written_as(
        self,
        matched: Mapping[str, Any],
        action: str,
        args: Mapping[str, Any] | None,
        keys: Sequence[str],
    ) -> None:
        """Says how the entry that was added last is written in Python, and by their full names the
        key elements of `matched`, in its order: others may follow that are written alike."""

    def another(
        self,
        table: str,
        matched: Mapping[str, Any],
        action: str,
        args: Mapping[str, Any] | None,
        priority: int,
    ) -> bool:
        """Adds an entry that is written like the last one, with other numbers; false if it is not,
        and nothing is done."""

class PacketSwitch:
    """One program on one switch that nothing is connected to, in virtual time."""

    def __init__(
        self,
        program: Program,
        priority_queues: int | None = None,
    ) -> None: ...
    def describe(self) -> str:
        """Tables, actions, registers and the rest by name, as JSON."""

    def configure(self, control: str) -> None:
        """Installs a control plane given as JSON, in addition to what is there."""

    def apply(self, operations: str | Operations) -> list[int | None]:
        """Carries out operations, gathered or a list in JSON, all of them or none; the handle of
        each entry that was added alone."""

    def operation_of(self, statement: str) -> str:
        """The operation that a statement of STF asks for, both as JSON."""

    def command(self, line: str) -> list[str]:
        """Carries out a line of `simple_switch_CLI`; what it answers, if it only reads."""

    def read(self, query: str) -> str:
        """What a question in JSON is answered, as JSON."""

    def read_register(self, name: str, index: int) -> list[str]:
        """One cell: a number in decimal digits for each field."""

    def read_counter(self, name: str, index: int) -> tuple[int, int]:
        """Packets and bytes in one cell."""

    def take_digests(self) -> list[tuple[str, int, bytes]]:
        """Messages of the program to its control plane since the last call: name, ns, bytes."""

    def receive(self, port: int, frame: bytes) -> None:
        """A frame arrives now."""

    def settle(self, limit: int) -> bool:
        """Lets at most `limit` ns pass until nothing is left to do; false if something is."""

    def wait(self, span: int) -> None:
        """Lets `span` ns pass."""

    @property
    def now(self) -> int: ...
    @property
    def next_timer(self) -> int | None:
        """Time of the next event, ns, if one is pending."""

    def follow(self) -> None:
        """Has every packet followed from now on."""

    def take_passes(self) -> str:
        """The passes since the last call, as JSON."""

    def take(self) -> list[tuple[int, bytes]]:
        """What has left since the last call: port and frame."""

    def faults(self) -> str:
        """What the program did so far that its target cannot do, by kind, as JSON."""
