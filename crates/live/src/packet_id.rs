//! Packet id: a number that identifies a packet at every switch on its path.
//!
//! It is computed from fields that do not change on the path. These are addresses, IPv4's
//! identification, and the transport's header with TCP's timestamps, or the first bytes of a
//! datagram. Two packets may have the same id. A comparison of switches distinguishes them by their
//! order.

use sojourn_packet::{IpHeader, Packet};
use std::hash::{DefaultHasher, Hasher};

/// Bytes of a TCP header with its timestamp option, or of UDP and the number in its payload.
const TRANSPORT: usize = 32;

/// Id of a frame; equal in every process of one build.
///
/// ```
/// use sojourn_live::identity;
/// use sojourn_packet::Packet;
/// let mut bytes = vec![0; 34];
/// bytes[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
/// let frame = Packet { bytes, ..Packet::default() };
/// let mut routed = frame.clone();
/// routed.bytes[22] = 63; // A router takes one from the TTL.
/// assert_eq!(identity(&routed), identity(&frame));
/// ```
pub fn identity(frame: &Packet) -> u64 {
    let bytes = &frame.bytes;
    let part = |from: usize, length: usize| {
        let end = bytes.len().min(from + length);
        bytes.get(from..end).unwrap_or_default()
    };
    let mut hasher = DefaultHasher::new();
    match IpHeader::find(frame) {
        Some(IpHeader::V4(at)) => {
            let header = bytes.get(at).map_or(0, |first| usize::from(first & 0xf) * 4);
            hasher.write(part(at + 4, 2));
            hasher.write(part(at + 12, 8));
            hasher.write(part(at + header, TRANSPORT));
        }
        Some(IpHeader::V6(at)) => hasher.write(part(at + 8, 32 + TRANSPORT)),
        None => hasher.write(bytes),
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A datagram over IPv4 with this identification and number.
    fn datagram(id: u8, number: u8) -> Packet {
        let mut bytes = vec![0; 12];
        bytes.extend([0x08, 0x00, 0x45, 0, 0, 36, 0, id, 0x40, 0, 64, 17, 0x12, 0x34]);
        bytes.extend([10, 0, 1, 1, 10, 0, 2, 1, 0x80, 0, 0x14, 0x51, 0, 16, 0, 0]);
        bytes.extend([0, 0, 0, 0, 0, 0, 0, number]);
        Packet { bytes, ..Packet::default() }
    }

    #[test]
    fn a_packet_id_covers_distinguishing_fields_and_none_that_a_router_changes() {
        let sent = datagram(1, 1);
        let mut passed = sent.clone();
        passed.bytes[..12].fill(0xff);
        // The TTL, the checksum and a mark.
        passed.bytes[22] = 63;
        passed.bytes[24..26].fill(0);
        passed.bytes[15] = 3;
        assert_eq!(identity(&sent), identity(&passed));
        assert_ne!(identity(&sent), identity(&datagram(2, 1)));
        assert_ne!(identity(&sent), identity(&datagram(1, 2)));
    }

    #[test]
    fn frames_that_end_early_have_one_too() {
        for length in 0..50 {
            let mut frame = datagram(1, 1);
            frame.bytes.truncate(length);
            identity(&frame);
        }
    }
}
