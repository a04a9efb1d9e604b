//! The ghost thread in the estimate: its nodes join those of ingress, whose stages it shares.
//!
//! Both controls number their variables from 0, so those of ghost move behind those of ingress.

use super::bits::{Bits, Place};
use super::node::Node;
use super::{PassNodes, extract, live};
use crate::blocks::Blocks;
use sojourn_p4::ir::{Program, Slot, UnitId, WideSlot};
use sojourn_p4::source::SourceMap;
use std::collections::HashSet;

/// The program with the variables of ghost behind those of ingress; none without a ghost.
pub fn variables_of_both(program: &Program, blocks: &Blocks) -> Option<Program> {
    let ghost = program.units[blocks.ghost?.index()].clone();
    let mut both = program.clone();
    let ingress = &mut both.units[blocks.six[1].index()];
    ingress.slots.extend(ghost.slots);
    ingress.wide_slots.extend(ghost.wide_slots);
    Some(both)
}

/// The nodes of ghost, then those of ingress, in a program of [`variables_of_both`].
pub fn joined(
    program: &Program,
    ingress: PassNodes,
    (ghost, control): (UnitId, UnitId),
    sources: &SourceMap,
) -> PassNodes {
    let [ghost_unit, unit] = [ghost, control].map(|unit| &program.units[unit.index()]);
    let shift = Shift {
        narrow: (unit.slots.len() - ghost_unit.slots.len()) as u32,
        wide: (unit.wide_slots.len() - ghost_unit.wide_slots.len()) as u32,
        list: ingress.nodes.iter().map(|node| node.list + 1).max().unwrap_or(0),
        branch: branches(&ingress.nodes),
    };
    let mut nodes = extract::nodes(program, ghost, sources);
    live::drop_dead(&mut nodes, &HashSet::new());
    nodes.iter_mut().for_each(|node| shift.apply(node));
    let before = nodes.len();
    nodes.extend(ingress.nodes.into_iter().map(|mut node| {
        node.guard = node.guard.map(|guard| guard + before);
        node
    }));
    PassNodes { nodes, seen: ingress.seen }
}

/// The number of branches that nodes are in.
fn branches(nodes: &[Node]) -> u32 {
    let arms = nodes.iter().flat_map(|node| &node.path);
    arms.map(|(branch, _)| branch + 1).max().unwrap_or(0)
}

struct Shift {
    narrow: u32,
    wide: u32,
    list: u32,
    branch: u32,
}

impl Shift {
    fn apply(&self, node: &mut Node) {
        node.name = format!("ghost: {}", node.name);
        node.list += self.list;
        node.path.iter_mut().for_each(|(branch, _)| *branch += self.branch);
        let reads = node.reads.iter_mut().map(|read| &mut read.bits);
        let writes = node.writes.iter_mut().map(|write| &mut write.bits);
        let words = node.words.iter_mut().flatten();
        reads.chain(writes).chain(words).for_each(|bits| self.bits(bits));
    }

    fn bits(&self, bits: &mut Bits) {
        bits.place = match bits.place {
            Place::Narrow(slot) => Place::Narrow(Slot(slot.0 + self.narrow)),
            Place::Wide(slot) => Place::Wide(WideSlot(slot.0 + self.wide)),
        };
    }
}
