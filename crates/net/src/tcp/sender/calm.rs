//! Acknowledgement prediction: nearly all have neither ranges nor marks, acknowledge whole segments that
//! were sent once, and find a sender with a window that is not being reduced.
//!
//! A shorter way to what `acknowledge.rs` says, which is right; whatever is not so is left to it.

use super::rate::Gathered;
use super::recovery::Retransmit;
use super::{Acknowledgement, Sender};
use crate::tcp::congestion::State;
use crate::tcp::ticks::Echo;
use sojourn_packet::Time;

impl Sender {
    /// An acknowledgement without ranges and marks arrived.
    #[inline(never)]
    pub(crate) fn on_plain_ack(
        &mut self,
        now: Time,
        (ack, window): (u64, u64),
        echo: Option<Echo>,
        carries_data: bool,
    ) {
        if ack > self.scoreboard.next() {
            return;
        }
        let run = if self.is_calm() { self.scoreboard.take_plain(ack) } else { None };
        let Some(run) = run.filter(|_| !self.scoreboard.has_below(ack)) else {
            let plain =
                Acknowledgement { ack, window, echo, carries_data, ..Acknowledgement::PLAIN };
            self.on_ack(now, &plain, run);
            return;
        };
        let old_una = self.scoreboard.una();
        self.read_window(ack, window);
        self.retransmit = Retransmit::Nothing;
        self.timeouts_in_row = 0;
        self.buffer.acknowledged(ack);
        let mut gathered = Gathered::default();
        self.rate.arrived_with(run.segments, &run.last, &mut gathered);
        self.rack.arrived(now, &run.last, self.rtt.min());
        self.scoreboard.advance(ack);
        let delayed = run.segments == 1 && self.is_runt(old_una, &gathered);
        let since = |at: Time| now.saturating_sub(at);
        self.take_rtt(now, (since(run.first.at), since(run.last.at)), delayed);
        self.rack.adapt(gathered.prior_delivered(), self.rate.delivered());
        self.set_timer(now);
        self.rate.settle(now, &gathered);
        self.grow(now, run.segments);
        self.follow_window();
    }

    /// True if nothing is lost, out of order or being probed for, and a window is what holds back.
    #[inline(always)]
    fn is_calm(&self) -> bool {
        self.state == State::Open
            && self.probe.is_none()
            && self.scoreboard.is_in_order()
            && !self.hears_marks
            && !self.pacing.is_by_control()
    }
}
