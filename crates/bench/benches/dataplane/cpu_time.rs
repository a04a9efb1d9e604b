//! Criterion measurement of the measuring thread's CPU time.
//!
//! Linux provides it in ns (`/proc/thread-self/schedstat`, the first number); other systems use the
//! wall clock. Must not depend on the measured code.

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use std::time::{Duration, Instant};

/// The measurement.
pub struct CpuTime;

fn on_core() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

impl Measurement for CpuTime {
    type Intermediate = (Option<Duration>, Instant);
    type Value = Duration;

    fn start(&self) -> Self::Intermediate {
        (on_core(), Instant::now())
    }

    fn end(&self, (before, started): Self::Intermediate) -> Duration {
        before.zip(on_core()).map_or_else(|| started.elapsed(), |(before, now)| now - before)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
