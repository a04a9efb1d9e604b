//! Serialization time of packets on a wire, without drift.
//!
//! A frame's time on the wire is rarely an integer number of nanoseconds. The line preserves the
//! fraction, so back-to-back frames have exactly the line's rate. Only the returned instants are
//! rounded (up). The line must not depend on what it carries.

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
pub struct Serializer {
    /// bit/s, not zero.
    rate: u64,
    /// Free from `free` + `fraction`/`rate` nanoseconds on: in whole ones, from `ready` on.
    free: u64,
    fraction: u64,
    ready: Time,
    /// Results for the last size, and for the last two sizes of frames, since sizes repeat and a
    /// division is slow.
    last: Span,
    frame: FrameSpans,
    other: FrameSpans,
}

/// Time for which a size occupies a line: `whole` + `parts`/rate nanoseconds, `parts` less than the
/// rate; `rounded` is an upper bound.
#[derive(Clone, Copy, Debug)]
struct Span {
    size: Bytes,
    whole: u64,
    parts: u64,
    rounded: Time,
}

/// Time for which a frame occupies a line, without the gap behind it and with it.
#[derive(Clone, Copy, Debug)]
struct FrameSpans {
    /// FCS not counted.
    size: Bytes,
    frame: Span,
    slot: Span,
}

impl FrameSpans {
    fn new(size: Bytes, rate: u64) -> FrameSpans {
        let on_wire = wire_bytes(size);
        let with_gap = on_wire + Bytes(INTER_FRAME_GAP);
        FrameSpans { size, frame: Span::new(on_wire, rate), slot: Span::new(with_gap, rate) }
    }
}

impl Span {
    fn new(size: Bytes, rate: u64) -> Span {
        const BITS: u64 = 8_000_000_000;
        // A packet's length is not bounded here.
        let (whole, parts) = match size.0.checked_mul(BITS) {
            Some(total) => (total / rate, total % rate),
            None => {
                let (total, rate) = (u128::from(size.0) * u128::from(BITS), u128::from(rate));
                ((total / rate) as u64, (total % rate) as u64)
            }
        };
        Span { size, whole, parts, rounded: rounded(whole, parts) }
    }
}

impl Serializer {
    /// An idle line; `rate` must not be zero.
    pub fn new(rate: Rate) -> Serializer {
        assert!(rate.0 > 0, "a line without a rate");
        let (last, frame) = (Span::new(Bytes(0), rate.0), FrameSpans::new(Bytes(0), rate.0));
        let (free, fraction, ready) = (0, 0, Time::ZERO);
        Serializer { rate: rate.0, free, fraction, ready, last, frame, other: frame }
    }

    /// Another rate for what is held from here on; it must not be zero.
    pub fn set_rate(&mut self, rate: Rate) {
        // The fraction is counted in the old rate's parts of a nanosecond.
        *self = Serializer { free: self.ready.0, ready: self.ready, ..Serializer::new(rate) };
    }

    /// The first whole nanosecond at which the line is free.
    #[inline]
    pub fn ready(&self) -> Time {
        self.ready
    }

    /// Holds the line for `size` bytes from `now` (or from when it is free, if that is later or
    /// the same nanosecond) and returns when they are through.
    #[inline]
    pub fn occupy(&mut self, now: Time, size: Bytes) -> Time {
        if self.last.size != size {
            self.last = Span::new(size, self.rate);
        }
        if now > self.ready {
            return self.begin(now, self.last);
        }
        (self.free, self.fraction) = self.after(self.last);
        self.ready = rounded(self.free, self.fraction);
        self.ready
    }

    /// Holds the idle line from `now` on, when nothing is left of a nanosecond before; returns until when.
    #[inline(always)]
    fn begin(&mut self, now: Time, span: Span) -> Time {
        (self.free, self.fraction) = (now.0 + span.whole, span.parts);
        self.ready = now + span.rounded;
        self.ready
    }

    /// Holds the line as [`Serializer::occupy`] does for a frame of `frame` bytes (FCS not counted) and the
    /// gap behind it; returns when the frame is through.
    #[inline(always)]
    pub fn occupy_frame(&mut self, now: Time, frame: Bytes) -> Time {
        if self.frame.size != frame {
            self.look_up(frame);
        }
        let FrameSpans { frame, slot, .. } = self.frame;
        if now > self.ready {
            self.begin(now, slot);
            return now + frame.rounded;
        }
        let (through, fraction) = self.after(frame);
        (self.free, self.fraction) = self.after(slot);
        self.ready = rounded(self.free, self.fraction);
        rounded(through, fraction)
    }

    /// Has the spans of another frame than the last one ready.
    #[inline(never)]
    fn look_up(&mut self, frame: Bytes) {
        std::mem::swap(&mut self.frame, &mut self.other);
        if self.frame.size != frame {
            self.frame = FrameSpans::new(frame, self.rate);
        }
    }

    /// End of a span that begins when the line is free, as stored.
    #[inline]
    fn after(&self, span: Span) -> (u64, u64) {
        let (parts, over) = self.fraction.overflowing_add(span.parts);
        let is_whole = over || parts >= self.rate;
        let fraction = if is_whole { parts.wrapping_sub(self.rate) } else { parts };
        (self.free + span.whole + u64::from(is_whole), fraction)
    }
}

/// The first whole nanosecond at or after a stored time.
#[inline]
fn rounded(nanosecond: u64, fraction: u64) -> Time {
    Time(nanosecond + u64::from(fraction > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_to_back_frames_keep_the_rate_to_the_nanosecond() {
        // 1538 bytes at 10 Gbit/s are 1230.4 ns; rounding each would be 0.05 % slow.
        let mut line = Serializer::new(Rate(10_000_000_000));
        let mut now = Time::ZERO;
        for _ in 0..10_000 {
            now = line.occupy(now, Bytes(1538));
        }
        assert_eq!(now, Time(12_304_000));
    }

    #[test]
    fn frames_of_changing_sizes_keep_the_rate_too() {
        // 1537 + 73 bytes at 3 Gbit/s are 4293 1/3 ns.
        let mut line = Serializer::new(Rate(3_000_000_000));
        let mut now = Time::ZERO;
        for _ in 0..3_000 {
            now = line.occupy(now, Bytes(1537));
            now = line.occupy(now, Bytes(73));
        }
        assert_eq!(now, Time(3_000 * 4_293 + 1_000));
    }

    #[test]
    fn frames_of_three_sizes_by_turns_take_what_each_takes() {
        let mut line = Serializer::new(Rate(3_000_000_000));
        for size in [66, 78, 66, 1514, 78, 66, 66, 1514] {
            let start = line.ready();
            let alone = Serializer::new(Rate(3_000_000_000)).occupy_frame(Time::ZERO, Bytes(size));
            let through = line.occupy_frame(start, Bytes(size));
            // The remainder of a nanosecond can add one.
            assert!((alone.0 - 1..=alone.0).contains(&(through.0 - start.0)), "{size}");
        }
    }

    #[test]
    fn a_packet_of_any_length_has_its_time() {
        let mut line = Serializer::new(Rate(8_000_000_000));
        assert_eq!(line.occupy(Time::ZERO, Bytes(1 << 40)), Time(1 << 40));
        assert_eq!(line.occupy(Time(1 << 40), Bytes(1)), Time((1 << 40) + 1));
    }

    #[test]
    fn the_gap_holds_the_line_and_not_the_frame() {
        // 8 + 1000 + 4 bytes, then 12 of gap, at 8 Gbit/s.
        let mut line = Serializer::new(Rate(8_000_000_000));
        assert_eq!(line.occupy_frame(Time(0), Bytes(1000)), Time(1_012));
        assert_eq!(line.ready(), Time(1_024));
        assert_eq!(line.occupy_frame(Time(0), Bytes(1000)), Time(2_036));
    }

    #[test]
    fn an_idle_line_starts_at_once() {
        let mut line = Serializer::new(Rate(8_000_000_000));
        assert_eq!(line.occupy(Time(1_000), Bytes(100)), Time(1_100));
        assert_eq!(line.occupy(Time(5_000), Bytes(100)), Time(5_100));
    }

    #[test]
    fn short_frames_are_padded() {
        assert_eq!(wire_bytes(Bytes(10)), Bytes(72));
        assert_eq!(wire_bytes(Bytes(1514)), Bytes(1526));
    }
}
