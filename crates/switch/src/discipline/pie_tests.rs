//! PIE against RFC 8033 section 4 in floats, and against figures computed by hand.

use super::super::testing::{ECT0, NOT_ECT, frame, queued};
use super::*;
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn float(p: Probability) -> f64 {
    p.raw() as f64 / Probability::ONE.raw() as f64
}

/// Step changes of the tuning table in section 4.2.
const BORDERS: [f64; 6] = [0.000_001, 0.000_01, 0.000_1, 0.001, 0.01, 0.1];

/// One update of section 4.2 and 4.4, in seconds and floats.
#[derive(Clone, Copy, Debug)]
struct Model {
    p: f64,
    old: f64,
    burst: f64,
    max_burst: f64,
}

impl Model {
    fn update(&mut self, delay: f64) {
        let mut change = 0.125 * (delay - 0.015) + 1.25 * (delay - self.old);
        change /= match self.p {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        if self.p >= 0.1 && change > 0.02 {
            change = 0.02;
        }
        self.p += change;
        if delay == 0.0 && self.old == 0.0 {
            self.p *= 0.98;
        }
        self.p = self.p.clamp(0.0, 1.0);
        self.burst = (self.burst - 0.015).max(0.0);
        self.old = delay;
    }

    /// Appendix A's decision about a packet that arrives, with `delay` that of the packet that left
    /// last.
    fn drops(&mut self, delay: f64, backlog: u64, dice: &mut Dice) -> bool {
        if self.p == 0.0 && delay < 0.0075 && self.old < 0.0075 {
            self.burst = self.max_burst;
        }
        let calm = self.old < 0.0075 && self.p < 0.2;
        if self.burst > 1e-9 || calm || backlog <= 2 * 1514 {
            return false;
        }
        (dice.throw() as f64) < self.p * (1u64 << 60) as f64
    }
}

proptest! {
    #[test]
    fn the_probability_follows_the_rfc(
        // Latencies at the updates in us, in stretches, so that all regions are passed through.
        stretches in prop::collection::vec((1..60usize, 0..60_000u64), 1..12),
    ) {
        let mut pie = Pie::new(Params::default(), 1);
        let mut model = Model { p: 0.0, old: 0.0, burst: 0.150, max_burst: 0.150 };
        for (updates, us) in stretches {
            for _ in 0..updates {
                // Each update starts from the fixed-point value, so errors do not add up; a value on a
                // border of the tuning table may fall to the other side as a float.
                model.p = float(pie.state.drop_prob);
                let on_border = BORDERS.iter().any(|border| (model.p - border).abs() < 1e-12);
                pie.state.current_qdelay = Time::from_micros(us);
                pie.calculate_drop_prob();
                model.update(us as f64 / 1e6);
                let error = (float(pie.state.drop_prob) - model.p).abs();
                prop_assert!(on_border || error < 1e-12, "{:?} against {:?}", pie.state, model);
                let burst = pie.state.burst_allowance.0 as f64 / 1e9;
                prop_assert!((burst - model.burst).abs() < 1e-9);
            }
        }
    }
}

proptest! {
    #[test]
    fn packet_by_packet_it_decides_as_appendix_a_does(
        // Stretches: packets that come, us from one to the next, packets that leave before each.
        stretches in prop::collection::vec((1..200usize, 1..3_000u64, 0..4usize), 1..12),
        max_burst in prop_oneof![Just(150), Just(0)],
    ) {
        let max_burst = Time::from_millis(max_burst);
        let mut pie = Pie::new(Params { max_burst, ..Params::default() }, 5);
        let burst = max_burst.0 as f64 / 1e9;
        let mut model = Model { p: 0.0, old: 0.0, burst, max_burst: burst };
        let (mut dice, mut drops, mut delay) = (Dice::new(5), Drops::default(), 0.0);
        let (mut us, mut updates) = (0, 0);
        for (arrivals, gap, departures) in stretches {
            for id in 0..arrivals as u64 {
                us += gap;
                let now = Time::from_micros(us);
                while updates < us / 15_000 {
                    updates += 1;
                    delay = if pie.packets() == 0 { 0.0 } else { delay };
                    model.update(delay);
                }
                for _ in 0..departures {
                    let sent = pie.dequeue(now, &mut drops);
                    delay = sent.map_or(delay, |sent| (now - sent.enqueued).0 as f64 / 1e9);
                }
                pie.update_until(now);
                // The probability itself is followed by the test above.
                model.p = float(pie.state.drop_prob);
                let backlog = pie.bytes().0;
                pie.enqueue(now, queued(frame(id, 1, NOT_ECT, 1514), now.0), &mut drops);
                let dropped = drops.drain().count() == 1;
                let expected = model.drops(delay, backlog, &mut dice);
                prop_assert_eq!(dropped, expected, "{:?} at {} us, {:?}", model, us, pie.state);
            }
        }
    }
}

#[test]
fn a_refused_packet_ends_what_derandomisation_has_counted_up() {
    let limits = Limits { packets: Some(3), ..Limits::default() };
    let mut pie = Pie::new(Params { derandomize: true, limits, ..Params::default() }, 1);
    pie.state.accu_prob = 7;
    let mut drops = Drops::default();
    for id in 0..4 {
        pie.enqueue(Time::ZERO, queued(frame(id, 1, NOT_ECT, 1514), 0), &mut drops);
    }
    assert_eq!((pie.stats.over_limit, pie.state.accu_prob), (1, 0));
}

#[test]
fn the_first_updates_of_a_standing_queue_are_those_of_a_pocket_calculator() {
    // 30 ms of latency from the start: 0.125 * 0.015 + 1.25 * 0.030 = 0.039375, by 2048 is
    // 1.92260742e-5. Then 0.001875 an update: by 128 (+1.46484375e-5), again by 128, ... until
    // 1e-4 is passed: (1e-4 - 1.92260742e-5) / 1.46484375e-5 = 5.51, so 6 updates more.
    let mut pie = Pie::new(Params::default(), 1);
    pie.state.current_qdelay = Time(30 * MS);
    pie.calculate_drop_prob();
    assert!((float(pie.state.drop_prob) - 1.922_607_42e-5).abs() < 1e-12);
    (0..6).for_each(|_| pie.calculate_drop_prob());
    assert!((float(pie.state.drop_prob) - 1.071_166_99e-4).abs() < 1e-12);
    // Now by 32.
    pie.calculate_drop_prob();
    assert!((float(pie.state.drop_prob) - 1.657_104_49e-4).abs() < 1e-12);
}

#[test]
fn a_high_probability_rises_by_at_most_two_per_cent() {
    let mut pie = Pie::new(Params::default(), 1);
    pie.state.drop_prob = Probability::from_ppm(100_000);
    pie.state.current_qdelay = Time(500 * MS);
    pie.calculate_drop_prob();
    assert!((float(pie.state.drop_prob) - 0.12).abs() < 1e-12);
}

/// One packet of 1514 bytes comes each `gap` us and one is sent each ms, from 0 to `until` ms.
/// Returns the ms of each drop.
fn run(pie: &mut Pie, codepoint: u8, gap: u64, until: u64) -> Vec<u64> {
    let (mut dropped, mut drops, mut next) = (Vec::new(), Drops::default(), 0);
    for us in (0..until * 1000).step_by(10) {
        let now = Time::from_micros(us);
        if us % 1000 == 0 {
            pie.dequeue(now, &mut drops);
        }
        if us >= next {
            next += gap;
            pie.enqueue(now, queued(frame(us, 1, codepoint, 1514), now.0), &mut drops);
        }
        dropped.extend(drops.drain().map(|_| us / 1000));
    }
    dropped
}

#[test]
fn a_burst_is_let_through_for_max_burst() {
    // Twice what the link takes; dropping is due long before, but the allowance of 150 ms is used
    // up by the tenth update at 150 ms only.
    let mut pie = Pie::new(Params::default(), 1);
    let dropped = run(&mut pie, NOT_ECT, 500, 400);
    assert!(dropped[0] >= 150, "{dropped:?}");
    let mut hasty = Pie::new(Params { max_burst: Time::ZERO, ..Params::default() }, 1);
    assert!(run(&mut hasty, NOT_ECT, 500, 400)[0] < 150);
}

#[test]
fn a_steady_overload_is_dropped_at_the_rate_that_is_too_much() {
    // 1.25 packets come for each that is sent: a fifth must be dropped, and the latency is
    // QDELAY_REF in the mean, in the second half of 60 s.
    let (mut pie, mut drops) = (Pie::new(Params::default(), 1), Drops::default());
    let (mut latency, mut dropped, mut p) = (Vec::new(), 0, Vec::new());
    for tick in 0..600_000u64 {
        let now = Time::from_micros(100 * tick);
        let counts = tick >= 300_000;
        if tick % 10 == 0 {
            let sent = pie.dequeue(now, &mut drops).filter(|_| counts);
            latency.extend(sent.map(|packet| (now - packet.enqueued).0 as f64 / 1e6));
        }
        if tick % 8 == 0 {
            pie.enqueue(now, queued(frame(tick, 1, NOT_ECT, 1514), now.0), &mut drops);
            p.push(float(pie.state.drop_prob));
        }
        dropped += drops.drain().filter(|_| counts).count();
    }
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let share = dropped as f64 / 37_500.0;
    assert!((0.19..0.21).contains(&share), "{share}");
    assert!((0.18..0.25).contains(&mean(&p[37_500..])), "{}", mean(&p[37_500..]));
    assert!((13.0..17.0).contains(&mean(&latency)), "{} ms", mean(&latency));
}

#[test]
fn nothing_is_dropped_from_a_short_or_calm_queue() {
    let state = |drop_prob, qdelay_old| State {
        drop_prob: Probability::from_ppm(drop_prob),
        qdelay_old: Time(qdelay_old),
        ..State::default()
    };
    let drops_of = |state, packets| {
        let mut pie = Pie::new(Params::default(), 1);
        for id in 0..packets {
            pie.backlog.push(queued(frame(id, 1, NOT_ECT, 1514), 0));
        }
        pie.state = state;
        (0..1000).filter(|_| pie.drop_early()).count()
    };
    assert_eq!(drops_of(state(900_000, 20 * MS), 2), 0, "two packets or less");
    assert!(drops_of(state(900_000, 20 * MS), 3) > 800);
    assert_eq!(drops_of(state(199_999, 7 * MS), 100), 0, "calm");
    assert!(drops_of(state(200_000, 7 * MS), 100) > 150, "too likely to be calm");
    assert!(drops_of(state(199_999, 8 * MS), 100) > 150, "half of the reference is passed");
}

#[test]
fn derandomised_drops_keep_their_distance() {
    let mut pie = Pie::new(Params { derandomize: true, ..Params::default() }, 1);
    (0..10).for_each(|id| pie.backlog.push(queued(frame(id, 1, NOT_ECT, 1514), 0)));
    pie.state = State {
        drop_prob: Probability::from_ppm(100_000),
        qdelay_old: Time(20 * MS),
        ..State::default()
    };
    let hits: Vec<u64> = (1..=20_000).filter(|_| pie.drop_early()).collect();
    let gaps: Vec<_> = hits.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // 0.85 is reached by the ninth packet, 8.5 by the 85th. Between, one in ten: mean 9 + 9.
    assert!(gaps.iter().all(|gap| (9..=85).contains(gap)), "{gaps:?}");
    let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
    assert!((mean - 18.0).abs() < 1.5, "{mean}");
}

#[test]
fn packets_are_marked_up_to_the_threshold_only() {
    let params = Params { mark_ecnth: Some(Probability::from_ppm(100_000)), ..Params::default() };
    for (ppm, codepoint, marked) in
        [(100_000, ECT0, true), (100_001, ECT0, false), (100_000, NOT_ECT, false)]
    {
        let mut pie = Pie::new(params, 1);
        (0..10).for_each(|id| pie.backlog.push(queued(frame(id, 1, codepoint, 1514), 0)));
        pie.state = State {
            drop_prob: Probability::from_ppm(ppm),
            qdelay_old: Time(20 * MS),
            ..State::default()
        };
        let mut drops = Drops::default();
        for id in 10..1010 {
            pie.enqueue(Time::ZERO, queued(frame(id, 1, codepoint, 1514), 0), &mut drops);
        }
        // A tenth of 1000, give or take four standard deviations.
        let (hits, others) = if marked {
            (pie.stats.marks, pie.stats.drops)
        } else {
            (pie.stats.drops, pie.stats.marks)
        };
        assert!((62..138).contains(&hits) && others == 0, "{ppm}: {hits} and {others}");
        assert_eq!(drops.drain().count() as u64, pie.stats.drops);
    }
}

#[test]
fn the_probability_decays_while_the_queue_is_empty() {
    let mut pie = Pie::new(Params::default(), 1);
    pie.state.drop_prob = Probability::ONE;
    pie.state.burst_allowance = Time::ZERO;
    // An hour later: at rest, ready for a burst, and the updates keep their rhythm.
    pie.update_until(Time::from_secs(3600));
    assert!(pie.is_at_rest());
    assert_eq!(pie.update.due(Time::from_secs(3601)), Some(Time(3_600_015 * MS)));
}
