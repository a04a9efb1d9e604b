//! The retransmission timer: when it runs, when it starts anew, how it backs off (RFC 6298
//! section 5).

use super::rtt::MAX_RTO;
use sojourn_packet::Time;

/// The timer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RetransmissionTimer {
    deadline: Option<Time>,
    /// Timeouts since the last measurement of the round-trip time.
    backoff: u32,
}

impl RetransmissionTimer {
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Starts the timer if it is not running.
    pub(crate) fn start(&mut self, now: Time, rto: Time) {
        if self.deadline.is_none() {
            self.restart(now, rto);
        }
    }

    /// Starts the timer anew.
    pub(crate) fn restart(&mut self, now: Time, rto: Time) {
        let doubled = rto.0.saturating_mul(1 << self.backoff.min(20));
        self.deadline = Some(now + Time(doubled).min(MAX_RTO));
    }

    pub(crate) fn stop(&mut self) {
        self.deadline = None;
    }

    /// It has expired: twice the time from now on.
    pub(crate) fn back_off(&mut self, now: Time, rto: Time) {
        self.backoff += 1;
        self.restart(now, rto);
    }

    /// The round-trip time was measured again, so the path is known (RFC 6298 section 5.7).
    pub(crate) fn forget_backoff(&mut self) {
        self.backoff = 0;
    }
}
