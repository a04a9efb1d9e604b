//! Random Early Detection: S. Floyd and V. Jacobson, "Random Early Detection Gateways for
//! Congestion Avoidance", IEEE/ACM Transactions on Networking 1(4), 1993, figure 2.
//!
//! With the gentle variant (S. Floyd, "Recommendation on using the gentle_ variant of RED", 2000)
//! and, with `ecn`, marking by RFC 3168 section 7: above the upper threshold packets are dropped
//! nevertheless, unless `harddrop` is off, as it is in Linux. Parameters have the paper's names and
//! defaults. RED decides on arrival, from the average queue size before the packet. It must not
//! depend on the rate at which it drains, so the transmission time for the idle correction is a
//! parameter.

use super::probability::{Dice, Probability};
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, ECN, FULL_FRAME, Kind, LIMIT_BYTES,
    LIMIT_PACKETS, LONGEST, Limits, Parameter, QueueLength, Queued, Registered, SEED, Settings,
};
use crate::ecn;
use sojourn_packet::{Bytes, Time};

const W_Q: u64 = 2_000;
const MIN_TH: u64 = 5;
const MAX_TH: u64 = 15;
const MAX_P: u64 = 20_000;
/// Packets that a threshold may be.
const HIGHEST: u64 = 1_000_000;
/// 1250 bytes at 100 Mbit/s.
const S: Time = Time::from_micros(100);

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "red",
    summary: "Floyd and Jacobson 1993: drops on arrival by the average queue size, gentle",
    parameters: &[
        Parameter::new("min_th", Kind::Packets, MIN_TH, "average below which nothing is dropped"),
        Parameter::new("max_th", Kind::Packets, MAX_TH, "average at which max_p is reached"),
        Parameter::new("max_p", Kind::Share, MAX_P, "drop probability at max_th"),
        Parameter::new("w_q", Kind::Share, W_Q, "weight of the queue size in its moving average"),
        Parameter::new(
            "s",
            Kind::Time,
            S.0,
            "transmission time of a typical packet, for idle times",
        ),
        Parameter::new(
            "idle",
            Kind::Flag,
            1,
            "lower the average for idle times by s; without, each arrival counts an empty queue",
        ),
        Parameter::new("gentle", Kind::Flag, 1, "rise from max_p to 1 up to twice max_th"),
        Parameter::new(
            "bytes",
            Kind::Flag,
            0,
            "count bytes: thresholds are full packets, odds go by size",
        ),
        Parameter::new(
            "packet_size",
            Kind::Size,
            FULL_FRAME.0,
            "a full packet, if bytes are counted",
        ),
        ECN,
        Parameter::new(
            "harddrop",
            Kind::Flag,
            1,
            "with ecn, drop above the upper threshold; without, mark there, too",
        ),
        LIMIT_BYTES,
        LIMIT_PACKETS,
        SEED,
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let min_th = settings.within("min_th", 0..=HIGHEST - 1)?;
    let size = settings.within("packet_size", 1..=100_000)?;
    Ok(Box::new(Red::new(
        Params {
            min_th,
            max_th: settings.within("max_th", min_th + 1..=HIGHEST)?,
            max_p: Probability::from_ppm(settings.ppm("max_p")?),
            w_q: Probability::from_ppm(settings.within("w_q", 1..=1_000_000)?),
            s: Time(settings.within("s", 1..=LONGEST.0)?),
            idle: settings.switch("idle")?,
            gentle: settings.switch("gentle")?,
            packet_size: settings.switch("bytes")?.then_some(Bytes(size)),
            ecn: settings.switch("ecn")?,
            harddrop: settings.switch("harddrop")?,
            limits: settings.limits()?,
        },
        settings.get("seed").unwrap_or_default(),
    )))
}

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Average queue size in packets below which nothing is dropped. Default 5.
    pub min_th: u64,
    /// Average queue size in packets at which `max_p` is reached. Default 15.
    pub max_th: u64,
    /// Drop probability at `max_th`, not yet made uniform. Default 1/50.
    pub max_p: Probability,
    /// Weight of the queue size in its moving average. Default 0.002.
    pub w_q: Probability,
    /// Transmission time of a typical packet; an idle queue counts as if one such packet had found
    /// it empty each `s`. Default 100 us.
    pub s: Time,
    /// Applies the idle correction. Otherwise an arrival at an empty queue counts as any other, as
    /// in Linux's RED below a shaper: a class without packets is never dequeued. Default: on.
    pub idle: bool,
    /// Between `max_th` and its double the probability rises to one; otherwise everything is
    /// dropped there. Default: on.
    pub gentle: bool,
    /// Count bytes: thresholds are multiples of this size, and the probability goes by a packet's
    /// size divided by it. Default: off, packets are counted.
    pub packet_size: Option<Bytes>,
    /// Mark instead of dropping up to the upper threshold. Default: off.
    pub ecn: bool,
    /// Drop above the upper threshold all the same (RFC 3168 section 7). Default: on.
    pub harddrop: bool,
    /// Limits of the queue. Default: no limit.
    pub limits: Limits,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            min_th: MIN_TH,
            max_th: MAX_TH,
            max_p: Probability::from_ppm(MAX_P),
            w_q: Probability::from_ppm(W_Q),
            s: S,
            idle: true,
            gentle: true,
            packet_size: None,
            ecn: false,
            harddrop: true,
            limits: Limits::default(),
        }
    }
}

/// State.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Average queue size, packets or bytes, in 2^-32.
    pub avg: u64,
    /// Start of the idle time, while the queue is empty.
    pub q_time: Option<Time>,
    /// Packets since the last drop while the average is between the thresholds, the one under
    /// decision included; absent (the paper's -1) below.
    pub count: Option<u64>,
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Dropped at random, below the upper threshold.
    pub early_drops: u64,
    /// Marked: at random below the upper threshold, or above it.
    pub marks: u64,
    /// Dropped because the average was above the upper threshold.
    pub forced_drops: u64,
    /// Refused for a limit.
    pub over_limit: u64,
}

/// Decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Accept,
    Early,
    Forced,
}

/// A queue managed by RED.
#[derive(Debug)]
pub struct Red {
    params: Params,
    state: State,
    stats: Stats,
    dice: Dice,
    backlog: Backlog,
}

impl Red {
    /// An empty queue.
    pub fn new(params: Params, seed: u64) -> Red {
        let state = State { q_time: params.idle.then_some(Time::ZERO), ..State::default() };
        let (stats, backlog) = (Stats::default(), Backlog::default());
        Red { params, state, stats, dice: Dice::new(seed), backlog }
    }

    /// Queue size in 2^-32 of what is counted.
    fn size(&self) -> u64 {
        let counted = match self.params.packet_size {
            Some(_) => self.backlog.bytes().0,
            None => self.backlog.len() as u64,
        };
        counted.min(u64::from(u32::MAX)) << 32
    }

    /// The average as the arriving packet changes it: towards the queue size, or for an empty
    /// queue as if `m` small packets had come since it became empty. If this packet is dropped, the next
    /// one counts that time again: figure 2 sets `q_time` when the queue becomes empty, and only then.
    fn update_average(&mut self, now: Time) {
        let w_q = self.params.w_q;
        let share = |of: u64, p: Probability| ((u128::from(of) * u128::from(p.raw())) >> 60) as u64;
        self.state.avg = match self.state.q_time {
            Some(idle_since) => {
                let m = now.saturating_sub(idle_since).0 / self.params.s.0;
                share(self.state.avg, w_q.not().power(m))
            }
            None => {
                let (avg, size) = (self.state.avg, self.size());
                if size >= avg {
                    avg + share(size - avg, w_q)
                } else {
                    avg - share(avg - size, w_q)
                }
            }
        };
    }

    /// p_b: the probability at the present average; absent below `min_th`, one where nothing is
    /// left to chance.
    fn p_b(&self) -> Option<Probability> {
        let unit = u128::from(self.params.packet_size.map_or(1, |size| size.0)) << 32;
        let [min, max] = [self.params.min_th, self.params.max_th].map(|th| u128::from(th) * unit);
        let (avg, max_p) = (u128::from(self.state.avg), self.params.max_p);
        if avg < min {
            None
        } else if avg < max {
            Some(max_p.and(Probability::from_ratio(avg - min, max - min)))
        } else if self.params.gentle {
            let rise = max_p.not().and(Probability::from_ratio(avg - max, max));
            Some(if avg < 2 * max { max_p.plus(rise) } else { Probability::ONE })
        } else {
            Some(Probability::ONE)
        }
    }

    fn decide(&mut self, size: Bytes) -> Decision {
        let Some(mut p_b) = self.p_b() else {
            self.state.count = None;
            return Decision::Accept;
        };
        if p_b == Probability::ONE {
            self.state.count = Some(0);
            return Decision::Forced;
        }
        let count = self.state.count.map_or(0, |count| count + 1);
        self.state.count = Some(count);
        if let Some(full) = self.params.packet_size {
            p_b = p_b.and(Probability::from_ratio(size.0.into(), full.0.into()));
        }
        if self.hits(p_b, count) {
            self.state.count = Some(0);
            return Decision::Early;
        }
        Decision::Accept
    }

    /// True with probability p_a = p_b / (1 - count p_b), which makes the number of packets between
    /// two drops uniform. Cross-multiplied, so that nothing is divided.
    fn hits(&mut self, p_b: Probability, count: u64) -> bool {
        let thrown = u128::from(self.dice.throw());
        let left = p_b.times(count).not();
        thrown * u128::from(left.raw()) < u128::from(p_b.raw()) << 60
    }
}

impl Discipline for Red {
    fn enqueue(&mut self, now: Time, mut packet: Queued, drops: &mut Drops) {
        self.update_average(now);
        let decision = self.decide(packet.size());
        let spared = match decision {
            Decision::Accept => true,
            Decision::Early => self.params.ecn && ecn::mark(&mut packet.packet),
            Decision::Forced => {
                self.params.ecn && !self.params.harddrop && ecn::mark(&mut packet.packet)
            }
        };
        if spared && !self.params.limits.have_room(self.length(), packet.size()) {
            self.stats.over_limit += 1;
            drops.push(packet, DropKind::Tail);
            return;
        }
        match decision {
            Decision::Accept => {}
            Decision::Early | Decision::Forced if spared => self.stats.marks += 1,
            Decision::Early => self.stats.early_drops += 1,
            Decision::Forced => self.stats.forced_drops += 1,
        }
        if spared {
            self.state.q_time = None;
            self.backlog.push(packet);
        } else {
            drops.push(packet, DropKind::Aqm);
        }
    }

    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Queued> {
        let packet = self.backlog.pop()?;
        if self.params.idle && self.backlog.is_empty() {
            self.state.q_time = Some(now);
        }
        Some(packet)
    }

    fn reads_frames(&self) -> bool {
        false
    }

    fn marks(&self) -> bool {
        self.params.ecn
    }

    fn length(&self) -> QueueLength {
        self.backlog.length()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("early_drops", self.stats.early_drops),
            ("marks", self.stats.marks),
            ("forced_drops", self.stats.forced_drops),
            ("over_limit", self.stats.over_limit),
        ]
    }
}

#[cfg(test)]
#[path = "red_tests.rs"]
mod tests;
