//! CoDel as Listing 1 of the P4-CoDel paper has it.
//!
//! R. Kundel, A. Rizk, J. Blendin, B. Koldehofe, R. Hark, R. Steinmetz: "P4-CoDel: Experiences on
//! Programmable Data Plane Hardware", IEEE ICC 2021. The listing is "based on RFC 8289" and differs from
//! it in what one can measure, so both are here:
//! - the drop state begins with the first packet above target; the RFC waits an interval first;
//! - that packet is sent, and the first drop comes interval / sqrt(count) later; the RFC drops it;
//! - at a drop `drp_next` is set from now on; the RFC adds to `drp_next` itself;
//! - `last_count` is the count of the cycle before; the RFC's is the count that the cycle begins with,
//!   so that its difference is the number of drops in the last cycle.
//!
//! It depends on enqueue times, and must not depend on the rate at which it drains.

use super::codel::{CodelQueue, INTERVAL_PARAMETER, Managed, TARGET_PARAMETER, spacing};
use super::{
    Backlog, Discipline, DisciplineError, Drops, ECN, FULL_FRAME, Kind, Parameter, QueueLength,
    Queued, Registered, Settings,
};
use sojourn_packet::{Bytes, Time};

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "codel_2021",
    summary: "CoDel of Listing 1 (Kundel et al., ICC 2021): the drop state begins with the first packet above target",
    parameters: &[
        TARGET_PARAMETER,
        INTERVAL_PARAMETER,
        Parameter::new("mtu", Kind::Size, FULL_FRAME.0, "no drops below this backlog"),
        ECN,
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let params = Params {
        target: settings.time("target")?,
        interval: settings.time("interval")?,
        mtu: settings.get("mtu").map_or(FULL_FRAME, Bytes),
    };
    Ok(Box::new(Codel2021 {
        params,
        ecn: settings.switch("ecn")?,
        state: State::default(),
        stats: Stats::default(),
        backlog: Backlog::default(),
    }))
}

/// Parameters, names as in the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Sojourn time above which packets are dropped (`TARGET`).
    pub target: Time,
    /// The first wait in the drop state (`INTERVAL`).
    pub interval: Time,
    /// The backlog below which nothing is dropped (`IFACE_MTU`).
    pub mtu: Bytes,
}

/// The four state variables of the listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// In the drop state.
    pub dropping: bool,
    /// Drops of this cycle, on what it began with.
    pub count: u32,
    /// `count` at the end of the cycle before.
    pub last_count: u32,
    /// Time of the next drop (`drp_next`).
    pub drop_next: Time,
}

impl State {
    /// The listing for one packet that leaves the queue: true if it is to be dropped. `backlog` stays
    /// behind it.
    pub fn drops(&mut self, params: &Params, now: Time, sojourn: Time, backlog: Bytes) -> bool {
        // if_1: no violation of the target
        if sojourn < params.target || backlog < params.mtu {
            self.dropping = false;
            return false;
        }
        // if_2: the first packet that violates it
        if !self.dropping {
            self.enter(params, now);
            return false;
        }
        // if_4: a drop is due
        if self.drop_next > now {
            return false;
        }
        self.count = self.count.wrapping_add(1);
        self.drop_next = now + spacing(params.interval, self.count);
        true
    }

    fn enter(&mut self, params: &Params, now: Time) {
        self.dropping = true;
        let before = self.count;
        // if_3: a drop rate that was reached a short while ago is a good one to begin with. The
        // difference is negative after a cycle with fewer drops than the one before it.
        let delta = i64::from(self.count) - i64::from(self.last_count);
        let recently = now.saturating_sub(self.drop_next).0 < 16 * params.interval.0;
        self.count = if delta > 1 && recently { delta as u32 } else { 1 };
        self.drop_next = now + spacing(params.interval, self.count);
        self.last_count = before;
    }
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stats {
    drops: u64,
    marks: u64,
    drop_states: u64,
}

/// A queue managed by it.
#[derive(Debug)]
struct Codel2021 {
    params: Params,
    ecn: bool,
    state: State,
    stats: Stats,
    backlog: Backlog,
}

impl Codel2021 {
    fn judge(&mut self, now: Time, sojourn: Time, backlog: Bytes) -> bool {
        let was_dropping = self.state.dropping;
        let drops = self.state.drops(&self.params, now, sojourn, backlog);
        self.stats.drop_states += u64::from(!was_dropping && self.state.dropping);
        drops
    }
}

impl Discipline for Codel2021 {
    fn enqueue(&mut self, _now: Time, packet: Queued, _drops: &mut Drops) {
        self.backlog.push(packet);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        loop {
            let head = self.backlog.front()?;
            let (enqueued, behind) = (head.enqueued, self.backlog.bytes() - head.size());
            if !self.judge(now, now.saturating_sub(enqueued), behind) {
                return self.backlog.pop();
            }
            let mut queue = Managed { ecn: self.ecn, backlog: &mut self.backlog, drops };
            if queue.mark_head() {
                self.stats.marks += 1;
                return queue.pop();
            }
            self.stats.drops += 1;
            if let Some(packet) = queue.pop() {
                queue.drop(packet);
            }
        }
    }

    fn decides(&mut self, now: Time, sojourn: Time, backlog: Bytes, _size: Bytes) -> Option<bool> {
        let drops = self.judge(now, sojourn, backlog);
        self.stats.drops += u64::from(drops);
        Some(drops)
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
        vec![
            ("drops", self.stats.drops),
            ("marks", self.stats.marks),
            ("drop_states", self.stats.drop_states),
        ]
    }
}

#[cfg(test)]
#[path = "codel_2021_tests.rs"]
mod tests;
