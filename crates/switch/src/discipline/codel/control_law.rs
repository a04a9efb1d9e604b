//! CoDel's control law: RFC 8289's parameters TARGET and INTERVAL with their defaults, the state, and the
//! decision about each packet.
//!
//! For each packet that leaves the queue, [`State`] takes its sojourn time and the backlog behind
//! it, and decides whether it is dropped. Must not depend on queues or packets, so the same
//! decisions serve a queue that drops before transmission and a recorded sequence of sojourn times.

use super::super::FULL_FRAME;
use sojourn_packet::{Bytes, Time};

pub(super) const TARGET: Time = Time::from_millis(5);
pub(super) const INTERVAL: Time = Time::from_millis(100);

/// Parameters (RFC 8289 section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// TARGET: sojourn time that a standing queue may have. Default 5 ms.
    pub target: Time,
    /// INTERVAL: the sliding window in which the sojourn time must have been below TARGET at least
    /// once. Default 100 ms.
    pub interval: Time,
    /// The backlog at or below which nothing is dropped. Default 1514 bytes; the RFC's listing says
    /// 512 with the advice to use the interface's MTU, which for a frame without FCS is this.
    pub maxpacket: Bytes,
}

impl Default for Params {
    fn default() -> Params {
        Params { target: TARGET, interval: INTERVAL, maxpacket: FULL_FRAME }
    }
}

/// State of one queue (RFC 8289 section 5.2), names as there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Time at which the sojourn time will have been above TARGET for INTERVAL; absent while it is
    /// below (the RFC writes 0).
    pub first_above_time: Option<Time>,
    /// Time of the next drop.
    pub drop_next: Time,
    /// Packets dropped since entering the drop state.
    pub count: u32,
    /// `count` at the last entry.
    pub lastcount: u32,
    /// In the drop state.
    pub dropping: bool,
    /// `drop_next` has to move on as soon as another packet is found too old.
    owing: bool,
}

impl State {
    /// The dequeue routine of section 5.5 for one packet that leaves the queue: true if it is to be
    /// dropped. `backlog` stays behind it.
    ///
    /// The RFC's routine takes packets until it finds one to send; called for those packets in turn
    /// at the same `now`, this gives the same decisions. The routine examines the packet behind a
    /// dropped one before it advances `drop_next`, and does not advance it if that packet ends the
    /// drop state; hence `owing`.
    pub fn drops(&mut self, params: &Params, now: Time, sojourn: Time, backlog: Bytes) -> bool {
        self.drops_by(spacing, params, now, sojourn, backlog)
    }

    /// The same with another INTERVAL / sqrt(count) than [`spacing`]: the decisions of an
    /// approximation.
    #[inline]
    pub fn drops_by(
        &mut self,
        spacing: impl Fn(Time, u32) -> Time,
        params: &Params,
        now: Time,
        sojourn: Time,
        backlog: Bytes,
    ) -> bool {
        let ok_to_drop = self.ok_to_drop(params, now, sojourn, backlog);
        if !ok_to_drop {
            // The sojourn time fell below TARGET: leave the drop state.
            self.dropping = false;
            self.owing = false;
            return false;
        }
        if !self.dropping {
            self.enter(spacing, params, now);
            return true;
        }
        self.settle_by(spacing, params);
        // One drop per `drop_next` that has passed, each making the next one come sooner.
        if now < self.drop_next {
            return false;
        }
        self.count = self.count.wrapping_add(1);
        self.owing = true;
        true
    }

    /// Section 5.6, the second half of `dodequeue`: whether the sojourn time has been above TARGET
    /// for INTERVAL.
    fn ok_to_drop(&mut self, params: &Params, now: Time, sojourn: Time, backlog: Bytes) -> bool {
        // The second condition keeps a slow link busy: with no more than one packet behind this
        // one, a drop would leave the link idle.
        if sojourn < params.target || backlog <= params.maxpacket {
            self.first_above_time = None;
            return false;
        }
        match self.first_above_time {
            None => {
                self.first_above_time = Some(now + params.interval);
                false
            }
            Some(first_above_time) => now >= first_above_time,
        }
    }

    /// Above TARGET for INTERVAL: enter the drop state.
    fn enter(&mut self, spacing: impl Fn(Time, u32) -> Time, params: &Params, now: Time) {
        self.dropping = true;
        // If the last drop state ended a short while ago, the drop rate it had come to is a good
        // one to start from: `drop_next` is at most INTERVAL after the last drop.
        let delta = self.count.wrapping_sub(self.lastcount);
        let recently = now.saturating_sub(self.drop_next).0 < 16 * params.interval.0;
        self.count = if delta > 1 && recently { delta } else { 1 };
        self.drop_next = now + spacing(params.interval, self.count);
        self.lastcount = self.count;
    }

    /// Moves `drop_next` on after a drop, if that was left open.
    pub(super) fn settle_by(&mut self, spacing: impl Fn(Time, u32) -> Time, params: &Params) {
        if std::mem::take(&mut self.owing) {
            self.drop_next += spacing(params.interval, self.count);
        }
    }

    /// The queue has become empty, which is not above TARGET.
    pub fn emptied(&mut self) {
        self.first_above_time = None;
        self.dropping = false;
        self.owing = false;
    }
}

/// RFC 8289 section 5.6: the next drop is INTERVAL / sqrt(count) after `t`.
pub fn control_law(interval: Time, t: Time, count: u32) -> Time {
    t + spacing(interval, count)
}

/// INTERVAL / sqrt(count), rounded to the nearest nanosecond, halves up.
///
/// With x = INTERVAL / sqrt(count): floor(2 x) = floor(sqrt(4 INTERVAL^2 / count)), and the integer
/// square root of the integer quotient is exactly that floor, because no square lies between the
/// quotient and its integer part. Then round(x) = floor((floor(2 x) + 1) / 2). No float is involved
/// and no approximation such as the kernel's Newton steps. A count of 0 (after 2^32 drops in one
/// drop state) counts as 1.
pub fn spacing(interval: Time, count: u32) -> Time {
    let doubled = 2 * u128::from(interval.0);
    let floor_of_double = (doubled * doubled / u128::from(count.max(1))).isqrt();
    Time(floor_of_double.div_ceil(2) as u64)
}
