//! The round-trip time and the retransmission timeout that follows from it (RFC 6298).

use sojourn_packet::Time;

/// The timeout before the first measurement (RFC 6298 section 2.1).
pub(crate) const INITIAL_RTO: Time = Time::from_secs(1);
/// The longest timeout, backed off or not (Linux; RFC 6298 section 2.5 asks for 60 s or more).
pub(crate) const MAX_RTO: Time = Time::from_secs(120);

/// Smoothed round-trip time and its variation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RttEstimator {
    min_rto: Time,
    srtt: Option<Time>,
    rttvar: Time,
    min: Time,
}

impl RttEstimator {
    /// Nothing measured; `min_rto` is the least distance of the timeout from the smoothed RTT.
    pub fn new(min_rto: Time) -> RttEstimator {
        RttEstimator { min_rto, srtt: None, rttvar: Time::ZERO, min: Time::MAX }
    }

    /// Takes one measurement (RFC 6298 sections 2.2 and 2.3, in integers).
    pub fn sample(&mut self, rtt: Time) {
        self.min = self.min.min(rtt);
        match self.srtt {
            None => {
                self.srtt = Some(rtt);
                self.rttvar = Time(rtt.0 / 2);
            }
            Some(srtt) => {
                self.rttvar = Time((3 * self.rttvar.0 + srtt.0.abs_diff(rtt.0)) / 4);
                self.srtt = Some(Time((7 * srtt.0 + rtt.0) / 8));
            }
        }
    }

    /// The smoothed round-trip time; zero before the first measurement.
    pub fn srtt(&self) -> Time {
        self.srtt.unwrap_or(Time::ZERO)
    }

    /// The least round-trip time measured; [`Time::MAX`] before the first measurement.
    pub fn min(&self) -> Time {
        self.min
    }

    /// The timeout, not backed off.
    pub fn rto(&self) -> Time {
        match self.srtt {
            None => INITIAL_RTO,
            Some(srtt) => (srtt + Time(4 * self.rttvar.0).max(self.min_rto)).min(MAX_RTO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn the_first_measurement_sets_the_mean_and_half_of_it_as_variation() {
        let mut rtt = RttEstimator::new(MS(200));
        assert_eq!(rtt.rto(), Time::from_secs(1));
        rtt.sample(MS(400));
        assert_eq!(rtt.srtt(), MS(400));
        assert_eq!(rtt.rto(), MS(400 + 4 * 200));
    }

    #[test]
    fn later_measurements_move_the_mean_by_an_eighth_and_the_variation_by_a_quarter() {
        let mut rtt = RttEstimator::new(MS(0));
        rtt.sample(MS(80));
        rtt.sample(MS(160));
        assert_eq!(rtt.srtt(), MS(90));
        assert_eq!(rtt.rto(), MS(90 + 4 * 50));
    }

    #[test]
    fn a_steady_path_leaves_the_timeout_200_ms_above_the_mean() {
        let mut rtt = RttEstimator::new(MS(200));
        (0..200).for_each(|_| rtt.sample(MS(30)));
        assert_eq!(rtt.rto(), MS(230));
    }
}
