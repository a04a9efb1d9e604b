//! Rules about conditions, actions and time, checked when a program is loaded.
//!
//! Stands on the IR. Refuses only what the vendor's compiler refuses for certain; what it may
//! rewrite is a warning.

mod action;
mod chain;
mod condition;
mod hashed;
mod key;
mod time;

pub use self::condition::range_bits;

use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ExprKind, Program, Slot, StmtKind, UnitId};
use sojourn_p4::source::SourceMap;
use sojourn_p4::visit;
use std::collections::HashSet;

/// Variables that a compiler may know to be constant somewhere, as a constant is assigned to them.
struct Known(HashSet<Slot>);

impl Known {
    fn new(program: &Program, control: UnitId) -> Known {
        let mut known = HashSet::new();
        visit::unit_statements(program, control, &mut |stmt| {
            if let StmtKind::Set(slot, value) = &stmt.kind
                && super::bits::is_constant(value)
            {
                known.insert(*slot);
            }
        });
        Known(known)
    }

    /// True for a constant, and for what may be one.
    fn may_be_constant(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Slot(slot) => self.0.contains(slot),
            ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => self.may_be_constant(inner),
            _ => super::bits::is_constant(expr),
        }
    }
}

/// What the controls of both passes break.
pub fn check(program: &Program, controls: [UnitId; 2], sources: &SourceMap) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for control in controls {
        let known = Known::new(program, control);
        for list in visit::unit_lists(&program.units[control.index()]) {
            condition::check(list, &known, &mut found);
            action::check_statements(list, &known, &mut found);
            chain::check(program, list, sources, &mut found);
            hashed::check_statements(program, list, sources, &mut found);
        }
        for table in program.tables.iter().filter(|table| table.unit == control) {
            for action in &table.actions {
                action::check_action(&action.body, &known, &mut found);
            }
            key::check(table, &mut found);
            hashed::check_table(program, table, &mut found);
            for key in &table.keys {
                action::check_operations(&key.expr, &known, &mut found);
            }
        }
        time::check(program, control, &mut found);
    }
    let mut unique: Vec<Diagnostic> = Vec::new();
    for diagnostic in found {
        if !unique.contains(&diagnostic) {
            unique.push(diagnostic);
        }
    }
    unique
}
