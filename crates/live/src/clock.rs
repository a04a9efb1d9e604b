//! The time since the start, by a clock that is never set.

use sojourn_packet::Time;
use std::time::Instant;

/// Monotonic: steps of the wall clock do not reach it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts at zero.
    pub fn start() -> Clock {
        Clock { start: Instant::now() }
    }

    /// Time since the start.
    pub fn now(&self) -> Time {
        Time(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}
