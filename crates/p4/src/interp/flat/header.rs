//! Headers as they lie on the wire, prepared when a program is loaded.
//!
//! Most headers have nothing but narrow fields, in whole bytes. Of these it is known beforehand which
//! bits of a packet belong to which slot; all others are read and written field by field by the tree.

use super::code::At;
use crate::interp::PacketOut;
use crate::ir::{Layout, Slot};

/// Bytes of the longest header that is read and written at once.
const LONGEST: usize = 128;

/// A header.
#[derive(Clone, Debug)]
pub(in crate::interp) struct WireHeader {
    /// Bytes that it has.
    bytes: usize,
    /// Bytes that are looked at to read it: no fewer than eight, or sixteen for a long field.
    window: usize,
    reads: Box<[Read]>,
    /// Fields that do not lie within eight bytes.
    long_reads: Box<[Read]>,
    writes: Box<[Write]>,
}

/// A field: so many bits behind `skew` bits of the eight or sixteen bytes from `byte` on.
#[derive(Clone, Copy, Debug)]
struct Read {
    byte: u16,
    to: At,
    /// The width's complement to all the bits that are looked at.
    right: u8,
    skew: u8,
}

/// A piece of a field: half of a slot, shifted right and then left, is a part of a word.
#[derive(Clone, Copy, Debug)]
struct Write {
    a: At,
    word: u8,
    /// The upper half of the slot.
    upper: bool,
    right: u8,
    left: u8,
}

impl WireHeader {
    /// A header with these fields, if all of them are narrow.
    pub fn of(fields: &[Layout]) -> Option<WireHeader> {
        let mut narrow = Vec::new();
        collect(fields, &mut narrow)?;
        let bits: u32 = narrow.iter().map(|(_, width)| width).sum();
        let bytes = (bits / 8) as usize;
        if !bits.is_multiple_of(8) || bytes == 0 || bytes > LONGEST {
            return None;
        }
        let (mut reads, mut long_reads, mut writes) = (Vec::new(), Vec::new(), Vec::new());
        let mut window = bytes.max(8);
        let mut bit = 0;
        for (slot, width) in narrow {
            let end = bit + width;
            // As far in front as it takes to look at nothing behind the header.
            let first =
                |bytes: usize, span: usize| (bit / 8).min(bytes.saturating_sub(span) as u32);
            let read = |first: u32, span: u32| Read {
                byte: first as u16,
                to: slot,
                right: (span - width) as u8,
                skew: (bit - 8 * first) as u8,
            };
            if end - 8 * first(bytes, 8) <= 64 {
                reads.push(read(first(bytes, 8), 64));
            } else if end - 8 * first(bytes, 16) <= 128 {
                window = window.max(16);
                long_reads.push(read(first(bytes, 16), 128));
            } else {
                return None;
            }
            write(slot, bit, width, &mut writes);
            bit = end;
        }
        Some(WireHeader {
            bytes,
            window,
            reads: reads.into(),
            long_reads: long_reads.into(),
            writes: writes.into(),
        })
    }

    /// Does not read the fields of these slots.
    pub fn leave_unread(&mut self, unread: impl Fn(Slot) -> bool) {
        for reads in [&mut self.reads, &mut self.long_reads] {
            let read = std::mem::take(reads).into_iter();
            *reads = read.filter(|field| !unread(Slot(field.to.into()))).collect();
        }
    }

    /// Reads the header from the front of `bytes`; false, and nothing read, if there are not enough
    /// to look at.
    #[inline]
    pub fn read(&self, bytes: &[u8], slots: &mut [u128]) -> bool {
        let Some(bytes) = bytes.get(..self.window) else { return false };
        for field in &self.reads {
            let at = usize::from(field.byte);
            let word = bytes.get(at..at + 8).and_then(<[u8]>::first_chunk);
            let (Some(word), Some(to)) = (word, slots.get_mut(usize::from(field.to))) else {
                continue;
            };
            *to = u128::from(u64::from_be_bytes(*word) << field.skew >> field.right);
        }
        for field in &self.long_reads {
            let word = bytes.get(usize::from(field.byte)..).and_then(|rest| rest.first_chunk());
            let (Some(word), Some(to)) = (word, slots.get_mut(usize::from(field.to))) else {
                continue;
            };
            *to = u128::from_be_bytes(*word) << field.skew >> field.right;
        }
        true
    }

    /// Writes the header, word by word.
    #[inline]
    pub fn write(&self, slots: &[u128], out: &mut PacketOut) {
        let (mut word, mut at) = (0u64, 0);
        for piece in &self.writes {
            if piece.word != at {
                out.append_word(word, 64);
                (word, at) = (0, piece.word);
            }
            let slot = slots.get(usize::from(piece.a)).copied().unwrap_or(0);
            let half = if piece.upper { (slot >> 64) as u64 } else { slot as u64 };
            word |= half >> piece.right << piece.left;
        }
        let last = 8 * (self.bytes - 8 * usize::from(at)) as u32;
        out.append_word(word >> (64 - last), last);
    }
}

/// Slots and widths of fields that are all narrow.
fn collect(fields: &[Layout], found: &mut Vec<(At, u32)>) -> Option<()> {
    fields.iter().try_for_each(|field| match field {
        Layout::Narrow(slot, scalar) if scalar.width() > 0 => {
            found.push((At::try_from(slot.0).ok()?, scalar.width()));
            Some(())
        }
        Layout::Struct { fields, .. } => collect(fields, found),
        _ => None,
    })
}

/// The pieces of a field that begins at a bit of its header.
fn write(a: At, bit: u32, width: u32, writes: &mut Vec<Write>) {
    // From the most significant bits on: word by word, half by half.
    let (mut bit, mut left_of_field) = (bit, width);
    while left_of_field > 0 {
        let upper = left_of_field > 64;
        let in_half = if upper { left_of_field - 64 } else { left_of_field };
        let in_word = 64 - bit % 64;
        let now = in_half.min(in_word);
        writes.push(Write {
            a,
            word: (bit / 64) as u8,
            upper,
            right: (in_half - now) as u8,
            left: (in_word - now) as u8,
        });
        bit += now;
        left_of_field -= now;
    }
}
