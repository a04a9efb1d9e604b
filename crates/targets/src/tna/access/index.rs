//! One index for all registers and meters of a table action (rule T0704).

use super::super::register_action::same_expression;
use super::super::rules;
use crate::visit;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Arg, Expr, ExternCall, Program, StmtKind, Value};

/// Diagnostics about table actions that use registers or meters at different indices.
pub fn check_indices(program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for action in program.tables.iter().flat_map(|table| &table.actions) {
        let mut first: Option<&Expr> = None;
        visit::statements(&action.body, &mut |stmt| {
            let StmtKind::Call(call) = &stmt.kind else { return };
            let Some(index) = index_of(program, call) else { return };
            match first {
                Some(other) if !same_expression(other, index) => {
                    let message = "two indices for registers or meters in one table action";
                    let refused = rules::ONE_INDEX.refuse(index.span, message);
                    found.push(refused.with_place(other.span, "the other index").into());
                }
                Some(_) => {}
                None => first = Some(index),
            }
        });
    }
    found
}

/// The index of an access to an indexed register or meter.
pub(crate) fn index_of<'p>(program: &Program, call: &'p ExternCall) -> Option<&'p Expr> {
    let object = &program.objects[call.object?.index()];
    match (&*object.of, &*call.name) {
        ("RegisterAction" | "Meter", "execute") | ("Register", "read" | "write") => {}
        _ => return None,
    }
    match call.args.first()? {
        Arg::In(Value::Scalar(index)) => Some(index),
        _ => None,
    }
}
