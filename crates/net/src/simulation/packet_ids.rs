//! Packet ids: consecutive numbers in the order of transmission by hosts, across the whole run.
//!
//! Partitions advance without the others' counts. Each numbers its own packets and records their
//! send times. The ids in the run are assigned once all partitions have reached a given time. At
//! equal times the packets of the partition with the lowest index come first.

use super::partition::Partition;
use sojourn_packet::{PacketId, Time};

/// Lowest bit of the partition's number in the identity of a packet; the bits below count packets. The
/// packets of an only partition have their final numbers at once.
const PARTITION: u32 = 56;
/// One packet in so many has its number noted, in each partition.
const EACH: usize = 8;

/// The packet numbers that one partition assigns.
pub(super) struct PacketIds {
    next: u64,
    /// Send times of packets without an id in the run so far; for one of several partitions.
    sent: Option<Vec<Time>>,
}

impl PacketIds {
    pub(super) fn of_only_partition() -> PacketIds {
        PacketIds { next: 0, sent: None }
    }

    pub(super) fn of_partition(partition: u8) -> PacketIds {
        PacketIds { next: (u64::from(partition) + 1) << PARTITION, sent: Some(Vec::new()) }
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

/// The run-wide numbers of packets that several partitions have sent.
#[derive(Default)]
pub(super) struct RunPacketIds {
    /// The partition of each packet, in the order of their numbers.
    senders: Vec<u8>,
    /// Of each partition every [`EACH`]th packet's number.
    marks: Vec<Vec<u64>>,
    /// Number of packets sent by each partition.
    counts: Vec<usize>,
    /// Reused: what was sent since the last time, by whom.
    sent: Vec<(Time, u8)>,
}

impl RunPacketIds {
    /// Numbers what has been sent. All partitions must have come up to one instant.
    pub(super) fn settle(&mut self, partitions: &mut [Partition]) {
        self.marks.resize_with(partitions.len(), Vec::new);
        self.counts.resize(partitions.len(), 0);
        for (partition, place) in partitions.iter_mut().zip(0..) {
            let sent = partition.send_path.numbers.sent.iter_mut().flat_map(|sent| sent.drain(..));
            self.sent.extend(sent.map(|at| (at, place)));
        }
        // Stable, and each partition's are in order already.
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
        if id.is_generated() {
            return id;
        }
        let Some(sender) = (id.0 >> PARTITION).checked_sub(1) else { return id };
        let own = (id.0 & ((1 << PARTITION) - 1)) as usize;
        let mark = self.marks[sender as usize][own / EACH];
        let behind = self.senders[mark as usize..].iter().zip(mark..);
        let mut its = behind.filter(|(of, _)| u64::from(**of) == sender);
        its.nth(own % EACH).map_or(id, |(_, number)| PacketId(number))
    }
}
