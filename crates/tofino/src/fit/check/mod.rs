//! Rules about conditions, actions and time, checked when a program is loaded.
//!
//! Uses the IR. Rejects only programs that the vendor's compiler certainly rejects; constructs that
//! it may rewrite give a warning.
//!
//! | file | rules |
//! |---|---|
//! | `values` | none: the unit that executes each expression, constants and copies written in |
//! | `operations`, `wide` | operations that no unit has; those of more than one container |
//! | `condition`, `gateway` | conditions: their form, and what one gateway reads |
//! | `choice` | comparisons and choices in actions |
//! | `container` | fields that share a container with others |
//! | `instruction` | steps that wait for each other in one action |
//! | `action_data` | operands of action data |
//! | `applied` | conditions that apply a table |
//! | `casts` | casts of casts |
//! | `index` | addresses of registers |
//! | `repeat`, `varbit` | loops; headers of variable size |
//! | `sign` | signs repeated over more than 16 bits |
//! | `valid` | validities beside fields |
//! | `profile` | tables that share a profile or selector |
//! | `hashed`, `hash_results` | hashes in actions; the lists and results of hashes |
//! | `key`, `time` | keys and sizes of tables, clocks |
//! | `in_hash` | none: the assignments that the hash unit computes on request |

mod action_data;
mod applied;
mod casts;
mod choice;
mod colour;
mod condition;
mod container;
mod gateway;
mod hash_results;
mod hashed;
mod in_hash;
mod index;
mod instruction;
mod key;
mod measured;
mod operations;
mod profile;
mod repeat;
mod sign;
mod time;
mod valid;
mod values;
mod varbit;
mod wide;

pub use self::casts::check as check_casts;
pub use self::condition::range_bits;
pub use self::instruction::shifted;

use self::values::{Evaluated, Evaluations, Executor};
use crate::chip::Chip;
use crate::fit::bits::{Bits, Place};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Program, UnitId};
use sojourn_p4::visit;
use sojourn_target::applied_tables::applied;

/// Rules that the controls of both passes and the ghost control break, as diagnostics.
pub fn check(
    chip: &Chip,
    program: &Program,
    controls: [UnitId; 2],
    ghost: Option<UnitId>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for control in controls.into_iter().chain(ghost) {
        check_evaluations(program, control, &mut found);
        for list in visit::unit_lists(&program.units[control.index()]) {
            repeat::check(list, &mut found);
            hashed::check_statements(chip, program, list, &mut found);
        }
        for table in applied(program).into_iter().filter(|table| table.unit == control) {
            key::check(chip, table, &mut found);
            hashed::check_table(chip, program, table, &mut found);
        }
        casts::check(program, control, &mut found);
        hash_results::check(program, control, &mut found);
        applied::check(chip, program, control, &mut found);
        repeat::check_unrolled(program, control, &mut found);
        time::check(chip, program, control, &mut found);
        varbit::check(program, control, &mut found);
    }
    profile::check(program, &mut found);
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
    let Evaluations { all, choices, extremes, live, colours } =
        values::evaluations(program, control);
    let unit = &program.units[control.index()];
    // The compiler drops what is computed into a variable that is read nowhere.
    let needed = |evaluated: &&Evaluated| match evaluated.by {
        Executor::Instruction(Some(Bits { place: Place::Narrow(slot), .. })) => {
            live.contains(&slot)
        }
        _ => true,
    };
    let all: Vec<&Evaluated> = all.iter().filter(needed).collect();
    let by_hash = in_hash::Blocks::new(program);
    for evaluated in &all {
        operations::check(&evaluated.expr, found);
        wide::check(unit, evaluated, found);
        match evaluated.by {
            Executor::Gateway => condition::check(unit, evaluated, found),
            Executor::Operand => hashed::check_operand(unit, evaluated, found),
            Executor::Instruction(_) if by_hash.compute(evaluated) => {}
            Executor::Instruction(_) => {
                action_data::check(evaluated, found);
                instruction::check(unit, evaluated, found);
                valid::check(unit, evaluated, found);
            }
            Executor::Index => index::check(evaluated, found),
            Executor::Measured(_) | Executor::Switch | Executor::Input => {}
        }
    }
    sign::check(unit, &all, found);
    measured::check(&all, found);
    colour::check(unit, &all, &colours, found);
    let instructions: Vec<&Evaluated> =
        all.iter().copied().filter(|evaluated| !by_hash.compute(evaluated)).collect();
    container::check(unit, &instructions, &extremes, found);
    choices.iter().for_each(|taken| choice::check_if(unit, taken, found));
}
