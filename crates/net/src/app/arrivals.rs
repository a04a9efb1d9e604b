//! Short transfers that arrive at random: when each begins, and how much it has to send.
//!
//! A Poisson process of arrivals, sizes of any distribution; the rate of arrivals is
//! such that what they offer together is the load asked for.

use super::{RandomStream, Sizes};
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
    load: u64,
    (start, end): (Time, Time),
) -> Vec<Arrival> {
    let interval = interval(sizes, load);
    let mut found = Vec::new();
    let mut at = start;
    loop {
        at += draws.exponential(interval).max(Time(1));
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

    #[test]
    fn what_arrives_is_the_load_asked_for() {
        let sizes = Sizes::Pareto(Pareto { min: 5_000, max: 200_000, shape: 1.5 });
        let draws = RandomStream::new(7, 0, StreamPurpose::Traffic);
        let span = (Time::from_secs(10), Time::from_secs(610));
        let found = arrivals(draws, &sizes, 20_000_000, span);
        let load = found.iter().map(|a| a.size * 8).sum::<u64>() / 600;
        assert!(load.abs_diff(20_000_000) < 1_000_000, "{load}");
        assert!(found.iter().all(|a| a.at > span.0 && a.at < span.1));
        assert!(found.windows(2).all(|pair| pair[0].at < pair[1].at));
    }
}
