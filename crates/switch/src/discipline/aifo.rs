//! AIFO (Yu et al., SIGCOMM 2021): PIFO approximated by one FIFO with admission by rank.
//!
//! A packet is admitted if the share of recent ranks below its own is at most the free share of the
//! queue over 1 - k. So the ranks that a PIFO would send are those that come in. Ranks are those of
//! `rank.rs`.

use super::rank::{MILLION, RankWindow, Ranks, admits, rank_of};
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, Kind, Parameter, QueueLength, Queued,
    Registered, Settings,
};
use sojourn_packet::Time;

/// The paper's section 6: 20 ranks, a headroom of 10 %; the queue is that of SP-PIFO.
const WINDOW: u64 = 20;
const HEADROOM: u64 = 100_000;
const LIMIT: u64 = 80;

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "aifo",
    summary: "AIFO (SIGCOMM 2021): PIFO by one FIFO with admission by rank",
    parameters: &[
        Parameter::new("limit", Kind::Packets, LIMIT, "most packets held (C)"),
        Parameter::new("window", Kind::Number, WINDOW, "recent ranks that are compared with"),
        Parameter::new("k", Kind::Share, HEADROOM, "headroom for bursts, a share of the queue"),
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    Ok(Box::new(Aifo {
        limit: settings.within("limit", 1..=1_000_000)?,
        headroom: settings.within("k", 0..=MILLION - 1)?,
        backlog: Backlog::default(),
        window: RankWindow::new(settings.within("window", 1..=10_000)? as usize),
        ranks: Ranks::default(),
        refused: 0,
        over_limit: 0,
    }))
}

/// A FIFO with admission by rank.
#[derive(Debug)]
pub struct Aifo {
    limit: u64,
    /// Millionths.
    headroom: u64,
    backlog: Backlog,
    window: RankWindow,
    ranks: Ranks,
    refused: u64,
    over_limit: u64,
}

impl Discipline for Aifo {
    fn enqueue(&mut self, _now: Time, packet: Queued, drops: &mut Drops) {
        let rank = rank_of(&packet.packet);
        self.window.note(rank);
        let free = self.limit.saturating_sub(self.backlog.len() as u64);
        if free == 0 {
            self.over_limit += 1;
            drops.push(packet, DropKind::Tail);
        } else if admits(self.window.below(rank), free, self.limit, self.headroom) {
            self.ranks.add(rank);
            self.backlog.push(packet);
        } else {
            self.refused += 1;
            drops.push(packet, DropKind::Aqm);
        }
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Queued> {
        let packet = self.backlog.pop()?;
        self.ranks.sent(rank_of(&packet.packet));
        Some(packet)
    }

    fn marks(&self) -> bool {
        false
    }

    fn length(&self) -> QueueLength {
        self.backlog.length()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let inversions = self.ranks.inversions;
        vec![("inversions", inversions), ("refused", self.refused), ("over_limit", self.over_limit)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::build_seeded;
    use super::super::testing::{NOT_ECT, frame, queued};
    use super::*;

    fn ranked(rank: u16) -> Queued {
        let mut packet = frame(0, 1, NOT_ECT, 1_000);
        packet.bytes[18..20].copy_from_slice(&rank.to_be_bytes());
        queued(packet, 0)
    }

    #[test]
    fn the_fuller_a_queue_is_the_lower_are_the_ranks_that_come_in() {
        let given = [("limit", 10), ("window", 10), ("k", 0)];
        let mut aifo = build_seeded("aifo", &given, 1).expect("allowed");
        let mut drops = Drops::default();
        // Equal ranks have nothing below them: five come in and leave the queue half free.
        (0..5).for_each(|_| aifo.enqueue(Time::ZERO, ranked(50), &mut drops));
        assert!(drops.is_empty());
        for rank in [10, 20, 30, 40, 60, 70, 80, 90] {
            aifo.enqueue(Time::ZERO, ranked(rank), &mut drops);
        }
        let dropped: Vec<u16> = drops.iter().map(|packet| rank_of(&packet.packet)).collect();
        // 10, 20 and 30 have at most 1/4 of the recent ranks below them, 40 has 1/3 with 1/5 free.
        assert_eq!(dropped, [40, 60, 70, 80, 90]);
    }

    #[test]
    fn ranks_among_random_ones_have_fewer_inversions_in_sp_pifo_than_in_one_queue() {
        let inversions = |name: &str| {
            let mut discipline = build_seeded(name, &[], 1).expect("it is known");
            let mut drops = Drops::default();
            let mut state = 7_u64;
            for step in 0..40_000 {
                state = sojourn_packet::mix(state);
                discipline.enqueue(Time::ZERO, ranked((state % 100) as u16), &mut drops);
                if step % 10 != 0 {
                    discipline.dequeue(Time::ZERO, &mut drops);
                }
            }
            let counted = discipline.counters();
            counted.iter().find(|(name, _)| *name == "inversions").map_or(0, |(_, count)| *count)
        };
        // A PIFO has none. AIFO keeps one order, that of arrival.
        assert!(inversions("sp_pifo") < inversions("aifo"));
    }
}
