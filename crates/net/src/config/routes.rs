//! Shortest routes through a network: those with the fewest links, in the order in which the
//! configuration names their first links.
//!
//! Uses the network's description. Must not depend on rates or delays: a route does not change.

use super::network::NetworkSection;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Neighbours, with the ports to them.
pub(crate) struct Graph {
    hosts: usize,
    switches: usize,
    /// Of each node, hosts first: its neighbours in the order of the links.
    neighbours: Vec<Vec<usize>>,
    /// The ports of a node that lead to a neighbour, in the order of the links; none of a host.
    ports: BTreeMap<(usize, usize), Vec<u16>>,
    /// Of each switch: the first of those that links join with it.
    components: Vec<usize>,
}

impl Graph {
    /// The graph of a network; links to unknown names are left out.
    pub(crate) fn new(network: &NetworkSection) -> Graph {
        Graph::without(network, &BTreeSet::new())
    }

    /// The graph of a network in which the links at these places are down.
    pub(crate) fn without(network: &NetworkSection, down: &BTreeSet<usize>) -> Graph {
        let (hosts, switches) = (network.hosts.len(), network.switches.len());
        let names = network.hosts.iter().map(|h| &h.name);
        let names: BTreeMap<&String, usize> =
            names.chain(network.switches.iter().map(|s| &s.name)).zip(0..).collect();
        let mut neighbours = vec![Vec::new(); hosts + switches];
        let mut ports = BTreeMap::new();
        let links = network.links.iter().zip(network.port_numbers()).enumerate();
        for (_, (link, numbers)) in links.filter(|(place, _)| !down.contains(place)) {
            let [Some(&a), Some(&b)] = [0, 1].map(|end| names.get(&link.between[end])) else {
                continue;
            };
            for ((near, far), port) in [(a, b), (b, a)].into_iter().zip(numbers) {
                let ports = match ports.entry((near, far)) {
                    Entry::Occupied(several) => several.into_mut(),
                    Entry::Vacant(first) => {
                        neighbours[near].push(far);
                        first.insert(Vec::new())
                    }
                };
                ports.extend(port);
            }
        }
        let components = Vec::new();
        let mut graph = Graph { hosts, switches, neighbours, ports, components };
        graph.components = graph.joined();
        graph
    }

    /// For each switch the first of those that links join with it.
    fn joined(&self) -> Vec<usize> {
        let mut components = vec![usize::MAX; self.switches];
        for first in 0..self.switches {
            let mut waiting = vec![first];
            while let Some(switch) = waiting.pop() {
                if components[switch] == usize::MAX {
                    components[switch] = first;
                    let near = self.neighbours[self.hosts + switch].iter();
                    waiting.extend(near.filter_map(|node| node.checked_sub(self.hosts)));
                }
            }
        }
        components
    }

    /// For each switch the ports through which a host is reached by the fewest links; none if it is
    /// not reached.
    pub(crate) fn ways_to(&self, host: usize) -> Vec<Vec<u16>> {
        let mut ways = vec![Vec::new(); self.switches];
        let mut links = vec![usize::MAX; self.switches];
        let mut waiting = VecDeque::from([(host, 1)]);
        while let Some((node, away)) = waiting.pop_front() {
            for &next in &self.neighbours[node] {
                // Hosts pass nothing on.
                let Some(switch) = next.checked_sub(self.hosts) else { continue };
                if links[switch] == usize::MAX {
                    links[switch] = away;
                    waiting.push_back((next, away + 1));
                }
                if links[switch] == away {
                    ways[switch].extend(self.ports.get(&(next, node)).into_iter().flatten());
                }
            }
        }
        ways
    }

    /// True if a way leads from one host to another.
    pub(crate) fn connects(&self, from: usize, to: usize) -> bool {
        let component = |host: usize| {
            let switch = self.neighbours[host].first()?.checked_sub(self.hosts)?;
            self.components.get(switch)
        };
        component(from).is_some() && component(from) == component(to)
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
        assert_eq!(graph.ways_to(1), [[3], [2], [2]]);
        assert_eq!(graph.ways_to(0), [[1], [1], [3]]);
    }

    #[test]
    fn all_ways_of_equal_cost_are_found_and_parallel_links_are_several() {
        let links =
            [["a", "l"], ["b", "m"], ["l", "s"], ["l", "t"], ["l", "t"], ["m", "t"], ["m", "s"]];
        let graph = network(&["a", "b"], &["l", "m", "s", "t"], &links);
        // To b: m's neighbour t is named before s, and t has two links to l.
        assert_eq!(graph.ways_to(1)[0], [3, 4, 2]);
        assert_eq!(graph.ways_to(1)[2..], [[2], [3]]);
        assert_eq!(graph.ways_to(0)[1], [3, 2]);
    }

    #[test]
    fn a_host_passes_nothing_on() {
        let graph = network(&["a", "b"], &["x", "y"], &[["x", "a"], ["a", "y"], ["y", "b"]]);
        assert_eq!(graph.ways_to(1), [vec![], vec![2]]);
        assert!(!graph.connects(0, 1));
    }

    #[test]
    fn hosts_are_connected_if_links_join_their_switches() {
        let links = [["a", "x"], ["x", "y"], ["y", "b"], ["c", "z"]];
        let graph = network(&["a", "b", "c"], &["x", "y", "z"], &links);
        assert!(graph.connects(0, 1) && graph.connects(1, 0));
        assert!(!graph.connects(0, 2) && !graph.connects(2, 1));
    }
}
