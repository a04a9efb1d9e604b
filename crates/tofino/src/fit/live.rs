//! Dead-write elimination: writes to fields that are never read take no stage, as in the vendor's
//! compiler.

use super::bits::{Bits, Copies, Place};
use super::flow::flows;
use super::node::{Kind, Node};
use crate::metadata::Role;
use sojourn_p4::ast::Direction;
use sojourn_p4::ir::{Arg, Expr, ExprKind, Layout, Program, Slot, StmtKind, UnitId, WideSlot};
use sojourn_p4::visit;
use std::collections::{HashMap, HashSet};

/// The variables of the pass's control that something behind it reads: the deparser, or the chip.
/// `blocks` are parser, control and deparser.
pub fn seen_behind(program: &Program, blocks: [UnitId; 3]) -> HashSet<Place> {
    let [_, control, deparser] = blocks;
    let behind = read_by_deparser(program, deparser);
    let mut seen: HashSet<Place> = counterparts(program, control, deparser)
        .filter(|(_, theirs)| behind.contains(theirs))
        .map(|(mine, _)| mine)
        .collect();
    for absent in never_there(program, blocks) {
        seen.remove(&absent);
    }
    for param in &program.units[control.index()].params {
        let to_chip = matches!(
            Role::of_type(&param.ty),
            Some(Role::ForDeparser | Role::ForTrafficManager | Role::ForPort)
        );
        if to_chip && matches!(param.direction, Direction::Out | Direction::InOut) {
            seen.extend(places(&param.layout));
        }
    }
    seen
}

/// Variables that a control passes to another unit, each with the other unit's.
pub fn counterparts(
    program: &Program,
    control: UnitId,
    other: UnitId,
) -> impl Iterator<Item = (Place, Place)> {
    let theirs = &program.units[other.index()].params;
    let params = program.units[control.index()].params.iter();
    let handed =
        params.filter(|param| matches!(param.direction, Direction::Out | Direction::InOut));
    let pairs = handed.filter_map(|mine| {
        theirs.iter().find(|their| their.ty == mine.ty).map(|their| (mine, their))
    });
    pairs.flat_map(|(mine, their)| places(&mine.layout).zip(places(&their.layout)))
}

/// Fields of headers that neither parser nor control makes valid: they are not sent.
fn never_there(program: &Program, [parser, control, _]: [UnitId; 3]) -> HashSet<Place> {
    let mut made: HashSet<Place> = HashSet::new();
    let mut absent = HashSet::new();
    let writes = |unit: UnitId, made: &mut dyn FnMut(Place)| {
        visit::unit_statements(program, unit, &mut |stmt| {
            if !matches!(&stmt.kind, StmtKind::Set(_, value) if is_zero(value)) {
                visit::written(stmt, &mut |slot| made(Place::Narrow(slot)));
            }
        });
    };
    writes(control, &mut |place| made.extend([place]));
    let to_mine: HashMap<Place, Place> =
        counterparts(program, control, parser).map(|(mine, theirs)| (theirs, mine)).collect();
    writes(parser, &mut |place| made.extend(to_mine.get(&place)));
    for param in &program.units[control.index()].params {
        let parsed = program.units[parser.index()].params.iter().any(|p| p.ty == param.ty);
        if parsed && Role::of_type(&param.ty).is_none() {
            absent_headers(&param.layout, &made, &mut absent);
        }
    }
    absent
}

fn is_zero(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Const(0))
}

fn absent_headers(layout: &Layout, made: &HashSet<Place>, absent: &mut HashSet<Place>) {
    match layout {
        Layout::Header { valid, .. } if !made.contains(&Place::Narrow(*valid)) => {
            absent.extend(places(layout));
        }
        Layout::Struct { fields, .. } => {
            fields.iter().for_each(|field| absent_headers(field, made, absent));
        }
        _ => {}
    }
}

/// The variables of a layout.
pub fn places(layout: &Layout) -> impl Iterator<Item = Place> + use<> {
    let range = layout.range();
    let narrow = range.narrow().map(|at| Place::Narrow(Slot(at as u32)));
    narrow.chain(range.wide().map(|at| Place::Wide(WideSlot(at as u32))))
}

/// The fields of the headers in a layout.
pub fn header_fields(layout: &Layout) -> Vec<Place> {
    match layout {
        Layout::Header { fields, .. } => fields.iter().flat_map(places).collect(),
        Layout::Struct { fields, .. } => fields.iter().flat_map(header_fields).collect(),
        Layout::Union { members: inner, .. } | Layout::Stack { elements: inner, .. } => {
            inner.iter().flat_map(header_fields).collect()
        }
        _ => Vec::new(),
    }
}

fn read_by_deparser(program: &Program, deparser: UnitId) -> HashSet<Place> {
    let mut read = HashSet::new();
    let copies = Copies::default();
    visit::unit_statements(program, deparser, &mut |stmt| {
        for expr in visit::expressions(stmt) {
            copies.read_all(expr, &mut |bits| {
                read.insert(bits.place);
            });
        }
        match &stmt.kind {
            StmtKind::Emit(layout) => read.extend(places(layout)),
            StmtKind::Copy { narrow: (from, _, count), wide: (wide, _, wides) } => {
                read.extend((0..*count).map(|at| Place::Narrow(Slot(from.0 + at))));
                read.extend((0..*wides).map(|at| Place::Wide(WideSlot(wide.0 + at))));
            }
            StmtKind::Call(call) => {
                let both = call.args.iter().filter_map(|arg| match arg {
                    Arg::InOut(layout) => Some(layout),
                    _ => None,
                });
                both.for_each(|layout| read.extend(places(layout)));
            }
            _ => {}
        }
    });
    read
}

/// Removes writes that nothing reads and then nodes without an effect, until none is left.
pub fn drop_dead(nodes: &mut [Node], seen: &HashSet<Place>) {
    loop {
        let overwritten = overwritten(nodes, seen);
        // Who reads what; a counter that only counts itself is read by nobody.
        let mut readers: HashMap<Place, (usize, bool)> = HashMap::new();
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.alive) {
            for read in &node.reads {
                let known = readers.entry(read.bits.place).or_insert((at, false));
                known.1 |= known.0 != at;
            }
        }
        let wanted = |bits: &Bits, by: usize| {
            let read = readers.get(&bits.place);
            seen.contains(&bits.place) || read.is_some_and(|(at, more)| *more || *at != by)
        };
        let guards: HashSet<usize> =
            nodes.iter().filter(|node| node.alive).filter_map(|node| node.guard).collect();
        let mut changed = false;
        for (at, node) in nodes.iter_mut().enumerate().filter(|(_, node)| node.alive) {
            let mut number = 0;
            node.writes.retain(|write| {
                number += 1;
                wanted(&write.bits, at) && !overwritten.contains(&(at, number - 1))
            });
            let needed = match node.kind {
                Kind::Gateway | Kind::Switch => guards.contains(&at),
                _ => !node.writes.is_empty() || node.has_effects() || guards.contains(&at),
            };
            if !needed {
                node.alive = false;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Writes of which no read and no block behind the control sees the value, because later writes always
/// come first: node, and index among its writes. A field that a node reads itself stays, since the order
/// within a node is not known. The value of a loop's body may reach the next round.
fn overwritten(nodes: &[Node], seen: &HashSet<Place>) -> HashSet<(usize, usize)> {
    let mut reached: HashMap<usize, Vec<Bits>> = HashMap::new();
    for flow in flows(nodes, seen) {
        if let Some(from) = flow.from {
            reached.entry(from).or_default().push(flow.field);
        }
    }
    let mut found = HashSet::new();
    for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.alive && !node.in_loop) {
        let reads = node.reads.iter().map(|read| read.bits);
        let known: Vec<Bits> = reached.remove(&at).into_iter().flatten().chain(reads).collect();
        for (number, write) in node.writes.iter().enumerate() {
            if !known.iter().any(|bits| bits.overlap(&write.bits)) {
                found.insert((at, number));
            }
        }
    }
    found
}
