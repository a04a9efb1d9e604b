//! PI2's base probability against the paper's equation in floats, and the ratio of its signals.

use super::super::testing::{ECT0, ECT1, NOT_ECT, frame, queued};
use super::*;
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn float(p: Probability) -> f64 {
    p.raw() as f64 / Probability::ONE.raw() as f64
}

proptest! {
    #[test]
    fn the_base_probability_follows_the_paper(
        ages in prop::collection::vec(0..80_000u64, 1..200),
    ) {
        let mut pi2 = Pi2::new(Params::default(), 1);
        let (mut p, mut previous) = (0.0f64, 0.0);
        for (update, us) in (1..).zip(ages) {
            // A head that is `us` old at the update.
            let at = update * 32 * MS;
            let age = (us * 1000).min(at);
            pi2.backlog = Backlog::default();
            pi2.backlog.push(queued(frame(0, 1, NOT_ECT, 100), at - age));
            pi2.update_until(Time(at));
            let delay = age as f64 / 1e9;
            p = (p + 0.312 * (delay - 0.020) + 3.125 * (delay - previous)).clamp(0.0, 1.0);
            previous = delay;
            prop_assert!((float(pi2.state.p) - p).abs() < 1e-9);
        }
    }
}

/// Shares of ten thousand packets that are signalled at a base probability of p'.
fn share(params: Params, ppm: u64, codepoint: u8) -> f64 {
    let mut pi2 = Pi2::new(params, 5);
    (0..3).for_each(|id| pi2.backlog.push(queued(frame(id, 1, codepoint, 1514), 0)));
    pi2.state.p = Probability::from_ppm(ppm);
    (0..10_000).filter(|_| pi2.signals(codepoint)).count() as f64 / 1e4
}

#[test]
fn classic_packets_meet_the_square_and_scalable_ones_k_times_the_base() {
    let ecn = Params { ecn: true, ..Params::default() };
    for (params, codepoint, expected) in [
        (ecn, NOT_ECT, 0.04),
        (ecn, ECT0, 0.04),
        (ecn, ECT1, 0.4),
        (Params::default(), ECT1, 0.04),
        (Params { k: 1, ..ecn }, ECT1, 0.2),
    ] {
        let share = share(params, 200_000, codepoint);
        assert!((share - expected).abs() < 0.02, "{share} instead of {expected}");
    }
}

#[test]
fn drops_have_an_upper_bound_and_marks_reach_everything_there() {
    let params = Params { ecn: true, ..Params::default() };
    assert!((share(params, 900_000, NOT_ECT) - 0.25).abs() < 0.02);
    assert_eq!(share(params, 500_000, ECT1), 1.0);
}

#[test]
fn two_full_packets_are_left_alone() {
    let mut pi2 = Pi2::new(Params::default(), 5);
    (0..2).for_each(|id| pi2.backlog.push(queued(frame(id, 1, NOT_ECT, 1514), 0)));
    pi2.state.p = Probability::ONE;
    assert!(!(0..1000).any(|_| pi2.signals(NOT_ECT)));
}

/// A sender whose rate goes by 1 / sqrt(drop probability), as Reno's, over a link of 1000 packets
/// per second; 60 s. Mean delay in ms over the second half.
fn reno_like(flow_constant: f64) -> f64 {
    let mut pi2 = Pi2::new(Params::default(), 9);
    let (mut drops, mut next, mut delays, mut id) = (Drops::default(), 0.0, Vec::new(), 0);
    for tick in 0..600_000u64 {
        let now = Time::from_micros(tick * 100);
        let turn = (tick % 10 == 0).then(|| pi2.dequeue(now, &mut drops)).flatten();
        if let Some(sent) = turn.filter(|_| tick > 300_000) {
            delays.push((now - sent.enqueued).0 as f64 / 1e6);
        }
        while next <= tick as f64 {
            let p = float(pi2.state.p).powi(2).max(1e-6);
            next += 1e4 / (flow_constant / p.sqrt()).min(3000.0);
            id += 1;
            pi2.enqueue(now, queued(frame(id, 1, NOT_ECT, 1514), now.0), &mut drops);
        }
        drops.drain().for_each(drop);
    }
    delays.iter().sum::<f64>() / delays.len() as f64
}

#[test]
fn the_delay_settles_at_the_target_for_any_load() {
    // An equilibrium at p = 1 %, 4 % and 16 %: without the square a controller of fixed gains is
    // too eager at the one and too slow at the other.
    for flow_constant in [100.0, 200.0, 400.0] {
        let mean = reno_like(flow_constant);
        assert!((18.0..22.0).contains(&mean), "{mean} ms");
    }
}

#[test]
fn capable_packets_are_marked_with_ecn_only() {
    for (ecn, codepoint, marked) in
        [(true, ECT0, true), (false, ECT0, false), (true, NOT_ECT, false)]
    {
        let mut pi2 = Pi2::new(Params { ecn, ..Params::default() }, 5);
        pi2.state.p = Probability::from_ppm(400_000);
        let mut drops = Drops::default();
        (0..1000).for_each(|id| {
            pi2.enqueue(Time::ZERO, queued(frame(id, 1, codepoint, 1514), 0), &mut drops);
        });
        assert_eq!((pi2.stats.marks > 100, pi2.stats.drops > 100), (marked, !marked));
        assert_eq!(drops.drain().count() as u64, pi2.stats.drops);
    }
}
