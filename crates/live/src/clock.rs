//! Time since the start, by a monotonic clock.

use crate::syscalls;
use sojourn_packet::Time;

/// A monotonic clock: not affected by steps of the wall clock.
///
/// ```
/// let clock = sojourn_live::Clock::start();
/// let earlier = clock.now();
/// assert!(clock.now() >= earlier);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: u64,
}

impl Clock {
    /// Starts at zero.
    pub fn start() -> Clock {
        Clock { start: syscalls::monotonic() }
    }

    /// Start time, ns of the machine's monotonic clock, which other processes read too.
    pub fn started(&self) -> u64 {
        self.start
    }

    /// Time since the start.
    pub fn now(&self) -> Time {
        Time(syscalls::monotonic().saturating_sub(self.start))
    }
}
