//! Pacing: the time at which the next segment may leave, as in Linux's internal pacing.
//!
//! It applies to controls that require it (BBR) and to senders that are configured for it. Its rate
//! determines the size of segmentation offload bursts for all senders.

use crate::config::PacingSetting;
use crate::tcp::PacingRate;
use crate::tcp::congestion::Window;
use sojourn_packet::Time;

/// The rate is so much of a window a round trip, in per cent, in slow start and after it: never
/// what holds a window-based sender back.
const SLOW_START_PERCENT: u64 = 200;
const AVOIDANCE_PERCENT: u64 = 120;
/// The first segments of a connection are not paced.
const UNPACED: u64 = 10;

/// The pacing clock.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    /// 0 before anything is known.
    rate: PacingRate,
    /// True if the rate is enforced, not only known.
    enforced: bool,
    /// The control sets the rate, and not the window.
    by_control: bool,
    /// Release of the next segment.
    next: Time,
    /// Time of the next attempt, if only pacing holds a segment back; [`Time::MAX`] if not.
    again: Time,
}

impl Pacing {
    /// `required` is the rate that the control asks for, if it does.
    pub(crate) fn new(required: Option<u64>, setting: PacingSetting) -> Pacing {
        let (by_control, limit) = (required.is_some(), setting.limit());
        let enforced = by_control || setting.is_asked_for();
        // A window-based sender has no rate before its first round trip, but may have a limit.
        let rate = PacingRate::new(required.or(limit).unwrap_or(0)).limited(limit);
        Pacing { rate, enforced, by_control, next: Time::ZERO, again: Time::MAX }
    }

    /// Rate of data that are limited by pacing only.
    pub(crate) fn rate(&self) -> PacingRate {
        self.rate
    }

    /// True if the rate is enforced.
    pub(crate) fn is_enforced(&self) -> bool {
        self.enforced
    }

    /// True if the control sets the rate: then the window is not what holds the sender back.
    pub(crate) fn is_by_control(&self) -> bool {
        self.by_control
    }

    /// Time at which pacing releases the next segment.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Time that the next segment must wait, if the rate is enforced.
    pub(crate) fn delay(&self, now: Time) -> Option<Time> {
        self.enforced.then(|| self.next.saturating_sub(now))
    }

    pub(crate) fn set_rate(&mut self, rate: u64) {
        self.rate = self.rate.set(rate);
    }

    /// The rate of a window-based sender.
    #[inline(always)]
    pub(crate) fn follow(&mut self, window: &Window, outstanding: u32, mss: u32, srtt: Time) {
        let percent =
            if window.cwnd < window.ssthresh / 2 { SLOW_START_PERCENT } else { AVOIDANCE_PERCENT };
        let segments = u64::from(window.cwnd.max(outstanding));
        self.rate = self.rate.following(segments * u64::from(mss), percent, srtt);
    }

    /// A burst of `bytes` goes; `sent` segments have gone before it.
    pub(crate) fn sent(&mut self, now: Time, bytes: u64, sent: u64) {
        let before = self.next;
        self.next = self.next.max(now);
        if !self.enforced || sent < UNPACED {
            return;
        }
        let rate = u128::from(self.rate.bytes_per_second());
        if let Some(time) = (u128::from(bytes) * 1_000_000_000).checked_div(rate) {
            let time = Time(time as u64);
            // A late departure is made up for, by up to half of the time.
            let credit = self.next.saturating_sub(before).min(Time(time.0 / 2));
            self.next += time - credit;
        }
    }

    /// False if the next segment, which would go, must wait.
    pub(crate) fn may_send(&mut self, now: Time) -> bool {
        let may = !self.enforced || self.next <= now;
        self.again = if may { Time::MAX } else { self.next };
        may
    }

    /// Requests another attempt to send.
    pub(crate) fn ask_again(&mut self) {
        self.again = Time::MAX;
    }

    /// Time of the next attempt; [`Time::MAX`] if none is pending.
    pub(crate) fn deadline(&self) -> Time {
        self.again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNASKED: PacingSetting = PacingSetting::Control;

    #[test]
    fn after_the_first_ten_each_segment_waits_for_the_time_of_the_one_before() {
        let mut pacing = Pacing::new(Some(1_000_000), UNASKED);
        (0..10).for_each(|n| {
            assert!(pacing.may_send(Time(0)));
            pacing.sent(Time(0), 1000, n);
        });
        pacing.sent(Time(0), 1000, 10);
        assert!(!pacing.may_send(Time::from_micros(999)));
        assert_eq!(pacing.deadline(), Time::from_millis(1));
        assert!(pacing.may_send(Time::from_millis(1)));
        assert_eq!(pacing.deadline(), Time::MAX);
    }

    #[test]
    fn half_of_the_time_can_be_made_up_for_after_a_late_departure() {
        let mut pacing = Pacing::new(Some(1_000_000), UNASKED);
        pacing.sent(Time(0), 1000, 10);
        pacing.sent(Time::from_micros(1300), 1000, 11);
        assert_eq!(pacing.next(), Time::from_micros(1300 + 700));
        pacing.sent(Time::from_micros(9000), 1000, 12);
        assert_eq!(pacing.next(), Time::from_micros(9000 + 500));
    }

    #[test]
    fn a_window_based_sender_has_twice_its_rate_in_slow_start_and_is_never_held_back() {
        let mut pacing = Pacing::new(None, UNASKED);
        let mut window = Window::new(100);
        pacing.follow(&window, 0, 1000, Time::from_millis(100));
        assert_eq!(pacing.rate().bytes_per_second(), 2_000_000);
        window.ssthresh = 120;
        pacing.follow(&window, 0, 1000, Time::from_millis(100));
        assert_eq!(pacing.rate().bytes_per_second(), 1_200_000);
        pacing.sent(Time(0), 1 << 20, 100);
        assert!(pacing.may_send(Time(0)));
    }

    #[test]
    fn a_window_based_sender_with_pacing_waits_at_its_windows_rate_or_at_the_limit() {
        for (setting, wait) in
            [(PacingSetting::Window, 1000), (PacingSetting::AtMost(4_000_000), 2000)]
        {
            let mut pacing = Pacing::new(None, setting);
            // Ten segments of 1000 bytes in 12 ms, and a fifth more.
            let mut window = Window::new(10);
            window.ssthresh = 10;
            pacing.follow(&window, 0, 1000, Time::from_millis(12));
            pacing.sent(Time(0), 1000, 10);
            assert_eq!(pacing.next(), Time::from_micros(wait), "{setting:?}");
            assert!(!pacing.is_by_control());
        }
    }
}
