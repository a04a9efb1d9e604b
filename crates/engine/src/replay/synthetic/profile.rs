//! Load profiles of a synthetic queue: one for each condition that could upset an AQM.
//!
//! A profile is a sequence of phases, each with a load and a line rate in thousandths of the full
//! rate. Lengths are in hundredths of the AQM's INTERVAL: milliseconds at the default of 100 ms.
//! The only property of packets and queues that a profile uses is the target size of a queue in
//! bytes.

use oorandom::Rand64;
use serde::{Deserialize, Serialize};

/// The full rate, in the unit of phases.
pub(super) const FULL: u64 = 1_000;
/// Change of the load that holds the sojourn time at a level.
pub(super) const SWING: u64 = 100;

/// Load profile of a synthetic queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// A load a little below and above the line's rate: the sojourn time varies around TARGET.
    Wander,
    /// Bursts at ten times the rate on top of a busy line, then an idle period.
    Bursts,
    /// Overload, then silence for a hundredth of an INTERVAL to 41 INTERVALs.
    Gaps,
    /// The line's rate falls to as little as a twentieth and rises again; the load follows half an
    /// INTERVAL late.
    Rates,
    /// The line pauses for up to one and a half INTERVALs while packets wait.
    Pauses,
    /// The sojourn time stays near TARGET and crosses it repeatedly; occasionally it remains a
    /// little above for longer than an INTERVAL.
    Flicker,
    /// A permanent overload: no sender reacts.
    Flood,
    /// A flood through a line at a tenth of its rate, which occasionally has its full rate.
    SlowFlood,
    /// Small packets, with a queue of about four fifths of a full frame.
    SubMtu,
    /// Small packets, with a queue below and above a full frame in turn.
    AroundMtu,
}

/// Size of a full frame without FCS, bytes.
const FULL_FRAME: u64 = 1_514;

impl Profile {
    /// Whether all packets are small.
    pub(super) fn is_small(self) -> bool {
        matches!(self, Profile::SubMtu | Profile::AroundMtu)
    }
}

/// A period of constant load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    /// End of the phase, ps.
    pub until: u64,
    /// Offered load, thousandths of the full rate.
    pub load: u64,
    /// Rate of the line, thousandths of the full rate; not zero.
    pub service: u64,
    /// The load varies by [`SWING`] to hold the sojourn time here, ps.
    pub level: Option<u64>,
    /// The load varies by five times [`SWING`] to hold the queue at this size, bytes.
    pub backlog: Option<u64>,
    /// The line pauses throughout.
    pub pause: bool,
}

/// A profile with its current position.
#[derive(Debug)]
pub(super) struct Profiled {
    profile: Profile,
    step: u64,
    service: u64,
    /// A hundredth of the AQM's INTERVAL, ps.
    unit: u64,
    /// TARGET of the AQM, ps.
    target: u64,
}

impl Profiled {
    pub fn new(profile: Profile, interval: u64, target: u64) -> Profiled {
        let unit = (interval / 100).max(1);
        Profiled { profile, step: 0, service: FULL, unit, target }
    }

    /// The phase that begins at `now`.
    pub fn next(&mut self, now: u64, random: &mut Rand64) -> Phase {
        let step = self.step;
        self.step += 1;
        let (mut level, mut backlog, mut pause) = (None, None, false);
        let ms = self.unit;
        let mut between = |low: u64, high: u64| random.rand_range(low..high + 1);
        let (length, load) = match self.profile {
            Profile::Wander => {
                let loads = [600, 900, 980, 1_000, 1_020, 1_100, 1_300];
                (between(20 * ms, 800 * ms), loads[between(0, 6) as usize])
            }
            Profile::Bursts => match step % 3 {
                0 => (between(ms / 10, 3 * ms), 10_000),
                1 => (between(10 * ms, 500 * ms), between(980, 1_005)),
                _ => (between(ms, 60 * ms), between(300, 950)),
            },
            Profile::Gaps => match step % 2 {
                0 => (between(120 * ms, 700 * ms), between(1_050, 1_500)),
                _ => (between(1, 8) * between(1, 8) * between(1, 64) * ms, 0),
            },
            Profile::Rates => match step % 2 {
                0 => {
                    let before = self.service;
                    self.service = [1_000, 500, 200, 100, 50][between(0, 4) as usize];
                    (50 * ms, before)
                }
                _ => (between(100 * ms, 700 * ms), self.service * between(950, 1_200) / FULL),
            },
            Profile::Pauses => {
                pause = step % 2 == 1;
                level = Some(2 * self.target);
                (if pause { between(ms, 150 * ms) } else { between(50 * ms, 400 * ms) }, FULL)
            }
            Profile::Flicker => {
                let stays_above = step % 4 == 3;
                level = Some(self.target + if stays_above { ms / 10 } else { 0 });
                let longest = if stays_above { 400 * ms } else { 60 * ms };
                (between(longest / 4, longest), FULL)
            }
            Profile::Flood => (between(50 * ms, 400 * ms), between(2_000, 4_000)),
            Profile::SlowFlood => {
                let slow = step.is_multiple_of(2);
                self.service = if slow { FULL / 10 } else { FULL };
                let length = if slow { (10_000, 25_000) } else { (500, 3_000) };
                let overload = between(2_000, 4_000);
                (between(length.0 * ms, length.1 * ms), self.service * overload / FULL)
            }
            Profile::SubMtu => {
                backlog = Some(FULL_FRAME * 4 / 5);
                (100 * ms, FULL)
            }
            Profile::AroundMtu => {
                backlog = Some(FULL_FRAME * [8, 10, 13, 20][between(0, 3) as usize] / 10);
                (between(100 * ms, 700 * ms), FULL)
            }
        };
        Phase { until: now + length, load, service: self.service, level, backlog, pause }
    }
}
