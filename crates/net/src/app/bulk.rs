//! A long-lived transfer, as fast as TCP goes or capped as `iperf3 -b` caps it.
//!
//! iperf3 does not pace: each millisecond it looks at its average rate since the start, and while
//! that is below the target it writes another block of 128 KiB. So a cap makes bursts of 90
//! segments, which is what a queue behind it sees; `iperf3 -l` has other blocks. iperf3 3.12 on a loopback interface, capped at
//! 9 Mbit/s, writes 117, 233, 350, 466 and 583 ms after its first block; this one at 117, 234, 350,
//! 467 and 583: where the average is met within 0.07 ms of a tick they differ, since iperf3 starts
//! its clock so long before it writes.

use sojourn_packet::Time;

/// iperf3's default timer (`--pacing-timer`).
const TICK: Time = Time::from_millis(1);

/// Rate limit of an application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cap {
    /// Most bit/s on average.
    pub(crate) rate: u64,
    /// Bytes that it writes at once.
    pub(crate) block: u64,
}

/// Bytes written by the application.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    cap: Option<Cap>,
    /// Start of writing.
    opened: Time,
    written: u64,
}

impl Bulk {
    /// An application that begins to write at `now`.
    pub(crate) fn new(now: Time, cap: Option<Cap>) -> Bulk {
        Bulk { cap, opened: now, written: cap.map_or(0, |cap| cap.block) }
    }

    /// Bytes written up to `now`; [`u64::MAX`] without a cap.
    pub(crate) fn written(&mut self, now: Time) -> u64 {
        let Some(cap) = self.cap else { return u64::MAX };
        while self.next_tick(cap) <= now {
            self.written += cap.block;
        }
        self.written
    }

    /// Time of the next write, if the rate is limited.
    pub(crate) fn next_write(&self) -> Option<Time> {
        self.cap.map(|cap| self.next_tick(cap))
    }

    /// The first tick at which the average rate is below the cap.
    fn next_tick(&self, cap: Cap) -> Time {
        let bits = u128::from(self.written) * 8 * 1_000_000_000;
        let ticks = bits / (u128::from(cap.rate) * u128::from(TICK.0)) + 1;
        self.opened + Time(ticks as u64 * TICK.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = 128 * 1024;

    fn capped(rate: u64) -> Option<Cap> {
        Some(Cap { rate, block: BLOCK })
    }

    #[test]
    fn a_cap_writes_a_block_at_the_first_tick_at_which_the_average_is_below_it() {
        let start = Time::from_millis(3);
        let mut bulk = Bulk::new(start, capped(9_000_000));
        assert_eq!(bulk.written(start), BLOCK);
        // 128 KiB at 9 Mbit/s last 116.508 ms.
        assert_eq!(bulk.next_write(), Some(start + Time::from_millis(117)));
        assert_eq!(bulk.written(start + Time::from_millis(116)), BLOCK);
        assert_eq!(bulk.written(start + Time::from_millis(117)), 2 * BLOCK);
        // Two blocks last 233.017 ms: the average, not the gap, is what counts.
        assert_eq!(bulk.next_write(), Some(start + Time::from_millis(234)));
    }

    #[test]
    fn the_average_over_ten_seconds_is_the_cap_to_within_one_block() {
        let mut bulk = Bulk::new(Time::ZERO, capped(9_000_000));
        let written = bulk.written(Time::from_secs(10));
        assert!(written.abs_diff(9_000_000 * 10 / 8) <= BLOCK);
    }

    #[test]
    fn smaller_blocks_are_written_more_often() {
        let mut bulk = Bulk::new(Time::ZERO, Some(Cap { rate: 9_000_000, block: 8192 }));
        // 8 KiB at 9 Mbit/s last 7.28 ms, two of them 14.56 ms.
        assert_eq!(bulk.next_write(), Some(Time::from_millis(8)));
        assert_eq!(bulk.written(Time::from_millis(8)), 2 * 8192);
        assert_eq!(bulk.next_write(), Some(Time::from_millis(15)));
    }

    #[test]
    fn without_a_cap_there_is_always_more() {
        let mut bulk = Bulk::new(Time::ZERO, None);
        assert_eq!((bulk.written(Time::ZERO), bulk.next_write()), (u64::MAX, None));
    }
}
