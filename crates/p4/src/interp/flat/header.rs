//! Headers as they lie on the wire, prepared when a program is loaded.
//!
//! Most headers have nothing but narrow fields, in whole bytes. Of these it is known beforehand which
//! bits of a packet belong to which slot; all others are read and written field by field by the tree.

use super::code::At;
use crate::interp::PacketOut;
use crate::ir::{Layout, Slot};

/// Bytes of the longest header that is read and written at once.
const LONGEST: usize = 128;

/// A header with nothing but narrow fields, in whole bytes.
#[derive(Clone, Debug)]
pub(super) struct WireHeader {
    fields: Vec<Field>,
    bytes: usize,
}

/// A field: its slot, its first bit, its width.
#[derive(Clone, Copy, Debug)]
struct Field {
    slot: At,
    bit: u32,
    width: u32,
}

impl WireHeader {
    /// A header with these fields, if that is what it is.
    pub fn of(fields: &[Layout]) -> Option<WireHeader> {
        let mut narrow = Vec::new();
        collect(fields, &mut narrow)?;
        let mut bit = 0;
        let mut place = |(slot, width)| {
            let field = Field { slot, bit, width };
            bit += width;
            field
        };
        let fields: Vec<Field> = narrow.into_iter().map(&mut place).collect();
        let bytes = (bit / 8) as usize;
        let fits = bit.is_multiple_of(8) && (1..=LONGEST).contains(&bytes);
        fits.then_some(WireHeader { fields, bytes })
    }
}

/// Headers that are extracted one behind the other, and what is skipped between them: read at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    /// Bytes that are taken off the packet.
    pub bytes: usize,
    /// Bytes that are looked at: no fewer than eight, or sixteen for a long field.
    window: usize,
    reads: Vec<Read>,
    /// Fields that do not lie within eight bytes.
    long_reads: Vec<Read>,
    /// The headers' validity.
    valid: Vec<At>,
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

impl Reader {
    /// Reads headers, each with its first byte and the slot of its validity, of altogether so many
    /// bytes; none if that takes more than it should.
    pub fn of(headers: &[(usize, At, WireHeader)], bytes: usize) -> Option<Reader> {
        if bytes > usize::from(u16::MAX) {
            return None;
        }
        let mut reader = Reader { bytes, window: bytes.max(8), ..Reader::default() };
        for (start, valid, header) in headers {
            for field in &header.fields {
                let bit = 8 * *start as u32 + field.bit;
                reader.add(Field { bit, ..*field })?;
            }
            reader.valid.push(*valid);
        }
        Some(reader)
    }

    fn add(&mut self, Field { slot, bit, width }: Field) -> Option<()> {
        let end = bit + width;
        // As far in front as it takes to look at nothing behind the headers.
        let first = |span: usize| (bit / 8).min(self.bytes.saturating_sub(span) as u32);
        let read = |span: u32| {
            let first = first(span as usize / 8);
            let (right, skew) = ((span - width) as u8, (bit - 8 * first) as u8);
            Read { byte: first as u16, to: slot, right, skew }
        };
        if end - 8 * first(8) <= 64 {
            let read = read(64);
            self.reads.push(read);
        } else if end - 8 * first(16) <= 128 {
            let read = read(128);
            self.window = self.window.max(16);
            self.long_reads.push(read);
        } else {
            return None;
        }
        Some(())
    }

    /// Does not read the fields of these slots.
    pub fn leave_unread(&mut self, unread: impl Fn(Slot) -> bool) {
        for reads in [&mut self.reads, &mut self.long_reads] {
            reads.retain(|field| !unread(Slot(field.to.into())));
        }
    }

    /// Reads from the front of `bytes`; false, and nothing read, if there are not enough to look at.
    #[inline]
    pub fn read(&self, bytes: &[u8], slots: &mut [u128]) -> bool {
        let Some(bytes) = bytes.get(..self.window) else { return false };
        for field in &self.reads {
            let at = usize::from(field.byte);
            let word = bytes.get(at..at + 8).and_then(<[u8]>::first_chunk);
            if let (Some(word), Some(to)) = (word, slots.get_mut(usize::from(field.to))) {
                *to = u128::from(u64::from_be_bytes(*word) << field.skew >> field.right);
            }
        }
        for field in &self.long_reads {
            let at = usize::from(field.byte);
            let word = bytes.get(at..at + 16).and_then(<[u8]>::first_chunk);
            if let (Some(word), Some(to)) = (word, slots.get_mut(usize::from(field.to))) {
                *to = u128::from_be_bytes(*word) << field.skew >> field.right;
            }
        }
        for valid in &self.valid {
            if let Some(valid) = slots.get_mut(usize::from(*valid)) {
                *valid = 1;
            }
        }
        true
    }
}

/// A header as it is written, word by word.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    bytes: usize,
    pieces: Box<[Piece]>,
}

/// A piece of a field: half of a slot, shifted right and then left, is a part of a word.
#[derive(Clone, Copy, Debug)]
struct Piece {
    a: At,
    /// The upper half of the slot.
    upper: bool,
    right: u8,
    left: u8,
    /// It ends its word.
    last: bool,
}

impl Writer {
    /// Writes such a header.
    pub fn of(header: &WireHeader) -> Writer {
        let mut pieces = Vec::new();
        header.fields.iter().for_each(|field| write(*field, &mut pieces));
        if let Some(piece) = pieces.last_mut() {
            piece.last = true;
        }
        Writer { bytes: header.bytes, pieces: pieces.into() }
    }

    /// Writes the header behind what is written.
    #[inline]
    pub fn write(&self, slots: &[u128], out: &mut PacketOut) {
        let Some(place) = out.words(self.bytes) else { return self.write_bits(slots, out) };
        let (mut word, mut at) = (0u64, 0);
        for piece in &self.pieces {
            word |= piece.of(slots);
            if piece.last {
                if let Some(place) = place.get_mut(at..at + 8) {
                    place.copy_from_slice(&word.to_be_bytes());
                }
                (word, at) = (0, at + 8);
            }
        }
    }

    /// The same behind a part of a byte.
    #[cold]
    fn write_bits(&self, slots: &[u128], out: &mut PacketOut) {
        let (mut word, mut left) = (0u64, 8 * self.bytes as u32);
        for piece in &self.pieces {
            word |= piece.of(slots);
            if piece.last {
                let bits = left.min(64);
                out.append_word(word >> (64 - bits), bits);
                (word, left) = (0, left - bits);
            }
        }
    }
}

impl Piece {
    #[inline(always)]
    fn of(&self, slots: &[u128]) -> u64 {
        let slot = slots.get(usize::from(self.a)).copied().unwrap_or(0);
        let half = if self.upper { (slot >> 64) as u64 } else { slot as u64 };
        half >> self.right << self.left
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

/// The pieces of a field.
fn write(field: Field, pieces: &mut Vec<Piece>) {
    // From the most significant bits on: word by word, half by half.
    let (mut bit, mut left_of_field) = (field.bit, field.width);
    while left_of_field > 0 {
        let upper = left_of_field > 64;
        let in_half = if upper { left_of_field - 64 } else { left_of_field };
        let in_word = 64 - bit % 64;
        let now = in_half.min(in_word);
        pieces.push(Piece {
            a: field.slot,
            upper,
            right: (in_half - now) as u8,
            left: (in_word - now) as u8,
            last: now == in_word,
        });
        bit += now;
        left_of_field -= now;
    }
}
