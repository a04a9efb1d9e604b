//! Reaching definitions: the steps whose results a step sees.
//!
//! A write of a field reaches a read if no other write in between always runs where the read runs.
//! Uses the nodes; must not depend on stages.

use super::bits::{Bits, Place};
use super::node::{Arm, Kind, Node, Reader};
use sojourn_p4::ir::ObjectId;
use std::collections::{HashMap, HashSet};

/// A field on its way from one step to another.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// The step that writes it; none if it came with the packet.
    pub from: Option<usize>,
    /// The step that reads it; none if it leaves with the packet.
    pub to: Option<usize>,
    /// The field as it is read, or as it leaves.
    pub field: Bits,
    /// Its reader; `None` if the value leaves the control.
    pub by: Option<Reader>,
    /// The register whose output it is.
    pub output_of: Option<ObjectId>,
    /// The register whose operand or index it is.
    pub input_of: Option<ObjectId>,
}

/// All ways of fields between the living nodes of a pass. `seen` is what is read behind them.
pub fn flows(nodes: &[Node], seen: &HashSet<Place>) -> Vec<Flow> {
    let mut writers: HashMap<Place, Vec<usize>> = HashMap::new();
    let mut flows = Vec::new();
    for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.alive) {
        for read in &node.reads {
            let list = writers.get(&read.bits.place).map_or(&[][..], Vec::as_slice);
            let flow = |from, output_of| Flow {
                from,
                to: Some(at),
                field: read.bits,
                by: Some(read.by),
                output_of,
                input_of: read.of,
            };
            let before = flows.len();
            for from in reaching(nodes, list, &read.bits, Some(node)) {
                let writes = nodes[from].writes.iter().filter(|w| w.bits.overlap(&read.bits));
                flows.extend(writes.map(|write| flow(Some(from), write.of)));
            }
            if flows.len() == before {
                flows.push(flow(None, None));
            }
        }
        for write in &node.writes {
            let list = writers.entry(write.bits.place).or_default();
            if list.last() != Some(&at) {
                list.push(at);
            }
        }
    }
    flows.extend(leaving(nodes, &writers, seen));
    flows
}

/// Fields that leave with the packet.
fn leaving(
    nodes: &[Node],
    writers: &HashMap<Place, Vec<usize>>,
    seen: &HashSet<Place>,
) -> Vec<Flow> {
    let mut flows = Vec::new();
    let mut places: Vec<&Place> = seen.iter().collect();
    places.sort_unstable();
    for place in places {
        let Some(list) = writers.get(place) else { continue };
        let writes = list.iter().flat_map(|at| &nodes[*at].writes);
        let highest = writes.filter(|write| write.bits.place == *place).map(|w| w.bits.high).max();
        let whole = Bits { place: *place, low: 0, high: highest.unwrap_or(0) };
        for from in reaching(nodes, list, &whole, None) {
            let writes = nodes[from].writes.iter().filter(|write| write.bits.place == *place);
            flows.extend(writes.map(|write| Flow {
                from: Some(from),
                to: None,
                field: write.bits,
                by: None,
                output_of: write.of,
                input_of: None,
            }));
        }
    }
    flows
}

/// The writers of a field, latest first, that `reader` (or the code behind all nodes) may see.
fn reaching(nodes: &[Node], writers: &[usize], bits: &Bits, reader: Option<&Node>) -> Vec<usize> {
    let path = reader.map_or(&[][..], |reader| &reader.path);
    let mut found = Vec::new();
    // Paths on which a later writer has written all of it.
    let mut overwritten: Vec<&[Arm]> = Vec::new();
    for from in writers.iter().rev() {
        let writer = &nodes[*from];
        if reader.is_some_and(|reader| reader.excludes(writer)) {
            continue;
        }
        let mut writes = writer.writes.iter().filter(|write| write.bits.overlap(bits)).peekable();
        if writes.peek().is_none() {
            continue;
        }
        if !overwritten.iter().any(|later| writer.path.starts_with(later)) {
            found.push(*from);
        }
        let whole = writes.any(|w| w.bits.low <= bits.low && w.bits.high >= bits.high);
        // The effect of a table depends on its entry.
        if whole && writer.kind == Kind::Action {
            if path.starts_with(&writer.path) {
                break;
            }
            overwritten.push(&writer.path);
        }
    }
    found
}
