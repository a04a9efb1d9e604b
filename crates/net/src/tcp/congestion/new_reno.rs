//! Reno's window: slow start and congestion avoidance of RFC 5681, with the byte counting that its
//! section 3.1 recommends (RFC 3465). What NewReno adds, partial acknowledgements in recovery
//! (RFC 6582), is the sender's and comes with SACK.

use super::{Ack, CongestionControl};
use sojourn_packet::Time;

/// The multiplicative decrease: a half.
const DECREASE: (u64, u64) = (1, 2);
/// The smallest threshold in segments (RFC 5681 equation 4).
const MIN_SSTHRESH: u64 = 2;

/// The control.
#[derive(Clone, Debug)]
pub struct NewReno {
    mss: u64,
    initial_window: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Bytes acknowledged in congestion avoidance that have not yet grown the window.
    acked: u64,
}

impl NewReno {
    /// A fresh control; `mss` in bytes, `initial_window` in segments.
    pub fn new(mss: u32, initial_window: u32) -> NewReno {
        let mss = u64::from(mss);
        let initial_window = mss * u64::from(initial_window);
        NewReno { mss, initial_window, cwnd: initial_window, ssthresh: u64::MAX, acked: 0 }
    }

    /// RFC 5681 has the bytes in flight here; Linux, whose traffic is the yardstick, the window.
    fn reduce_threshold(&mut self) {
        self.ssthresh = (self.cwnd * DECREASE.0 / DECREASE.1).max(MIN_SSTHRESH * self.mss);
        self.acked = 0;
    }
}

impl CongestionControl for NewReno {
    fn window(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn on_ack(&mut self, ack: &Ack) {
        if !ack.window_limited {
            return;
        }
        let mut delivered = ack.delivered;
        if self.cwnd < self.ssthresh {
            let step = delivered.min(self.ssthresh - self.cwnd);
            self.cwnd += step;
            delivered -= step;
        }
        self.acked += delivered;
        while self.acked >= self.cwnd {
            self.acked -= self.cwnd;
            self.cwnd += self.mss;
        }
    }

    fn on_congestion(&mut self, _now: Time) {
        self.reduce_threshold();
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, _now: Time, again: bool) {
        if !again {
            self.reduce_threshold();
        }
        self.cwnd = self.mss;
    }

    fn on_idle(&mut self, _idle: Time, restart: bool) {
        if restart {
            self.cwnd = self.cwnd.min(self.initial_window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    fn ack(segments: u64) -> Ack {
        Ack {
            now: Time::ZERO,
            delivered: segments * MSS,
            rtt: None,
            srtt: Time::ZERO,
            in_flight: 0,
            new_round: false,
            window_limited: true,
        }
    }

    #[test]
    fn slow_start_grows_by_what_is_acknowledged() {
        let mut control = NewReno::new(MSS as u32, 10);
        control.on_ack(&ack(2));
        assert_eq!(control.window(), 12 * MSS);
    }

    #[test]
    fn a_loss_halves_the_window_and_avoidance_adds_a_segment_per_window() {
        let mut control = NewReno::new(MSS as u32, 40);
        control.on_congestion(Time::ZERO);
        assert_eq!((control.window(), control.ssthresh()), (20 * MSS, 20 * MSS));
        (0..9).for_each(|_| control.on_ack(&ack(2)));
        assert_eq!(control.window(), 20 * MSS);
        control.on_ack(&ack(2));
        assert_eq!(control.window(), 21 * MSS);
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_a_second_one_leaves_the_threshold() {
        let mut control = NewReno::new(MSS as u32, 40);
        control.on_timeout(Time::ZERO, false);
        control.on_timeout(Time::ZERO, true);
        assert_eq!((control.window(), control.ssthresh()), (MSS, 20 * MSS));
    }

    #[test]
    fn the_threshold_is_at_least_two_segments() {
        let mut control = NewReno::new(MSS as u32, 2);
        control.on_congestion(Time::ZERO);
        assert_eq!(control.ssthresh(), 2 * MSS);
    }

    #[test]
    fn a_window_that_does_not_limit_does_not_grow() {
        let mut control = NewReno::new(MSS as u32, 10);
        control.on_ack(&Ack { window_limited: false, ..ack(2) });
        assert_eq!(control.window(), 10 * MSS);
    }
}
