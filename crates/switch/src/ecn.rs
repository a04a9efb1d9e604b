//! ECN field (RFC 3168) and DSCP (RFC 2474) of a frame: reads both, and sets Congestion Experienced.
//!
//! Frames without an IP header have neither. Must not depend on the reason for a mark.

use sojourn_packet::{IpHeader, OnesComplementSum, Packet};

/// Not capable of ECN.
pub const NOT_ECT: u8 = 0;
/// Capable, and of a scalable sender (RFC 9331).
pub const ECT_1: u8 = 1;
/// Congestion Experienced.
pub const CE: u8 = 3;

/// The ECN field: [`NOT_ECT`], [`ECT_1`], 2 for ECT(0) or [`CE`]. Frames that have no such field are
/// not capable of ECN.
#[inline]
pub fn codepoint(frame: &Packet) -> u8 {
    // Nearly every frame is IPv4 and has no tag.
    if let Some([0x08, 0x00, _, tos]) = frame.bytes.get(12..16) {
        return tos & CE;
    }
    traffic_class(frame).map_or(NOT_ECT, |class| class & CE)
}

/// The Differentiated Services codepoint, 0 to 63; none for a frame without an IP header.
pub fn dscp(frame: &Packet) -> Option<u8> {
    traffic_class(frame).map(|class| class >> 2)
}

/// The octet with DSCP and ECN field: TOS of IPv4, Traffic Class of IPv6.
fn traffic_class(frame: &Packet) -> Option<u8> {
    let octet = |at: usize| frame.bytes.get(at).copied();
    match IpHeader::find(frame)? {
        IpHeader::V4(at) => octet(at + 1),
        IpHeader::V6(at) => Some(octet(at)? << 4 | octet(at + 1)? >> 4),
    }
}

/// True if the frame is marked with Congestion Experienced.
#[inline]
pub fn is_marked(frame: &Packet) -> bool {
    codepoint(frame) == CE
}

/// Marks a frame of an ECN-capable transport with Congestion Experienced and mends the checksum of
/// an IPv4 header. True if the frame is marked now, also if it was before; a frame that is not
/// capable of ECN stays as it is.
///
/// ```
/// use sojourn_packet::Packet;
/// use sojourn_switch::ecn;
/// let mut bytes = vec![0; 34];
/// bytes[12..16].copy_from_slice(&[0x08, 0x00, 0x45, ecn::ECT_1]);
/// let mut frame = Packet { bytes, ..Packet::default() };
/// assert!(ecn::mark(&mut frame) && ecn::is_marked(&frame));
/// assert!(!ecn::mark(&mut Packet::default()), "no IP header, no mark");
/// ```
pub fn mark(frame: &mut Packet) -> bool {
    if codepoint(frame) == NOT_ECT {
        return false;
    }
    match IpHeader::find(frame) {
        Some(IpHeader::V4(at)) => mark_v4(&mut frame.bytes[at..]),
        Some(IpHeader::V6(at)) => frame.bytes[at + 1] |= CE << 4,
        None => {}
    }
    true
}

fn mark_v4(header: &mut [u8]) {
    let before = u16::from_be_bytes([header[0], header[1]]);
    header[1] |= CE;
    let after = u16::from_be_bytes([header[0], header[1]]);
    let Some([high, low]) = header.get_mut(10..12) else { return };
    // RFC 1624, equation 3: HC' = ~(~HC + ~m + m') in ones' complement.
    let old = u16::from_be_bytes([*high, *low]);
    let sum = OnesComplementSum::default().word(!old).word(!before).word(after);
    [*high, *low] = sum.checksum().to_be_bytes();
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

    #[test]
    fn a_marked_ipv4_header_still_has_a_right_checksum() {
        let sum = |header: &[u8]| {
            let words = header.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
            let sum: u32 = words.sum();
            (sum & 0xffff) + (sum >> 16)
        };
        for tos in [0x01, 0x02, 0xb9, 0xfe] {
            let mut header =
                [0x45, tos, 5, 0xdc, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 1, 0, 2];
            let checksum = !(sum(&header) as u16);
            header[10..12].copy_from_slice(&checksum.to_be_bytes());
            assert_eq!(sum(&header), 0xffff);
            let mut packet = frame(&[0x08, 0x00]);
            packet.bytes.extend_from_slice(&header);
            assert!(mark(&mut packet) && is_marked(&packet));
            assert_eq!(packet.bytes[15], tos | 3);
            assert_eq!(sum(&packet.bytes[14..34]), 0xffff, "tos {tos:#x}");
        }
    }

    #[test]
    fn only_capable_packets_are_marked() {
        let mut incapable = frame(&[0x08, 0x00, 0x45, 0xb8]);
        let before = incapable.clone();
        assert!(!mark(&mut incapable));
        assert_eq!(incapable, before);
        let mut arp = frame(&[0x08, 0x06, 0x00, 0x01]);
        assert!(!mark(&mut arp));
        let mut v6 = frame(&[0x86, 0xdd, 0x60, 0x10]);
        assert!(mark(&mut v6) && is_marked(&v6));
        assert!(mark(&mut v6), "a mark stays one");
    }
}
