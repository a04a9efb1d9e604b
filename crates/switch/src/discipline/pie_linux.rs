//! PIE as Linux 6.1 has it (`net/sched/sch_pie.c`), without its estimator of the departure rate.
//!
//! The kernel's PIE and RFC 8033's differ in what one can measure, so both are here:
//! - above 250 ms each update adds 2 % to the probability, whatever the controller says;
//! - the probability is a 64-bit number of which one is 2^56: it is cut only where 64 bits end, so
//!   after a long overload it is far above one, drops everything and takes long to come back;
//! - drops are always kept apart (section 5.4), and a packet refused for the limit counts as a drop;
//! - "the latency is low" looks at the packet dequeued last, not at the last update;
//! - the burst allowance is spent by dequeues, and two idle updates take 1/64, not 2 %;
//! - time is counted in ticks of 64 ns, gains in sixteenths of 1 Hz; 1000 packets are the limit.
//!
//! It depends on enqueue times, and must not depend on the rate at which it drains.

use super::pi2::Periodic;
use super::probability::Dice;
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, ECN, FULL_FRAME, Kind, LIMIT_BYTES,
    LONGEST, Limits, Parameter, QueueLength, Queued, Registered, SEED, Settings,
};
use crate::ecn;
use sojourn_packet::{Bytes, Time};

const TARGET: Time = Time::from_millis(15);
const T_UPDATE: Time = Time::from_millis(15);
const LIMIT: u64 = 1000;
/// 2/16 Hz and 20/16 Hz.
const ALPHA: u64 = 125;
const BETA: u64 = 1250;
/// A probability of one.
const MAX_PROB: u64 = u64::MAX >> 8;
const TICKS_PER_SECOND: u64 = 1_000_000_000 >> 6;
const BURST: u64 = ticks(Time::from_millis(150));
const STEEP: u64 = ticks(Time::from_millis(250));

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "pie_linux",
    summary: "Linux's PIE: steeper above 250 ms, a probability that may exceed one",
    parameters: &[
        Parameter::new("qdelay_ref", Kind::Time, TARGET.0, "latency to settle at (target)"),
        Parameter::new("t_update", Kind::Time, T_UPDATE.0, "time between two updates (tupdate)"),
        Parameter::new(
            "alpha",
            Kind::Frequency,
            ALPHA,
            "weight of the latency's distance from qdelay_ref",
        ),
        Parameter::new("beta", Kind::Frequency, BETA, "weight of the latency's change"),
        Parameter::new(
            "mtu",
            Kind::Size,
            FULL_FRAME.0,
            "nothing is dropped while less than two of these are queued",
        ),
        ECN,
        LIMIT_BYTES,
        Parameter::new("limit_packets", Kind::Packets, LIMIT, "most packets held"),
        SEED,
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let (alpha, beta) = settings.gains()?;
    let params = Params {
        target: ticks(settings.time("qdelay_ref")?),
        t_update: settings.within("t_update", 1_000..=LONGEST.0).map(Time)?,
        gains: (sixteenths(alpha), sixteenths(beta)),
        mtu: Bytes(settings.within("mtu", 0..=1 << 20)?),
        ecn: settings.switch("ecn")?,
        limits: settings.limits()?,
    };
    Ok(Box::new(PieLinux::new(params, settings.get("seed").unwrap_or_default())))
}

/// The kernel's clock for PIE: 64 ns a tick.
const fn ticks(time: Time) -> u64 {
    time.0 >> 6
}

/// A gain as `tc` takes it.
fn sixteenths(millihertz: u64) -> u64 {
    (millihertz * 16 + 500) / 1000
}

/// Parameters; the target in ticks of 64 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The latency to settle at. Default 15 ms.
    pub target: u64,
    /// Time between two updates. Default 15 ms; the kernel rounds it to its own ticks.
    pub t_update: Time,
    /// alpha and beta in sixteenths of 1 Hz. Defaults 2 and 20.
    pub gains: (u64, u64),
    /// Nothing is dropped while less than two of these are queued. Default 1514 bytes.
    pub mtu: Bytes,
    /// Mark instead of dropping while the probability is at most 10 %. Default: off.
    pub ecn: bool,
    /// Limits of the queue. Default 1000 packets.
    pub limits: Limits,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            target: ticks(TARGET),
            t_update: T_UPDATE,
            gains: (sixteenths(ALPHA), sixteenths(BETA)),
            mtu: FULL_FRAME,
            ecn: false,
            limits: Limits { packets: Some(LIMIT), bytes: None },
        }
    }
}

/// State, names as in the kernel; times in ticks, probabilities in 2^-56.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Latency of the packet dequeued last; zero if it left nothing behind.
    pub qdelay: u64,
    /// Latency at the last update.
    pub qdelay_old: u64,
    /// Remaining burst allowance.
    pub burst_time: u64,
    /// Time of the last dequeue, if known.
    pub dq_tstamp: Option<u64>,
    /// Probability with which a packet is dropped on arrival.
    pub prob: u64,
    /// Probability accumulated since the last drop.
    pub accu_prob: u64,
}

impl Default for State {
    fn default() -> State {
        State {
            qdelay: 0,
            qdelay_old: 0,
            burst_time: BURST,
            dq_tstamp: None,
            prob: 0,
            accu_prob: 0,
        }
    }
}

impl State {
    /// `pie_drop_early`: whether a packet that arrives is dropped; `thrown` is a random number of
    /// 56 bits.
    fn drop_early(&mut self, params: &Params, backlog: Bytes, thrown: u64) -> bool {
        let is_calm = self.qdelay < params.target / 2 && self.prob < MAX_PROB / 5;
        if self.burst_time > 0 || is_calm || backlog.0 < 2 * params.mtu.0 {
            return false;
        }
        self.accu_prob = if self.prob == 0 { 0 } else { self.accu_prob.wrapping_add(self.prob) };
        if self.accu_prob < MAX_PROB / 100 * 85 {
            return false;
        }
        if self.accu_prob >= MAX_PROB / 2 * 17 {
            return true;
        }
        let hit = thrown < self.prob;
        if hit {
            self.accu_prob = 0;
        }
        hit
    }

    /// `pie_process_dequeue`: a packet that came at `enqueued` leaves `backlog` behind.
    fn process_dequeue(&mut self, now: u64, enqueued: u64, backlog: Bytes) {
        self.qdelay = if backlog.0 > 0 { now.saturating_sub(enqueued) } else { 0 };
        let since = self.dq_tstamp.map_or(0, |before| now.saturating_sub(before));
        self.dq_tstamp = Some(now);
        self.burst_time = self.burst_time.saturating_sub(since);
    }

    /// `pie_calculate_probability`, each `t_update`.
    fn calculate_probability(&mut self, params: &Params, backlog: Bytes) {
        let (qdelay, qdelay_old) = (self.qdelay, self.qdelay_old);
        let before = self.prob;
        let delta = self.change(params);
        self.prob = before.wrapping_add_signed(delta);
        let mut overflown = false;
        if delta > 0 && self.prob < before {
            self.prob = MAX_PROB;
            overflown = true;
        } else if delta <= 0 && self.prob > before {
            self.prob = 0;
        }
        // A latency of zero with packets queued only means that they are few.
        if qdelay == 0 && qdelay_old == 0 && backlog.0 == 0 && !overflown {
            self.prob -= self.prob / 64;
        }
        let is_low = |delay: u64| delay < params.target / 2;
        if is_low(qdelay) && is_low(qdelay_old) && self.prob == 0 {
            (self.burst_time, self.dq_tstamp, self.accu_prob) = (BURST, None, 0);
        }
        self.qdelay_old = qdelay;
    }

    /// Change of the probability in an update.
    fn change(&self, params: &Params) -> i64 {
        let gain = |sixteenths: u64| (sixteenths * (MAX_PROB / TICKS_PER_SECOND)) >> 4;
        let shift = gain_shift(self.prob);
        // Latencies of hours would wrap, in the kernel as here.
        let product =
            |gain: u64, of: u64, less: u64| (gain >> shift).wrapping_mul(of.wrapping_sub(less));
        let proportional = product(gain(params.gains.0), self.qdelay, params.target);
        let differential = product(gain(params.gains.1), self.qdelay, self.qdelay_old);
        let mut delta = proportional.wrapping_add(differential) as i64;
        if delta > (MAX_PROB / 50) as i64 && self.prob >= MAX_PROB / 10 {
            delta = (MAX_PROB / 100 * 2) as i64;
        }
        if self.qdelay > STEEP {
            delta = delta.wrapping_add((MAX_PROB / 50) as i64);
        }
        delta
    }
}

/// By how many bits both gains are smaller while the probability is low: RFC 8033's table.
fn gain_shift(prob: u64) -> u32 {
    if prob >= MAX_PROB / 10 {
        return 0;
    }
    let mut shift = 1;
    let mut power = 100;
    while power <= 1_000_000 && prob < MAX_PROB / power {
        shift += 2;
        power *= 10;
    }
    shift
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets dropped by the controller.
    pub drops: u64,
    /// Packets marked instead.
    pub ecn_mark: u64,
    /// Packets refused for a limit.
    pub overlimit: u64,
}

/// A queue managed by the kernel's PIE.
#[derive(Debug)]
pub struct PieLinux {
    params: Params,
    state: State,
    stats: Stats,
    update: Periodic,
    dice: Dice,
    backlog: Backlog,
}

impl PieLinux {
    /// An empty queue; the first update is one `t_update` after time zero.
    pub fn new(params: Params, seed: u64) -> PieLinux {
        PieLinux {
            params,
            state: State::default(),
            stats: Stats::default(),
            update: Periodic::new(params.t_update),
            dice: Dice::new(seed),
            backlog: Backlog::default(),
        }
    }

    fn update_until(&mut self, now: Time) {
        while self.update.due(now).is_some() {
            self.state.calculate_probability(&self.params, self.backlog.bytes());
            if self.backlog.is_empty() && self.is_at_rest() {
                self.update.skip(now);
            }
        }
    }

    /// Further updates of an empty queue would change nothing.
    fn is_at_rest(&self) -> bool {
        (self.state.prob, self.state.qdelay, self.state.qdelay_old) == (0, 0, 0)
    }

    fn marked(&mut self, packet: &mut Queued) -> bool {
        let may = self.params.ecn && self.state.prob <= MAX_PROB / 10;
        may && ecn::mark(&mut packet.packet)
    }
}

impl Discipline for PieLinux {
    fn enqueue(&mut self, now: Time, mut packet: Queued, drops: &mut Drops) {
        self.update_until(now);
        if !self.params.limits.have_room(self.length(), packet.size()) {
            self.stats.overlimit += 1;
            self.state.accu_prob = 0;
            return drops.push(packet, DropKind::Tail);
        }
        let thrown = self.dice.throw() >> 4;
        if self.state.drop_early(&self.params, self.backlog.bytes(), thrown) {
            if !self.marked(&mut packet) {
                self.stats.drops += 1;
                self.state.accu_prob = 0;
                return drops.push(packet, DropKind::Aqm);
            }
            self.stats.ecn_mark += 1;
        }
        self.backlog.push(packet);
    }

    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Queued> {
        self.update_until(now);
        let packet = self.backlog.pop()?;
        self.state.process_dequeue(ticks(now), ticks(packet.enqueued), self.backlog.bytes());
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
            ("drops", self.stats.drops),
            ("ecn_mark", self.stats.ecn_mark),
            ("overlimit", self.stats.overlimit),
        ]
    }
}

#[cfg(test)]
#[path = "pie_linux_tests.rs"]
mod tests;
