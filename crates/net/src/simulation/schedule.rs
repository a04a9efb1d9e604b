//! Scheduled changes during a run: rates and delays of links, and operations on switches.

pub(super) use super::layout::Change;

use super::events::Event;
use super::partition::Partition;
use sojourn_packet::Time;

/// The scheduled changes that a switch refused.
pub(super) struct RefusedActions {
    pub(super) count: u64,
    /// Time and message of the first.
    pub(super) at: Time,
    pub(super) why: String,
}

impl Partition {
    /// Puts an event at the next change.
    pub(super) fn schedule_change(&mut self) {
        if let Some(due) = self.changes.last() {
            self.events.push(due.at, Event::Change);
        }
    }

    /// Carries out all changes of this instant.
    #[cold]
    pub(super) fn change(&mut self) {
        let mut first = false;
        while let Some(due) = self.changes.pop_if(|due| due.at <= self.now) {
            first |= due.first;
            self.apply(due.what);
        }
        self.count_shared(first);
        self.schedule_change();
    }

    /// Puts an event at the next thing that is done to a switch.
    pub(super) fn schedule_act(&mut self) {
        if let Some(due) = self.actions.last() {
            self.events.push(due.at, Event::SwitchAction);
        }
    }

    /// Does all that is due to switches.
    #[cold]
    pub(super) fn act(&mut self) {
        let mut first = false;
        while let Some(due) = self.actions.pop_if(|due| due.at <= self.now) {
            first |= due.first;
            let (switch, act) = due.what;
            if let Err(why) = act(&mut self.nodes[usize::from(switch)].switch, self.now) {
                let refused =
                    self.refused.get_or_insert(RefusedActions { count: 0, at: self.now, why });
                refused.count += 1;
            }
            self.drain_switch(switch);
        }
        self.count_shared(first);
        self.schedule_act();
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Shaper(switch, port, shaper) => {
                let node = &mut self.nodes[usize::from(switch)].switch;
                // The port exists, and the rate was tried when the run was built.
                let shaped = node.set_port_shaper(self.now, port, shaper.as_ref());
                debug_assert!(shaped.is_ok(), "{shaped:?}");
                self.drain_switch(switch);
            }
            Change::Up(switch, place, up) => {
                let node = &mut self.nodes[usize::from(switch)];
                let link = &mut node.port_links[place];
                link.up = up;
                // A packet generator may have been waiting for it.
                if !up && node.switch.generators().chip().is_some() {
                    node.switch.link_down(self.now, link.port);
                    self.drain_switch(switch);
                }
            }
            Change::Routes(switch, routes) => {
                self.nodes[usize::from(switch)].switch.set_routes(&routes);
            }
            Change::Delay(switch, place, delay) => {
                self.nodes[usize::from(switch)].port_links[place].delay = delay;
            }
            Change::AccessLink(access, rate, delay) => {
                let link = &mut self.send_path.access_links[usize::from(access)].to_switch;
                rate.into_iter().for_each(|rate| link.set_rate(rate));
                delay.into_iter().for_each(|delay| link.set_delay(delay));
            }
        }
    }
}
