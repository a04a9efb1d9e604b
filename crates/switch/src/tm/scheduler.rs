//! Scheduler of a port's queues: strict priority, with deficit weighted round robin within a
//! priority.
//!
//! As on Tofino, guaranteed bandwidth (queues whose minimum-rate bucket has tokens) precedes the
//! remaining bandwidth. Each of the two has its own priorities and rounds. The caller passes the
//! queues that may send. The scheduler must not depend on why the others may not.

/// Most queues of a port.
pub const MAX_QUEUES: usize = 32;

/// One bit per queue.
pub type QueueSet = u32;

/// Bandwidth from which a queue is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// Within the queue's minimum rate.
    Guaranteed,
    /// Beyond it.
    Remaining,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The queue.
    pub queue: usize,
    /// The bandwidth it is served from.
    pub band: Band,
    /// The turn of the node above it, where its port has nodes.
    pub node: Option<NodeTurn>,
}

/// A decision for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeTurn {
    /// The node.
    pub node: u8,
    /// The bandwidth it is served from.
    pub band: Band,
}

/// The scheduler of one port.
#[derive(Clone, Debug)]
pub struct Scheduler {
    guaranteed: RoundRobin,
    remaining: RoundRobin,
}

impl Scheduler {
    /// A scheduler for queues given as (priority in the guaranteed band, priority in the remaining
    /// band, weight).
    pub fn new(queues: &[(u8, u8, u16)]) -> Scheduler {
        assert!(queues.len() <= MAX_QUEUES);
        Scheduler {
            guaranteed: RoundRobin::new(queues.iter().map(|q| (q.0, q.2))),
            remaining: RoundRobin::new(queues.iter().map(|q| (q.1, q.2))),
        }
    }

    /// The same; those of weight 0 take turns of one packet instead of being left out.
    pub fn turns(queues: &[(u8, u8, u16)]) -> Scheduler {
        let all = Scheduler::new(queues);
        let with = |of: RoundRobin| of.with_turns();
        Scheduler { guaranteed: with(all.guaranteed), remaining: with(all.remaining) }
    }

    /// Those that may have a turn at all.
    pub fn members(&self) -> QueueSet {
        self.remaining.all
    }

    /// The highest strict priority among some in the remaining band, 0 if there is none.
    pub fn highest_level(&self, of: QueueSet) -> u8 {
        self.remaining.highest(of)
    }

    /// The same in the guaranteed band.
    pub fn highest_min_level(&self, of: QueueSet) -> u8 {
        self.guaranteed.highest(of)
    }

    /// Changes a strict priority in the guaranteed band.
    pub fn set_min_level(&mut self, queue: usize, level: u8) {
        self.guaranteed.set_priority(queue, level);
    }

    /// Strict priority of a queue in the remaining band, 0 to 7.
    pub fn level(&self, queue: usize) -> u8 {
        self.remaining.lanes[queue].priority as u8
    }

    /// Changes the strict priority of a queue in the remaining band.
    pub fn set_level(&mut self, queue: usize, level: u8) {
        self.remaining.set_priority(queue, level);
    }

    /// Weight of a queue.
    pub fn weight(&self, queue: usize) -> u16 {
        self.remaining.lanes[queue].weight as u16
    }

    /// Changes the weight of a queue; 0 takes it out.
    pub fn set_weight(&mut self, queue: usize, weight: u16) {
        self.guaranteed.set_weight(queue, weight);
        self.remaining.set_weight(queue, weight);
    }

    /// True if a first queue that is alone is served whenever it may send.
    pub fn serves_first(&self) -> bool {
        self.remaining.all & 1 != 0
    }

    /// Chooses among the queues that may send now.
    pub fn pick(&mut self, guaranteed: QueueSet, remaining: QueueSet) -> Option<Turn> {
        let first = self.guaranteed.pick(guaranteed);
        if let Some(queue) = first {
            return Some(Turn { queue, band: Band::Guaranteed, node: None });
        }
        self.remaining.pick(remaining).map(|queue| Turn {
            queue,
            band: Band::Remaining,
            node: None,
        })
    }

    /// A packet of `length` bytes was served in that turn; `empty` if it was the queue's last.
    pub fn served(&mut self, turn: Turn, length: u32, empty: bool) {
        match turn.band {
            Band::Guaranteed => self.guaranteed.served(turn.queue, length),
            Band::Remaining => self.remaining.served(turn.queue, length),
        }
        if empty {
            self.guaranteed.went_idle(turn.queue);
            self.remaining.went_idle(turn.queue);
        }
    }
}

/// Strict priorities with deficit weighted round robin inside each.
///
/// A queue sends while its credit is positive and pays after it has sent, so that the choice needs
/// no packet length; each round adds the weight, in bytes, to every queue that may send. The unit
/// and the order of the hardware's rounds are not published; shares do not depend on them.
#[derive(Clone, Debug)]
struct RoundRobin {
    lanes: Vec<Lane>,
    /// Queues of each priority with a weight, and all of them.
    members: [QueueSet; 8],
    all: QueueSet,
    /// Position of the round of each priority.
    cursor: [u8; 8],
    /// Lanes of weight 0 take turns.
    turns: bool,
}

#[derive(Clone, Copy, Debug)]
struct Lane {
    priority: usize,
    weight: i64,
    credit: i64,
}

impl RoundRobin {
    fn new(queues: impl Iterator<Item = (u8, u16)>) -> RoundRobin {
        let lane = |(priority, weight): (u8, u16)| Lane {
            priority: usize::from(priority & 7),
            weight: i64::from(weight),
            credit: 0,
        };
        let lanes: Vec<Lane> = queues.map(lane).collect();
        let mut members = [0; 8];
        for (i, lane) in lanes.iter().enumerate().filter(|(_, lane)| lane.weight > 0) {
            members[lane.priority] |= 1 << i;
        }
        let all = members.iter().fold(0, |all, set| all | set);
        RoundRobin { lanes, members, all, cursor: [0; 8], turns: false }
    }

    /// The same, in which lanes of weight 0 take turns.
    fn with_turns(mut self) -> RoundRobin {
        self.turns = true;
        for (i, lane) in self.lanes.iter().enumerate() {
            self.members[lane.priority] |= 1 << i;
            self.all |= 1 << i;
        }
        self
    }

    /// Those of weight 0.
    fn weightless(&self, set: QueueSet) -> QueueSet {
        if !self.turns {
            return 0;
        }
        in_set(set).filter(|q| self.lanes[*q].weight == 0).fold(0, |set, q| set | 1 << q)
    }

    fn highest(&self, of: QueueSet) -> u8 {
        (0..8).rev().find(|&p| self.members[p] & of != 0).unwrap_or(0) as u8
    }

    fn set_weight(&mut self, queue: usize, weight: u16) {
        let lane = &mut self.lanes[queue];
        lane.weight = i64::from(weight);
        let (priority, bit) = (lane.priority, 1 << queue);
        for set in [&mut self.members[priority], &mut self.all] {
            *set = if weight > 0 || self.turns { *set | bit } else { *set & !bit };
        }
    }

    fn set_priority(&mut self, queue: usize, priority: u8) {
        let lane = &mut self.lanes[queue];
        let (before, after) = (lane.priority, usize::from(priority & 7));
        lane.priority = after;
        self.members[before] &= !(1 << queue);
        if lane.weight > 0 || self.turns {
            self.members[after] |= 1 << queue;
        }
    }

    fn pick(&mut self, may_send: QueueSet) -> Option<usize> {
        let may_send = self.all & may_send;
        if may_send == 0 {
            return None;
        }
        if may_send.is_power_of_two() {
            return Some(may_send.trailing_zeros() as usize);
        }
        let priority = (0..8).rev().find(|&p| self.members[p] & may_send != 0)?;
        let set = self.members[priority] & may_send;
        if set.is_power_of_two() {
            // Alone in its priority: the credit does not change.
            return Some(set.trailing_zeros() as usize);
        }
        // The queue whose turn it is goes on while it has credit; then it is the next one's turn.
        let current = usize::from(self.cursor[priority]);
        let from = if self.lanes[current].credit > 0 { current } else { current + 1 };
        let weightless = self.weightless(set);
        let weighted = set & !weightless;
        if weighted != 0 && !in_set(weighted).any(|q| self.lanes[q].credit > 0) {
            self.next_round(weighted);
        }
        let queue = in_set(set.rotate_right(from as u32))
            .map(|bit| (bit + from) % MAX_QUEUES)
            .find(|&q| self.lanes[q].credit > 0 || weightless >> q & 1 == 1)?;
        self.cursor[priority] = queue as u8;
        Some(queue)
    }

    /// Adds as many rounds at once as it takes for the first queue to get positive.
    fn next_round(&mut self, set: QueueSet) {
        let rounds_to_go = |lane: &Lane| -lane.credit / lane.weight + 1;
        let rounds = in_set(set).map(|q| rounds_to_go(&self.lanes[q])).min().unwrap_or(0);
        for q in in_set(set) {
            self.lanes[q].credit += rounds * self.lanes[q].weight;
        }
    }

    fn served(&mut self, queue: usize, length: u32) {
        let lane = &mut self.lanes[queue];
        if lane.weight == 0 {
            lane.credit = 0;
            return;
        }
        // A queue that is alone pays nothing beyond one packet's debt: it competes with no other.
        lane.credit = (lane.credit - i64::from(length)).max(-i64::from(length));
    }

    /// An empty queue keeps its debt, not its credit: it cannot save up turns.
    fn went_idle(&mut self, queue: usize) {
        let lane = &mut self.lanes[queue];
        lane.credit = lane.credit.min(0);
    }
}

fn in_set(mut set: QueueSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let queue = set.trailing_zeros() as usize;
            set &= set - 1;
            queue
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves `turns` packets from queues that never empty; returns bytes per queue.
    fn serve(queues: &[(u8, u8, u16)], lengths: &[u32], turns: usize) -> Vec<u64> {
        let mut scheduler = Scheduler::new(queues);
        let all = (1 << queues.len()) - 1;
        let mut bytes = vec![0; queues.len()];
        for _ in 0..turns {
            let turn = scheduler.pick(0, all).unwrap();
            scheduler.served(turn, lengths[turn.queue], false);
            bytes[turn.queue] += u64::from(lengths[turn.queue]);
        }
        bytes
    }

    #[test]
    fn shares_follow_the_weights_whatever_the_packet_sizes() {
        let bytes = serve(&[(0, 0, 100), (0, 0, 200), (0, 0, 700)], &[1518, 64, 300], 100_000);
        let total: u64 = bytes.iter().sum();
        for (got, weight) in bytes.iter().zip([100, 200, 700]) {
            let share = got * 1000 / total;
            assert!(share.abs_diff(weight) <= 1, "{bytes:?}");
        }
    }

    #[test]
    fn a_changed_weight_changes_the_shares_and_zero_takes_the_queue_out() {
        let mut scheduler = Scheduler::new(&[(0, 0, 1), (0, 0, 1)]);
        scheduler.set_weight(0, 300);
        scheduler.set_weight(1, 900);
        let mut bytes = [0; 2];
        for _ in 0..40_000 {
            let turn = scheduler.pick(0, 0b11).unwrap();
            bytes[turn.queue] += 1_000;
            scheduler.served(turn, 1_000, false);
        }
        assert_eq!(bytes, [10_000_000, 30_000_000]);
        scheduler.set_weight(1, 0);
        assert_eq!(scheduler.pick(0, 0b10), None);
        assert_eq!((scheduler.weight(0), scheduler.weight(1)), (300, 0));
    }

    #[test]
    fn equal_weights_alternate() {
        let mut scheduler = Scheduler::new(&[(0, 0, 1023), (0, 0, 1023)]);
        let mut order = Vec::new();
        for _ in 0..6 {
            let turn = scheduler.pick(0, 0b11).unwrap();
            scheduler.served(turn, 1518, false);
            order.push(turn.queue);
        }
        assert!(order.windows(2).all(|pair| pair[0] != pair[1]), "{order:?}");
    }

    #[test]
    fn a_higher_priority_goes_first_as_long_as_it_may_send() {
        let mut scheduler = Scheduler::new(&[(0, 1, 1023), (0, 7, 1), (0, 3, 1023)]);
        let mut served = |set| {
            let turn = scheduler.pick(0, set).unwrap();
            scheduler.served(turn, 1518, false);
            turn.queue
        };
        assert!((0..100).all(|_| served(0b111) == 1));
        assert!((0..100).all(|_| served(0b101) == 2));
        assert_eq!(served(0b001), 0);
    }

    #[test]
    fn guaranteed_bandwidth_goes_before_any_priority() {
        let mut scheduler = Scheduler::new(&[(0, 0, 1), (0, 7, 1023)]);
        let turn = scheduler.pick(0b01, 0b11).unwrap();
        assert_eq!(turn, Turn { queue: 0, band: Band::Guaranteed, node: None });
        assert_eq!(scheduler.pick(0, 0b11).unwrap().queue, 1);
    }

    #[test]
    fn weight_zero_takes_a_queue_out() {
        let mut scheduler = Scheduler::new(&[(0, 0, 0)]);
        assert_eq!(scheduler.pick(1, 1), None);
    }

    #[test]
    fn among_those_of_weight_zero_that_take_turns_each_sends_one_packet() {
        let mut scheduler = Scheduler::turns(&[(0, 0, 0), (0, 0, 0), (0, 3, 0)]);
        let mut served = |set| {
            let turn = scheduler.pick(0, set).unwrap();
            scheduler.served(turn, 1518, false);
            turn.queue
        };
        let order: Vec<usize> = (0..4).map(|_| served(0b011)).collect();
        assert!(order.windows(2).all(|pair| pair[0] != pair[1]), "{order:?}");
        assert_eq!(served(0b111), 2);
    }

    #[test]
    fn a_queue_that_empties_ends_its_turn_and_saves_nothing() {
        let mut scheduler = Scheduler::new(&[(0, 0, 1000), (0, 0, 1000)]);
        let first = scheduler.pick(0, 0b11).unwrap();
        scheduler.served(first, 100, true);
        let second = scheduler.pick(0, 0b11).unwrap();
        assert_ne!(second.queue, first.queue);
    }

    #[test]
    fn a_queue_that_was_alone_for_long_owes_one_packet_at_most() {
        let mut scheduler = Scheduler::new(&[(0, 0, 10), (0, 0, 10)]);
        for _ in 0..1000 {
            let turn = scheduler.pick(0, 0b01).unwrap();
            scheduler.served(turn, 1000, false);
        }
        let mut bytes = [0; 2];
        for _ in 0..10 {
            let turn = scheduler.pick(0, 0b11).unwrap();
            scheduler.served(turn, 1000, false);
            bytes[turn.queue] += 1000;
        }
        assert_eq!(bytes, [5000, 5000]);
    }
}
