//! Idle entries: the timeout of each entry, and the notifications to clients.
//!
//! The program records hits of entries, and this module interprets them. The driver polls the hits
//! periodically, and an entry's remaining time is that of the last poll. The module identifies
//! tables by number and entries by handle, and must not depend on messages.

use super::bfrt_json::field;
use super::fields::{Datum, Row};
use sojourn_packet::Time;
use std::collections::BTreeMap;

/// Default polling interval of the driver, ms.
const INTERVAL: u32 = 5_000;
const MILLISECOND: u64 = 1_000_000;

/// Idle clock of an entry.
#[derive(Clone, Copy, Debug)]
pub struct EntryClock {
    /// Time to live without a hit, ms; 0 for ever.
    pub ttl: u32,
    /// Remaining time to live when the clock last started, ms.
    left: u32,
    /// Start of the clock, unless the entry was hit later.
    since: Time,
    /// Time since which it is idle, as notified to clients.
    idle: Option<Time>,
    /// It had been hit at the last request for all hits.
    pub active: bool,
    /// Time of the last request for all hits.
    asked: Time,
}

/// Change of an entry's idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleChange {
    /// Not hit within its time to live.
    Idle,
    /// Hit again.
    Active,
}

/// Idle clocks of a table.
#[derive(Clone, Debug, Default)]
pub struct Idle {
    /// True if the clocks run.
    pub enabled: bool,
    /// Clients poll; they receive no notifications.
    pub polled: bool,
    /// Polling interval of the driver, ms.
    interval: Option<u32>,
    /// Start of the polling interval.
    from: Time,
    entries: BTreeMap<u32, EntryClock>,
}

impl Idle {
    /// Applies a client's settings; `hits` gives the time of each entry's last hit. A disabled
    /// clock stops with the time that remained at the last poll, and resumes with it.
    pub fn set(
        &mut self,
        (enabled, polled, interval): (bool, bool, u32),
        hits: impl Fn(u32) -> Option<Time>,
        now: Time,
    ) {
        let polled_at = self.polled_at(now);
        for (handle, aged) in &mut self.entries {
            if self.enabled {
                aged.left = aged.left(hits(*handle), polled_at);
            }
            aged.since = now;
        }
        (self.enabled, self.polled, self.from) = (enabled, polled, now);
        self.interval = (enabled && interval > 0).then_some(interval);
    }

    /// Time of the driver's last poll; `now` if clients poll themselves.
    pub fn polled_at(&self, now: Time) -> Time {
        if !self.enabled || self.polled {
            return now;
        }
        let interval = u64::from(self.interval.unwrap_or(INTERVAL)) * MILLISECOND;
        let passed = now.0.saturating_sub(self.from.0);
        Time(self.from.0 + passed - passed % interval)
    }

    /// Polling interval of the driver, ms; 0 if clients poll themselves.
    pub fn interval(&self) -> u32 {
        if self.polled { 0 } else { self.interval.unwrap_or(INTERVAL) }
    }

    /// Starts or restarts an entry's clock.
    pub fn begin(&mut self, handle: u32, ttl: u32, now: Time) {
        let aged = EntryClock { ttl, left: ttl, since: now, idle: None, active: false, asked: now };
        self.entries.insert(handle, aged);
    }

    /// An entry's clock.
    pub fn entry(&mut self, handle: u32) -> Option<&mut EntryClock> {
        self.entries.get_mut(&handle)
    }

    /// Entries that have clocks.
    pub fn handles(&self) -> Vec<u32> {
        self.entries.keys().copied().collect()
    }

    /// Readable state of an entry's clock.
    pub fn read(&self, handle: u32, hit: Option<Time>, now: Time) -> Row {
        let Some(aged) = self.entries.get(&handle) else { return Row::new() };
        let state = if aged.is_active(self.polled) { "ENTRY_ACTIVE" } else { "ENTRY_IDLE" };
        let left = if self.enabled { aged.left(hit, self.polled_at(now)) } else { aged.left };
        Row::from([
            (field::ENTRY_TTL, Datum::number(left)),
            (field::ENTRY_HIT_STATE, Datum::text(state)),
        ])
    }

    /// Removes an entry's clock.
    pub fn forget(&mut self, handle: u32) {
        self.entries.remove(&handle);
    }
}

impl EntryClock {
    /// Remaining time to live at `now` after a last hit at `hit`, ms.
    pub fn left(&self, hit: Option<Time>, now: Time) -> u32 {
        let (since, left) = match hit {
            Some(hit) if hit > self.since => (hit, self.ttl),
            _ => (self.since, self.left),
        };
        let idle = now.0.saturating_sub(since.0) / MILLISECOND;
        left.saturating_sub(u32::try_from(idle).unwrap_or(u32::MAX))
    }

    /// Change of the idle state since the last poll, if any.
    pub fn poll(&mut self, hit: Option<Time>, now: Time) -> Option<IdleChange> {
        match (self.idle, hit) {
            (None, _) if self.ttl > 0 && self.left(hit, now) == 0 => {
                self.idle = Some(now);
                Some(IdleChange::Idle)
            }
            (Some(idle), Some(hit)) if hit > idle => {
                self.idle = None;
                Some(IdleChange::Active)
            }
            _ => None,
        }
    }

    /// Handles a request for all hits: records whether the entry was hit since the previous
    /// request.
    pub fn request_hit(&mut self, hit: Option<Time>, now: Time) {
        self.active = hit.is_some_and(|hit| hit > self.asked);
        self.asked = now;
    }

    /// Whether it counts as hit.
    pub fn is_active(&self, polled: bool) -> bool {
        if polled { self.active } else { self.idle.is_none() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Time {
        Time(milliseconds * MILLISECOND)
    }

    fn one() -> Idle {
        let mut idle = Idle::default();
        idle.begin(4, 100, at(1_000));
        idle
    }

    #[test]
    fn an_entry_is_reported_once_when_it_is_idle_and_once_when_it_is_hit_again() {
        let mut idle = one();
        let entry = idle.entry(4).unwrap();
        assert_eq!(entry.poll(None, at(1_099)), None);
        assert_eq!(entry.poll(None, at(1_100)), Some(IdleChange::Idle));
        assert_eq!(entry.poll(None, at(1_300)), None);
        assert_eq!(entry.poll(Some(at(1_310)), at(1_320)), Some(IdleChange::Active));
        assert_eq!(entry.poll(Some(at(1_310)), at(1_409)), None);
        assert_eq!(entry.poll(Some(at(1_310)), at(1_410)), Some(IdleChange::Idle));
    }

    #[test]
    fn the_time_that_is_left_runs_from_the_last_hit() {
        let mut idle = one();
        let entry = idle.entry(4).unwrap();
        assert_eq!(entry.left(None, at(1_030)), 70);
        assert_eq!(entry.left(Some(at(1_050)), at(1_060)), 90);
        assert_eq!(
            entry.left(Some(at(5)), at(5_000)),
            0,
            "a hit of an entry that was there before"
        );
    }

    #[test]
    fn the_remaining_time_is_that_of_the_last_poll() {
        let mut idle = Idle::default();
        let ttl = |idle: &Idle, milliseconds| match &idle.read(4, None, at(milliseconds))
            [&field::ENTRY_TTL]
        {
            Datum::Number(left) => left.clone(),
            other => panic!("{other:?}"),
        };
        idle.begin(4, 10_000, at(0));
        idle.set((true, false, 1_000), |_| None, at(500));
        assert_eq!(ttl(&idle, 1_400), 10_000_u32.into());
        assert_eq!(ttl(&idle, 3_700), 7_000_u32.into());
        // With a longer interval, a poll that was due is skipped.
        idle.set((true, false, 5_000), |_| None, at(3_900));
        assert_eq!(ttl(&idle, 8_800), 7_000_u32.into());
        assert_eq!(ttl(&idle, 8_900), 2_000_u32.into());
        // A disabled clock does not advance.
        idle.set((false, false, 0), |_| None, at(9_000));
        assert_eq!(ttl(&idle, 20_000), 2_000_u32.into());
        idle.set((true, false, 1_000), |_| None, at(20_000));
        assert_eq!(ttl(&idle, 21_000), 1_000_u32.into());
    }

    #[test]
    fn who_polls_hears_of_hits_since_the_last_poll() {
        let mut idle = one();
        let entry = idle.entry(4).unwrap();
        assert!(!entry.is_active(true));
        entry.request_hit(Some(at(1_010)), at(1_020));
        assert!(entry.is_active(true));
        entry.request_hit(Some(at(1_010)), at(1_030));
        assert!(!entry.is_active(true));
    }

    #[test]
    fn an_entry_without_a_time_is_never_idle() {
        let mut idle = Idle::default();
        idle.begin(4, 0, at(0));
        assert_eq!(idle.entry(4).unwrap().poll(None, at(1 << 40)), None);
    }
}
