//! Observer of a program while packets pass: step-by-step traces of selected packets, and values of
//! selected registers after every pass.
//!
//! A [`Plane`](crate::Plane) checks once per pass whether an observer is present. Observations go
//! into a [`Seen`], which the requester empties. Registers are read through the control-plane
//! interface, so this module must not depend on any target.

use serde::Serialize;
use sojourn_control::ControlError;
use sojourn_control::runtime_control::{RegisterCells, RuntimeControl, find_register};
use sojourn_p4::interp::trace::Node;
use sojourn_packet::{EgressInput, IngressInput, Packet, Time};
use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Cells that one name may mean.
const MOST_CELLS: usize = 64;

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Packets to be followed, by number.
    pub packets: BTreeSet<u64>,
    /// Whether every packet is.
    pub every_packet: bool,
    /// Registers by name, or the end of one: `codel.count`, `codel.count[3]`, `codel.count[0..7]`.
    /// Without cells all of them, of a large register those that change first.
    pub registers: Vec<String>,
}

impl Wanted {
    /// Nothing.
    pub fn is_nothing(&self) -> bool {
        self.packets.is_empty() && !self.every_packet && self.registers.is_empty()
    }
}

/// A value of a register, from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterChange {
    /// The pass after which it was there.
    pub at: Time,
    /// Which: index into [`Seen::names`].
    pub of: u32,
    /// The value.
    pub value: u64,
}

/// One pass of a packet that was followed.
#[derive(Clone, Debug)]
pub struct Pass {
    /// When its parser began.
    pub at: Time,
    /// The packet.
    pub packet: u64,
    /// Its bytes as the pass was given them, without what the chip puts in front.
    pub bytes: Vec<u8>,
    /// Zeros behind them.
    pub zeros: u32,
    /// What the switch told the pass.
    pub given: Given,
    /// What it did.
    pub steps: Vec<Node>,
    /// What became of it.
    pub became: Became,
}

/// What a switch tells a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "pass", rename_all = "lowercase")]
#[allow(missing_docs)] // The fields are those of the passes' inputs.
pub enum Given {
    Ingress { port: u16, resubmitted: bool },
    Egress { port: u16, queue: u8, enqueued: u64, dequeued: u64, depth: u32, mirrored: bool },
}

/// What became of a packet in a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Became {
    /// Where it goes, in words.
    pub to: String,
    /// Its bytes behind the pass, as hexadecimal digits; none if it goes nowhere.
    pub bytes: Option<String>,
}

/// What was seen since it was last taken.
#[derive(Debug, Default)]
pub struct Seen {
    /// The registers' cells by full name, with the field's number where a cell has several.
    pub names: Vec<String>,
    /// Changes of their values, and the value at first.
    pub changes: Vec<RegisterChange>,
    /// Passes.
    pub passes: Vec<Pass>,
}

/// What is seen, shared with the program that it is seen in.
pub type SharedSeen = Arc<Mutex<Seen>>;

/// Locks what was seen.
pub fn lock(seen: &SharedSeen) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A watch beside a program.
#[derive(Debug)]
pub struct Watch {
    wanted: Wanted,
    cells: Vec<Cell>,
    large: Vec<Large>,
    seen: SharedSeen,
}

/// A register with more cells than are told: those that change first.
#[derive(Debug)]
struct Large {
    register: usize,
    /// How it was after the last pass.
    saved: Box<dyn Any + Send>,
    /// Cells that are told already.
    known: usize,
}

#[derive(Debug)]
struct Cell {
    /// Place of the register in the program.
    register: usize,
    index: usize,
    /// The first of its fields in [`Seen::names`].
    of: u32,
    last: Vec<u64>,
    told: bool,
}

impl Cell {
    /// A cell that nothing has been told of.
    fn new(register: &dyn RegisterCells, at: usize, index: usize, names: &mut Vec<String>) -> Cell {
        let fields = register.read(index).unwrap_or_default().len();
        let of = names.len() as u32;
        let name = register.name();
        let base = if register.cells() > 1 { format!("{name}[{index}]") } else { name.to_owned() };
        match fields {
            1 => names.push(base),
            several => names.extend((0..several).map(|field| format!("{base}.{field}"))),
        }
        Cell { register: at, index, of, last: vec![0; fields], told: false }
    }
}

impl Watch {
    /// A watch for what is wanted.
    pub fn new(
        wanted: Wanted,
        program: &mut dyn RuntimeControl,
    ) -> Result<(Watch, SharedSeen), ControlError> {
        let mut seen = Seen::default();
        let (mut cells, mut large) = (Vec::new(), Vec::new());
        for name in &wanted.registers {
            find(name, program, &mut cells, &mut large, &mut seen.names)?;
        }
        let seen: SharedSeen = Arc::new(Mutex::new(seen));
        Ok((Watch { wanted, cells, large, seen: seen.clone() }, seen))
    }

    /// Whether a packet is to be followed.
    pub fn follows(&self, packet: &Packet) -> bool {
        self.wanted.every_packet || self.wanted.packets.contains(&packet.id.0)
    }

    /// A pass has ended: looks what the registers hold.
    pub fn look(&mut self, now: Time, program: &mut dyn RuntimeControl) {
        if self.cells.is_empty() && self.large.is_empty() {
            return;
        }
        let registers = program.registers();
        for large in &mut self.large {
            let register: &dyn RegisterCells = &*registers[large.register];
            for index in register.changes(&mut *large.saved) {
                let told = |cell: &Cell| (cell.register, cell.index) == (large.register, index);
                if large.known < MOST_CELLS && !self.cells.iter().any(told) {
                    large.known += 1;
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
                if *last != value || !cell.told {
                    *last = value;
                    let of = cell.of + field as u32;
                    lock(&self.seen).changes.push(RegisterChange { at: now, of, value });
                }
            }
            cell.told = true;
        }
    }

    /// A pass was followed.
    pub fn passed(&self, pass: Pass) {
        lock(&self.seen).passes.push(pass);
    }
}

/// The cells that a name means, put behind those that are there.
fn find(
    wanted: &str,
    program: &mut dyn RuntimeControl,
    cells: &mut Vec<Cell>,
    large: &mut Vec<Large>,
    names: &mut Vec<String>,
) -> Result<(), ControlError> {
    let (name, range) = split(wanted)?;
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
            large.push(Large { register: at, saved: register.save(), known: 0 });
            return Ok(());
        }
        None => 0..=size - 1,
    };
    if *range.end() >= size {
        return Err(ControlError::Cell { what: "register", name: full, index: *range.end() });
    }
    if range.clone().count() > MOST_CELLS {
        return Err(ControlError::Said(format!(
            "`{wanted}`: a trace has at most {MOST_CELLS} cells of a register; without any it has \
             those that change first"
        )));
    }
    for index in range {
        cells.push(Cell::new(register, at, index, names));
    }
    Ok(())
}

/// A name and the cells behind it.
fn split(wanted: &str) -> Result<(&str, Option<std::ops::RangeInclusive<usize>>), ControlError> {
    let Some((name, rest)) = wanted.split_once('[') else { return Ok((wanted, None)) };
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
        None => Err(ControlError::Said(format!(
            "`{wanted}`: cells of a register are `{name}[3]` or `{name}[0..7]`"
        ))),
    }
}

impl From<&IngressInput> for Given {
    fn from(input: &IngressInput) -> Given {
        Given::Ingress { port: input.port.0, resubmitted: input.resubmitted }
    }
}

impl From<&EgressInput> for Given {
    fn from(input: &EgressInput) -> Given {
        Given::Egress {
            port: input.port.0,
            queue: input.queue,
            enqueued: input.enqueued.0,
            dequeued: input.dequeued.0,
            depth: input.enqueue_depth,
            mirrored: input.mirrored,
        }
    }
}

/// Bytes as hexadecimal digits, zeros behind them left out.
pub fn hex(packet: &Packet) -> String {
    packet.bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
