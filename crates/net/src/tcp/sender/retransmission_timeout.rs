//! Retransmission timeout (RTO, RFC 6298 section 5): its expiry, and the entry into the state Loss.
//!
//! The same timer also sends loss probes (TLP, RFC 8985 section 7) and ends the reordering window
//! (RFC 8985 section 6.3). `rtt` computes the length of the timeout, `timer` backs it off, and
//! `recovery` handles the acknowledgements that follow.

use super::prr::Reduction;
use super::timer::Alarm;
use super::{Sender, TIMER_SLACK};
use crate::tcp::congestion::State;
use sojourn_packet::Time;

/// A timeout that is over already is one in a microsecond.
const SHORTEST_WAIT: Time = Time::from_micros(1);

/// A loss probe that is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LossProbe {
    /// SND.NXT when it was sent.
    pub(super) end: u64,
    /// It was a retransmission, not new data.
    pub(super) retransmission: bool,
}

/// Segments sent whatever window and pacing allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forced {
    /// The oldest segment, after a timeout.
    Oldest,
    /// A loss probe.
    Probe,
}

impl Sender {
    /// The timer may have expired; segments that follow are polled.
    #[inline(always)]
    pub(crate) fn on_timer(&mut self, now: Time) {
        if self.timer.deadline() <= now {
            self.on_expiry(now);
        }
    }

    #[cold]
    fn on_expiry(&mut self, now: Time) {
        match self.timer.take_due(now) {
            None => {}
            Some(_) if self.scoreboard.outstanding() == 0 => {}
            Some(Alarm::Timeout) => self.on_timeout(now),
            Some(Alarm::Probe) if self.probe.is_some() => self.rearm(now, true),
            Some(Alarm::Probe) => self.forced = Some(Forced::Probe),
            Some(Alarm::Reordering) => self.on_reordering_over(now),
        }
    }

    #[cold]
    fn on_timeout(&mut self, now: Time) {
        self.enter_loss(now);
        self.timeouts_in_row += 1;
        self.statistics.timeouts += 1;
        self.forced = Some(Forced::Oldest);
        self.retransmit = super::recovery::Retransmit::Lost;
        self.timer.back_off();
        self.timer.set(Alarm::Timeout, now, self.rto());
    }

    /// The retransmission timer has expired (RFC 5681 section 3.1; RFC 6675 section 5.1).
    #[cold]
    fn enter_loss(&mut self, now: Time) {
        let new_recovery = self.state < State::Recovery;
        let rack = &self.rack;
        self.scoreboard.lose_all(|sent| rack.is_recent(now, sent));
        let board = &self.scoreboard;
        // The threshold falls once for these data.
        let first = self.state <= State::Disorder
            || self.episode_end <= board.una()
            || (self.state == State::Loss && self.timeouts_in_row == 0);
        if first {
            let threshold = if self.state.is_reducing() {
                self.window.ssthresh
            } else {
                self.window.remembered_threshold()
            };
            self.undo.remember(Some(threshold));
            self.reduction = Reduction::new(self.window.cwnd);
            self.window.ssthresh = self.control.reduced_threshold(&self.window);
            self.control.on_loss(&mut self.window);
            self.begin_undo();
        }
        if self.state <= State::Disorder {
            self.rack.distrust(self.scoreboard.sacked_out());
        }
        self.window.cwnd = self.scoreboard.in_flight() + 1;
        self.window.clear_credit();
        self.control.on_timeout(&self.flow(now));
        self.state = State::Loss;
        self.episode_end = self.scoreboard.next();
        self.probe = None;
        self.cwr_pending = true;
        self.frto = new_recovery || self.timeouts_in_row > 0;
    }

    /// Segments that might only have been late are lost (RFC 8985 section 6.3).
    #[cold]
    fn on_reordering_over(&mut self, now: Time) {
        let in_flight = self.scoreboard.in_flight();
        let lost = self.scoreboard.lost_total();
        let path = self.path(now);
        let wait = self.rack.detect_now(&mut self.scoreboard, &path);
        if self.scoreboard.in_flight() != in_flight {
            if self.state != State::Recovery {
                self.enter_recovery(false);
                let lost = (self.scoreboard.lost_total() - lost) as u32;
                self.reduce_by_timer(lost);
            }
            self.retransmit = super::recovery::Retransmit::Lost;
        }
        match wait {
            Some(wait) => self.timer.set(Alarm::Reordering, now, wait + TIMER_SLACK),
            None => self.rearm(now, true),
        }
    }

    /// A recovery that no acknowledgement began reduces as if one segment had been delivered.
    fn reduce_by_timer(&mut self, lost: u32) {
        if self.pacing.is_by_control() {
            return;
        }
        let progress = super::prr::Progress {
            delivered: 1,
            lost,
            advanced: false,
            in_flight: self.scoreboard.in_flight(),
            ssthresh: self.window.ssthresh,
        };
        if let Some(cwnd) = self.reduction.on_ack(&progress) {
            self.window.cwnd = cwnd;
        }
    }

    /// The timeout, backed off.
    pub(super) fn rto(&self) -> Time {
        self.timer.backed_off(self.rtt.rto())
    }

    /// After progress: a loss probe if one makes sense, else the timeout.
    pub(super) fn set_timer(&mut self, now: Time) {
        if !self.schedule_probe(now, now + self.rto()) {
            self.rearm(now, false);
        }
    }

    /// After sending.
    pub(super) fn set_timer_after_send(&mut self, now: Time) {
        let idle = matches!(self.timer.alarm(), None | Some(Alarm::Probe));
        let timeout = self.timeout_of_oldest(now);
        if !self.schedule_probe(now, timeout) && idle {
            self.rearm(now, false);
        }
    }

    /// Timeout of the oldest segment.
    fn timeout_of_oldest(&self, now: Time) -> Time {
        self.scoreboard.front().map_or(now, |oldest| oldest.at) + self.rto()
    }

    /// The timeout runs from now, or from when the oldest segment was sent if the timer was set
    /// for something else.
    pub(super) fn rearm(&mut self, now: Time, other_expired: bool) {
        if self.scoreboard.outstanding() == 0 {
            self.timer.stop();
            return;
        }
        let other =
            other_expired || matches!(self.timer.alarm(), Some(Alarm::Probe | Alarm::Reordering));
        let wait = if other {
            self.timeout_of_oldest(now).saturating_sub(now).max(SHORTEST_WAIT)
        } else {
            self.rto()
        };
        self.timer.set_ticks(Alarm::Timeout, now, self.ticks_to_wait(now, wait));
    }

    /// Sets the timer for a loss probe, two round trips from now, not later than `timeout`; with a
    /// single segment out the receiver may delay its acknowledgement. False if none makes sense.
    fn schedule_probe(&mut self, now: Time, timeout: Time) -> bool {
        let outstanding = self.scoreboard.outstanding();
        let calm = matches!(self.state, State::Open | State::Cwr);
        if outstanding == 0 || !self.sack || !calm {
            return false;
        }
        let mut wait = match self.rtt.measured() {
            None => super::rtt::INITIAL_RTO,
            Some(srtt) if outstanding == 1 => Time(2 * srtt.0) + self.rtt.min_rto(),
            Some(srtt) => Time(2 * srtt.0) + TIMER_SLACK,
        };
        if timeout > now {
            wait = wait.min(timeout - now);
        }
        self.timer.set_ticks(Alarm::Probe, now, self.ticks_to_wait(now, wait));
        true
    }

    /// A time to wait in ticks, and those that pacing holds the next segment back.
    #[inline(always)]
    fn ticks_to_wait(&self, now: Time, wait: Time) -> u64 {
        self.hz.whole_ticks(wait) + self.pacing.delay(now).map_or(0, |held| self.hz.ticks(held))
    }
}
