//! The six blocks of a `V1Switch`: their frames, and what moves between them.
//!
//! bmv2 keeps one packet header vector. Here a pass has one frame, which goes from block to block:
//! headers, metadata and standard metadata lie at the same slots in all of them, and a block's own
//! variables behind these. A block for which that is not so has a frame of its own, and what it
//! shares is copied. It must not know what the metadata means.

use super::standard::Standard;
use crate::package::shared_parts;
use crate::phv::Phv;
use num_bigint::BigUint;
use sojourn_p4::interp::{Frame, Interpreter, SlotRange, copy_range};
use sojourn_p4::ir::{Body, Layout, Slot, UnitId};
use std::ops::Range;

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The unit.
    pub unit: UnitId,
    /// The frame it runs on, once it has taken over from the block before.
    pub frame: Frame,
    /// Its own variables: the slots behind its parameters.
    own: Range<usize>,
    own_wide: Range<usize>,
    /// True if it runs on the frame that the blocks of a pass hand on.
    joins: bool,
    /// Headers, metadata and standard metadata, as far as it has them.
    parts: [Option<SlotRange>; 3],
    /// Fields of the standard metadata.
    pub standard: Standard,
    /// Each header, for the length of the packet.
    headers: HeaderLengths,
    /// It has nothing to do.
    pub idle: bool,
}

/// What headers add to a packet's length, each by the slot of its validity.
#[derive(Clone, Debug, Default)]
struct HeaderLengths {
    /// Bits of their fields but for the variable-size ones.
    fixed: Vec<(Slot, u32)>,
    /// The slot of the length of each of these, in bits.
    variable: Vec<(Slot, Slot)>,
}

/// Which part of the packet header vector a parameter is.
const STANDARD: usize = 2;

impl Block {
    /// The block of a unit whose parameters are a packet or not, headers, metadata and standard
    /// metadata, in this order; those at the end may be absent.
    pub fn new(interpreter: &Interpreter, unit: UnitId) -> Block {
        let declared = &interpreter.program().units[unit.index()];
        let layouts = shared_parts(declared);
        let parts = layouts.map(|layout| layout.map(Layout::range));
        let mut headers = HeaderLengths::default();
        layouts[0].inspect(|layout| collect_headers(layout, &mut headers));
        Block {
            unit,
            frame: interpreter.frame(unit),
            own: narrow_end(&parts)..declared.slots.len(),
            own_wide: wide_end(&parts)..declared.wide_slots.len(),
            joins: false,
            parts,
            standard: layouts[STANDARD].map(Standard::new).unwrap_or_default(),
            headers,
            idle: matches!(&declared.body, Body::Control { stmts, .. } if stmts.is_empty()),
        }
    }

    /// Lets the blocks of a program that can share one frame; `full` is one that has all parts.
    pub fn join(blocks: &mut [Block], full: &Block) {
        let (slots, wide_slots) = (narrow_end(&full.parts), wide_end(&full.parts));
        for block in blocks.iter_mut() {
            let behind = |own: &Range<usize>, end| own.is_empty() || own.start >= end;
            let same = |(own, full): (&Option<SlotRange>, _)| own.is_none() || own == full;
            block.joins = block.parts.iter().zip(&full.parts).all(same)
                && behind(&block.own, slots)
                && behind(&block.own_wide, wide_slots);
        }
        let joined = blocks.iter().filter(|block| block.joins);
        let sizes = joined.map(|block| (block.own.end, block.own_wide.end));
        let most = sizes.fold((slots, wide_slots), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        for block in blocks.iter_mut().filter(|block| block.joins) {
            block.frame.narrow.resize(most.0, 0);
            block.frame.wide.resize(most.1, BigUint::ZERO);
        }
    }

    /// Makes the frame ready for a packet.
    pub fn reset(&mut self) {
        self.frame.clear();
    }

    /// Makes the block's own variables zero.
    fn clear_own(&mut self) {
        self.frame.clear_slots(self.own.clone());
        self.frame.clear_wide_slots(self.own_wide.clone());
    }

    /// Begins this block with what the one before it has left, whose frame is then of no use until
    /// [`Block::give_back`].
    pub fn take_over(&mut self, before: &mut Block) {
        if self.joins && before.joins {
            swap(&mut self.frame, &mut before.frame);
            self.clear_own();
        } else {
            self.reset();
            copy_shared(before, self);
        }
    }

    /// Ends this block: the one before it has its frame again, with what this one has changed.
    pub fn give_back(&mut self, before: &mut Block) {
        if self.joins && before.joins {
            swap(&mut self.frame, &mut before.frame);
        } else {
            copy_shared(self, before);
        }
    }

    /// Bytes that the valid headers take.
    pub fn header_bytes(&self) -> u32 {
        let is_valid = |valid: Slot| self.frame.get(valid) != 0;
        let mut bits = 0;
        for (valid, fixed) in &self.headers.fixed {
            bits += if is_valid(*valid) { *fixed } else { 0 };
        }
        for (valid, length) in &self.headers.variable {
            bits += if is_valid(*valid) { self.frame.get(*length) as u32 } else { 0 };
        }
        bits / 8
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

    /// Begins with what [`Block::save`] has kept of a block with the same parts.
    pub fn restore(&mut self, phv: &Phv) {
        self.clear_own();
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

/// Exchanges the slots of two frames.
fn swap(a: &mut Frame, b: &mut Frame) {
    std::mem::swap(&mut a.narrow, &mut b.narrow);
    if !a.wide.is_empty() {
        std::mem::swap(&mut a.wide, &mut b.wide);
    }
}

/// Copies the parts that two blocks have to the second one's frame.
fn copy_shared(from: &Block, to: &mut Block) {
    for (source, target) in from.parts.into_iter().zip(to.parts) {
        if let (Some(source), Some(target)) = (source, target) {
            copy_range(&from.frame, source, &mut to.frame, target);
        }
    }
}

/// The slot behind the last part; parameters come first in a frame, one behind the other.
fn narrow_end(parts: &[Option<SlotRange>]) -> usize {
    parts
        .iter()
        .flatten()
        .filter(|part| part.narrow_len > 0)
        .map(|p| p.narrow().end)
        .max()
        .unwrap_or(0)
}

/// The same for wide slots.
fn wide_end(parts: &[Option<SlotRange>]) -> usize {
    parts.iter().flatten().filter(|part| part.wide_len > 0).map(|p| p.wide().end).max().unwrap_or(0)
}

fn collect_headers(layout: &Layout, headers: &mut HeaderLengths) {
    match layout {
        Layout::Header { valid, fields, .. } => {
            let bits = fields.iter().map(|field| measure(*valid, field, headers)).sum();
            headers.fixed.push((*valid, bits));
        }
        Layout::Union { members: parts, .. }
        | Layout::Struct { fields: parts, .. }
        | Layout::Stack { elements: parts, .. } => {
            parts.iter().for_each(|part| collect_headers(part, headers));
        }
        _ => {}
    }
}

/// Bits of a field but for those of variable size, which are noted.
fn measure(valid: Slot, field: &Layout, headers: &mut HeaderLengths) -> u32 {
    match field {
        Layout::VarBit { length, .. } => {
            headers.variable.push((valid, *length));
            0
        }
        Layout::Struct { fields, .. } => {
            fields.iter().map(|field| measure(valid, field, headers)).sum()
        }
        other => other.wire_bits(None) as u32,
    }
}
