//! Which segments are lost, judged by what has arrived.
//!
//! Segments sent once: RFC 6675 section 4, `IsLost`. Segments sent again: the rule of RFC 8985
//! section 6.2 (RACK) without its window for reordering, as RFC 6675 would leave a lost
//! retransmission to the timer, which Linux has not done for years. Full RACK-TLP belongs here.

use super::scoreboard::{Scoreboard, Transmission};
use crate::tcp::ranges::RangeSet;

/// How many segments must have arrived behind a segment before it counts as lost.
const DUP_THRESH: u64 = 3;

/// Marks what is lost; `latest` is the last transmission that is known to have arrived.
pub(crate) fn detect(scoreboard: &mut Scoreboard, latest: Transmission, mss: u32) {
    if let Some(boundary) = lost_below(scoreboard.sacked(), mss) {
        scoreboard.lose_below(boundary);
    }
    scoreboard.lose_retransmissions_before(latest);
}

/// Everything outstanding that ends at or below the returned offset and was not selectively
/// acknowledged is lost: behind it, [`DUP_THRESH`] separate ranges or more than `DUP_THRESH - 1`
/// full segments have arrived.
fn lost_below(sacked: &RangeSet, mss: u32) -> Option<u64> {
    let mut bytes = 0;
    for (ranges, (start, end)) in (1..).zip(sacked.iter().rev()) {
        bytes += end - start;
        if ranges >= DUP_THRESH || bytes > (DUP_THRESH - 1) * u64::from(mss) {
            return Some(start);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sacked(ranges: &[(u64, u64)]) -> RangeSet {
        let mut set = RangeSet::default();
        for (start, end) in ranges {
            set.insert(*start, *end);
        }
        set
    }

    #[test]
    fn two_full_segments_behind_a_hole_are_not_enough_and_three_are() {
        assert_eq!(lost_below(&sacked(&[(1000, 3000)]), 1000), None);
        assert_eq!(lost_below(&sacked(&[(1000, 4000)]), 1000), Some(1000));
    }

    #[test]
    fn three_small_ranges_are_enough() {
        let ranges = [(1000, 1010), (2000, 2010), (3000, 3010)];
        assert_eq!(lost_below(&sacked(&ranges), 1000), Some(1000));
        assert_eq!(lost_below(&sacked(&ranges[1..]), 1000), None);
    }

    #[test]
    fn only_what_lies_below_enough_arrivals_is_lost() {
        // Behind the hole at 4000 only two segments have arrived.
        assert_eq!(lost_below(&sacked(&[(1000, 4000), (5000, 7000)]), 1000), Some(1000));
    }
}
