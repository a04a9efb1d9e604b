//! PIFO, a push-in first-out queue (Sivaraman et al., SIGCOMM 2016): the packet of the lowest rank first.
//!
//! Packets of one rank leave in their order. A full queue drops the packet of the highest rank. It is
//! the ideal that SP-PIFO and AIFO approximate. Ranks are those of `rank.rs`.

use super::rank::rank_of;
use super::{
    Discipline, DisciplineError, DropKind, Drops, LIMIT_BYTES, LIMIT_PACKETS, Limits, QueueLength,
    Queued, Registered, Settings,
};
use sojourn_packet::{Bytes, Time};
use std::collections::BTreeMap;

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "pifo",
    summary: "PIFO (SIGCOMM 2016): lowest rank first, the highest is dropped; ranks from senders",
    parameters: &[LIMIT_BYTES, LIMIT_PACKETS],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    Ok(Box::new(Pifo { limits: settings.limits()?, ..Pifo::default() }))
}

/// A queue in the order of ranks.
#[derive(Debug, Default)]
pub struct Pifo {
    limits: Limits,
    /// By rank and arrival.
    packets: BTreeMap<(u16, u64), Queued>,
    bytes: Bytes,
    arrivals: u64,
}

impl Pifo {
    fn drop_last(&mut self, drops: &mut Drops) {
        if let Some((_, packet)) = self.packets.pop_last() {
            self.bytes -= packet.size();
            drops.push(packet, DropKind::Tail);
        }
    }
}

impl Discipline for Pifo {
    fn enqueue(&mut self, _now: Time, packet: Queued, drops: &mut Drops) {
        let rank = rank_of(&packet.packet);
        self.bytes += packet.size();
        self.packets.insert((rank, self.arrivals), packet);
        self.arrivals += 1;
        while !self.limits.allow(self.length()) {
            self.drop_last(drops);
        }
    }

    fn sheds(&self) -> bool {
        true
    }

    fn shed(&mut self, drops: &mut Drops) {
        self.drop_last(drops);
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Queued> {
        let (_, packet) = self.packets.pop_first()?;
        self.bytes -= packet.size();
        Some(packet)
    }

    fn marks(&self) -> bool {
        false
    }

    fn length(&self) -> QueueLength {
        QueueLength { packets: self.packets.len(), bytes: self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOT_ECT, frame, queued};
    use super::*;

    fn ranked(id: u64, rank: u16) -> Queued {
        let mut packet = frame(id, 1, NOT_ECT, 1_000);
        packet.bytes[18..20].copy_from_slice(&rank.to_be_bytes());
        queued(packet, 0)
    }

    fn taken(discipline: &mut dyn Discipline) -> Vec<u64> {
        let mut drops = Drops::default();
        std::iter::from_fn(|| discipline.dequeue(Time::ZERO, &mut drops))
            .map(|packet| packet.packet.id.0)
            .collect()
    }

    #[test]
    fn the_lowest_rank_leaves_first_and_equal_ranks_in_their_order() {
        let (mut pifo, mut drops) = (Pifo::default(), Drops::default());
        for (id, rank) in [(0, 7), (1, 3), (2, 7), (3, 1), (4, 3)] {
            pifo.enqueue(Time::ZERO, ranked(id, rank), &mut drops);
        }
        assert_eq!(taken(&mut pifo), [3, 1, 4, 0, 2]);
        assert!(drops.is_empty() && pifo.length() == QueueLength::default());
    }

    #[test]
    fn a_full_queue_drops_the_highest_rank_also_if_it_has_just_come() {
        let limits = Limits { packets: Some(2), ..Limits::default() };
        let (mut pifo, mut drops) = (Pifo { limits, ..Pifo::default() }, Drops::default());
        for (id, rank) in [(0, 5), (1, 9), (2, 1), (3, 8)] {
            pifo.enqueue(Time::ZERO, ranked(id, rank), &mut drops);
        }
        assert_eq!(drops.iter().map(|packet| packet.packet.id.0).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(taken(&mut pifo), [2, 0]);
    }
}
