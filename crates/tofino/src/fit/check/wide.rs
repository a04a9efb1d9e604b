//! Arithmetic of more bits than a container has (T1009), after
//! `bf-p4c/phv/cluster_phv_operations.cpp`.
//!
//! A carry goes from one container of 32 bits to its neighbour, and no further. A header's field
//! fills its containers, so its size is a multiple of 32; the layout of a variable is fixed.

use super::values::{Evaluated, Executor};
use crate::fit::bits::{Bits, Copies, Place};
use crate::fit::live::header_fields;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Unit};
use sojourn_p4::visit;

/// The widest container.
const CONTAINER_BITS: u32 = 32;
/// Two of them.
const PAIR_BITS: u32 = 64;

/// Checks the sums and differences of an expression.
pub fn check(unit: &Unit, evaluated: &Evaluated, found: &mut Vec<Diagnostic>) {
    let target = match evaluated.by {
        Executor::Instruction(target) => target,
        _ => None,
    };
    sums(unit, &evaluated.expr, evaluated.expr.scalar.width(), target, found);
}

/// The sums of which `wanted` bits are used, and the variable that gets the result.
fn sums(unit: &Unit, expr: &Expr, wanted: u32, target: Option<Bits>, found: &mut Vec<Diagnostic>) {
    match &expr.kind {
        ExprKind::Cast(inner) => {
            sums(unit, inner, wanted.min(inner.scalar.width()), target, found);
        }
        ExprKind::Slice(inner, low) => sums(unit, inner, wanted + low, None, found),
        ExprKind::Binary(Binary::Add | Binary::Sub, ..) if wanted > CONTAINER_BITS => {
            let message = format!("arithmetic of {wanted} bits");
            found.push(match wanted > PAIR_BITS || uneven(unit, expr, target) {
                true => rules::WIDE_ARITHMETIC.refuse(expr.span, message).into(),
                false => rules::WIDE_ARITHMETIC.warning(expr.span, message),
            });
        }
        _ => {
            for operand in visit::operands(expr) {
                sums(unit, operand, operand.scalar.width(), None, found);
            }
        }
    }
}

/// True if a header's field of another size than whole containers takes part.
fn uneven(unit: &Unit, sum: &Expr, target: Option<Bits>) -> bool {
    let Some(headers) = unit.params.first() else { return false };
    let fields: Vec<Place> = header_fields(&headers.layout);
    let mut taking_part: Vec<Bits> = target.into_iter().collect();
    Copies::default().read_all(sum, &mut |bits| taking_part.push(bits));
    taking_part.iter().any(|bits| {
        bits.width() > CONTAINER_BITS
            && bits.variable(unit).width() % CONTAINER_BITS != 0
            && fields.contains(&bits.place)
    })
}
