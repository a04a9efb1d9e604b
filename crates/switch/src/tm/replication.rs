//! The packet replication engine: a multicast group becomes copies for ports.
//!
//! Two levels as on Tofino (TNA, packet replication): nodes with a replication id, and ports in
//! each. A node is pruned by the packet's level-1 exclusion id, single ports by its level-2
//! exclusion id in nodes that have the packet's own replication id. Must not depend on queues.

use crate::config::{ExclusionSet, MulticastGroup, MulticastNode};
use sojourn_packet::{PortId, Replication};

/// One copy to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOrder {
    /// Its port.
    pub port: PortId,
    /// The group that has the port; none for the copy to the processor.
    pub group: Option<u16>,
    /// Its replication id.
    pub rid: u16,
    /// First copy of its node.
    pub first: bool,
}

/// All groups.
#[derive(Clone, Debug)]
pub struct ReplicationEngine {
    groups: Vec<MulticastGroup>,
    exclusions: Vec<ExclusionSet>,
    /// Port of copies for the CPU.
    pub cpu_port: Option<PortId>,
}

impl ReplicationEngine {
    /// An engine with those groups.
    pub fn new(groups: Vec<MulticastGroup>, exclusions: Vec<ExclusionSet>) -> ReplicationEngine {
        ReplicationEngine { groups, exclusions, cpu_port: None }
    }

    /// Sets a group in place of the one with its number, if there is one.
    pub fn set_group(&mut self, group: MulticastGroup) {
        match self.groups.iter_mut().find(|known| known.id == group.id) {
            Some(known) => *known = group,
            None => self.groups.push(group),
        }
    }

    /// A group, if there is one with that number.
    pub fn group(&self, id: u16) -> Option<&MulticastGroup> {
        self.groups.iter().find(|group| group.id == id)
    }

    /// Takes a group away; it, if there was one.
    pub fn remove_group(&mut self, id: u16) -> Option<MulticastGroup> {
        let at = self.groups.iter().position(|group| group.id == id)?;
        Some(self.groups.remove(at))
    }

    /// The copies of a packet, in the order of the configuration. A group that does not exist
    /// makes none.
    pub fn copies<'a>(&'a self, request: &'a Replication) -> impl Iterator<Item = CopyOrder> + 'a {
        let group = |id: &u16| self.groups.iter().find(move |g| g.id == *id);
        request
            .groups
            .iter()
            .flatten()
            .filter_map(group)
            .flat_map(|g| g.nodes.iter().map(move |node| (g.id, node)))
            .filter(|(_, node)| node.l1_exclusion != Some(request.l1_exclusion))
            .flat_map(|(group, node)| self.node_copies(group, node, request))
            .chain(self.cpu_port.filter(|_| request.copy_to_cpu).map(|port| CopyOrder {
                port,
                group: None,
                rid: 0,
                first: true,
            }))
    }

    fn node_copies<'a>(
        &'a self,
        group: u16,
        node: &'a MulticastNode,
        request: &'a Replication,
    ) -> impl Iterator<Item = CopyOrder> + 'a {
        let own = node.rid == request.rid;
        let excluded = self.exclusions.iter().find(|set| own && set.id == request.l2_exclusion);
        node.ports
            .iter()
            .filter(move |port| !excluded.is_some_and(|set| set.ports.contains(port)))
            .enumerate()
            .map(move |(i, &port)| CopyOrder {
                port,
                group: Some(group),
                rid: node.rid,
                first: i == 0,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> ReplicationEngine {
        let node = |rid, l1_exclusion, ports: &[u16]| MulticastNode {
            rid,
            l1_exclusion,
            ports: ports.iter().map(|&p| PortId(p)).collect(),
        };
        let one = MulticastGroup {
            id: 1,
            nodes: vec![node(10, None, &[1, 2, 3]), node(20, Some(5), &[4])],
        };
        let two = MulticastGroup { id: 2, nodes: vec![node(30, None, &[1])] };
        let exclusion = ExclusionSet { id: 9, ports: vec![PortId(1)] };
        ReplicationEngine::new(vec![one, two], vec![exclusion])
    }

    fn copies(request: Replication) -> Vec<(u16, u16, bool)> {
        engine().copies(&request).map(|c| (c.port.0, c.rid, c.first)).collect()
    }

    #[test]
    fn both_groups_are_replicated_node_by_node() {
        let request = Replication { groups: [Some(1), Some(2)], ..Replication::default() };
        let expected =
            [(1, 10, true), (2, 10, false), (3, 10, false), (4, 20, true), (1, 30, true)];
        assert_eq!(copies(request), expected);
    }

    #[test]
    fn exclusion_ids_prune_nodes_and_ports() {
        let (groups, rid) = ([Some(1), None], 10);
        let request =
            Replication { groups, rid, l1_exclusion: 5, l2_exclusion: 9, ..Replication::default() };
        assert_eq!(copies(request), [(2, 10, true), (3, 10, false)]);
    }

    #[test]
    fn a_copy_for_the_processor_goes_to_its_port_once_there_is_one() {
        let request = Replication { copy_to_cpu: true, ..Replication::default() };
        assert!(copies(request).is_empty());
        let mut engine = engine();
        engine.cpu_port = Some(PortId(64));
        let made: Vec<_> = engine.copies(&request).map(|copy| copy.port).collect();
        assert_eq!(made, [PortId(64)]);
    }

    #[test]
    fn an_unknown_group_makes_no_copies() {
        let request = Replication { groups: [Some(7), None], ..Default::default() };
        assert!(copies(request).is_empty());
    }
}
