//! Retransmission timer: the sender's only timer, with exponential backoff.
//!
//! As in Linux it is set for one of three purposes: a retransmission timeout (RFC 6298 section 5), a
//! loss probe (RFC 8985 section 7), or the end of the reordering window (RFC 8985 section 6.3).

use super::rtt::MAX_RTO;
use crate::tcp::Hz;
use sojourn_packet::Time;

/// Purpose of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alarm {
    /// The oldest segment was not acknowledged in time.
    Timeout,
    /// Probe for the last segments, which may be lost without later ones to reveal it.
    Probe,
    /// Segments that could have been only late are lost by now.
    Reordering,
}

/// The timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SenderTimer {
    hz: Hz,
    alarm: Option<Alarm>,
    /// Expiry; [`Time::MAX`] if it is not set.
    at: Time,
    /// Timeouts since the last measurement of the round-trip time.
    backoff: u32,
}

impl SenderTimer {
    /// A timer that is not set.
    pub(crate) fn new(hz: Hz) -> SenderTimer {
        SenderTimer { hz, alarm: None, at: Time::MAX, backoff: 0 }
    }

    /// Expiry; [`Time::MAX`] if it is not set.
    pub(crate) fn deadline(&self) -> Time {
        self.at
    }

    /// Its purpose.
    pub(crate) fn alarm(&self) -> Option<Alarm> {
        self.alarm
    }

    /// Sets it for `wait` from `now` on, in whole ticks.
    pub(crate) fn set(&mut self, alarm: Alarm, now: Time, wait: Time) {
        self.set_ticks(alarm, now, self.hz.whole_ticks(wait));
    }

    /// The same for so many ticks.
    #[inline(always)]
    pub(crate) fn set_ticks(&mut self, alarm: Alarm, now: Time, wait: u64) {
        (self.alarm, self.at) = (Some(alarm), self.hz.expiry_of(now, wait));
    }

    pub(crate) fn stop(&mut self) {
        (self.alarm, self.at) = (None, Time::MAX);
    }

    /// Alarm that is due at `now`; the timer stops.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<Alarm> {
        let due = self.alarm.filter(|_| self.at <= now)?;
        self.stop();
        Some(due)
    }

    /// It has expired: twice the time from now on.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// The round-trip time was measured again, so the path is known (RFC 6298 section 5.7).
    pub(crate) fn forget_backoff(&mut self) {
        self.backoff = 0;
    }

    /// The timeout with its backoff.
    pub(crate) fn backed_off(&self, rto: Time) -> Time {
        if self.backoff == 0 {
            return rto.min(MAX_RTO);
        }
        Time(rto.0.saturating_mul(1 << self.backoff.min(20))).min(MAX_RTO)
    }
}
