//! What a schedule changes while the run goes on: rates and delays of links.

pub(super) use super::layout::Change;

use super::{Event, Simulation};

impl Simulation {
    /// Puts an event at the next change.
    pub(super) fn schedule_change(&mut self) {
        if let Some((at, _)) = self.changes.last() {
            self.events.push(*at, Event::Change);
        }
    }

    /// Carries out all changes of this instant.
    #[cold]
    pub(super) fn change(&mut self) {
        while let Some((_, change)) = self.changes.pop_if(|(at, _)| *at <= self.now) {
            self.carry_out(change);
        }
        self.schedule_change();
    }

    fn carry_out(&mut self, change: Change) {
        match change {
            Change::Shaper(switch, port, shaper) => {
                let node = &mut self.nodes[usize::from(switch)].switch;
                // The port exists, and the rate was tried when the run was built.
                let shaped = node.set_port_shaper(self.now, port, shaper.as_ref());
                debug_assert!(shaped.is_ok(), "{shaped:?}");
                self.drain_switch(switch);
            }
            Change::Delay(switch, place, delay) => {
                self.nodes[usize::from(switch)].wires[place].delay = delay;
            }
            Change::Side(side, rate, delay) => {
                let link = &mut self.sides[usize::from(side)].to_switch;
                rate.into_iter().for_each(|rate| link.set_rate(rate));
                delay.into_iter().for_each(|delay| link.set_delay(delay));
            }
        }
    }
}
