//! Tests of the stored state: its lifetime, its separation by queue, and counts beyond the exact
//! table.

use super::rfc8289::{INTERVAL, TARGET, spacing};
use super::rig::{Departure, Rig, START, Verdict};

fn above(now: i64) -> Departure {
    Departure { now, sojourn: 2 * TARGET, ..Departure::default() }
}

fn below(now: i64) -> Departure {
    Departure { now, sojourn: TARGET - 1, ..Departure::default() }
}

/// Packets above TARGET from `start` to `end`, one each 100 us; the times of those that were dropped.
fn congest(rig: &mut Rig, start: i64, end: i64) -> Vec<i64> {
    let times = (start..end).step_by(100_000);
    times.filter(|now| rig.leave(above(*now)) == Verdict::Dropped).collect()
}

/// A cycle of a second that ends with its last drop; then when the next drop was planned for.
fn first_cycle(rig: &mut Rig) -> (i64, u32) {
    let drops = congest(rig, START, START + 1_000_000_000);
    let last = *drops.last().expect("drops");
    let count = rig.memory(2, 0).count;
    assert_eq!(count as usize, drops.len());
    rig.leave(below(last + 50_000_000));
    (last, count)
}

/// The count of a second cycle whose first drop comes `age` after the drop_next of the first one.
fn count_of_second_cycle(age: i64) -> u32 {
    let mut rig = Rig::new();
    first_cycle(&mut rig);
    let drop_next = i64::from(rig.memory(2, 0).drop_next);
    // The register has 32 bits of the time; it is within a second of where the cycle ended.
    let wraps = (START + 1_000_000_000 - drop_next + (1 << 31)) >> 32;
    let entering = drop_next + (wraps << 32) + age;
    rig.leave(above(entering - INTERVAL));
    assert_eq!(rig.leave(above(entering)), Verdict::Dropped);
    rig.deliver_until(entering + INTERVAL);
    let memory = rig.memory(2, 0);
    assert_eq!(memory.count, memory.last_count);
    memory.count
}

#[test]
fn a_cycle_less_than_sixteen_intervals_after_the_last_one_resumes_its_count() {
    let (_, count) = first_cycle(&mut Rig::new());
    // The first cycle started from 1, so delta is count - 1.
    assert!(count > 10);
    assert_eq!(count_of_second_cycle(16 * INTERVAL - 1), count - 1);
    assert_eq!(count_of_second_cycle(INTERVAL), count - 1);
}

#[test]
fn sixteen_intervals_later_or_any_longer_the_count_starts_from_one() {
    let wrap = 1 << 32;
    for age in [16 * INTERVAL, 2 * wrap / 3, wrap - INTERVAL, wrap, wrap + INTERVAL, 100 * wrap] {
        assert_eq!(count_of_second_cycle(age), 1, "after {age} ns");
    }
}

#[test]
fn the_first_spacing_of_a_resumed_cycle_is_that_of_its_count() {
    let mut rig = Rig::new();
    let (last, count) = first_cycle(&mut rig);
    let drops = congest(&mut rig, last + 60_000_000, last + 700_000_000);
    let expected = drops[0] + spacing(count - 1);
    assert!((expected..expected + 100_000).contains(&drops[1]), "{drops:?}");
}

#[test]
fn every_queue_of_every_port_has_its_own_state() {
    let mut rig = Rig::new();
    let busy = [(2, 0), (2, 1), (2, 31), (3, 0), (511, 31)];
    let mut drops = [0; 5];
    for at in 0..4_000 {
        // Each queue is above TARGET for another share of the time.
        for (i, (port, queue)) in busy.iter().enumerate() {
            let packet = above(START + at * 250_000 + i as i64 * 2_000);
            let sojourn = if at < 1_000 * i as i64 { 0 } else { packet.sojourn };
            let packet = Departure { sojourn, port: *port, queue: *queue, ..packet };
            drops[i] += u32::from(rig.leave(packet) == Verdict::Dropped);
        }
    }
    // 1, 0.75, 0.5 and 0.25 s above TARGET, and never.
    let mut alone = [0; 5];
    for (i, drops) in alone.iter_mut().enumerate() {
        let start = START + i as i64 * 250_000_000;
        *drops = congest(&mut Rig::new(), start, START + 1_000_000_000).len() as u32;
    }
    assert_eq!(alone[4], 0);
    assert!(drops[0] > drops[1] && drops[1] > drops[2] && drops[2] > drops[3] && drops[3] > 0);
    for i in 0..5 {
        assert!(drops[i].abs_diff(alone[i]) <= 1, "{drops:?} and alone {alone:?}");
        let (port, queue) = busy[i];
        assert_eq!(rig.memory(port, queue).count, drops[i]);
    }
    assert_eq!(rig.memory(4, 0).count, 0);
}

#[test]
fn counts_beyond_the_exact_table_are_right_to_a_thousandth() {
    for count in [16_383, 16_384, 20_000, 99_999, 1_234_567, 0x7fff_ffff, 0xffff_fff0] {
        let mut rig = Rig::new();
        let drops = congest(&mut rig, START, START + 2 * INTERVAL + 500_000);
        assert_eq!(drops.len(), 2);
        let base = rig.memory(2, 0).drop_next;
        rig.set_schedule(2, 0, base, count - 1);
        let now = drops[1] + INTERVAL;
        assert_eq!(rig.leave(above(now)), Verdict::Dropped);
        rig.deliver_until(now + INTERVAL);
        assert_eq!(rig.memory(2, 0).count, count);
        let spacing = f64::from(rig.memory(2, 0).drop_next.wrapping_sub(base));
        let ideal = INTERVAL as f64 / f64::from(count).sqrt();
        assert!((spacing - ideal).abs() <= 0.001 * ideal + 0.5, "{count}: {spacing}, not {ideal}");
    }
}

#[test]
fn a_drop_planned_for_the_instant_zero_is_made() {
    // The base is such that base + INTERVAL / sqrt(2) is 0 modulo 2^32.
    let start = (3 << 32) - INTERVAL - spacing(2) - INTERVAL;
    let mut rig = Rig::new();
    let drops = congest(&mut rig, start, start + 2 * INTERVAL + 90_000);
    assert_eq!(drops, [start + INTERVAL, start + 2 * INTERVAL]);
    rig.deliver_until(start + 2 * INTERVAL + 90_000);
    assert_eq!(rig.memory(2, 0).drop_next, 0);
    assert_eq!(rig.leave(above((3 << 32) - 1)), Verdict::Sent);
    assert_eq!(rig.leave(above(3 << 32)), Verdict::Dropped);
}
