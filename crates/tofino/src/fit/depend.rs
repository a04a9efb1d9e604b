//! Dependency graph: the nodes that each node waits for, and the distance in stages (the vendor's
//! graph has the same kinds and distances).
//!
//! | dependency | the later node | stages |
//! |---|---|---|
//! | match | reads a field in a key, condition, hash or stateful ALU | 1 |
//! | action | reads a field in an instruction | 1 |
//! | output | writes the field too | 1 |
//! | anti | writes a field that the earlier one reads | 0 |
//! | control | runs only if the earlier one says so | 0 |

use super::bits::{Bits, Place};
use super::node::{Kind, Node, Reader, Write};
use serde::Serialize;
use sojourn_p4::ir::ObjectId;
use sojourn_p4::source::Span;
use std::collections::{BTreeMap, HashMap};

/// Reason for one node to wait for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dependency {
    /// The earlier node writes what the later one is matched on.
    Match,
    /// The earlier node writes an operand of the later one's action.
    Action,
    /// Both write a field.
    Output,
    /// The later node overwrites what the earlier one reads.
    Anti,
    /// The earlier node decides whether the later one runs.
    Control,
}

/// A node waits for another.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The earlier node.
    pub from: usize,
    /// Stages between the two, at least.
    pub distance: u32,
    /// The same distance for a compiler that propagates copies and constants: the certain minimum.
    pub certain: u32,
    /// Reason.
    pub dependency: Dependency,
    /// The field, if it is about one.
    pub field: Option<Bits>,
    /// Its reader.
    pub by: Option<Reader>,
    /// Span of the write in the earlier node.
    pub written: Span,
}

/// The nodes of one pass, and what each waits for.
#[derive(Debug)]
pub struct Graph {
    /// The nodes, in the order of the program.
    pub nodes: Vec<Node>,
    /// Dependencies of each node.
    pub waits: Vec<Vec<Edge>>,
    /// Nodes that have to be in one stage, as they share a register: index of the group of each.
    pub group: Vec<usize>,
    /// The nodes of which a gateway takes one into its logical table, for each gateway.
    pub company: Vec<Vec<usize>>,
}

impl Graph {
    /// Finds all dependencies.
    pub fn new(nodes: Vec<Node>) -> Graph {
        let mut waits: Vec<Vec<Edge>> = Vec::with_capacity(nodes.len());
        let mut writers: HashMap<Place, Vec<usize>> = HashMap::new();
        let mut readers: HashMap<Place, Vec<usize>> = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            let mut edges = Vec::new();
            control_edge(&nodes, node, &mut edges);
            for read in &node.reads {
                let field = Some((read.bits, Some(read.by)));
                let since = barrier(&writers, &nodes, node, &read.bits);
                for from in earlier(&writers, &nodes, node, &read.bits, since) {
                    write_edges(
                        &nodes[from],
                        from,
                        field,
                        Dependency::reading(read.by),
                        &mut edges,
                    );
                }
            }
            for write in &node.writes {
                let field = Some((write.bits, None));
                let since = barrier(&writers, &nodes, node, &write.bits);
                for from in earlier(&writers, &nodes, node, &write.bits, since) {
                    write_edges(&nodes[from], from, field, Dependency::Output, &mut edges);
                }
                for from in earlier(&readers, &nodes, node, &write.bits, since) {
                    let read = nodes[from].reads.iter().find(|r| r.bits.overlap(&write.bits));
                    edges.extend(read.map(|read| Edge {
                        from,
                        distance: 0,
                        certain: 0,
                        dependency: Dependency::Anti,
                        field: Some(write.bits),
                        by: Some(read.by),
                        written: nodes[from].span,
                    }));
                }
            }
            strongest(&mut edges);
            waits.push(edges);
            for (known, places) in [
                (&mut writers, node.writes.iter().map(|w| w.bits.place).collect::<Vec<_>>()),
                (&mut readers, node.reads.iter().map(|r| r.bits.place).collect()),
            ] {
                for place in places {
                    let list = known.entry(place).or_default();
                    if list.last() != Some(&at) {
                        list.push(at);
                    }
                }
            }
        }
        let group = groups(&nodes);
        let company = company(&nodes, &waits);
        Graph { nodes, waits, group, company }
    }

    /// The earliest stage of each node if nothing but dependencies counts, by distance as given
    /// by `of`; none if a register would have to be in two stages.
    pub fn earliest(&self, of: impl Fn(&Edge) -> u32) -> Option<Vec<u32>> {
        self.settled(of, &vec![0; self.nodes.len()])
    }

    fn settled(&self, of: impl Fn(&Edge) -> u32, first: &[u32]) -> Option<Vec<u32>> {
        let count = self.nodes.len();
        let mut stage = vec![0; count];
        let mut shared = vec![0; count];
        // Each round settles at least one group of nodes that share a register.
        for _ in 0..=count + 1 {
            let mut changed = false;
            for at in 0..count {
                let own = self.waits[at].iter().map(|edge| stage[edge.from] + of(edge)).max();
                let group = self.group[at];
                let now = own.unwrap_or(0).max(first[at]).max(shared[group]);
                if now != stage[at] || now > shared[group] {
                    stage[at] = now;
                    shared[group] = now;
                    changed = true;
                }
            }
            if !changed {
                return Some(stage);
            }
        }
        None
    }

    /// [`Graph::earliest`] where each gateway is in the stage of one of its company, as the compiler makes
    /// one logical table of the two. All 0 if a register would have to be in two stages.
    pub fn with_company(&self) -> Vec<u32> {
        let count = self.nodes.len();
        let distance = |edge: &Edge| edge.distance;
        let mut first = vec![0; count];
        // Each round settles at least one gateway.
        for _ in 0..=count {
            let Some(stage) = self.settled(distance, &first) else { break };
            let before = first.clone();
            for (at, company) in self.company.iter().enumerate() {
                let ready = |node: &usize| {
                    let others = self.waits[*node].iter().filter(|edge| edge.from != at);
                    others.map(|edge| stage[edge.from] + edge.distance).max().unwrap_or(0)
                };
                let soonest = company.iter().map(ready).min().unwrap_or(0);
                first[at] = soonest.saturating_sub(self.nodes[at].extra).max(first[at]);
            }
            if first == before {
                return stage;
            }
        }
        // A gateway whose company waits for what the gateway decides.
        self.settled(distance, &vec![0; count]).unwrap_or(vec![0; count])
    }

    /// The number of stages that the nodes take, given the stage of each.
    pub fn depth(&self, stage: &[u32]) -> u32 {
        let ends = self.nodes.iter().zip(stage).map(|(node, stage)| stage + node.extra + 1);
        ends.max().unwrap_or(0)
    }
}

impl Dependency {
    fn reading(by: Reader) -> Dependency {
        if by == Reader::Action { Dependency::Action } else { Dependency::Match }
    }
}

/// Those of the `known` nodes that `node` must wait for because of `bits`, the latest first. A
/// write that is always in between waits for the earlier ones itself.
fn earlier<'a>(
    known: &'a HashMap<Place, Vec<usize>>,
    nodes: &'a [Node],
    node: &'a Node,
    bits: &Bits,
    barrier: usize,
) -> impl Iterator<Item = usize> + 'a {
    let list = known.get(&bits.place).map_or(&[][..], Vec::as_slice);
    let since = list.iter().rev().take_while(move |from| **from >= barrier);
    since.copied().filter(|from| !node.excludes(&nodes[*from]))
}

/// The latest node that writes all of `bits` wherever `node` runs, and not by a mere copy.
fn barrier(
    writers: &HashMap<Place, Vec<usize>>,
    nodes: &[Node],
    node: &Node,
    bits: &Bits,
) -> usize {
    let list = writers.get(&bits.place).map_or(&[][..], Vec::as_slice);
    let covers = |writer: &Node| {
        let whole = |write: &Write| !write.copied && !write.folds && write.bits.covers(bits);
        node.path.starts_with(&writer.path) && writer.writes.iter().any(whole)
    };
    list.iter().rev().copied().find(|from| covers(&nodes[*from])).unwrap_or(0)
}

fn control_edge(nodes: &[Node], node: &Node, edges: &mut Vec<Edge>) {
    let Some(guard) = node.guard else { return };
    edges.push(Edge {
        from: guard,
        distance: nodes[guard].extra,
        certain: 0,
        dependency: Dependency::Control,
        field: None,
        by: None,
        written: nodes[guard].span,
    });
}

fn write_edges(
    writer: &Node,
    from: usize,
    field: Option<(Bits, Option<Reader>)>,
    dependency: Dependency,
    edges: &mut Vec<Edge>,
) {
    let Some((bits, by)) = field else { return };
    let both_write = dependency == Dependency::Output;
    let in_part = both_write && writer.in_part.iter().any(|bytes| bytes.overlap(&bits));
    let meets = |write: &&Write| match in_part {
        true => write.bits.place == bits.place,
        false => write.bits.overlap(&bits),
    };
    let Some(write) = writer.writes.iter().rfind(meets) else { return };
    let sure = dependency != Dependency::Output && !write.copied && !write.folds;
    edges.push(Edge {
        from,
        distance: 1 + writer.extra,
        certain: u32::from(sure),
        dependency,
        field: Some(bits),
        by,
        written: write.span,
    });
}

/// Keeps the longest edge from each node.
fn strongest(edges: &mut Vec<Edge>) {
    let mut best: BTreeMap<usize, Edge> = BTreeMap::new();
    for edge in edges.drain(..) {
        match best.get_mut(&edge.from) {
            Some(known) => {
                let certain = known.certain.max(edge.certain);
                if edge.distance > known.distance {
                    *known = edge;
                }
                known.certain = certain;
            }
            None => {
                best.insert(edge.from, edge);
            }
        }
    }
    edges.extend(best.into_values());
}

/// Nodes that share a register get the same number, that of their first.
fn groups(nodes: &[Node]) -> Vec<usize> {
    let mut group: Vec<usize> = (0..nodes.len()).collect();
    let mut first: HashMap<ObjectId, usize> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for register in &node.registers {
            let other = *first.entry(*register).or_insert(at);
            let (a, b) = (group[other].min(group[at]), group[other].max(group[at]));
            if a != b {
                group.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
            }
        }
    }
    group
}

/// For each gateway the tables and actions that it guards, and that wait for nothing in their branch.
fn company(nodes: &[Node], waits: &[Vec<Edge>]) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        let Some(guard) = node.guard.filter(|guard| nodes[*guard].kind == Kind::Gateway) else {
            continue;
        };
        let beside = |edge: &Edge| nodes[edge.from].path.starts_with(&node.path);
        let is_table = !matches!(node.kind, Kind::Gateway | Kind::Switch);
        if is_table && !waits[at].iter().any(|edge| edge.from != guard && beside(edge)) {
            found[guard].push(at);
        }
    }
    found
}

/// Nodes that count as a table of their own even without a key.
pub fn is_table(node: &Node) -> bool {
    !matches!(node.kind, Kind::Gateway)
}
