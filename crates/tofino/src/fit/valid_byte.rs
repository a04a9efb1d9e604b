//! Flags of a program in the byte of valid bits, on a chip whose requests have such bits.
//!
//! The back end fills the free bits of that byte: with the small fields that ask the deparser for
//! something, then with flags. An instruction writes a whole byte, so that steps that write other bits
//! of it go to other stages. Where no bit is free in egress, a flag takes the one of
//! `mirror_io_select`, which only parser and deparser use: that moves aside, and an instruction moves it
//! back behind the last use of the flag. Larger bytes, and fields of more bits, are not modelled.
//! Measured; must not depend on stages.

use super::bits::{Bits, Place};
use super::live::{self, counterparts, header_fields};
use super::node::{ADDED_LIST, FIRST_FLAG, Kind, LAST_CHECKSUM, Node, Write};
use super::packed;
use crate::chip::Chip;
use crate::metadata::Role;
use sojourn_p4::ir::{Program, Slot, StmtKind, Unit, UnitId};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::HashSet;

/// Bits of the byte.
const BITS: usize = 8;
/// Bits of `drop_ctl`; `bypass_egress` and `mirror_io_select` have one.
const DROP_CTL: usize = 3;

/// Notes in the nodes of a pass (0 ingress, 1 egress) which flags of the byte they write. `blocks` are
/// parser, control and deparser.
pub fn note_flags(
    chip: &Chip,
    program: &Program,
    blocks: [UnitId; 3],
    pass: usize,
    nodes: &mut Vec<Node>,
) {
    if !chip.shared_validity {
        return;
    }
    let unit = &program.units[blocks[1].index()];
    let flags = flags(unit, nodes);
    let requests = requests(unit, nodes);
    // Egress always selects where a mirrored packet comes from and names its port; ingress may mirror.
    let own = if pass == 0 { usize::from(!requests.contains("mirror_type")) } else { 2 };
    let select = pass; // the field `mirror_io_select` itself
    let bypass = usize::from(requests.contains("bypass_egress"));
    let mut used = own + requests.len() + headers(program, blocks, nodes) + select + bypass;
    let drop = requests.contains("drop_ctl") && used + DROP_CTL <= BITS;
    used += if drop { DROP_CTL } else { 0 };
    for (number, flag) in flags.iter().take(BITS.saturating_sub(used)).enumerate() {
        note(nodes, *flag, FIRST_FLAG << number);
    }
    if let (Some(flag), true, BITS) = (flags.first(), pass == 1, used) {
        note(nodes, *flag, FIRST_FLAG);
        let back = moved_back(*flag, nodes);
        nodes.push(back);
    }
}

fn note(nodes: &mut [Node], flag: Bits, bit: u64) {
    let writers = nodes.iter_mut().filter(|node| node.writes.iter().any(|w| w.bits.overlap(&flag)));
    writers.for_each(|node| node.shared_byte |= bit);
}

/// The instruction that moves `mirror_io_select` back to where the flag was.
fn moved_back(flag: Bits, nodes: &[Node]) -> Node {
    let uses = |node: &&Node| {
        let read = node.reads.iter().any(|read| read.bits.overlap(&flag));
        read || node.writes.iter().any(|write| write.bits.overlap(&flag))
    };
    let span = nodes.iter().rfind(uses).map_or(Span::DUMMY, |node| node.span);
    let mut node = Node::new(Kind::Action, "mirror_io_select moves back".to_owned(), span);
    node.list = ADDED_LIST - LAST_CHECKSUM - 1;
    node.shared_byte = FIRST_FLAG << 1;
    node.writes.push(Write { bits: flag, span, copied: true, folds: false, of: None });
    node
}

/// The flags of a control that the byte can take: its own fields of one bit, and single bits that it reads
/// of small ones. A stateful ALU's output goes elsewhere.
fn flags(unit: &Unit, nodes: &[Node]) -> Vec<Bits> {
    let foreign = foreign(unit);
    let alive = || nodes.iter().filter(|node| node.alive);
    let mut found: Vec<Bits> = Vec::new();
    for write in alive().flat_map(|node| &node.writes) {
        let whole = write.bits.variable(unit);
        let Place::Narrow(slot) = whole.place else { continue };
        let temporary = unit.slots.get(slot.index()).is_none_or(|info| info.temporary);
        if temporary || foreign.contains(&whole.place) || whole.width() > BITS as u32 {
            continue;
        }
        let outputs = alive().flat_map(|node| &node.writes).filter(|w| w.bits.overlap(&whole));
        if outputs.into_iter().any(|write| write.of.is_some()) {
            continue;
        }
        let reads = alive().flat_map(|node| &node.reads).map(|read| read.bits);
        let single = reads.filter(|bits| bits.place == whole.place && bits.width() == 1);
        for bits in single {
            if !found.contains(&bits) {
                found.push(bits);
            }
        }
    }
    found
}

/// Variables that are no flags: fields and validities of headers, and what the chip gives and takes.
fn foreign(unit: &Unit) -> HashSet<Place> {
    let mut found: HashSet<Place> = HashSet::new();
    for param in &unit.params {
        match Role::of_type(&param.ty) {
            Some(_) => found.extend(live::places(&param.layout)),
            None => found.extend(header_fields(&param.layout)),
        }
    }
    let slots = (0..unit.slots.len()).map(|at| Slot(at as u32));
    found.extend(slots.filter(|slot| unit.validity_of(*slot).is_some()).map(Place::Narrow));
    found
}

/// The names of the requests that a node writes.
fn requests<'u>(unit: &'u Unit, nodes: &[Node]) -> HashSet<&'u str> {
    let named = packed::requests(unit);
    let writes = nodes.iter().filter(|node| node.alive).flat_map(|node| &node.writes);
    let written = writes.filter_map(|write| match write.bits.place {
        Place::Narrow(slot) => named.get(&slot),
        Place::Wide(_) => None,
    });
    written.copied().collect()
}

/// The number of headers whose validity the control uses or the deparser asks for.
fn headers(program: &Program, [_, control, deparser]: [UnitId; 3], nodes: &[Node]) -> usize {
    let is_validity = |unit: UnitId, place: &Place| match place {
        Place::Narrow(slot) => program.units[unit.index()].validity_of(*slot).is_some(),
        Place::Wide(_) => false,
    };
    let mut emitted: HashSet<Place> = HashSet::new();
    visit::unit_statements(program, deparser, &mut |stmt| {
        if let StmtKind::Emit(layout) = &stmt.kind {
            emitted.extend(live::places(layout).filter(|place| is_validity(deparser, place)));
        }
    });
    let sent =
        counterparts(program, control, deparser).filter(|(_, theirs)| emitted.contains(theirs));
    let mut found: HashSet<Place> = sent.map(|(mine, _)| mine).collect();
    let alive = nodes.iter().filter(|node| node.alive);
    let used = alive.flat_map(|node| {
        let reads = node.reads.iter().map(|read| read.bits.place);
        reads.chain(node.writes.iter().map(|write| write.bits.place))
    });
    found.extend(used.filter(|place| is_validity(control, place)));
    found.len()
}
