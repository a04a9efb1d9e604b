//! Rules about conditions, actions and time, checked when a program is loaded.
//!
//! Stands on the IR. Refuses only what the vendor's compiler refuses for certain; what it may
//! rewrite is a warning.
//!
//! | file | rules |
//! |---|---|
//! | `values` | none: the unit that executes each expression, constants and copies written in |
//! | `operations` | operations that no unit has |
//! | `condition`, `gateway` | conditions: their form, and what one gateway reads |
//! | `choice` | comparisons and choices in actions |
//! | `action`, `chain` | steps that wait for each other in one action |
//! | `hashed`, `key`, `time` | hashes in actions, keys, clocks |

mod action;
mod chain;
mod choice;
mod condition;
mod gateway;
mod hashed;
mod key;
mod operations;
mod time;
mod values;

pub use self::condition::range_bits;

use self::values::{Evaluated, Evaluations, Executor};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Program, UnitId};
use sojourn_p4::source::SourceMap;
use sojourn_p4::visit;

/// Rules that the controls of both passes break, as diagnostics.
pub fn check(program: &Program, controls: [UnitId; 2], sources: &SourceMap) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for control in controls {
        check_evaluations(program, control, &mut found);
        for list in visit::unit_lists(&program.units[control.index()]) {
            action::check_statements(list, &mut found);
            chain::check(program, list, sources, &mut found);
            hashed::check_statements(program, list, &mut found);
        }
        for table in program.tables.iter().filter(|table| table.unit == control) {
            for action in &table.actions {
                action::check_action(&action.body, &mut found);
            }
            key::check(table, &mut found);
            hashed::check_table(program, table, &mut found);
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

/// The expressions of a control, each by the unit that has to execute it.
fn check_evaluations(program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    let Evaluations { all, choices, live } = values::evaluations(program, control);
    let unit = &program.units[control.index()];
    // The compiler drops what is computed into a variable that is read nowhere.
    let needed = |evaluated: &&Evaluated| match evaluated.by {
        Executor::Instruction(Some(target)) => live.contains(&target),
        _ => true,
    };
    for evaluated in all.iter().filter(needed) {
        let expr = &evaluated.expr;
        operations::check(expr, found);
        match evaluated.by {
            Executor::Gateway => condition::check(unit, expr, found),
            Executor::Instruction(_) => choice::check(unit, evaluated, found),
            Executor::Input => {}
        }
    }
    choices.iter().for_each(|taken| choice::check_if(taken, found));
}
