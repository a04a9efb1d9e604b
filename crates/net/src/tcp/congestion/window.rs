//! The congestion window in segments, and the two ways in which it grows (RFC 5681 section 3.1).
//!
//! Linux counts segments, not bytes, and so does this module: a control's arithmetic in whole
//! segments affects its traffic. Must not depend on a control.

use super::Ack;

/// The threshold while there is none.
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// The window and its parameters, in segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The congestion window.
    pub cwnd: u32,
    /// The slow-start threshold; valid if [`Window::has_threshold`] is true.
    pub ssthresh: u32,
    /// Segments acknowledged in congestion avoidance that have not yet grown the window.
    credit: u32,
}

impl Window {
    /// A window without a threshold.
    pub fn new(cwnd: u32) -> Window {
        Window { cwnd, ssthresh: NO_THRESHOLD, credit: 0 }
    }

    /// A window with a threshold.
    pub fn with_threshold(cwnd: u32, ssthresh: u32) -> Window {
        Window { ssthresh, ..Window::new(cwnd) }
    }

    /// True once a threshold was set.
    pub fn has_threshold(&self) -> bool {
        self.ssthresh < NO_THRESHOLD
    }

    /// True while the window is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by what was acknowledged, up to the threshold; returns what is left of it.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown;
        left
    }

    /// Processes an acknowledgement in slow start; returns the segments left for congestion
    /// avoidance. A sender that does not use its window does not widen it (RFC 7661).
    pub fn start_slowly(&mut self, ack: &Ack) -> u32 {
        match (ack.window_limited, self.in_slow_start()) {
            (false, _) => 0,
            (true, true) => self.slow_start(ack.acked),
            (true, false) => ack.acked,
        }
    }

    /// Grows by one segment for every `per` segments acknowledged.
    pub fn avoid(&mut self, per: u32, acked: u32) {
        // Credit accumulated while `per` was larger counts as one segment, not as a burst.
        if self.credit >= per {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        if self.credit >= per {
            self.cwnd += self.credit / per;
            self.credit %= per;
        }
    }

    /// Forgets what was acknowledged: the window was set to something else.
    pub fn clear_credit(&mut self) {
        self.credit = 0;
    }

    /// The threshold that remembers the present window when it is about to shrink without a loss:
    /// three quarters of it at least (RFC 2861 section 3.2).
    pub fn remembered_threshold(&self) -> u32 {
        self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_stops_at_the_threshold_and_leaves_the_rest() {
        let mut window = Window::with_threshold(10, 12);
        assert_eq!(window.slow_start(5), 3);
        assert_eq!((window.cwnd, window.in_slow_start()), (12, false));
    }

    #[test]
    fn avoidance_keeps_what_does_not_yet_make_a_segment() {
        let mut window = Window::new(10);
        (0..9).for_each(|_| window.avoid(10, 1));
        assert_eq!(window.cwnd, 10);
        window.avoid(10, 12);
        assert_eq!((window.cwnd, window.credit), (12, 1));
    }

    #[test]
    fn savings_made_at_a_slower_growth_count_as_one_segment() {
        let mut window = Window::new(10);
        window.avoid(100, 90);
        window.avoid(10, 1);
        assert_eq!((window.cwnd, window.credit), (11, 1));
    }
}
