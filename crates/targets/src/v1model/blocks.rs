//! The six blocks of a `V1Switch`: their frames, and what moves between them.
//!
//! bmv2 keeps one packet header vector; here each block has a frame of its own, and headers,
//! metadata and standard metadata are copied from one to the next. It must not know what the
//! metadata means.

use super::standard::Standard;
use crate::phv::Phv;
use sojourn_p4::interp::{Frame, Interpreter, SlotRange, copy_range};
use sojourn_p4::ir::{Body, Layout, Slot, UnitId};

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The unit.
    pub unit: UnitId,
    /// Its frame, used again for each packet.
    pub frame: Frame,
    /// Headers, metadata and standard metadata, as far as it has them.
    parts: [Option<SlotRange>; 3],
    /// Fields of the standard metadata.
    pub standard: Standard,
    /// Each header, for the length of the packet.
    headers: Vec<HeaderLength>,
    /// It has nothing to do.
    pub idle: bool,
}

/// What a header adds to a packet's length.
#[derive(Clone, Debug)]
struct HeaderLength {
    valid: Slot,
    bits: u32,
    /// Lengths of its variable-size fields.
    variable: Vec<Slot>,
}

/// Which part of the packet header vector a parameter is.
const STANDARD: usize = 2;

impl Block {
    /// The block of a unit whose parameters are a packet or not, headers, metadata and standard
    /// metadata, in this order; those at the end may be absent.
    pub fn new(interpreter: &Interpreter, unit: UnitId) -> Block {
        let declared = &interpreter.program().units[unit.index()];
        let params = declared.params.iter().map(|param| &param.layout);
        let mut params = params.filter(|layout| !matches!(layout, Layout::Object));
        let layouts = [params.next(), params.next(), params.next()];
        let mut headers = Vec::new();
        layouts[0].inspect(|layout| collect_headers(layout, &mut headers));
        Block {
            unit,
            frame: interpreter.frame(unit),
            parts: layouts.map(|layout| layout.map(Layout::range)),
            standard: layouts[STANDARD].map(Standard::new).unwrap_or_default(),
            headers,
            idle: matches!(&declared.body, Body::Control { stmts, .. } if stmts.is_empty()),
        }
    }

    /// Makes the frame ready for a packet.
    pub fn reset(&mut self) {
        self.frame.clear();
    }

    /// Bytes that the valid headers take.
    pub fn header_bytes(&self) -> u32 {
        let valid = self.headers.iter().filter(|header| self.frame.get(header.valid) != 0);
        let bits = |header: &HeaderLength| {
            let variable = header.variable.iter().map(|slot| self.frame.get(*slot) as u32);
            header.bits + variable.sum::<u32>()
        };
        valid.map(bits).sum::<u32>() / 8
    }

    /// Ranges of the parts that this block and another have.
    fn shared(&self, to: &Block) -> impl Iterator<Item = (SlotRange, SlotRange)> + use<> {
        let pairs = self.parts.into_iter().zip(to.parts);
        pairs.filter_map(|(from, to)| Some((from?, to?)))
    }

    /// Copies what both have to another block's frame.
    pub fn hand_on(&self, to: &mut Block) {
        for (from, target) in self.shared(to) {
            copy_range(&self.frame, from, &mut to.frame, target);
        }
    }

    /// Keeps headers, metadata and standard metadata in `phv`.
    pub fn save(&self, phv: &mut Phv) {
        phv.narrow.clear();
        phv.wide.clear();
        for part in self.parts.iter().flatten() {
            phv.narrow.extend_from_slice(self.frame.narrow.get(part.narrow()).unwrap_or_default());
            phv.wide.extend_from_slice(self.frame.wide.get(part.wide()).unwrap_or_default());
        }
    }

    /// Puts back what [`Block::save`] has kept of a block with the same parts.
    pub fn restore(&mut self, phv: &Phv) {
        let (mut narrow, mut wide) = (0, 0);
        for part in self.parts.iter().flatten() {
            let (slots, wide_slots) = (part.narrow(), part.wide());
            let kept = phv.narrow.get(narrow..narrow + slots.len());
            narrow += slots.len();
            if let (Some(kept), Some(slots)) = (kept, self.frame.narrow.get_mut(slots)) {
                slots.copy_from_slice(kept);
            }
            let kept = phv.wide.get(wide..wide + wide_slots.len());
            wide += wide_slots.len();
            if let (Some(kept), Some(slots)) = (kept, self.frame.wide.get_mut(wide_slots)) {
                slots.clone_from_slice(kept);
            }
        }
    }

    /// Where a slot of the metadata or standard metadata lies in what [`Block::save`] keeps.
    pub fn kept_at(&self, slot: Slot) -> Option<u32> {
        let mut before = 0;
        for (number, part) in self.parts.iter().enumerate() {
            let Some(part) = part else { continue };
            let slots = part.narrow();
            if slots.contains(&slot.index()) {
                return (number > 0).then(|| (before + slot.index() - slots.start) as u32);
            }
            before += slots.len();
        }
        None
    }

    /// The same for a wide slot, by its index.
    pub fn wide_kept_at(&self, slot: usize) -> Option<u32> {
        let mut before = 0;
        for (number, part) in self.parts.iter().enumerate() {
            let Some(part) = part else { continue };
            let slots = part.wide();
            if slots.contains(&slot) {
                return (number > 0).then(|| (before + slot - slots.start) as u32);
            }
            before += slots.len();
        }
        None
    }

    /// Numbers of narrow and wide slots that the headers take in what [`Block::save`] keeps.
    pub fn header_slots(&self) -> (usize, usize) {
        self.parts[0].map_or((0, 0), |part| (part.narrow().len(), part.wide().len()))
    }
}

fn collect_headers(layout: &Layout, headers: &mut Vec<HeaderLength>) {
    match layout {
        Layout::Header { valid, fields, .. } => {
            let mut header = HeaderLength { valid: *valid, bits: 0, variable: Vec::new() };
            fields.iter().for_each(|field| measure(field, &mut header));
            headers.push(header);
        }
        Layout::Union { members: parts, .. }
        | Layout::Struct { fields: parts, .. }
        | Layout::Stack { elements: parts, .. } => {
            parts.iter().for_each(|part| collect_headers(part, headers));
        }
        _ => {}
    }
}

fn measure(field: &Layout, header: &mut HeaderLength) {
    match field {
        Layout::VarBit { length, .. } => header.variable.push(*length),
        Layout::Struct { fields, .. } => fields.iter().for_each(|field| measure(field, header)),
        other => header.bits += other.wire_bits(None) as u32,
    }
}
