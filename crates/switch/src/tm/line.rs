//! How long packets hold a wire, without drift.
//!
//! A frame's time on the wire is rarely a whole number of nanoseconds. The line remembers the
//! fraction, so that back-to-back frames keep exactly the line's rate; only the instants handed
//! out are rounded (up). It must not know what it carries.

use sojourn_packet::{Bytes, Rate, Time};

/// Preamble and start-of-frame delimiter, in bytes (IEEE 802.3).
pub const PREAMBLE: u64 = 8;
/// Frame check sequence, in bytes.
pub const FCS: u64 = 4;
/// Gap between two frames, in bytes.
pub const INTER_FRAME_GAP: u64 = 12;
/// Shortest frame, FCS not counted, in bytes; shorter ones are padded on the wire.
pub const MIN_FRAME: u64 = 60;

/// Bytes that hold a wire for a frame of `frame` bytes (FCS not counted), gap not included.
pub fn wire_bytes(frame: Bytes) -> Bytes {
    Bytes(PREAMBLE + frame.0.max(MIN_FRAME) + FCS)
}

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// bit/s, not zero.
    rate: u64,
    /// Free from `free` + `fraction`/`rate` nanoseconds on.
    free: u64,
    fraction: u64,
}

impl Line {
    /// An idle line; `rate` must not be zero.
    pub fn new(rate: Rate) -> Line {
        assert!(rate.0 > 0, "a line without a rate");
        Line { rate: rate.0, free: 0, fraction: 0 }
    }

    /// Another rate for what is held from here on; it must not be zero.
    pub fn set_rate(&mut self, rate: Rate) {
        assert!(rate.0 > 0, "a line without a rate");
        // The fraction is counted in the old rate's parts of a nanosecond.
        (self.free, self.fraction) = (self.ready().0, 0);
        self.rate = rate.0;
    }

    /// The first whole nanosecond at which the line is free.
    pub fn ready(&self) -> Time {
        Time(self.free + u64::from(self.fraction > 0))
    }

    /// Holds the line for `size` bytes from `now` (or from when it is free, if that is later or
    /// the same nanosecond) and returns when they are through.
    pub fn hold(&mut self, now: Time, size: Bytes) -> Time {
        if now > self.ready() {
            (self.free, self.fraction) = (now.0, 0);
        }
        // In u128 because a line may be fast, a packet long, and neither is bounded here.
        let numerator = u128::from(size.0) * 8_000_000_000 + u128::from(self.fraction);
        let rate = u128::from(self.rate);
        if let Ok(small) = u64::try_from(numerator) {
            self.free += small / self.rate;
            self.fraction = small % self.rate;
        } else {
            self.free += (numerator / rate) as u64;
            self.fraction = (numerator % rate) as u64;
        }
        self.ready()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_to_back_frames_keep_the_rate_to_the_nanosecond() {
        // 1538 bytes at 10 Gbit/s are 1230.4 ns; rounding each would be 0.05 % slow.
        let mut line = Line::new(Rate(10_000_000_000));
        let mut now = Time::ZERO;
        for _ in 0..10_000 {
            now = line.hold(now, Bytes(1538));
        }
        assert_eq!(now, Time(12_304_000));
    }

    #[test]
    fn an_idle_line_starts_at_once() {
        let mut line = Line::new(Rate(8_000_000_000));
        assert_eq!(line.hold(Time(1_000), Bytes(100)), Time(1_100));
        assert_eq!(line.hold(Time(5_000), Bytes(100)), Time(5_100));
    }

    #[test]
    fn short_frames_are_padded() {
        assert_eq!(wire_bytes(Bytes(10)), Bytes(72));
        assert_eq!(wire_bytes(Bytes(1514)), Bytes(1526));
    }
}
