//! How the load on a synthetic queue changes: one course for each thing that could upset an AQM.
//!
//! A profile is a sequence of phases, each with a load and a line rate in thousandths of the full
//! rate. It must not know packets or queues.

use oorandom::Rand64;
use serde::{Deserialize, Serialize};

/// The full rate, in the unit of phases.
pub(super) const FULL: u64 = 1_000;
const MS: u64 = 1_000_000_000;

/// What a synthetic queue goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// A load a little below and above the line's rate: the sojourn time wanders about TARGET.
    Wander,
    /// Bursts at ten times the rate on top of a busy line, then some air.
    Bursts,
    /// Overload, then silence for anything between a millisecond and four seconds.
    Gaps,
    /// The line's rate falls to as little as a twentieth and rises again; the load follows 50 ms late.
    Rates,
}

/// A stretch of time with one load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    /// When it ends, ps.
    pub until: u64,
    /// Offered load, thousandths of the full rate.
    pub load: u64,
    /// Rate of the line, thousandths of the full rate; not zero.
    pub service: u64,
}

/// A profile with its place in the course.
#[derive(Debug)]
pub(super) struct Profiled {
    profile: Profile,
    step: u64,
    service: u64,
}

impl Profiled {
    pub fn new(profile: Profile) -> Profiled {
        Profiled { profile, step: 0, service: FULL }
    }

    /// The phase that begins at `now`.
    pub fn next(&mut self, now: u64, random: &mut Rand64) -> Phase {
        let step = self.step;
        self.step += 1;
        let mut between = |low: u64, high: u64| random.rand_range(low..high + 1);
        let (length, load) = match self.profile {
            Profile::Wander => {
                let loads = [600, 900, 980, 1_000, 1_020, 1_100, 1_300];
                (between(20 * MS, 800 * MS), loads[between(0, 6) as usize])
            }
            Profile::Bursts => match step % 3 {
                0 => (between(MS / 10, 3 * MS), 10_000),
                1 => (between(10 * MS, 500 * MS), between(980, 1_005)),
                _ => (between(MS, 60 * MS), between(300, 950)),
            },
            Profile::Gaps => match step % 2 {
                0 => (between(120 * MS, 700 * MS), between(1_050, 1_500)),
                _ => (between(1, 8) * between(1, 8) * between(1, 64) * MS, 0),
            },
            Profile::Rates => match step % 2 {
                0 => {
                    let before = self.service;
                    self.service = [1_000, 500, 200, 100, 50][between(0, 4) as usize];
                    (50 * MS, before)
                }
                _ => (between(100 * MS, 700 * MS), self.service * between(950, 1_200) / FULL),
            },
        };
        Phase { until: now + length, load, service: self.service }
    }
}
