//! Synthetic traces: one queue in front of a line, with a load that a profile varies.
//!
//! Packets arrive at random gaps, wait in one queue with a limit, and leave it in order at the
//! line's rate. All arithmetic is in whole picoseconds, so the same configuration gives the same
//! trace on every machine. No sender reacts and there is no AQM; must not depend on the use of a
//! trace.

mod profile;

pub use profile::Profile;

use super::trace::Dequeue;
use oorandom::Rand64;
use profile::{FULL, Phase, Profiled, SWING};
use serde::{Deserialize, Serialize};
use sojourn_net::ConfigError;
use sojourn_net::config::{invalid, within};
use sojourn_packet::{Bytes, Time};
use sojourn_switch::discipline::codel::Params;
use sojourn_switch::tm::serializer::{INTER_FRAME_GAP, wire_bytes};
use std::collections::VecDeque;

const PS: u64 = 1_000;
const ETHERNET: u32 = 14;
const FCS: u32 = 4;
const CELL: u32 = 80;
/// Lengths of IP packets and their relative frequencies: acknowledgements, the old minimum MTU,
/// Ethernet's, and jumbo frames.
const SIZES: [(u32, u64); 5] = [(40, 3), (576, 1), (1_500, 3), (4_000, 1), (9_000, 3)];
/// The same with small packets only: acknowledgements, calls and games.
const SMALL_SIZES: [(u32, u64); 3] = [(40, 2), (64, 4), (90, 2)];
/// Maximum number of packets in a train of one sender and one length.
const LONGEST_TRAIN: u64 = 16;

/// A synthetic trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyntheticConfig {
    /// Load over time.
    pub profile: Profile,
    /// Rate of the line, bit/s; a packet takes its time with preamble, FCS and gap.
    pub rate: u64,
    /// Duration, ns.
    pub duration: u64,
    /// Seed of gaps, sizes and the profile's draws.
    pub seed: u64,
    /// Arrival of the first packet, ns. By default 3.5 s, so that the clock's low 32 bits of
    /// nanoseconds, with which P4 programs compute, wrap in the trace's first second.
    #[serde(default = "default_start")]
    pub start: u64,
    /// INTERVAL of the AQM, ns, the unit of the profile's times. By default 100 ms.
    #[serde(default = "default_interval")]
    pub interval: u64,
    /// TARGET of the AQM, ns. The queue holds six times as much, and at least 90,140 bytes. By
    /// default 5 ms.
    #[serde(default = "default_target")]
    pub target: u64,
    /// Length of all IP packets; by default they are mixed, from 40 to 9,000 bytes.
    #[serde(default)]
    pub packet_size: Option<u32>,
}

fn default_start() -> u64 {
    3_500_000_000
}

fn default_interval() -> u64 {
    Params::default().interval.0
}

fn default_target() -> u64 {
    Params::default().target.0
}

/// Limit of the queue, in TARGETs.
const ROOM: u64 = 6;
/// Minimum limit of the queue, bytes: ten of the longest packets. On a slow line TARGET is less
/// than one.
const LEAST_ROOM: u128 = 90_140;

impl SyntheticConfig {
    /// Parses and validates a configuration in JSON.
    ///
    /// # Errors
    /// If it has another form, or a value out of range.
    pub fn from_json(text: &str) -> Result<SyntheticConfig, ConfigError> {
        let config: SyntheticConfig =
            serde_json::from_str(text).map_err(|error| ConfigError::Json(error.to_string()))?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        within("rate", self.rate, 1_000_000..=1_000_000_000_000)?;
        within("duration", self.duration, 1..=1_000_000_000_000)?;
        within("start", self.start, 0..=1_000_000_000_000)?;
        within("interval", self.interval, 100..=10_000_000_000)?;
        within("target", self.target, 1..=1_000_000_000)?;
        match self.packet_size {
            Some(size) if !(40..=9_000).contains(&size) => {
                Err(invalid("packet_size", size, "40 to 9000 bytes"))
            }
            _ => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    arrived: u64,
    size: u32,
}

impl Waiting {
    fn cells(self) -> u32 {
        (self.size + FCS).div_ceil(CELL)
    }
}

/// A synthetic trace as an iterator over its rows. Times in ps.
#[derive(Debug)]
pub struct Synthetic {
    config: SyntheticConfig,
    random: Rand64,
    profile: Profiled,
    phase: Phase,
    arrival: u64,
    end: u64,
    free: u64,
    train: (u32, u64),
    queue: VecDeque<Waiting>,
    room: u64,
    backlog: u64,
    cells: u32,
    /// Transmission time of the waiting packets, ps at the full rate.
    work: u64,
}

impl Synthetic {
    /// Creates a trace before its first row.
    ///
    /// # Errors
    /// If a value is out of range.
    pub fn new(config: SyntheticConfig) -> Result<Synthetic, ConfigError> {
        config.check()?;
        let start = config.start * PS;
        let mut random = Rand64::new(u128::from(config.seed));
        let mut profile = Profiled::new(config.profile, config.interval * PS, config.target * PS);
        let room = u128::from(ROOM * config.target) * u128::from(config.rate) / 8_000_000_000;
        let room = room.max(LEAST_ROOM);
        let mut trace = Synthetic {
            phase: profile.next(start, &mut random),
            arrival: start,
            end: start + config.duration * PS,
            free: start,
            train: (0, 0),
            queue: VecDeque::new(),
            room: room as u64,
            backlog: 0,
            cells: 0,
            work: 0,
            profile,
            random,
            config,
        };
        trace.enter_phase(start);
        Ok(trace)
    }

    /// Transmission time, ps, at `share` thousandths of the rate.
    fn service(&self, size: u32, share: u64) -> u64 {
        let bits = (wire_bytes(Bytes(u64::from(size))).0 + INTER_FRAME_GAP) * 8;
        let rate = u128::from(self.config.rate) * u128::from(share);
        (u128::from(bits) * 1_000_000_000_000 * u128::from(FULL) / rate) as u64
    }

    /// Advances to the phase at time `at` and the first arrival in it.
    fn enter_phase(&mut self, at: u64) {
        self.arrival = at;
        while self.phase.until <= self.arrival || self.phase.load == 0 {
            self.arrival = self.arrival.max(self.phase.until);
            self.phase = self.profile.next(self.arrival, &mut self.random);
            if self.phase.pause {
                self.free = self.free.max(self.phase.until);
            }
        }
    }

    /// Enqueues the packet that arrives now, if the queue has space, and draws the next one.
    fn arrive(&mut self) {
        let size = self.draw_size();
        if self.backlog + u64::from(size) <= self.room.max(u64::from(size)) {
            let packet = Waiting { arrived: self.arrival, size };
            self.backlog += u64::from(size);
            self.cells += packet.cells();
            self.work += self.service(size, FULL);
            self.queue.push_back(packet);
        }
        let mean = self.service(size, self.offered());
        let gap = self.random.rand_range(0..2 * mean + 1);
        self.enter_phase(self.arrival + gap);
    }

    /// Offered load of the phase now.
    fn offered(&self) -> u64 {
        let Phase { load, level, backlog, .. } = self.phase;
        if let Some(backlog) = backlog {
            return if self.backlog < backlog { load + 5 * SWING } else { load - 5 * SWING };
        }
        let Some(level) = level else { return load };
        let wait = self.free.saturating_sub(self.arrival) + self.work;
        if wait < level { load + SWING } else { load - SWING }
    }

    /// Length of the next frame, without FCS.
    fn draw_size(&mut self) -> u32 {
        if self.train.1 == 0 {
            let small = self.config.profile.is_small();
            let sizes = if small { SMALL_SIZES.as_slice() } else { SIZES.as_slice() };
            let all = sizes.iter().map(|(_, weight)| weight).sum();
            let mut draw = self.random.rand_range(0..all);
            for &(ip, weight) in sizes {
                if draw < weight {
                    self.train.0 = ip;
                    break;
                }
                draw -= weight;
            }
            self.train.1 = self.random.rand_range(1..LONGEST_TRAIN + 1);
        }
        self.train.1 -= 1;
        self.config.packet_size.unwrap_or(self.train.0) + ETHERNET
    }
}

impl Iterator for Synthetic {
    type Item = Dequeue;

    fn next(&mut self) -> Option<Dequeue> {
        // All packets that have arrived by the time the line is free for the head are in the queue
        // then.
        let at = loop {
            let at = self.queue.front().map(|head| self.free.max(head.arrived));
            match at {
                Some(at) if self.arrival > at => break at,
                _ if self.arrival >= self.end => break at?,
                _ => self.arrive(),
            }
        };
        let packet = self.queue.pop_front()?;
        self.backlog -= u64::from(packet.size);
        self.cells -= packet.cells();
        self.work -= self.service(packet.size, FULL);
        self.free = at + self.service(packet.size, self.phase.service);
        let (time, arrived) = (at.div_ceil(PS), packet.arrived.div_ceil(PS));
        (at < self.end).then_some(Dequeue {
            time: Time(time),
            sojourn: Time(time - arrived),
            backlog: Bytes(self.backlog),
            cells: self.cells,
            packets: self.queue.len() as u32,
            size: packet.size,
        })
    }
}
