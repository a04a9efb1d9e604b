//! Reno's congestion window as in Linux: slow start and congestion avoidance of RFC 5681.
//!
//! Growth is counted in acknowledged segments, so a stretched ACK grows the window as several
//! would. The sender implements NewReno's partial acknowledgements in recovery (RFC 6582) as part
//! of SACK. The control has no state of its own, and no HyStart.

use super::{Ack, CongestionControl, EcnFeedback, Registered, Window};

/// NewReno, as scenarios name it.
pub const REGISTRATION: Registered = Registered {
    name: "newreno",
    summary: "NewReno (RFC 5681, RFC 6582): halves its window, adds one segment each round trip",
    linux: Some("reno"),
    ecn_feedback: EcnFeedback::Classic,
    telemetry: false,
    start: |_| Box::new(NewReno),
};

/// The smallest threshold in segments (RFC 5681 equation 4).
const MIN_SSTHRESH: u32 = 2;

/// The control.
#[derive(Clone, Debug)]
pub struct NewReno;

impl CongestionControl for NewReno {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let acked = window.start_slowly(ack);
        if acked > 0 {
            window.avoid(window.cwnd, acked);
        }
    }

    /// Half of the window; RFC 5681 would take the bytes in flight.
    fn reduced_threshold(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(MIN_SSTHRESH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_packet::Time;

    fn ack(acked: u32) -> Ack {
        Ack { now: Time::ZERO, acked, window_limited: true }
    }

    #[test]
    fn slow_start_grows_by_what_is_acknowledged() {
        let mut window = Window::new(10);
        NewReno.on_ack(&mut window, &ack(2));
        assert_eq!(window.cwnd, 12);
    }

    #[test]
    fn a_loss_halves_the_window_and_avoidance_adds_a_segment_per_window() {
        let mut window = Window::new(40);
        window.ssthresh = NewReno.reduced_threshold(&window);
        assert_eq!(window.ssthresh, 20);
        window.cwnd = 20;
        (0..9).for_each(|_| NewReno.on_ack(&mut window, &ack(2)));
        assert_eq!(window.cwnd, 20);
        NewReno.on_ack(&mut window, &ack(2));
        assert_eq!(window.cwnd, 21);
    }

    #[test]
    fn an_acknowledgement_across_the_threshold_grows_both_ways() {
        let mut window = Window::with_threshold(10, 12);
        NewReno.on_ack(&mut window, &ack(14));
        assert_eq!(window.cwnd, 13, "2 in slow start and 12 of 12 in avoidance");
    }

    #[test]
    fn the_threshold_is_at_least_two_segments() {
        assert_eq!(NewReno.reduced_threshold(&Window::new(2)), 2);
    }

    #[test]
    fn a_window_that_does_not_limit_does_not_grow() {
        let mut window = Window::new(10);
        NewReno.on_ack(&mut window, &Ack { window_limited: false, ..ack(2) });
        assert_eq!(window.cwnd, 10);
    }
}
