//! Wire formats of headers, prepared when a program is loaded.
//!
//! Most headers consist of narrow fields in whole bytes. For these the position of each slot's bits
//! is fixed; the tree reads and writes all others field by field.

use super::code::At;
use crate::interp::PacketOut;
use crate::ir::{Layout, Slot};

/// Maximum size of a header that is read and written at once, bytes.
const LONGEST: usize = 128;
/// Size of the buffer for a header that is written in words of eight bytes, bytes.
pub const ROOM: usize = LONGEST + 8;

/// A header that consists of narrow fields in whole bytes.
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
    /// A header with these fields, if it has that form.
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

/// Reader of adjacent headers, with the bits skipped between them, in one step.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// Bytes taken off the packet.
    pub bytes: usize,
    /// Bytes examined: at least eight, or sixteen for a long field.
    pub window: usize,
    /// Fields within eight bytes.
    pub reads: Vec<Read>,
    /// Fields that span more.
    pub long_reads: Vec<LongRead>,
    /// Slots of the headers' validity.
    pub valid: Vec<At>,
    /// Fields of the front of the packet, if that is in slots.
    pub front: Vec<FrontRead>,
}

/// A field of `width` bits, `skew` bits into two slots of eight bytes each.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // They are named above.
pub struct FrontRead {
    pub to: At,
    pub words: [At; 2],
    pub skew: u8,
    pub width: u8,
}

/// A field: the eight bytes from `byte` on, shifted right and masked.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // They are named above.
pub struct Read {
    pub mask: u64,
    pub byte: u16,
    pub to: At,
    pub right: u8,
}

/// A field, `skew` bits into the sixteen bytes from `byte` on.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // They are named above.
pub struct LongRead {
    pub byte: u16,
    pub to: At,
    /// 128 minus the width.
    pub right: u8,
    pub skew: u8,
}

impl Reader {
    /// Reader of headers, each with its first byte and the slot of its validity, of `bytes` bytes
    /// in total; `None` if they exceed the limits.
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
        // As far forward as necessary to stay within the headers.
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

    /// The same reader with the first `bytes` bytes in slots, eight in each from `words` on. `None`
    /// if it reads fewer bytes, or a field spans the boundary.
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

    /// Removes the fields of these slots.
    pub(super) fn leave_unread(&mut self, unread: impl Fn(Slot) -> bool) {
        self.reads.retain(|field| !unread(Slot(field.to.into())));
        self.long_reads.retain(|field| !unread(Slot(field.to.into())));
    }

    /// Reads from the front of `bytes`; false, without effect, if there are too few.
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

/// Writer of adjacent fields in whole bytes.
#[derive(Clone, Debug)]
pub struct Writer {
    /// Size in bytes.
    pub bytes: usize,
    /// Pieces, in the order in which they are written.
    pub pieces: Box<[Piece]>,
    /// True if no field exceeds 64 bits: slots are rotated as words of 64 bits, else of 128.
    pub short: bool,
    /// Fields, each with its width, for positions within a byte.
    fields: Box<[(At, u8)]>,
}

/// A piece of a field: its slot, rotated left and masked, is a part of the eight bytes written at
/// `byte`. Excess bytes are overwritten by the next piece, or are behind the fields.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // They are named above; `a` is the slot.
pub struct Piece {
    /// All ones if the piece continues the eight bytes of the previous piece, else zero.
    pub keep: u64,
    pub mask: u64,
    pub a: At,
    pub byte: u8,
    pub turn: u8,
}

impl Writer {
    /// Writer of such a header.
    pub(super) fn new(header: &WireHeader) -> Writer {
        let fields = header.fields.iter().map(|field| (field.slot, field.width as u8)).collect();
        let short = header.fields.iter().all(|field| field.width <= 64);
        Writer { bytes: header.bytes, pieces: pieces(&header.fields, short), short, fields }
    }

    /// True if it writes exactly the fields that are read of a header.
    pub(super) fn writes(&self, header: &WireHeader) -> bool {
        let fields = header.fields.iter().map(|field| (field.slot, field.width as u8));
        self.fields.iter().copied().eq(fields)
    }

    /// True if a slot is one of its fields.
    pub(super) fn reads(&self, slot: At) -> bool {
        self.fields.iter().any(|(field, _)| *field == slot)
    }

    /// Appends the fields.
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
            // A header is no longer than `LONGEST`.
            let byte = usize::from(piece.byte) % LONGEST;
            if let Some(eight) = place[byte..].first_chunk_mut() {
                *eight = word.to_be_bytes();
            }
        }
    }

    /// Appends the fields behind an incomplete byte.
    #[cold]
    fn write_bits(&self, slots: &[u128], out: &mut PacketOut) {
        for (a, width) in &self.fields {
            out.append(slots[usize::from(*a)], u32::from(*width));
        }
    }
}

/// Pieces of fields; short ones are rotated as words of 64 bits, others of 128.
fn pieces(fields: &[Field], short: bool) -> Box<[Piece]> {
    let bits = if short { 64 } else { 128 };
    let mut pieces = Vec::new();
    // First bit of the next eight bytes, if they contain a piece already.
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

/// Collects slots and widths, if all fields are narrow.
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
