//! The frame of a unit, and copies of values between frames.
//!
//! A frame is two flat arrays; the IR gives each slot its meaning. The caller reuses one frame per
//! unit, so that nothing is allocated per packet.

use crate::ir::{Layout, Slot, Unit, WideSlot};
use num_bigint::BigUint;
use num_traits::Zero;
use std::ops::Range;

/// The slots of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Values of at most 128 bits, as zero-extended patterns.
    pub narrow: Vec<u128>,
    /// Wider values.
    pub wide: Vec<BigUint>,
}

impl Frame {
    /// A frame for a unit, all zero: headers invalid, stacks empty.
    pub fn new(unit: &Unit) -> Frame {
        Frame {
            narrow: vec![0; unit.slots.len()],
            wide: vec![BigUint::zero(); unit.wide_slots.len()],
        }
    }

    /// Makes every slot zero.
    pub fn clear(&mut self) {
        zero(&mut self.narrow);
        self.wide.iter_mut().for_each(BigUint::set_zero);
    }

    /// The value of a narrow slot; 0 for a slot that the unit does not have.
    #[inline]
    pub fn get(&self, slot: Slot) -> u128 {
        self.narrow.get(slot.index()).copied().unwrap_or(0)
    }

    /// Sets a narrow slot. The caller ensures that the value fits the slot's width.
    #[inline]
    pub fn set(&mut self, slot: Slot, value: u128) {
        if let Some(place) = self.narrow.get_mut(slot.index()) {
            *place = value;
        }
    }

    /// The value of a wide slot.
    pub fn get_wide(&self, slot: WideSlot) -> BigUint {
        self.wide.get(slot.index()).cloned().unwrap_or_default()
    }

    /// Sets a wide slot. The caller ensures that the value fits the slot's width.
    pub fn set_wide(&mut self, slot: WideSlot, value: BigUint) {
        if let Some(place) = self.wide.get_mut(slot.index()) {
            *place = value;
        }
    }

    /// Makes all slots of a value zero: numbers 0, headers invalid, stacks empty.
    pub fn clear_layout(&mut self, layout: &Layout) {
        let range = layout.range();
        self.clear_slots(range.narrow());
        self.clear_wide_slots(range.wide());
    }

    /// Makes narrow slots zero; nothing happens if the frame does not have all of them.
    #[inline]
    pub fn clear_slots(&mut self, slots: Range<usize>) {
        if let Some(slots) = self.narrow.get_mut(slots) {
            zero(slots);
        }
    }

    /// The same for wide slots.
    #[inline]
    pub fn clear_wide_slots(&mut self, slots: Range<usize>) {
        if let Some(slots) = self.wide.get_mut(slots) {
            slots.iter_mut().for_each(BigUint::set_zero);
        }
    }
}

// `fill` stores slot by slot; this form compiles to one `memset`.
#[inline]
fn zero(slots: &mut [u128]) {
    for slot in slots {
        *slot = 0;
    }
}

/// The slots that a layout covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotRange {
    /// First narrow slot; meaningless if there is none.
    pub narrow_start: Slot,
    /// Number of narrow slots.
    pub narrow_len: u32,
    /// First wide slot; meaningless if there is none.
    pub wide_start: WideSlot,
    /// Number of wide slots.
    pub wide_len: u32,
}

impl SlotRange {
    const NONE: SlotRange =
        SlotRange { narrow_start: Slot(0), narrow_len: 0, wide_start: WideSlot(0), wide_len: 0 };

    /// The narrow slots as indices into a frame.
    #[inline]
    pub fn narrow(&self) -> std::ops::Range<usize> {
        self.narrow_start.index()..self.narrow_start.index() + self.narrow_len as usize
    }

    /// The wide slots as indices into a frame.
    #[inline]
    pub fn wide(&self) -> std::ops::Range<usize> {
        self.wide_start.index()..self.wide_start.index() + self.wide_len as usize
    }

    fn add_narrow(&mut self, slot: Slot) {
        if self.narrow_len == 0 {
            self.narrow_start = slot;
        }
        self.narrow_len += 1;
    }

    fn add_wide(&mut self, slot: WideSlot) {
        if self.wide_len == 0 {
            self.wide_start = slot;
        }
        self.wide_len += 1;
    }

    /// True if the two share a slot.
    pub fn overlaps(&self, other: &SlotRange) -> bool {
        let (a, b) = (self.narrow(), other.narrow());
        let (c, d) = (self.wide(), other.wide());
        (a.start < b.end && b.start < a.end) || (c.start < d.end && d.start < c.end)
    }
}

impl Layout {
    /// Slots that the value covers. Save the result where speed matters: it walks the layout.
    pub fn range(&self) -> SlotRange {
        let mut range = SlotRange::NONE;
        self.collect(&mut range);
        range
    }

    fn collect(&self, range: &mut SlotRange) {
        match self {
            Layout::Narrow(slot, _) => range.add_narrow(*slot),
            Layout::Wide(slot, _) => range.add_wide(*slot),
            Layout::VarBit { length, value, .. } => {
                range.add_narrow(*length);
                range.add_wide(*value);
            }
            Layout::Header { valid, fields, .. } => {
                range.add_narrow(*valid);
                fields.iter().for_each(|field| field.collect(range));
            }
            Layout::Union { members: parts, .. } | Layout::Struct { fields: parts, .. } => {
                parts.iter().for_each(|part| part.collect(range));
            }
            Layout::Stack { next, elements, .. } => {
                range.add_narrow(*next);
                elements.iter().for_each(|element| element.collect(range));
            }
            Layout::Object => {}
        }
    }

    /// Bits of the value on the wire, as `extract` and `emit` count them: validity and `nextIndex`
    /// take none, a variable-size field its present length in `frame` (none without a frame).
    pub fn wire_bits(&self, frame: Option<&Frame>) -> u64 {
        match self {
            Layout::Narrow(_, scalar) | Layout::Wide(_, scalar) => scalar.width().into(),
            Layout::VarBit { length, .. } => frame.map_or(0, |frame| frame.get(*length) as u64),
            Layout::Header { fields: parts, .. }
            | Layout::Union { members: parts, .. }
            | Layout::Struct { fields: parts, .. }
            | Layout::Stack { elements: parts, .. } => {
                parts.iter().map(|part| part.wire_bits(frame)).sum()
            }
            Layout::Object => 0,
        }
    }
}

/// Copies a value between frames (of two units, or of one). Both layouts are of one type.
pub fn copy_layout(from: &Frame, source: &Layout, to: &mut Frame, target: &Layout) {
    copy_range(from, source.range(), to, target.range());
}

/// [`copy_layout`] with known ranges.
#[inline]
pub fn copy_range(from: &Frame, source: SlotRange, to: &mut Frame, target: SlotRange) {
    if let (Some(a), Some(b)) =
        (from.narrow.get(source.narrow()), to.narrow.get_mut(target.narrow()))
        && a.len() == b.len()
    {
        b.copy_from_slice(a);
    }
    if let (Some(a), Some(b)) = (from.wide.get(source.wide()), to.wide.get_mut(target.wide()))
        && a.len() == b.len()
    {
        b.clone_from_slice(a);
    }
}
