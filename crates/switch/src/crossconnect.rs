//! Crossconnect: forwards all packets of one port to another.

use sojourn_packet::{Forwarder, Packet, PortId};
use std::collections::BTreeMap;

/// A fixed pairing of ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrossConnect(Vec<(PortId, PortId)>);

impl CrossConnect {
    /// A wire between two ports, both ways.
    pub fn between(one: PortId, other: PortId) -> CrossConnect {
        CrossConnect(vec![(one, other), (other, one)])
    }
}

impl From<BTreeMap<PortId, PortId>> for CrossConnect {
    fn from(behind: BTreeMap<PortId, PortId>) -> CrossConnect {
        CrossConnect(behind.into_iter().collect())
    }
}

impl Forwarder for CrossConnect {
    fn port(&self, came_by: PortId, _: &Packet) -> Option<PortId> {
        self.peer(came_by)
    }

    fn peer(&self, came_by: PortId) -> Option<PortId> {
        // There are few.
        self.0.iter().find(|(one, _)| *one == came_by).map(|(_, other)| *other)
    }

    fn ports(&self) -> Vec<PortId> {
        self.0.iter().map(|(_, other)| *other).collect()
    }
}
