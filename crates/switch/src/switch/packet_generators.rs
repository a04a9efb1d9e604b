//! Packets of the packet generators on their way into ingress.
//!
//! The generators keep their own instants; one event of the switch stands for the next of them.

use super::{Event, Switch};
use crate::generator::{GeneratorChange, GeneratorError, Generators};
use sojourn_packet::{Packet, PacketMetadata, PortId, Time};

impl Switch {
    /// The packet generators.
    pub fn generators(&self) -> &Generators {
        &self.generators
    }

    /// A port's link has gone down at `now`.
    pub fn link_down(&mut self, now: Time, port: PortId) {
        self.advance(now);
        self.generators.link_down(self.now, port);
        self.expect_generated();
        self.advance(now);
    }

    /// Changes a generator; returns their state before.
    pub(super) fn change_generator(
        &mut self,
        change: &GeneratorChange,
    ) -> Result<Generators, GeneratorError> {
        let before = self.generators.clone();
        self.generators.change(self.now, change)?;
        self.expect_generated();
        Ok(before)
    }

    pub(super) fn restore_generators(&mut self, before: Generators) {
        self.generators = before;
        self.expect_generated();
    }

    /// Lets packets that are due enter ingress.
    #[cold]
    pub(super) fn generate(&mut self, at: Time) {
        if self.generation_due == Some(at) {
            self.generation_due = None;
        }
        while let Some((port, packet)) = self.generators.step(at) {
            self.generated.add(packet.len());
            self.enter(port, packet, PacketMetadata::default());
        }
        self.expect_generated();
    }

    /// A packet has come back through a port.
    #[cold]
    pub(super) fn look_for_patterns(&mut self, port: PortId, packet: &Packet) {
        self.generators.came_back(self.now, port, packet);
        self.expect_generated();
    }

    /// Sets the event of the generators' next instant, unless an earlier one is set.
    pub(super) fn expect_generated(&mut self) {
        let Some(next) = self.generators.next() else { return };
        if self.generation_due.is_none_or(|due| next < due) {
            self.generation_due = Some(next);
            debug_assert!(next >= self.now, "what is due by now has been worked off");
            self.events.set(next, Event::Generate);
        }
    }
}
