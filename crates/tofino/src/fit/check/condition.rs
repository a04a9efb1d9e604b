//! Limits of gateway conditions (T1001 to T1003), after `bf-p4c/mau/gateway.cpp`.

use super::gateway;
use super::instruction::{is_field, shifted};
use super::values::Evaluated;
use crate::constant_folding::constant;
use crate::fit::bits::is_constant;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Unary, Unit};
use sojourn_p4::visit;

/// Bits that a gateway can compare with `<` and its like.
const RANGE_BITS: u32 = 12;

/// Form of a comparison with `<`, `<=`, `>` or `>=` in a gateway.
#[derive(Debug, PartialEq, Eq)]
pub enum Order {
    /// It is always true or always false.
    Decided,
    /// It is an equality of the bits from this one up in disguise, such as `x > 0` or `x >= 4096`.
    Equality(u32),
    /// A range comparison of so many bits.
    Range(u32),
    /// Two fields.
    Fields,
}

/// Bits of range comparisons in a condition.
pub fn range_bits(condition: &Expr) -> u32 {
    let mut bits = 0;
    comparisons(condition, &mut |_, order| {
        if let Order::Range(width) = order {
            bits += width;
        }
    });
    bits
}

/// True for a cast to bits of the validity of a header. A field that holds a truth value is one bit.
fn counts_validity(unit: &Unit, expr: &Expr) -> bool {
    if let ExprKind::Cast(inner) = &expr.kind
        && let ExprKind::Slot(slot) = inner.kind
        && unit.validity_of(slot).is_some()
    {
        return true;
    }
    visit::operands(expr).into_iter().any(|operand| counts_validity(unit, operand))
}

/// Checks the condition of an `if` in `apply`.
pub fn check(unit: &Unit, evaluated: &Evaluated, found: &mut Vec<Diagnostic>) {
    let condition = &evaluated.expr;
    let before = found.len();
    comparisons(condition, &mut |comparison, order| match order {
        Order::Fields => {
            let message = "a condition orders two fields";
            found.push(rules::ORDER_OF_FIELDS.refuse(comparison.span, message).into());
        }
        Order::Range(width) if width > RANGE_BITS => {
            let message = format!("a condition orders a field of {width} bits");
            found.push(rules::RANGE_WIDTH.refuse(comparison.span, message).into());
        }
        _ => {}
    });
    if counts_validity(unit, condition) {
        let message = "a condition makes a number of the validity of a header";
        found.push(rules::CONDITION_ARITHMETIC.refuse(condition.span, message).into());
    }
    if evaluated.waits {
        let message = "a condition computes a minimum or maximum";
        found.push(rules::CONDITION_ARITHMETIC.refuse(condition.span, message).into());
    }
    if has_choice(condition) {
        let message = "a condition chooses between two values";
        found.push(rules::CONDITION_ARITHMETIC.refuse(condition.span, message).into());
    }
    if found.len() > before {
        return;
    }
    if !is_test(condition) {
        let message = match evaluated.from {
            Some(_) => "a condition on what a statement of `apply` computes is one that computes",
            None => "a condition computes",
        };
        let refused = rules::CONDITION_ARITHMETIC.refuse(evaluated.at, message);
        found.push(match evaluated.from {
            Some(first) => refused.with_place(first, "computed here").into(),
            None => refused.into(),
        });
        return;
    }
    gateway::check(unit, condition, found);
}

fn has_choice(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Mux(..)) || visit::operands(expr).into_iter().any(has_choice)
}

/// True for a condition of comparisons of fields.
fn is_test(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(Binary::And | Binary::Or, a, b) => is_test(a) && is_test(b),
        ExprKind::Unary(Unary::Not, a) => is_test(a),
        ExprKind::Binary(op, a, b) if is_comparison(*op) => is_comparable(a) && is_comparable(b),
        ExprKind::Cast(a) if a.scalar.width() == expr.scalar.width() => is_test(a),
        _ => is_comparable(expr),
    }
}

fn is_comparison(op: Binary) -> bool {
    matches!(op, Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge)
}

/// True for what a comparison reads: fields, with a constant that masks or sets bits.
fn is_comparable(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(Binary::BitAnd | Binary::BitOr, a, b) => {
            is_constant(a) && is_comparable(b) || is_constant(b) && is_comparable(a)
        }
        // A mask of the low bits.
        ExprKind::Binary(Binary::Mod, a, b) => constant(b).is_some() && is_comparable(a),
        ExprKind::Binary(Binary::Concat, a, b) => is_comparable(a) && is_comparable(b),
        // The compiler overlooks the sign.
        ExprKind::Unary(Unary::Negate, a) => is_comparable(a),
        ExprKind::Slice(a, _) if shifted(expr).is_none() => is_comparable(a),
        ExprKind::Cast(a)
            if shifted(expr).is_none()
                && (!a.scalar.is_signed() || expr.scalar.width() <= a.scalar.width()) =>
        {
            is_comparable(a)
        }
        _ => is_field(expr),
    }
}

fn comparisons<'e>(expr: &'e Expr, see: &mut dyn FnMut(&'e Expr, Order)) {
    if let ExprKind::Binary(op @ (Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge), a, b) =
        &expr.kind
    {
        see(expr, order(*op, a, b));
        return;
    }
    visit::operands(expr).into_iter().for_each(|operand| comparisons(operand, see));
}

/// The kind of a comparison with `<`, `<=`, `>` or `>=`.
pub fn order(op: Binary, a: &Expr, b: &Expr) -> Order {
    let (op, field, constant) = match (is_constant(a), is_constant(b)) {
        (_, true) => (op, a, b),
        (true, false) => (mirrored(op), b, a),
        (false, false) => return Order::Fields,
    };
    let ExprKind::Const(value) = constant.kind else { return Order::Decided };
    // `x > k` is `x >= k + 1`, `x <= k` is `x < k + 1`.
    let bound = match op {
        Binary::Gt | Binary::Le => value.saturating_add(1),
        _ => value,
    };
    let width = field_width(field);
    if field.scalar.is_signed() {
        let wraps = bound >> field.scalar.width().min(127) != 0;
        let sign = field.scalar.width().saturating_sub(1);
        return if bound == 0 || wraps { Order::Equality(sign) } else { Order::Range(width) };
    }
    // The zero bits at the bottom of the constant need not be compared.
    let shift = bound.trailing_zeros();
    if bound == 0 || shift >= width {
        return Order::Decided;
    }
    if bound >> shift == 1 {
        return Order::Equality(shift);
    }
    Order::Range(width - shift)
}

/// Width of a field before it was made wider.
pub fn field_width(field: &Expr) -> u32 {
    match &field.kind {
        ExprKind::Cast(inner) if inner.scalar.width() < field.scalar.width() => field_width(inner),
        _ => field.scalar.width(),
    }
}

fn mirrored(op: Binary) -> Binary {
    match op {
        Binary::Lt => Binary::Gt,
        Binary::Le => Binary::Ge,
        Binary::Gt => Binary::Lt,
        Binary::Ge => Binary::Le,
        other => other,
    }
}
