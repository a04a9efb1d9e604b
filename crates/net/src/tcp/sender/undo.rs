//! Detection and undo of spurious window reductions, after segments that were late instead of lost.
//!
//! The evidence is the echoed timestamp (Eifel, RFC 3522), or a receiver that reports every
//! retransmission as a duplicate (RFC 3708). The undo restores window and threshold.

use super::Sender;

/// State before the reduction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Undo {
    /// The oldest offset when losses were found; absent if there is nothing to undo.
    marker: Option<u64>,
    /// Retransmissions since whose duplicates were not reported; absent before the first.
    unexplained: Option<u32>,
    /// The threshold before it; absent if the reduction must remain because a mark was echoed.
    prior_ssthresh: Option<u32>,
    /// Timestamp clock at the first retransmission.
    first_retransmission: Option<u64>,
}

impl Undo {
    /// Losses were found at `una`, with retransmissions on their way already.
    pub(crate) fn begin(&mut self, una: u64, on_their_way: u32) {
        self.marker = Some(una);
        self.unexplained = (on_their_way > 0).then_some(on_their_way);
    }

    /// Nothing can be undone any more.
    pub(crate) fn forbid(&mut self) {
        self.marker = None;
    }

    /// True while it is not known that the losses were real.
    pub(crate) fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    pub(crate) fn remember(&mut self, ssthresh: Option<u32>) {
        self.prior_ssthresh = ssthresh;
    }

    /// Something is sent again when the timestamp clock shows `millisecond`.
    pub(crate) fn resent(&mut self, millisecond: u64) {
        self.first_retransmission.get_or_insert(millisecond);
        self.unexplained = Some(self.unexplained.unwrap_or(0) + 1);
    }

    /// Nothing that was sent again is outstanding.
    pub(crate) fn forget_retransmissions(&mut self) {
        self.first_retransmission = None;
    }

    /// The receiver has reported `segments` up to `end` as duplicates.
    pub(crate) fn explain(&mut self, end: u64, segments: u32) {
        if let (Some(marker), Some(unexplained)) = (self.marker, &mut self.unexplained)
            && end > marker
        {
            *unexplained = unexplained.saturating_sub(segments);
        }
    }

    /// True if every retransmission arrived as a duplicate.
    pub(crate) fn all_duplicates(&self) -> bool {
        self.marker.is_some() && self.unexplained == Some(0)
    }

    /// True if what is acknowledged with this echo was sent before the first retransmission.
    pub(crate) fn was_late(&self, echo: Option<u64>) -> bool {
        self.marker.is_some()
            && self.first_retransmission.is_none_or(|first| echo.is_some_and(|echo| echo < first))
    }
}

impl Sender {
    /// True if what is oldest or anything on its way was sent again.
    pub(super) fn any_retransmission(&self) -> bool {
        self.scoreboard.resent_out() > 0
            || self.scoreboard.front().is_some_and(|sent| sent.retransmitted)
    }

    /// True if everything shows that nothing was lost.
    pub(super) fn may_undo(&self, echo: Option<u64>) -> bool {
        self.undo.all_duplicates() || self.undo.was_late(echo)
    }

    /// Restores window and threshold; `unmark` if nothing that is outstanding counts as lost.
    pub(super) fn undo_reduction(&mut self, unmark: bool) {
        if unmark {
            self.scoreboard.forget_losses();
        }
        if let Some(prior) = self.undo.prior_ssthresh {
            let cwnd = self.control.restored_window(&self.window, self.reduction.prior());
            self.window.cwnd = cwnd;
            if prior > self.window.ssthresh {
                self.window.ssthresh = prior;
                self.cwr_pending = false;
            }
        }
        self.undo.forbid();
        self.rack.look_again();
        self.statistics.undone += 1;
    }
}
