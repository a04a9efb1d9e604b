//! TCP segments, written and read (RFC 9293 section 3.1).

use super::abstract_segment;
use super::error::WireError;
use super::frame_detail::FrameDetail;
use super::header_prediction::{self, PredictedHeader};
use super::ip::{Ecn, FrameTemplate, put_front};
use super::options::{SackBlocks, TcpOptions};
use sojourn_packet::{HeaderBytes, OnesComplementSum};
use std::ops::BitOr;

pub(super) const TCP_HEADER_LEN: usize = 20;
/// With all the options that its length field can count.
const LONGEST_TCP_HEADER: usize = 60;

/// The control bits of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u16);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: TcpFlags = TcpFlags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: TcpFlags = TcpFlags(0x02);
    /// Reset the connection.
    pub const RST: TcpFlags = TcpFlags(0x04);
    /// Push function.
    pub const PSH: TcpFlags = TcpFlags(0x08);
    /// The acknowledgement field counts.
    pub const ACK: TcpFlags = TcpFlags(0x10);
    /// A congestion mark was received (RFC 3168 section 6.1).
    pub const ECE: TcpFlags = TcpFlags(0x40);
    /// The window was reduced for a mark (RFC 3168 section 6.1).
    pub const CWR: TcpFlags = TcpFlags(0x80);
    /// With the two before it the counter of accurate ECN (RFC 9768 section 3.2.2).
    pub const AE: TcpFlags = TcpFlags(0x100);

    /// True if all of `other`'s bits are set.
    pub fn contains(self, other: TcpFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for TcpFlags {
    type Output = TcpFlags;
    fn bitor(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | other.0)
    }
}

/// One segment as its fields; the payload is zeros and only counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpSegment {
    /// Sequence number of the first byte (of SYN, if set).
    pub seq: u32,
    /// Next sequence number expected; counts if [`TcpFlags::ACK`] is set.
    pub ack: u32,
    /// Control bits.
    pub flags: TcpFlags,
    /// Window field, not scaled.
    pub window: u16,
    /// Options.
    pub options: TcpOptions,
    /// Bytes of payload.
    pub payload: u32,
    /// ECN field of the IP header that carries it.
    pub ecn: Ecn,
}

/// Appends the whole frame up to the payload to `out`.
///
/// `ports` are the source's and the destination's. No frame is compact, and those of a form that is not
/// the usual one have their checksums always.
#[inline]
pub fn write_tcp(
    template: &mut FrameTemplate,
    ports: (u16, u16),
    segment: &TcpSegment,
    written: FrameDetail,
    out: &mut HeaderBytes,
) {
    match segment.options.timestamps_alone() {
        Some(timestamps) if template.is_ipv4() => {
            let TcpSegment { seq, ack, flags, window, payload, ecn, .. } = *segment;
            let predicted =
                PredictedHeader { ports, seq, ack, timestamps, payload, flags, window, ecn };
            header_prediction::write(template, &predicted, written, out);
        }
        _ => write_any(template, ports, segment, out),
    }
}

/// The same of a segment of a connection that is not ECN-capable, which has timestamps and perhaps
/// ranges; returns how many zeros are behind what is written, the payload among them.
#[inline(always)]
pub fn write_predicted(
    template: &mut FrameTemplate,
    segment: &PredictedHeader,
    sack: Option<&SackBlocks>,
    written: FrameDetail,
    out: &mut HeaderBytes,
) -> u32 {
    match written {
        FrameDetail::Compact => return abstract_segment::write(template, segment, sack, out),
        FrameDetail::Framed => return abstract_segment::write_framed(template, segment, sack, out),
        FrameDetail::Whole | FrameDetail::Unsummed => {}
    }
    if sack.is_none() && template.is_ipv4() {
        header_prediction::write(template, segment, written, out);
    } else {
        write_any(template, segment.ports, &segment.with_ranges(sack), out);
    }
    segment.payload
}

/// With any options, behind either version of IP.
#[inline(never)]
pub(super) fn write_any(
    template: &mut FrameTemplate,
    ports: (u16, u16),
    segment: &TcpSegment,
    out: &mut HeaderBytes,
) {
    let header_len = TCP_HEADER_LEN + segment.options.len();
    template.rank_next(segment.seq, segment.payload);
    let pseudo = template.write(out, segment.ecn, header_len as u16 + segment.payload as u16);
    let mut header = [0; LONGEST_TCP_HEADER];
    header[0..2].copy_from_slice(&ports.0.to_be_bytes());
    header[2..4].copy_from_slice(&ports.1.to_be_bytes());
    header[4..8].copy_from_slice(&segment.seq.to_be_bytes());
    header[8..12].copy_from_slice(&segment.ack.to_be_bytes());
    header[12] = (header_len as u8 / 4) << 4 | (segment.flags.0 >> 8) as u8 & 1;
    header[13] = segment.flags.0 as u8;
    header[14..16].copy_from_slice(&segment.window.to_be_bytes());
    segment.options.write(&mut header[TCP_HEADER_LEN..]);
    let checksum = pseudo.bytes(&header[..header_len]).checksum();
    header[16..18].copy_from_slice(&checksum.to_be_bytes());
    put_front(out, &header, header_len);
}

/// Reads a segment from `bytes`, the stored part of a transport packet of `len` bytes.
pub(super) fn read_tcp(
    bytes: &[u8],
    len: usize,
    pseudo: OnesComplementSum,
    ecn: Ecn,
) -> Result<((u16, u16), TcpSegment), WireError> {
    let header = bytes.first_chunk::<TCP_HEADER_LEN>().ok_or(WireError::Truncated)?;
    let header_len = usize::from(header[12] >> 4) * 4;
    if header_len < TCP_HEADER_LEN || header_len > len {
        return Err(WireError::Length);
    }
    let options = bytes.get(TCP_HEADER_LEN..header_len).ok_or(WireError::Truncated)?;
    if !pseudo.bytes(bytes).is_valid() {
        return Err(WireError::Checksum);
    }
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
    let segment = TcpSegment {
        seq: word(4),
        ack: word(8),
        flags: TcpFlags(u16::from(header[12] & 1) << 8 | u16::from(header[13])),
        window: half(14),
        options: TcpOptions::read(options)?,
        payload: (len - header_len) as u32,
        ecn,
    };
    Ok(((half(0), half(2)), segment))
}
