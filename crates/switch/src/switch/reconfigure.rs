//! Reconfiguration of a running switch: mirror sessions, multicast groups, port shapers.
//!
//! Changes pass the same checks as a configuration. Decisions already made for packets in transit
//! remain in force.

use super::Switch;
use crate::config::{ConfigError, MirrorSession, MulticastGroup};
use crate::tm::shaper::ShaperConfig;
use sojourn_packet::PortId;
use sojourn_packet::Time;

impl Switch {
    /// Sets a mirror session, in place of one with its number.
    ///
    /// # Errors
    /// Its number is out of range, or its port or queue does not exist.
    pub fn set_mirror_session(&mut self, session: MirrorSession) -> Result<(), ConfigError> {
        let numbers = self.mirror.numbers();
        if !numbers.contains(&session.id) {
            return Err(ConfigError::SessionNumber { session: session.id, numbers });
        }
        if let Some(port) = session.port {
            self.require("a mirror session", port, session.queue)?;
        }
        self.mirror.set_session(session);
        Ok(())
    }

    /// Takes a mirror session away; false if there was none.
    pub fn remove_mirror_session(&mut self, id: u16) -> bool {
        self.mirror.remove_session(id)
    }

    /// Sets a multicast group, in place of one with its number.
    ///
    /// # Errors
    /// A port does not exist.
    pub fn set_multicast_group(&mut self, group: MulticastGroup) -> Result<(), ConfigError> {
        for &port in group.nodes.iter().flat_map(|node| &node.ports) {
            self.require("a multicast group", port, 0)?;
        }
        self.replication.set_group(group);
        Ok(())
    }

    /// Shapes a port otherwise from `now` on, or not at all. What the port has sent beyond its old
    /// rate it still owes: those bytes are paid for at the new one.
    ///
    /// # Errors
    /// The port does not exist, or the hardware cannot express the rate or the burst.
    pub fn set_port_shaper(
        &mut self,
        now: Time,
        port: PortId,
        shaper: Option<&ShaperConfig>,
    ) -> Result<(), ConfigError> {
        self.advance(now);
        self.require("a shaper", port, 0)?;
        let Some(index) = self.find_port(port) else { return Ok(()) };
        self.ports[index].reshape(self.now, shaper, self.core_clock)?;
        self.serve(index);
        Ok(())
    }

    pub(super) fn require(
        &self,
        what: &'static str,
        port: PortId,
        queue: u8,
    ) -> Result<(), ConfigError> {
        let found = self.find_port(port);
        match found.filter(|&index| usize::from(queue) < self.ports[index].queues.len()) {
            Some(_) => Ok(()),
            None => Err(ConfigError::NoSuchQueue { what, port, queue }),
        }
    }
}
