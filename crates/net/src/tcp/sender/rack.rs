//! Loss detection by the time since a segment was sent: RACK (RFC 8985 section 6) as in Linux. A
//! segment is lost when one sent after it has arrived and a round trip and the reordering window
//! have passed since. Applies to retransmissions, too.
//!
//! As long as no reordering was seen the window is nothing once three segments have arrived out of
//! order, which is the old rule of three duplicates; it grows when duplicates show that segments
//! were only late (section 6.2, step 4).

use super::scoreboard::{Judgement, Scoreboard, Sent};
use sojourn_packet::Time;

/// Segments out of order that are enough for a loss (RFC 5681's three duplicates).
const DUP_THRESH: u32 = 3;
/// The reordering that is believed in at most, in segments.
const MAX_REORDERING: u32 = 300;
/// Recoveries for which a grown window stays (step 4).
const PERSISTENCE: u8 = 16;

/// The newest transmission that has arrived, and what is believed of reordering.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Its number, which orders even transmissions of the same time, and its round-trip time.
    newest: u64,
    rtt: Time,
    /// Something has arrived since losses were looked for.
    advanced: bool,
    /// The reordering window in quarters of the least round-trip time.
    steps: u8,
    /// Recoveries for which it stays so.
    persist: u8,
    /// Duplicates were reported in the round that began at so many segments delivered.
    dsack_seen: bool,
    dsack_round: u64,
    /// Segments by which others have overtaken one, at most; at least [`DUP_THRESH`].
    reordering: u32,
    reordering_seen: bool,
}

/// Inputs of the reordering window beyond RACK itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) now: Time,
    pub(crate) min_rtt: Time,
    pub(crate) srtt: Time,
    /// The sender is in fast recovery or recovers from a timeout.
    pub(crate) in_recovery: bool,
}

impl Rack {
    pub(crate) fn new() -> Rack {
        Rack {
            newest: 0,
            rtt: Time::ZERO,
            advanced: false,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            dsack_round: 0,
            reordering: DUP_THRESH,
            reordering_seen: false,
        }
    }

    /// A segment has arrived (steps 2 and 3). If it was sent twice, the second time less than a
    /// round trip ago, it was the first transmission that arrived, which says nothing.
    pub(crate) fn arrived(&mut self, now: Time, sent: &Sent, min_rtt: Time) {
        let rtt = now.saturating_sub(sent.at);
        if sent.retransmitted && rtt < min_rtt {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        self.newest = self.newest.max(sent.transmission);
    }

    /// Losses must be looked for, whatever arrived.
    pub(crate) fn look_again(&mut self) {
        self.advanced = true;
    }

    fn window(&self, path: &Path, sacked: u32) -> Time {
        if !self.reordering_seen && (path.in_recovery || sacked >= self.reordering) {
            return Time::ZERO;
        }
        Time(path.min_rtt.0 / 4 * u64::from(self.steps)).min(path.srtt)
    }

    /// Time until a segment sent at `at` is lost, for a reordering window; 0 if it is.
    fn remaining(&self, now: Time, at: Time, window: Time) -> Time {
        (self.rtt + window).saturating_sub(now.saturating_sub(at))
    }

    /// True if a segment that has not arrived when the retransmission timer expires may still be
    /// on its way.
    pub(crate) fn is_recent(&self, now: Time, sent: &Sent) -> bool {
        self.remaining(now, sent.at, Time::ZERO) > Time::ZERO
    }

    /// Marks what is lost if something has arrived since the last time (step 5); when to look
    /// again, if a segment may only be late.
    pub(crate) fn detect(&mut self, board: &mut Scoreboard, path: &Path) -> Option<Time> {
        if std::mem::take(&mut self.advanced) { self.detect_now(board, path) } else { None }
    }

    /// The same because the reordering window has passed.
    pub(crate) fn detect_now(&self, board: &mut Scoreboard, path: &Path) -> Option<Time> {
        let window = self.window(path, board.sacked_out());
        let mut longest = Time::ZERO;
        board.judge(|at, transmission| {
            if transmission >= self.newest {
                return Judgement::Later;
            }
            match self.remaining(path.now, at, window) {
                Time::ZERO => Judgement::Lost,
                remaining => {
                    longest = longest.max(remaining);
                    Judgement::Wait
                }
            }
        });
        (longest > Time::ZERO).then_some(longest)
    }

    /// A segment sent once has arrived after others up to `highest` that were sent after it.
    pub(crate) fn reordered(&mut self, start: u64, highest: u64, mss: u32) {
        if start >= highest {
            return;
        }
        let distance = (highest - start).div_ceil(u64::from(mss));
        let distance = distance.min(u64::from(MAX_REORDERING)) as u32;
        self.reordering = self.reordering.max(distance);
        self.reordering_seen = true;
    }

    /// True if more reordering was seen than three duplicates allow for.
    pub(crate) fn is_reordered(&self) -> bool {
        self.reordering > DUP_THRESH
    }

    /// Segments that arrived before a timeout show that `reordering` is too large.
    pub(crate) fn distrust(&mut self, sacked: u32) {
        if sacked >= DUP_THRESH {
            self.reordering = self.reordering.min(DUP_THRESH);
        }
    }

    /// The receiver got a segment twice, which no loss probe explains.
    pub(crate) fn duplicate(&mut self) {
        self.dsack_seen |= self.reordering_seen;
    }

    /// Step 4, once an acknowledgement: a duplicate in this round widens the window.
    pub(crate) fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered == 0 {
            return;
        }
        if prior_delivered < self.dsack_round {
            self.dsack_seen = false;
        }
        if std::mem::take(&mut self.dsack_seen) {
            self.steps = self.steps.saturating_add(1);
            self.dsack_round = delivered;
            self.persist = PERSISTENCE;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A recovery has ended; `undone` if it was for nothing.
    pub(crate) fn recovered(&mut self, undone: bool) {
        self.persist = if undone {
            (self.persist + 1).min(PERSISTENCE)
        } else {
            self.persist.saturating_sub(1)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::sender::rate::Snapshot;

    const MS: fn(u64) -> Time = Time::from_millis;
    const MSS: u64 = 1000;

    /// Ten segments, sent 1 ms apart from time zero on.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::new(0);
        (0..10).for_each(|n| board.send(MS(n), (n + 1) * MSS, Snapshot::default()));
        board
    }

    fn path(now: Time) -> Path {
        Path { now, min_rtt: MS(40), srtt: MS(50), in_recovery: false }
    }

    /// Segment `n` arrives out of order, 40 ms after it was sent.
    fn sack(rack: &mut Rack, board: &mut Scoreboard, n: u64) -> Option<Time> {
        let now = MS(40 + n);
        board.sack(n * MSS, (n + 1) * MSS, |sent| rack.arrived(now, sent, MS(40)));
        rack.detect(board, &path(now))
    }

    #[test]
    fn a_segment_is_lost_a_quarter_round_trip_after_one_sent_later_has_arrived() {
        let (mut rack, mut board) = (Rack::new(), board());
        // Segment 0 was sent 41 ms before; with the window of 10 ms it has 9 ms left.
        assert_eq!(sack(&mut rack, &mut board, 1), Some(MS(9)));
        assert_eq!(board.lost_out(), 0);
        assert_eq!(rack.detect_now(&mut board, &path(MS(50))), None);
        assert_eq!(board.lost_out(), 1);
    }

    #[test]
    fn three_segments_out_of_order_are_enough_as_long_as_nothing_was_reordered() {
        let (mut rack, mut board) = (Rack::new(), board());
        sack(&mut rack, &mut board, 1);
        sack(&mut rack, &mut board, 2);
        assert_eq!(board.lost_out(), 0);
        assert_eq!(sack(&mut rack, &mut board, 3), None);
        assert_eq!(board.lost_out(), 1);
        let (mut rack, mut board) = (Rack::new(), self::board());
        rack.reordered(0, 2 * MSS, MSS as u32);
        (1..6).for_each(|n| assert!(sack(&mut rack, &mut board, n).is_some()));
        assert_eq!(board.lost_out(), 0, "it may be late again");
    }

    #[test]
    fn a_retransmission_is_lost_when_something_sent_after_it_has_arrived() {
        let (mut rack, mut board) = (Rack::new(), board());
        for n in 1..4 {
            sack(&mut rack, &mut board, n);
        }
        let (start, _) = board.next_lost().expect("segment 0");
        board.resend(MS(43), start, Snapshot::default());
        board.send(MS(44), 11 * MSS, Snapshot::default());
        let recovery = |now| Path { in_recovery: true, ..path(now) };
        // Earlier transmissions give no information about it.
        board.sack(4 * MSS, 10 * MSS, |sent| rack.arrived(MS(60), sent, MS(40)));
        assert_eq!(rack.detect(&mut board, &recovery(MS(60))), None);
        assert_eq!((board.lost_out(), board.resent_out()), (1, 1));
        board.sack(10 * MSS, 11 * MSS, |sent| rack.arrived(MS(84), sent, MS(40)));
        rack.detect(&mut board, &recovery(MS(84)));
        assert_eq!((board.lost_out(), board.resent_out()), (1, 0));
    }

    #[test]
    fn a_segment_that_arrives_sooner_than_its_retransmission_can_moves_nothing() {
        let (mut rack, mut board) = (Rack::new(), board());
        for n in 1..4 {
            sack(&mut rack, &mut board, n);
        }
        let (start, _) = board.next_lost().expect("segment 0");
        board.resend(MS(43), start, Snapshot::default());
        let newest = rack.newest;
        board.acknowledge(MSS, |sent| rack.arrived(MS(60), sent, MS(40)));
        assert_eq!(rack.newest, newest);
    }

    #[test]
    fn duplicates_widen_the_window_once_a_round_up_to_the_round_trip_time() {
        let mut rack = Rack::new();
        rack.duplicate();
        rack.adapt(5, 10);
        assert_eq!(
            rack.steps, 1,
            "without reordering a duplicate is a loss probe's or a timeout's"
        );
        rack.reordered(0, 5000, 1000);
        rack.duplicate();
        rack.adapt(5, 10);
        assert_eq!(rack.window(&path(MS(0)), 0), MS(20));
        rack.duplicate();
        rack.adapt(9, 12);
        assert_eq!(rack.steps, 2, "the same round");
        (0..10).for_each(|n| {
            rack.duplicate();
            rack.adapt(20 + n * 10, 30 + n * 10);
        });
        assert_eq!(rack.window(&path(MS(0)), 0), MS(50), "the smoothed round-trip time");
    }

    #[test]
    fn a_grown_window_stays_for_sixteen_recoveries() {
        let mut rack = Rack::new();
        rack.reordered(0, 5000, 1000);
        rack.duplicate();
        rack.adapt(5, 10);
        for n in 0..16 {
            rack.adapt(20 + n, 30 + n);
            assert_eq!(rack.steps, 2);
            rack.recovered(false);
        }
        rack.adapt(50, 60);
        assert_eq!(rack.steps, 1);
    }
}
