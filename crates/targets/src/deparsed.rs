//! A packet as its deparser leaves it: other headers in front of the same payload.

use sojourn_packet::{HeaderBytes, Packet};

/// A packet with other headers in place of the bits that the parser took.
pub(crate) fn deparsed(mut packet: Packet, headers: &[u8], consumed: u64) -> Packet {
    let consumed = consumed.div_ceil(8) as usize;
    let (len, kept) = (packet.bytes.len(), consumed.min(packet.bytes.len()));
    if kept == headers.len() {
        packet.bytes[..kept].copy_from_slice(headers);
    } else {
        let mut bytes = HeaderBytes::with_capacity(headers.len() + len - kept);
        bytes.extend_from_slice(headers);
        bytes.extend_from_slice(&packet.bytes[kept..]);
        packet.bytes = bytes;
    }
    packet.zeros = packet.zeros.saturating_sub((consumed - kept) as u32);
    packet
}
