//! Segments as their hosts have them: what goes in place of frames of the usual form where nobody on the
//! way reads bytes, as long on the wire as these.
//!
//! Numbers are in the order of bytes that the machine has. Where a frame has its EtherType, they have the
//! one that IEEE 802 leaves to local experiments: who looks for an IP header finds none, and so no ECN
//! field, and segments of ECN-capable transports are not written this way.

use super::ip::{Ecn, FrameTemplate};
use super::options::{SackBlocks, Timestamps};
use super::predicted::{TRANSPORT_LEN, UsualSegment};
use super::tcp::TcpFlags;
use sojourn_packet::{HeaderBytes, Packet};

/// IEEE 802 Local Experimental EtherType 1 (RFC 9542 section B.3).
const ETHERTYPE: [u8; 2] = 0x88b5_u16.to_be_bytes();
/// Bytes of a segment without ranges.
pub(super) const LEN: usize = 32;
/// Bytes of a range.
const RANGE: usize = 8;

/// What is there before the numbers are.
const BLANK: [u8; LEN] = {
    let mut blank = [0; LEN];
    [blank[12], blank[13]] = ETHERTYPE;
    blank
};

/// Appends a segment of a connection that is not ECN-capable; returns how many zeros stand for the rest of
/// its frame.
#[inline(always)]
pub(super) fn write(
    template: &FrameTemplate,
    segment: &UsualSegment,
    sack: Option<&SackBlocks>,
    out: &mut HeaderBytes,
) -> u32 {
    let UsualSegment { ports, seq, ack, timestamps, payload, flags, window, ecn } = *segment;
    debug_assert_eq!(ecn, Ecn::NotEct);
    out.extend_from_slice(&BLANK);
    let bytes = out.last_chunk_mut::<LEN>().expect("it was appended");
    bytes[0..4].copy_from_slice(&seq.to_ne_bytes());
    bytes[4..8].copy_from_slice(&ack.to_ne_bytes());
    bytes[8..12].copy_from_slice(&timestamps.value.to_ne_bytes());
    bytes[14..16].copy_from_slice(&flags.0.to_ne_bytes());
    bytes[16..18].copy_from_slice(&ports.0.to_ne_bytes());
    bytes[18..20].copy_from_slice(&ports.1.to_ne_bytes());
    bytes[20..24].copy_from_slice(&timestamps.echo.to_ne_bytes());
    bytes[24..28].copy_from_slice(&payload.to_ne_bytes());
    bytes[28..30].copy_from_slice(&window.to_ne_bytes());
    let option = sack.map_or(0, |sack| append(sack, out));
    (template.header_len() + TRANSPORT_LEN + option - LEN) as u32 + payload
}

/// Appends the ranges; returns how much longer that makes the rest of the frame: the option's header.
#[inline(never)]
fn append(sack: &SackBlocks, out: &mut HeaderBytes) -> usize {
    for (left, right) in sack.as_slice() {
        out.extend_from_slice(&left.to_ne_bytes());
        out.extend_from_slice(&right.to_ne_bytes());
    }
    if sack.is_empty() { 0 } else { 4 }
}

/// Reads a segment that has no ranges.
#[inline(always)]
pub(super) fn read(packet: &Packet) -> Option<UsualSegment> {
    segment(packet.bytes.as_slice().try_into().ok()?)
}

/// Reads a segment that has ranges.
pub(super) fn read_sacked(packet: &Packet) -> Option<(UsualSegment, SackBlocks)> {
    let (front, ranges) = packet.bytes.split_first_chunk::<LEN>()?;
    let (ranges, rest) = ranges.as_chunks::<RANGE>();
    let segment = segment(front).filter(|_| !ranges.is_empty() && rest.is_empty())?;
    let mut sack = SackBlocks::default();
    for [a, b, c, d, e, f, g, h] in ranges {
        sack.push(u32::from_ne_bytes([*a, *b, *c, *d]), u32::from_ne_bytes([*e, *f, *g, *h]));
    }
    Some((segment, sack))
}

#[inline(always)]
fn segment(bytes: &[u8; LEN]) -> Option<UsualSegment> {
    let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
    let word =
        |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    (bytes[12..14] == ETHERTYPE).then(|| UsualSegment {
        ports: (half(16), half(18)),
        seq: word(0),
        ack: word(4),
        timestamps: Timestamps { value: word(8), echo: word(20) },
        payload: word(24),
        flags: TcpFlags(half(14)),
        window: half(28),
        ecn: Ecn::NotEct,
    })
}
