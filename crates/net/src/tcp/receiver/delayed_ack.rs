//! Delayed acknowledgements (RFC 5681 section 4.2) with Linux's rules.
//!
//! An acknowledgement is immediate in quick-ACK mode, for more than one full segment, and for
//! events that the sender must learn of. Otherwise it follows a delay derived from the gaps between
//! segments.
//!
//! Quick-ACK mode acknowledges every segment, for the benefit of slow start. It applies to the
//! first segments of a connection, while the receive window grows, after a long gap, and after
//! duplicates and marks. An end that answers data with data is in ping-pong mode. Its
//! acknowledgements then ride on its data, and quick-ACK mode has no effect.

use crate::tcp::Hz;
use sojourn_packet::Time;

/// The shortest delay, and the longest in and out of ping-pong mode.
const MIN_DELAY: Time = Time::from_millis(40);
const MAX_DELAY: Time = Time::from_millis(500);
const MAX_PINGPONG_DELAY: Time = Time::from_millis(200);
/// Whatever the mode, nothing waits for longer.
const LONGEST: Time = Time::from_millis(200);
/// Segments that one entry into quick-ACK mode acknowledges at most.
const MAX_QUICK: u32 = 16;
/// Segments that are acknowledged quickly after a mark.
const MARK_QUICK: u32 = 2;
/// Acknowledgements that report data out of order at once, at each gap; after them one goes for
/// all that arrive within a twentieth of a round trip and at most this long, or so many.
const PROMPT_REPORTS: u32 = 3;
const LONGEST_REPORT_DELAY: Time = Time::from_millis(1);
/// Slack of such a report's timer, so that the processor wakes less often
/// (`tcp_comp_sack_slack_ns`). An otherwise idle machine uses all of it.
const REPORT_SLACK: Time = Time::from_micros(100);
const MOST_COMPRESSED: u32 = 44;

/// Acknowledgement owed to the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DelayedAck {
    hz: Hz,
    /// Half of the window in segments bounds quick-ACK mode.
    window: u64,
    /// The shortest delay: 40 ms, or the limit.
    shortest: Time,
    /// The longest delay: 200 ms, or the limit.
    longest: Time,
    /// The largest payload seen: what a full segment is.
    full: u32,
    /// Bytes received in order since the last acknowledgement went out.
    unacknowledged: u64,
    due: AckDeadline,
    /// Its time; [`Time::MAX`] for none.
    expires: Time,
    /// The delay as it has adapted; absent before the first segment.
    delay: Option<Time>,
    /// By the coarse clock.
    last_data: Time,
    /// Acknowledgements that still go at once.
    quick: u32,
    pingpong: bool,
    /// Something arrived that was not acknowledged.
    scheduled: bool,
    /// Expected offset when the present gap was last reported, and the number of immediate reports.
    gap: (u64, u32),
    /// Reports that wait to go as one.
    compressed: u32,
}

/// Time of the next acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckDeadline {
    Nothing,
    /// After a delay in which data may come to ride on, or a second segment: until then by the coarse
    /// clock.
    At(Time),
    /// With other reports of data out of order.
    Report,
    Now,
}

/// The other half's knowledge of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// The smoothed round-trip time, once there is one.
    pub(crate) srtt: Option<Time>,
    /// The retransmission timeout.
    pub(crate) rto: Time,
}

impl DelayedAck {
    /// Nothing is owed; `window` is what we announce, in bytes, and no delay exceeds `limit`, in whole
    /// ticks.
    pub(crate) fn new(window: u64, (hz, limit): (Hz, Option<Time>)) -> DelayedAck {
        DelayedAck {
            hz,
            window,
            shortest: hz.whole(limit.unwrap_or(MIN_DELAY).min(MIN_DELAY)),
            longest: hz.whole(limit.unwrap_or(LONGEST).min(LONGEST)),
            full: 1,
            unacknowledged: 0,
            due: AckDeadline::Nothing,
            expires: Time::MAX,
            delay: None,
            last_data: Time::ZERO,
            quick: 0,
            pingpong: false,
            scheduled: false,
            gap: (0, 0),
            compressed: 0,
        }
    }

    /// Data arrived in order.
    #[inline(always)]
    pub(crate) fn on_data(&mut self, now: Time, payload: u32, path: &Path) {
        self.full = self.full.max(payload);
        self.unacknowledged += u64::from(payload);
        self.scheduled = true;
        self.adapt(now, path.rto);
    }

    /// The delay follows the gaps between segments; after a gap so long that the sender has begun
    /// anew, or at the beginning, acknowledgements are quick.
    #[inline(always)]
    fn adapt(&mut self, now: Time, rto: Time) {
        let gap = self.hz.coarse(now).saturating_sub(self.last_data);
        self.last_data = self.hz.coarse(now);
        // Nearly always it stays the shortest.
        if self.delay != Some(self.shortest) || gap > Time(self.shortest.0 / 2) {
            self.adapt_to(gap, rto);
        }
    }

    #[inline(never)]
    fn adapt_to(&mut self, gap: Time, rto: Time) {
        let Some(delay) = self.delay else {
            self.raise_quick(MAX_QUICK);
            self.delay = Some(self.shortest);
            return;
        };
        if gap <= Time(self.shortest.0 / 2) {
            if delay != self.shortest {
                self.delay = Some(self.half(delay) + self.half(self.shortest));
            }
        } else if gap < delay {
            self.delay = Some((self.half(delay) + gap).min(rto));
        } else if gap > rto {
            self.raise_quick(MAX_QUICK);
        }
    }

    fn raise_quick(&mut self, most: u32) {
        let half_window = self.window / (2 * u64::from(self.full));
        let quick = match half_window {
            0 => 2,
            segments => segments.min(u64::from(u32::MAX)) as u32,
        };
        self.quick = self.quick.max(quick.min(most));
    }

    /// Quick-ACK mode for `most` acknowledgements: the sender may have a tiny window.
    fn be_quick(&mut self, most: u32) {
        self.raise_quick(most);
        self.pingpong = false;
        self.delay = Some(self.shortest);
    }

    /// A duplicate arrived: the sender lacks acknowledgements.
    pub(crate) fn on_duplicate(&mut self) {
        self.be_quick(MAX_QUICK);
        self.scheduled = true;
    }

    /// A congestion mark arrived.
    pub(crate) fn on_mark(&mut self) {
        self.be_quick(MARK_QUICK);
    }

    /// The receive window has grown: the sender is notified at once. Linux sets the lowest bit.
    pub(crate) fn on_growth(&mut self) {
        self.quick |= 1;
    }

    /// Data arrived out of order.
    pub(crate) fn on_gap(&mut self) {
        self.scheduled = true;
    }

    /// The sender has pushed: nothing may follow, and the application has read all there is.
    pub(crate) fn on_push(&mut self) {
        if !self.pingpong {
            self.at_once();
        }
    }

    /// Decides after an arrival. `gap` is the expected offset if data are waiting behind it.
    #[inline(always)]
    pub(crate) fn decide(&mut self, now: Time, path: &Path, gap: Option<u64>) {
        if !self.scheduled || self.due == AckDeadline::Now {
            return;
        }
        let quick = self.quick > 0 && !self.pingpong;
        if quick || self.unacknowledged > u64::from(self.full) || self.longest == Time::ZERO {
            self.owe(AckDeadline::Now, Time::ZERO);
        } else if let Some(expected) = gap {
            self.report(now, path, expected);
        } else {
            self.wait(now, path);
        }
    }

    /// Reports wait to go as one: what they say must go now, before it is forgotten, and nothing
    /// is owed for what has just arrived. True if there were any.
    pub(crate) fn flush(&mut self, now: Time, path: &Path) -> bool {
        let waits = self.due == AckDeadline::Report;
        if waits {
            self.sent(now, path);
        }
        waits
    }

    /// Reports of data out of order: the first three at once, so that the sender can detect a loss,
    /// the others compressed.
    fn report(&mut self, now: Time, path: &Path, expected: u64) {
        if self.gap.0 != expected {
            self.gap = (expected, 0);
        }
        if self.gap.1 < PROMPT_REPORTS || self.compressed >= MOST_COMPRESSED {
            self.gap.1 += 1;
            self.owe(AckDeadline::Now, Time::ZERO);
            return;
        }
        self.compressed += 1;
        if self.compressed == 1 {
            let twentieth = path.srtt.map_or(Time::ZERO, |srtt| Time(srtt.0 / 20));
            let delay = twentieth.min(LONGEST_REPORT_DELAY) + REPORT_SLACK;
            self.owe(AckDeadline::Report, now + delay);
        }
    }

    fn wait(&mut self, now: Time, path: &Path) {
        match self.delay {
            Some(delay) if delay != self.shortest => self.wait_longer(now, delay, path),
            _ => self.wait_for(now, self.shortest),
        }
    }

    #[inline(never)]
    fn wait_longer(&mut self, now: Time, mut delay: Time, path: &Path) {
        if delay > self.shortest {
            let longest = if self.pingpong { MAX_PINGPONG_DELAY } else { MAX_DELAY };
            let longest = path
                .srtt
                .map_or(longest, |srtt| longest.min(self.hz.whole(srtt).max(self.shortest)));
            delay = delay.min(longest);
        }
        self.wait_for(now, delay.min(self.longest));
    }

    #[inline(always)]
    fn wait_for(&mut self, now: Time, delay: Time) {
        let (clock, delay) = (self.hz.coarse(now), self.hz.whole(delay));
        match self.due {
            // One that is nearly due is sent now.
            AckDeadline::At(until) if until <= clock + self.hz.coarse(Time(delay.0 / 4)) => {
                self.owe(AckDeadline::Now, Time::ZERO);
            }
            AckDeadline::At(until) if until <= clock + delay => {}
            _ => self.owe(AckDeadline::At(clock + delay), self.hz.expiry(now, delay)),
        }
    }

    #[inline]
    fn owe(&mut self, due: AckDeadline, expires: Time) {
        (self.due, self.expires) = (due, expires);
    }

    /// True if an acknowledgement waits for a second segment.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.due, AckDeadline::At(_))
    }

    /// Requests an immediate acknowledgement.
    pub(crate) fn at_once(&mut self) {
        self.scheduled = true;
        self.owe(AckDeadline::Now, Time::ZERO);
    }

    /// An acknowledgement goes out at `now`, alone or with data.
    #[inline(always)]
    pub(crate) fn sent(&mut self, now: Time, path: &Path) {
        // Nothing is owed either.
        if !self.scheduled {
            return;
        }
        if self.expires <= now && self.waits() {
            self.expired(path);
        }
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = Some(self.shortest);
            }
        }
        self.unacknowledged = 0;
        self.scheduled = false;
        self.compressed = 0;
        self.owe(AckDeadline::Nothing, Time::MAX);
    }

    /// The delay was in vain: no data came to ride on, no second segment either.
    fn expired(&mut self, path: &Path) {
        if self.pingpong {
            self.pingpong = false;
            self.delay = Some(self.shortest);
        } else {
            self.delay = self.delay.map(|delay| Time(2 * delay.0).min(path.rto));
        }
    }

    /// Data go out: if they answer data, acknowledgements can ride on them.
    pub(crate) fn data_sent(&mut self, now: Time) {
        if self
            .delay
            .is_some_and(|delay| self.hz.coarse(now).saturating_sub(self.last_data) < delay)
        {
            self.pingpong = true;
        }
    }

    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.expires <= now
    }

    /// Time of the acknowledgement; [`Time::MAX`] if none is owed.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.expires
    }
    /// Half of it in whole ticks, rounded down.
    fn half(&self, delay: Time) -> Time {
        self.hz.coarse(Time(delay.0 / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;
    const PATH: Path = Path { srtt: Some(Time::from_millis(300)), rto: Time::from_millis(900) };

    /// A segment of 1000 bytes; when its acknowledgement is due, which then goes out.
    fn segment(acks: &mut DelayedAck, now: Time) -> Time {
        acks.on_data(now, 1000, &PATH);
        acks.decide(now, &PATH, None);
        let due = acks.deadline().max(now);
        acks.sent(due, &PATH);
        due
    }

    /// Past the first quick acknowledgements, of which half a window allows `quick`.
    fn settled(quick: u64) -> DelayedAck {
        let mut acks = DelayedAck::new(2000 * quick, (Hz::default(), None));
        for _ in 0..quick.min(16) {
            assert_eq!(segment(&mut acks, MS(0)), MS(0));
        }
        acks
    }

    #[test]
    fn half_a_window_of_segments_is_quick_but_not_more_than_sixteen() {
        for window in [3, 16, 100] {
            assert_eq!(segment(&mut settled(window), MS(1)), MS(42), "the tick after 40");
        }
    }

    #[test]
    fn the_delay_follows_the_gaps_between_segments() {
        let mut acks = settled(3);
        // Linux: half of the old one and the gap, where the gap is below the old one.
        assert_eq!(segment(&mut acks, MS(30)), MS(30 + 50 + 1), "the tick after");
        // The delay was in vain: twice as long, then half of that and the gap of 60 ms. From 63 ms on
        // timers expire at multiples of 8 ms.
        assert_eq!(segment(&mut acks, MS(90)), MS(90 + 110 + 8));
        // Never longer than 200 ms, nor than the round-trip time.
        acks.delay = Some(MS(480));
        assert_eq!(segment(&mut acks, MS(400)), MS(600 + 8));
        let near = Path { srtt: Some(MS(70)), ..PATH };
        acks.on_data(MS(700), 1000, &near);
        acks.delay = Some(MS(480));
        acks.decide(MS(700), &near, None);
        assert_eq!(acks.deadline(), MS(776));
    }

    #[test]
    fn after_a_gap_longer_than_the_timeout_acknowledgements_are_quick_again() {
        let mut acks = settled(3);
        assert_eq!(segment(&mut acks, MS(901)), MS(901));
        assert_eq!(segment(&mut acks, MS(902)), MS(902));
    }

    #[test]
    fn gaps_and_delays_are_counted_in_ticks() {
        // The coarse clock shows 10 and 40 ms: a gap of 30, and a delay of 20 + 30 ms.
        let us = Time::from_micros;
        let mut acks = settled(3);
        assert_eq!(segment(&mut acks, us(10_900)), MS(51));
        acks.delay = Some(MS(40));
        assert_eq!(segment(&mut acks, us(40_100)), MS(40 + 50 + 1));
    }

    #[test]
    fn forty_milliseconds_are_so_many_ticks_of_each_rate() {
        let due = |hz| {
            let mut acks = DelayedAck::new(2000, (hz, None));
            assert_eq!(segment(&mut acks, MS(0)), MS(0), "quick at first");
            segment(&mut acks, MS(1))
        };
        assert_eq!(due(Hz::Hz100), MS(50), "four ticks, and the one that has begun");
        assert_eq!(due(Hz::Hz250), MS(44));
        assert_eq!(due(Hz::Hz300), Hz::Hz300.time(13));
        assert_eq!(due(Hz::Hz1000), MS(42));
    }

    #[test]
    fn a_limit_shortens_every_delay_and_one_of_zero_leaves_none() {
        let limited = |limit| {
            let mut acks = DelayedAck::new(2000, (Hz::default(), Some(limit)));
            assert_eq!(segment(&mut acks, MS(0)), MS(0), "quick at first");
            (2..40).map(|n| segment(&mut acks, MS(50 * n)).0 - MS(50 * n).0).max()
        };
        assert!(limited(MS(5)).is_some_and(|late| late > 0 && late <= MS(6).0), "the tick after");
        assert_eq!(limited(Time::ZERO), Some(0));
    }

    #[test]
    fn a_delay_in_vain_ends_ping_pong_mode() {
        let mut acks = settled(3);
        acks.data_sent(MS(10));
        assert!(acks.pingpong);
        assert_eq!(segment(&mut acks, MS(11)), MS(52));
        assert!(!acks.pingpong);
    }

    #[test]
    fn a_push_goes_at_once_unless_answers_are_expected() {
        let mut acks = settled(3);
        acks.on_data(MS(1), 10, &PATH);
        acks.on_push();
        assert!(acks.is_due(MS(1)));
        acks.sent(MS(1), &PATH);
        acks.data_sent(MS(2));
        acks.on_data(MS(3), 10, &PATH);
        acks.on_push();
        acks.decide(MS(3), &PATH, None);
        assert_eq!(acks.deadline(), MS(44));
    }
}
