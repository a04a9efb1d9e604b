//! The input and output of a program on a packet: bits read, bits written.
//!
//! A payload of zeros is counted, not stored, so a jumbo frame costs no more than its headers. Bits
//! are numbered from the first one on the wire; fields are big-endian (specification 13.8).

use super::arith::narrowed;
use super::bytecode::ROOM;
use super::jit_tier::Ends;
use super::tables::Tables;
use num_bigint::BigUint;
use num_traits::Zero;

/// A packet that a parser reads: real bytes, then counted zero bytes, and a cursor.
#[derive(Clone, Debug)]
pub struct PacketIn<'p> {
    bytes: &'p [u8],
    zeros: u32,
    position: u64,
}

impl<'p> PacketIn<'p> {
    /// A packet with the cursor at its first bit.
    #[inline]
    pub fn new(bytes: &'p [u8], zeros: u32) -> PacketIn<'p> {
        PacketIn { bytes, zeros, position: 0 }
    }

    /// The real bytes at the front.
    #[inline]
    pub fn bytes(&self) -> &'p [u8] {
        self.bytes
    }

    /// Its length in bytes, counted zeros included.
    #[inline]
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64 + u64::from(self.zeros)
    }

    /// True if the packet has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cursor, in bits from the front.
    #[inline]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The real bytes behind the cursor, if that is at a byte boundary.
    #[inline]
    pub(super) fn ahead(&self) -> Option<&'p [u8]> {
        let aligned = self.position.is_multiple_of(8);
        aligned.then(|| self.bytes.get((self.position / 8) as usize..)).flatten()
    }

    /// Bits behind the cursor.
    #[inline]
    pub fn remaining(&self) -> u64 {
        self.len() * 8 - self.position
    }

    /// Moves the cursor; false, without effect, if too few bits are left.
    #[inline]
    pub fn advance(&mut self, bits: u64) -> bool {
        let enough = bits <= self.remaining();
        if enough {
            self.position += bits;
        }
        enough
    }

    /// Moves the cursor by bytes that are known to be present.
    #[inline]
    pub(super) fn pass(&mut self, bytes: usize) {
        self.position += 8 * bytes as u64;
    }

    /// Moves it by bytes, which may be negative, but not in front of the packet.
    #[inline]
    fn pass_by(&mut self, bytes: isize) {
        self.position = self.position.wrapping_add_signed(8 * bytes as i64);
    }

    /// `width` (at most 128) bits from `offset` bits behind the cursor; bits behind the end are 0.
    #[inline]
    pub fn peek(&self, offset: u64, width: u32) -> u128 {
        let at = self.position.saturating_add(offset);
        let (first, skew) = ((at / 8) as usize, (at % 8) as u32);
        // Nearly all fields of real headers lie within eight bytes, with others behind them.
        if width > 0
            && skew + width <= 64
            && let Some(word) = self.bytes.get(first..).and_then(|rest| rest.first_chunk())
        {
            return u128::from(u64::from_be_bytes(*word) << skew >> (64 - width));
        }
        self.peek_at(first, skew, width)
    }

    /// [`PacketIn::peek`] from `skew` bits behind byte `first`, for any position.
    fn peek_at(&self, first: usize, skew: u32, width: u32) -> u128 {
        if width == 0 {
            return 0;
        }
        if skew + width <= 64 {
            return u128::from(self.word(first) << skew >> (64 - width));
        }
        let mut window = [0u8; 17];
        if let Some(bytes) = self.bytes.get(first..first.saturating_add(17)) {
            window.copy_from_slice(bytes);
        } else if let Some(rest) = self.bytes.get(first..) {
            window[..rest.len()].copy_from_slice(rest);
        }
        let (head, tail) = (&window[..16], window[16]);
        let head = u128::from_be_bytes(head.try_into().unwrap_or([0; 16]));
        let aligned = if skew == 0 { head } else { head << skew | u128::from(tail) >> (8 - skew) };
        aligned >> (128 - width)
    }

    /// The eight bytes from `first`; bytes behind the end are 0.
    fn word(&self, first: usize) -> u64 {
        if let Some(bytes) = self.bytes.get(first..).and_then(|rest| rest.first_chunk()) {
            return u64::from_be_bytes(*bytes);
        }
        // The last eight bytes, shifted to the requested position.
        if let Some(bytes) = self.bytes.last_chunk() {
            let beyond = first.saturating_add(8) - self.bytes.len();
            let bits = u32::try_from(beyond.saturating_mul(8)).unwrap_or(u32::MAX);
            return u64::from_be_bytes(*bytes).checked_shl(bits).unwrap_or(0);
        }
        let rest = self.bytes.get(first..).unwrap_or_default();
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        u64::from_be_bytes(word)
    }

    /// [`PacketIn::peek`] at any width.
    pub fn peek_wide(&self, offset: u64, width: u32) -> BigUint {
        let mut value = BigUint::zero();
        let mut done = 0;
        while done < width {
            let step = (width - done).min(128);
            value = (value << step) | BigUint::from(self.peek(offset + u64::from(done), step));
            done += step;
        }
        value
    }
}

/// Output of a deparser. Reuse one, with [`PacketOut::clear`] between packets.
#[derive(Clone, Debug, Default)]
pub struct PacketOut {
    /// Bytes written, and room left from earlier packets.
    buffer: Vec<u8>,
    /// Number of bytes written.
    len: usize,
    /// Bits behind them that do not yet fill a word, right-aligned.
    partial: u64,
    partial_bits: u32,
}

/// Lets machine code move the two ends of a packet, as far as there are any, with the given room;
/// it may use the cache of recent lookups of the tables, if given.
#[inline(always)]
pub(super) fn move_ends<R>(
    mut packet: Option<&mut PacketIn<'_>>,
    (mut out, room): (Option<&mut PacketOut>, usize),
    inline_cache: Option<&Tables>,
    run: impl FnOnce(&mut Ends<'_>) -> R,
) -> R {
    let ahead = packet.as_deref().and_then(PacketIn::ahead).unwrap_or_default();
    let room = match out.as_deref_mut() {
        Some(out) => out.room_ahead(room).unwrap_or_default(),
        None => &mut [],
    };
    let mut ends = Ends::new(ahead, room);
    if let Some(tables) = inline_cache {
        ends.look_at(tables);
    }
    let (left, free) = ends.left();
    let answer = run(&mut ends);
    let (left_behind, free_behind) = ends.left();
    if let Some(packet) = &mut packet {
        // Bytes that were read may be given back.
        packet.pass_by(left.wrapping_sub(left_behind) as isize);
    }
    if let Some(out) = out {
        out.written(free - free_behind);
    }
    answer
}

/// The lowest `width` bits of a word.
#[inline]
const fn word_mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl PacketOut {
    /// An empty packet.
    pub fn new() -> PacketOut {
        PacketOut::default()
    }

    /// Clears the contents but keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
        self.partial = 0;
        self.partial_bits = 0;
    }

    /// The whole bytes written so far.
    #[inline]
    pub fn bytes(&mut self) -> &[u8] {
        if self.partial_bits > 0 {
            self.flush();
        }
        self.buffer.get(..self.len).unwrap_or_default()
    }

    /// Moves the whole bytes of the partial word to the buffer.
    fn flush(&mut self) {
        let rest = self.partial_bits % 8;
        let whole = (self.partial_bits / 8) as usize;
        let word = (self.partial >> rest).to_be_bytes();
        self.put(&word[8 - whole..]);
        self.partial &= word_mask(rest);
        self.partial_bits = rest;
    }

    /// Takes the output, with a last incomplete byte filled with zeros.
    pub fn take(&mut self) -> Vec<u8> {
        self.align();
        self.bytes();
        let mut bytes = std::mem::take(&mut self.buffer);
        bytes.truncate(self.len);
        self.clear();
        bytes
    }

    /// Replaces the first `behind` bytes of a packet by the output, and takes over the packet's old
    /// memory.
    #[inline]
    pub fn exchange(&mut self, packet: &mut Vec<u8>, behind: usize) {
        std::mem::swap(&mut self.buffer, packet);
        packet.truncate(self.len);
        packet.extend_from_slice(self.buffer.get(behind..).unwrap_or_default());
        self.clear();
    }

    /// Bytes of allocated memory.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Length in bits.
    pub fn bit_len(&self) -> u64 {
        self.len as u64 * 8 + u64::from(self.partial_bits)
    }

    /// Drops a last incomplete byte.
    pub fn cut(&mut self) {
        self.bytes();
        (self.partial, self.partial_bits) = (0, 0);
    }

    /// Fills a last incomplete byte with zeros.
    #[inline]
    pub fn align(&mut self) {
        if !self.partial_bits.is_multiple_of(8) {
            self.append_word(0, self.partial_bits.next_multiple_of(8) - self.partial_bits);
        }
    }

    /// Buffer of the next `bytes` bytes.
    #[inline(always)]
    fn place(&mut self, bytes: usize) -> &mut [u8] {
        if self.buffer.len() - self.len < bytes {
            self.grow(bytes);
        }
        &mut self.buffer[self.len..]
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        let wanted = self.len + bytes;
        let there = self.buffer.capacity();
        let more = if wanted <= there { there } else { wanted.next_power_of_two().max(128) };
        self.buffer.resize(more, 0);
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.place(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Buffer for `bytes` appended bytes, with room behind them; `None` if the output does not end
    /// with a whole byte.
    #[inline]
    pub(super) fn room(&mut self, bytes: usize) -> Option<&mut [u8; ROOM]> {
        if self.partial_bits > 0 {
            if !self.partial_bits.is_multiple_of(8) {
                return None;
            }
            self.flush();
        }
        self.place(ROOM);
        let start = self.len;
        self.len += bytes;
        self.buffer.get_mut(start..)?.first_chunk_mut()
    }

    /// Buffer behind the output, with room for `bytes` bytes; `None` as for [`PacketOut::room`].
    #[inline(always)]
    fn room_ahead(&mut self, bytes: usize) -> Option<&mut [u8]> {
        if self.partial_bits > 0 {
            self.room(0)?;
        }
        Some(self.place(bytes))
    }

    /// Commits bytes written into that buffer.
    #[inline]
    fn written(&mut self, bytes: usize) {
        self.len += bytes;
    }

    /// Appends bytes.
    #[inline]
    pub fn append_bytes(&mut self, bytes: &[u8]) {
        if self.partial_bits.is_multiple_of(8) {
            if self.partial_bits > 0 {
                self.flush();
            }
            self.put(bytes);
        } else {
            bytes.iter().for_each(|byte| self.append_word(u64::from(*byte), 8));
        }
    }

    /// Appends the lowest `width` (at most 128) bits of `value`.
    #[inline]
    pub fn append(&mut self, value: u128, width: u32) {
        if width > 64 {
            self.append_word((value >> 64) as u64, width - 64);
        }
        self.append_word(value as u64, width.min(64));
    }

    /// [`PacketOut::append`] of at most 64 bits.
    #[inline(always)]
    pub fn append_word(&mut self, value: u64, width: u32) {
        let value = value & word_mask(width);
        let room = 64 - self.partial_bits;
        if width < room {
            self.partial = self.partial << width | value;
            self.partial_bits += width;
            return;
        }
        self.append_full(value, width, room);
    }

    /// Appends bits that fill a word with room for `room` bits.
    fn append_full(&mut self, value: u64, width: u32, room: u32) {
        let rest = width - room;
        let word = self.partial.checked_shl(room).unwrap_or(0) | value >> rest;
        self.put(&word.to_be_bytes());
        self.partial = value & word_mask(rest);
        self.partial_bits = rest;
    }

    /// Appends the lowest `width` bits of a value of any width.
    pub fn append_wide(&mut self, value: &BigUint, width: u32) {
        let mut left = width;
        while left > 0 {
            let rest = left % 128;
            let step = if rest == 0 { 128 } else { rest };
            left -= step;
            self.append(narrowed(&(value >> left)), step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counted_zeros_are_read_as_zeros_and_count_for_the_length() {
        let packet = PacketIn::new(&[0xab], 2);
        assert_eq!(packet.len(), 3);
        assert_eq!(packet.peek(4, 12), 0xb00);
        assert_eq!(packet.remaining(), 24);
    }

    #[test]
    fn advancing_past_the_end_moves_nothing() {
        let mut packet = PacketIn::new(&[1, 2], 1);
        assert!(packet.advance(17));
        assert!(!packet.advance(8));
        assert_eq!(packet.position(), 17);
        assert!(packet.advance(7));
        assert_eq!(packet.remaining(), 0);
    }

    #[test]
    fn a_field_at_any_place_is_read_bit_by_bit() {
        let bytes: Vec<u8> = (0u8..24).map(|n| n.wrapping_mul(151) ^ 0x5a).collect();
        for len in 0..=bytes.len() {
            let packet = PacketIn::new(&bytes[..len], 100);
            let bit = |at: u64| {
                let byte = bytes[..len].get((at / 8) as usize).copied().unwrap_or(0);
                u128::from(byte >> (7 - at % 8) & 1)
            };
            for offset in 0..200 {
                for width in [1, 3, 8, 13, 16, 32, 48, 57, 63, 64, 65, 100, 121, 127, 128] {
                    let whole = |value, at| value << 1 | bit(at);
                    let expected = (offset..offset + u64::from(width)).fold(0, whole);
                    assert_eq!(packet.peek(offset, width), expected, "{len} {offset} {width}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_appended_is_read_back(
            fields in prop::collection::vec((1u32..=300, any::<u64>()), 1..20),
        ) {
            let mut out = PacketOut::new();
            let value = |width: u32, seed: u64| {
                let mut value = BigUint::from(seed);
                value = value.pow(5) + seed;
                value & super::super::arith::wide_mask(width)
            };
            for &(width, seed) in &fields {
                out.append_wide(&value(width, seed), width);
            }
            let bytes = out.take();
            let total: u32 = fields.iter().map(|(width, _)| width).sum();
            prop_assert_eq!(bytes.len() as u32, total.div_ceil(8));
            let mut packet = PacketIn::new(&bytes, 0);
            for &(width, seed) in &fields {
                prop_assert_eq!(packet.peek_wide(0, width), value(width, seed));
                if width <= 128 {
                    prop_assert_eq!(packet.peek(0, width), narrowed(&value(width, seed)));
                }
                prop_assert!(packet.advance(width.into()));
            }
        }
    }
}
