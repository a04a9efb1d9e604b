//! Packet ids: consecutive numbers in the order of transmission by hosts, across the whole run.
//!
//! Partitions advance without the others' counts. Each numbers its own packets and records their
//! send times. The numbers in the run follow once all partitions have reached an instant. At equal
//! instants the packets of the partition with the lowest index come first.

use super::partition::Region;
use sojourn_packet::{PacketId, Time};

/// Where a region's number is in the identity of its packets, behind which they are numbered; none in
/// the only region, whose packets have their numbers at once.
const REGION: u32 = 56;
/// Of each region every so-manieth packet's number is noted.
const EACH: usize = 8;

/// What one region numbers its packets by.
pub(super) struct Numbers {
    next: u64,
    /// When those went whose numbers in the run are not known yet; in one of several regions.
    sent: Option<Vec<Time>>,
}

impl Numbers {
    pub(super) fn of_only_region() -> Numbers {
        Numbers { next: 0, sent: None }
    }

    pub(super) fn of_region(region: u8) -> Numbers {
        Numbers { next: (u64::from(region) + 1) << REGION, sent: Some(Vec::new()) }
    }

    #[inline]
    pub(super) fn next(&mut self, now: Time) -> PacketId {
        let id = PacketId(self.next);
        self.next += 1;
        if let Some(sent) = &mut self.sent {
            sent.push(now);
        }
        id
    }
}

/// The numbers in the run of what several regions have sent.
#[derive(Default)]
pub(super) struct Numbering {
    /// The region of each packet, in the order of their numbers.
    senders: Vec<u8>,
    /// Of each region every [`EACH`]th packet's number.
    marks: Vec<Vec<u64>>,
    /// How many packets each region has sent.
    counts: Vec<usize>,
    /// Reused: what was sent since the last time, by whom.
    sent: Vec<(Time, u8)>,
}

impl Numbering {
    /// Numbers what has been sent. All regions must have come up to one instant.
    pub(super) fn settle(&mut self, regions: &mut [Region]) {
        self.marks.resize_with(regions.len(), Vec::new);
        self.counts.resize(regions.len(), 0);
        for (region, place) in regions.iter_mut().zip(0..) {
            let sent = region.sending.numbers.sent.iter_mut().flat_map(|sent| sent.drain(..));
            self.sent.extend(sent.map(|at| (at, place)));
        }
        // Stable, and each region's are in order already.
        self.sent.sort_by_key(|(at, _)| *at);
        for (_, sender) in self.sent.drain(..) {
            let count = &mut self.counts[usize::from(sender)];
            if count.is_multiple_of(EACH) {
                self.marks[usize::from(sender)].push(self.senders.len() as u64);
            }
            *count += 1;
            self.senders.push(sender);
        }
    }

    /// The identity in the run of a packet that has been numbered, whichever it has now.
    pub(super) fn in_run(&self, id: PacketId) -> PacketId {
        let Some(sender) = (id.0 >> REGION).checked_sub(1) else { return id };
        let own = (id.0 & ((1 << REGION) - 1)) as usize;
        let mark = self.marks[sender as usize][own / EACH];
        let behind = self.senders[mark as usize..].iter().zip(mark..);
        let mut its = behind.filter(|(of, _)| u64::from(**of) == sender);
        its.nth(own % EACH).map_or(id, |(_, number)| PacketId(number))
    }
}
