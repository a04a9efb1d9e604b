//! What was sent and is not yet acknowledged, segment by segment (RFC 6675 sections 3 and 4).
//!
//! It keeps the book; it decides nothing. Whether a segment is lost is decided in `loss.rs`, what
//! the window allows in the sender. Each segment has its time of sending, which is what
//! time-based loss detection (RFC 8985) will want.

use crate::tcp::ranges::RangeSet;
use sojourn_packet::Time;
use std::collections::VecDeque;

/// What we believe of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// On its way, for the first time or again.
    InFlight,
    /// Lost and not yet sent again.
    Lost,
    /// Received, by a selective acknowledgement.
    Sacked,
}

/// One segment as it was sent; `end` counts a FIN.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    end: u64,
    at: Time,
    transmission: Transmission,
    fate: Fate,
    retransmitted: bool,
}

impl Sent {
    fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// Numbers transmissions, of new data and old, in the order in which they were made.
pub(crate) type Transmission = u64;

/// What an acknowledgement told about segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivered {
    /// Bytes delivered that were not known to be.
    pub(crate) bytes: u64,
    /// When the oldest segment among them was sent; absent if any of them was sent twice, for
    /// then the acknowledgement may be for either (Karn's rule, RFC 6298 section 3).
    pub(crate) oldest: Option<Time>,
    /// The same of the newest.
    pub(crate) newest: Option<Time>,
    /// The last transmission among those that were delivered.
    pub(crate) latest: Transmission,
    ambiguous: bool,
    /// What was sent twice, the second time after this, was delivered by the first transmission:
    /// the second is younger than any round trip (RFC 8985 section 6.2, step 2).
    plausible: Time,
}

impl Delivered {
    /// Nothing yet, by an acknowledgement at `now` on a path whose least round trip is `min_rtt`.
    pub(crate) fn new(now: Time, min_rtt: Time) -> Delivered {
        Delivered { plausible: now.saturating_sub(min_rtt), ..Delivered::default() }
    }

    fn add(&mut self, sent: &Sent) {
        self.bytes += sent.len();
        if !sent.retransmitted || sent.at <= self.plausible {
            self.latest = self.latest.max(sent.transmission);
        }
        self.ambiguous |= sent.retransmitted;
        if self.ambiguous {
            (self.oldest, self.newest) = (None, None);
        } else {
            self.oldest = self.oldest.or(Some(sent.at));
            self.newest = Some(sent.at);
        }
    }
}

/// The outstanding segments.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Sent>,
    una: u64,
    next: u64,
    sacked: RangeSet,
    /// Bytes that are in flight (RFC 6675's pipe).
    pipe: u64,
    /// Bytes lost and not yet sent again.
    lost: u64,
    /// How many transmissions there were.
    transmissions: Transmission,
    /// Retransmissions in the order in which they were made, with the last byte of each; some have
    /// arrived since.
    retransmissions: VecDeque<(Transmission, u64)>,
    /// Below it, losses have been looked for already.
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
            pipe: 0,
            lost: 0,
            transmissions: 0,
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

    /// Bytes believed to be in the network.
    pub(crate) fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Bytes sent and not cumulatively acknowledged (RFC 5681's FlightSize).
    pub(crate) fn outstanding(&self) -> u64 {
        self.next - self.una
    }

    /// True if a lost segment waits to be sent again.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// What was selectively acknowledged above [`Scoreboard::una`].
    pub(crate) fn sacked(&self) -> &RangeSet {
        &self.sacked
    }

    /// The first segment that ends behind `offset`.
    fn position(&self, offset: u64) -> usize {
        self.segments.partition_point(|sent| sent.end <= offset)
    }

    /// New data up to `end` is sent.
    pub(crate) fn send(&mut self, now: Time, end: u64) {
        let start = self.next;
        self.transmissions += 1;
        self.segments.push_back(Sent {
            start,
            end,
            at: now,
            transmission: self.transmissions,
            fate: Fate::InFlight,
            retransmitted: false,
        });
        self.pipe += end - start;
        self.next = end;
    }

    /// The first lost segment that was not sent again.
    pub(crate) fn next_lost(&mut self) -> Option<(u64, u64)> {
        if self.lost == 0 {
            return None;
        }
        let from = self.position(self.retransmit_from);
        let found = self.segments.range(from..).find(|sent| sent.fate == Fate::Lost)?;
        self.retransmit_from = found.start;
        Some((found.start, found.end))
    }

    /// The segment that [`Scoreboard::next_lost`] named is sent again.
    pub(crate) fn resend(&mut self, now: Time, start: u64) {
        let position = self.position(start);
        if let Some(sent) = self.segments.get_mut(position)
            && sent.fate == Fate::Lost
        {
            sent.fate = Fate::InFlight;
            sent.retransmitted = true;
            sent.at = now;
            self.transmissions += 1;
            sent.transmission = self.transmissions;
            self.pipe += sent.len();
            self.lost -= sent.len();
            self.retransmit_from = sent.end;
            self.retransmissions.push_back((sent.transmission, sent.end - 1));
        }
    }

    /// Everything below `ack` has arrived.
    pub(crate) fn acknowledge(&mut self, ack: u64, delivered: &mut Delivered) {
        while let Some(front) = self.segments.front_mut()
            && front.start < ack
        {
            // A segment acknowledged in part stays with its rest.
            let part = Sent { end: front.end.min(ack), ..*front };
            match part.fate {
                Fate::InFlight => self.pipe -= part.len(),
                Fate::Lost => self.lost -= part.len(),
                Fate::Sacked => {}
            }
            if part.fate != Fate::Sacked {
                delivered.add(&part);
            }
            if front.end > ack {
                front.start = ack;
                break;
            }
            self.segments.pop_front();
        }
        self.una = self.una.max(ack);
        self.sacked.remove_below(ack);
        self.examined = self.examined.max(ack);
        self.retransmit_from = self.retransmit_from.max(ack);
    }

    /// The bytes `[start, end)` have arrived out of order.
    pub(crate) fn sack(&mut self, start: u64, end: u64, delivered: &mut Delivered) {
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
                if sent.fate == Fate::Sacked || !sacked.covers(sent.start, sent.end) {
                    continue;
                }
                match sent.fate {
                    Fate::Lost => self.lost -= sent.len(),
                    _ => self.pipe -= sent.len(),
                }
                delivered.add(sent);
                sent.fate = Fate::Sacked;
            }
        }
        self.sacked = sacked;
    }

    /// Segments that end at or below `boundary`, have not arrived and were not sent again are
    /// lost.
    pub(crate) fn lose_below(&mut self, boundary: u64) {
        let from = self.position(self.examined);
        for sent in self.segments.range_mut(from..) {
            if sent.end > boundary {
                break;
            }
            self.examined = sent.end;
            if sent.fate == Fate::InFlight && !sent.retransmitted {
                sent.fate = Fate::Lost;
                self.pipe -= sent.len();
                self.lost += sent.len();
                self.retransmit_from = self.retransmit_from.min(sent.start);
            }
        }
    }

    /// Retransmissions made before `latest` that have not arrived are lost once more.
    pub(crate) fn lose_retransmissions_before(&mut self, latest: Transmission) {
        while let Some(&(transmission, last)) = self.retransmissions.front()
            && transmission < latest
        {
            self.retransmissions.pop_front();
            let position = self.position(last);
            if let Some(sent) = self.segments.get_mut(position)
                && sent.transmission == transmission
                && sent.fate == Fate::InFlight
            {
                sent.fate = Fate::Lost;
                self.pipe -= sent.len();
                self.lost += sent.len();
                self.retransmit_from = self.retransmit_from.min(sent.start);
            }
        }
    }

    /// Everything that has not arrived is lost (RFC 6675 section 5.1: what was selectively
    /// acknowledged stays so).
    pub(crate) fn lose_all(&mut self) {
        for sent in &mut self.segments {
            if sent.fate == Fate::InFlight {
                sent.fate = Fate::Lost;
                self.lost += sent.len();
            }
        }
        self.pipe = 0;
        self.retransmissions.clear();
        self.examined = self.next;
        self.retransmit_from = self.una;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Send,
        Resend,
        Ack(u64),
        Sack(u64, u64),
        LoseBelow(u64),
        LoseRetransmissions(u64),
        LoseAll,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => Just(Step::Send),
            2 => Just(Step::Resend),
            2 => (0u64..40).prop_map(Step::Ack),
            4 => (0u64..40, 1u64..5).prop_map(|(start, len)| Step::Sack(start, start + len)),
            1 => (0u64..40).prop_map(Step::LoseBelow),
            1 => (0u64..60).prop_map(Step::LoseRetransmissions),
            1 => Just(Step::LoseAll),
        ]
    }

    proptest! {
        #[test]
        fn every_outstanding_byte_is_counted_exactly_once(
            steps in proptest::collection::vec(step(), 1..120)
        ) {
            let mut board = Scoreboard::new(0);
            let mut delivered = Delivered::default();
            for (step, now) in steps.into_iter().zip((0..).map(Time)) {
                match step {
                    Step::Send => board.send(now, board.next() + 10),
                    Step::Resend => {
                        if let Some((start, _)) = board.next_lost() { board.resend(now, start) }
                    }
                    // Acknowledgements move forward, mostly by whole segments.
                    Step::Ack(n) if n * 10 >= board.una() && n * 10 <= board.next() => {
                        board.acknowledge(n * 10, &mut delivered);
                    }
                    Step::Ack(_) => {}
                    Step::Sack(start, end) => board.sack(start * 10, end * 10, &mut delivered),
                    Step::LoseBelow(n) => board.lose_below(n * 10),
                    Step::LoseRetransmissions(latest) => {
                        board.lose_retransmissions_before(latest);
                        let old = |s: &&Sent| s.retransmitted && s.transmission < latest;
                        let mut old = board.segments.iter().filter(old);
                        prop_assert!(old.all(|s| s.fate != Fate::InFlight));
                    }
                    Step::LoseAll => board.lose_all(),
                }
                let of = |fate| -> u64 {
                    board.segments.iter().filter(|s| s.fate == fate).map(Sent::len).sum()
                };
                prop_assert_eq!(of(Fate::InFlight), board.pipe);
                prop_assert_eq!(of(Fate::Lost), board.lost);
                let sacked: u64 = board.sacked.iter().map(|(s, e)| e - s).sum();
                prop_assert_eq!(of(Fate::Sacked), sacked);
                prop_assert_eq!(board.una + sacked, delivered.bytes);
                let first_lost = board.segments.iter().find(|s| s.fate == Fate::Lost).copied();
                prop_assert_eq!(board.next_lost(), first_lost.map(|s| (s.start, s.end)));
            }
        }
    }
}
