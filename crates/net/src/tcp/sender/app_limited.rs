//! Detection of periods in which the application, not the window, limits the sender.
//!
//! A window that was not used must not grow, and decays: RFC 7661 section 4.2 and RFC 2861, with
//! the judgement once a window that Linux makes.

use crate::tcp::Hz;
use crate::tcp::congestion::Window;
use sojourn_packet::Time;

/// Use of the window in the current round trip, in segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WindowUsage {
    limited: bool,
    /// Most segments outstanding in this round trip.
    most: u32,
    /// Offset whose acknowledgement begins a new round trip.
    round_end: u64,
    /// Time at which the window was last used or set, and the maximum use since.
    used_at: Time,
    used: u32,
}

/// Data outstanding after a burst.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    pub(crate) now: Time,
    pub(crate) una: u64,
    pub(crate) next: u64,
    pub(crate) outstanding: u32,
    /// The window has no room for another segment.
    pub(crate) limited: bool,
}

impl WindowUsage {
    /// A burst has been sent, or could not be for want of window.
    pub(crate) fn sent(&mut self, burst: &Burst, window: &Window) {
        let new_round = burst.una >= self.round_end;
        if new_round || burst.limited || (!self.limited && burst.outstanding > self.most) {
            self.limited = burst.limited;
            self.most = burst.outstanding;
            self.round_end = burst.next;
        }
        if self.is_limited(window) {
            self.used = 0;
            self.used_at = burst.now;
        } else {
            self.used = self.used.max(burst.outstanding);
        }
    }

    /// True if the window is what limits. In slow start half a window in use is enough, because
    /// the window doubles in each round trip.
    pub(crate) fn is_limited(&self, window: &Window) -> bool {
        self.limited || (window.in_slow_start() && window.cwnd < 2 * self.most)
    }

    /// The window was set or has grown.
    pub(crate) fn touched(&mut self, now: Time) {
        self.used_at = now;
    }

    /// A window that was not used for a timeout falls half-way to what was used (RFC 2861).
    #[cold]
    pub(crate) fn decay(
        &mut self,
        (hz, now): (Hz, Time),
        rto: Time,
        initial: u32,
        window: &mut Window,
    ) {
        let idle = hz.coarse(now).saturating_sub(hz.coarse(self.used_at));
        if self.is_limited(window) || idle < rto {
            return;
        }
        let used = self.used.max(initial);
        if used < window.cwnd {
            window.ssthresh = window.remembered_threshold();
            window.cwnd = (window.cwnd + used) / 2;
        }
        self.used = 0;
        self.used_at = now;
    }
}
