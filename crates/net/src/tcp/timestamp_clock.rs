//! The clock of TCP timestamps (RFC 7323): milliseconds, whatever the kernel's tick (`TCP_TS_HZ`).
//! Must not depend on segments or timers.

use sojourn_packet::Time;

const MILLISECOND: Time = Time::from_millis(1);

/// The milliseconds that have begun by `at`.
pub(crate) fn milliseconds(at: Time) -> u64 {
    at.0 / MILLISECOND.0
}

/// A millisecond of ours that the peer echoes, as the timestamp clock showed it: modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Echo(pub(crate) u32);

impl Echo {
    /// The last such millisecond since time zero; zero if there was none.
    pub(crate) fn millisecond(self, now: Time) -> u64 {
        let now = milliseconds(now);
        let ago = (now as u32).wrapping_sub(self.0);
        now.saturating_sub(ago.into())
    }

    /// The round-trip time that it shows: whole milliseconds, at least one.
    #[cold]
    pub(crate) fn since(self, now: Time) -> Time {
        Time::from_millis(milliseconds(now) - self.millisecond(now)).max(MILLISECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn an_echo_is_the_last_such_millisecond_also_after_the_clock_has_gone_round() {
        let round = 1 << 32;
        assert_eq!(Echo(7).millisecond(MS(10)), 7);
        assert_eq!(Echo(7).millisecond(MS(round + 10)), round + 7);
        assert_eq!(Echo(11).millisecond(MS(round + 10)), 11);
        assert_eq!(Echo(11).millisecond(MS(10)), 0, "there was none");
    }
}
