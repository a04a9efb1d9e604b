//! Warnings about comparisons of the chip's timestamps, for authors of queue management (T12).

use crate::chip::Chip;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Program, Scalar, Slot, StmtKind, Unit, UnitId};
use sojourn_p4::visit;
use std::collections::HashSet;

/// Warnings about times in a control.
pub fn check(chip: &Chip, program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    let times = times(program, control);
    for object in program.objects.iter().filter(|object| object.unit == Some(control)) {
        for method in &object.methods {
            let memory: HashSet<Slot> = method
                .params
                .first()
                .map(|entry| entry.layout.range().narrow().map(|at| Slot(at as u32)).collect())
                .unwrap_or_default();
            visit::statements(&method.body, &mut |stmt| {
                for expr in visit::expressions(stmt) {
                    unsigned_comparison(expr, &times, &memory, found);
                }
            });
        }
    }
    if chip.front.queue_time_bits < 32 {
        queue_times(program, control, found);
    }
}

/// Slots that hold the low 32 bits of a timestamp.
fn times(program: &Program, control: UnitId) -> HashSet<Slot> {
    let unit = &program.units[control.index()];
    let mut times = HashSet::new();
    loop {
        let before = times.len();
        visit::unit_statements(program, control, &mut |stmt| {
            if let StmtKind::Set(slot, value) = &stmt.kind
                && value.scalar.width() == 32
                && is_time(unit, value, &times)
            {
                times.insert(*slot);
            }
        });
        if times.len() == before {
            return times;
        }
    }
}

fn is_time(unit: &Unit, expr: &Expr, times: &HashSet<Slot>) -> bool {
    match &expr.kind {
        ExprKind::Slot(slot) => {
            let name = unit.slots.get(slot.index()).map_or("", |info| &*info.name);
            times.contains(slot) || name.ends_with("global_tstamp") || name.ends_with("mac_tstamp")
        }
        ExprKind::Cast(inner) | ExprKind::Slice(inner, 0) => is_time(unit, inner, times),
        _ => false,
    }
}

fn unsigned_comparison(
    expr: &Expr,
    times: &HashSet<Slot>,
    memory: &HashSet<Slot>,
    found: &mut Vec<Diagnostic>,
) {
    if let ExprKind::Binary(Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge, a, b) = &expr.kind {
        let reads =
            |expr: &Expr, slots: &HashSet<Slot>| slots.iter().any(|s| visit::reads(expr, *s));
        let time = [a, b].into_iter().any(|side| reads(side, times));
        let state = [a, b].into_iter().any(|side| reads(side, memory));
        if a.scalar == Scalar::Bit(32) && time && state {
            let message = "a time is compared as an unsigned number";
            found.push(rules::UNSIGNED_TIME.warning(expr.span, message));
        }
    }
    for operand in visit::operands(expr) {
        unsigned_comparison(operand, times, memory, found);
    }
}

fn queue_times(program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    let unit = &program.units[control.index()];
    let named = |name: &str| {
        unit.slots.iter().position(|info| info.name.ends_with(name)).map(|at| Slot(at as u32))
    };
    for name in ["enq_tstamp", "deq_timedelta"] {
        let Some(slot) = named(name) else { continue };
        let mut first = None;
        visit::unit_statements(program, control, &mut |stmt| {
            let reads = visit::expressions(stmt).into_iter().find(|expr| visit::reads(expr, slot));
            first = first.or(reads.map(|expr| expr.span));
        });
        if let Some(span) = first {
            let message = format!("`{name}` is read as a time");
            found.push(rules::QUEUE_TIME.warning(span, message));
        }
    }
}
