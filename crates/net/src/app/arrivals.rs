//! Short transfers that arrive at random: when each begins, and how much it has to send.
//!
//! A Poisson process of arrivals or a log-normal one, sizes of any distribution. The rate of arrivals
//! is such that what they offer together is the load asked for.

use super::{RandomStream, Sizes};
use crate::config::{ArrivalProcess, TransfersFlow};
use sojourn_packet::Time;

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Time of its connection.
    pub(crate) at: Time,
    /// Bytes that it sends.
    pub(crate) size: u64,
}

/// The mean time between two arrivals that together offer `load` bit/s of payload.
pub(crate) fn interval(sizes: &Sizes, load: u64) -> Time {
    Time((sizes.mean() * 8e9 / load.max(1) as f64).max(1.0) as u64)
}

/// All arrivals from `start` until before `end`.
pub(crate) fn arrivals(
    mut draws: RandomStream,
    sizes: &Sizes,
    settings: &TransfersFlow,
    (start, end): (Time, Time),
) -> Vec<Arrival> {
    let interval = interval(sizes, settings.load);
    let mut found = Vec::new();
    let mut at = start;
    loop {
        let gap = match settings.arrivals {
            ArrivalProcess::Poisson => draws.exponential(interval),
            ArrivalProcess::Lognormal { sigma } => {
                draws.lognormal(interval, f64::from(sigma) / 1e3)
            }
        };
        at += gap.max(Time(1));
        if at >= end {
            return found;
        }
        found.push(Arrival { at, size: sizes.draw(&mut draws) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Pareto, StreamPurpose};

    fn settings(arrivals: serde_json::Value) -> TransfersFlow {
        let given = serde_json::json!({
            "load": 20_000_000, "min_size": 5_000, "max_size": 200_000, "rtt": 0,
            "arrivals": arrivals,
        });
        serde_json::from_value(given).expect("settings")
    }

    #[test]
    fn log_normal_arrivals_offer_the_load_in_bursts() {
        let sizes = Sizes::Pareto(Pareto { min: 5_000, max: 200_000, shape: 1.5 });
        let span = (Time::ZERO, Time::from_secs(600));
        let spread = |process| {
            let draws = RandomStream::new(7, 0, StreamPurpose::Traffic);
            let found = arrivals(draws, &sizes, &settings(process), span);
            let load = found.iter().map(|a| a.size * 8).sum::<u64>() / 600;
            assert!(load.abs_diff(20_000_000) < 2_000_000, "{load}");
            let gaps: Vec<f64> =
                found.windows(2).map(|two| (two[1].at - two[0].at).0 as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let squares = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>();
            (squares / gaps.len() as f64).sqrt() / mean
        };
        assert!((spread("poisson".into()) - 1.0).abs() < 0.05);
        // sqrt(exp(sigma^2) - 1) = 1.31 for sigma = 1.
        let lognormal = spread(serde_json::json!({"lognormal": {"sigma": 1_000}}));
        assert!((lognormal - 1.31).abs() < 0.15, "{lognormal}");
    }

    #[test]
    fn the_offered_load_equals_the_configured_load() {
        let sizes = Sizes::Pareto(Pareto { min: 5_000, max: 200_000, shape: 1.5 });
        let draws = RandomStream::new(7, 0, StreamPurpose::Traffic);
        let span = (Time::from_secs(10), Time::from_secs(610));
        let found = arrivals(draws, &sizes, &settings("poisson".into()), span);
        let load = found.iter().map(|a| a.size * 8).sum::<u64>() / 600;
        assert!(load.abs_diff(20_000_000) < 1_000_000, "{load}");
        assert!(found.iter().all(|a| a.at > span.0 && a.at < span.1));
        assert!(found.windows(2).all(|pair| pair[0].at < pair[1].at));
    }
}
