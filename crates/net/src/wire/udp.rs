//! UDP datagrams, written and read (RFC 768, RFC 8200 section 8.1 for IPv6).

use super::checksum::Sum;
use super::frame::WireError;
use super::ip::{Ecn, FrameTemplate};
use sojourn_packet::HeaderBytes;

/// Bytes of a UDP header.
pub const UDP_HEADER_LEN: usize = 8;

/// One datagram as its fields; the payload is zeros and only counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpDatagram {
    /// Bytes of payload.
    pub payload: u32,
    /// ECN field of the IP header that carries it.
    pub ecn: Ecn,
}

/// Appends the whole frame up to the payload to `out`.
///
/// `ports` are the source's and the destination's.
pub fn write_udp(
    template: &mut FrameTemplate,
    ports: (u16, u16),
    datagram: &UdpDatagram,
    out: &mut HeaderBytes,
) {
    let len = UDP_HEADER_LEN as u16 + datagram.payload as u16;
    let pseudo = template.write(out, datagram.ecn, len);
    let sum = pseudo.word(ports.0).word(ports.1).word(len);
    // Zero would say that there is no checksum.
    let checksum = match sum.checksum() {
        0 => 0xffff,
        checksum => checksum,
    };
    for field in [ports.0, ports.1, len, checksum] {
        out.extend_from_slice(&field.to_be_bytes());
    }
}

/// Reads a datagram from `bytes`, the stored part of a transport packet of `len` bytes.
pub(super) fn read_udp(
    bytes: &[u8],
    len: usize,
    pseudo: Sum,
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
    let datagram = UdpDatagram { payload: (len - UDP_HEADER_LEN) as u32, ecn };
    Ok(((half(0), half(2)), datagram))
}
