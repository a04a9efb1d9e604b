//! Rules about conditions, actions and time, checked when a program is loaded.
//!
//! Stands on the IR. Refuses only what the vendor's compiler refuses for certain; what it may
//! rewrite is a warning.

mod action;
mod condition;
mod time;

pub use self::condition::range_bits;

use crate::tna::visit;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Program, UnitId};

/// What the controls of both passes break.
pub fn check(program: &Program, controls: [UnitId; 2]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for control in controls {
        for list in visit::unit_lists(&program.units[control.index()]) {
            condition::check(list, &mut found);
            action::check_statements(list, &mut found);
        }
        for table in program.tables.iter().filter(|table| table.unit == control) {
            for action in &table.actions {
                action::check_action(&action.body, &mut found);
            }
            for key in &table.keys {
                action::check_operations(&key.expr, &mut found);
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
