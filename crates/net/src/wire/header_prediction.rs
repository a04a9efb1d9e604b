//! Header prediction: reads and writes the most common form of a frame at fixed offsets.
//!
//! Nearly all frames of a connection have this form: IPv4 without options and TCP with timestamps
//! alone. The codecs of this module's siblings are the reference. They handle every other form and
//! wrong checksums. If no component on the path reads more than addresses and marks, frames of this
//! form have no checksums, as with checksum offload to a network card.

use super::ETHERNET_HEADER_LEN;
use super::frame_detail::FrameDetail;
use super::ip::{Ecn, FrameTemplate, IPV4_FRONT_LEN, IPV4_HEADER_LEN, Protocol};
use super::options::{NOP, SackBlocks, TIMESTAMPS, TcpOptions, Timestamps};
use super::tcp::{TCP_HEADER_LEN, TcpFlags, TcpSegment};
use sojourn_packet::{ETHERTYPE_IPV4, HeaderBytes, OnesComplementSum, Packet};

/// A TCP header with the timestamps and the padding in front of them (RFC 7323 appendix A).
pub(super) const TRANSPORT_LEN: usize = TCP_HEADER_LEN + 12;
/// Bytes of the headers of a usual frame.
pub const LEN: usize = IPV4_FRONT_LEN + TRANSPORT_LEN;
/// The byte that has its length, and no reserved bit.
const DATA_OFFSET: u8 = (TRANSPORT_LEN as u8 / 4) << 4;
const OPTIONS: [u8; 4] = [NOP, NOP, TIMESTAMPS, 10];

/// Fields of a frame of the usual form, in a compact representation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictedHeader {
    /// Source and destination port.
    pub ports: (u16, u16),
    /// As [`TcpSegment::seq`].
    pub seq: u32,
    /// As [`TcpSegment::ack`].
    pub ack: u32,
    /// The one option.
    pub timestamps: Timestamps,
    /// As [`TcpSegment::payload`].
    pub payload: u32,
    /// As [`TcpSegment::flags`].
    pub flags: TcpFlags,
    /// As [`TcpSegment::window`].
    pub window: u16,
    /// As [`TcpSegment::ecn`].
    pub ecn: Ecn,
}

impl PredictedHeader {
    /// The same as any segment is, with ranges if there are some.
    #[inline]
    pub fn with_ranges(&self, sack: Option<&SackBlocks>) -> TcpSegment {
        let PredictedHeader { seq, ack, timestamps, payload, flags, window, ecn, .. } = *self;
        let (timestamps, sack) = (Some(timestamps), sack.copied().unwrap_or_default());
        let options = TcpOptions { timestamps, sack, ..TcpOptions::default() };
        TcpSegment { seq, ack, flags, window, options, payload, ecn }
    }
}

/// Prepares the constant bytes of each frame of the form behind IPv4's header.
pub(super) fn prepare(bytes: &mut [u8; LEN]) {
    bytes[IPV4_FRONT_LEN + 12] = DATA_OFFSET;
    bytes[IPV4_FRONT_LEN + TCP_HEADER_LEN..][..4].copy_from_slice(&OPTIONS);
}

/// Appends a frame of the form up to its payload, from a template of IPv4.
#[inline(always)]
pub(super) fn write(
    template: &mut FrameTemplate,
    segment: &PredictedHeader,
    written: FrameDetail,
    out: &mut HeaderBytes,
) {
    let PredictedHeader { ports, timestamps, .. } = *segment;
    let transport_len = TRANSPORT_LEN as u16 + segment.payload as u16;
    template.rank_next(segment.seq, segment.payload);
    let own = template.next_ipv4(segment.ecn, transport_len);
    // Copied first and filled there: to copy what was just filled in would be to wait for it.
    out.extend_from_slice(&template.bytes);
    let frame = out.last_chunk_mut::<LEN>().expect("it was appended");
    let (front, header) = frame.split_at_mut(IPV4_FRONT_LEN);
    let ip = &mut front[ETHERNET_HEADER_LEN..];
    own.fill(ip);
    let ports = u32::from(ports.0) << 16 | u32::from(ports.1);
    let control = u32::from(DATA_OFFSET) << 24
        | u32::from(segment.flags.0 & 0x1ff) << 16
        | u32::from(segment.window);
    header[0..4].copy_from_slice(&ports.to_be_bytes());
    header[4..8].copy_from_slice(&segment.seq.to_be_bytes());
    header[8..12].copy_from_slice(&segment.ack.to_be_bytes());
    header[12..16].copy_from_slice(&control.to_be_bytes());
    header[24..28].copy_from_slice(&timestamps.value.to_be_bytes());
    header[28..32].copy_from_slice(&timestamps.echo.to_be_bytes());
    if written == FrameDetail::Whole {
        let options = u32::from_be_bytes(OPTIONS);
        let Timestamps { value, echo } = timestamps;
        let words = [ports, segment.seq, segment.ack, control, options, value, echo];
        let checksum = template.pseudo(transport_len).pairs(words).checksum();
        header[16..18].copy_from_slice(&checksum.to_be_bytes());
        template.sum_ipv4(&own, ip);
    }
}

/// Reads a frame that has the form and right checksums, none of whose payload is stored.
#[inline]
pub(super) fn read(packet: &Packet, written: FrameDetail) -> Option<PredictedHeader> {
    let bytes: &[u8; LEN] = packet.bytes.as_slice().try_into().ok()?;
    let half = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let word =
        |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let (ip, tcp, options) = (ETHERNET_HEADER_LEN, IPV4_FRONT_LEN, IPV4_FRONT_LEN + TCP_HEADER_LEN);
    // EtherType, version and length of the header; fragment and protocol; length and control bits.
    let (front, middle, control) = (word(ip - 2), word(ip + 6), word(tcp + 12));
    let has_the_form = front >> 8 == u32::from(ETHERTYPE_IPV4) << 8 | 0x45
        && middle & 0x3fff_00ff == Protocol::Tcp as u32
        && control >> 28 == u32::from(DATA_OFFSET) >> 4
        && word(options) == u32::from_be_bytes(OPTIONS);
    let transport_len = usize::from(half(ip + 2)).checked_sub(IPV4_HEADER_LEN)?;
    let room = packet.len().0 as usize - IPV4_FRONT_LEN;
    if !has_the_form || !(TRANSPORT_LEN..=room).contains(&transport_len) {
        return None;
    }
    if written == FrameDetail::Whole && !is_valid(bytes, transport_len as u16) {
        return None;
    }
    Some(PredictedHeader {
        ports: (half(tcp), half(tcp + 2)),
        seq: word(tcp + 4),
        ack: word(tcp + 8),
        timestamps: Timestamps { value: word(options + 4), echo: word(options + 8) },
        payload: (transport_len - TRANSPORT_LEN) as u32,
        flags: TcpFlags((control >> 16) as u16 & 0x1ff),
        window: control as u16,
        ecn: Ecn::from_bits(front as u8),
    })
}

/// True if both checksums of a frame are right.
#[inline(always)]
fn is_valid(bytes: &[u8; LEN], transport_len: u16) -> bool {
    let (ip, tcp) = (ETHERNET_HEADER_LEN, IPV4_FRONT_LEN);
    let four = |at: usize| [0, 1, 2, 3].map(|byte| bytes[at + byte]);
    let pair = |at: usize| u32::from_be_bytes(four(at));
    let addresses = OnesComplementSum::default().pairs([pair(ip + 12), pair(ip + 16)]);
    let header = addresses.pairs([pair(ip), pair(ip + 4), pair(ip + 8)]);
    let pseudo = addresses.word(u16::from(Protocol::Tcp as u8)).word(transport_len);
    let segment = [0, 4, 8, 12, 16, 20, 24, 28].map(|at| pair(tcp + at));
    header.is_valid() && pseudo.pairs(segment).is_valid()
}
