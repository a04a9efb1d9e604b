//! A copy that is lost on the way: the next drop is late by less than an INTERVAL, and it is counted.

use crate::rfc8289::{INTERVAL, TARGET, spacing};
use crate::rig::{Departure, Rig, START, Verdict};

/// A packet each 50 us.
const GAP: i64 = 50_000;

fn drops(rig: &mut Rig, from: i64, to: i64) -> Vec<i64> {
    let packet = |now| Departure { now, sojourn: 2 * TARGET, ..Departure::default() };
    let times = (START + from..START + to).step_by(GAP as usize);
    let drops = times.filter(|now| rig.leave(packet(*now)) == Verdict::Dropped);
    drops.map(|now| now - START).collect()
}

#[test]
fn a_lost_copy_delays_the_next_drop_by_less_than_an_interval() {
    for lost in 0..5 {
        let mut rig = Rig::new();
        rig.lose = Box::new(move |number| number == lost);
        let found = drops(&mut rig, 0, 8 * INTERVAL);
        let expected = drops(&mut Rig::new(), 0, 8 * INTERVAL);
        // The first drop needs no copy; the copy of drop n + 2 has number n.
        let at = lost as usize + 1;
        assert_eq!(found[..=at], expected[..=at]);
        assert_eq!(found[at + 1], found[at] + INTERVAL, "an INTERVAL after the last drop");
        assert!(found[at + 1] - expected[at + 1] < INTERVAL);
        // The copy after mends the schedule: spacings are the control law's again.
        let next = spacing(at as u32 + 2);
        assert!((0..=GAP).contains(&(found[at + 2] - found[at + 1] - next)), "{found:?}");
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
fn without_any_copy_coming_back_there_is_a_drop_an_interval() {
    let mut rig = Rig::new();
    rig.lose = Box::new(|_| true);
    let found = drops(&mut rig, 0, 10 * INTERVAL);
    assert_eq!(found, (1..10).map(|n| n * INTERVAL).collect::<Vec<_>>());
    assert_eq!(rig.lost_copies(2, 0), 8);
}

#[test]
fn no_second_packet_is_dropped_while_a_copy_is_under_way() {
    let mut rig = Rig::new();
    drops(&mut rig, 0, 2 * INTERVAL);
    let late = |now| Departure { now, sojourn: 2 * TARGET, ..Departure::default() };
    // Far behind schedule: every packet is due, but for those that meet the register unsynchronised.
    rig.set_register("drop_next", 2, 0, (START + 2 * INTERVAL - 500_000_000) as u32);
    let start = START + 2 * INTERVAL;
    let verdicts: Vec<bool> =
        (0..20).map(|at| rig.leave(late(start + at * 400)) == Verdict::Dropped).collect();
    // The copy takes 1 us, so the third packet after a drop is the next to be asked.
    assert!(verdicts.iter().enumerate().all(|(at, dropped)| *dropped == (at % 3 == 0)));
}
