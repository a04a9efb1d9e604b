//! Which way packets go through a network: by the fewest links; among equals by the first link
//! that the configuration names.
//!
//! Uses the network's description. Must not depend on rates or delays: a route does not change.

use super::network::NetworkSection;
use std::collections::{BTreeMap, VecDeque};

/// Neighbours, with the ports to them.
pub(crate) struct Graph {
    hosts: usize,
    switches: usize,
    /// Of each node, hosts first: its neighbours in the order of the links.
    neighbours: Vec<Vec<usize>>,
    /// The port of a switch that leads to a neighbour: the first, if there are several links.
    ports: BTreeMap<(usize, usize), u16>,
}

impl Graph {
    /// The graph of a network; links to unknown names are left out.
    pub(crate) fn new(network: &NetworkSection) -> Graph {
        let (hosts, switches) = (network.hosts.len(), network.switches.len());
        let names = network.hosts.iter().map(|h| &h.name);
        let names: BTreeMap<&String, usize> =
            names.chain(network.switches.iter().map(|s| &s.name)).zip(0..).collect();
        let mut neighbours = vec![Vec::new(); hosts + switches];
        let mut ports = BTreeMap::new();
        for (link, numbers) in network.links.iter().zip(network.port_numbers()) {
            let [Some(&a), Some(&b)] = [0, 1].map(|end| names.get(&link.between[end])) else {
                continue;
            };
            for ((near, far), port) in [(a, b), (b, a)].into_iter().zip(numbers) {
                neighbours[near].push(far);
                if let Some(port) = port {
                    ports.entry((near, far)).or_insert(port);
                }
            }
        }
        Graph { hosts, switches, neighbours, ports }
    }

    /// For each switch the port through which a host is reached; none if it is not.
    pub(crate) fn ways_to(&self, host: usize) -> Vec<Option<u16>> {
        let mut ways = vec![None; self.switches];
        let mut waiting = VecDeque::from([host]);
        while let Some(node) = waiting.pop_front() {
            for &next in &self.neighbours[node] {
                // Hosts pass nothing on.
                let Some(switch) = next.checked_sub(self.hosts) else { continue };
                if ways[switch].is_none() {
                    ways[switch] = self.ports.get(&(next, node)).copied();
                    waiting.push_back(next);
                }
            }
        }
        ways
    }

    /// True if a way leads from one host to another.
    pub(crate) fn connects(&self, from: usize, to: usize) -> bool {
        let ways = self.ways_to(to);
        let first = self.neighbours[from].first().and_then(|next| next.checked_sub(self.hosts));
        first.is_some_and(|switch| ways[switch].is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn network(hosts: &[&str], switches: &[&str], links: &[[&str; 2]]) -> Graph {
        let host = |name: &&str| json!({"name": name, "addresses": "clients"});
        let switch = |name: &&str| json!({"name": name});
        let link = |ends: &[&str; 2]| json!({"between": ends});
        let section = json!({
            "hosts": hosts.iter().map(host).collect::<Vec<_>>(),
            "switches": switches.iter().map(switch).collect::<Vec<_>>(),
            "links": links.iter().map(link).collect::<Vec<_>>(),
        });
        Graph::new(&serde_json::from_value(section).expect("a network"))
    }

    #[test]
    fn the_way_with_the_fewest_links_is_taken() {
        let links = [["a", "x"], ["x", "y"], ["y", "z"], ["z", "b"], ["x", "z"]];
        let graph = network(&["a", "b"], &["x", "y", "z"], &links);
        // x: port 3 is the short cut to z; y: port 2 leads to z; z: port 2 leads to b.
        assert_eq!(graph.ways_to(1), [Some(3), Some(2), Some(2)]);
        assert_eq!(graph.ways_to(0), [Some(1), Some(1), Some(3)]);
    }

    #[test]
    fn a_host_passes_nothing_on() {
        let graph = network(&["a", "b"], &["x", "y"], &[["x", "a"], ["a", "y"], ["y", "b"]]);
        assert_eq!(graph.ways_to(1), [None, Some(2)]);
        assert!(!graph.connects(0, 1));
    }
}
