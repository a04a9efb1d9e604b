//! A packet as its deparser leaves it: other headers in front of the same payload.

use sojourn_packet::Packet;

/// A packet with other headers in place of the bits that the parser took.
pub(crate) fn deparsed(mut packet: Packet, headers: &[u8], consumed: u64) -> Packet {
    let consumed = consumed.div_ceil(8) as usize;
    let (len, kept) = (packet.bytes.len(), consumed.min(packet.bytes.len()));
    if kept == headers.len() {
        packet.bytes[..kept].copy_from_slice(headers);
    } else {
        // Behind the new headers in the packet's own buffer.
        let rest = len - kept;
        if headers.len() > kept {
            packet.bytes.resize(headers.len() + rest, 0);
        }
        packet.bytes.copy_within(kept..len, headers.len());
        packet.bytes.truncate(headers.len() + rest);
        packet.bytes[..headers.len()].copy_from_slice(headers);
    }
    packet.zeros = packet.zeros.saturating_sub((consumed - kept) as u32);
    packet
}
