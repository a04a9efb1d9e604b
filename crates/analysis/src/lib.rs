//! State variables of a program: their readers and writers, their order, and which of them form one
//! atomic block.
//!
//! A state variable is a field of a register's entry. One flows into another if a value written
//! there depends on a value read here, as data or as a condition. Variables that flow into each
//! other in a cycle must be read and written in one step, because a pipeline never goes back
//! (Kundel et al., "P4-CoDel: Experiences on Programmable Data Plane Hardware", IEEE ICC 2021,
//! section II and Figure 2). Uses the IR and the names of the architectures' registers. Must not
//! depend on a chip's limits: a program that no chip accepts can be analysed, too.
//!
//! | file | what |
//! |---|---|
//! | `variables` | which objects hold state, and what their fields are called |
//! | `variable_set` | sets of variables |
//! | `dependencies` | what every value depends on, statement by statement |
//! | `extern_effects` | the same for calls of registers and other externs |
//! | `access_steps` | the statements that touch state, in order |
//! | `atomic_blocks` | cycles, which a single instruction must execute |
//! | `report`, `text` | the outcome as data and as text |

mod access_steps;
mod atomic_blocks;
mod dependencies;
mod extern_effects;
mod report;
mod text;
mod variable_set;
mod variables;

pub use self::report::{Block, Control, Dependencies, Flow, Place, Step, Variable, Written};

use self::variables::Variables;
use sojourn_p4::ir::{Body, Program};
use sojourn_p4::source::SourceMap;

/// The state variables of every control that has some.
pub fn dependencies(program: &Program, sources: &SourceMap) -> Dependencies {
    let variables = Variables::new(program);
    let controls = program.units.iter().filter_map(|unit| match &unit.body {
        Body::Control { stmts, .. } => {
            let found = dependencies::analyse_control(program, unit, &variables, stmts);
            report::control(program, unit, &variables, &found, sources)
        }
        Body::Parser(_) => None,
    });
    Dependencies { controls: controls.collect() }
}
