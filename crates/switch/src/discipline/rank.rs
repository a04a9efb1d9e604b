//! Ranks of packets: the identification field of IPv4, as senders of ranked transfers set it.
//!
//! The lowest rank is the most urgent. A packet without IPv4 has rank 0. Must not know an order of
//! packets.

use sojourn_packet::{IpHeader, Packet};
use std::collections::{BTreeMap, VecDeque};

/// Parts of a share.
pub(super) const MILLION: u64 = 1_000_000;

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

/// The ranks of the packets that came last, admitted or not.
#[derive(Debug)]
pub(super) struct RankWindow {
    recent: VecDeque<u16>,
    size: usize,
}

impl RankWindow {
    /// A window of `size` ranks, empty.
    pub(super) fn new(size: usize) -> RankWindow {
        RankWindow { recent: VecDeque::new(), size }
    }

    /// A packet came. The oldest rank leaves a full window.
    pub(super) fn note(&mut self, rank: u16) {
        if self.recent.len() == self.size {
            self.recent.pop_front();
        }
        self.recent.push_back(rank);
    }

    /// The share of ranks below `rank`, as a count of how many.
    pub(super) fn below(&self, rank: u16) -> (u64, u64) {
        let (older, newer) = self.recent.as_slices();
        let count = |ranks: &[u16]| ranks.iter().map(|one| u64::from(*one < rank)).sum::<u64>();
        (count(older) + count(newer), self.recent.len() as u64)
    }
}

/// Whether the share `below` is at most `free / (limit (1 - headroom))`, with the headroom in
/// millionths, in integers: the rule by which AIFO and PACKS admit a rank.
pub(super) fn admits(below: (u64, u64), free: u64, limit: u64, headroom: u64) -> bool {
    let (below, of) = (u128::from(below.0), u128::from(below.1.max(1)));
    let used = below * u128::from(limit) * u128::from(MILLION - headroom);
    used <= u128::from(free) * of * u128::from(MILLION)
}
