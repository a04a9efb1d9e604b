//! PACKS (Alcoz et al., NSDI 2025): PIFO approximated by queues of strict priority with admission by rank.
//!
//! A packet goes to the first queue, from the highest priority down, for which the share of recent
//! ranks below its own is at most the free share of that queue and those above it, over 1 - k. A full
//! queue passes it on to the next one, where later packets of the same rank may overtake it. If no
//! queue admits the rank, the packet is dropped: the last queue's condition is AIFO's admission to
//! the buffer as a whole. Ranks are those of `rank.rs`.

use super::rank::{MILLION, RankWindow, Ranks, admits, rank_of};
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, Kind, Parameter, QueueLength, Queued,
    Registered, Settings,
};
use sojourn_packet::Time;

/// Eight queues of 10 packets and 1,000 ranks without headroom: the paper's comparison with SP-PIFO.
const QUEUES: u64 = 8;
const QUEUE_PACKETS: u64 = 10;
const WINDOW: u64 = 1_000;
const HEADROOM: u64 = 0;

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "packs",
    summary: "PACKS (NSDI 2025): PIFO by queues of strict priority with admission by rank",
    parameters: &[
        Parameter::new("queues", Kind::Number, QUEUES, "queues of strict priority"),
        Parameter::new("queue_packets", Kind::Packets, QUEUE_PACKETS, "most packets of each queue"),
        Parameter::new("window", Kind::Number, WINDOW, "recent ranks that are compared with"),
        Parameter::new("k", Kind::Share, HEADROOM, "headroom for bursts, a share of the buffer"),
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let queues = settings.within("queues", 1..=32)? as usize;
    Ok(Box::new(Packs {
        limit: settings.within("queue_packets", 1..=1_000_000)?,
        headroom: settings.within("k", 0..=MILLION - 1)?,
        queues: (0..queues).map(|_| Backlog::default()).collect(),
        window: RankWindow::new(settings.within("window", 1..=10_000)? as usize),
        ranks: Ranks::default(),
        refused: 0,
        over_limit: 0,
    }))
}

/// Queues of strict priority, the first served first.
#[derive(Debug)]
pub struct Packs {
    /// Of each queue, in packets.
    limit: u64,
    /// Millionths.
    headroom: u64,
    queues: Vec<Backlog>,
    window: RankWindow,
    ranks: Ranks,
    refused: u64,
    over_limit: u64,
}

impl Packs {
    /// The queue of a packet of that rank, or the kind of its drop.
    fn place(&self, rank: u16) -> Result<usize, DropKind> {
        let below = self.window.below(rank);
        let whole = self.limit * self.queues.len() as u64;
        let (mut free, mut admitted) = (0, false);
        for (place, queue) in self.queues.iter().enumerate() {
            let own = self.limit.saturating_sub(queue.len() as u64);
            free += own;
            admitted = admitted || admits(below, free, whole, self.headroom);
            if admitted && own > 0 {
                return Ok(place);
            }
        }
        Err(if free == 0 || admitted { DropKind::Tail } else { DropKind::Aqm })
    }
}

impl Discipline for Packs {
    fn enqueue(&mut self, _now: Time, packet: Queued, drops: &mut Drops) {
        let rank = rank_of(&packet.packet);
        self.window.note(rank);
        match self.place(rank) {
            Ok(place) => {
                self.ranks.add(rank);
                self.queues[place].push(packet);
            }
            Err(kind) => {
                match kind {
                    DropKind::Tail => self.over_limit += 1,
                    DropKind::Aqm => self.refused += 1,
                }
                drops.push(packet, kind);
            }
        }
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Queued> {
        let packet = self.queues.iter_mut().find_map(Backlog::pop)?;
        self.ranks.sent(rank_of(&packet.packet));
        Some(packet)
    }

    fn marks(&self) -> bool {
        false
    }

    fn length(&self) -> QueueLength {
        let mut whole = QueueLength::default();
        for queue in &self.queues {
            let QueueLength { packets, bytes } = queue.length();
            whole.packets += packets;
            whole.bytes += bytes;
        }
        whole
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let inversions = self.ranks.inversions;
        vec![("inversions", inversions), ("refused", self.refused), ("over_limit", self.over_limit)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOT_ECT, frame, queued};
    use super::super::{build, build_seeded};
    use super::*;

    fn ranked(id: u64, rank: u16) -> Queued {
        let mut packet = frame(id, 1, NOT_ECT, 1_000);
        packet.bytes[18..20].copy_from_slice(&rank.to_be_bytes());
        queued(packet, 0)
    }

    /// The paper's algorithm in fractions, with lists of (number, rank).
    struct Model {
        queues: Vec<Vec<(u64, u16)>>,
        limit: usize,
        window: usize,
        k: f64,
        seen: Vec<u16>,
    }

    impl Model {
        fn accepts(&mut self, number: u64, rank: u16) -> bool {
            self.seen.push(rank);
            let recent = &self.seen[self.seen.len().saturating_sub(self.window)..];
            let lower = recent.iter().filter(|one| **one < rank).count();
            let quantile = lower as f64 / recent.len() as f64;
            let whole = (self.limit * self.queues.len()) as f64;
            for place in 0..self.queues.len() {
                let held: usize = self.queues[..=place].iter().map(Vec::len).sum();
                let free = (self.limit * (place + 1) - held) as f64 / whole;
                let fits = quantile <= free / (1.0 - self.k) + 1e-12;
                if fits && self.queues[place].len() < self.limit {
                    self.queues[place].push((number, rank));
                    return true;
                }
            }
            false
        }

        fn sends(&mut self) -> Option<u64> {
            let queue = self.queues.iter_mut().find(|queue| !queue.is_empty())?;
            Some(queue.remove(0).0)
        }
    }

    #[test]
    fn every_packet_is_admitted_and_sent_as_by_the_papers_algorithm() {
        for (queues, limit, window, k) in
            [(8, 10, 1_000, 0), (4, 10, 20, 100_000), (1, 7, 15, 0), (3, 1, 50, 500_000)]
        {
            let given =
                [("queues", queues), ("queue_packets", limit), ("window", window), ("k", k)];
            let mut packs = build("packs", &given).expect("allowed");
            let mut model = Model {
                queues: vec![Vec::new(); queues as usize],
                limit: limit as usize,
                window: window as usize,
                k: k as f64 / 1e6,
                seen: Vec::new(),
            };
            let (mut drops, mut state) = (Drops::default(), 11_u64);
            for number in 0..6_000 {
                state = sojourn_packet::mix(state);
                let rank = (state % 100) as u16;
                packs.enqueue(Time::ZERO, ranked(number, rank), &mut drops);
                let dropped = drops.drain().count();
                assert_eq!(model.accepts(number, rank), dropped == 0, "{given:?}: {number}");
                if state >> 32 & 15 < 13 {
                    let sent = packs.dequeue(Time::ZERO, &mut drops);
                    let sent = sent.map(|packet| packet.packet.id.0);
                    assert_eq!(sent, model.sends(), "{given:?}: after {number}");
                }
            }
            assert_eq!(packs.packets(), model.queues.iter().map(Vec::len).sum::<usize>());
        }
    }

    #[test]
    fn one_queue_is_aifo() {
        let own = [("queues", 1), ("queue_packets", 40), ("window", 20), ("k", 100_000)];
        let aifo = [("limit", 40), ("window", 20), ("k", 100_000)];
        let mut both = [("packs", &own[..]), ("aifo", &aifo[..])]
            .map(|(name, given)| build(name, given).expect("allowed"));
        let mut state = 5_u64;
        for number in 0..4_000 {
            state = sojourn_packet::mix(state);
            let found = both.each_mut().map(|queue| {
                let mut drops = Drops::default();
                queue.enqueue(Time::ZERO, ranked(number, (state % 64) as u16), &mut drops);
                if number % 5 < 4 {
                    queue.dequeue(Time::ZERO, &mut drops);
                }
                drops.drain().map(|(packet, kind)| (packet.packet.id, kind)).collect::<Vec<_>>()
            });
            assert_eq!(found[0], found[1], "{number}");
        }
        assert_eq!(both[0].counters(), both[1].counters());
    }

    /// Inversions and the lowest rank that was dropped, where 11 packets of random ranks come for
    /// each 10 that are sent.
    fn inversions_and_lowest_drop(name: &str) -> (u64, u16) {
        let given: &[(&str, u64)] =
            if name == "aifo" { &[("window", 1_000), ("k", 0)] } else { &[] };
        let mut discipline = build_seeded(name, given, 1).expect("it is known");
        let (mut drops, mut state, mut lowest) = (Drops::default(), 7_u64, u16::MAX);
        for number in 0..40_000 {
            state = sojourn_packet::mix(state);
            discipline.enqueue(Time::ZERO, ranked(number, (state % 100) as u16), &mut drops);
            // The first ranks say little about those to come.
            let settled = number > 2_000;
            for (packet, _) in drops.drain().filter(|_| settled) {
                lowest = lowest.min(rank_of(&packet.packet));
            }
            if number % 11 != 0 {
                discipline.dequeue(Time::ZERO, &mut drops);
            }
        }
        let counted = discipline.counters();
        (counted.iter().find(|(name, _)| *name == "inversions").map_or(0, |one| one.1), lowest)
    }

    #[test]
    fn random_ranks_have_fewer_inversions_than_in_sp_pifo_and_aifo_and_only_high_ones_are_dropped()
    {
        // The paper's order of the four, under its flows: a third of SP-PIFO's inversions and a tenth of
        // AIFO's; PACKS drops ranks from 79 on, SP-PIFO from 20 on.
        let (packs, lowest) = inversions_and_lowest_drop("packs");
        let (sp_pifo, any) = inversions_and_lowest_drop("sp_pifo");
        let (aifo, _) = inversions_and_lowest_drop("aifo");
        assert!(2 * packs < sp_pifo && 10 * packs < aifo, "{packs} {sp_pifo} {aifo}");
        assert!(lowest > 60 && any < lowest, "{lowest} {any}");
    }
}
