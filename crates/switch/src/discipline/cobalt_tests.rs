//! COBALT held against a model of the published algorithm in floats, and its two halves one by one.

use super::super::testing::{ECT0, NOT_ECT, frame, queued};
use super::*;

const MS: u64 = 1_000_000;
const PARAMS: Params = Params { target: 5 * MS, interval: 100 * MS };

/// The CoDel half as the paper has it, with exact square roots and times in ms.
#[derive(Default)]
struct Model {
    count: f64,
    above: bool,
    next: f64,
    /// The kernel's first interval of a new queue has no length.
    seen: bool,
}

impl Model {
    fn gap(&self) -> f64 {
        if self.seen { 100.0 / self.count.max(1.0).sqrt() } else { 0.0 }
    }

    fn count(&mut self, count: f64) {
        self.seen = true;
        self.count = count;
        self.next += self.gap();
    }

    /// Whether a packet that has waited `sojourn` ms is signalled to.
    fn signals(&mut self, now: f64, sojourn: f64) -> bool {
        let above = sojourn > 5.0;
        let due = self.count > 0.0 && now >= self.next;
        let mut late = now > self.next;
        if above && !self.above {
            self.next = now + self.gap();
        }
        self.above = above;
        if above && self.count == 0.0 {
            self.count = 1.0;
        }
        if due && above {
            self.count(self.count + 1.0);
            late = now > self.next;
        } else if due {
            while self.count > 0.0 && now >= self.next {
                self.count(self.count - 1.0);
            }
            late = now > self.next;
        }
        let signal = due && above;
        if self.count == 0.0 {
            self.next = now + 100.0;
        } else if late && !signal {
            self.next = now;
        }
        signal
    }
}

/// A queue from which a packet is taken each millisecond, and the ms of its signals.
struct Bench {
    state: State,
    dice: Dice,
    model: Model,
    ours: Vec<u64>,
    theirs: Vec<u64>,
}

impl Bench {
    fn new() -> Bench {
        let (state, dice, model) = (State::default(), Dice::new(1), Model::default());
        Bench { state, dice, model, ours: Vec::new(), theirs: Vec::new() }
    }

    fn standing(&mut self, span_ms: std::ops::Range<u64>, sojourn: u64, codepoint: u8) {
        for ms in span_ms {
            let mut packet = queued(frame(0, 1, codepoint, 1000), (ms - sojourn) * MS);
            let signal = self.state.signal(&PARAMS, Time(ms * MS), &mut packet, &mut self.dice);
            assert!(!(signal.drop && signal.marked));
            assert_eq!(signal.marked, ecn::is_marked(&packet.packet));
            self.ours.extend((signal.drop || signal.marked).then_some(ms));
            self.theirs.extend(self.model.signals(ms as f64, sojourn as f64).then_some(ms));
        }
    }
}

#[test]
fn signals_come_when_the_model_with_exact_square_roots_makes_them() {
    for codepoint in [NOT_ECT, ECT0] {
        let mut bench = Bench::new();
        for (span, sojourn) in
            [(1000..2400, 20), (2400..2450, 1), (2450..3200, 20), (3200..5000, 4), (5000..6000, 30)]
        {
            bench.standing(span, sojourn, codepoint);
        }
        assert!(bench.ours.len() > 80, "{}", bench.ours.len());
        assert_eq!(bench.ours.len(), bench.theirs.len());
        let apart = bench.ours.iter().zip(&bench.theirs).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(apart <= Some(1), "at most one departure: {apart:?}");
    }
}

#[test]
fn the_square_root_is_within_two_thousandths() {
    let mut state = State::default();
    for count in 1..100_000u32 {
        state.count = count;
        state.root();
        let exact = 4_294_967_296.0 / f64::from(count).sqrt();
        let error = (f64::from(state.rec_inv_sqrt) - exact).abs() / exact;
        assert!(error < if count < 16 { 6e-4 } else { 2e-3 }, "count {count}: off by {error}");
    }
}

#[test]
fn a_new_queue_signals_at_the_second_packet_above_target_and_later_ones_wait_an_interval() {
    let mut bench = Bench::new();
    bench.standing(1000..1003, 20, NOT_ECT);
    assert_eq!(bench.ours, [1001]);
    bench.standing(1003..3000, 1, NOT_ECT);
    assert_eq!(bench.state.count, 0);
    bench.standing(3000..3150, 20, NOT_ECT);
    assert_eq!(bench.ours, [1001, 3100]);
}

#[test]
fn blue_grows_by_a_256th_and_falls_by_a_4096th_once_in_a_target() {
    let mut state = State::default();
    for tenth in 0..1000 {
        state.queue_full(&PARAMS, Time(tenth * MS / 10));
    }
    // 99.9 ms have 19 spans of more than 5 ms, which here is 5.1 ms.
    assert_eq!(state.p_drop, 19 * P_INC);
    for tenth in 1000..1510 {
        state.queue_empty(&PARAMS, Time(tenth * MS / 10));
    }
    assert_eq!(state.p_drop, 19 * P_INC - 10 * P_DEC);
    state.p_drop = u32::MAX - 1;
    state.queue_full(&PARAMS, Time(1000 * MS));
    assert_eq!(state.p_drop, u32::MAX);
    state.p_drop = P_DEC - 1;
    state.queue_empty(&PARAMS, Time(2000 * MS));
    assert_eq!(state.p_drop, 0);
}

#[test]
fn blue_drops_as_often_as_its_probability_says_and_ignores_ecn() {
    let (mut state, mut dice) = (State { p_drop: 1 << 30, ..State::default() }, Dice::new(3));
    let dropped = (0..10_000u64).filter(|ms| {
        let mut packet = queued(frame(0, 1, ECT0, 1000), ms * MS);
        state.signal(&PARAMS, Time(ms * MS), &mut packet, &mut dice).drop
    });
    // A quarter, within five standard deviations of 43.
    assert!((2_285..2_715).contains(&dropped.count()));
}

#[test]
fn a_full_queue_drops_its_oldest_packets_and_the_last_one_is_never_dropped() {
    let mut queue = Cobalt::new(PARAMS, Bytes(2_500), 1);
    let mut drops = Drops::default();
    for id in 0..4 {
        queue.enqueue(Time(10 * MS), queued(frame(id, 1, NOT_ECT, 1000), 10 * MS), &mut drops);
    }
    assert_eq!(drops.iter().map(|dropped| dropped.packet.id.0).collect::<Vec<_>>(), [0, 1]);
    assert!(queue.state.p_drop > 0);
    queue.state.p_drop = u32::MAX;
    let sent = queue.dequeue(Time(90 * MS), &mut drops).expect("the last one");
    assert_eq!((sent.packet.id.0, queue.stats.drops, queue.stats.drop_overlimit), (3, 1, 2));
    assert!(queue.dequeue(Time(91 * MS), &mut drops).is_none());
}
