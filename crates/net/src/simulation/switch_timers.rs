//! Timers of a partition's switches: which switch has something to do first.
//!
//! A winner tree compares a switch whose timer has changed with a few others, not all of them with
//! each other after each event. The module must not depend on what a switch does when its timer is
//! due.

use crate::event::Number;
use crate::winner_tree::{LAST, Leaf, WinnerTree};
use sojourn_packet::Time;

/// Behind all pending times: a switch without a timer has the one that is as far behind it as the
/// switch's place, since the tree is faster where times differ.
const IDLE: Time = Time(LAST.0 - (1 << 16));

/// The next timer of each switch.
#[derive(Debug)]
pub(super) struct SwitchTimers {
    /// By switch: its leaf and its timer, after [`IDLE`] if it has none.
    timers: Vec<(Leaf, Time)>,
    firsts: WinnerTree<u16>,
}

impl SwitchTimers {
    /// Of no switch.
    pub(super) fn new() -> SwitchTimers {
        SwitchTimers { timers: Vec::new(), firsts: WinnerTree::new() }
    }

    /// Adds the timer of a switch, behind those that are there; returns the first of all.
    pub(super) fn attach(&mut self, switch: u16, next: Option<Time>) -> (Time, u16) {
        let at = or_idle(switch, next);
        let leaf = self.firsts.insert(switch, (at, Number(u32::from(switch))));
        self.timers.push((leaf, at));
        self.first()
    }

    /// Sets the timer of a switch; returns the first of all.
    #[inline]
    pub(super) fn set(&mut self, switch: u16, next: Option<Time>) -> (Time, u16) {
        let at = or_idle(switch, next);
        let (leaf, before) = &mut self.timers[usize::from(switch)];
        if *before != at {
            *before = at;
            self.firsts.change(*leaf, (at, Number(u32::from(switch))));
        }
        self.first()
    }

    /// The first timer and its switch, of equal times the switch that was attached first; the end of
    /// time if no switch has one.
    #[inline]
    fn first(&self) -> (Time, u16) {
        match self.firsts.first() {
            Some(((at, _), switch)) if at < IDLE => (at, switch),
            _ => (Time::MAX, 0),
        }
    }
}

#[inline]
fn or_idle(switch: u16, next: Option<Time>) -> Time {
    next.filter(|at| *at < IDLE).unwrap_or(Time(IDLE.0 + u64::from(switch)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_one_that_a_scan_of_all_switches_finds(
            switches in 1..20u16,
            changes in proptest::collection::vec((0..20u16, proptest::option::of(0..9u64)), 1..100),
        ) {
            let mut timers = SwitchTimers::new();
            let mut scanned = vec![None; usize::from(switches)];
            for switch in 0..switches {
                timers.attach(switch, None);
            }
            for (switch, next) in changes {
                let (switch, next) = (switch % switches, next.map(Time));
                scanned[usize::from(switch)] = next;
                let due = (0..).zip(&scanned).filter_map(|(switch, next)| Some(((*next)?, switch)));
                let first = due.min().unwrap_or((Time::MAX, 0));
                prop_assert_eq!(timers.set(switch, next), first);
            }
        }
    }
}
