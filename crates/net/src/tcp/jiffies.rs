//! The coarse clock of a kernel's TCP: whole ticks, a thousand a second as on most machines
//! (`CONFIG_HZ=1000`), and its timer wheel (`kernel/time/timer.c` since Linux 4.8). Must not depend
//! on the timers' use.
//!
//! A time to wait is rounded up to ticks and counted from the tick that has begun. The wheel never
//! lets a timer expire early, so it does at the tick behind: a timer of n ticks is late by up to
//! one. Long ones are rounded up further, to 8 ticks from 63 on, to 64 from 504 on, and so forth.

use sojourn_packet::Time;

/// One tick.
pub(crate) const TICK: Time = Time::from_millis(1);
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

/// The ticks that have begun by `at`.
pub(crate) fn ticks(at: Time) -> u64 {
    at.0 / TICK.0
}

/// Start of the tick that contains `at`: the reading of a coarse clock.
pub(crate) fn coarse(at: Time) -> Time {
    Time(ticks(at) * TICK.0)
}

/// A time to wait in whole ticks, rounded up.
pub(crate) fn whole(wait: Time) -> Time {
    Time(whole_ticks(wait) * TICK.0)
}

/// The same in ticks. What is less than a microsecond does not count.
pub(crate) fn whole_ticks(wait: Time) -> u64 {
    wait.0.saturating_add(TICK.0 - MICROSECOND) / TICK.0
}

/// Expiry of a timer set at `now` for `wait`.
pub(crate) fn expiry(now: Time, wait: Time) -> Time {
    expiry_of(now, whole_ticks(wait))
}

/// The same of a time to wait in ticks.
pub(crate) fn expiry_of(now: Time, wait: u64) -> Time {
    let (mut shift, mut reach) = (0, FINEST);
    while wait >= reach {
        shift += COARSER;
        reach <<= COARSER;
    }
    Time(((((ticks(now) + wait) >> shift) + 1) << shift) * TICK.0)
}

/// A millisecond of ours that the peer echoes, as the timestamp clock showed it: modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Echo(pub(crate) u32);

impl Echo {
    /// The last such millisecond since time zero; zero if there was none.
    pub(crate) fn millisecond(self, now: Time) -> u64 {
        let now = ticks(now);
        let ago = (now as u32).wrapping_sub(self.0);
        now.saturating_sub(ago.into())
    }

    /// The round-trip time that it shows: whole ticks, at least one.
    #[cold]
    pub(crate) fn since(self, now: Time) -> Time {
        Time((ticks(now) - self.millisecond(now)) * TICK.0).max(TICK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;
    const US: fn(u64) -> Time = Time::from_micros;

    #[test]
    fn an_echo_is_the_last_such_millisecond_also_after_the_clock_has_gone_round() {
        let round = 1 << 32;
        assert_eq!(Echo(7).millisecond(MS(10)), 7);
        assert_eq!(Echo(7).millisecond(MS(round + 10)), round + 7);
        assert_eq!(Echo(11).millisecond(MS(round + 10)), 11);
        assert_eq!(Echo(11).millisecond(MS(10)), 0, "there was none");
    }

    #[test]
    fn a_timer_expires_at_the_tick_after() {
        assert_eq!(expiry(MS(10), MS(4)), MS(15));
        assert_eq!(expiry(US(10_999), MS(4)), MS(15), "never early, here by 1 us");
        assert_eq!(expiry(US(11_000), MS(4)), MS(16));
    }

    #[test]
    fn a_time_to_wait_is_rounded_up_to_ticks_as_the_kernel_counts_microseconds() {
        assert_eq!(expiry(MS(10), US(2_001)), MS(14));
        assert_eq!(whole(US(2_001)), MS(3));
        assert_eq!(whole(MS(2)), MS(2));
        assert_eq!(whole(Time(2_000_999)), MS(2), "what is below a microsecond is not seen");
    }

    #[test]
    fn long_timers_are_rounded_up_to_eight_and_sixty_four_ticks() {
        assert_eq!(expiry(MS(0), MS(62)), MS(63));
        assert_eq!(expiry(MS(0), MS(63)), MS(64));
        assert_eq!(expiry(MS(0), MS(64)), MS(72), "a multiple of eight is late by all eight");
        assert_eq!(expiry(MS(41), MS(240)), MS(288));
        assert_eq!(expiry(MS(0), MS(503)), MS(504));
        assert_eq!(expiry(MS(0), MS(504)), MS(512));
        assert_eq!(expiry(MS(0), MS(1000)), MS(1024));
        assert_eq!(expiry(MS(0), Time::from_secs(5)), MS(5120));
    }

    #[test]
    fn no_timer_is_early_and_none_later_than_a_tick_and_an_eighth() {
        for now in (0..3_000).step_by(7).map(|n| US(n * 333)) {
            for wait in (1..12_000).step_by(13).map(|n| US(n * 97)) {
                let late = expiry(now, wait).0 - now.0;
                assert!(
                    late > wait.0 && late <= whole(wait).0 + TICK.0.max(whole(wait).0 / 63 * 8)
                );
            }
        }
    }
}
