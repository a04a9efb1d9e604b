//! Abstract segments: a host's representation of common TCP segments, used instead of frame bytes.
//!
//! They replace frames if no component on the path reads bytes, and have the same length on the
//! wire.
//!
//! A segment is four words of eight bytes, lowest first, so a CPU copies and stores whole words.
//! Each SACK range appends one word. The EtherType position holds the value that IEEE 802 reserves
//! for local experiments. A reader therefore finds no IP header, and so no ECN field. Segments of
//! ECN-capable transports are not written this way.
//!
//! If programs read only Ethernet headers, an Ethernet header with the frame's EtherType precedes
//! the segment. That EtherType is repeated behind the header, where no IP header begins with its
//! value.

use super::ETHERNET_HEADER_LEN;
use super::header_prediction::{PredictedHeader, TRANSPORT_LEN};
use super::ip::{Ecn, FrameTemplate};
use super::options::{SackBlocks, Timestamps};
use super::tcp::TcpFlags;
use sojourn_packet::{HeaderBytes, Packet};

/// IEEE 802 Local Experimental EtherType 1 (RFC 9542 section B.3), in wire order.
const ETHERTYPE: [u8; 2] = 0x88b5_u16.to_be_bytes();

/// Bytes in front of a segment that is framed.
pub(super) const FRONT: usize = ETHERNET_HEADER_LEN + 2;

/// A segment without ranges, not taken apart yet.
#[derive(Clone, Copy, Debug)]
pub struct AbstractSegment([u64; AbstractSegment::LEN / 8]);

impl AbstractSegment {
    /// Its bytes.
    pub const LEN: usize = 32;
    /// With the Ethernet header that it is behind where it is framed.
    pub const FRAMED_LEN: usize = FRONT + Self::LEN;

    /// The segment of a packet, if it is one.
    #[inline(always)]
    pub fn from_packet(packet: &Packet) -> Option<AbstractSegment> {
        AbstractSegment::from_bytes(packet.bytes.as_slice().try_into().ok()?)
    }

    /// The segment of a packet, if it is one behind an Ethernet header.
    #[inline(always)]
    pub fn framed(packet: &Packet) -> Option<AbstractSegment> {
        let bytes: &[u8; Self::FRAMED_LEN] = packet.bytes.as_slice().try_into().ok()?;
        let (front, segment) = bytes.split_first_chunk()?;
        is_front(front).then(|| AbstractSegment::from_bytes(segment.first_chunk()?)).flatten()
    }

    #[inline(always)]
    fn from_bytes(bytes: &[u8; Self::LEN]) -> Option<AbstractSegment> {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |at: usize| u64::from_le_bytes(words[at]);
        let is_one = bytes[12..14] == ETHERTYPE;
        is_one.then(|| AbstractSegment([word(0), word(1), word(2), word(3)]))
    }

    #[inline(always)]
    fn new(segment: &PredictedHeader) -> AbstractSegment {
        let PredictedHeader { ports, seq, ack, timestamps, payload, flags, window, ecn } = *segment;
        debug_assert_eq!(ecn, Ecn::NotEct);
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let halves = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
        AbstractSegment([
            pair(seq, ack),
            pair(timestamps.value, halves(u16::from_le_bytes(ETHERTYPE), flags.0)),
            pair(timestamps.echo, halves(ports.0, ports.1)),
            pair(payload, window.into()),
        ])
    }

    /// Fields of a packet that is a segment with ranges.
    pub fn with_ranges(packet: &Packet) -> Option<(PredictedHeader, SackBlocks)> {
        AbstractSegment::ranges_of(&packet.bytes)
    }

    /// Fields of a packet that is a segment with ranges behind an Ethernet header.
    pub fn framed_with_ranges(packet: &Packet) -> Option<(PredictedHeader, SackBlocks)> {
        let (front, segment) = packet.bytes.split_first_chunk()?;
        is_front(front).then(|| AbstractSegment::ranges_of(segment)).flatten()
    }

    fn ranges_of(bytes: &[u8]) -> Option<(PredictedHeader, SackBlocks)> {
        let (front, ranges) = bytes.split_first_chunk()?;
        let (ranges, rest) = ranges.as_chunks();
        if ranges.is_empty() || !rest.is_empty() {
            return None;
        }
        let mut sack = SackBlocks::default();
        for range in ranges {
            let range = u64::from_le_bytes(*range);
            sack.push(range as u32, (range >> 32) as u32);
        }
        Some((AbstractSegment::from_bytes(front)?.read(), sack))
    }

    /// Source and destination port.
    #[inline(always)]
    pub fn ports(&self) -> (u16, u16) {
        let ports = (self.0[2] >> 32) as u32;
        (ports as u16, (ports >> 16) as u16)
    }

    /// Fields of the segment.
    #[inline(always)]
    pub fn read(&self) -> PredictedHeader {
        let AbstractSegment(words) = *self;
        let (low, high) = (|at: usize| words[at] as u32, |at: usize| (words[at] >> 32) as u32);
        PredictedHeader {
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

/// Appends a segment of a connection that is not ECN-capable; returns the number of zeros for the
/// rest of its frame.
#[inline(always)]
pub(super) fn write(
    template: &FrameTemplate,
    segment: &PredictedHeader,
    sack: Option<&SackBlocks>,
    out: &mut HeaderBytes,
) -> u32 {
    out.extend_from_slice(&[0; AbstractSegment::LEN]);
    let bytes = out.last_chunk_mut::<{ AbstractSegment::LEN }>().expect("it was appended");
    let (words, _) = bytes.as_chunks_mut::<8>();
    for (place, word) in words.iter_mut().zip(AbstractSegment::new(segment).0) {
        *place = word.to_le_bytes();
    }
    let option = sack.map_or(0, |sack| append(sack, out));
    (template.header_len() + TRANSPORT_LEN + option - AbstractSegment::LEN) as u32 + segment.payload
}

/// Front of a framed segment: an Ethernet header, and its EtherType once more.
pub(super) fn front(ethernet: &[u8; ETHERNET_HEADER_LEN]) -> [u8; FRONT] {
    let mut front = [0; FRONT];
    front[..ETHERNET_HEADER_LEN].copy_from_slice(ethernet);
    front.copy_within(12..14, ETHERNET_HEADER_LEN);
    front
}

/// True for the front of a segment whose EtherType is unchanged.
#[inline(always)]
fn is_front(bytes: &[u8; FRONT]) -> bool {
    bytes[12..14] == bytes[ETHERNET_HEADER_LEN..]
}

/// [`write`] behind an Ethernet header.
#[inline(always)]
pub(super) fn write_framed(
    template: &FrameTemplate,
    segment: &PredictedHeader,
    sack: Option<&SackBlocks>,
    out: &mut HeaderBytes,
) -> u32 {
    out.extend_from_slice(&template.front);
    write(template, segment, sack, out) - FRONT as u32
}

/// Appends the ranges; returns how much longer that makes the rest of the frame: the option's header.
#[inline(never)]
fn append(sack: &SackBlocks, out: &mut HeaderBytes) -> usize {
    for (left, right) in sack.as_slice() {
        out.extend_from_slice(&(u64::from(*left) | u64::from(*right) << 32).to_le_bytes());
    }
    if sack.is_empty() { 0 } else { 4 }
}
