//! Addresses of registers, counters and meters (T1018), after
//! `bf-p4c/mau/instruction_selection.cpp`.
//!
//! An address is a constant, action data or a field, which the hash unit brings to the memory. It
//! brings a concatenation, too, with XOR and constant masks inside. An address that `apply` computes
//! is written into the call and refused as well; the result of an action is a field. The result of
//! another memory is none where it is written into the call.

use super::instruction::{is_field, is_hashed};
use super::values::Evaluated;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Unary};

/// Bits that the hash unit computes.
const HASH_BITS: u32 = 51;

/// Checks an address.
pub fn check(evaluated: &Evaluated, found: &mut Vec<Diagnostic>) {
    if evaluated.waits || !is_address(&evaluated.expr) {
        let message = "an address that is computed";
        let refused = rules::COMPUTED_INDEX.refuse(evaluated.at, message);
        found.push(match evaluated.from {
            Some(first) => refused.with_place(first, "computed here").into(),
            None => refused.into(),
        });
    }
}

fn is_address(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(Binary::Concat, ..) => expr.scalar.width() <= HASH_BITS && is_hashed(expr),
        ExprKind::Cast(a) if a.scalar.width() == expr.scalar.width() => is_address(a),
        ExprKind::Unary(Unary::Negate, a) => is_field(a),
        _ => is_field(expr),
    }
}
