//! Datagrams of one size at one rate, each at its exact instant.

use sojourn_packet::{Bytes, Time};

/// A source of equally spaced datagrams.
#[derive(Clone, Debug)]
pub(crate) struct ConstantRate {
    start: Time,
    stop: Option<Time>,
    /// bit/s over whole frames.
    rate: u64,
    frame: Bytes,
    sent: u64,
}

impl ConstantRate {
    /// Frames of `frame` bytes at `rate` bit/s from `start` until before `stop`.
    pub(crate) fn new(start: Time, stop: Option<Time>, rate: u64, frame: Bytes) -> ConstantRate {
        ConstantRate { start, stop, rate, frame, sent: 0 }
    }

    /// A frame each `interval` from `start` until before `stop`.
    pub(crate) fn spaced(start: Time, stop: Option<Time>, interval: Time) -> ConstantRate {
        // A byte for each nanosecond, at 8 bits a nanosecond.
        ConstantRate::new(start, stop, 8_000_000_000, Bytes(interval.0))
    }

    /// Departure of frame `n`: after the time of `n` frames, rounded down once, so that there is no
    /// drift.
    pub(crate) fn departure(&self, n: u64) -> Time {
        let bits = u128::from(n) * u128::from(self.frame.0) * 8;
        let elapsed = bits * 1_000_000_000 / u128::from(self.rate);
        self.start + Time(elapsed as u64)
    }

    /// Departure of the next frame.
    pub(crate) fn next_departure(&self) -> Option<Time> {
        let at = self.departure(self.sent);
        self.stop.is_none_or(|stop| at < stop).then_some(at)
    }

    /// True if a frame leaves at `now`; it counts as sent.
    pub(crate) fn poll(&mut self, now: Time) -> bool {
        let due = self.next_departure().is_some_and(|at| at <= now);
        self.sent += u64::from(due);
        due
    }

    /// Frames sent.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spacing_is_exact_over_any_number_of_frames() {
        // 1500 bytes at 7 Mbit/s are 1,714,285.714... ns.
        let mut source = ConstantRate::new(Time(5), None, 7_000_000, Bytes(1500));
        for n in 0..7_000u64 {
            let at = source.next_departure().unwrap();
            assert_eq!(at, Time(5 + n * 12_000_000_000 / 7_000));
            assert!(!source.poll(Time(at.0 - 1)));
            assert!(source.poll(at));
        }
        assert_eq!(source.next_departure(), Some(Time(12_000_000_005)));
    }

    #[test]
    fn an_interval_is_kept_exactly() {
        let source = ConstantRate::spaced(Time(7), None, Time(20_000_001));
        assert_eq!(source.departure(1_000), Time(7 + 20_000_001_000));
    }

    #[test]
    fn nothing_leaves_at_or_after_the_stop() {
        let mut source =
            ConstantRate::new(Time::ZERO, Some(Time(2_000_000)), 8_000_000, Bytes(1000));
        assert!(source.poll(Time::ZERO) && source.poll(Time(1_000_000)));
        assert_eq!(source.next_departure(), None);
        assert_eq!(source.sent(), 2);
    }
}
