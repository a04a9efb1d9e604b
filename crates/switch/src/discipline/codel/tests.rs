//! CoDel's drop times as expectations computed from RFC 8289 by hand, and against a second,
//! differently built model.

use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

const MS: u64 = 1_000_000;

/// Packets of 1000 bytes in a plain list; remembers what was dropped and when.
#[derive(Default)]
struct Line {
    now: Time,
    packets: VecDeque<Time>,
    dropped: Vec<Time>,
    /// Packets can be marked; marks count as drops in `dropped`.
    capable: bool,
}

impl CodelQueue for Line {
    type Packet = Time;
    fn pop(&mut self) -> Option<Time> {
        self.packets.pop_front()
    }
    fn head(&self) -> Option<(Time, Bytes)> {
        let behind = self.packets.len().saturating_sub(1) as u64;
        self.packets.front().map(|enqueued| (*enqueued, Bytes(1000 * behind)))
    }
    fn drop(&mut self, _packet: Time) {
        self.dropped.push(self.now);
    }
    fn mark_head(&mut self) -> bool {
        if self.capable {
            self.dropped.push(self.now);
        }
        self.capable
    }
}

struct Bench {
    params: Params,
    state: State,
    stats: Stats,
    line: Line,
}

impl Bench {
    fn new() -> Bench {
        let params = Params { maxpacket: Bytes(1000), ..Params::default() };
        Bench { params, state: State::default(), stats: Stats::default(), line: Line::default() }
    }

    /// A dequeue at `ms`, with a standing queue of ten packets that are all `sojourn` ms old.
    fn standing(&mut self, ms: u64, sojourn: u64) {
        self.line.packets = vec![Time((ms - sojourn) * MS); 10].into();
        self.dequeue(Time(ms * MS));
    }

    fn dequeue(&mut self, now: Time) -> Option<Time> {
        self.line.now = now;
        dequeue(&self.params, &mut self.state, &mut self.stats, now, &mut self.line)
    }

    fn drops_ms(&self) -> Vec<u64> {
        self.line.dropped.iter().map(|t| t.0 / MS).collect()
    }
}

#[test]
fn constant_overload_is_dropped_at_the_times_of_the_rfc() {
    // One dequeue per ms, sojourn time 20 ms throughout, from 1000 ms on. first_above_time is
    // 1100: first drop, count 1, drop_next 1200. Then, by the control law, in ms:
    //   1200       -> drop, next + 100/sqrt(2) = 1270.711
    //   1270.711   -> drop at 1271, + 100/sqrt(3) = 1328.446
    //   1328.446   -> 1329, + 50        = 1378.446
    //   1378.446   -> 1379, + 44.721    = 1423.167
    //   1423.167   -> 1424, + 40.825    = 1463.992
    //   1463.992   -> 1464, + 37.796    = 1501.788
    //   1501.788   -> 1502, + 35.355    = 1537.143
    //   1537.143   -> 1538, + 33.333    = 1570.477
    //   1570.477   -> 1571, + 31.623    = 1602.099
    let mut bench = Bench::new();
    for ms in 1000..1602 {
        bench.standing(ms, 20);
    }
    assert_eq!(bench.drops_ms(), [1100, 1200, 1271, 1329, 1379, 1424, 1464, 1502, 1538, 1571]);
    // 1100 + 100 + 70.710678 + 57.735027 + 50 + 44.721360 + 40.824829 + 37.796447 + 35.355339
    // + 33.333333 + 31.622777 ms; each term rounded to the nanosecond.
    assert_eq!(bench.state.drop_next, Time(1_602_099_790));
    assert_eq!((bench.state.count, bench.stats.drop_states), (10, 1));
}

#[test]
fn a_sojourn_time_below_target_once_per_interval_prevents_all_drops() {
    let mut bench = Bench::new();
    for ms in 1000..2000 {
        bench.standing(ms, if ms % 100 == 0 { 4 } else { 50 });
    }
    assert!(bench.drops_ms().is_empty());
}

#[test]
fn a_sojourn_time_of_exactly_target_is_above() {
    let mut bench = Bench::new();
    (1000..=1100).for_each(|ms| bench.standing(ms, 5));
    assert_eq!(bench.drops_ms(), [1100]);
}

#[test]
fn a_backlog_of_at_most_one_packet_is_never_dropped_from() {
    let mut bench = Bench::new();
    for ms in 1000..2000 {
        // One leaves, one of 1000 bytes stays: not more than maxpacket.
        bench.line.packets = vec![Time((ms - 500) * MS); 2].into();
        bench.dequeue(Time(ms * MS));
    }
    assert!(bench.drops_ms().is_empty());
    assert_eq!(bench.state.first_above_time, None);
}

#[test]
fn a_new_drop_state_soon_after_goes_on_with_the_last_rate() {
    // Drops at 1100, 1200, 1271, 1329, 1379 (count 5); then below target at 1380, above again
    // from 1381: first_above_time 1481. count - lastcount = 5 - 1 = 4, so count starts at 4 and
    // the next drop is 50 ms later.
    let mut bench = Bench::new();
    (1000..1380).for_each(|ms| bench.standing(ms, 20));
    bench.standing(1380, 1);
    assert!(!bench.state.dropping);
    (1381..1482).for_each(|ms| bench.standing(ms, 20));
    assert_eq!((bench.state.count, bench.state.lastcount), (4, 4));
    assert_eq!(bench.state.drop_next, Time(1531 * MS));
}

#[test]
fn a_new_drop_state_after_sixteen_intervals_starts_at_one() {
    // As above, drop_next is 1423.167 ms when the drop state is left. Entering at 3023 is within
    // 1600 ms of that, at 3024 it is not.
    for (entry, count) in [(3023, 4), (3024, 1)] {
        let mut bench = Bench::new();
        (1000..1380).for_each(|ms| bench.standing(ms, 20));
        (1380..entry - 100).for_each(|ms| bench.standing(ms, 1));
        (entry - 100..=entry).for_each(|ms| bench.standing(ms, 20));
        assert_eq!((bench.drops_ms().last(), bench.state.count), (Some(&entry), count));
    }
}

#[test]
fn drops_that_became_due_together_are_made_together() {
    // In the drop state since 1100 (drop_next 1200), nothing is dequeued until 1330: the drops of
    // 1200, 1270.7 and 1328.4 are made in one go, then the fourth packet is sent.
    let mut bench = Bench::new();
    (1000..=1100).for_each(|ms| bench.standing(ms, 20));
    bench.standing(1330, 250);
    assert_eq!(bench.drops_ms(), [1100, 1330, 1330, 1330]);
    assert_eq!(bench.line.packets.len(), 6);
}

#[test]
fn the_drop_that_ends_a_drop_state_counts_for_the_next() {
    // Drops at 1100 (count 1) and 1200 (2). At 1271 the head is old and is dropped (3), the packet
    // behind it is young: the drop state ends. Above again from 1272, first_above_time 1372:
    // count - lastcount = 3 - 1 = 2, so count starts at 2.
    let mut bench = Bench::new();
    (1000..1271).for_each(|ms| bench.standing(ms, 20));
    bench.line.packets = vec![Time(1270 * MS); 10].into();
    bench.line.packets[0] = Time(1251 * MS);
    bench.dequeue(Time(1271 * MS));
    assert_eq!((bench.state.count, bench.state.dropping), (3, false));
    (1272..=1372).for_each(|ms| bench.standing(ms, 20));
    assert_eq!(bench.drops_ms(), [1100, 1200, 1271, 1372]);
    assert_eq!((bench.state.count, bench.state.dropping), (2, true));
}

#[test]
fn an_empty_queue_ends_the_drop_state() {
    let mut bench = Bench::new();
    (1000..=1100).for_each(|ms| bench.standing(ms, 20));
    bench.line.packets.clear();
    assert_eq!(bench.dequeue(Time(1300 * MS)), None);
    assert_eq!((bench.state.dropping, bench.state.first_above_time), (false, None));
}

#[test]
fn marks_come_when_drops_would_and_lose_no_packet() {
    let (mut dropping, mut marking) = (Bench::new(), Bench::new());
    marking.line.capable = true;
    for ms in 1000..1602 {
        dropping.standing(ms, 20);
        marking.standing(ms, 20);
        assert_eq!(marking.line.packets.len(), 9, "one is sent, none is lost");
    }
    assert_eq!(dropping.line.dropped, marking.line.dropped);
    assert_eq!((marking.stats.marks, marking.stats.drops), (10, 0));
    // Marks that became due together are spread over the packets sent, as each carries one only.
    marking.standing(1700, 20);
    assert_eq!(marking.drops_ms().iter().filter(|&&ms| ms == 1700).count(), 1);
}

#[test]
fn spacings_are_those_of_a_pocket_calculator() {
    // 10^8 / sqrt(n) to nine digits.
    let expected = [
        (1, 100_000_000),
        (2, 70_710_678),
        (3, 57_735_027),
        (4, 50_000_000),
        (5, 44_721_360),
        (7, 37_796_447),
        (100, 10_000_000),
        (1_000_000, 100_000),
        (u32::MAX, 1_526),
    ];
    for (count, ns) in expected {
        assert_eq!(spacing(INTERVAL, count), Time(ns), "{count}");
    }
}

#[test]
fn parameters_can_be_given_by_name_and_are_checked() {
    assert!(super::super::build("codel", &[("target", 1_000_000), ("maxpacket", 0)]).is_ok());
    let error = super::super::build("codel", &[("interval", 0)]).unwrap_err();
    assert_eq!(error.to_string(), "codel: `interval` is 0, allowed is 1 to 3600000000000 ns");
}

/// CoDel as two state machines, one for the sojourn time and one for the drop states. It is valid
/// for queues that never become short and packets of a dequeue that are equally old.
#[derive(Default)]
struct Model {
    above_since: Option<u64>,
    drop_state: Option<DropState>,
    /// Time of the next drop, and the number of drops that the last drop state added.
    last: Option<(u64, u64)>,
}

struct DropState {
    next: u64,
    count: u64,
    first_count: u64,
}

impl Model {
    fn gap(count: u64) -> u64 {
        (1e8 / (count as f64).sqrt()).round() as u64
    }

    /// Packets dropped at a dequeue.
    fn drops(&mut self, now: u64, sojourn: u64) -> usize {
        if sojourn < 5 * MS {
            self.above_since = None;
            if let Some(ended) = self.drop_state.take() {
                self.last = Some((ended.next, ended.count - ended.first_count));
            }
            return 0;
        }
        let since = *self.above_since.get_or_insert(now);
        let Some(state) = &mut self.drop_state else {
            if now - since < 100 * MS {
                return 0;
            }
            let recent = self.last.filter(|&(next, _)| now - next < 1600 * MS);
            let count = recent.map_or(1, |(_, added)| added.max(1));
            let next = now + Model::gap(count);
            self.drop_state = Some(DropState { next, count, first_count: count });
            return 1;
        };
        let mut drops = 0;
        while state.next <= now {
            drops += 1;
            state.count += 1;
            state.next += Model::gap(state.count);
        }
        drops
    }
}

/// The listing of RFC 8289 section 5, statement by statement, with its inner loop: the expected
/// result of `State::drops` for one packet after the other.
#[derive(Default)]
struct Listing {
    first_above_time: u64,
    drop_next: u64,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

impl Listing {
    const MAXPACKET: usize = 1;

    fn dodequeue(&mut self, now: u64, queue: &mut VecDeque<u64>) -> (Option<u64>, bool) {
        let packet = queue.pop_front();
        let mut ok_to_drop = false;
        match packet {
            None => self.first_above_time = 0,
            Some(enqueued) => {
                let sojourn_time = now - enqueued;
                if sojourn_time < 5 * MS || queue.len() <= Listing::MAXPACKET {
                    self.first_above_time = 0;
                } else if self.first_above_time == 0 {
                    self.first_above_time = now + 100 * MS;
                } else if now >= self.first_above_time {
                    ok_to_drop = true;
                }
            }
        }
        (packet, ok_to_drop)
    }

    /// The packets dropped on the way to the one that is sent.
    fn dequeue(&mut self, now: u64, queue: &mut VecDeque<u64>) -> usize {
        let mut drops = 0;
        let (packet, mut ok_to_drop) = self.dodequeue(now, queue);
        if packet.is_none() {
            self.dropping = false;
            return 0;
        }
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                drops += 1;
                self.count += 1;
                (_, ok_to_drop) = self.dodequeue(now, queue);
                if !ok_to_drop {
                    self.dropping = false;
                } else {
                    self.drop_next += Model::gap(u64::from(self.count));
                }
            }
        } else if ok_to_drop {
            drops += 1;
            self.dodequeue(now, queue);
            self.dropping = true;
            let delta = self.count.wrapping_sub(self.lastcount) as i32;
            self.count = 1;
            if delta > 1 && now.saturating_sub(self.drop_next) < 1600 * MS {
                self.count = delta as u32;
            }
            self.drop_next = now + Model::gap(u64::from(self.count));
            self.lastcount = self.count;
        }
        drops
    }
}

proptest! {
    #[test]
    fn packet_by_packet_it_decides_as_the_rfcs_listing_does(
        // Dequeues: how much later, how many packets, how old each is in ms.
        stretches in prop::collection::vec(
            (1..40u64, 1..60usize, prop::collection::vec(0..12u64, 0..8)),
            1..40,
        ),
    ) {
        let (mut bench, mut listing) = (Bench::new(), Listing::default());
        let mut ms = 1000;
        for (step, dequeues, ages) in stretches {
            for _ in 0..dequeues {
                ms += step;
                let packets: VecDeque<_> = ages.iter().map(|age| Time((ms - age) * MS)).collect();
                let mut queue = packets.iter().map(|packet| packet.0).collect();
                bench.line.packets = packets;
                let before = bench.line.dropped.len();
                bench.dequeue(Time(ms * MS));
                let expected = listing.dequeue(ms * MS, &mut queue);
                prop_assert_eq!(bench.line.dropped.len() - before, expected, "at {} ms", ms);
                prop_assert_eq!(bench.line.packets.len(), queue.len(), "at {} ms", ms);
            }
        }
    }

    #[test]
    fn any_course_of_the_queue_gives_the_models_drops(
        // Stretches of time: how many dequeues, how far apart, how old the packets.
        stretches in prop::collection::vec((1..400u64, 1..20u64, 0..12u64), 1..12),
    ) {
        let (mut bench, mut model) = (Bench::new(), Model::default());
        let mut ms = 1000;
        for (dequeues, step, sojourn) in stretches {
            for _ in 0..dequeues {
                ms += step;
                bench.line.packets = vec![Time((ms - sojourn) * MS); 40].into();
                let before = bench.line.dropped.len();
                bench.dequeue(Time(ms * MS));
                let expected = model.drops(ms * MS, sojourn * MS);
                prop_assert_eq!(bench.line.dropped.len() - before, expected, "at {} ms", ms);
            }
        }
    }

    #[test]
    fn spacing_is_the_nearest_nanosecond(
        interval in 1..3_600_000_000_000u64,
        count in 1..u32::MAX,
    ) {
        // |x - s| <= 1/2 for x = I / sqrt(c) means (2 s - 1)^2 c <= 4 I^2 < (2 s + 1)^2 c.
        let s = u128::from(spacing(Time(interval), count).0);
        let four_i_squared = 4 * u128::from(interval).pow(2);
        let c = u128::from(count);
        prop_assert!((2 * s + 1).pow(2) * c > four_i_squared);
        prop_assert!(s == 0 || (2 * s - 1).pow(2) * c <= four_i_squared);
    }
}
