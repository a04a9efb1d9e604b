//! Ranks of packets: the identification field of IPv4, as senders of ranked transfers set it.
//!
//! The lowest rank is the most urgent. A packet without IPv4 has rank 0. Must not know an order of
//! packets.

use sojourn_packet::{IpHeader, Packet};
use std::collections::BTreeMap;

/// The rank of a packet.
pub(super) fn rank_of(packet: &Packet) -> u16 {
    let Some(IpHeader::V4(at)) = IpHeader::find(packet) else { return 0 };
    packet.bytes.get(at + 4..at + 6).map_or(0, |field| u16::from_be_bytes([field[0], field[1]]))
}

/// The ranks of the packets that a queue holds, and the inversions: packets sent while one of a lower
/// rank waited.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    held: BTreeMap<u16, u32>,
    pub(super) inversions: u64,
}

impl Ranks {
    /// A packet came in.
    pub(super) fn add(&mut self, rank: u16) {
        *self.held.entry(rank).or_default() += 1;
    }

    /// A packet is sent.
    pub(super) fn sent(&mut self, rank: u16) {
        let lowest = self.held.keys().next().copied();
        self.inversions += u64::from(lowest.is_some_and(|lowest| lowest < rank));
        if let Some(count) = self.held.get_mut(&rank) {
            *count -= 1;
            if *count == 0 {
                self.held.remove(&rank);
            }
        }
    }
}
