//! Lists of adjacent fields that externs serialise: the input of a hash or a checksum.

use super::code::At;
use super::header::{WireHeader, Writer};
use crate::interp::{Frame, PacketOut};
use crate::ir::Slot;

/// Fields in slots of a frame, in whole bytes.
#[derive(Clone, Debug)]
pub struct FieldList {
    writer: Writer,
    /// Each field as a summand of 16-bit words: shifted left by its distance from the end of its
    /// word. `None` if one then exceeds 64 bits, or the fields are not whole words.
    parts: Option<Box<[(At, u8)]>>,
    last: At,
}

impl FieldList {
    /// Fields by slot and width; `None` if together they are not whole bytes, or too many.
    pub fn new(fields: &[(Slot, u32)]) -> Option<FieldList> {
        let narrow = |(slot, width): &(Slot, u32)| {
            let at = At::try_from(slot.0).ok()?;
            (1..=128).contains(width).then_some((at, *width))
        };
        let fields: Vec<(At, u32)> = fields.iter().map(narrow).collect::<Option<_>>()?;
        let last = fields.iter().map(|(at, _)| *at).max()?;
        let mut end = 0;
        let part = |(at, width): &(At, u32)| {
            end += width;
            let shift = end.next_multiple_of(16) - end;
            (width + shift <= 64).then_some((*at, shift as u8))
        };
        let parts = fields.iter().map(part).collect::<Option<_>>();
        let parts = parts.filter(|_| end.is_multiple_of(16));
        Some(FieldList { writer: Writer::new(&WireHeader::in_slots(fields)?), parts, last })
    }

    /// Appends the fields; without effect if the frame lacks one of them.
    #[inline]
    pub fn write(&self, frame: &Frame, out: &mut PacketOut) {
        if usize::from(self.last) < frame.narrow.len() {
            self.writer.write(&frame.narrow, out);
        }
    }

    /// Ones' complement sum of the fields' 16-bit words, computed in words of 64 bits, which
    /// differs in the folding only (RFC 1071 section 2 C). `None` if the fields are not whole
    /// words, or one is too wide.
    #[inline]
    pub fn sum(&self, frame: &Frame) -> Option<u64> {
        let mut sum = 0u64;
        for (at, shift) in self.parts.as_ref()? {
            let word = (frame.narrow.get(usize::from(*at)).copied()? as u64) << (shift & 63);
            let (more, carry) = sum.overflowing_add(word);
            sum = more + u64::from(carry);
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_fields_is_that_of_the_words_that_are_written() {
        // Pseudo-random numbers (splitmix64).
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed ^ mixed >> 27
        };
        let mut summed = 0;
        for round in 0..2_000 {
            let mut fields: Vec<(Slot, u32)> = (0..1 + next() % 12)
                .map(|at| (Slot(at as u32), 1 + (next() % 56) as u32))
                .collect();
            let bits: u32 = fields.iter().map(|field| field.1).sum();
            fields.push((Slot(12), bits.next_multiple_of(8) + 8 - bits));
            let mut frame = Frame { narrow: vec![0; 13], wide: Vec::new() };
            for (slot, width) in &fields {
                let value = if round % 3 == 0 { u64::MAX } else { next() };
                frame.set(*slot, (value >> (64 - width)).into());
            }
            let Some(list) = FieldList::new(&fields) else { continue };
            let mut out = PacketOut::new();
            list.write(&frame, &mut out);
            let bytes = out.take();
            let words = bytes.chunks(2).map(|two| u64::from(u16::from_be_bytes([two[0], two[1]])));
            let Some(sum) = list.sum(&frame) else { continue };
            summed += 1;
            let whole: u64 = words.sum();
            assert_eq!((sum % 0xffff, sum == 0), (whole % 0xffff, whole == 0), "{fields:?}");
        }
        assert!(summed > 500, "{summed}");
    }
}
