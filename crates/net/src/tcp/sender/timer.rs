//! The sender's one timer and the three things it may be set for, as Linux has it: a
//! retransmission timeout (RFC 6298 section 5), a loss probe (RFC 8985 section 7), or the end of
//! the reordering window (RFC 8985 section 6.3).

use super::rtt::MAX_RTO;
use crate::tcp::ticks::expiry;
use sojourn_packet::Time;

/// What the timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alarm {
    /// The oldest segment was not acknowledged in time.
    Timeout,
    /// The last segments may be lost without anything behind them to tell.
    Probe,
    /// Segments that could have been only late are lost by now.
    Reordering,
}

/// The timer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SenderTimer {
    set: Option<(Alarm, Time)>,
    /// Timeouts since the last measurement of the round-trip time.
    backoff: u32,
}

impl SenderTimer {
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.set.map(|(_, at)| at)
    }

    /// What it is set for.
    pub(crate) fn alarm(&self) -> Option<Alarm> {
        self.set.map(|(alarm, _)| alarm)
    }

    /// Sets it for `wait` from `now` on, in whole ticks.
    pub(crate) fn set(&mut self, alarm: Alarm, now: Time, wait: Time) {
        self.set = Some((alarm, expiry(now, wait)));
    }

    pub(crate) fn stop(&mut self) {
        self.set = None;
    }

    /// What is due at `now`; the timer stops.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<Alarm> {
        let (alarm, _) = self.set.filter(|(_, at)| *at <= now)?;
        self.set = None;
        Some(alarm)
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
        Time(rto.0.saturating_mul(1 << self.backoff.min(20))).min(MAX_RTO)
    }
}
