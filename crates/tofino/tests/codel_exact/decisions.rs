//! The same packets are dropped as by RFC 8289, whatever the queue does and whatever the clock shows.

use super::rfc8289::{Codel, INTERVAL, TARGET};
use super::rig::{Departure, Rig, START, Verdict};
use sojourn_packet::SplitMix64;

const MIXED: &[u32] = &[40, 576, 1514, 1514];

struct Random(SplitMix64);

impl Random {
    fn unit(&mut self) -> f64 {
        (self.0.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[(self.0.next() % items.len() as u64) as usize]
    }
}

/// Departures from a queue of `rate` bit/s whose load wanders around 1, so that its delay crosses
/// TARGET in all ways. Open loop: what is dropped has had its turn on the wire.
fn wandering(rate: f64, sizes: &[u32], packets: usize, seed: u64) -> Vec<Departure> {
    let mut random = Random(SplitMix64::new(seed));
    let wire_time = |size: u32| f64::from(size) * 8e9 / rate;
    let mean = sizes.iter().map(|size| wire_time(*size)).sum::<f64>() / sizes.len() as f64;
    let (mut time, mut free, mut load, mut until) = (0.0_f64, 0.0_f64, 1.0, 0.0);
    let mut queued: Vec<(f64, f64, u32)> = Vec::with_capacity(packets);
    while queued.len() < packets {
        if time >= until {
            load = random.one_of(&[0.6, 0.9, 0.98, 1.0, 1.02, 1.1, 1.3]);
            until = time + 20e6 + random.unit() * 780e6;
        }
        time += random.exponential(mean / load);
        let start = time.max(free);
        if start - time > 60e6 {
            continue;
        }
        let size = random.one_of(sizes);
        free = start + wire_time(size);
        queued.push((time, start, (size + 13).div_ceil(80)));
    }
    let mut behind = 0;
    let mut cells = 0;
    let depart = |(at, (arrival, start, own)): (usize, &(f64, f64, u32))| {
        while behind < queued.len() && (queued[behind].0 <= *start || behind <= at) {
            cells += queued[behind].2;
            behind += 1;
        }
        cells -= own;
        let now = START + *start as i64;
        Departure { now, sojourn: (*start - *arrival) as i64, cells, ..Departure::default() }
    };
    queued.iter().enumerate().map(depart).collect()
}

fn reference(trace: &[Departure]) -> Vec<bool> {
    let mut codel = Codel::default();
    trace.iter().map(|p| codel.drops(p.now, p.sojourn, p.cells <= 20)).collect()
}

fn ours(rig: &mut Rig, trace: &[Departure]) -> Vec<bool> {
    trace.iter().map(|packet| rig.leave(*packet) == Verdict::Dropped).collect()
}

/// Of the packets that `expected` drops, the share that `found` drops too; and the drops of each.
fn agreement(expected: &[bool], found: &[bool]) -> (f64, usize, usize) {
    let count = |drops: &[bool]| drops.iter().filter(|drop| **drop).count();
    let same = expected.iter().zip(found).filter(|(a, b)| **a && **b).count();
    (same as f64 / count(expected) as f64, count(expected), count(found))
}

fn assert_same_drops(rate: f64, sizes: &[u32], packets: usize, seed: u64) {
    let trace = wandering(rate, sizes, packets, seed);
    let (same, expected, found) = agreement(&reference(&trace), &ours(&mut Rig::new(), &trace));
    assert!(expected > 50, "only {expected} drops: the trace asks nothing");
    assert!(same >= 0.999, "{same} of {expected} drops at the same packet, {found} made");
    assert!(expected.abs_diff(found) <= expected / 1000, "{expected} drops expected, {found} made");
}

#[test]
fn at_100_megabit_the_packets_of_rfc_8289_are_dropped() {
    assert_same_drops(1e8, MIXED, 100_000, 1);
}

#[test]
fn at_1_gigabit_the_packets_of_rfc_8289_are_dropped() {
    assert_same_drops(1e9, &[1514, 9014], 120_000, 2);
}

#[test]
fn at_10_gigabit_the_packets_of_rfc_8289_are_dropped() {
    assert_same_drops(1e10, &[9014], 700_000, 3);
}

#[test]
fn decisions_do_not_depend_on_the_clocks_value() {
    let trace = wandering(1e8, MIXED, 60_000, 4);
    let expected = ours(&mut Rig::new(), &trace);
    assert!(expected.iter().filter(|drop| **drop).count() > 50);
    // The 32-bit clock is about to wrap, its sign to change, the 48-bit clock to wrap.
    for offset in [1 << 32, 1 << 31, 1 << 48] {
        let offset = offset - START as u64 % (1 << 32) - 500_000_000;
        assert!(ours(&mut Rig::with(&[], offset), &trace) == expected, "offset {offset}");
    }
}

#[test]
fn a_queue_that_stays_above_target_is_dropped_from_for_as_long_as_it_stays() {
    // 30 s: the 32-bit clock wraps seven times while the sojourn time never falls below TARGET.
    let steady = |at: i64| Departure {
        now: START + at * 1_000_000,
        sojourn: 2 * TARGET,
        ..Departure::default()
    };
    let trace: Vec<Departure> = (0..30_000).map(steady).collect();
    let (same, expected, found) = agreement(&reference(&trace), &ours(&mut Rig::new(), &trace));
    assert!(expected > 20_000, "{expected}");
    assert_eq!((same, found), (1.0, expected));
}

#[test]
fn nothing_is_dropped_from_a_queue_of_no_more_than_one_packet() {
    let mut rig = Rig::new();
    let slow = |at, cells| Departure {
        now: START + at * INTERVAL / 4,
        sojourn: 20 * TARGET,
        cells,
        ..Departure::default()
    };
    assert!((0..40).all(|at| rig.leave(slow(at, 20)) == Verdict::Sent));
    // One cell more is more than one packet: the first drop after an INTERVAL of that.
    let drops: Vec<i64> =
        (40..46).filter(|at| rig.leave(slow(*at, 21)) == Verdict::Dropped).collect();
    assert_eq!(drops, [44]);
}

#[test]
fn the_cells_of_one_full_frame_follow_from_the_packet_s_own_length() {
    let mut rig = Rig::new();
    for payload in 0..=2_000 {
        let frame = 60 + payload;
        // With the bridge header and the check sequence, as in the buffer.
        let own = (frame + 9 + 4_u32).div_ceil(80);
        let spared = (1_514 / frame * own).max(20);
        for cells in [0, spared, spared + 1, 1_000] {
            let packet = Departure { cells, payload, sojourn: 20 * TARGET, ..Departure::default() };
            rig.leave(packet);
            assert_eq!(rig.above(packet.port, 0), cells > spared, "{frame} bytes, {cells} cells");
        }
    }
}
