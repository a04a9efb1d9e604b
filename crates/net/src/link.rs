//! One direction of a link: a rate, a delay, and an unbounded queue in front of it, since hosts
//! hold back their own packets instead of dropping them.

use sojourn_packet::{Bytes, Rate, Time};
use sojourn_switch::tm::serializer::Serializer;

/// A link in one direction.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    line: Serializer,
    delay: Time,
    /// Arrival of the last frame: no later frame overtakes it.
    last: Time,
}

impl Link {
    /// An idle link; `rate` must not be zero.
    pub(crate) fn new(rate: Rate, delay: Time) -> Link {
        Link { line: Serializer::new(rate), delay, last: Time::ZERO }
    }

    /// Takes a frame at `now`, behind those it has taken before, and says when its last bit
    /// arrives at the other end.
    #[inline]
    pub(crate) fn send(&mut self, now: Time, frame: Bytes) -> Time {
        let through = self.line.occupy_frame(now, frame);
        self.last = self.last.max(through + self.delay);
        self.last
    }

    /// Takes a frame as [`Link::send`] does, and says when its last bit is on the link, and the
    /// delay that follows.
    pub(crate) fn take(&mut self, now: Time, frame: Bytes) -> (Time, Time) {
        (self.line.occupy_frame(now, frame), self.delay)
    }

    /// Another rate for frames taken from here on; not zero.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.line.set_rate(rate);
    }

    /// Another delay for frames taken from here on.
    pub(crate) fn set_delay(&mut self, delay: Time) {
        self.delay = delay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_delay_does_not_reorder_packets() {
        let mut link = Link::new(Rate(8_000_000_000), Time(10_000));
        assert_eq!(link.send(Time(0), Bytes(1000)), Time(11_012));
        link.set_delay(Time(100));
        assert_eq!(link.send(Time(0), Bytes(1000)), Time(11_012));
        assert_eq!(link.send(Time(20_000), Bytes(1000)), Time(21_112));
    }

    #[test]
    fn a_frame_that_waits_for_the_link_goes_at_the_rate_of_when_it_was_taken() {
        let mut link = Link::new(Rate(8_000_000_000), Time(0));
        link.send(Time(0), Bytes(1000));
        link.set_rate(Rate(800_000_000));
        assert_eq!(link.send(Time(0), Bytes(1000)), Time(1_024 + 10_120));
    }

    #[test]
    fn a_frame_takes_preamble_and_fcs_along_and_the_next_one_waits_for_the_gap() {
        let mut link = Link::new(Rate(8_000_000_000), Time(1_000));
        assert_eq!(link.send(Time(0), Bytes(1000)), Time(1012 + 1_000));
        assert_eq!(link.send(Time(0), Bytes(1000)), Time(1024 + 1012 + 1_000));
        assert_eq!(link.send(Time(10_000), Bytes(60)), Time(10_072 + 1_000));
    }
}
