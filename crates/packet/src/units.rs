//! Time in nanoseconds, rate in bit/s, size in bytes: one integer newtype each.
//!
//! A float never holds a time inside the engine, so results do not depend on rounding modes.

use serde::Serialize;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// An instant since the start of the run, or a span between two instants, in nanoseconds.
///
/// ```
/// use sojourn_packet::Time;
/// let now = Time::from_millis(5) + Time::from_micros(250);
/// assert_eq!((now.as_nanos(), now.to_string()), (5_250_000, "0.005250000 s".to_string()));
/// assert_eq!(Time::ZERO.saturating_sub(now), Time::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Time(pub u64);

impl Time {
    /// The start of the run; also the empty span.
    pub const ZERO: Time = Time(0);
    /// Later than every instant of a run.
    pub const MAX: Time = Time(u64::MAX);

    /// A span of whole microseconds.
    pub const fn from_micros(us: u64) -> Time {
        Time(us * 1_000)
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// A span of whole seconds.
    pub const fn from_secs(s: u64) -> Time {
        Time(s * 1_000_000_000)
    }

    /// The span in nanoseconds.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// `self - earlier`, or [`Time::ZERO`] if `earlier` is later.
    #[inline]
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Time) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, span: Time) {
        self.0 += span.0;
    }
}

impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, earlier: Time) -> Time {
        Time(self.0 - earlier.0)
    }
}

impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, span: Time) {
        self.0 -= span.0;
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// A data rate in bit/s.
///
/// ```
/// use sojourn_packet::{Bytes, Rate, Time};
/// assert_eq!(Rate(100_000_000).time_for(Bytes(1514)), Time(121_120));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Rate(pub u64);

impl Rate {
    /// The time that `size` takes at this rate, rounded up to the next nanosecond.
    ///
    /// A rate of zero never finishes: [`Time::MAX`].
    pub const fn time_for(self, size: Bytes) -> Time {
        if self.0 == 0 {
            return Time::MAX;
        }
        let bits = size.0 as u128 * 8 * 1_000_000_000;
        Time(bits.div_ceil(self.0 as u128) as u64)
    }
}

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Bytes(pub u64);

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    #[inline]
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_takes_121_120_ns_at_100_mbit() {
        assert_eq!(Rate(100_000_000).time_for(Bytes(1514)), Time(121_120));
    }

    #[test]
    fn serialisation_time_rounds_up() {
        assert_eq!(Rate(3).time_for(Bytes(1)), Time(2_666_666_667));
    }
}
