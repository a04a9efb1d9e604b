//! What nobody looks at takes no stage: writes to fields that are never read are left out, as the
//! vendor's compiler leaves them out.

use super::bits::{Bits, Copies, Place};
use super::node::{Kind, Node};
use crate::tna::metadata::Role;
use crate::visit;
use sojourn_p4::ast::Direction;
use sojourn_p4::ir::{Arg, Layout, Program, Slot, StmtKind, UnitId, WideSlot};
use std::collections::{HashMap, HashSet};

/// The variables of `control` that something behind it reads: the deparser, or the chip.
pub fn seen_behind(program: &Program, control: UnitId, deparser: UnitId) -> HashSet<Place> {
    let behind = read_by_deparser(program, deparser);
    let mut seen = HashSet::new();
    let deparser = &program.units[deparser.index()];
    for param in &program.units[control.index()].params {
        if !matches!(param.direction, Direction::Out | Direction::InOut) {
            continue;
        }
        let to_chip = matches!(
            Role::of_type(&param.ty),
            Some(Role::ForDeparser | Role::ForTrafficManager | Role::ForPort)
        );
        let mine: Vec<Place> = places(&param.layout).collect();
        if to_chip {
            seen.extend(mine);
            continue;
        }
        let Some(theirs) = deparser.params.iter().find(|other| other.ty == param.ty) else {
            continue;
        };
        let pairs = mine.into_iter().zip(places(&theirs.layout));
        seen.extend(pairs.filter(|(_, theirs)| behind.contains(theirs)).map(|(mine, _)| mine));
    }
    seen
}

/// The variables of a layout.
pub fn places(layout: &Layout) -> impl Iterator<Item = Place> + use<> {
    let range = layout.range();
    let narrow = range.narrow().map(|at| Place::Narrow(Slot(at as u32)));
    narrow.chain(range.wide().map(|at| Place::Wide(WideSlot(at as u32))))
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

/// Takes away writes that nothing reads, then nodes that do nothing, until no more can go.
pub fn drop_dead(nodes: &mut [Node], seen: &HashSet<Place>) {
    loop {
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
            node.writes.retain(|write| wanted(&write.bits, at));
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
