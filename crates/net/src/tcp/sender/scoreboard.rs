//! SACK scoreboard: the segments sent and not yet acknowledged (RFC 6675 sections 3 and 4).
//!
//! The scoreboard records state and makes no decisions. `rack.rs` decides whether a segment is
//! lost, and `transmit.rs` decides how much the window allows. Counts are in segments, as in Linux.

use super::rate::Snapshot;
use crate::tcp::ranges::RangeSet;
use sojourn_packet::{Time, make_room};
use std::collections::VecDeque;

/// One segment as it was sent; `end` counts a FIN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Time of its last transmission, and the number of that transmission.
    pub(crate) at: Time,
    pub(crate) transmission: u64,
    /// State of delivery at that time.
    pub(crate) snapshot: Snapshot,
    /// It has arrived, by a selective acknowledgement.
    pub(crate) sacked: bool,
    /// It is held for lost.
    lost: bool,
    /// It was lost and a retransmission is on its way.
    resent: bool,
    /// It was sent more than once.
    pub(crate) retransmitted: bool,
}

impl Sent {
    /// True if it is completely below `ack`, was sent once and has no feedback so far.
    #[inline(always)]
    fn is_plain_below(&self, ack: u64) -> bool {
        self.end <= ack && !(self.sacked | self.lost | self.resent | self.retransmitted)
    }
}

/// Segments in the order of sending, each sent once and arrived in order. They are looked at where they
/// lie: to copy what was written a piece at a time is to wait for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainRun<'a> {
    pub(crate) first: &'a Sent,
    pub(crate) last: &'a Sent,
    pub(crate) segments: u32,
    /// Behind them is another that has arrived, or a part of it.
    pub(crate) goes_on: bool,
}

/// Verdict of loss detection on a segment in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It is lost.
    Lost,
    /// It may only be late; neither is known yet.
    Wait,
    /// Nothing sent after it has arrived; the same holds for all that were sent later.
    Later,
}

/// The outstanding segments.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Sent>,
    una: u64,
    next: u64,
    sacked: RangeSet,
    sacked_out: u32,
    lost_out: u32,
    resent_out: u32,
    /// Number of transmissions, and number of segments found lost.
    transmissions: u64,
    lost_total: u64,
    /// Retransmissions in the order in which they were made, with the last byte of each; some have
    /// arrived since.
    retransmissions: VecDeque<(u64, u64)>,
    /// Below it, no segment is on its way for the first time.
    examined: u64,
    /// Below it, no segment waits to be sent again.
    retransmit_from: u64,
}

impl Scoreboard {
    /// Nothing sent; the first byte will have offset `next`.
    pub(crate) fn new(next: u64) -> Scoreboard {
        Scoreboard {
            segments: VecDeque::new(),
            una: next,
            next,
            sacked: RangeSet::default(),
            sacked_out: 0,
            lost_out: 0,
            resent_out: 0,
            transmissions: 0,
            lost_total: 0,
            retransmissions: VecDeque::new(),
            examined: next,
            retransmit_from: next,
        }
    }

    /// The oldest unacknowledged offset (SND.UNA).
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// The offset to send next (SND.NXT).
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Segments sent and not cumulatively acknowledged.
    pub(crate) fn outstanding(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Segments believed to be in the network (RFC 6675's pipe).
    pub(crate) fn in_flight(&self) -> u32 {
        self.outstanding() + self.resent_out - self.sacked_out - self.lost_out
    }

    /// Segments that were selectively acknowledged.
    pub(crate) fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    /// Segments held for lost, sent again or not.
    pub(crate) fn lost_out(&self) -> u32 {
        self.lost_out
    }

    /// Retransmissions of lost segments that are on their way.
    pub(crate) fn resent_out(&self) -> u32 {
        self.resent_out
    }

    /// True if a lost segment waits to be sent again.
    pub(crate) fn has_unsent_loss(&self) -> bool {
        self.lost_out > self.resent_out
    }

    /// Number of segments found lost.
    pub(crate) fn lost_total(&self) -> u64 {
        self.lost_total
    }

    /// Behind the highest offset that was selectively acknowledged; [`Scoreboard::una`] if none.
    pub(crate) fn highest_sacked(&self) -> u64 {
        self.sacked.iter().next_back().map_or(self.una, |(_, end)| end)
    }

    /// The oldest segment.
    pub(crate) fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// The newest segment.
    pub(crate) fn back(&self) -> Option<&Sent> {
        self.segments.back()
    }

    /// The first segment that ends behind `offset`.
    fn position(&self, offset: u64) -> usize {
        self.segments.partition_point(|sent| sent.end <= offset)
    }

    /// New data up to `end` is sent.
    #[inline]
    pub(crate) fn send(&mut self, now: Time, end: u64, snapshot: Snapshot) {
        let start = self.next;
        self.transmissions += 1;
        make_room(&mut self.segments);
        self.segments.push_back(Sent {
            start,
            end,
            at: now,
            transmission: self.transmissions,
            snapshot,
            sacked: false,
            lost: false,
            resent: false,
            retransmitted: false,
        });
        self.next = end;
    }

    /// The first lost segment that was not sent again.
    pub(crate) fn next_lost(&mut self) -> Option<(u64, u64)> {
        if !self.has_unsent_loss() {
            return None;
        }
        let from = self.position(self.retransmit_from);
        let found = self.segments.range(from..).find(|sent| sent.lost && !sent.resent)?;
        self.retransmit_from = found.start;
        Some((found.start, found.end))
    }

    /// The segment that begins at `start` is sent again, for a loss or as a probe.
    pub(crate) fn resend(&mut self, now: Time, start: u64, snapshot: Snapshot) {
        let position = self.position(start);
        let Some(sent) = self.segments.get_mut(position) else { return };
        self.transmissions += 1;
        sent.retransmitted = true;
        sent.at = now;
        sent.transmission = self.transmissions;
        sent.snapshot = snapshot;
        if sent.lost && !sent.resent {
            sent.resent = true;
            self.resent_out += 1;
            self.retransmit_from = sent.end;
        }
        self.retransmissions.push_back((sent.transmission, sent.end - 1));
    }

    /// Everything below `ack` has arrived: the segments at the front that were sent once and have
    /// no feedback so far, if there are any. [`Scoreboard::take`] takes them; the rest is for
    /// [`Scoreboard::acknowledge`], and then [`Scoreboard::advance`].
    #[inline(always)]
    pub(crate) fn plain_run(&self, ack: u64) -> Option<PlainRun<'_>> {
        let first = self.segments.front().filter(|front| front.is_plain_below(ack))?;
        let (mut last, mut segments) = (first, 1);
        while let Some(next) = self.segments.get(segments as usize) {
            if !next.is_plain_below(ack) {
                let goes_on = next.start < ack;
                return Some(PlainRun { first, last, segments, goes_on });
            }
            (last, segments) = (next, segments + 1);
        }
        Some(PlainRun { first, last, segments, goes_on: false })
    }

    /// Takes so many segments, which were looked at as a [`PlainRun`].
    #[inline(always)]
    pub(crate) fn take(&mut self, segments: u32) {
        for _ in 0..segments {
            self.segments.pop_front();
        }
    }

    /// True if nothing has arrived out of order of what is outstanding.
    #[inline(always)]
    pub(crate) fn is_in_order(&self) -> bool {
        self.sacked.is_empty()
    }

    /// Takes the segments that everything below `ack` has arrived of; `each` sees those that are done.
    pub(crate) fn acknowledge(&mut self, ack: u64, mut each: impl FnMut(&Sent)) {
        while let Some(front) = self.segments.front_mut()
            && front.start < ack
        {
            if front.end > ack {
                // A segment acknowledged in part stays with its rest.
                front.start = ack;
                break;
            }
            self.sacked_out -= u32::from(front.sacked);
            self.lost_out -= u32::from(front.lost);
            self.resent_out -= u32::from(front.resent);
            each(front);
            self.segments.pop_front();
        }
    }

    /// Everything below `ack` has arrived, and its segments were taken.
    #[inline(always)]
    pub(crate) fn advance(&mut self, ack: u64) {
        self.una = self.una.max(ack);
        self.sacked.remove_below(ack);
        self.examined = self.examined.max(ack);
        self.retransmit_from = self.retransmit_from.max(ack);
        if self.segments.is_empty() {
            self.retransmissions.clear();
        }
    }

    /// The bytes `[start, end)` have arrived out of order; calls `each` with the segments that were
    /// not known to have.
    pub(crate) fn sack(&mut self, start: u64, end: u64, mut each: impl FnMut(&Sent)) {
        let (start, end) = (start.max(self.una), end.min(self.next));
        if start >= end || self.sacked.covers(start, end) {
            return;
        }
        let mut sacked = std::mem::take(&mut self.sacked);
        let mut gaps = smallvec::SmallVec::<[(u64, u64); 4]>::new();
        sacked.for_each_gap(start, end, |s, e| gaps.push((s, e)));
        sacked.insert(start, end);
        for (gap_start, gap_end) in gaps {
            let from = self.position(gap_start);
            for sent in self.segments.range_mut(from..) {
                if sent.start >= gap_end {
                    break;
                }
                // A segment whose other part is still missing waits for it.
                if sent.sacked || !sacked.covers(sent.start, sent.end) {
                    continue;
                }
                each(sent);
                self.lost_out -= u32::from(sent.lost);
                self.resent_out -= u32::from(sent.resent);
                self.sacked_out += 1;
                (sent.sacked, sent.lost, sent.resent) = (true, false, false);
            }
        }
        self.sacked = sacked;
    }

    /// Examines the segments in flight that were sent before the newest known to have arrived,
    /// first transmissions and retransmissions each in the order of sending, until `judge`, called
    /// with the time and number of the transmission, says that the rest is later.
    pub(crate) fn judge(&mut self, mut judge: impl FnMut(Time, u64) -> Judgement) {
        self.judge_originals(&mut judge);
        self.judge_retransmissions(&mut judge);
    }

    fn judge_originals(&mut self, judge: &mut impl FnMut(Time, u64) -> Judgement) {
        let mut all_settled = true;
        let mut at = self.position(self.examined);
        while let Some(sent) = self.segments.get(at) {
            if sent.sacked {
                let behind = self.sacked.end_of_range_with(sent.start).unwrap_or(sent.end);
                at = self.position(behind).max(at + 1);
            } else {
                at += 1;
                let (when, number) = (sent.at, sent.transmission);
                if !sent.retransmitted && !sent.lost {
                    match judge(when, number) {
                        Judgement::Lost => self.mark_lost(at - 1),
                        Judgement::Wait => all_settled = false,
                        Judgement::Later => break,
                    }
                }
            }
            if all_settled && let Some(last) = self.segments.get(at - 1) {
                self.examined = self.examined.max(last.end);
            }
        }
    }

    fn judge_retransmissions(&mut self, judge: &mut impl FnMut(Time, u64) -> Judgement) {
        let mut n = 0;
        while let Some(&(transmission, last)) = self.retransmissions.get(n) {
            let position = self.position(last);
            let alive = self.segments.get(position).filter(|sent| {
                sent.transmission == transmission && !sent.sacked && (!sent.lost || sent.resent)
            });
            let judgement = alive.map(|sent| judge(sent.at, sent.transmission));
            match judgement {
                Some(Judgement::Later) => break,
                Some(Judgement::Lost) => self.mark_lost(position),
                Some(Judgement::Wait) => {}
                None if n == 0 => {
                    self.retransmissions.pop_front();
                    continue;
                }
                None => {}
            }
            n += 1;
        }
    }

    fn mark_lost(&mut self, position: usize) {
        let Some(sent) = self.segments.get_mut(position) else { return };
        if sent.resent {
            sent.resent = false;
            self.resent_out -= 1;
        } else {
            sent.lost = true;
            self.lost_out += 1;
        }
        self.lost_total += 1;
        self.retransmit_from = self.retransmit_from.min(sent.start);
    }

    /// The timer has expired: what has not arrived is lost (RFC 6675 section 5.1: what was
    /// selectively acknowledged stays so), except what `keep` says may still be on its way.
    pub(crate) fn lose_all(&mut self, keep: impl Fn(&Sent) -> bool) {
        for position in 0..self.segments.len() {
            let sent = &self.segments[position];
            let waits = sent.lost && !sent.resent;
            if !sent.sacked && !waits && (position == 0 || !keep(sent)) {
                self.mark_lost(position);
            }
        }
        self.retransmit_from = self.una;
    }

    /// Nothing was lost after all. What was not sent again is on its way for the first time and
    /// may yet be found lost.
    pub(crate) fn forget_losses(&mut self) {
        for sent in &mut self.segments {
            sent.lost = false;
        }
        self.lost_out = 0;
        self.examined = self.una;
        self.retransmit_from = self.una;
    }

    /// The receiver has got `[start, end)` twice; how many retransmissions of that are explained.
    pub(crate) fn arrived_twice(&mut self, start: u64, end: u64) -> u32 {
        let from = self.position(start);
        let mut explained = 0;
        for sent in self.segments.range_mut(from..) {
            if sent.start >= end {
                break;
            }
            explained += u32::from(sent.retransmitted && sent.end <= end && sent.start >= start);
        }
        explained
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_segment_fits_a_line_of_the_cache() {
        assert!(size_of::<Sent>() <= 64, "{} bytes", size_of::<Sent>());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Send,
        Resend,
        ResendLast,
        Ack(u64),
        Sack(u64, u64),
        LoseBefore(u64),
        LoseAll(u64),
        Forget,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => Just(Step::Send),
            3 => Just(Step::Resend),
            1 => Just(Step::ResendLast),
            2 => (0u64..40).prop_map(Step::Ack),
            4 => (0u64..40, 1u64..5).prop_map(|(start, len)| Step::Sack(start, start + len)),
            2 => (0u64..120).prop_map(Step::LoseBefore),
            1 => (0u64..120).prop_map(Step::LoseAll),
            1 => Just(Step::Forget),
        ]
    }

    fn apply(board: &mut Scoreboard, now: Time, step: Step, arrived: &mut u64) {
        let old = Snapshot::default();
        match step {
            Step::Send => board.send(now, board.next() + 10, old),
            Step::Resend => {
                if let Some((start, _)) = board.next_lost() {
                    board.resend(now, start, old);
                }
            }
            Step::ResendLast => {
                if let Some(last) = board.back().filter(|last| !last.sacked && !last.lost) {
                    let start = last.start;
                    board.resend(now, start, old);
                }
            }
            Step::Ack(n) if n * 10 >= board.una() && n * 10 <= board.next() => {
                let plain = board.plain_run(n * 10).map_or(0, |run| run.segments);
                board.take(plain);
                *arrived += u64::from(plain);
                board.acknowledge(n * 10, |sent| *arrived += u64::from(!sent.sacked));
                board.advance(n * 10);
            }
            Step::Ack(_) => {}
            Step::Sack(start, end) => board.sack(start * 10, end * 10, |_| *arrived += 1),
            Step::LoseBefore(then) => board
                .judge(|at, _| if at < Time(then) { Judgement::Lost } else { Judgement::Later }),
            Step::LoseAll(then) => board.lose_all(|sent| sent.at >= Time(then)),
            Step::Forget if board.resent_out == 0 => board.forget_losses(),
            Step::Forget => {}
        }
    }

    proptest! {
        #[test]
        fn the_counts_are_those_of_the_segments_and_nothing_arrives_twice(
            steps in proptest::collection::vec(step(), 1..160)
        ) {
            let mut board = Scoreboard::new(0);
            let mut arrived = 0;
            for (step, now) in steps.into_iter().zip((0..).map(Time)) {
                apply(&mut board, now, step.clone(), &mut arrived);
                let count = |f: &dyn Fn(&Sent) -> bool| board.segments.iter().filter(|s| f(s)).count() as u32;
                prop_assert_eq!(count(&|s| s.sacked), board.sacked_out);
                prop_assert_eq!(count(&|s| s.lost), board.lost_out);
                prop_assert_eq!(count(&|s| s.resent), board.resent_out);
                prop_assert_eq!(count(&|s| s.sacked && (s.lost || s.resent)), 0);
                let flight = count(&|s| !s.sacked && !s.lost) + count(&|s| s.resent);
                prop_assert_eq!(flight, board.in_flight());
                prop_assert_eq!(board.una / 10 + u64::from(board.sacked_out), arrived);
                let first = board.segments.iter().find(|s| s.lost && !s.resent).copied();
                prop_assert_eq!(board.next_lost(), first.map(|s| (s.start, s.end)));
                if let Step::LoseBefore(then) = step {
                    // Whatever is in flight was sent later, but for what an undo has left behind.
                    let early = |s: &&Sent| !s.sacked && (!s.lost || s.resent) && s.at < Time(then);
                    let undone = |s: &Sent| s.retransmitted && !s.resent;
                    prop_assert!(board.segments.iter().filter(early).all(undone));
                }
            }
        }
    }
}
