//! DCTCP (RFC 8257) as Linux 6.1 has it: the window shrinks by half the share of segments that were
//! marked, and grows as Reno's. The share is counted over a round trip and smoothed, in units of 1/1024.
//!
//! The kernel's rounding is part of it: a round trip's share counts in 64ths, and an average below 16/1024
//! falls to nothing at the end of a round trip.
//!
//! A loss halves the window, as Reno's. What is echoed by the receiver for each segment, and that every
//! packet is ECN-capable, is the connection's ([`EcnFeedback::Dctcp`]).

use super::{Ack, CongestionControl, EcnFeedback, Marked, NewReno, Registered, Window};

/// DCTCP, as scenarios name it.
pub const REGISTRATION: Registered = Registered {
    name: "dctcp",
    summary: "DCTCP (RFC 8257): shrinks by the share of what was marked; for networks that mark early",
    linux: Some("dctcp"),
    ecn_feedback: EcnFeedback::Dctcp,
    telemetry: false,
    start: |_| Box::new(Dctcp::default()),
};

/// The largest share: all of it. The initial share of a flow (section 4.2).
const ALL: u64 = 1024;
/// The gain of the average (section 4.2): 1/16.
const GAIN_SHIFT: u32 = 4;
/// The smallest threshold in segments.
const MIN_SSTHRESH: u32 = 2;

/// The control.
#[derive(Clone, Debug)]
pub struct Dctcp {
    /// DCTCP.Alpha, in units of 1/1024.
    alpha: u64,
    /// The round trip that is counted ends when this offset is acknowledged.
    round_end: u64,
    /// Segments delivered at its start, and of those under an echo.
    delivered: u64,
    marked: u64,
}

impl Default for Dctcp {
    fn default() -> Dctcp {
        Dctcp { alpha: ALL, round_end: 0, delivered: 1, marked: 0 }
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        NewReno.on_ack(window, ack);
    }

    fn on_marked(&mut self, _: &Window, seen: &Marked) {
        if seen.una < self.round_end {
            return;
        }
        let marked = seen.marked - self.marked;
        // If a sixteenth of it is less than a unit, it becomes 0.
        let less = self.alpha >> GAIN_SHIFT;
        self.alpha -= if less > 0 { less } else { self.alpha };
        if marked > 0 {
            let delivered = (seen.delivered - self.delivered).max(1);
            let share = (marked << (ALL.ilog2() - GAIN_SHIFT)) / delivered;
            self.alpha = (self.alpha + share).min(ALL);
        }
        (self.round_end, self.delivered, self.marked) = (seen.next, seen.delivered, seen.marked);
    }

    fn reduced_threshold(&mut self, window: &Window) -> u32 {
        let less = (u64::from(window.cwnd) * self.alpha) >> (ALL.ilog2() + 1);
        (window.cwnd - less as u32).max(MIN_SSTHRESH)
    }

    /// Whatever the marks say, a loss is answered as Reno does (section 3.5).
    fn on_loss(&mut self, window: &mut Window) {
        window.ssthresh = NewReno.reduced_threshold(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_packet::Time;

    /// A round trip of `of` segments, `marked` of them.
    fn round(dctcp: &mut Dctcp, seen: &mut Marked, marked: u64, of: u64) -> u64 {
        seen.una = seen.next;
        seen.next += of * 1448;
        seen.delivered += of;
        seen.marked += marked;
        dctcp.on_marked(&Window::new(10), seen);
        dctcp.alpha
    }

    fn start() -> Marked {
        Marked { now: Time::ZERO, una: 1, next: 1, delivered: 1, marked: 0 }
    }

    #[test]
    fn a_flow_that_knows_nothing_halves_its_window() {
        assert_eq!(Dctcp::default().reduced_threshold(&Window::new(40)), 20);
    }

    #[test]
    fn the_share_follows_the_marks_with_a_gain_of_a_sixteenth() {
        let (mut dctcp, mut seen) = (Dctcp::default(), start());
        assert_eq!(round(&mut dctcp, &mut seen, 0, 10), 960, "15/16 of all");
        assert_eq!(round(&mut dctcp, &mut seen, 0, 10), 900);
        // 900 - 56 + 64 * 5 / 10
        assert_eq!(round(&mut dctcp, &mut seen, 5, 10), 876);
        for _ in 0..200 {
            round(&mut dctcp, &mut seen, 10, 10);
        }
        assert_eq!(dctcp.alpha, 1024);
        for _ in 0..100 {
            round(&mut dctcp, &mut seen, 0, 10);
        }
        assert_eq!(dctcp.alpha, 0, "without marks nothing is left");
        assert_eq!(dctcp.reduced_threshold(&Window::new(40)), 40);
    }

    #[test]
    fn within_a_round_trip_nothing_is_counted() {
        let (mut dctcp, mut seen) = (Dctcp::default(), start());
        round(&mut dctcp, &mut seen, 0, 10);
        let before = dctcp.alpha;
        seen.una = seen.next - 1;
        seen.marked += 5;
        dctcp.on_marked(&Window::new(10), &seen);
        assert_eq!(dctcp.alpha, before);
    }

    #[test]
    fn a_loss_halves_the_window_whatever_the_share_is() {
        let mut dctcp = Dctcp { alpha: 64, ..Dctcp::default() };
        let mut window = Window::new(64);
        assert_eq!(dctcp.reduced_threshold(&window), 62);
        dctcp.on_loss(&mut window);
        assert_eq!(window.ssthresh, 32);
    }
}
