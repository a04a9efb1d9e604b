//! A copy that is lost, or still on its way: by how much drops are late then, and that it is counted.

use super::rfc8289::{Codel, INTERVAL, TARGET, spacing};
use super::rig::{Departure, Rig, START, Verdict};

/// A packet each 50 us.
const GAP: i64 = 50_000;

fn drops(rig: &mut Rig, from: i64, to: i64) -> Vec<i64> {
    let packet = |now| Departure { now, sojourn: 2 * TARGET, ..Departure::default() };
    let times = (START + from..START + to).step_by(GAP as usize);
    let drops = times.filter(|now| rig.leave(packet(*now)) == Verdict::Dropped);
    drops.map(|now| now - START).collect()
}

/// By how much the math unit's INTERVAL / sqrt(count) may be wrong, of itself: 0.2 % too short, 12 %
/// too long (p4/tna/common/control_law.p4).
fn is_about(spacing: i64, found: i64) -> bool {
    (spacing - spacing / 500..=spacing + spacing * 12 / 100 + GAP).contains(&found)
}

#[test]
fn a_lost_copy_delays_the_next_drop_by_what_the_math_unit_is_too_long() {
    let expected = drops(&mut Rig::new(), 0, 8 * INTERVAL);
    for lost in 0..5 {
        let mut rig = Rig::new();
        rig.lose = Box::new(move |number| number == lost);
        let found = drops(&mut rig, 0, 8 * INTERVAL);
        // The first drop needs no copy; the copy of drop n + 2 has number n.
        let at = lost as usize + 1;
        assert_eq!(found[..=at], expected[..=at]);
        assert!(is_about(spacing(at as u32 + 1), found[at + 1] - found[at]), "{found:?}");
        // The drops behind are late by the same, and by nothing more.
        let late = found[at + 1] - expected[at + 1];
        for (found, expected) in found[at + 2..].iter().zip(&expected[at + 2..]) {
            assert!((found - expected - late).abs() <= GAP, "{found} {expected} {late}");
        }
    }
}

#[test]
fn lost_copies_can_be_told_from_two_counters() {
    let mut rig = Rig::new();
    rig.lose = Box::new(|number| number % 3 == 2);
    drops(&mut rig, 0, 10 * INTERVAL);
    rig.deliver_until(START + 11 * INTERVAL);
    assert!(rig.lost > 3 && rig.lost < rig.sent_copies / 2);
    assert_eq!(rig.lost_copies(2, 0), rig.lost);
    assert_eq!(rig.lost_copies(2, 1), 0);
}

#[test]
fn a_cycle_whose_first_copy_is_lost_starts_from_one() {
    let mut rig = Rig::new();
    let first = drops(&mut rig, 0, 10 * INTERVAL);
    let pause = Departure { now: START + 10 * INTERVAL, ..Departure::default() };
    rig.leave(pause);
    let sent = rig.sent_copies;
    rig.lose = Box::new(move |number| number == sent);
    let second = drops(&mut rig, 11 * INTERVAL, 16 * INTERVAL);
    assert_eq!(rig.lost_copies(2, 0), 1);
    // As RFC 8289 without a memory: INTERVAL / sqrt(1), then INTERVAL / sqrt(2).
    assert_eq!(second[1] - second[0], INTERVAL);
    assert!((0..=GAP).contains(&(second[2] - second[1] - spacing(2))));
    assert!(first.len() > 10);
}

#[test]
fn without_any_copy_coming_back_the_math_unit_alone_is_the_law() {
    let mut rig = Rig::new();
    rig.lose = Box::new(|_| true);
    let found = drops(&mut rig, 0, 10 * INTERVAL);
    assert!(found.len() > 15);
    assert_eq!(found[..2], [INTERVAL, 2 * INTERVAL]);
    for (count, pair) in (2..).zip(found[1..].windows(2)) {
        // A packet comes each 50 us, so a drop may be late by as much and the next one early.
        assert!(is_about(spacing(count), pair[1] - pair[0] + GAP / 2), "{count}: {found:?}");
    }
    assert_eq!(rig.lost_copies(2, 0), found.len() as u64 - 1);
}

#[test]
fn drops_that_are_due_together_are_made_by_packets_in_a_row() {
    for pause in [100_000_000, 150_000_000, 250_000_000, 700_000_000] {
        let (mut rig, mut rfc) = (Rig::new(), Codel::default());
        let late = |now| Departure { now, sojourn: 2 * TARGET, ..Departure::default() };
        let mut ask = |now: i64| {
            (rfc.drops(now, 2 * TARGET, false), rig.leave(late(now)) == Verdict::Dropped)
        };
        for now in (START..START + 5 * INTERVAL).step_by(GAP as usize) {
            let (expected, found) = ask(now);
            assert_eq!(expected, found);
        }
        // Then a packet each 100 ns: ten come before the first copy is back.
        let start = START + 5 * INTERVAL + pause;
        let decisions: Vec<_> = (0..60).map(|at| ask(start + 100 * at)).collect();
        let expected = decisions.iter().filter(|(rfc, _)| *rfc).count();
        assert!(expected > 1, "{pause}");
        assert!(decisions[..expected].iter().all(|(rfc, _)| *rfc), "all in a row: {decisions:?}");
        // While copies are under way, drop_next is up to 12 % of a spacing ahead for each: what is
        // not dropped at once is as soon as they are back.
        let at_once = decisions[..expected].iter().filter(|(_, found)| *found).count();
        assert!(at_once >= expected - 2, "{pause}: {decisions:?}");
        let found: Vec<_> = (0..60).filter(|at| decisions[*at].1).collect();
        assert_eq!(found.len(), expected, "{pause}: {decisions:?}");
        assert!(found.last() <= Some(&(expected + 20)), "{pause}: {decisions:?}");
    }
}
