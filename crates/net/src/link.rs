//! One direction of a link: a rate, a delay, and an unbounded queue in front of it, since hosts
//! hold back their own packets instead of dropping them.

use sojourn_packet::{Bytes, Rate, Time};
use sojourn_switch::tm::line::{INTER_FRAME_GAP, Line, wire_bytes};

/// A link in one direction.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    line: Line,
    delay: Time,
}

impl Link {
    /// An idle link; `rate` must not be zero.
    pub(crate) fn new(rate: Rate, delay: Time) -> Link {
        Link { line: Line::new(rate), delay }
    }

    /// Takes a frame at `now`, behind those it has taken before, and says when its last bit
    /// arrives at the other end.
    pub(crate) fn send(&mut self, now: Time, frame: Bytes) -> Time {
        let through = self.line.hold(now, wire_bytes(frame));
        self.line.hold(through, Bytes(INTER_FRAME_GAP));
        through + self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_takes_preamble_and_fcs_along_and_the_next_one_waits_for_the_gap() {
        let mut link = Link::new(Rate(8_000_000_000), Time(1_000));
        assert_eq!(link.send(Time(0), Bytes(1000)), Time(1012 + 1_000));
        assert_eq!(link.send(Time(0), Bytes(1000)), Time(1024 + 1012 + 1_000));
        assert_eq!(link.send(Time(10_000), Bytes(60)), Time(10_072 + 1_000));
    }
}
