//! The fields that a deparser's checksum can read, and where its result can go (T0910).
//!
//! The checksum unit reads containers byte by byte: a byte of a header takes part as a whole, at
//! its position in the packet. Metadata has no such position. The steps are those of the open
//! Tofino compiler (`bf-p4c/parde/deparser_checksum_update.cpp`). Uses the IR's layouts.

use sojourn_p4::ir::{Layout, Slot, Unit};
use std::collections::HashMap;

/// Bits of a checksum.
const RESULT_BITS: u32 = 16;

/// The headers of a block's parameters: slot and width of each field, in order.
pub struct Headers(Vec<Vec<(Option<Slot>, u32)>>);

/// A part of a sum: its field, if it is one of at most 128 bits, and its width.
pub type Part = (Option<Slot>, u32);

/// Origin of a part of a sum.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Header(usize),
    Metadata,
    Constant,
}

impl Headers {
    /// The headers of a block.
    pub fn new(unit: &Unit) -> Headers {
        let mut found = Vec::new();
        unit.params.iter().for_each(|param| collect(&param.layout, &mut found));
        Headers(found)
    }

    /// Fault in the position of a checksum's result; `None` if it is valid.
    pub fn place_fault(&self, slot: Slot) -> Option<String> {
        let Some((header, at)) = self.place(slot) else {
            return Some("a checksum goes to what is no field of a header".to_owned());
        };
        let fields = &self.0[header];
        let before: u32 = fields[..at].iter().map(|(_, width)| width).sum();
        let width = fields[at].1;
        if width != RESULT_BITS {
            return Some(format!("a checksum goes to {width} bits"));
        }
        (!before.is_multiple_of(8))
            .then(|| "a checksum goes to a field between two bytes".to_owned())
    }

    /// Fault in the parts of a sum; `None` if they are valid.
    pub fn parts_fault(&self, parts: &[Part]) -> Option<&'static str> {
        let mut offsets = HashMap::new();
        let (mut offset, mut last) = (0_u32, Origin::Metadata);
        for (slot, width) in parts {
            let origin = slot.map_or(Origin::Constant, |slot| match self.place(slot) {
                Some((header, _)) => Origin::Header(header),
                None => Origin::Metadata,
            });
            let crosses = match last {
                Origin::Header(_) => origin != last,
                Origin::Constant => matches!(origin, Origin::Header(_)),
                Origin::Metadata => false,
            };
            if !offset.is_multiple_of(8) && crosses {
                return Some("a sum goes on with another header within a byte");
            }
            if let Some(slot) = slot {
                offsets.entry(*slot).or_insert(offset);
            }
            last = origin;
            offset = offset.saturating_add(*width);
        }
        self.0.iter().find_map(|fields| bytes_fault(fields, &offsets))
    }

    fn place(&self, slot: Slot) -> Option<(usize, usize)> {
        self.0.iter().enumerate().find_map(|(header, fields)| {
            let at = fields.iter().position(|(field, _)| *field == Some(slot))?;
            Some((header, at))
        })
    }
}

/// Whether the bytes of a header take part as a whole and in their place.
fn bytes_fault(fields: &[Part], offsets: &HashMap<Slot, u32>) -> Option<&'static str> {
    let (mut bits, mut open, mut next) = (0_u32, false, 0);
    for (slot, width) in fields {
        if bits.is_multiple_of(8) {
            open = false;
        }
        match slot.and_then(|slot| offsets.get(&slot)) {
            Some(offset) => {
                if bits % 8 != offset % 8 || open && next != offset % 16 {
                    return Some("a field lies otherwise in a sum than in the packet");
                }
                (open, next) = (true, (offset + width) % 16);
            }
            None if open => return Some("a sum leaves out a part of a byte"),
            None => {}
        }
        bits += width;
    }
    None
}

fn collect(layout: &Layout, found: &mut Vec<Vec<Part>>) {
    match layout {
        Layout::Header { fields, .. } => {
            let field = |layout: &Layout| match layout {
                Layout::Narrow(slot, scalar) => (Some(*slot), scalar.width()),
                other => (None, u32::try_from(other.wire_bits(None)).unwrap_or(u32::MAX)),
            };
            found.push(fields.iter().map(field).collect());
        }
        Layout::Struct { fields: parts, .. }
        | Layout::Union { members: parts, .. }
        | Layout::Stack { elements: parts, .. } => {
            parts.iter().for_each(|part| collect(part, found));
        }
        _ => {}
    }
}
