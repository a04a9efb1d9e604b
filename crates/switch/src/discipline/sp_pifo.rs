//! SP-PIFO (Alcoz, Dietmüller and Vanbever, NSDI 2020): PIFO approximated by queues of strict priority.
//!
//! Each queue has a bound. A packet goes to the first queue, from the lowest priority up, whose bound
//! is at most its rank, and the bound becomes that rank (push-up). If its rank is below the bound of
//! the highest priority, it goes there and all bounds fall by the difference (push-down). Ranks are
//! those of `rank.rs`.

use super::rank::{Ranks, rank_of};
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, Kind, Parameter, QueueLength, Queued,
    Registered, Settings,
};
use sojourn_packet::Time;

/// Queues, and packets of each: the set-up of the paper's section 6.1.
const QUEUES: u64 = 8;
const QUEUE_PACKETS: u64 = 10;

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "sp_pifo",
    summary: "SP-PIFO (NSDI 2020): PIFO by queues of strict priority with adaptive bounds",
    parameters: &[
        Parameter::new("queues", Kind::Number, QUEUES, "queues of strict priority"),
        Parameter::new("queue_packets", Kind::Packets, QUEUE_PACKETS, "most packets of each queue"),
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let queues = settings.within("queues", 1..=32)? as usize;
    let limit = settings.within("queue_packets", 1..=1_000_000)? as usize;
    Ok(Box::new(SpPifo::new(queues, limit)))
}

/// Queues of strict priority, the first served first.
#[derive(Debug)]
pub struct SpPifo {
    limit: usize,
    queues: Vec<(Backlog, u16)>,
    ranks: Ranks,
    over_limit: u64,
}

impl SpPifo {
    /// Empty queues, each for `limit` packets.
    pub fn new(queues: usize, limit: usize) -> SpPifo {
        let queues = (0..queues).map(|_| (Backlog::default(), 0)).collect();
        SpPifo { limit, queues, ranks: Ranks::default(), over_limit: 0 }
    }

    /// The queue of a packet of that rank, with the bounds adapted.
    fn place(&mut self, rank: u16) -> usize {
        if let Some(place) = self.queues.iter().rposition(|(_, bound)| *bound <= rank) {
            self.queues[place].1 = rank;
            return place;
        }
        let cost = self.queues[0].1 - rank;
        self.queues.iter_mut().for_each(|(_, bound)| *bound = bound.saturating_sub(cost));
        0
    }
}

impl Discipline for SpPifo {
    fn enqueue(&mut self, _now: Time, packet: Queued, drops: &mut Drops) {
        let rank = rank_of(&packet.packet);
        let place = self.place(rank);
        let queue = &mut self.queues[place].0;
        if queue.len() < self.limit {
            queue.push(packet);
            self.ranks.add(rank);
        } else {
            self.over_limit += 1;
            drops.push(packet, DropKind::Tail);
        }
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Queued> {
        let packet = self.queues.iter_mut().find_map(|(queue, _)| queue.pop())?;
        self.ranks.sent(rank_of(&packet.packet));
        Some(packet)
    }

    fn marks(&self) -> bool {
        false
    }

    fn length(&self) -> QueueLength {
        let mut whole = QueueLength::default();
        for (queue, _) in &self.queues {
            let QueueLength { packets, bytes } = queue.length();
            whole.packets += packets;
            whole.bytes += bytes;
        }
        whole
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("inversions", self.ranks.inversions), ("over_limit", self.over_limit)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(sp_pifo: &SpPifo) -> Vec<u16> {
        sp_pifo.queues.iter().map(|(_, bound)| *bound).collect()
    }

    #[test]
    fn a_rank_pushes_the_bound_of_its_queue_up() {
        let mut two = SpPifo::new(2, 10);
        // Both bounds are 0: the queue of the lowest priority takes the first.
        assert_eq!((two.place(4), bounds(&two)), (1, vec![0, 4]));
        assert_eq!((two.place(2), bounds(&two)), (0, vec![2, 4]));
        assert_eq!((two.place(3), bounds(&two)), (0, vec![3, 4]));
        assert_eq!((two.place(9), bounds(&two)), (1, vec![3, 9]));
    }

    #[test]
    fn a_rank_below_all_bounds_pushes_them_down_by_the_difference() {
        let mut two = SpPifo::new(2, 10);
        two.place(9);
        two.place(5);
        assert_eq!((two.place(3), bounds(&two)), (0, vec![3, 7]));
    }
}
