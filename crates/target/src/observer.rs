//! Observer of a program while packets pass: step-by-step traces of selected packets, and values of
//! selected registers after every pass.
//!
//! A [`Plane`](crate::Plane) checks once per pass whether an observer is present. Observations go
//! into a [`TraceLog`], which the requester empties. Registers are read through the control-plane
//! interface, so this module must not depend on any target.

use serde::Serialize;
use sojourn_control::ControlError;
use sojourn_control::runtime_control::{RegisterCells, RuntimeControl, find_register};
use sojourn_p4::interp::trace::Node;
use sojourn_packet::{EgressInput, IngressInput, Packet, PacketId, Time};
use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of cells that one name selects.
const MOST_CELLS: usize = 64;

/// Requested observations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRequest {
    /// Packets to be followed, by number.
    pub packets: BTreeSet<u64>,
    /// Whether every packet is.
    pub every_packet: bool,
    /// Registers by name, or the end of one: `codel.count`, `codel.count[3]`, `codel.count[0..7]`.
    /// Without cells all of them, of a large register those that change first.
    pub registers: Vec<String>,
}

impl TraceRequest {
    /// True if nothing is requested.
    pub fn is_nothing(&self) -> bool {
        self.packets.is_empty() && !self.every_packet && self.registers.is_empty()
    }
}

/// A change of a register cell's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterChange {
    /// The pass after which it was there.
    pub at: Time,
    /// Register cell: an index into [`TraceLog::names`].
    pub name_index: u32,
    /// The value.
    pub value: u64,
}

/// One pass of a packet that was followed.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Start of its parser.
    pub at: Time,
    /// The packet.
    pub packet: PacketId,
    /// Its bytes as the pass was given them, without what the chip puts in front.
    pub bytes: Vec<u8>,
    /// Zeros behind them.
    pub zeros: u32,
    /// Input of the pass from the switch.
    pub pass_input: PassInput,
    /// Steps of the pass.
    pub steps: Vec<Node>,
    /// Result of the pass.
    pub result: PassResult,
}

/// Input of a pass from the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "pass", rename_all = "lowercase")]
#[allow(missing_docs)] // The fields are those of the passes' inputs.
pub enum PassInput {
    Ingress { port: u16, resubmitted: bool },
    Egress { port: u16, queue: u8, enqueued: u64, dequeued: u64, depth: u32, mirrored: bool },
}

/// Result of a pass for its packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PassResult {
    /// Destination, in words.
    pub to: String,
    /// Its bytes after the pass, as hexadecimal digits; `None` if it has no destination.
    pub bytes: Option<String>,
}

/// Observations since the log was last taken.
#[derive(Debug, Default)]
pub struct TraceLog {
    /// Full names of the registers' cells, with the field's number if a cell has several.
    pub names: Vec<String>,
    /// Changes of their values, including the initial value.
    pub changes: Vec<RegisterChange>,
    /// Passes.
    pub passes: Vec<Pass>,
}

/// Trace log shared with the observed program.
pub type SharedTrace = Arc<Mutex<TraceLog>>;

/// Locks the log.
pub fn lock(seen: &SharedTrace) -> MutexGuard<'_, TraceLog> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Observer of a program.
#[derive(Debug)]
pub struct Observer {
    request: TraceRequest,
    cells: Vec<Cell>,
    large: Vec<LargeRegister>,
    seen: SharedTrace,
}

/// A register with more cells than are reported: the first to change are.
#[derive(Debug)]
struct LargeRegister {
    register: usize,
    /// Cells after the last pass.
    saved: Box<dyn Any + Send>,
    /// Number of cells reported.
    reported_cells: usize,
}

#[derive(Debug)]
struct Cell {
    /// Index of the register in the program.
    register: usize,
    index: usize,
    /// Index of the first of its fields in [`TraceLog::names`].
    name_index: u32,
    last: Vec<u64>,
    reported: bool,
}

impl Cell {
    /// A cell without a report so far.
    fn new(register: &dyn RegisterCells, at: usize, index: usize, names: &mut Vec<String>) -> Cell {
        let fields = register.read(index).unwrap_or_default().len();
        let name_index = names.len() as u32;
        let name = register.name();
        let base = if register.cells() > 1 { format!("{name}[{index}]") } else { name.to_owned() };
        match fields {
            1 => names.push(base),
            several => names.extend((0..several).map(|field| format!("{base}.{field}"))),
        }
        Cell { register: at, index, name_index, last: vec![0; fields], reported: false }
    }
}

impl Observer {
    /// Creates an observer of the requested items.
    pub fn new(
        request: TraceRequest,
        program: &mut dyn RuntimeControl,
    ) -> Result<(Observer, SharedTrace), ControlError> {
        let mut seen = TraceLog::default();
        let (mut cells, mut large) = (Vec::new(), Vec::new());
        for name in &request.registers {
            find(name, program, &mut cells, &mut large, &mut seen.names)?;
        }
        let seen: SharedTrace = Arc::new(Mutex::new(seen));
        Ok((Observer { request, cells, large, seen: seen.clone() }, seen))
    }

    /// Whether a packet is to be traced.
    pub fn follows(&self, packet: &Packet) -> bool {
        self.request.every_packet || self.request.packets.contains(&packet.id.0)
    }

    /// Compares the registers at the end of a pass.
    pub fn poll(&mut self, now: Time, program: &mut dyn RuntimeControl) {
        if self.cells.is_empty() && self.large.is_empty() {
            return;
        }
        let registers = program.registers();
        for large in &mut self.large {
            let register: &dyn RegisterCells = &*registers[large.register];
            for index in register.changes(&mut *large.saved) {
                let reported = |cell: &Cell| (cell.register, cell.index) == (large.register, index);
                if large.reported_cells < MOST_CELLS && !self.cells.iter().any(reported) {
                    large.reported_cells += 1;
                    let names = &mut lock(&self.seen).names;
                    self.cells.push(Cell::new(register, large.register, index, names));
                }
            }
        }
        for cell in &mut self.cells {
            let Some(words) = registers[cell.register].read(cell.index) else { continue };
            for (field, word) in words.iter().enumerate() {
                let value = word.iter_u64_digits().next().unwrap_or(0);
                let Some(last) = cell.last.get_mut(field) else { continue };
                if *last != value || !cell.reported {
                    *last = value;
                    let name_index = cell.name_index + field as u32;
                    lock(&self.seen).changes.push(RegisterChange { at: now, name_index, value });
                }
            }
            cell.reported = true;
        }
    }

    /// Records a traced pass.
    pub fn passed(&self, pass: Pass) {
        lock(&self.seen).passes.push(pass);
    }
}

/// Appends the cells of a name.
fn find(
    request: &str,
    program: &mut dyn RuntimeControl,
    cells: &mut Vec<Cell>,
    large: &mut Vec<LargeRegister>,
    names: &mut Vec<String>,
) -> Result<(), ControlError> {
    let (name, range) = split(request)?;
    let full = find_register(program.registers(), name)?.name().to_owned();
    let registers = program.registers();
    let Some(at) = registers.iter().position(|register| register.name() == full) else {
        return Ok(());
    };
    let register: &dyn RegisterCells = &*registers[at];
    let size = register.cells();
    let range = match range {
        Some(range) => range,
        // A direct register has no cells before its table has entries.
        None if size > MOST_CELLS || size == 0 => {
            large.push(LargeRegister { register: at, saved: register.save(), reported_cells: 0 });
            return Ok(());
        }
        None => 0..=size - 1,
    };
    if *range.end() >= size {
        return Err(ControlError::Cell { what: "register", name: full, index: *range.end() });
    }
    if range.clone().count() > MOST_CELLS {
        return Err(ControlError::Message(format!(
            "`{request}`: a trace has at most {MOST_CELLS} cells of a register; without any it has \
             those that change first"
        )));
    }
    for index in range {
        cells.push(Cell::new(register, at, index, names));
    }
    Ok(())
}

/// A name and its cells.
fn split(request: &str) -> Result<(&str, Option<std::ops::RangeInclusive<usize>>), ControlError> {
    let Some((name, rest)) = request.split_once('[') else { return Ok((request, None)) };
    let inner = rest.strip_suffix(']');
    let range = inner.and_then(|inner| match inner.split_once("..") {
        None => inner.parse().ok().map(|index: usize| index..=index),
        Some((low, high)) => {
            let (low, high): (usize, usize) = (low.parse().ok()?, high.parse().ok()?);
            (low <= high).then_some(low..=high)
        }
    });
    match range {
        Some(range) => Ok((name, Some(range))),
        None => Err(ControlError::Message(format!(
            "`{request}`: cells of a register are `{name}[3]` or `{name}[0..7]`"
        ))),
    }
}

impl From<&IngressInput> for PassInput {
    fn from(input: &IngressInput) -> PassInput {
        PassInput::Ingress { port: input.port.0, resubmitted: input.resubmitted }
    }
}

impl From<&EgressInput> for PassInput {
    fn from(input: &EgressInput) -> PassInput {
        PassInput::Egress {
            port: input.port.0,
            queue: input.queue,
            enqueued: input.enqueued.0,
            dequeued: input.dequeued.0,
            depth: input.enqueue_depth,
            mirrored: input.mirrored,
        }
    }
}

/// Bytes as hexadecimal digits, without the zeros behind them.
pub fn hex(packet: &Packet) -> String {
    packet.bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
