//! Detection of token-bucket policers (Flach et al., "An Internet-Wide Analysis of Traffic
//! Policing", SIGCOMM 2016): two intervals in a row with heavy losses and the
//! same throughput. If so BBR sends at that rate for a while instead of filling the bucket.

use super::bandwidth::Bandwidth;
use super::{Gain, UNIT};
use crate::tcp::congestion::Flow;
use crate::tcp::timestamp_clock::milliseconds;
use sojourn_packet::Time;

/// An interval has at least so many round trips, and at most four times as many.
const LEAST_ROUNDS: u32 = 4;
/// Lost per delivered that is heavy: about a fifth.
const HEAVY_LOSS: Gain = 50;
/// Two rates are the same if they differ by an eighth at most, or by 4 kbit/s.
const SAME_RATIO: Gain = UNIT / 8;
const SAME_DIFFERENCE: u64 = 500;
/// Round trips for which the rate is used.
const KEPT_ROUNDS: u32 = 48;

/// The long-term estimate of the rate.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    /// The rate of the last interval, and whether it is a policer's.
    rate: Option<Bandwidth>,
    policed: bool,
    /// Round trips of this interval, or since a policer was found.
    rounds: u32,
    /// Start of the interval.
    start: Time,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// The rate of the policer, if there is one.
    pub(super) fn rate(&self) -> Option<Bandwidth> {
        self.rate.filter(|_| self.policed)
    }

    /// Processes an acknowledgement that found `lost` segments lost; true if the rate was used long
    /// enough and the path must be probed again.
    pub(super) fn see(
        &mut self,
        flow: &Flow,
        round_start: bool,
        lost: u32,
        app_limited: bool,
        probing: bool,
    ) -> bool {
        if self.policed {
            self.rounds += u32::from(probing && round_start);
            let done = self.rounds >= KEPT_ROUNDS;
            if done {
                self.reset(flow);
            }
            return done;
        }
        // The first loss shows that the bucket is empty.
        if !self.sampling {
            if lost > 0 {
                self.begin_interval(flow);
                self.sampling = true;
            } else {
                return false;
            }
        }
        if app_limited {
            self.reset(flow);
            return false;
        }
        self.rounds += u32::from(round_start);
        if self.rounds > 4 * LEAST_ROUNDS {
            self.reset(flow);
        } else if self.rounds >= LEAST_ROUNDS && lost > 0 {
            self.end_interval(flow);
        }
        false
    }

    fn reset(&mut self, flow: &Flow) {
        *self = Policer::default();
        self.begin_interval(flow);
    }

    fn begin_interval(&mut self, flow: &Flow) {
        self.start = flow.delivered_at;
        self.delivered = flow.delivered;
        self.lost = flow.lost;
        self.rounds = 0;
    }

    fn end_interval(&mut self, flow: &Flow) {
        let lost = flow.lost - self.lost;
        let delivered = flow.delivered - self.delivered;
        // The kernel keeps the beginning in milliseconds.
        let interval = Time::from_millis(
            milliseconds(flow.delivered_at).saturating_sub(milliseconds(self.start)),
        );
        if delivered == 0 || lost * UNIT < HEAVY_LOSS * delivered || interval == Time::ZERO {
            return;
        }
        let rate = Bandwidth::new(delivered, interval);
        if let Some(before) = self.rate.filter(|before| same(rate, *before, flow.mss)) {
            self.rate = Some(Bandwidth(rate.0.midpoint(before.0)));
            self.policed = true;
            self.rounds = 0;
            return;
        }
        self.rate = Some(rate);
        self.begin_interval(flow);
    }
}

fn same(rate: Bandwidth, before: Bandwidth, mss: u32) -> bool {
    let difference = Bandwidth(rate.0.abs_diff(before.0));
    u128::from(difference.0) * u128::from(UNIT) <= u128::from(SAME_RATIO) * u128::from(before.0)
        || difference.pacing_rate(mss, UNIT) <= SAME_DIFFERENCE
}
