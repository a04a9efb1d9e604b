//! Headers as they lie on the wire, prepared when a program is loaded.
//!
//! Most headers have nothing but fields of at most 64 bits, whose slots follow that of the validity.
//! Of these it is known beforehand which bits of a packet belong to which slot; all others are read
//! and written field by field. Stands on the IR and must not know how a parser walks.

use super::PacketOut;
use crate::ir::{Layout, Program, Slot, Unit};

/// The prepared headers of a unit's parameters, by the slots of their validity.
#[derive(Clone, Debug, Default)]
pub(super) struct UnitHeaders(Vec<Option<WireHeader>>);

/// The headers of all units of a program.
pub(super) fn prepare(program: &Program) -> Vec<UnitHeaders> {
    program.units.iter().map(UnitHeaders::of).collect()
}

impl UnitHeaders {
    fn of(unit: &Unit) -> UnitHeaders {
        let mut headers = UnitHeaders::default();
        unit.params.iter().for_each(|param| headers.add(&param.layout));
        headers
    }

    fn add(&mut self, layout: &Layout) {
        match layout {
            Layout::Header { valid, fields, .. } => {
                let at = valid.index();
                if self.0.len() <= at {
                    self.0.resize(at + 1, None);
                }
                self.0[at] = WireHeader::of(*valid, fields);
            }
            Layout::Union { members: parts, .. }
            | Layout::Struct { fields: parts, .. }
            | Layout::Stack { elements: parts, .. } => parts.iter().for_each(|part| self.add(part)),
            _ => {}
        }
    }

    /// The header with this validity, if it could be prepared.
    #[inline]
    pub(super) fn get(&self, valid: Slot) -> Option<&WireHeader> {
        self.0.get(valid.index())?.as_ref()
    }
}

/// A header.
#[derive(Clone, Debug)]
pub(super) struct WireHeader {
    /// The slot of its first field; the others follow.
    first: usize,
    fields: Box<[WireField]>,
    /// Bytes that are looked at to read it: eight from each field's first one on.
    window: usize,
}

/// A field: bits of the eight bytes from `byte` on.
#[derive(Clone, Copy, Debug)]
struct WireField {
    byte: u32,
    skew: u8,
    width: u8,
}

impl WireHeader {
    fn of(valid: Slot, fields: &[Layout]) -> Option<WireHeader> {
        let first = valid.index() + 1;
        let mut bit = 0;
        let mut prepared = Vec::with_capacity(fields.len());
        for (at, field) in fields.iter().enumerate() {
            let Layout::Narrow(slot, scalar) = field else { return None };
            let (width, skew) = (scalar.width(), bit % 8);
            if slot.index() != first + at || width == 0 || skew + width > 64 {
                return None;
            }
            prepared.push(WireField { byte: bit / 8, skew: skew as u8, width: width as u8 });
            bit += width;
        }
        let window = prepared.last().map_or(0, |field| field.byte as usize + 8);
        Some(WireHeader { first, fields: prepared.into(), window })
    }

    /// Reads the header from the front of `bytes`; false, and nothing read, if there are not enough
    /// to look at.
    #[inline]
    pub(super) fn read(&self, bytes: &[u8], slots: &mut [u128]) -> bool {
        let slots = slots.get_mut(self.first..self.first + self.fields.len());
        let (Some(bytes), Some(slots)) = (bytes.get(..self.window), slots) else { return false };
        for (slot, field) in slots.iter_mut().zip(&self.fields) {
            let rest = bytes.get(field.byte as usize..).and_then(|rest| rest.first_chunk());
            let word = u64::from_be_bytes(*rest.unwrap_or(&[0; 8]));
            *slot = (word << field.skew >> (64 - field.width)).into();
        }
        true
    }

    /// Writes the header.
    #[inline]
    pub(super) fn write(&self, slots: &[u128], out: &mut PacketOut) {
        let slots = slots.get(self.first..self.first + self.fields.len()).unwrap_or_default();
        for (slot, field) in slots.iter().zip(&self.fields) {
            out.append_word(*slot as u64, field.width.into());
        }
    }
}
