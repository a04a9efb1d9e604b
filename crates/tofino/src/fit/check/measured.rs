//! Inputs of filters, and colours that meters start from (T1029), after `MeterSetup` in
//! `bf-p4c/mau/instruction_selection.cpp`.
//!
//! A field of the packet or metadata, the same in all calls of an object. Constants, action data
//! and what an action computes are none.

use super::instruction::is_field;
use super::values::{Evaluated, Executor};
use crate::fit::bits::is_constant;
use crate::register_action::same_expression;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ExprKind, ObjectId};
use std::collections::HashMap;

/// Checks the evaluations of a control.
pub fn check(all: &[&Evaluated], found: &mut Vec<Diagnostic>) {
    let mut first: HashMap<ObjectId, &Evaluated> = HashMap::new();
    for evaluated in all {
        let Executor::Measured(object) = evaluated.by else { continue };
        if !is_packet_field(evaluated) {
            let message = "a filter or meter takes in what is no field";
            found.push(rules::MEASURED_FIELD.refuse(evaluated.at, message).into());
            continue;
        }
        let other = *first.entry(object).or_insert(evaluated);
        if !same_expression(whole(&other.expr), whole(&evaluated.expr)) {
            let message = "a filter or meter takes in a second field";
            let refused = rules::MEASURED_FIELD.refuse(evaluated.at, message);
            found.push(refused.with_place(other.at, "takes in another one here").into());
        }
    }
}

fn is_packet_field(evaluated: &Evaluated) -> bool {
    let field = whole(&evaluated.expr);
    let is_data = matches!(field.kind, ExprKind::Slot(slot) if evaluated.data.contains(&slot));
    is_field(field) && !is_constant(field) && !is_data && !evaluated.waits
}

/// The field of which an expression is a part.
fn whole(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => whole(inner),
        _ => expr,
    }
}
