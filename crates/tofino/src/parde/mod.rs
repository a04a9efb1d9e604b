//! Checks of parsers and deparsers: statements and expressions that the chip's blocks cannot execute.
//!
//! A parser state extracts bytes, writes constants and copies fields; a deparser emits headers,
//! sums checksums and copies fields. Neither has an ALU. The rules are those of the open Tofino
//! compiler (`bf-p4c/parde`, `bf-p4c/midend`). Uses the IR; must not depend on match-action stages.
//!
//! | file | subject |
//! |---|---|
//! | `alignment` | bits of a byte from which a field is filled |
//! | `copy_propagation` | values that a variable is known to hold, constants folded |
//! | `fields` | expressions that need no ALU |
//! | `generics` | headers with type parameters |
//! | `state_merging` | states that the compiler joins |
//! | `stacks` | elements of stacks in controls and deparsers |
//! | `states` | statements of parser states |
//! | `key_sources` | the last writes to a key of `select` |
//! | `select` | keys of `select`, conditions of `if` |
//! | `unions` | header unions |
//! | `varbit` | lengths of fields of variable size |
//! | `externs` | the blocks in which an extern can be used |
//! | `deparser` | emits, assignments, checksums |
//! | `checksum_fields` | fields and places of checksums |

mod alignment;
mod checksum_fields;
mod copy_propagation;
mod deparser;
mod depth;
mod externs;
mod fields;
mod generics;
mod key_sources;
mod select;
mod stacks;
mod state_merging;
mod states;
mod unions;
mod varbit;

pub(super) use self::copy_propagation::Known;
pub(super) use self::fields::computed;

use crate::chip::Chip;
use crate::fit::check_casts;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Layout, Program, Slot, UnitId};
use sojourn_target::unaligned_headers::unaligned_headers;

/// Diagnostics about the parsers and deparsers of a pipeline, whose six blocks are given.
pub fn check(chip: &Chip, program: &Program, blocks: [UnitId; 6]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for pass in [&blocks[..3], &blocks[3..]] {
        states::check(chip, program, pass[0], &mut found);
        alignment::check(program, pass[0], &mut found);
        check_casts(program, pass[0], &mut found);
        deparser::check(program, pass[2], &mut found);
        externs::check(program, pass, &mut found);
        pass[1..].iter().for_each(|unit| stacks::check(program, *unit, &mut found));
    }
    depth::check(chip, program, blocks[3], &mut found);
    unions::check(program, blocks, &mut found);
    generics::check(program, &mut found);
    for header in unaligned_headers(program).into_iter().filter(|header| !header.flexible) {
        let message = format!("the header `{}` has {} bits", header.name, header.bits);
        found.push(rules::HEADER_BYTES.refuse(header.span, message).into());
    }
    found
}

/// The narrow slots of a layout.
fn slots(layout: &Layout) -> Vec<Slot> {
    let range = layout.range();
    (0..range.narrow_len).map(|at| Slot(range.narrow_start.0 + at)).collect()
}
