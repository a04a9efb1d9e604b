//! What a gateway can decide (T1001 to T1003): `bf-p4c/mau/gateway.cpp` has the rules.

use super::Known;
use crate::fit::bits::{compares_sum, is_condition, is_constant, steps};
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Stmt, StmtKind};
use sojourn_p4::visit;

/// Bits that a gateway can compare with `<` and its like.
const RANGE_BITS: u32 = 12;

/// What a comparison with `<`, `<=`, `>` or `>=` asks of a gateway.
#[derive(Debug, PartialEq, Eq)]
enum Order {
    /// Nothing: it is an equality in disguise, such as `x > 0` or `x >= 4096`.
    Equality,
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

/// Checks all conditions of a control, those of inner statements included.
pub fn check(stmts: &[Stmt], known: &Known, found: &mut Vec<Diagnostic>) {
    visit::statements(stmts, &mut |stmt| match &stmt.kind {
        StmtKind::If { condition, .. } => check_condition(condition, known, found),
        StmtKind::Set(_, value) if is_condition(value) => check_condition(value, known, found),
        _ => {}
    });
}

fn check_condition(condition: &Expr, known: &Known, found: &mut Vec<Diagnostic>) {
    comparisons(condition, &mut |comparison, order| match order {
        Order::Fields if visit::operands(comparison).iter().any(|o| known.may_be_constant(o)) => {}
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
    if steps(condition) > 0 && !has_order_of_fields(condition) && !compares_sum(condition) {
        let message = "a condition computes; a step before it is assumed for the estimate";
        found.push(rules::CONDITION_ARITHMETIC.warning(condition.span, message));
    }
}

fn has_order_of_fields(condition: &Expr) -> bool {
    let mut found = false;
    comparisons(condition, &mut |_, order| found |= order == Order::Fields);
    found
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

fn order(op: Binary, a: &Expr, b: &Expr) -> Order {
    let (op, field, constant) = match (is_constant(a), is_constant(b)) {
        (_, true) => (op, a, b),
        (true, false) => (mirrored(op), b, a),
        (false, false) => return Order::Fields,
    };
    let ExprKind::Const(value) = constant.kind else { return Order::Equality };
    // `x > k` is `x >= k + 1`, `x <= k` is `x < k + 1`.
    let bound = match op {
        Binary::Gt | Binary::Le => value.saturating_add(1),
        _ => value,
    };
    let width = field_width(field);
    if field.scalar.is_signed() {
        let wraps = bound >> field.scalar.width().min(127) != 0;
        return if bound == 0 || wraps { Order::Equality } else { Order::Range(width) };
    }
    // The zero bits at the bottom of the constant need not be compared.
    let shift = bound.trailing_zeros();
    if bound == 0 || bound >> shift == 1 || shift >= width {
        return Order::Equality;
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
