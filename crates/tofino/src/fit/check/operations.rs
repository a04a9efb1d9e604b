//! Operations that no unit of the chip supports, in any position (T1005, T1006, T1008).

use crate::fit::bits::is_constant;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind};
use sojourn_p4::visit;

/// Sizes of containers, in bits.
pub const CONTAINERS: [u32; 3] = [8, 16, 32];

/// Checks an expression with the compiler's known constants substituted.
pub fn check(expr: &Expr, found: &mut Vec<Diagnostic>) {
    check_saturation(expr, found);
    operations(expr, found);
}

fn operations(expr: &Expr, found: &mut Vec<Diagnostic>) {
    if let ExprKind::Binary(op, a, b) = &expr.kind {
        match op {
            Binary::Mul if !is_power_of_two(a) && !is_power_of_two(b) => {
                let message = "a multiplication";
                found.push(rules::MULTIPLICATION.refuse(expr.span, message).into());
            }
            Binary::Div | Binary::Mod if !is_power_of_two(b) => {
                let message = "a division";
                found.push(rules::MULTIPLICATION.refuse(expr.span, message).into());
            }
            Binary::Shl | Binary::Shr if !is_constant(b) => {
                let message = "a shift by a field";
                found.push(rules::VARIABLE_SHIFT.refuse(expr.span, message).into());
            }
            _ => {}
        }
    }
    visit::operands(expr).into_iter().for_each(|operand| operations(operand, found));
}

/// Saturating arithmetic of another width than a container has.
fn check_saturation(expr: &Expr, found: &mut Vec<Diagnostic>) {
    let width = expr.scalar.width();
    if let ExprKind::Binary(Binary::SatAdd | Binary::SatSub, ..) = expr.kind
        && !CONTAINERS.contains(&width)
    {
        let message = format!("saturating arithmetic of {width} bits");
        found.push(rules::SATURATING_WIDTH.refuse(expr.span, message).into());
        return;
    }
    visit::operands(expr).into_iter().for_each(|operand| check_saturation(operand, found));
}

fn is_power_of_two(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(value) if value.is_power_of_two() || value == 0)
}
