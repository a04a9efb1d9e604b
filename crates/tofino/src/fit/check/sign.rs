//! Signs repeated over more than 16 bits (T1030), after `FormatHash` in
//! `bf-p4c/mau/hash_function.cpp`.
//!
//! A hash repeats the sign. What is looked at is what reaches a header, since the compiler drops
//! extensions into metadata whose upper bits nothing reads.

use super::values::{Evaluated, Executor};
use crate::fit::bits::{Bits, is_constant};
use crate::fit::live::header_fields;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Unit};

/// The most bits of a number whose sign is repeated.
const EXTENDED_BITS: u32 = 16;

/// Checks an expression that an instruction writes into a header.
pub fn check(unit: &Unit, evaluated: &Evaluated, found: &mut Vec<Diagnostic>) {
    let Executor::Instruction(Some(Bits { place, .. })) = evaluated.by else { return };
    let Some(headers) = unit.params.first() else { return };
    if header_fields(&headers.layout).contains(&place) {
        let expr = &evaluated.expr;
        if let Some(bits) = extended(expr, expr.scalar.width()) {
            let message = format!("repeats a sign over {bits} bits");
            found.push(rules::SIGN_EXTENDED.refuse(evaluated.at, message).into());
        }
    }
}

/// Bits up to which an expression, of which the lowest `wanted` bits are used, repeats a sign, if
/// they are too many.
fn extended(expr: &Expr, wanted: u32) -> Option<u32> {
    match &expr.kind {
        ExprKind::Cast(inner) => {
            let width = inner.scalar.width();
            let repeats = inner.scalar.is_signed() && wanted > width && !is_constant(inner);
            if repeats && wanted > EXTENDED_BITS {
                return Some(wanted);
            }
            extended(inner, wanted.min(width))
        }
        ExprKind::Slice(inner, low) => extended(inner, wanted + low),
        ExprKind::Binary(Binary::Add | Binary::Sub, a, b) => {
            extended(a, wanted).or_else(|| extended(b, wanted))
        }
        _ => None,
    }
}
