//! Instructions that wait for each other in one action (T1004, T1012), after
//! `bf-p4c/mau/instruction_selection.cpp`.
//!
//! Each operation of an expression is an instruction, and an action runs all of its instructions at
//! once. So an expression has one operation at most. These are no operations of their own:
//!
//! | form | becomes |
//! |---|---|
//! | slices, casts, concatenations | moves |
//! | a slice of a shift by a constant | a slice |
//! | `~` of an operand or of the result of `&`, a bitwise or, `^` | one instruction such as `nor` |
//! | two values under masks that share no bit | two moves |

use super::choice;
use super::values::Evaluated;
use crate::constant_folding::constant;
use crate::fit::bits::is_constant;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Unary, Unit};

/// Checks an expression that an action computes.
pub fn check(unit: &Unit, evaluated: &Evaluated, found: &mut Vec<Diagnostic>) {
    let before = found.len();
    choice::check(unit, evaluated, found);
    if found.len() == before {
        found.extend(fault(evaluated));
    }
}

/// The fault of an expression that takes more than one step.
fn fault(evaluated: &Evaluated) -> Option<Diagnostic> {
    let expr = &evaluated.expr;
    let outer = u32::from(evaluated.of_extreme);
    let waits = evaluated.waits && steps(expr) + outer > 0;
    if waits && (evaluated.in_action || evaluated.from.is_none()) {
        let message = "an instruction reads what another instruction of its action computes";
        return Some(rules::DEPENDENT_STEPS.refuse(evaluated.at, message).into());
    }
    if !waits && assigned_steps(expr) + outer < 2 {
        return None;
    }
    let (rule, message) = match (evaluated.in_action, evaluated.from) {
        (true, _) => (&rules::DEPENDENT_STEPS, "two steps that need each other in one action"),
        (false, Some(_)) => (
            &rules::NEIGHBOURS,
            "computes with a result that another statement of `apply` computes",
        ),
        (false, None) => {
            (&rules::DEPENDENT_STEPS, "two steps that need each other in one assignment")
        }
    };
    let refused = rule.refuse(evaluated.at, message);
    Some(match evaluated.from {
        Some(first) => {
            refused.with_label("the second step").with_place(first, "the first step").into()
        }
        None => refused.into(),
    })
}

/// [`steps`] of the right side of an assignment.
pub fn assigned_steps(expr: &Expr) -> u32 {
    match &expr.kind {
        ExprKind::Binary(Binary::BitOr, a, b) => match (masked(a), masked(b)) {
            (Some((a, x)), Some((b, y))) if x & y == 0 => assigned_steps(a).max(assigned_steps(b)),
            _ => steps(expr),
        },
        _ => steps(expr),
    }
}

/// Number of instructions in sequence that compute an expression; 0 for a plain move.
pub fn steps(expr: &Expr) -> u32 {
    match &expr.kind {
        ExprKind::Cast(a) | ExprKind::Slice(a, _) => match shifted(expr) {
            Some(inner) => steps(inner),
            None => steps(a),
        },
        ExprKind::Guarded { read, .. } => steps(read),
        ExprKind::Unary(Unary::Not, a) => steps(a),
        ExprKind::Unary(Unary::Complement, a) if is_bitwise(a) => steps(a),
        ExprKind::Unary(_, a) => 1 + steps(a),
        ExprKind::Binary(op, a, b) => match op {
            Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
                1 + steps(complemented(a)).max(steps(complemented(b)))
            }
            Binary::Concat
            | Binary::And
            | Binary::Or
            | Binary::Eq
            | Binary::Ne
            | Binary::Lt
            | Binary::Le
            | Binary::Gt
            | Binary::Ge => steps(a).max(steps(b)),
            _ => 1 + steps(a).max(steps(b)),
        },
        ExprKind::Mux(_, a, b) => steps(a).max(steps(b)),
        _ => 0,
    }
}

/// The operand of a shift by a constant of which a narrower part is taken: what the compiler makes
/// a slice of the operand.
pub fn shifted(part: &Expr) -> Option<&Expr> {
    let (inner, low) = match &part.kind {
        ExprKind::Slice(inner, low) => (inner, *low),
        ExprKind::Cast(inner) if part.scalar.width() < inner.scalar.width() => (inner, 0),
        _ => return None,
    };
    let ExprKind::Binary(op @ (Binary::Shl | Binary::Shr), of, by) = &inner.kind else {
        return None;
    };
    let by = u32::try_from(constant(by)?).ok()?;
    match op {
        Binary::Shl => Some(of),
        _ => {
            let top = low.checked_add(part.scalar.width())?.checked_add(by)?;
            (!of.scalar.is_signed() && top <= of.scalar.width()).then_some(of)
        }
    }
}

fn is_bitwise(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Binary(Binary::BitAnd | Binary::BitOr | Binary::BitXor, ..))
}

/// An operand without the `~` that a bitwise instruction does by itself.
fn complemented(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Unary(Unary::Complement, inner) => inner,
        _ => expr,
    }
}

/// The operand and mask of an `&` with a constant.
fn masked(expr: &Expr) -> Option<(&Expr, u128)> {
    let ExprKind::Binary(Binary::BitAnd, a, b) = &expr.kind else { return None };
    match (constant(a), constant(b)) {
        (_, Some(mask)) => Some((a, mask)),
        (Some(mask), _) => Some((b, mask)),
        _ => None,
    }
}

/// True for what the hash unit computes by itself, as part of a concatenation: bits of fields, moved,
/// masked by constants and XOR-ed.
pub fn is_hashed(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Cast(a) | ExprKind::Slice(a, _) => is_hashed(a),
        ExprKind::Binary(Binary::Concat | Binary::BitXor, a, b) => is_hashed(a) && is_hashed(b),
        ExprKind::Binary(Binary::BitAnd | Binary::BitOr, a, b) => {
            is_constant(a) && is_hashed(b) || is_constant(b) && is_hashed(a)
        }
        _ => is_field(expr),
    }
}

/// True for what one crossbar byte after the other brings to a comparison or a hash: a field, a part
/// of one, or one made wider with zeros.
pub fn is_field(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Slot(_)
        | ExprKind::WideSlot(_)
        | ExprKind::Element { .. }
        | ExprKind::WideElement { .. }
        | ExprKind::Lookahead { .. } => true,
        ExprKind::Guarded { read, .. } => is_field(read),
        ExprKind::Slice(..) | ExprKind::Cast(_) if shifted(expr).is_some() => {
            shifted(expr).is_some_and(is_field)
        }
        // The sign is repeated by an instruction or a hash.
        ExprKind::Cast(a) if a.scalar.is_signed() && a.scalar.width() < expr.scalar.width() => {
            false
        }
        ExprKind::Cast(a) | ExprKind::Slice(a, _) => is_field(a),
        _ => is_constant(expr),
    }
}
