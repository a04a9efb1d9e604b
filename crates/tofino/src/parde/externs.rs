//! Blocks in which an extern may be called (T0806).
//!
//! The table is that of the open Tofino compiler (`bf-p4c/arch/check_extern_invocation.cpp`). Uses
//! the IR's calls.

use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Program, StmtKind, UnitId};
use sojourn_p4::visit;

/// The kind of each block of a pass, in their order.
const BLOCKS: [&str; 3] = ["parser", "control", "deparser"];

/// Checks the calls of a pass, whose three blocks are given.
pub fn check(program: &Program, pass: &[UnitId], found: &mut Vec<Diagnostic>) {
    for (unit, block) in pass.iter().zip(BLOCKS) {
        visit::unit_statements(program, *unit, &mut |stmt| {
            let StmtKind::Call(call) = &stmt.kind else { return };
            let of = call.object.map(|id| &*program.objects[id.index()].of);
            let Some(right) = blocks_of(of, &call.name) else { return };
            if !right.contains(&block) {
                let what = of.unwrap_or(&call.name);
                let message =
                    format!("`{what}` in a {block}: its place is a {}", right.join(" or a "));
                found.push(rules::EXTERN_BLOCK.refuse(call.span, message).into());
            }
        });
    }
}

/// Blocks in which an object or function may be called; none if there is no limit.
fn blocks_of(of: Option<&str>, function: &str) -> Option<&'static [&'static str]> {
    Some(match of.unwrap_or(function) {
        "Mirror" | "Resubmit" | "Digest" | "Pktgen" => &["deparser"],
        "Checksum" => &["parser", "deparser"],
        "ParserCounter" | "ParserPriority" | "port_metadata_unpack" => &["parser"],
        "is_validated" => &["control", "deparser"],
        "invalidate" | "min" | "max" => &["control"],
        "funnel_shift_right" => return None,
        _ if of.is_some() => &["control"],
        _ => return None,
    })
}
