//! The six blocks of a `V1Switch`: their frames, and the data passed between them.
//!
//! bmv2 has one packet header vector. Here a pass has one frame, on which its blocks run in
//! sequence: headers, metadata and standard metadata have the same slots in all of them, and a
//! block's own variables follow. A block that does not fit this scheme has a frame of its own, and
//! its shared parts are copied. Between passes a packet takes its slots along unchanged. Must not
//! depend on the meaning of the metadata.

use super::standard_metadata::Standard;
use num_bigint::BigUint;
use sojourn_p4::interp::{Frame, Interpreter, SlotRange, copy_range};
use sojourn_p4::ir::{Body, Layout, Slot, UnitId};
use sojourn_target::def_use::written_by;
use sojourn_target::package::shared_parts;
use sojourn_target::phv::Phv;
use std::mem::swap;
use std::ops::Range;

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The unit.
    pub unit: UnitId,
    /// Index of its frame, once the previous block's data is taken over.
    at: usize,
    /// Its own variables: the slots behind its parameters.
    own: Range<usize>,
    own_wide: Range<usize>,
    /// Headers, metadata and standard metadata, if present.
    parts: [Option<SlotRange>; 3],
    /// True if the shared parts are at the front of its frame, in the order of [`Frames::save`].
    in_order: bool,
    /// Fields of the standard metadata.
    pub standard: Standard,
    /// Sizes of its headers, for the length of the packet.
    headers: HeaderLengths,
    /// True if it may change the validity or the length of headers.
    pub resizes: bool,
    /// True if it does nothing.
    pub idle: bool,
}

/// Contributions of headers to a packet's length, each by the slot of its validity.
#[derive(Clone, Debug, Default)]
struct HeaderLengths {
    /// Bits of their fields, excluding the variable-size ones.
    fixed: Vec<(Slot, u32)>,
    /// Slot of the length of each of these, in bits.
    variable: Vec<(Slot, Slot)>,
}

/// Index of the standard metadata among the parts of the packet header vector.
const STANDARD: usize = 2;

/// Index of the ingress control among the blocks, which has all parts.
const FULL: usize = 2;

/// The six blocks.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // They are named for their places in the package.
pub struct Blocks {
    pub parser: Block,
    pub verify: Block,
    pub ingress: Block,
    pub egress: Block,
    pub compute: Block,
    pub deparser: Block,
    /// The first is shared by all blocks that can share one.
    pub frames: Frames,
}

/// The frames of a program's blocks.
#[derive(Clone, Debug)]
pub struct Frames(Vec<Frame>);

impl Blocks {
    /// Blocks in the order of `V1Switch`'s parameters.
    pub fn new(mut blocks: [Block; 6]) -> Blocks {
        let full = blocks[FULL].parts;
        let (slots, wide_slots) = (narrow_end(&full), wide_end(&full));
        let mut frames = vec![frame(slots, wide_slots)];
        for block in &mut blocks {
            let behind = |own: &Range<usize>, end| own.is_empty() || own.start >= end;
            let same = |(own, full): (&Option<SlotRange>, _)| own.is_none() || own == full;
            let joins = block.parts.iter().zip(&full).all(same)
                && behind(&block.own, slots)
                && behind(&block.own_wide, wide_slots);
            if joins {
                grow(&mut frames[0], block.size());
            } else {
                block.at = frames.len();
                frames.push(frame(block.size().0, block.size().1));
            }
        }
        let [parser, verify, ingress, egress, compute, deparser] = blocks;
        Blocks { parser, verify, ingress, egress, compute, deparser, frames: Frames(frames) }
    }
}

impl Frames {
    /// The frame of a block.
    #[inline]
    pub fn frame(&mut self, block: &Block) -> &mut Frame {
        &mut self.0[block.at]
    }

    /// Ensures that the shared frame has `slots` slots.
    pub fn make_room(&mut self, slots: usize) {
        grow(&mut self.0[0], (slots, 0));
    }

    /// Initialises the frame of a block for a packet.
    pub fn reset(&mut self, block: &Block) {
        self.frame(block).clear();
    }

    /// Clears the block's own variables.
    #[inline]
    pub fn clear_own(&mut self, block: &Block) {
        if block.own.is_empty() && block.own_wide.is_empty() {
            return;
        }
        let frame = self.frame(block);
        frame.clear_slots(block.own.clone());
        frame.clear_wide_slots(block.own_wide.clone());
    }

    /// Begins a block with the data of the previous one.
    pub fn hand_over(&mut self, before: &Block, block: &Block) {
        if block.at == before.at {
            self.clear_own(block);
        } else {
            self.reset(block);
            self.copy_shared(before, block);
        }
    }

    /// Returns the data of this block to the previous one.
    pub fn give_back(&mut self, block: &Block, before: &Block) {
        if block.at != before.at {
            self.copy_shared(block, before);
        }
    }

    /// Copies the parts that two blocks share to the second one's frame.
    fn copy_shared(&mut self, from: &Block, to: &Block) {
        let Ok([source, target]) = self.0.get_disjoint_mut([from.at, to.at]) else { return };
        for (from, to) in from.parts.into_iter().zip(to.parts) {
            if let (Some(from), Some(to)) = (from, to) {
                copy_range(source, from, target, to);
            }
        }
    }

    /// Saves headers, metadata and standard metadata in `phv`.
    pub fn save(&self, block: &Block, phv: &mut Phv) {
        let frame = &self.0[block.at];
        phv.narrow.clear();
        phv.wide.clear();
        for part in block.parts.iter().flatten() {
            phv.narrow.extend_from_slice(frame.narrow.get(part.narrow()).unwrap_or_default());
            phv.wide.extend_from_slice(frame.wide.get(part.wide()).unwrap_or_default());
        }
    }

    /// As [`Frames::save`], at the end of a pass, after which the block's frame is not used: the
    /// packet takes its slots along.
    #[inline]
    pub fn take_along(&mut self, block: &Block, phv: &mut Phv) {
        if block.in_order {
            self.exchange(block, phv);
        } else {
            self.save(block, phv);
        }
    }

    /// Begins a pass with the parts that an earlier one saved of a block with the same parameters.
    /// `phv` is unspecified afterwards, and so are the block's own variables.
    #[inline]
    pub fn restore(&mut self, block: &Block, phv: &mut Phv) {
        if block.in_order {
            return self.exchange(block, phv);
        }
        let frame = self.frame(block);
        let (mut narrow, mut wide) = (0, 0);
        for part in block.parts.iter().flatten() {
            let (slots, wide_slots) = (part.narrow(), part.wide());
            let kept = phv.narrow.get(narrow..narrow + slots.len());
            narrow += slots.len();
            if let (Some(kept), Some(slots)) = (kept, frame.narrow.get_mut(slots)) {
                slots.copy_from_slice(kept);
            }
            let kept = phv.wide.get(wide..wide + wide_slots.len());
            wide += wide_slots.len();
            if let (Some(kept), Some(slots)) = (kept, frame.wide.get_mut(wide_slots)) {
                slots.clone_from_slice(kept);
            }
        }
    }

    /// Swaps the slots of a block's frame and those of a packet.
    #[inline]
    fn exchange(&mut self, block: &Block, phv: &mut Phv) {
        let frame = self.frame(block);
        let size = (frame.narrow.len(), frame.wide.len());
        swap(&mut frame.narrow, &mut phv.narrow);
        if size.1 > 0 {
            swap(&mut frame.wide, &mut phv.wide);
        }
        grow(frame, size);
    }
}

/// A frame with these numbers of narrow and wide slots.
fn frame(slots: usize, wide_slots: usize) -> Frame {
    let mut frame = Frame::default();
    grow(&mut frame, (slots, wide_slots));
    frame
}

/// Ensures that a frame has these numbers of narrow and wide slots.
fn grow(frame: &mut Frame, (slots, wide_slots): (usize, usize)) {
    if frame.narrow.len() < slots {
        frame.narrow.resize(slots, 0);
    }
    if frame.wide.len() < wide_slots {
        frame.wide.resize(wide_slots, BigUint::ZERO);
    }
}

impl Block {
    /// The block of a unit whose parameters are an optional packet, headers, metadata and standard
    /// metadata, in this order; the last ones may be absent.
    pub fn new(interpreter: &Interpreter, unit: UnitId) -> Block {
        let program = interpreter.program();
        let declared = &program.units[unit.index()];
        let layouts = shared_parts(declared);
        let parts = layouts.map(|layout| layout.map(Layout::range));
        let mut headers = HeaderLengths::default();
        layouts[0].inspect(|layout| collect_headers(layout, &mut headers));
        let written = written_by(program, unit);
        let lengths = headers.variable.iter().map(|(_, length)| length);
        let sizes = headers.fixed.iter().map(|(valid, _)| valid).chain(lengths);
        Block {
            unit,
            at: 0,
            own: narrow_end(&parts)..declared.slots.len(),
            own_wide: wide_end(&parts)..declared.wide_slots.len(),
            in_order: in_order(&parts),
            parts,
            standard: layouts[STANDARD].map(Standard::new).unwrap_or_default(),
            resizes: sizes.into_iter().any(|slot| written.contains(slot)),
            headers,
            idle: matches!(&declared.body, Body::Control { stmts, .. } if stmts.is_empty()),
        }
    }

    /// True if it runs on the shared frame.
    pub fn is_joined(&self) -> bool {
        self.at == 0
    }

    /// True if its shared parts are at the front of its frame.
    pub fn in_order(&self) -> bool {
        self.in_order
    }

    /// Slots of headers, metadata and standard metadata, if these are in order.
    pub fn shared_slots(&self) -> impl Iterator<Item = Slot> {
        (0..self.own.start).map(|slot| Slot(slot as u32))
    }

    /// Number of wide shared slots.
    pub fn shared_wide_slots(&self) -> usize {
        self.own_wide.start
    }

    /// The slots of its own variables.
    pub fn own_slots(&self) -> impl Iterator<Item = Slot> {
        self.own.clone().map(|slot| Slot(slot as u32))
    }

    /// True if it has wide variables of its own.
    pub fn has_own_wide_slots(&self) -> bool {
        !self.own_wide.is_empty()
    }

    /// Slots that determine [`Block::header_bytes`], if it may change them.
    pub fn header_sizes(&self) -> impl Iterator<Item = Slot> {
        let fixed = self.headers.fixed.iter().map(|(valid, _)| *valid);
        let lengths = self.headers.variable.iter().map(|(_, length)| *length);
        fixed.chain(lengths).filter(|_| self.resizes)
    }

    /// Numbers of narrow and wide slots that it needs.
    fn size(&self) -> (usize, usize) {
        (self.own.end, self.own_wide.end)
    }

    /// Size of the valid headers in bytes.
    pub fn header_bytes(&self, frame: &Frame) -> u32 {
        let is_valid = |valid: Slot| frame.get(valid) != 0;
        let mut bits = 0;
        for (valid, fixed) in &self.headers.fixed {
            bits += if is_valid(*valid) { *fixed } else { 0 };
        }
        for (valid, length) in &self.headers.variable {
            bits += if is_valid(*valid) { frame.get(*length) as u32 } else { 0 };
        }
        bits / 8
    }

    /// Index of a slot of the metadata or standard metadata in the data of [`Frames::save`].
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

    /// Numbers of narrow and wide slots of the headers in the data of [`Frames::save`].
    pub fn header_slots(&self) -> (usize, usize) {
        self.parts[0].map_or((0, 0), |part| (part.narrow().len(), part.wide().len()))
    }
}

/// True if the front of a frame consists of exactly these parts, in order.
fn in_order(parts: &[Option<SlotRange>]) -> bool {
    let (mut narrow, mut wide) = (0, 0);
    parts.iter().flatten().all(|part| {
        let fits = (part.narrow_len == 0 || part.narrow().start == narrow)
            && (part.wide_len == 0 || part.wide().start == wide);
        narrow += part.narrow().len();
        wide += part.wide().len();
        fits
    })
}

/// The slot behind the last part; parameters are the first slots of a frame, in sequence.
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

/// Bits of a field, excluding those of variable size, which are recorded.
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
