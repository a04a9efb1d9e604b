//! Hash of a frame's flow (RFC 8290 section 4.1).
//!
//! The key is protocol, addresses and ports, mixed with a seed so that flows that collide in one
//! run do not in another. It is no protection against an attacker with knowledge of the seed.

use sojourn_packet::{IpHeader, Packet, mix};

/// Protocols whose headers begin with two ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// A hash of the frame's flow. Fragments of IPv4 packets are distinguished by their addresses only,
/// as all but the first have no ports; frames without IP by their Ethernet addresses and type.
pub fn flow_hash(frame: &Packet, seed: u64) -> u64 {
    let bytes = &frame.bytes;
    let mut hash = mix(seed);
    let mut add = |part: Option<&[u8]>| {
        for word in part.unwrap_or_default().chunks(8) {
            let word = word.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
            hash = mix(hash ^ word);
        }
    };
    let (protocol, ports) = match IpHeader::find(frame) {
        Some(IpHeader::V4(at)) => {
            add(bytes.get(at + 12..at + 20));
            let fragment = bytes.get(at + 6..at + 8).is_some_and(|f| f[0] & 0x3f != 0 || f[1] != 0);
            let length = 4 * usize::from(bytes.get(at).map_or(0, |b| b & 15));
            (bytes.get(at + 9), (!fragment).then_some(at + length))
        }
        Some(IpHeader::V6(at)) => {
            add(bytes.get(at + 8..at + 40));
            (bytes.get(at + 6), Some(at + 40))
        }
        None => {
            add(bytes.get(..14));
            (None, None)
        }
    };
    add(protocol.map(std::slice::from_ref));
    if let Some(at) = ports.filter(|_| protocol.is_some_and(|p| WITH_PORTS.contains(p))) {
        add(bytes.get(at..at + 4));
    }
    hash
}

/// An end of a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The host that sent it.
    Source,
    /// The host that it goes to.
    Destination,
}

/// A hash of the address of one end; of frames without IP, zero.
pub(super) fn host_hash(frame: &Packet, end: End, seed: u64) -> u64 {
    let (first, length) = match IpHeader::find(frame) {
        Some(IpHeader::V4(at)) => (at + 12, 4),
        Some(IpHeader::V6(at)) => (at + 8, 16),
        None => return 0,
    };
    let from = first + if end == End::Source { 0 } else { length };
    let address = frame.bytes.get(from..from + length).unwrap_or_default();
    let step = |hash: u64, &byte: &u8| mix(hash ^ u64::from(byte));
    address.iter().fold(mix(seed), step)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ECT0, NOT_ECT, frame};
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_flow_is_known_by_addresses_protocol_and_ports() {
        let one = flow_hash(&frame(1, 1, NOT_ECT, 100), 5);
        assert_eq!(one, flow_hash(&frame(2, 1, ECT0, 900), 5), "the rest does not count");
        // Byte 23 is the protocol, 26 and 30 in the addresses, 35 and 37 in the ports.
        for at in [23, 26, 30, 35, 37] {
            let mut other = frame(1, 1, NOT_ECT, 100);
            other.bytes[at] = if at == 23 { 6 } else { other.bytes[at] + 1 };
            assert_ne!(one, flow_hash(&other, 5), "byte {at}");
        }
    }

    #[test]
    fn a_host_is_known_by_its_address_at_either_end() {
        let (one, two) = (frame(1, 1, NOT_ECT, 100), frame(2, 2, NOT_ECT, 100));
        let source = |frame| host_hash(frame, End::Source, 5);
        let destination = |frame| host_hash(frame, End::Destination, 5);
        assert_ne!(source(&one), source(&two));
        assert_eq!(destination(&one), destination(&two), "all test frames go to one host");
        let mut back = one.clone();
        back.bytes.copy_within(26..30, 30);
        assert_eq!(destination(&back), source(&one), "an address has one hash");
        back.bytes.truncate(20);
        assert_eq!(source(&back), mix(5), "a header that is cut off has no address");
    }

    #[test]
    fn later_fragments_follow_the_first() {
        let (mut first, mut later) = (frame(1, 1, NOT_ECT, 100), frame(2, 1, NOT_ECT, 100));
        first.bytes[20] = 0x20;
        later.bytes[21] = 0x10;
        later.bytes[34..38].copy_from_slice(&[9, 9, 9, 9]);
        assert_eq!(flow_hash(&first, 5), flow_hash(&later, 5));
    }

    #[test]
    fn flows_spread_evenly_and_differently_with_each_seed() {
        let buckets = |seed: u64| {
            (0..64)
                .map(|flow| flow_hash(&frame(0, flow, NOT_ECT, 100), seed) % 1024)
                .collect::<Vec<_>>()
        };
        assert_ne!(buckets(1), buckets(2));
        // 64 flows in 1024 places: two collisions are expected, ten have odds of one in 10^4.
        assert!(buckets(1).into_iter().collect::<BTreeSet<_>>().len() > 54);
    }

    #[test]
    fn short_and_foreign_frames_have_a_flow_too() {
        let mut short = frame(0, 1, NOT_ECT, 100);
        for length in (0..short.bytes.len()).rev() {
            short.bytes.truncate(length);
            flow_hash(&short, 0);
        }
    }
}
