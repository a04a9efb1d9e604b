//! Location of the IP header in a frame, for all code that reads or changes one.
//!
//! Frames are Ethernet with at most two VLAN tags (IEEE 802.1Q). The module must not depend on any
//! field of IP itself.

use crate::Packet;

/// Ethernet without tags: two addresses and a type.
pub const ETHERNET_HEADER_LEN: usize = 14;
/// The EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// The EtherType of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86dd;
/// The EtherTypes of VLAN tags: the customer's and the provider's.
const ETHERTYPE_TAGS: [u16; 2] = [0x8100, 0x88a8];
const TAG_LEN: usize = 4;
const MOST_TAGS: usize = 2;

/// Offset of the IP header in a frame, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpHeader {
    /// IPv4, at that byte of the frame.
    V4(usize),
    /// IPv6, at that byte of the frame.
    V6(usize),
}

impl IpHeader {
    /// Finds the IP header of a frame behind at most two VLAN tags; `None` if the EtherType is
    /// another, or is cut off. The header itself may be missing.
    ///
    /// ```
    /// use sojourn_packet::{IpHeader, Packet};
    /// let mut frame = Packet { bytes: vec![0; 12], ..Packet::default() };
    /// frame.bytes.extend([0x81, 0x00, 0x00, 0x07, 0x08, 0x00, 0x45]);
    /// assert_eq!(IpHeader::find(&frame), Some(IpHeader::V4(18)));
    /// ```
    #[inline]
    pub fn find(frame: &Packet) -> Option<IpHeader> {
        let kind = ETHERNET_HEADER_LEN - 2;
        for tags in 0..=MOST_TAGS {
            let at = kind + TAG_LEN * tags;
            let &[high, low] = frame.bytes.get(at..at + 2)? else { return None };
            match u16::from_be_bytes([high, low]) {
                ETHERTYPE_IPV4 => return Some(IpHeader::V4(at + 2)),
                ETHERTYPE_IPV6 => return Some(IpHeader::V6(at + 2)),
                tag if ETHERTYPE_TAGS.contains(&tag) => {}
                _ => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(behind_addresses: &[u8]) -> Option<IpHeader> {
        let bytes = [&[0; 12], behind_addresses].concat();
        IpHeader::find(&Packet { bytes, ..Packet::default() })
    }

    #[test]
    fn both_versions_are_found_behind_none_one_and_two_tags() {
        let (customer, provider) = ([0x81, 0, 0, 1], [0x88, 0xa8, 0, 2]);
        for (tags, at) in
            [(vec![], 14), (customer.to_vec(), 18), ([provider, customer].concat(), 22)]
        {
            assert_eq!(found(&[&tags[..], &[0x08, 0x00]].concat()), Some(IpHeader::V4(at)));
            assert_eq!(found(&[&tags[..], &[0x86, 0xdd]].concat()), Some(IpHeader::V6(at)));
        }
    }

    #[test]
    fn three_tags_other_types_and_short_frames_have_none() {
        assert_eq!(found(&[[0x81, 0, 0, 1]; 3].concat()), None);
        assert_eq!(found(&[&[[0x81, 0, 0, 1]; 3].concat()[..], &[0x08, 0x00]].concat()), None);
        assert_eq!(found(&[0x08, 0x06]), None);
        for short in [&[][..], &[0x08], &[0x81, 0, 0, 1, 0x08]] {
            assert_eq!(found(short), None);
        }
    }
}
