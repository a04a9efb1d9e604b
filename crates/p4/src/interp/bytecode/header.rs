//! Headers as they lie on the wire, prepared when a program is loaded.
//!
//! Most headers have nothing but narrow fields, in whole bytes. Of these it is known beforehand which
//! bits of a packet belong to which slot; all others are read and written field by field by the tree.

use super::code::At;
use crate::interp::PacketOut;
use crate::ir::{Layout, Slot};

/// Bytes of the longest header that is read and written at once.
const LONGEST: usize = 128;
/// Bytes of the place of a header that is written in words of eight.
pub const ROOM: usize = LONGEST + 8;

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
    pub fn new(fields: &[Layout]) -> Option<WireHeader> {
        let mut narrow = Vec::new();
        collect(fields, &mut narrow)?;
        WireHeader::in_slots(narrow)
    }

    /// Fields in slots, each with its width.
    pub fn in_slots(fields: Vec<(At, u32)>) -> Option<WireHeader> {
        let mut bit = 0;
        let mut place = |(slot, width)| {
            let field = Field { slot, bit, width };
            bit += width;
            field
        };
        let fields: Vec<Field> = fields.into_iter().map(&mut place).collect();
        let bytes = (bit / 8) as usize;
        let fits = bit.is_multiple_of(8) && (1..=LONGEST).contains(&bytes);
        fits.then_some(WireHeader { fields, bytes })
    }
}

/// Headers that are extracted one behind the other, and what is skipped between them: read at once.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// Bytes that are taken off the packet.
    pub bytes: usize,
    /// Bytes that are looked at: no fewer than eight, or sixteen for a long field.
    pub window: usize,
    /// Fields that lie within eight bytes.
    pub reads: Vec<Read>,
    /// Fields that do not.
    pub long_reads: Vec<LongRead>,
    /// The headers' validity.
    pub valid: Vec<At>,
    /// Fields of what is in front of the packet, where that does not lie in its bytes.
    pub front: Vec<FrontRead>,
}

/// A field: so many bits behind `skew` bits of two slots that have eight bytes each.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // They are named above.
pub struct FrontRead {
    pub to: At,
    pub words: [At; 2],
    pub skew: u8,
    pub width: u8,
}

/// A field: what the mask leaves of the eight bytes from `byte` on, shifted right.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // They are named above.
pub struct Read {
    pub mask: u64,
    pub byte: u16,
    pub to: At,
    pub right: u8,
}

/// A field: so many bits behind `skew` bits of the sixteen bytes from `byte` on.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // They are named above.
pub struct LongRead {
    pub byte: u16,
    pub to: At,
    /// The width's complement to 128.
    pub right: u8,
    pub skew: u8,
}

impl Reader {
    /// Reads headers, each with its first byte and the slot of its validity, of altogether so many
    /// bytes; none if that takes more than it should.
    pub(super) fn new(headers: &[(usize, At, WireHeader)], bytes: usize) -> Option<Reader> {
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

    fn add(&mut self, Field { slot: to, bit, width }: Field) -> Option<()> {
        let end = bit + width;
        // As far in front as it takes to look at nothing behind the headers.
        let first = |span: usize| (bit / 8).min(self.bytes.saturating_sub(span) as u32);
        if end - 8 * first(8) <= 64 {
            // The last of the eight bytes is the field's last, so that most need no shift.
            let byte = end.div_ceil(8).saturating_sub(8);
            let (mask, right) = (u64::MAX >> (64 - width), (8 * (byte + 8) - end) as u8);
            self.reads.push(Read { mask, byte: byte as u16, to, right });
        } else if end - 8 * first(16) <= 128 {
            let byte = first(16);
            let (right, skew) = ((128 - width) as u8, (bit - 8 * byte) as u8);
            self.window = self.window.max(16);
            self.long_reads.push(LongRead { byte: byte as u16, to, right, skew });
        } else {
            return None;
        }
        Some(())
    }

    /// The same where the first `bytes` bytes lie in slots, eight in each from `words` on, and not in the
    /// packet; none if it reads less than those, or a field that lies in both.
    pub(super) fn fronted(&self, words: At, bytes: usize) -> Option<Reader> {
        let left = self.bytes.checked_sub(bytes)?;
        let mut reader = Reader { bytes: left, valid: self.valid.clone(), ..Reader::default() };
        for read in &self.reads {
            let end = 8 * (u32::from(read.byte) + 8) - u32::from(read.right);
            reader.add_fronted(read.to, (end, read.mask.count_ones()), words, bytes)?;
        }
        for read in &self.long_reads {
            let (start, width) =
                (8 * u32::from(read.byte) + u32::from(read.skew), 128 - read.right);
            reader.add_fronted(read.to, (start + u32::from(width), width.into()), words, bytes)?;
        }
        let spans = reader.reads.iter().map(|read| usize::from(read.byte) + 8);
        let long_spans = reader.long_reads.iter().map(|read| usize::from(read.byte) + 16);
        reader.window = spans.chain(long_spans).fold(left, usize::max);
        Some(reader)
    }

    fn add_fronted(
        &mut self,
        to: At,
        (end, width): (u32, u32),
        words: At,
        bytes: usize,
    ) -> Option<()> {
        let (start, front) = (end - width, 8 * bytes as u32);
        if start >= front {
            return self.add(Field { slot: to, bit: start - front, width });
        }
        let skew = start % 64;
        if end > front || skew + width > 128 || width > 64 {
            return None;
        }
        let first = words + (start / 64) as At;
        let second = if skew + width > 64 { first + 1 } else { first };
        self.front.push(FrontRead {
            to,
            words: [first, second],
            skew: skew as u8,
            width: width as u8,
        });
        Some(())
    }

    /// Does not read the fields of these slots.
    pub(super) fn leave_unread(&mut self, unread: impl Fn(Slot) -> bool) {
        self.reads.retain(|field| !unread(Slot(field.to.into())));
        self.long_reads.retain(|field| !unread(Slot(field.to.into())));
    }

    /// Reads from the front of `bytes`; false, and nothing read, if there are not enough to look at.
    #[inline]
    pub(super) fn read(&self, bytes: &[u8], slots: &mut [u128]) -> bool {
        let Some(bytes) = bytes.get(..self.window) else { return false };
        for field in &self.reads {
            let ahead = bytes.get(usize::from(field.byte)..).and_then(<[u8]>::first_chunk);
            let Some(word) = ahead else { continue };
            let value = u64::from_be_bytes(*word) >> (field.right & 63) & field.mask;
            slots[usize::from(field.to)] = value.into();
        }
        for field in &self.long_reads {
            let at = usize::from(field.byte);
            let word = bytes.get(at..at + 16).and_then(<[u8]>::first_chunk);
            if let (Some(word), Some(to)) = (word, slots.get_mut(usize::from(field.to))) {
                *to = u128::from_be_bytes(*word) << field.skew >> field.right;
            }
        }
        for valid in &self.valid {
            slots[usize::from(*valid)] = 1;
        }
        true
    }
}

/// Fields as they are written, one behind the other, in whole bytes.
#[derive(Clone, Debug)]
pub struct Writer {
    /// All together.
    pub bytes: usize,
    /// In the order in which they are written.
    pub pieces: Box<[Piece]>,
    /// No field has more than 64 bits: slots are turned as words of 64 bits, else as such of 128.
    pub short: bool,
    /// The fields themselves, each with its width, for places within a byte.
    fields: Box<[(At, u8)]>,
}

/// A piece of a field: what the mask leaves of its slot, turned left, is a part of the eight bytes
/// that are written at `byte`. What they have too much is written again by the next piece, or lies
/// behind the fields.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // They are named above; `a` is the slot.
pub struct Piece {
    /// All ones if it goes on with the eight bytes of the piece before, else zero.
    pub keep: u64,
    pub mask: u64,
    pub a: At,
    pub byte: u8,
    pub turn: u8,
}

impl Writer {
    /// Writes such a header.
    pub(super) fn new(header: &WireHeader) -> Writer {
        let fields = header.fields.iter().map(|field| (field.slot, field.width as u8)).collect();
        let short = header.fields.iter().all(|field| field.width <= 64);
        Writer { bytes: header.bytes, pieces: pieces(&header.fields, short), short, fields }
    }

    /// True if it writes what is read of a header.
    pub(super) fn writes(&self, header: &WireHeader) -> bool {
        let fields = header.fields.iter().map(|field| (field.slot, field.width as u8));
        self.fields.iter().copied().eq(fields)
    }

    /// True if a slot is one of its fields.
    pub(super) fn reads(&self, slot: At) -> bool {
        self.fields.iter().any(|(field, _)| *field == slot)
    }

    /// Writes the fields behind what is written.
    #[inline]
    pub(in crate::interp) fn write(&self, slots: &[u128], out: &mut PacketOut) {
        let Some(place) = out.room(self.bytes) else { return self.write_bits(slots, out) };
        if self.short {
            self.pieces_of(place, |a, turn| (slots[usize::from(a)] as u64).rotate_left(turn));
        } else {
            self.pieces_of(place, |a, turn| slots[usize::from(a)].rotate_left(turn) as u64);
        }
    }

    #[inline(always)]
    fn pieces_of(&self, place: &mut [u8; ROOM], turned: impl Fn(At, u32) -> u64) {
        let mut word = 0;
        for piece in &self.pieces {
            word = word & piece.keep | turned(piece.a, piece.turn.into()) & piece.mask;
            // Of a header no longer than `LONGEST`.
            let byte = usize::from(piece.byte) % LONGEST;
            if let Some(eight) = place[byte..].first_chunk_mut() {
                *eight = word.to_be_bytes();
            }
        }
    }

    /// The same behind a part of a byte.
    #[cold]
    fn write_bits(&self, slots: &[u128], out: &mut PacketOut) {
        for (a, width) in &self.fields {
            out.append(slots[usize::from(*a)], u32::from(*width));
        }
    }
}

/// The pieces of fields; short ones are turned as words of 64 bits, others as such of 128.
fn pieces(fields: &[Field], short: bool) -> Box<[Piece]> {
    let bits = if short { 64 } else { 128 };
    let mut pieces = Vec::new();
    // The first bit of the eight bytes that are written next, if it is begun.
    let mut begun = None;
    for Field { slot: a, mut bit, width } in fields.iter().copied() {
        let mut left_of_field = width;
        while left_of_field > 0 {
            let start = begun.unwrap_or(bit);
            let now = left_of_field.min(start + 64 - bit);
            let keep = if begun.is_some() { u64::MAX } else { 0 };
            left_of_field -= now;
            let left = start + 64 - bit - now;
            let mask = u64::MAX >> (64 - now) << left;
            let turn = ((bits + left - left_of_field) % bits) as u8;
            pieces.push(Piece { keep, mask, a, byte: (start / 8) as u8, turn });
            bit += now;
            begun = (!bit.is_multiple_of(8)).then_some(start);
        }
    }
    pieces.into()
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
