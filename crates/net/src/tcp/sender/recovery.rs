//! Loss recovery: the sender's states Open, Disorder, CWR, Recovery and Loss, and the transitions that
//! an acknowledgement causes (RFC 6675, RFC 6582, RFC 3168).
//!
//! The order of the steps is Linux's. Detects spurious timeouts by F-RTO (RFC 5682 section 3.1, with
//! SACK). A retransmission timeout enters Loss in `retransmission_timeout`.

use super::acknowledge::AckOutcome;
use super::prr::Reduction;
use super::rack::Path;
use super::timer::Alarm;
use super::{Sender, TIMER_SLACK};
use crate::tcp::congestion::State;
use sojourn_packet::Time;

/// Segments that may be retransmitted after an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Retransmit {
    /// Nothing.
    #[default]
    Nothing,
    /// Lost segments, before new data.
    Lost,
    /// New data, to see whether the timeout was spurious; what is lost only if there are none.
    AfterNew,
}

impl Sender {
    /// An acknowledgement is a duplicate, carries SACK blocks or a mark, or comes in any state but
    /// Open.
    #[inline(never)]
    pub(super) fn change_state(&mut self, now: Time, outcome: &mut AckOutcome) {
        if outcome.ece {
            self.undo.remember(None);
        }
        let una = self.scoreboard.una();
        match self.state {
            State::Open => self.undo.forget_retransmissions(),
            // The sender of the echo must have received CWR: a later segment has arrived.
            State::Cwr if una > self.episode_end => {
                if !self.control.reduces_at_once() {
                    self.end_reduction();
                }
                self.state = State::Open;
            }
            State::Recovery if una >= self.episode_end => {
                self.leave_recovery(outcome);
                self.end_reduction();
            }
            _ => {}
        }
        match self.state {
            State::Recovery => self.in_recovery_state(now, outcome),
            State::Loss => {
                self.retransmit = self.in_loss_state(outcome);
                let lost_again = self.identify_losses(now, outcome);
                if self.state == State::Open || lost_again {
                    self.in_open_state(now, outcome);
                }
            }
            State::Open | State::Disorder | State::Cwr => self.in_open_state(now, outcome),
        }
    }

    fn in_recovery_state(&mut self, now: Time, outcome: &mut AckOutcome) {
        if outcome.advanced && !self.partial_acknowledgement(outcome) {
            return;
        }
        if self.undo_by_duplicates() {
            self.try_to_open(now, outcome.ece);
        }
        self.identify_losses(now, outcome);
        if self.state != State::Recovery {
            if self.scoreboard.lost_out() == 0 {
                return;
            }
            self.enter_recovery(outcome.ece);
        }
        self.retransmit = Retransmit::Lost;
    }

    fn in_open_state(&mut self, now: Time, outcome: &mut AckOutcome) {
        if self.state <= State::Disorder {
            self.undo_by_duplicates();
        }
        self.identify_losses(now, outcome);
        if self.scoreboard.lost_out() == 0 {
            self.try_to_open(now, outcome.ece);
            return;
        }
        self.enter_recovery(outcome.ece);
        self.retransmit = Retransmit::Lost;
    }

    /// Loss detection; true if a retransmission was lost.
    fn identify_losses(&mut self, now: Time, outcome: &mut AckOutcome) -> bool {
        let resent = self.scoreboard.resent_out();
        let path = self.path(now);
        if let Some(wait) = self.rack.detect(&mut self.scoreboard, &path) {
            self.timer.set(Alarm::Reordering, now, wait + TIMER_SLACK);
            outcome.set_timer = false;
        }
        self.scoreboard.resent_out() < resent
    }

    pub(super) fn path(&self, now: Time) -> Path {
        Path {
            now,
            min_rtt: self.rtt.min(),
            srtt: self.rtt.srtt(),
            in_recovery: self.state >= State::Recovery,
        }
    }

    fn leave_recovery(&mut self, outcome: &AckOutcome) {
        if self.may_undo(outcome.echo) {
            self.undo_reduction(false);
        } else {
            self.rack.recovered(false);
        }
        self.state = State::Open;
    }

    fn undo_by_duplicates(&mut self) -> bool {
        let spurious = self.undo.all_duplicates();
        if spurious {
            self.rack.recovered(true);
            self.undo_reduction(false);
        }
        spurious
    }

    /// A partial acknowledgement in a recovery. If what it acknowledges was only late, the rest may
    /// be, too: nothing more is sent again (false) while retransmissions are on their way, and
    /// without any the recovery is undone.
    fn partial_acknowledgement(&mut self, outcome: &AckOutcome) -> bool {
        if !self.undo.was_late(outcome.echo) {
            return true;
        }
        let highest = self.scoreboard.highest_sacked();
        self.rack.reordered(outcome.old_una, highest, self.mss);
        if self.scoreboard.resent_out() > 0 {
            return false;
        }
        if !self.any_retransmission() {
            self.undo.forget_retransmissions();
        }
        self.undo_reduction(true);
        self.keep_open();
        true
    }

    /// After a timeout: slow start over what is lost, unless the timeout proves spurious.
    fn in_loss_state(&mut self, outcome: &AckOutcome) -> Retransmit {
        let recovered = self.scoreboard.una() >= self.episode_end;
        if outcome.advanced && self.undo_timeout(false, outcome) {
            return Retransmit::Nothing;
        }
        if self.frto {
            // Step 3b: data that were never sent again arrive, so not all was lost.
            if outcome.original_arrived && self.undo_timeout(true, outcome) {
                return Retransmit::Nothing;
            }
            if self.scoreboard.next() > self.episode_end {
                // Step 3a: the loss was real.
                self.frto &= !(outcome.sacked || outcome.duplicate);
            } else if outcome.advanced && !recovered {
                // Step 2b: new data will decide, if there are any.
                self.episode_end = self.scoreboard.next();
                if self.has_new_data() {
                    return Retransmit::AfterNew;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.leave_recovery(outcome);
            return Retransmit::Nothing;
        }
        Retransmit::Lost
    }

    fn undo_timeout(&mut self, by_frto: bool, outcome: &AckOutcome) -> bool {
        if !by_frto && !self.may_undo(outcome.echo) {
            return false;
        }
        self.undo_reduction(true);
        self.timeouts_in_row = 0;
        self.state = State::Open;
        true
    }

    /// Nothing is lost: Open if nothing is out of order either.
    fn try_to_open(&mut self, now: Time, ece: bool) {
        if !self.any_retransmission() {
            self.undo.forget_retransmissions();
        }
        if ece {
            self.enter_cwr(now);
        }
        if self.state != State::Cwr {
            self.keep_open();
        }
    }

    pub(super) fn keep_open(&mut self) {
        let board = &self.scoreboard;
        let disorder = board.sacked_out() > 0 || board.lost_out() > 0 || self.any_retransmission();
        let state = if disorder { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.episode_end = self.scoreboard.next();
        }
    }

    /// RFC 3168 section 6.1.2: once a window.
    fn enter_cwr(&mut self, now: Time) {
        self.undo.remember(None);
        let is_first = self.state < State::Cwr;
        if self.control.reduces_at_once() && self.state <= State::Cwr {
            if is_first {
                self.undo.forbid();
                self.begin_episode();
            }
            let is_reduced = self.control.reduce(&mut self.window, now, is_first);
            self.statistics.congestion_events += u64::from(is_reduced);
        } else if is_first {
            self.undo.forbid();
            self.begin_reduction();
        } else {
            return;
        }
        self.state = State::Cwr;
    }

    pub(super) fn enter_recovery(&mut self, ece: bool) {
        if !self.any_retransmission() {
            self.undo.forget_retransmissions();
        }
        self.undo.remember(None);
        self.begin_undo();
        if !self.state.is_reducing() {
            if !ece {
                self.undo.remember(Some(self.window.remembered_threshold()));
            }
            self.begin_reduction();
        }
        self.control.on_loss(&mut self.window);
        self.state = State::Recovery;
    }

    pub(super) fn begin_undo(&mut self) {
        let probes = u32::from(self.probe.is_some_and(|probe| probe.retransmission));
        self.undo.begin(self.scoreboard.una(), self.scoreboard.resent_out() + probes);
    }

    #[cold]
    pub(super) fn begin_reduction(&mut self) {
        self.begin_episode();
        self.window.clear_credit();
        self.window.ssthresh = self.control.reduced_threshold(&self.window);
        self.statistics.congestion_events += 1;
    }

    /// Assigns the data sent so far to one reduction.
    fn begin_episode(&mut self) {
        self.episode_end = self.scoreboard.next();
        self.probe = None;
        self.reduction = Reduction::new(self.window.cwnd);
        self.cwr_pending = true;
    }

    pub(super) fn end_reduction(&mut self) {
        let stands = self.state == State::Cwr || self.undo.is_possible();
        if !self.pacing.is_by_control() && self.window.has_threshold() && stands {
            self.window.cwnd = self.window.ssthresh;
        }
    }
}
