//! Bursts of segmentation offload: the number of segments that Linux passes to the interface at
//! once.
//!
//! The segments of a burst leave back to back. Offload is off by default. A burst has either a
//! fixed size, or Linux's size from the pacing rate and the least round-trip time.

use crate::config::SegmentationOffload;
use crate::tcp::burst::{MAX_BURST_BYTES, burst_bytes};
use crate::tcp::congestion::State;
use sojourn_packet::Time;

/// On short paths bursts are longer: the allowance halves for each 2^9 us of the round trip.
const RTT_SHIFT: u32 = 9;
/// A sender waits for more room rather than send a part of a burst, unless it has a third of its
/// window, or nothing was sent for so long, or no acknowledgement is due so soon.
const WINDOW_DIVISOR: u32 = 3;
const PATIENCE: Time = Time::from_millis(1);

/// Conditions for a partial burst to wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partial {
    pub(crate) now: Time,
    pub(crate) state: State,
    /// Time of the last burst.
    pub(crate) last: Time,
    /// Segments that the windows allow now, and the window.
    pub(crate) room: u32,
    pub(crate) cwnd: u32,
    /// Send time of the oldest segment.
    pub(crate) oldest: Option<Time>,
    pub(crate) srtt: Time,
}

impl SegmentationOffload {
    /// Segments that the application's data may lie in the send buffer as one.
    pub(super) fn largest_burst(self, mss: u32) -> u32 {
        match self {
            SegmentationOffload::Off => 1,
            SegmentationOffload::Segments(n) => n,
            SegmentationOffload::Sized => (MAX_BURST_BYTES / u64::from(mss)) as u32,
        }
    }

    /// Segments of a full burst.
    pub(crate) fn burst(self, pacing_rate: u64, min_rtt: Time, mss: u32, least: u32) -> u32 {
        match self {
            SegmentationOffload::Off => 1,
            SegmentationOffload::Segments(n) => n,
            SegmentationOffload::Sized => {
                let halvings = (min_rtt.0 / 1_000) >> RTT_SHIFT;
                let short_path =
                    if halvings < u64::from(u32::BITS) { MAX_BURST_BYTES >> halvings } else { 0 };
                let bytes = (burst_bytes(pacing_rate) + short_path).min(MAX_BURST_BYTES);
                ((bytes / u64::from(mss)) as u32).max(least)
            }
        }
    }
}

impl Partial {
    /// True if less than a full burst of `full` segments must wait for more room.
    pub(crate) fn waits(&self, full: u32) -> bool {
        let acknowledged_soon = self.oldest.is_some_and(|oldest| {
            let away = (oldest + self.srtt).saturating_sub(self.now);
            away <= PATIENCE.min(Time(self.srtt.0 / 2))
        });
        self.state < State::Recovery
            && self.now.saturating_sub(self.last) <= PATIENCE
            && self.room < full
            && self.room < self.cwnd / WINDOW_DIVISOR
            && acknowledged_soon
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn a_burst_lasts_a_millisecond_and_is_longer_on_short_paths() {
        let sized = SegmentationOffload::Sized;
        // 15 MB/s for 1/1024 s are 14,648 bytes.
        assert_eq!(sized.burst(15_000_000, MS(10), 1448, 2), 10);
        // At 512 us a round trip, half of 65,215 bytes more.
        assert_eq!(sized.burst(15_000_000, Time::from_micros(512), 1448, 2), 32);
        assert_eq!(sized.burst(1 << 40, MS(10), 1448, 2), 45);
        assert_eq!(sized.burst(1_000, MS(100), 1448, 2), 2);
    }

    #[test]
    fn without_offload_every_segment_is_its_own_burst() {
        assert_eq!(SegmentationOffload::Off.burst(1 << 40, MS(0), 1448, 2), 1);
        assert_eq!(SegmentationOffload::Segments(7).burst(0, MS(0), 1448, 2), 7);
    }

    #[test]
    fn a_part_waits_only_if_more_room_comes_soon() {
        let part = Partial {
            now: MS(100),
            state: State::Open,
            last: MS(100),
            room: 2,
            cwnd: 60,
            oldest: Some(MS(60)),
            srtt: MS(40),
        };
        assert!(part.waits(10));
        assert!(!part.waits(2), "a full burst");
        assert!(!Partial { room: 20, ..part }.waits(40), "a third of the window");
        assert!(!Partial { last: MS(98), ..part }.waits(10), "sent long ago");
        assert!(!Partial { oldest: Some(MS(62)), ..part }.waits(10), "no acknowledgement is due");
        assert!(!Partial { state: State::Recovery, ..part }.waits(10));
    }
}
