//! Limits of `hit`, `miss` and `switch` (T1003), after `bf-p4c/mau`,
//! `bf-p4c/common/extract_maupipe.cpp` and `bf-p4c/midend/simplify_nested_if.cpp`: the compiler takes
//! `if (table.apply().hit)` alone, of a table whose actions do not exit, and `switch` on `action_run`.
//!
//! The IR stores the parts of a condition in temporary variables.

use crate::chip::Chip;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ExprKind, Program, Slot, Stmt, StmtKind, Table, Unary, UnitId};
use sojourn_p4::visit;
use sojourn_target::def_use::read_by;
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

/// The variable that the IR sets at an `exit` of a sub-control.
const EXIT_FLAG: &str = "$exit$";

/// Refuses what the compiler has no table for.
pub fn check(chip: &Chip, program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    check_conditions(program, control, found);
    check_outcomes(chip, program, control, found);
}

/// Refuses `switch` on a value, and `hit` and `miss` of a table with an action that exits.
fn check_outcomes(chip: &Chip, program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    let mut actions: HashSet<Slot> = HashSet::new();
    let asked = LazyCell::new(|| asked(program, control));
    visit::unit_statements(program, control, &mut |stmt: &Stmt| {
        let (message, at) = match &stmt.kind {
            StmtKind::Apply { table, hit, action } => {
                actions.extend(*action);
                let Some(hit) = hit else { return };
                if chip.hit_beside_exit
                    || !exits(program, &program.tables[table.index()])
                    || !asked.contains(hit)
                {
                    return;
                }
                ("a condition asks for the hit of a table with an action that exits", stmt.span)
            }
            StmtKind::Switch { subject, .. } => match subject.kind {
                ExprKind::Slot(slot) if actions.contains(&slot) => return,
                _ => ("a `switch` on a value", subject.span),
            },
            _ => return,
        };
        found.push(rules::CONDITION_ARITHMETIC.refuse(at, message).into());
    });
}

/// Variables that a control reads, other than to copy them to one that it does not read.
fn asked(program: &Program, control: UnitId) -> HashSet<Slot> {
    let read = read_by(program, control);
    let mut copied: HashMap<Slot, bool> = HashMap::new();
    visit::unit_statements(program, control, &mut |stmt| {
        for expr in visit::expressions(stmt) {
            for slot in read.iter().filter(|slot| visit::reads(expr, **slot)) {
                let to_unread = matches!(
                    (&stmt.kind, &expr.kind),
                    (StmtKind::Set(to, _), ExprKind::Slot(_)) if !read.contains(to)
                );
                *copied.entry(*slot).or_insert(true) &= to_unread;
            }
        }
    });
    read.into_iter().filter(|slot| !copied.get(slot).is_some_and(|only| *only)).collect()
}

/// True if an action of a table exits: it leaves a block that it stands in, or, in a sub-control,
/// sets the flag of that.
fn exits(program: &Program, table: &Table) -> bool {
    let slots = &program.units[table.unit.index()].slots;
    table.actions.iter().any(|action| {
        let (mut own, mut left, mut flagged) = (HashSet::new(), HashSet::new(), false);
        visit::statements(&action.body, &mut |stmt| {
            match &stmt.kind {
                StmtKind::Block { label, .. } => _ = own.insert(*label),
                StmtKind::Leave(label) => _ = left.insert(*label),
                _ => {}
            }
            visit::written(stmt, &mut |slot| {
                flagged |= slots[slot.index()].name.contains(EXIT_FLAG);
            });
        });
        flagged || !left.is_subset(&own)
    })
}

/// Refuses an outcome of a table among the parts of a condition.
fn check_conditions(program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    let slots = &program.units[control.index()].slots;
    let is_part = |slot: &Slot| slots.get(slot.index()).is_some_and(|info| info.temporary);
    let mut outcomes: HashSet<Slot> = HashSet::new();
    visit::unit_statements(program, control, &mut |stmt| {
        let part = match &stmt.kind {
            StmtKind::Apply { hit, .. } => return outcomes.extend(*hit),
            StmtKind::Set(slot, value) if is_part(slot) => value,
            StmtKind::If { condition, .. } if !is_alone(condition) => condition,
            _ => return,
        };
        if outcomes.iter().any(|outcome| visit::reads(part, *outcome)) {
            let message = "a condition applies a table and asks for more";
            found.push(rules::CONDITION_ARITHMETIC.refuse(part.span, message).into());
        }
    });
}

/// True for a variable or its negation.
fn is_alone(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Unary(Unary::Not, inner) => is_alone(inner),
        _ => matches!(condition.kind, ExprKind::Slot(_)),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Parts;

    const TABLES: &str = "
        action put() { h.ethernet.src = 1; } action leave() { exit; }
        table t { key = { h.ethernet.kind: exact; } actions = { put; } size = 4; }
        table leaving { key = { h.ethernet.kind: exact; } actions = { put; leave; } size = 4; }";

    #[test]
    fn a_table_with_an_action_that_exits_is_not_asked_for_its_hit() {
        for apply in [
            "if (leaving.apply().hit) { t.apply(); }",
            "if (leaving.apply().miss) { h.ethernet.dst = 1; }",
        ] {
            let parts = Parts { egress: TABLES, apply, ..Parts::default() };
            assert_eq!(parts.refused()[0].0, "T1003", "{apply}");
            Parts { second_chip: true, ..parts }.loaded();
        }
        let asked = "switch (leaving.apply().action_run) { put: { t.apply(); } }";
        for apply in [
            asked,
            "leaving.apply(); t.apply();",
            "bool b = leaving.apply().hit;",
            "if (t.apply().hit) { h.ethernet.dst = 1; }",
        ] {
            Parts { egress: TABLES, apply, ..Parts::default() }.loaded();
        }
    }

    #[test]
    fn a_switch_asks_for_the_action_of_a_table() {
        let apply = "switch (h.ethernet.kind) { 1: { h.ethernet.dst = 1; } default: { h.ethernet.dst = 2; } }";
        let refused = Parts { egress: TABLES, apply, ..Parts::default() }.refused();
        assert_eq!(refused[0], ("T1003", "a `switch` on a value".to_owned()));
    }
}
