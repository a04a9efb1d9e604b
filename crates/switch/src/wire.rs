//! A switch that is a wire: what comes in by one port leaves by another.

use sojourn_packet::{Forwarder, Packet, PortId};
use std::collections::BTreeMap;

/// The port behind each port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wire(pub BTreeMap<PortId, PortId>);

impl Wire {
    /// A wire between two ports, both ways.
    pub fn between(one: PortId, other: PortId) -> Wire {
        Wire(BTreeMap::from([(one, other), (other, one)]))
    }
}

impl Forwarder for Wire {
    fn port(&self, came_by: PortId, _: &Packet) -> Option<PortId> {
        self.0.get(&came_by).copied()
    }

    fn ports(&self) -> Vec<PortId> {
        self.0.values().copied().collect()
    }
}
