//! Fields of the chip's intrinsic header that a program never looks at.
//!
//! Most programs want one or two of the fields in front of each packet; the others need not be taken
//! out of it. Only that header is looked at: of the program's own, what is not read is sent on.

use super::gress::Gress;
use super::metadata::Role;
use crate::visit;
use sojourn_p4::ir::{
    Arg, Body, Expr, ExprKind, Layout, Program, Slot, StmtKind, Transition, UnitId,
};
use std::collections::HashSet;

/// The slots of a pass's parser that hold such fields, which no block of the pass reads.
pub fn intrinsic_fields(program: &Program, gress: &Gress) -> HashSet<Slot> {
    let Some(header @ Layout::Header { valid, .. }) = gress.parser.params.get(&Role::Intrinsic)
    else {
        return HashSet::new();
    };
    let mine = header.range();
    let mut unread: HashSet<Slot> = mine.narrow().map(|at| Slot(at as u32)).collect();
    unread.remove(valid);
    for block in [&gress.parser, &gress.control, &gress.deparser] {
        let Some(theirs) = block.params.get(&Role::Intrinsic).map(Layout::range) else { continue };
        let read = read_by(program, block.unit);
        // The same fields, somewhere else in its frame.
        let there = |slot: &Slot| Slot(slot.0 - mine.narrow_start.0 + theirs.narrow_start.0);
        unread.retain(|slot| !read.contains(&there(slot)));
    }
    unread
}

/// The narrow slots that a unit reads in any way.
fn read_by(program: &Program, unit: UnitId) -> HashSet<Slot> {
    let mut read = HashSet::new();
    visit::unit_statements(program, unit, &mut |stmt| {
        visit::expressions(stmt).into_iter().for_each(|expr| slots_of(expr, &mut read));
        match &stmt.kind {
            StmtKind::Copy { narrow: (from, _, count), .. } => {
                read.extend((0..*count).map(|at| Slot(from.0 + at)));
            }
            StmtKind::Emit(layout) => whole(layout, &mut read),
            StmtKind::Call(call) => {
                for arg in &call.args {
                    if let Arg::Out(layout) | Arg::InOut(layout) = arg {
                        whole(layout, &mut read);
                    }
                }
            }
            _ => {}
        }
    });
    let tables = program.tables.iter().filter(|table| table.unit == unit);
    tables.flat_map(|table| &table.keys).for_each(|key| slots_of(&key.expr, &mut read));
    if let Body::Parser(parser) = &program.units[unit.index()].body {
        for state in &parser.states {
            if let Transition::Select { keys, .. } = &state.transition {
                keys.iter().for_each(|key| slots_of(key, &mut read));
            }
        }
    }
    read
}

fn whole(layout: &Layout, read: &mut HashSet<Slot>) {
    read.extend(layout.range().narrow().map(|at| Slot(at as u32)));
}

fn slots_of(expr: &Expr, read: &mut HashSet<Slot>) {
    match &expr.kind {
        ExprKind::Slot(slot) => {
            read.insert(*slot);
        }
        ExprKind::Element { base, stride, count, .. } => {
            read.extend((0..*count).map(|at| Slot(base.0 + stride * at)));
        }
        _ => {}
    }
    visit::operands(expr).into_iter().for_each(|operand| slots_of(operand, read));
}
