//! Delivery opportunities: a port that sends when a recorded trace lets it, as mahimahi's
//! `mm-link` does (`traces/README`, `src/frontend/link_queue.cc`).
//!
//! A trace lists milliseconds. Each opportunity carries 1,504 bytes: one full IP packet and the four
//! bytes that mahimahi's TUN device puts in front of it. An opportunity serves several small packets
//! or a part of a large one. Bytes that no packet uses are lost. The trace repeats, and its last
//! millisecond is its period. A packet has passed at the last opportunity that serves it.
//!
//! A packet that arrives at the very instant of an opportunity finds it used. The module must not
//! depend on a packet's content.

use sojourn_packet::{Rate, Time};
use std::sync::Arc;

/// Bytes that one opportunity carries.
pub const OPPORTUNITY_BYTES: u32 = 1_504;
/// Difference of a packet's length on the wire to mahimahi's count: its Ethernet header, less TUN's.
const ETHERNET_WITHOUT_TUN: u32 = 14 - 4;
/// A frame that takes an opportunity whole.
const FULL_FRAME: u32 = OPPORTUNITY_BYTES + ETHERNET_WITHOUT_TUN;
const MILLISECOND: u64 = 1_000_000;

/// A trace of opportunities that repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTrace {
    /// Milliseconds that have opportunities, and how many; the milliseconds increase.
    opportunities: Arc<[(u64, u32)]>,
}

impl LinkTrace {
    /// The trace, if it has opportunities in increasing milliseconds of which the last is above 0.
    pub fn new(opportunities: impl Into<Arc<[(u64, u32)]>>) -> Option<LinkTrace> {
        let opportunities = opportunities.into();
        let increasing = opportunities.windows(2).all(|two| two[0].0 < two[1].0);
        let none_empty = opportunities.iter().all(|(_, count)| *count > 0);
        let lasts = opportunities.last().is_some_and(|(last, _)| *last > 0);
        (increasing && none_empty && lasts).then_some(LinkTrace { opportunities })
    }

    /// The rate of full frames of 1,514 bytes that it lets through on average.
    pub fn mean_rate(&self) -> Rate {
        let opportunities: u128 = self.opportunities.iter().map(|(_, n)| u128::from(*n)).sum();
        let bits = opportunities * u128::from(FULL_FRAME) * 8 * 1_000;
        Rate((bits / u128::from(self.period())).min(u128::from(u64::MAX)) as u64)
    }

    fn period(&self) -> u64 {
        self.opportunities.last().map_or(1, |(last, _)| *last)
    }

    /// The place of an opportunity's millisecond and its instant.
    fn instant(&self, round: u64, place: usize) -> Time {
        let (at, _) = self.opportunities[place];
        Time(round.saturating_mul(self.period()).saturating_add(at).saturating_mul(MILLISECOND))
    }
}

/// Position of a port in a trace.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    trace: LinkTrace,
    /// The next millisecond with opportunities: how often the trace has repeated, and its place.
    round: u64,
    place: usize,
    /// Number of used opportunities in that millisecond.
    used: u32,
    /// The opportunity that was used last, and the bytes that it has left.
    at: Time,
    left: u32,
}

impl Opportunities {
    pub fn new(trace: LinkTrace) -> Opportunities {
        Opportunities { trace, round: 0, place: 0, used: 0, at: Time::ZERO, left: 0 }
    }

    /// Earliest start of transmission of a packet that waits at `now`.
    pub fn ready(&mut self, now: Time) -> Time {
        if self.at < now {
            // Earlier opportunities, and those at the packet's arrival, are lost.
            self.left = 0;
            while self.next() <= now {
                self.skip();
            }
        }
        if self.left > 0 { self.at } else { self.next() }
    }

    /// A packet of `length` bytes begins to pass at `now`, when it was ready.
    pub fn charge(&mut self, now: Time, length: u32) {
        let mut missing = length.saturating_sub(ETHERNET_WITHOUT_TUN).max(1);
        if self.at < now {
            self.left = 0;
        }
        loop {
            let paid = missing.min(self.left);
            self.left -= paid;
            missing -= paid;
            if missing == 0 {
                return;
            }
            self.take();
        }
    }

    /// End of transmission of the packet charged last.
    pub fn passed(&self) -> Time {
        self.at
    }

    /// The instant of the next unused opportunity.
    fn next(&self) -> Time {
        self.trace.instant(self.round, self.place)
    }

    fn take(&mut self) {
        self.at = self.next();
        self.left = OPPORTUNITY_BYTES;
        self.used += 1;
        if self.used == self.trace.opportunities[self.place].1 {
            self.skip();
        }
    }

    /// Goes on to the next millisecond with opportunities.
    fn skip(&mut self) {
        self.used = 0;
        self.place += 1;
        if self.place == self.trace.opportunities.len() {
            self.place = 0;
            self.round += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opportunities(given: &[(u64, u32)]) -> Opportunities {
        Opportunities::new(LinkTrace::new(given.to_vec()).expect("a trace"))
    }

    /// Packets of these frame lengths that wait from 0 on: when each has passed, in ms.
    fn passed(given: &[(u64, u32)], lengths: &[u32]) -> Vec<u64> {
        let mut opportunities = opportunities(given);
        let mut now = Time(1);
        let one = |length: &u32| {
            now = opportunities.ready(now);
            opportunities.charge(now, *length);
            opportunities.passed().0 / MILLISECOND
        };
        lengths.iter().map(one).collect()
    }

    #[test]
    fn a_file_of_one_line_is_a_full_packet_each_millisecond() {
        assert_eq!(passed(&[(1, 1)], &[1514; 4]), [1, 2, 3, 4]);
    }

    #[test]
    fn a_line_of_zero_is_at_the_start_of_each_period_and_lines_of_one_instant_all_count() {
        assert_eq!(passed(&[(0, 1), (3, 2)], &[1514; 7]), [3, 3, 3, 6, 6, 6, 9]);
    }

    #[test]
    fn an_opportunity_serves_several_small_packets_and_a_part_of_a_large_one() {
        // 490 + 10 bytes are 490 for mahimahi: three in one opportunity, then 34 bytes are left.
        assert_eq!(passed(&[(1, 1)], &[500; 4]), [1, 1, 1, 2]);
        assert_eq!(passed(&[(1, 1)], &[1010, 1514, 514]), [1, 2, 2]);
    }

    #[test]
    fn delivery_opportunities_without_a_packet_are_lost() {
        let mut opportunities = opportunities(&[(1, 1)]);
        let first = opportunities.ready(Time(0));
        opportunities.charge(first, 60);
        // 1,454 bytes were left at 1 ms.
        assert_eq!(opportunities.ready(Time(1_000_001)), Time(2 * MILLISECOND));
        assert_eq!(opportunities.ready(Time(7 * MILLISECOND)), Time(8 * MILLISECOND));
    }

    #[test]
    fn no_trace_is_made_of_nothing_of_zeros_or_of_milliseconds_that_go_back() {
        for wrong in [vec![], vec![(0, 4)], vec![(2, 1), (1, 1)], vec![(1, 0), (2, 1)]] {
            assert_eq!(LinkTrace::new(wrong), None);
        }
    }
}
