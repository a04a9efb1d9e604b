//! CoDel as Linux 6.1 has it (`net/sched/sch_codel.c`, `include/net/codel_impl.h`).
//!
//! The kernel's CoDel and RFC 8289's differ in what one can measure, so both are here:
//! - time is counted in ticks of 1024 ns, in 32 bits that wrap;
//! - `1/sqrt(count)` is kept as a 16-bit fraction and bettered by one Newton step per drop, which
//!   for the first drops is far from the square root: the second and third gaps between drops
//!   are 50 % and 56 % of an interval, not 71 % and 58 %;
//! - the sojourn time must have been above target for longer than an interval, not as long;
//! - a queue of 1000 packets is full;
//! - `ce_threshold` marks every packet that waited longer, apart from the control law.
//!
//! It depends on enqueue times and the ECN field, and must not depend on the rate at which it
//! drains.

use super::codel::{CodelQueue, INTERVAL_PARAMETER, Managed, TARGET_PARAMETER};
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, ECN, FULL_FRAME, Kind, Parameter,
    QueueLength, Queued, Registered, Settings,
};
use crate::ecn;
use sojourn_packet::{Bytes, Time};
use std::ops::RangeInclusive;

const LIMIT: u64 = 1000;
/// ns that a parameter may be: a tick at least, and 16 intervals less than half of the clock's 32 bits.
pub(super) const SPAN: RangeInclusive<u64> = 1024..=100_000_000_000;

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "codel_linux",
    summary: "Linux's CoDel: ticks of 1024 ns, 16-bit Newton square root, ce_threshold",
    parameters: &[
        TARGET_PARAMETER,
        INTERVAL_PARAMETER,
        Parameter::new("limit", Kind::Packets, LIMIT, "most packets held"),
        Parameter::new("mtu", Kind::Size, FULL_FRAME.0, "no drops at or below this backlog"),
        ECN,
        Parameter::off("ce_threshold", Kind::Time, "mark all packets that waited longer than this"),
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let in_ticks = |time| ticks(Time(time));
    let span = |name| settings.within(name, SPAN).map(in_ticks);
    let ce_threshold = settings.optional("ce_threshold", SPAN)?;
    Ok(Box::new(CodelLinux::new(Params {
        target: span("target")?,
        interval: span("interval")?,
        ce_threshold: ce_threshold.map(in_ticks),
        mtu: settings.get("mtu").map_or(FULL_FRAME, Bytes),
        ecn: settings.switch("ecn")?,
        limit: settings.within("limit", 1..=u64::from(u32::MAX))?,
    })))
}

/// The kernel's clock for CoDel: 1024 ns a tick, 32 bits.
pub(super) fn ticks(time: Time) -> u32 {
    (time.0 >> 10) as u32
}

/// True if instant `a` is after `b`, on a clock that wraps.
pub(super) fn after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

/// Parameters, times in ticks of 1024 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Sojourn time that a standing queue may have. Default 5 ms.
    pub target: u32,
    /// Time above target before the first drop. Default 100 ms.
    pub interval: u32,
    /// Packets that waited longer are marked. Default: off.
    pub ce_threshold: Option<u32>,
    /// The backlog at or below which nothing is dropped. Default 1514 bytes.
    pub mtu: Bytes,
    /// Mark instead of dropping. Default: off.
    pub ecn: bool,
    /// Most packets held. Default 1000.
    pub limit: u64,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            target: ticks(Time::from_millis(5)),
            interval: ticks(Time::from_millis(100)),
            ce_threshold: None,
            mtu: FULL_FRAME,
            ecn: false,
            limit: LIMIT,
        }
    }
}

/// State, names as in the kernel; times in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Packets dropped or marked since entering the drop state.
    pub count: u32,
    /// `count` at the last entry.
    pub lastcount: u32,
    /// In the drop state.
    pub dropping: bool,
    /// 1 / sqrt(count), in 2^-16.
    pub rec_inv_sqrt: u16,
    /// Time at which the sojourn time will have been above target for an interval; 0 while it is
    /// below.
    pub first_above_time: u32,
    /// Time of the next drop.
    pub drop_next: u32,
    /// Sojourn time of the packet taken last.
    pub ldelay: u32,
}

impl State {
    /// One step of Newton's iteration x' = x (3 - count x^2) / 2 for x = 1 / sqrt(count). x is
    /// carried with 32 bits through the step and cut to 16 afterwards.
    fn newton_step(&mut self) {
        let x = u64::from(self.rec_inv_sqrt) << 16;
        let x_squared = (x * x) >> 32;
        // If x is so inaccurate that count x^2 exceeds 3, the kernel's subtraction wraps, and so
        // does this one; a sequence of counts that grows by ones does not reach this state.
        let bracket = (3u64 << 32).wrapping_sub(u64::from(self.count) * x_squared);
        // Two bits are given up before the product so that it fits.
        let better = (bracket >> 2).wrapping_mul(x) >> 31;
        self.rec_inv_sqrt = (better as u32 >> 16) as u16;
    }

    /// `t` plus an interval divided by the square root of `count`.
    fn control_law(&self, t: u32, interval: u32) -> u32 {
        t.wrapping_add(((u64::from(interval) * u64::from(self.rec_inv_sqrt)) >> 16) as u32)
    }

    /// The count that a drop state begins with: what the last one had added, if that is not long
    /// ago. The square root of such a count is only one Newton step away from the last one's.
    fn enter(&mut self, now: u32, interval: u32) {
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.lastcount);
        let recently = after(16 * interval, now.wrapping_sub(self.drop_next));
        if delta > 1 && recently {
            self.count = delta;
            self.newton_step();
        } else {
            self.count = 1;
            self.rec_inv_sqrt = u16::MAX;
        }
        self.lastcount = self.count;
        self.drop_next = self.control_law(now, interval);
    }
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets dropped by the control law.
    pub drop_count: u64,
    /// Packets marked by the control law.
    pub ecn_mark: u64,
    /// Packets marked for `ce_threshold`.
    pub ce_mark: u64,
    /// Packets refused for the limit.
    pub drop_overlimit: u64,
}

/// A queue managed by the kernel's CoDel.
#[derive(Debug, Default)]
pub struct CodelLinux {
    params: Params,
    state: State,
    stats: Stats,
    backlog: Backlog,
}

impl CodelLinux {
    /// An empty queue.
    pub fn new(params: Params) -> CodelLinux {
        CodelLinux { params, ..CodelLinux::default() }
    }
}

/// The kernel's `codel_dequeue` on any queue: the packet to send, drops on the way.
pub fn dequeue<Q: CodelQueue>(
    params: &Params,
    state: &mut State,
    stats: &mut Stats,
    now: Time,
    queue: &mut Q,
) -> Option<Q::Packet> {
    Routine { params, state, stats, now: ticks(now), queue }.dequeue()
}

/// One call of the dequeue routine.
struct Routine<'a, Q: CodelQueue> {
    params: &'a Params,
    state: &'a mut State,
    stats: &'a mut Stats,
    now: u32,
    queue: &'a mut Q,
}

impl<Q: CodelQueue> Routine<'_, Q> {
    fn dequeue(&mut self) -> Option<Q::Packet> {
        let Some(above) = self.may_drop() else {
            self.state.dropping = false;
            return None;
        };
        if self.state.dropping {
            if above {
                self.drop_due();
            } else {
                self.state.dropping = false;
            }
        } else if above {
            if !self.marked() {
                self.discard();
                self.may_drop();
            }
            self.state.enter(self.now, self.params.interval);
        }
        self.queue.pop()
    }

    /// Whether the packet at the head may be dropped, if there is one.
    fn may_drop(&mut self) -> Option<bool> {
        let (params, state, now) = (self.params, &mut *self.state, self.now);
        let Some((enqueued, behind)) = self.queue.head() else {
            state.first_above_time = 0;
            return None;
        };
        state.ldelay = now.wrapping_sub(ticks(enqueued));
        if after(params.target, state.ldelay) || behind <= params.mtu {
            state.first_above_time = 0;
            return Some(false);
        }
        if state.first_above_time == 0 {
            state.first_above_time = now.wrapping_add(params.interval);
            return Some(false);
        }
        Some(after(now, state.first_above_time))
    }

    fn marked(&mut self) -> bool {
        let marked = self.queue.mark_head();
        self.stats.ecn_mark += u64::from(marked);
        marked
    }

    fn discard(&mut self) {
        if let Some(packet) = self.queue.pop() {
            self.stats.drop_count += 1;
            self.queue.drop(packet);
        }
    }

    /// In the drop state: one drop for each `drop_next` that has passed, or one mark.
    fn drop_due(&mut self) {
        let interval = self.params.interval;
        while self.state.dropping && !after(self.state.drop_next, self.now) {
            self.state.count = self.state.count.wrapping_add(1);
            self.state.newton_step();
            if self.marked() {
                self.state.drop_next = self.state.control_law(self.state.drop_next, interval);
                return;
            }
            self.discard();
            if self.may_drop() == Some(true) {
                self.state.drop_next = self.state.control_law(self.state.drop_next, interval);
            } else {
                self.state.dropping = false;
            }
        }
    }
}

impl Discipline for CodelLinux {
    fn enqueue(&mut self, _now: Time, packet: Queued, drops: &mut Drops) {
        if (self.backlog.len() as u64) < self.params.limit {
            self.backlog.push(packet);
        } else {
            self.stats.drop_overlimit += 1;
            drops.push(packet, DropKind::Tail);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        let mut queue = Managed { ecn: self.params.ecn, backlog: &mut self.backlog, drops };
        let (params, state, stats) = (&self.params, &mut self.state, &mut self.stats);
        let mut packet = dequeue(params, state, stats, now, &mut queue)?;
        let waited = self.params.ce_threshold.is_some_and(|most| after(self.state.ldelay, most));
        if waited && ecn::mark(&mut packet.packet) {
            self.stats.ce_mark += 1;
        }
        Some(packet)
    }

    fn reads_frames(&self) -> bool {
        false
    }

    fn length(&self) -> QueueLength {
        self.backlog.length()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("drops", self.stats.drop_count),
            ("ecn_mark", self.stats.ecn_mark),
            ("ce_mark", self.stats.ce_mark),
            ("drop_overlimit", self.stats.drop_overlimit),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ECT0, NOT_ECT, frame, queued};
    use super::*;

    const MS: u64 = 1_000_000;

    /// A queue that is kept at 40 packets of 1000 bytes, all equally old, from which one packet is
    /// taken each millisecond.
    struct Bench {
        queue: CodelLinux,
        codepoint: u8,
        signals: Vec<u64>,
    }

    impl Bench {
        fn new(codepoint: u8) -> Bench {
            let params =
                Params { mtu: Bytes(1000), ecn: codepoint != NOT_ECT, ..Params::default() };
            Bench { queue: CodelLinux::new(params), codepoint, signals: Vec::new() }
        }

        fn standing(&mut self, span_ms: std::ops::Range<u64>, sojourn: u64) {
            for ms in span_ms {
                self.queue.backlog = Backlog::default();
                for _ in 0..40 {
                    let packet = queued(frame(0, 1, self.codepoint, 1000), (ms - sojourn) * MS);
                    self.queue.backlog.push(packet);
                }
                let mut drops = Drops::default();
                let sent = self.queue.dequeue(Time(ms * MS), &mut drops);
                self.signals.extend(drops.drain().map(|_| ms));
                if ecn::is_marked(&sent.expect("a packet of forty").packet) {
                    self.signals.push(ms);
                }
            }
        }

        fn whole_course(&mut self) {
            self.standing(1000..2400, 20);
            self.standing(2400..2420, 1);
            self.standing(2420..3200, 20);
            self.standing(3200..3210, 2);
            self.standing(3210..3500, 30);
        }
    }

    /// Drops of the kernel's own functions in this scenario, in ms: `codel_impl.h` of Linux 6.1,
    /// compiled as a user-space program with a simulated clock.
    const KERNEL: &[u64] = &[
        1101, 1201, 1251, 1308, 1357, 1401, 1441, 1479, 1514, 1547, 1578, 1608, 1637, 1665, 1692,
        1717, 1742, 1767, 1790, 1813, 1835, 1857, 1878, 1899, 1920, 1940, 1959, 1979, 1997, 2016,
        2034, 2052, 2070, 2087, 2104, 2121, 2138, 2154, 2171, 2187, 2202, 2218, 2233, 2249, 2264,
        2279, 2293, 2308, 2322, 2337, 2351, 2365, 2379, 2392, 2521, 2535, 2549, 2562, 2576, 2589,
        2602, 2615, 2628, 2641, 2653, 2666, 2679, 2691, 2703, 2715, 2728, 2740, 2752, 2763, 2775,
        2787, 2799, 2810, 2822, 2833, 2844, 2856, 2867, 2878, 2889, 2900, 2911, 2922, 2932, 2943,
        2954, 2964, 2975, 2985, 2996, 3006, 3016, 3027, 3037, 3047, 3057, 3067, 3077, 3087, 3097,
        3107, 3117, 3127, 3136, 3146, 3156, 3165, 3175, 3184, 3194, 3311, 3323, 3336, 3348, 3361,
        3374, 3386, 3398, 3410, 3423, 3435, 3447, 3458, 3470, 3482, 3494,
    ];

    #[test]
    fn drops_come_when_the_kernels_own_code_makes_them() {
        let mut bench = Bench::new(NOT_ECT);
        bench.whole_course();
        assert_eq!(bench.signals, KERNEL);
        let state = bench.queue.state;
        assert_eq!((state.count, state.lastcount, state.rec_inv_sqrt), (75, 60, 7566));
        assert_eq!(state.drop_next, 3_422_455);
    }

    #[test]
    fn marks_come_when_drops_would() {
        let mut bench = Bench::new(ECT0);
        bench.whole_course();
        assert_eq!(bench.signals, KERNEL);
        assert_eq!((bench.queue.stats.ecn_mark, bench.queue.stats.drop_count), (131, 0));
    }

    #[test]
    fn newton_steps_approach_the_square_root() {
        // x' = x (3 - n x^2) / 2 by hand, from x = 65535/65536 at n = 1, in 2^-16:
        //   n = 2: (65535/65536) (3 - 2 (65535/65536)^2) / 2 = 0.500023 -> 32769
        //   n = 3: 0.500015 (3 - 3 * 0.250015) / 2 = 0.562503 -> 36864
        //   n = 4: 0.562500 (3 - 4 * 0.316406) / 2 = 0.487793 -> 31968
        let mut state = State { count: 1, rec_inv_sqrt: u16::MAX, ..State::default() };
        for expected in [32_769, 36_864, 31_968] {
            state.count += 1;
            state.newton_step();
            assert_eq!(state.rec_inv_sqrt, expected, "count {}", state.count);
        }
        for count in 5..100_000 {
            state.count = count;
            state.newton_step();
            let exact = 65_536.0 / f64::from(count).sqrt();
            let error = (f64::from(state.rec_inv_sqrt) - exact).abs();
            // 16 bits are few for large counts: the step's own cuts lose up to a few units.
            assert!(count < 8 || error <= 0.01 * exact + 4.0, "count {count}: off by {error}");
        }
    }

    #[test]
    fn the_thousand_and_first_packet_is_refused() {
        let (mut queue, mut drops) = (CodelLinux::default(), Drops::default());
        for id in 0..1001 {
            queue.enqueue(Time::ZERO, queued(frame(id, 1, NOT_ECT, 100), 0), &mut drops);
        }
        assert_eq!((queue.packets(), queue.stats.drop_overlimit), (1000, 1));
        assert!(
            drops
                .drain()
                .all(|(packet, kind)| { kind == DropKind::Tail && packet.packet.id.0 == 1000 })
        );
    }

    #[test]
    fn ce_threshold_marks_what_waited_longer() {
        let params = Params { ce_threshold: Some(ticks(Time(MS))), ..Params::default() };
        let (mut queue, mut drops) = (CodelLinux::new(params), Drops::default());
        for id in 0..2 {
            queue.enqueue(Time::ZERO, queued(frame(id, 1, ECT0, 100), 0), &mut drops);
        }
        let at_threshold = queue.dequeue(Time(MS), &mut drops).unwrap();
        let beyond = queue.dequeue(Time(MS + 2048), &mut drops).unwrap();
        assert!(!ecn::is_marked(&at_threshold.packet) && ecn::is_marked(&beyond.packet));
        assert_eq!((queue.stats.ce_mark, queue.stats.ecn_mark), (1, 0));
    }

    #[test]
    fn the_clock_may_wrap() {
        // 2^32 ticks are 4398 s; a drop state across that instant goes on as any other.
        let start = ((1u64 << 42) / MS) - 1500;
        let mut bench = Bench::new(NOT_ECT);
        bench.standing(start..start + 2000, 20);
        let mut early = Bench::new(NOT_ECT);
        early.standing(1000..3000, 20);
        let shifted = bench.signals.iter().map(|ms| ms - start);
        let differences = shifted.zip(&early.signals).map(|(a, b)| a.abs_diff(b - 1000));
        // Ticks and milliseconds fall differently, so a drop may move to the next dequeue.
        assert!(differences.max() <= Some(1));
        assert_eq!(bench.signals.len(), early.signals.len());
    }
}
