//! TCP Prague (draft-briscoe-iccrg-prague-congestion-control), a sender for L4S queues (RFC 9330, RFC 9331):
//! DCTCP's answer to marks, with what that lacks on the Internet.
//!
//! Marks are counted by accurate feedback ([`Marks::Accurate`]), and data are ECT(1). A reduction keeps the
//! fraction of a segment that it could not take for the next one (draft, section 2.4.2). A round trip
//! shorter than 25 ms grows the window as slowly as one of 25 ms would (section 2.4.4), so that short ways
//! do not crowd out others. A loss halves the window (section 2.4.3). Pacing is the flow's setting. No
//! kernel here has it, so what it is held against is the draft's own law: two marks a round trip.

use super::{Ack, CongestionControl, Dctcp, Marked, Marks, Registered, RttSample, Window};
use sojourn_packet::Time;

/// Prague, as scenarios name it.
pub const REGISTRATION: Registered = Registered {
    name: "prague",
    summary: "TCP Prague (L4S): counts every mark, shrinks by their share; for dualpi2 and the like",
    linux: None,
    marks: Marks::Accurate,
    start: |_| Box::new(Prague::default()),
};

/// A round trip that is shorter grows the window as if it were this long.
const SLOWEST: Time = Time::from_millis(25);
/// The smallest threshold in segments.
const MIN_SSTHRESH: u32 = 2;

/// The control.
#[derive(Clone, Debug, Default)]
pub struct Prague {
    share: Dctcp,
    /// What reductions could not take yet, in units of 1/2048 of a segment.
    owed: u64,
    rtt: Option<Time>,
}

/// Units of a segment in which reductions are counted.
const UNITS: u64 = 2048;

impl CongestionControl for Prague {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let acked = window.start_slowly(ack);
        if acked > 0 {
            window.avoid(self.per_segment(window.cwnd), acked);
        }
    }

    fn on_rtt(&mut self, _: &mut Window, sample: &RttSample) {
        // As the smoothed round-trip time of RFC 6298.
        self.rtt = Some(match self.rtt {
            None => sample.rtt,
            Some(rtt) => Time(rtt.0 - rtt.0 / 8 + sample.rtt.0 / 8),
        });
    }

    fn on_marked(&mut self, seen: &Marked) {
        self.share.on_marked(seen);
    }

    /// Else marks would come half as often as growth and shrinking balance (draft, section 2.4.2).
    fn reduces_at_once(&self) -> bool {
        true
    }

    fn reduced_threshold(&mut self, window: &Window) -> u32 {
        let all = u64::from(window.cwnd) * self.share.alpha() + self.owed;
        self.owed = all % UNITS;
        let less = (all / UNITS) as u32;
        window.cwnd.saturating_sub(less).max(MIN_SSTHRESH)
    }

    fn on_loss(&mut self, window: &mut Window) {
        self.share.on_loss(window);
    }
}

impl Prague {
    /// Segments to be acknowledged for one of growth: a window, and more on short ways. A flow of 25 ms
    /// grows by a segment in 25 ms; at a rate that grows as much, a shorter one adds the square of the
    /// ratio each round trip.
    fn per_segment(&self, cwnd: u32) -> u32 {
        let rtt = self.rtt.map_or(SLOWEST.0, |rtt| rtt.0.clamp(1, SLOWEST.0));
        let square = u128::from(SLOWEST.0).pow(2) / u128::from(rtt).pow(2);
        u32::try_from(u128::from(cwnd) * square.max(1)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(acked: u32) -> Ack {
        Ack { now: Time::ZERO, acked, window_limited: true }
    }

    fn with_rtt(rtt: Time) -> Prague {
        Prague { rtt: Some(rtt), ..Prague::default() }
    }

    #[test]
    fn a_way_of_a_fifth_grows_by_a_twenty_fifth_a_round_trip() {
        let grown = |rtt: Time, rounds: u32| {
            let (mut prague, mut window) = (with_rtt(rtt), Window::with_threshold(10, 10));
            (0..rounds).for_each(|_| prague.on_ack(&mut window, &ack(10)));
            window.cwnd - 10
        };
        assert_eq!(grown(Time::from_millis(25), 2), 1, "ten acknowledged at a window of eleven");
        assert_eq!(grown(Time::from_millis(100), 1), 1, "longer ways are Reno's");
        assert_eq!(grown(Time::from_millis(5), 24), 0);
        assert_eq!(grown(Time::from_millis(5), 25), 1);
    }

    #[test]
    fn what_is_less_than_a_segment_is_taken_the_next_time() {
        // A share of 1/16: at ten segments each reduction is 10/32 of one.
        let mut prague = Prague { share: Dctcp::with_alpha(64), ..Prague::default() };
        let window = Window::new(10);
        let taken: u32 = (0..32).map(|_| 10 - prague.reduced_threshold(&window)).sum();
        assert_eq!(taken, 10);
    }

    #[test]
    fn a_loss_halves_the_window() {
        let mut window = Window::new(40);
        Prague::default().on_loss(&mut window);
        assert_eq!(window.ssthresh, 20);
    }
}
