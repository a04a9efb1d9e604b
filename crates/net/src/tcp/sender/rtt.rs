//! Length of the retransmission timeout (RTO, RFC 6298), from the smoothed round-trip time and its
//! variation.
//!
//! The estimate of the variation is Linux's: it rises at once, falls once a round trip, and is never
//! below 200 ms. That is the least distance between mean and timeout; RFC 6298 section 2.4 requires
//! 1 s of the whole timeout instead.

use crate::tcp::Hz;
use crate::tcp::minmax::WindowedMin;
use sojourn_packet::Time;

/// The timeout before the first measurement (RFC 6298 section 2.1).
pub(crate) const INITIAL_RTO: Time = Time::from_secs(1);
/// The timeout for data after a handshake that measured nothing (RFC 6298 section 5.7).
const UNMEASURED_RTO: Time = Time::from_secs(3);
/// The longest timeout, backed off or not (Linux; RFC 6298 section 2.5 asks for 60 s or more).
pub(crate) const MAX_RTO: Time = Time::from_secs(120);
/// For how long the least round-trip time is remembered.
const MIN_RTT_WINDOW: Time = Time::from_secs(300);

/// Smoothed round-trip time and its variation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RttEstimator {
    hz: Hz,
    min_rto: Time,
    srtt: Option<Time>,
    /// Four times the mean deviation, the greatest of this round trip, and what counts of it.
    deviation: Time,
    greatest: Time,
    variation: Time,
    /// The timeout that follows.
    rto: Time,
    /// The round trip ends when something behind this offset is acknowledged.
    round_end: u64,
    min: WindowedMin,
}

impl RttEstimator {
    /// Nothing measured; `min_rto` is the least distance of the timeout from the smoothed RTT, rounded
    /// up to ticks as the kernel keeps it.
    pub fn new(hz: Hz, min_rto: Time) -> RttEstimator {
        RttEstimator {
            hz,
            min_rto: hz.kept(min_rto),
            srtt: None,
            deviation: Time::ZERO,
            greatest: Time::ZERO,
            variation: Time::ZERO,
            rto: INITIAL_RTO,
            round_end: 0,
            min: WindowedMin::new(0, u64::MAX),
        }
    }

    /// The handshake was repeated and measured nothing.
    pub(crate) fn distrust(&mut self) {
        self.rto = UNMEASURED_RTO;
    }

    /// Takes one measurement: `rtt` of the oldest segment, for the timeout; `una` and `next` are
    /// the oldest offset not acknowledged and the next to be sent.
    pub fn sample(&mut self, rtt: Time, una: u64, next: u64) {
        self.smooth(rtt, una, next);
        let srtt = self.srtt.unwrap_or(rtt);
        self.rto = self.hz.whole(srtt + self.variation).min(MAX_RTO);
    }

    fn smooth(&mut self, rtt: Time, una: u64, next: u64) {
        let Some(srtt) = self.srtt else {
            self.srtt = Some(rtt);
            self.deviation = Time(2 * rtt.0);
            self.variation = self.deviation.max(self.min_rto);
            self.greatest = self.variation;
            self.round_end = next;
            return;
        };
        self.deviate(srtt, rtt);
        self.srtt = Some(Time((7 * srtt.0 + rtt.0) / 8));
        self.greatest = self.greatest.max(self.deviation);
        self.variation = self.variation.max(self.greatest);
        if una > self.round_end {
            let fall = self.variation.saturating_sub(self.greatest);
            self.variation -= Time(fall.0 / 4);
            self.round_end = next;
            self.greatest = self.min_rto;
        }
    }

    /// RFC 6298's 3/4 and 1/4; a shorter round trip raises the deviation by an eighth of that.
    fn deviate(&mut self, srtt: Time, rtt: Time) {
        let error = srtt.0.abs_diff(rtt.0);
        let mean = self.deviation.0 / 4;
        if error <= mean {
            self.deviation -= Time(mean - error);
        } else if rtt < srtt {
            self.deviation += Time((error - mean) / 8);
        } else {
            self.deviation += Time(error - mean);
        }
    }

    /// Takes a round-trip time, of the newest segment, for the least.
    pub(crate) fn see_min(&mut self, now: Time, rtt: Time) {
        self.min.see(MIN_RTT_WINDOW.0, now.0, rtt.0);
    }

    /// The smoothed round-trip time; zero before the first measurement.
    pub fn srtt(&self) -> Time {
        self.measured().unwrap_or(Time::ZERO)
    }

    /// The smoothed round-trip time, if one was measured.
    pub fn measured(&self) -> Option<Time> {
        self.srtt
    }

    /// The least round-trip time of the last five minutes; [`Time::MAX`] before the first.
    pub fn min(&self) -> Time {
        Time(self.min.get())
    }

    /// The least distance of the timeout from the smoothed round-trip time.
    pub(crate) fn min_rto(&self) -> Time {
        self.min_rto
    }

    /// The timeout, not backed off: a whole number of ticks.
    pub fn rto(&self) -> Time {
        self.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn the_first_measurement_sets_the_mean_and_twice_it_as_variation() {
        // RFC 6298 section 2.2: 4 * RTTVAR = 4 * R / 2.
        let mut rtt = RttEstimator::new(Hz::default(), MS(200));
        assert_eq!(rtt.rto(), Time::from_secs(1));
        rtt.sample(MS(400), 1, 1);
        assert_eq!(rtt.srtt(), MS(400));
        assert_eq!(rtt.rto(), MS(400 + 800));
    }

    #[test]
    fn a_longer_round_trip_moves_the_mean_by_an_eighth_and_the_deviation_by_a_quarter() {
        let mut rtt = RttEstimator::new(Hz::default(), MS(0));
        rtt.sample(MS(80), 1, 100);
        rtt.sample(MS(160), 2, 100);
        assert_eq!(rtt.srtt(), MS(90));
        // 3/4 of 160 ms and the error of 80 ms.
        assert_eq!(rtt.rto(), MS(90 + 120 + 80));
    }

    #[test]
    fn a_shorter_round_trip_raises_the_deviation_by_an_eighth_of_that() {
        let mut rtt = RttEstimator::new(Hz::default(), MS(0));
        rtt.sample(MS(100), 1, 100);
        rtt.sample(MS(20), 2, 100);
        // 200 ms and (80 - 50) / 8 ms; the mean has come down by 10 ms.
        assert_eq!(rtt.rto(), MS(294), "293.75 ms in whole ticks");
    }

    #[test]
    fn the_variation_falls_once_a_round_trip_by_a_quarter_and_never_below_200_ms() {
        let mut rtt = RttEstimator::new(Hz::default(), MS(200));
        rtt.sample(MS(400), 1, 10);
        for (una, next) in [(2, 20), (5, 20), (10, 20)] {
            rtt.sample(MS(400), una, next);
            assert_eq!(rtt.rto(), MS(400 + 800), "within the round trip");
        }
        rtt.sample(MS(400), 11, 20);
        assert_eq!(rtt.rto(), MS(400 + 800), "the greatest of the first round trip");
        rtt.sample(MS(400), 21, 30);
        assert!(rtt.rto() < MS(400 + 800) && rtt.rto() > MS(400 + 600));
        (3..200).for_each(|n| rtt.sample(MS(400), 10 * n + 1, 10 * n + 10));
        assert!(rtt.rto() <= MS(601), "{}", rtt.rto());
        assert!(rtt.rto() >= MS(600));
    }
}
