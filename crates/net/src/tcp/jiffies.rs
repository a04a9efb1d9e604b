//! The coarse clock of a kernel's TCP: whole ticks, `CONFIG_HZ` of them a second, and its timer
//! wheel (`kernel/time/timer.c` since Linux 4.8). Must not depend on the timers' use.
//!
//! A time to wait is rounded up to ticks and counted from the tick that has begun. The wheel never
//! lets a timer expire early, so it does at the tick behind: a timer of n ticks is late by up to
//! one. Long ones are rounded up further, to 8 ticks from 63 on, to 64 from 504 on, and so forth.

use serde::{Deserialize, Serialize};
use sojourn_packet::Time;

/// Ticks that the wheel's finest level reaches, and by how many bits each further one is coarser.
const FINEST: u64 = 63;
const COARSER: u32 = 3;
/// The kernel counts times to wait in microseconds before it rounds them to ticks.
const MICROSECOND: u64 = 1_000;

/// The first of these instants, if any is there.
#[inline]
pub(crate) fn earliest<const N: usize>(deadlines: [Option<Time>; N]) -> Option<Time> {
    let first = deadlines.into_iter().map(|at| at.unwrap_or(Time::MAX)).min()?;
    (first < Time::MAX).then_some(first)
}

/// Ticks a second of a kernel: what its configuration offers (`kernel/Kconfig.hz`).
///
/// # Errors
/// `TryFrom` names the four for any other number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum Hz {
    /// A tick of 10 ms.
    Hz100,
    /// A tick of 4 ms.
    Hz250,
    /// A tick of 3.3 ms.
    Hz300,
    /// A tick of 1 ms.
    #[default]
    Hz1000,
}

impl TryFrom<u32> for Hz {
    type Error = String;

    fn try_from(hz: u32) -> Result<Hz, String> {
        match hz {
            100 => Ok(Hz::Hz100),
            250 => Ok(Hz::Hz250),
            300 => Ok(Hz::Hz300),
            1000 => Ok(Hz::Hz1000),
            _ => Err(format!("{hz} ticks a second: Linux has 100, 250, 300 or 1000")),
        }
    }
}

impl From<Hz> for u32 {
    fn from(hz: Hz) -> u32 {
        hz.per_second() as u32
    }
}

impl Hz {
    /// Ticks a second.
    pub fn per_second(self) -> u64 {
        match self {
            Hz::Hz100 => 100,
            Hz::Hz250 => 250,
            Hz::Hz300 => 300,
            Hz::Hz1000 => 1000,
        }
    }

    /// One tick in whole nanoseconds (`TICK_NSEC`).
    pub fn tick(self) -> Time {
        Time(1_000_000_000 / self.per_second())
    }

    /// The ticks that have begun by `at`. Each arm divides by a constant.
    #[inline(always)]
    pub(crate) fn ticks(self, at: Time) -> u64 {
        match self {
            Hz::Hz100 => at.0 / 10_000_000,
            Hz::Hz250 => at.0 / 4_000_000,
            Hz::Hz300 => at.0 / 3_333_333,
            Hz::Hz1000 => at.0 / 1_000_000,
        }
    }

    /// The instant at which a tick begins, or the time that so many last.
    #[inline(always)]
    pub(crate) fn time(self, ticks: u64) -> Time {
        Time(ticks * self.tick().0)
    }

    /// Start of the tick that contains `at`: the reading of a coarse clock.
    #[inline(always)]
    pub(crate) fn coarse(self, at: Time) -> Time {
        self.time(self.ticks(at))
    }

    /// A time to wait in whole ticks, rounded up.
    #[inline(always)]
    pub(crate) fn whole(self, wait: Time) -> Time {
        self.time(self.whole_ticks(wait))
    }

    /// The same in ticks (`usecs_to_jiffies`). What is less than a microsecond does not count.
    #[inline(always)]
    pub(crate) fn whole_ticks(self, wait: Time) -> u64 {
        let us = wait.0 / MICROSECOND;
        match self {
            Hz::Hz100 => us.div_ceil(10_000),
            Hz::Hz250 => us.div_ceil(4_000),
            Hz::Hz300 => us.saturating_mul(3).div_ceil(10_000),
            Hz::Hz1000 => us.div_ceil(1_000),
        }
    }

    /// A time that the kernel keeps in ticks and reads in microseconds (`jiffies_to_usecs`).
    pub(crate) fn kept(self, wait: Time) -> Time {
        let us = self.whole_ticks(wait) * 1_000_000 / self.per_second();
        Time(us * MICROSECOND)
    }

    /// Expiry of a timer set at `now` for `wait`.
    pub(crate) fn expiry(self, now: Time, wait: Time) -> Time {
        self.expiry_of(now, self.whole_ticks(wait))
    }

    /// The same of a time to wait in ticks.
    pub(crate) fn expiry_of(self, now: Time, wait: u64) -> Time {
        let (mut shift, mut reach) = (0, FINEST);
        while wait >= reach {
            shift += COARSER;
            reach <<= COARSER;
        }
        self.time((((self.ticks(now) + wait) >> shift) + 1) << shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;
    const US: fn(u64) -> Time = Time::from_micros;

    #[test]
    fn a_timer_expires_at_the_tick_after() {
        assert_eq!(Hz::Hz1000.expiry(MS(10), MS(4)), MS(15));
        assert_eq!(Hz::Hz1000.expiry(US(10_999), MS(4)), MS(15), "never early, here by 1 us");
        assert_eq!(Hz::Hz1000.expiry(US(11_000), MS(4)), MS(16));
    }

    #[test]
    fn a_time_to_wait_is_rounded_up_to_ticks_as_the_kernel_counts_microseconds() {
        assert_eq!(Hz::Hz1000.expiry(MS(10), US(2_001)), MS(14));
        assert_eq!(Hz::Hz1000.whole(US(2_001)), MS(3));
        assert_eq!(Hz::Hz1000.whole(MS(2)), MS(2));
        assert_eq!(
            Hz::Hz1000.whole(Time(2_000_999)),
            MS(2),
            "what is below a microsecond is not seen"
        );
    }

    #[test]
    fn long_timers_are_rounded_up_to_eight_and_sixty_four_ticks() {
        assert_eq!(Hz::Hz1000.expiry(MS(0), MS(62)), MS(63));
        assert_eq!(Hz::Hz1000.expiry(MS(0), MS(63)), MS(64));
        assert_eq!(
            Hz::Hz1000.expiry(MS(0), MS(64)),
            MS(72),
            "a multiple of eight is late by all eight"
        );
        assert_eq!(Hz::Hz1000.expiry(MS(41), MS(240)), MS(288));
        assert_eq!(Hz::Hz1000.expiry(MS(0), MS(503)), MS(504));
        assert_eq!(Hz::Hz1000.expiry(MS(0), MS(504)), MS(512));
        assert_eq!(Hz::Hz1000.expiry(MS(0), MS(1000)), MS(1024));
        assert_eq!(Hz::Hz1000.expiry(MS(0), Time::from_secs(5)), MS(5120));
    }

    #[test]
    fn no_timer_is_early_and_none_later_than_a_tick_and_an_eighth() {
        for now in (0..3_000).step_by(7).map(|n| US(n * 333)) {
            for wait in (1..12_000).step_by(13).map(|n| US(n * 97)) {
                let late = Hz::Hz1000.expiry(now, wait).0 - now.0;
                assert!(
                    late > wait.0
                        && late
                            <= Hz::Hz1000.whole(wait).0
                                + Hz::Hz1000.tick().0.max(Hz::Hz1000.whole(wait).0 / 63 * 8)
                );
            }
        }
    }

    #[test]
    fn linux_has_four_tick_rates_and_others_are_refused_with_their_names() {
        for hz in [100, 250, 300, 1000] {
            assert_eq!(Hz::try_from(hz).map(u32::from), Ok(hz));
        }
        let refused = "200 ticks a second: Linux has 100, 250, 300 or 1000";
        assert_eq!(Hz::try_from(200), Err(refused.into()));
    }

    #[test]
    fn a_time_to_wait_is_rounded_up_to_the_ticks_of_each_rate() {
        let ticks = |hz: Hz| [US(1), MS(4), US(4_001), MS(40), MS(200)].map(|w| hz.whole_ticks(w));
        assert_eq!(ticks(Hz::Hz100), [1, 1, 1, 4, 20]);
        assert_eq!(ticks(Hz::Hz250), [1, 1, 2, 10, 50]);
        assert_eq!(ticks(Hz::Hz300), [1, 2, 2, 12, 60]);
        assert_eq!(ticks(Hz::Hz1000), [1, 4, 5, 40, 200]);
    }

    #[test]
    fn a_third_of_ten_milliseconds_loses_no_tick_when_it_is_rounded_again() {
        for ticks in [1, 2, 59, 60, 300, 36_000] {
            assert_eq!(Hz::Hz300.whole_ticks(Hz::Hz300.time(ticks)), ticks);
            assert_eq!(Hz::Hz300.ticks(Hz::Hz300.time(ticks)), ticks);
        }
        assert_eq!(Hz::Hz300.kept(MS(200)), MS(200));
        assert_eq!(Hz::Hz300.kept(MS(1)), US(3_333));
        assert_eq!(Hz::Hz100.kept(MS(1)), MS(10));
    }

    #[test]
    fn the_wheel_is_coarser_by_ticks_not_by_time() {
        assert_eq!(Hz::Hz100.expiry(MS(40), MS(240)), MS(290), "29 ticks of the finest level");
        assert_eq!(Hz::Hz250.expiry(MS(40), MS(240)), MS(284), "the tick after 70");
        let eight = Hz::Hz300.time(88);
        assert_eq!(Hz::Hz300.expiry(MS(40), MS(240)), eight, "72 are rounded up to eight");
    }
}
