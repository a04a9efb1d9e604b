//! Request schedule of a client: a delay after the last response, or fixed times.

use super::RandomStream;
use sojourn_packet::Time;

/// Timing of the next request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    /// So long after an answer, of exponential distribution with that mean.
    Think(Time),
    /// At the flow's start and each such span later; an answer that comes late leaves out the
    /// instants until then.
    Every(Time),
}

/// The instants at which a client writes its requests, one at a time.
#[derive(Clone, Debug)]
pub(crate) struct RequestSchedule {
    pace: Pace,
    draws: RandomStream,
    /// Start of the fixed times.
    start: Time,
    stop: Option<Time>,
    /// Time of the next request; `None` while a response is outstanding.
    due: Option<Time>,
    /// Number of the request that is outstanding or comes next: the place of its instant.
    number: u32,
    /// Time of the outstanding request.
    sent_at: Option<Time>,
}

impl RequestSchedule {
    /// The first request is due at `start`.
    pub(crate) fn new(
        (start, stop): (Time, Option<Time>),
        pace: Pace,
        draws: RandomStream,
    ) -> RequestSchedule {
        RequestSchedule { pace, draws, start, stop, due: Some(start), number: 0, sent_at: None }
    }

    /// Time of the next request; `None` while a response is outstanding, or at the end.
    pub(crate) fn next(&self) -> Option<Time> {
        self.due.filter(|due| self.stop.is_none_or(|stop| *due < stop))
    }

    /// True if a request is written at `now`.
    pub(crate) fn begin_request(&mut self, now: Time) -> bool {
        let due = self.next().is_some_and(|due| due <= now);
        if due {
            self.sent_at = Some(now);
            self.due = None;
        }
        due
    }

    /// The answer is complete: the request's number and when it was written.
    pub(crate) fn answered(&mut self, now: Time) -> Option<(u32, Time)> {
        let sent_at = self.sent_at.take()?;
        let number = self.number;
        match self.pace {
            Pace::Think(mean) => {
                self.number += 1;
                self.due = Some(now + self.draws.exponential(mean));
            }
            Pace::Every(span) => {
                let passed = now.saturating_sub(self.start).0 / span.0.max(1);
                self.number = passed as u32 + 1;
                self.due = Some(self.start + Time(span.0 * (passed + 1)));
            }
        }
        Some((number, sent_at))
    }

    /// The outstanding request: its number and when it was written.
    pub(crate) fn outstanding(&self) -> Option<(u32, Time)> {
        self.sent_at.map(|at| (self.number, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::StreamPurpose;

    const MS: u64 = 1_000_000;

    fn schedule(pace: Pace, stop: Option<Time>) -> RequestSchedule {
        let start = Time(10 * MS);
        RequestSchedule::new((start, stop), pace, RandomStream::new(1, 1, StreamPurpose::Traffic))
    }

    #[test]
    fn at_fixed_instants_a_late_answer_leaves_instants_out() {
        let mut client = schedule(Pace::Every(Time(100 * MS)), None);
        assert!(!client.begin_request(Time(9 * MS)));
        assert!(client.begin_request(Time(10 * MS)));
        assert_eq!((client.next(), client.outstanding()), (None, Some((0, Time(10 * MS)))));
        assert_eq!(client.answered(Time(30 * MS)), Some((0, Time(10 * MS))));
        assert_eq!(client.next(), Some(Time(110 * MS)));
        assert!(client.begin_request(Time(110 * MS)));
        assert_eq!(client.answered(Time(315 * MS)), Some((1, Time(110 * MS))));
        // 210 and 310 ms are over.
        assert_eq!(client.next(), Some(Time(410 * MS)));
        assert!(client.begin_request(Time(410 * MS)));
        assert_eq!(client.answered(Time(420 * MS)), Some((4, Time(410 * MS))));
    }

    #[test]
    fn a_client_that_thinks_asks_the_next_one_after_its_answer() {
        let mut client = schedule(Pace::Think(Time(50 * MS)), Some(Time::from_secs(1)));
        assert!(client.begin_request(Time(10 * MS)));
        assert_eq!(client.answered(Time(20 * MS)), Some((0, Time(10 * MS))));
        let due = client.next().expect("a next request");
        assert!(due > Time(20 * MS));
        assert!(client.begin_request(due));
        assert_eq!(client.answered(due + Time(MS)).map(|(number, _)| number), Some(1));
        assert_eq!(client.answered(due + Time(MS)), None);
    }

    #[test]
    fn no_request_is_written_at_or_after_the_stop() {
        let mut client = schedule(Pace::Every(Time(100 * MS)), Some(Time(110 * MS)));
        assert!(client.begin_request(Time(10 * MS)));
        client.answered(Time(12 * MS));
        assert_eq!(client.next(), None);
        assert!(!client.begin_request(Time(110 * MS)));
    }
}
