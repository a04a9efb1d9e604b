//! Registers whose accesses cannot be in one stage (rule T1102), with the accesses that prove it.
//!
//! Uses the dependency graph. Two forms are found: an access that waits for another one of its
//! register, and two registers that are used in opposite orders.

use super::depend::Graph;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{ObjectId, Program};
use sojourn_p4::source::Span;
use std::collections::BTreeMap;

/// Nodes that wait for a node: 1 at least for its stage, 2 for a later one.
type Reach = BTreeMap<usize, u8>;

/// The accesses to each register, with what waits for them.
struct Accesses {
    of: BTreeMap<ObjectId, Vec<usize>>,
    reach: BTreeMap<usize, Reach>,
}

/// One error for each register that would have to be in two stages.
pub fn refusals(program: &Program, graph: &Graph) -> Vec<Diagnostic> {
    let accesses = Accesses::new(graph);
    let mut found = Vec::new();
    for (register, nodes) in &accesses.of {
        let name = &*program.objects[register.index()].name;
        let crossed = accesses.crossed(graph, *register, nodes);
        found.extend(crossed.map(|crossed| crossed.tell(program, graph, name)));
        if crossed.is_none() {
            found.extend(accesses.direct(nodes).map(|pair| tell_direct(graph, name, pair)));
        }
    }
    if found.is_empty() {
        // A longer ring of registers.
        let first = accesses.of.values().flatten().next();
        let span = first.map_or(Span::DUMMY, |at| graph.nodes[*at].span);
        let message = "accesses to registers wait for each other in a ring";
        found.push(rules::REGISTER_STAGE.refuse(span, message).into());
    }
    found
}

/// An access `later` that comes after the register `other` at `other_first`, and an access
/// `earlier` to the same register that comes before `other` at `other_last`.
#[derive(Clone, Copy)]
struct Crossed {
    other: ObjectId,
    earlier: usize,
    other_last: usize,
    other_first: usize,
    later: usize,
}

impl Crossed {
    fn tell(self, program: &Program, graph: &Graph, name: &str) -> Diagnostic {
        let other = &*program.objects[self.other.index()].name;
        let other = other.rsplit('.').next().unwrap_or(other);
        let span = |node: usize| graph.nodes[node].span;
        let message = format!("register `{name}` would have to be in two stages");
        rules::REGISTER_STAGE
            .refuse(span(self.later), message)
            .with_label(format!("later than `{other}`"))
            .with_place(span(self.earlier), format!("earlier than `{other}`"))
            .with_place(span(self.other_last), format!("`{other}`"))
            .with_place(span(self.other_first), format!("`{other}`"))
            .into()
    }
}

fn tell_direct(graph: &Graph, name: &str, (first, later): (usize, usize)) -> Diagnostic {
    let message = format!("register `{name}` would have to be in two stages");
    let refused = rules::REGISTER_STAGE.refuse(graph.nodes[later].span, message);
    let refused = refused.with_label("waits for a result");
    refused.with_place(graph.nodes[first].span, "of this access").into()
}

impl Accesses {
    fn new(graph: &Graph) -> Accesses {
        let mut next: Vec<Vec<(usize, bool)>> = vec![Vec::new(); graph.nodes.len()];
        for (to, edges) in graph.waits.iter().enumerate() {
            edges.iter().for_each(|edge| next[edge.from].push((to, edge.certain > 0)));
        }
        let mut of: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
        let mut reach = BTreeMap::new();
        for (at, node) in graph.nodes.iter().enumerate() {
            for register in &node.registers {
                of.entry(*register).or_default().push(at);
                reach.entry(at).or_insert_with(|| reach_of(at, &next));
            }
        }
        Accesses { of, reach }
    }

    fn strength(&self, from: usize, to: usize) -> u8 {
        self.reach.get(&from).and_then(|reach| reach.get(&to)).copied().unwrap_or(0)
    }

    /// An access that waits for another one of the same register.
    fn direct(&self, nodes: &[usize]) -> Option<(usize, usize)> {
        let pairs = nodes.iter().flat_map(|a| nodes.iter().map(move |b| (*a, *b)));
        pairs.into_iter().find(|(a, b)| a != b && self.strength(*a, *b) == 2)
    }

    /// Two accesses that no packet makes both, with another register between them.
    fn crossed(&self, graph: &Graph, register: ObjectId, nodes: &[usize]) -> Option<Crossed> {
        for (other, theirs) in self.of.iter().filter(|(other, _)| **other != register) {
            for &earlier in nodes {
                for &later in nodes {
                    if !graph.nodes[earlier].excludes(&graph.nodes[later]) {
                        continue;
                    }
                    let after = theirs.iter().filter(|o| self.strength(earlier, **o) > 0);
                    let before = || theirs.iter().filter(|o| self.strength(**o, later) > 0);
                    for &other_last in after {
                        for &other_first in before() {
                            let crossed =
                                Crossed { other: *other, earlier, other_last, other_first, later };
                            let strengths = self.strength(earlier, other_last)
                                + self.strength(other_first, later);
                            if strengths > 2 {
                                return Some(crossed);
                            }
                        }
                    }
                }
            }
        }
        None
    }
}

/// Nodes that wait for a node, directly or not.
fn reach_of(from: usize, next: &[Vec<(usize, bool)>]) -> Reach {
    let mut reach = Reach::new();
    let mut open = vec![(from, 1u8)];
    while let Some((at, strength)) = open.pop() {
        for (to, a_stage) in &next[at] {
            let now = if *a_stage { 2 } else { strength };
            let known = reach.entry(*to).or_insert(0);
            if now > *known {
                *known = now;
                open.push((*to, now));
            }
        }
    }
    reach
}
