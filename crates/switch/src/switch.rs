//! The switch as a state machine (in the making).

use crate::config::{ConfigError, SwitchConfig};
use crate::discipline::Discipline;
use crate::observation::{Observation, Transmit};
use crate::statistics::Statistics;
use sojourn_packet::{Packet, Time};
use sojourn_targets::{DataPlane, PortId};
use std::collections::BTreeMap;

/// What decides about packets.
pub enum SwitchProgram {
    /// A loaded P4 program; all queues are plain tail drop.
    P4(Box<dyn DataPlane>),
    /// No program: packets go from port to port, through native disciplines.
    Native {
        /// Where packets that arrive at a port leave.
        forwarding: BTreeMap<PortId, PortId>,
        /// The discipline of a port's queue 0; tail drop for ports not named.
        disciplines: BTreeMap<PortId, Box<dyn Discipline>>,
    },
}

/// The switch.
pub struct Switch {
    now: Time,
}

impl Switch {
    /// A switch at rest at time zero.
    ///
    /// # Errors
    /// If the configuration contradicts itself or the hardware cannot express it.
    pub fn new(config: SwitchConfig, program: SwitchProgram) -> Result<Switch, ConfigError> {
        let _ = (config, program);
        Ok(Switch { now: Time::ZERO })
    }

    /// A packet whose last bit has just arrived at a port. Does everything due up to `now` first.
    ///
    /// `now` must not be earlier than any instant given before; if it is, the latest one counts.
    pub fn receive(&mut self, now: Time, port: PortId, packet: Packet) {
        let _ = (port, packet);
        self.now = self.now.max(now);
    }

    /// When [`Switch::advance`] must be called next, if anything is going on.
    pub fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Does everything that is due up to and including `now`.
    pub fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// The next packet for a wire, in the order of departure per port.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        None
    }

    /// The next measurement.
    pub fn poll_observation(&mut self) -> Option<Observation> {
        None
    }

    /// Everything counted so far.
    pub fn statistics(&self) -> Statistics {
        Statistics::default()
    }

    /// The program, for its control plane; absent for a native switch.
    pub fn data_plane(&mut self) -> Option<&mut dyn DataPlane> {
        None
    }
}
