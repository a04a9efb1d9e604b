//! Built-in programs: one thread decides as sequential CoDel, and any number of threads as some
//! sequential order, where that is guaranteed.

use super::super::calls::EngineOperation;
use super::super::memory::Access;
use super::super::threads::Traced;
use super::{Bench, bench_with, shipped};
use sojourn_packet::{PassId, SplitMix64, Time, mix};
use std::collections::BTreeMap;

const INTERVAL: u64 = 100_000_000;
/// 3.6 s of them.
const PACKETS: u64 = 300_000;
const TARGET_PACKETS: u64 = 5_000_000_u64.div_ceil(121_120);

/// INTERVAL / sqrt(count) as in the table: exact to 16, then the power of two below.
fn spacing(count: u64) -> u64 {
    let exact = if count <= 16 { count } else { 1 << count.ilog2() };
    let doubled = 2 * u128::from(INTERVAL);
    ((doubled * doubled / u128::from(exact)).isqrt().div_ceil(2)) as u64
}

/// RFC 8289, sections 5.5 and 5.6, on a depth in packets; the order of statements is the RFC's.
#[derive(Default)]
struct Codel {
    first_above_time: u64,
    drop_next: u64,
    count: u64,
    lastcount: u64,
    dropping: bool,
    owing: bool,
}

impl Codel {
    fn drops(&mut self, now: u64, packets: u64) -> bool {
        if packets < TARGET_PACKETS || packets <= 1 {
            self.first_above_time = 0;
            (self.dropping, self.owing) = (false, false);
            return false;
        }
        if self.first_above_time == 0 || now < self.first_above_time {
            if self.first_above_time == 0 {
                self.first_above_time = now + INTERVAL;
            }
            (self.dropping, self.owing) = (false, false);
            return false;
        }
        if !self.dropping {
            let delta = self.count.wrapping_sub(self.lastcount);
            let recently = now < self.drop_next + 16 * INTERVAL;
            self.count = if delta > 1 && recently { delta } else { 1 };
            self.lastcount = self.count;
            self.dropping = true;
            self.drop_next = now + spacing(self.count);
            return true;
        }
        if std::mem::take(&mut self.owing) {
            self.drop_next += spacing(self.count);
        }
        if now < self.drop_next {
            return false;
        }
        self.count += 1;
        self.owing = true;
        true
    }
}

/// A queue that grows and shrinks around TARGET within seconds, equal in every run.
fn depth(now: Time) -> u64 {
    let swell = now.0 / 400_000_000;
    let ripple = mix(now.0 / 3_000_000) % 8;
    (mix(swell) % 90) + ripple
}

/// Random arrivals, 12 us apart on average: several packets are always in progress.
fn arrivals(packets: u64) -> impl Iterator<Item = Time> {
    let mut random = SplitMix64::new(5);
    let mut now = 0;
    (0..packets).map(move |_| {
        now += random.up_to(24_000) as u64;
        Time(now)
    })
}

fn run(name: &str, defines: &[(&str, &str)], packets: u64) -> Bench<fn(Time) -> u64> {
    let mut bench = bench_with(shipped(name, defines), depth as fn(Time) -> u64);
    for at in arrivals(packets) {
        bench.receive(at, 1);
    }
    bench.settle();
    bench
}

fn dropped<D: Fn(Time) -> u64>(bench: &Bench<D>) -> BTreeMap<PassId, bool> {
    bench.left.iter().map(|(id, _, out)| (*id, out.packet.is_none())).collect()
}

#[test]
fn one_thread_in_no_time_decides_as_sequential_codel_on_the_depth() {
    let at_once = [
        ("THREADS", "1"),
        ("PROCESSING_MIN", "0"),
        ("PROCESSING_MAX", "0"),
        ("ACCESS_MIN", "0"),
        ("ACCESS_MAX", "0"),
    ];
    let dropped = dropped(&run("codel", &at_once, PACKETS));
    let mut codel = Codel::default();
    let expected: BTreeMap<_, _> = (0..)
        .map(PassId)
        .zip(arrivals(PACKETS).map(|now| codel.drops(now.0, depth(now))))
        .collect();
    assert_eq!(dropped, expected);
    let drops = expected.values().filter(|drops| **drops).count();
    assert!(drops > 20 && codel.count > 1, "{drops}");
}

/// Requests of each pass.
fn by_pass(trace: &[Traced]) -> BTreeMap<PassId, Vec<Traced>> {
    let mut passes: BTreeMap<PassId, Vec<Traced>> = BTreeMap::new();
    trace.iter().for_each(|traced| passes.entry(traced.pass).or_default().push(*traced));
    passes
}

/// Queue depth read by a pass, and the time of the answer.
fn told(requests: &[Traced]) -> (u64, u64) {
    let depth =
        requests.iter().find(|traced| matches!(traced.request.what, EngineOperation::Depth { .. }));
    depth.map(|traced| (traced.value, traced.answered.0)).expect("it asks for the depth")
}

#[test]
fn under_a_mutex_any_number_of_threads_decides_as_one_after_the_other() {
    for threads in ["2", "480"] {
        let bench = run("codel", &[("CODEL_MUTEX", "1"), ("THREADS", threads)], PACKETS);
        let (dropped, passes) = (dropped(&bench), by_pass(&bench.npu.threads.trace));
        let unlocks = bench.npu.threads.trace.iter();
        let unlocks =
            unlocks.filter(|traced| matches!(traced.request.what, EngineOperation::Unlock { .. }));
        let (mut codel, mut decided) = (Codel::default(), 0);
        for unlock in unlocks {
            let (packets, now) = told(&passes[&unlock.pass]);
            assert_eq!(codel.drops(now, packets), dropped[&unlock.pass], "{threads} threads");
            decided += 1;
        }
        assert_eq!(decided, PACKETS);
        assert_eq!(bench.npu.faults().lost_updates.count, 0);
        assert!(dropped.values().any(|drops| *drops));
    }
}

/// `aqm/codel_cas.p4` for one packet: the word after it, and whether it is dropped.
fn swapped(word: u64, packets: u64, now: u64) -> (u64, bool) {
    const TICK: u64 = 1 << 21;
    let ticks = |ns: u64| (ns >> 16) % TICK;
    let before = |a: u64, b: u64| a.wrapping_sub(b) % TICK >= TICK / 2;
    let now = ticks(now);
    let (mut state, mut count, mut last) = (word >> 62, word >> 52 & 1023, word >> 42 & 1023);
    let (mut first, mut next) = (word >> 21 & (TICK - 1), word & (TICK - 1));
    let mut drop = false;
    if packets < TARGET_PACKETS || packets <= 1 {
        (first, state) = (0, 0);
    } else if first == 0 {
        first = ((now + ticks(INTERVAL)) % TICK).max(1);
        state = 0;
    } else if before(now, first) {
        state = 0;
    } else {
        let (mut base, mut move_on) = (next, state == 2);
        if state == 0 {
            let delta = count.wrapping_sub(last) & 1023;
            let recently = before(now, (next + ticks(16 * INTERVAL)) % TICK);
            count = if delta > 1 && recently { delta } else { 1 };
            (last, base, move_on, drop) = (count, now, true, true);
        }
        if move_on {
            next = (base + ticks(spacing(count))) % TICK;
        }
        if state != 0 && !before(now, next) {
            count = (count + 1).min(1023);
            (state, drop) = (2, true);
        } else {
            state = 1;
        }
    }
    (state << 62 | count << 52 | last << 42 | first << 21 | next, drop)
}

#[test]
fn with_compare_and_swap_any_number_of_threads_decides_as_one_after_the_other() {
    for threads in ["1", "480"] {
        let bench = run("codel_cas", &[("THREADS", threads)], PACKETS);
        let (dropped, passes) = (dropped(&bench), by_pass(&bench.npu.threads.trace));
        // A pass is ordered by its last access, which read or swapped the word.
        let (mut word, mut decided) = (0, 0);
        for traced in &bench.npu.threads.trace {
            let requests = &passes[&traced.pass];
            let [.., before, last] = requests.as_slice() else { panic!("a depth and the word") };
            if last.answered != traced.answered || last.request != traced.request {
                continue;
            }
            let swaps = match last.request.what {
                EngineOperation::Cell { access: Access::CompareAndSwap { .. }, .. } => true,
                EngineOperation::Cell { access: Access::Read, .. } => false,
                other => panic!("nobody gave up: {other:?}"),
            };
            // It decided when it received the word that it swaps, or leaves unchanged.
            let now = if swaps { before.answered } else { last.answered };
            let (after, drops) = swapped(word, told(requests).0, now.0);
            assert_eq!(drops, dropped[&traced.pass], "{threads} threads");
            word = after;
            decided += 1;
        }
        assert_eq!(decided, PACKETS);
        assert_eq!(bench.cell("state_of", 2 << 3), word);
        assert_eq!(bench.cell("gave_up", 0), 0);
        assert_eq!(bench.npu.faults().lost_updates.count, 0);
        assert!(dropped.values().any(|drops| *drops));
    }
}

#[test]
fn as_published_threads_lose_updates_and_one_alone_does_not() {
    let lost =
        |threads| run("codel", &[("THREADS", threads)], PACKETS).npu.faults().lost_updates.count;
    assert_eq!(lost("1"), 0);
    assert!(lost("480") > 0);
}
