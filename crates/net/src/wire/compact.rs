//! Segments as their hosts have them: what goes in place of frames of the usual form where nobody on the
//! way reads bytes, as long on the wire as these.
//!
//! Four words of eight bytes, the lowest first, so that a machine copies and stores them whole; a word for
//! each range is behind them. Where a frame has its EtherType, they have the one that IEEE 802 leaves to
//! local experiments: who looks for an IP header finds none, and so no ECN field, and segments of
//! ECN-capable transports are not written this way.

use super::ip::{Ecn, FrameTemplate};
use super::options::{SackBlocks, Timestamps};
use super::predicted::{TRANSPORT_LEN, UsualSegment};
use super::tcp::TcpFlags;
use sojourn_packet::{HeaderBytes, Packet};

/// IEEE 802 Local Experimental EtherType 1 (RFC 9542 section B.3), as it lies on a wire.
const ETHERTYPE: [u8; 2] = 0x88b5_u16.to_be_bytes();

/// A segment without ranges, not taken apart yet.
#[derive(Clone, Copy, Debug)]
pub struct CompactSegment([u64; CompactSegment::LEN / 8]);

impl CompactSegment {
    /// Its bytes.
    pub const LEN: usize = 32;

    /// What a packet is, if it is one.
    #[inline(always)]
    pub fn of(packet: &Packet) -> Option<CompactSegment> {
        CompactSegment::from_bytes(packet.bytes.as_slice().try_into().ok()?)
    }

    #[inline(always)]
    fn from_bytes(bytes: &[u8; Self::LEN]) -> Option<CompactSegment> {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |at: usize| u64::from_le_bytes(words[at]);
        let is_one = bytes[12..14] == ETHERTYPE;
        is_one.then(|| CompactSegment([word(0), word(1), word(2), word(3)]))
    }

    #[inline(always)]
    fn new(segment: &UsualSegment) -> CompactSegment {
        let UsualSegment { ports, seq, ack, timestamps, payload, flags, window, ecn } = *segment;
        debug_assert_eq!(ecn, Ecn::NotEct);
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let halves = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
        CompactSegment([
            pair(seq, ack),
            pair(timestamps.value, halves(u16::from_le_bytes(ETHERTYPE), flags.0)),
            pair(timestamps.echo, halves(ports.0, ports.1)),
            pair(payload, window.into()),
        ])
    }

    /// What a packet says that is a segment with ranges.
    pub fn with_ranges(packet: &Packet) -> Option<(UsualSegment, SackBlocks)> {
        let (front, ranges) = packet.bytes.split_first_chunk()?;
        let (ranges, rest) = ranges.as_chunks();
        if ranges.is_empty() || !rest.is_empty() {
            return None;
        }
        let mut sack = SackBlocks::default();
        for range in ranges {
            let range = u64::from_le_bytes(*range);
            sack.push(range as u32, (range >> 32) as u32);
        }
        Some((CompactSegment::from_bytes(front)?.read(), sack))
    }

    /// Where it comes from and where it goes.
    #[inline(always)]
    pub fn ports(&self) -> (u16, u16) {
        let ports = (self.0[2] >> 32) as u32;
        (ports as u16, (ports >> 16) as u16)
    }

    /// What it says.
    #[inline(always)]
    pub fn read(&self) -> UsualSegment {
        let CompactSegment(words) = *self;
        let (low, high) = (|at: usize| words[at] as u32, |at: usize| (words[at] >> 32) as u32);
        UsualSegment {
            ports: self.ports(),
            seq: low(0),
            ack: high(0),
            timestamps: Timestamps { value: low(1), echo: low(2) },
            payload: low(3),
            flags: TcpFlags((high(1) >> 16) as u16),
            window: high(3) as u16,
            ecn: Ecn::NotEct,
        }
    }
}

/// Appends a segment of a connection that is not ECN-capable; returns how many zeros stand for the rest of
/// its frame.
#[inline(always)]
pub(super) fn write(
    template: &FrameTemplate,
    segment: &UsualSegment,
    sack: Option<&SackBlocks>,
    out: &mut HeaderBytes,
) -> u32 {
    out.extend_from_slice(&[0; CompactSegment::LEN]);
    let bytes = out.last_chunk_mut::<{ CompactSegment::LEN }>().expect("it was appended");
    let (words, _) = bytes.as_chunks_mut::<8>();
    for (place, word) in words.iter_mut().zip(CompactSegment::new(segment).0) {
        *place = word.to_le_bytes();
    }
    let option = sack.map_or(0, |sack| append(sack, out));
    (template.header_len() + TRANSPORT_LEN + option - CompactSegment::LEN) as u32 + segment.payload
}

/// Appends the ranges; returns how much longer that makes the rest of the frame: the option's header.
#[inline(never)]
fn append(sack: &SackBlocks, out: &mut HeaderBytes) -> usize {
    for (left, right) in sack.as_slice() {
        out.extend_from_slice(&(u64::from(*left) | u64::from(*right) << 32).to_le_bytes());
    }
    if sack.is_empty() { 0 } else { 4 }
}
