//! UDP datagrams, written and read (RFC 768, RFC 8200 section 8.1 for IPv6).

use super::error::WireError;
use super::ip::{Ecn, FrameTemplate};
use sojourn_packet::{HeaderBytes, OnesComplementSum};

/// Bytes of a UDP header.
pub const UDP_HEADER_LEN: usize = 8;

/// One datagram as its fields; the payload is zeros behind what it begins with, and only counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpDatagram {
    /// Bytes of payload.
    pub payload: u32,
    /// ECN field of the IP header that carries it.
    pub ecn: Ecn,
    /// The RTP header that the payload begins with, if it is one of a voice.
    pub rtp: Option<Rtp>,
}

/// Bytes of an RTP header without contributing sources (RFC 3550 section 5.1).
pub const RTP_HEADER_LEN: usize = 12;
/// Version 2, no padding, extension or contributing sources.
const RTP_VERSION: u8 = 2 << 6;
/// Payload type 0: PCMU, which is G.711 (RFC 3551 section 6).
const RTP_PCMU: u8 = 0;

/// Fields of an RTP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rtp {
    /// Sequence number.
    pub sequence: u16,
    /// Timestamp in samples.
    pub timestamp: u32,
}

impl Rtp {
    fn bytes(self) -> [u8; RTP_HEADER_LEN] {
        let mut bytes = [0; RTP_HEADER_LEN];
        (bytes[0], bytes[1]) = (RTP_VERSION, RTP_PCMU);
        bytes[2..4].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.timestamp.to_be_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Rtp> {
        let header = bytes.first_chunk::<RTP_HEADER_LEN>()?;
        let [version, _, s0, s1, t0, t1, t2, t3, ..] = *header;
        (version == RTP_VERSION).then_some(Rtp {
            sequence: u16::from_be_bytes([s0, s1]),
            timestamp: u32::from_be_bytes([t0, t1, t2, t3]),
        })
    }
}

/// Appends the whole frame up to the payload to `out`.
///
/// `ports` are the source's and the destination's; the payload begins with the RTP header, or else
/// with `begins`, which is no longer than it.
pub fn write_udp(
    template: &mut FrameTemplate,
    ports: (u16, u16),
    datagram: &UdpDatagram,
    begins: &[u8],
    out: &mut HeaderBytes,
) {
    let len = UDP_HEADER_LEN as u16 + datagram.payload as u16;
    let pseudo = template.write(out, datagram.ecn, len);
    let rtp = datagram.rtp.map(Rtp::bytes);
    let head = rtp.as_ref().map_or(begins, |bytes| &bytes[..]);
    let sum = pseudo.word(ports.0).word(ports.1).word(len).bytes(head);
    // Zero would say that there is no checksum.
    let checksum = match sum.checksum() {
        0 => 0xffff,
        checksum => checksum,
    };
    for field in [ports.0, ports.1, len, checksum] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    out.extend_from_slice(head);
}

/// Reads a datagram from `bytes`, the stored part of a transport packet of `len` bytes.
pub(super) fn read_udp(
    bytes: &[u8],
    len: usize,
    pseudo: OnesComplementSum,
    ecn: Ecn,
) -> Result<((u16, u16), UdpDatagram), WireError> {
    let header = bytes.first_chunk::<UDP_HEADER_LEN>().ok_or(WireError::Truncated)?;
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    if usize::from(half(4)) != len || len < UDP_HEADER_LEN {
        return Err(WireError::Length);
    }
    if half(6) != 0 && !pseudo.bytes(bytes).is_valid() {
        return Err(WireError::Checksum);
    }
    let rtp = Rtp::read(&bytes[UDP_HEADER_LEN..]);
    let datagram = UdpDatagram { payload: (len - UDP_HEADER_LEN) as u32, ecn, rtp };
    Ok(((half(0), half(2)), datagram))
}
