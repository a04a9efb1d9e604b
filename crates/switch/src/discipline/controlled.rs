//! A queue that an agent outside the simulation controls, between two steps of virtual time.
//!
//! The agent holds a [`Handle`] to the queue: it reads the queue's counts and sets either the drop
//! probability of arriving packets or CoDel's TARGET. The discipline must not depend on what the
//! agent is. It has no entry in the register, because it needs a handle.

use super::codel::{self, Params, State, Stats};
use super::probability::{Dice, Probability};
use super::{Backlog, Discipline, DropKind, Drops, QueueLength, Queued};
use crate::ecn;
use sojourn_packet::Time;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The quantity that the agent sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Drop probability of each arriving packet, in millionths.
    Probability(u64),
    /// TARGET of an RFC 8289 CoDel.
    Target(Time),
}

/// Counts of a queue since its handle was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that the queue holds.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets dropped by the setting.
    pub dropped: u64,
    /// Packets marked by the setting.
    pub marked: u64,
    /// Packets sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Sum of their sojourn times, ns.
    pub sojourn: u64,
}

#[derive(Debug)]
struct Shared {
    setting: Setting,
    counts: Counts,
}

/// The agent's access to a queue. Several queues with one handle share the setting and the counts.
///
/// ```
/// use sojourn_packet::{Packet, Time};
/// use sojourn_switch::discipline::controlled::{Controlled, Handle, Setting};
/// use sojourn_switch::discipline::{Discipline, Drops, Queued};
/// let handle = Handle::new(Setting::Probability(1_000_000));
/// let (mut queue, mut drops) = (Controlled::new(handle.clone(), false, 1), Drops::default());
/// queue.enqueue(Time::ZERO, Queued::new(Packet::default(), Time::ZERO), &mut drops);
/// assert_eq!((handle.counts().arrived, handle.counts().dropped), (1, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Handle(Arc<Mutex<Shared>>);

impl Handle {
    /// A handle with its first setting.
    pub fn new(setting: Setting) -> Handle {
        Handle(Arc::new(Mutex::new(Shared { setting, counts: Counts::default() })))
    }

    fn locked(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies to every packet from here on.
    pub fn set(&self, setting: Setting) {
        self.locked().setting = setting;
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.locked().counts
    }
}

/// The queue.
#[derive(Debug)]
pub struct Controlled {
    handle: Handle,
    ecn: bool,
    dice: Dice,
    state: State,
    backlog: Backlog,
}

impl Controlled {
    /// An empty queue; with `ecn`, it marks packets of ECN-capable transports instead of dropping
    /// them. `seed` is that of its random numbers.
    pub fn new(handle: Handle, ecn: bool, seed: u64) -> Controlled {
        Controlled {
            handle,
            ecn,
            dice: Dice::new(seed),
            state: State::default(),
            backlog: Backlog::default(),
        }
    }
}

impl Discipline for Controlled {
    fn enqueue(&mut self, _now: Time, mut packet: Queued, drops: &mut Drops) {
        let mut shared = self.handle.locked();
        shared.counts.arrived += 1;
        let hit = match shared.setting {
            Setting::Probability(ppm) => self.dice.hits(Probability::from_ppm(ppm)),
            Setting::Target(_) => false,
        };
        if hit && !(self.ecn && ecn::mark(&mut packet.packet)) {
            shared.counts.dropped += 1;
            return drops.push(packet, DropKind::Aqm);
        }
        shared.counts.marked += u64::from(hit);
        shared.counts.packets += 1;
        shared.counts.bytes += packet.size().0;
        self.backlog.push(packet);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        let mut shared = self.handle.locked();
        let (mut stats, held) = (Stats::default(), self.backlog.length());
        let packet = match shared.setting {
            Setting::Probability(_) => self.backlog.pop(),
            Setting::Target(target) => {
                let params = Params { target, ..Params::default() };
                let mut queue = codel::Managed { ecn: self.ecn, backlog: &mut self.backlog, drops };
                codel::dequeue(&params, &mut self.state, &mut stats, now, &mut queue)
            }
        };
        let (left, counts) = (self.backlog.length(), &mut shared.counts);
        counts.packets -= (held.packets - left.packets) as u64;
        counts.bytes -= (held.bytes - left.bytes).0;
        counts.dropped += stats.drops;
        counts.marked += stats.marks;
        if let Some(packet) = &packet {
            counts.sent += 1;
            counts.sent_bytes += packet.size().0;
            counts.sojourn += now.saturating_sub(packet.enqueued).0;
        }
        packet
    }

    fn reads_frames(&self) -> bool {
        false
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn length(&self) -> QueueLength {
        self.backlog.length()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let counts = self.handle.counts();
        vec![("drops", counts.dropped), ("marks", counts.marked)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_packet::Packet;

    const FRAME: u32 = 1_500;

    /// Enqueues `count` packets at time zero, then takes one each `ms`.
    fn drained(handle: &Handle, count: u64, ms: u64) -> Counts {
        let (mut queue, mut drops) = (Controlled::new(handle.clone(), false, 7), Drops::default());
        for _ in 0..count {
            let packet = Packet { zeros: FRAME, ..Packet::default() };
            queue.enqueue(Time::ZERO, Queued::new(packet, Time::ZERO), &mut drops);
        }
        let mut now = Time::ZERO;
        while queue.packets() > 0 {
            now += Time::from_millis(ms);
            let _ = queue.dequeue(now, &mut drops);
        }
        handle.counts()
    }

    #[test]
    fn packets_are_dropped_with_the_probability_that_is_set() {
        let counts = drained(&Handle::new(Setting::Probability(250_000)), 10_000, 1);
        // Five standard deviations of 43.
        assert!((2_285..2_715).contains(&counts.dropped), "{counts:?}");
        assert_eq!(counts.sent + counts.dropped, counts.arrived);
        assert_eq!((counts.packets, counts.bytes), (0, 0));
    }

    #[test]
    fn a_target_below_the_delay_makes_codel_drop_and_one_above_does_not() {
        let low = drained(&Handle::new(Setting::Target(Time::from_millis(5))), 500, 1);
        let high = drained(&Handle::new(Setting::Target(Time::from_secs(1))), 500, 1);
        assert!(low.dropped > 5 && high.dropped == 0, "{low:?} {high:?}");
        assert_eq!(low.sent + low.dropped, 500);
        assert_eq!(high.sojourn, (1..=500).sum::<u64>() * 1_000_000);
    }

    #[test]
    fn a_setting_counts_from_the_next_packet_on() {
        let handle = Handle::new(Setting::Probability(0));
        assert_eq!(drained(&handle, 10, 1).dropped, 0);
        handle.set(Setting::Probability(1_000_000));
        assert_eq!(drained(&handle, 10, 1).dropped, 10);
    }
}
