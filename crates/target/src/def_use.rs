//! Slots of its frame that a unit reads, and those that it writes.
//!
//! All accesses on every path through the unit count: the value of any other slot does not matter
//! to it.

use sojourn_p4::ir::{
    Arg, Body, Expr, ExprKind, ExternCall, Layout, Program, Slot, StmtKind, Transition, UnitId,
};
use sojourn_p4::visit;
use std::collections::HashSet;

/// The narrow slots whose values a unit uses: in expressions, copies, calls and keys of tables.
pub fn values_used_by(program: &Program, unit: UnitId) -> HashSet<Slot> {
    let mut read = HashSet::new();
    visit::unit_statements(program, unit, &mut |stmt| {
        visit::expressions(stmt).into_iter().for_each(|expr| slots_of(expr, &mut read));
        match &stmt.kind {
            StmtKind::Copy { narrow: (from, _, count), .. } => {
                read.extend((0..*count).map(|at| Slot(from.0 + at)));
            }
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
    read
}

/// The narrow slots that a unit reads in any way.
pub fn read_by(program: &Program, unit: UnitId) -> HashSet<Slot> {
    let mut read = values_used_by(program, unit);
    visit::unit_statements(program, unit, &mut |stmt| match &stmt.kind {
        // The other bits remain.
        StmtKind::SetSlice { target: slot, .. } | StmtKind::CheckStack { next: slot, .. } => {
            read.insert(*slot);
        }
        StmtKind::Emit(layout)
        | StmtKind::ExtractNext { stack: layout }
        | StmtKind::PushFront { stack: layout, .. }
        | StmtKind::PopFront { stack: layout, .. } => whole(layout, &mut read),
        _ => {}
    });
    if let Body::Parser(parser) = &program.units[unit.index()].body {
        for state in &parser.states {
            if let Transition::Select { keys, .. } = &state.transition {
                keys.iter().for_each(|key| slots_of(key, &mut read));
            }
        }
    }
    read
}

/// The narrow slots that a call reads.
pub fn read_by_call(call: &ExternCall) -> HashSet<Slot> {
    let mut read = HashSet::new();
    for arg in &call.args {
        match arg {
            Arg::Out(layout) | Arg::InOut(layout) => whole(layout, &mut read),
            _ => visit::argument_expressions(arg).iter().for_each(|expr| slots_of(expr, &mut read)),
        }
    }
    read
}

/// Narrow slots that a unit may write, including those passed to externs.
pub fn written_by(program: &Program, unit: UnitId) -> HashSet<Slot> {
    let mut written = HashSet::new();
    visit::unit_statements(program, unit, &mut |stmt| match &stmt.kind {
        StmtKind::Set(slot, _) | StmtKind::SetSlice { target: slot, .. } => {
            written.insert(*slot);
        }
        StmtKind::SetElement { base, stride, count, .. } => {
            written.extend((0..*count).map(|at| Slot(base.0 + stride * at)));
        }
        StmtKind::Copy { narrow: (_, to, count), .. } => {
            written.extend((0..*count).map(|at| Slot(to.0 + at)));
        }
        StmtKind::Extract { header: layout, .. }
        | StmtKind::ExtractVar { header: layout, .. }
        | StmtKind::ExtractNext { stack: layout }
        | StmtKind::PushFront { stack: layout, .. }
        | StmtKind::PopFront { stack: layout, .. } => whole(layout, &mut written),
        StmtKind::Apply { hit, action, .. } => written.extend([*hit, *action].iter().flatten()),
        StmtKind::Call(call) => {
            // Some externs change their input arguments.
            visit::expressions(stmt).into_iter().for_each(|expr| slots_of(expr, &mut written));
            for arg in &call.args {
                if let Arg::Out(layout) | Arg::InOut(layout) = arg {
                    whole(layout, &mut written);
                }
            }
            call.result.iter().for_each(|layout| whole(layout, &mut written));
        }
        _ => {}
    });
    for table in program.tables.iter().filter(|table| table.unit == unit) {
        let data = table.actions.iter().flat_map(|action| &action.data);
        data.for_each(|(_, layout)| whole(layout, &mut written));
    }
    written
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
