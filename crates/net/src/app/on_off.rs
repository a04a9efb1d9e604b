//! Datagrams at one rate for a while, then none for a while, again and again.
//!
//! Uses the source of constant rate, of which each burst is one. Spans are all of the same length
//! or exponentially distributed.

use super::{ConstantRate, RandomStream};
use sojourn_packet::{Bytes, Time};

/// Lengths of a source's on and off periods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spans {
    /// Length of the on period.
    pub(crate) on: Time,
    /// Length of the off period.
    pub(crate) off: Time,
    /// They are means of exponential distributions, not the spans themselves.
    pub(crate) exponential: bool,
}

/// A source that is on and off by turns, on at first.
#[derive(Clone, Debug)]
pub(crate) struct OnOff {
    spans: Spans,
    draws: RandomStream,
    stop: Option<Time>,
    rate: u64,
    frame: Bytes,
    burst: ConstantRate,
    /// End of the burst.
    end: Time,
    /// Frames of earlier bursts.
    sent: u64,
}

impl OnOff {
    /// Bursts of frames of `frame` bytes at `rate` bit/s from `start` until before `stop`.
    pub(crate) fn new(
        (start, stop): (Time, Option<Time>),
        rate: u64,
        frame: Bytes,
        spans: Spans,
        draws: RandomStream,
    ) -> OnOff {
        let burst = ConstantRate::new(start, Some(start), rate, frame);
        let mut source = OnOff { spans, draws, stop, rate, frame, burst, end: start, sent: 0 };
        source.begin(start);
        source
    }

    /// The next burst begins at `start`.
    fn begin(&mut self, start: Time) {
        self.sent += self.burst.sent();
        let on = self.span(self.spans.on);
        self.end = start + on;
        let end = self.stop.map_or(self.end, |stop| stop.min(self.end));
        self.burst = ConstantRate::new(start, Some(end), self.rate, self.frame);
    }

    fn span(&mut self, span: Time) -> Time {
        // Never nothing, so that time passes.
        let drawn = if self.spans.exponential { self.draws.exponential(span) } else { span };
        drawn.max(Time(1))
    }

    /// Departure of the next frame.
    pub(crate) fn next_departure(&self) -> Option<Time> {
        match self.burst.next_departure() {
            Some(at) => Some(at),
            // The end of the burst, where the next one is drawn.
            None => Some(self.end).filter(|end| self.stop.is_none_or(|stop| *end < stop)),
        }
    }

    /// True if a frame leaves at `now`; it counts as sent.
    pub(crate) fn poll(&mut self, now: Time) -> bool {
        while self.burst.next_departure().is_none() && self.end <= now {
            if self.stop.is_some_and(|stop| self.end >= stop) {
                return false;
            }
            let start = self.end + self.span(self.spans.off);
            self.begin(start);
        }
        self.burst.poll(now)
    }

    /// All bursts that begin before `until`: from when until before when each sends.
    pub(crate) fn bursts(mut self, until: Time) -> Vec<(Time, Time)> {
        let end = self.stop.map_or(until, |stop| stop.min(until));
        let mut found = Vec::new();
        let mut start = self.burst.departure(0);
        while start < end {
            found.push((start, self.stop.map_or(self.end, |stop| stop.min(self.end))));
            start = self.end + self.span(self.spans.off);
            self.begin(start);
        }
        found
    }

    /// Frames sent.
    pub(crate) fn sent(&self) -> u64 {
        self.sent + self.burst.sent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::StreamPurpose;

    fn source(exponential: bool, stop: Option<Time>) -> OnOff {
        let spans = Spans { on: Time::from_millis(10), off: Time::from_millis(30), exponential };
        let draws = RandomStream::new(1, 1, StreamPurpose::Traffic);
        // 1000 bytes at 8 Mbit/s: one each millisecond.
        OnOff::new((Time::ZERO, stop), 8_000_000, Bytes(1000), spans, draws)
    }

    /// The instants at which frames leave before `until`.
    fn departures(source: &mut OnOff, until: Time) -> Vec<u64> {
        let mut left = Vec::new();
        while let Some(at) = source.next_departure().filter(|at| *at < until) {
            while source.poll(at) {
                left.push(at.0);
            }
        }
        left
    }

    #[test]
    fn fixed_spans_repeat_exactly() {
        let left = departures(&mut source(false, None), Time::from_millis(90));
        let millis = |from: u64| (from..from + 10).map(|ms| ms * 1_000_000);
        let expected: Vec<u64> = [0, 40, 80].into_iter().flat_map(millis).collect();
        assert_eq!(left, expected);
    }

    #[test]
    fn exponential_spans_send_the_share_of_their_means() {
        let mut source = source(true, None);
        let count = departures(&mut source, Time::from_secs(400)).len() as u64;
        assert_eq!(count, source.sent());
        // A quarter of the time on. A burst's first frame leaves at once, so a burst of a drawn
        // length sends half a frame more than its length says, 1 in 20 here.
        assert!((98_000..=112_000).contains(&count), "{count}");
    }

    #[test]
    fn bursts_told_beforehand_are_those_in_which_frames_leave() {
        let until = Time::from_secs(3);
        for stop in [None, Some(Time::from_millis(1234))] {
            let drawn = source(true, stop).bursts(until);
            // A frame each millisecond from the beginning of a burst until before its end.
            let expected: Vec<u64> = drawn
                .iter()
                .flat_map(|(from, to)| (from.0..to.0).step_by(1_000_000))
                .filter(|at| *at < until.0)
                .collect();
            assert!(drawn.len() > 20, "{}", drawn.len());
            assert_eq!(departures(&mut source(true, stop), until), expected);
        }
    }

    #[test]
    fn nothing_leaves_at_or_after_the_stop() {
        let mut source = source(false, Some(Time::from_millis(45)));
        let left = departures(&mut source, Time::from_secs(1));
        assert_eq!(left.len(), 15);
        assert_eq!(source.next_departure(), None);
    }
}
