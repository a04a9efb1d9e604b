//! The ECN bits of a frame (RFC 3168), for measurement: was this packet marked on its way through?

use sojourn_packet::Packet;

const CONGESTION_EXPERIENCED: u8 = 3;

/// True if the frame is IPv4 or IPv6, behind at most two VLAN tags, with Congestion Experienced.
pub fn is_marked(frame: &Packet) -> bool {
    let bytes = &frame.bytes;
    let mut at = 12;
    loop {
        let Some(&[high, low]) = bytes.get(at..at + 2) else { return false };
        let ip = at + 2;
        match u16::from_be_bytes([high, low]) {
            0x8100 | 0x88a8 if at < 20 => at += 4,
            0x0800 => return bytes.get(ip + 1).is_some_and(|b| b & 3 == CONGESTION_EXPERIENCED),
            0x86dd => {
                return bytes.get(ip + 1).is_some_and(|b| (b >> 4) & 3 == CONGESTION_EXPERIENCED);
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(behind_addresses: &[u8]) -> Packet {
        let mut packet = Packet { zeros: 100, ..Packet::default() };
        packet.bytes.extend_from_slice(&[0; 12]);
        packet.bytes.extend_from_slice(behind_addresses);
        packet
    }

    #[test]
    fn marks_are_found_in_both_ip_versions_and_behind_tags() {
        assert!(is_marked(&frame(&[0x08, 0x00, 0x45, 0x03])));
        assert!(is_marked(&frame(&[0x86, 0xdd, 0x60, 0x30])));
        assert!(is_marked(&frame(&[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 0x08, 0x00, 0x45, 0x0b])));
    }

    #[test]
    fn other_codepoints_and_other_frames_are_not_marked() {
        for tos in [0x00, 0x01, 0x02] {
            assert!(!is_marked(&frame(&[0x08, 0x00, 0x45, tos])));
        }
        assert!(!is_marked(&frame(&[0x08, 0x06, 0x45, 0x03])));
        assert!(!is_marked(&frame(&[0x08, 0x00])));
        assert!(!is_marked(&frame(&[0x81, 0, 0, 1, 0x81, 0, 0, 1, 0x81, 0, 0, 1, 8, 0, 0x45, 3])));
    }
}
