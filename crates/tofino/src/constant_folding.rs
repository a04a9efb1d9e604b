//! Constant folding and strength reduction of expressions, as far as they decide whether the chip
//! can execute one: in controls (`fit::check`), parsers and deparsers (`parde`). The rules are
//! those of p4c's `ConstantFolding` and `StrengthReduction`. Must not depend on the unit that
//! executes them.

use sojourn_p4::interp::arith;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Scalar, Unary};

/// Folds an expression in place.
pub fn fold(expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Slice(a, _) => fold(a),
        ExprKind::Binary(_, a, b) => {
            fold(a);
            fold(b);
        }
        ExprKind::Mux(c, a, b) => {
            fold(c);
            fold(a);
            fold(b);
        }
        ExprKind::Element { index, .. } | ExprKind::WideElement { index, .. } => fold(index),
        _ => return,
    }
    if !expr.scalar.is_narrow() {
        return;
    }
    if let Some(kind) = folded(expr) {
        expr.kind = kind;
    }
}

/// Joins the constants of `(x + 5) + 7` and its like, as the compiler does before it writes values of
/// variables into expressions.
pub fn reassociate(expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Slice(a, _) => reassociate(a),
        ExprKind::Binary(_, a, b) => {
            reassociate(a);
            reassociate(b);
        }
        ExprKind::Mux(c, a, b) => {
            reassociate(c);
            reassociate(a);
            reassociate(b);
        }
        _ => return,
    }
    fold(expr);
    if let Some(kind) = joined(expr) {
        expr.kind = kind;
    }
}

/// `x op (a op b)` for `(x op a) op b`, the sum of two counts for two shifts; differences are sums with the opposite number.
fn joined(expr: &Expr) -> Option<ExprKind> {
    let ExprKind::Binary(outer, inner, b) = &expr.kind else { return None };
    let ExprKind::Binary(op, x, a) = &inner.kind else { return None };
    if outer == op && matches!(op, Binary::Shl | Binary::Shr) {
        let count = constant(a)?.checked_add(constant(b)?)?;
        let kind = ExprKind::Const(count);
        let scalar = Scalar::Bit(128);
        return Some(ExprKind::Binary(
            *op,
            x.clone(),
            Box::new(Expr { kind, scalar, ..(**b).clone() }),
        ));
    }
    let sums = |op: &Binary| matches!(op, Binary::Add | Binary::Sub);
    let same = sums(outer) && sums(op)
        || outer == op
            && matches!(op, Binary::Mul | Binary::BitOr | Binary::BitAnd | Binary::BitXor);
    if !same || !expr.scalar.is_narrow() {
        return None;
    }
    let number = |op: &Binary, of: &Expr| {
        constant(of).map(|value| if *op == Binary::Sub { value.wrapping_neg() } else { value })
    };
    let (a, b_value) = (number(op, a)?, number(outer, b)?);
    let by = if sums(op) { Binary::Add } else { *op };
    let value = arith::binary(by, expr.scalar, b.scalar.width(), a, b_value);
    let value = ExprKind::Const(value & arith::mask(expr.scalar.width()));
    Some(ExprKind::Binary(by, x.clone(), Box::new(Expr { kind: value, ..(**b).clone() })))
}

/// The simpler form of an expression whose operands are folded.
fn folded(expr: &Expr) -> Option<ExprKind> {
    let known = |value: u128| Some(ExprKind::Const(value & arith::mask(expr.scalar.width())));
    match &expr.kind {
        ExprKind::Cast(a) => known(arith::cast(a.scalar, expr.scalar.width(), constant(a)?)),
        ExprKind::Slice(a, low) => known(constant(a)?.checked_shr(*low).unwrap_or(0)),
        ExprKind::Unary(Unary::Not, a) => known(u128::from(constant(a)? == 0)),
        ExprKind::Unary(Unary::Complement, a) => known(!constant(a)?),
        ExprKind::Unary(Unary::Negate, a) => known(constant(a)?.wrapping_neg()),
        ExprKind::Mux(c, a, b) => {
            let taken = if constant(c)? == 0 { b } else { a };
            Some(taken.kind.clone())
        }
        ExprKind::Binary(op, a, b) => match (constant(a), constant(b)) {
            (Some(x), Some(y)) if a.scalar.is_narrow() && b.scalar.is_narrow() => {
                known(arith::binary(*op, a.scalar, b.scalar.width(), x, y))
            }
            (x, y) => reduced(*op, (a, x), (b, y)),
        },
        _ => None,
    }
}

/// An operation of which one operand is known.
fn reduced(
    op: Binary,
    (a, x): (&Expr, Option<u128>),
    (b, y): (&Expr, Option<u128>),
) -> Option<ExprKind> {
    let zero = Some(ExprKind::Const(0));
    let all = arith::mask(a.scalar.width());
    match (op, x, y) {
        (Binary::BitAnd, Some(x), _) if x == all => Some(b.kind.clone()),
        (Binary::BitAnd, _, Some(y)) if y == all => Some(a.kind.clone()),
        (Binary::Mul | Binary::BitAnd | Binary::And, Some(0), _)
        | (Binary::Mul | Binary::BitAnd | Binary::And, _, Some(0))
        | (Binary::Div | Binary::Mod | Binary::Shl | Binary::Shr, Some(0), _)
        | (Binary::Mod, _, Some(1)) => zero,
        (Binary::Mul | Binary::And, Some(1), _)
        | (
            Binary::Add | Binary::SatAdd | Binary::BitOr | Binary::BitXor | Binary::Or,
            Some(0),
            _,
        ) => Some(b.kind.clone()),
        (Binary::Mul | Binary::Div | Binary::And, _, Some(1))
        | (
            Binary::Add
            | Binary::SatAdd
            | Binary::Sub
            | Binary::SatSub
            | Binary::Shl
            | Binary::Shr
            | Binary::BitOr
            | Binary::BitXor
            | Binary::Or,
            _,
            Some(0),
        ) => Some(a.kind.clone()),
        (Binary::Or, Some(1), _) | (Binary::Or, _, Some(1)) => Some(ExprKind::Const(1)),
        _ => None,
    }
}

/// The constant that an expression is.
pub fn constant(expr: &Expr) -> Option<u128> {
    match expr.kind {
        ExprKind::Const(value) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_p4::ir::Slot;
    use sojourn_p4::source::Span;

    fn expr(kind: ExprKind, scalar: Scalar) -> Box<Expr> {
        Box::new(Expr { kind, scalar, span: Span::DUMMY })
    }

    fn folded_binary(op: Binary, a: ExprKind, b: ExprKind) -> ExprKind {
        let byte = |kind| expr(kind, Scalar::Bit(8));
        let mut folded = expr(ExprKind::Binary(op, byte(a), byte(b)), Scalar::Bit(8));
        fold(&mut folded);
        folded.kind
    }

    #[test]
    fn an_operation_on_constants_is_a_constant() {
        let sum = folded_binary(Binary::Add, ExprKind::Const(250), ExprKind::Const(10));
        assert!(matches!(sum, ExprKind::Const(4)), "{sum:?}");
    }

    #[test]
    fn a_product_with_one_is_its_other_operand() {
        let field = || ExprKind::Slot(Slot(3));
        for product in [
            folded_binary(Binary::Mul, ExprKind::Const(1), field()),
            folded_binary(Binary::Mul, field(), ExprKind::Const(1)),
        ] {
            assert!(matches!(product, ExprKind::Slot(Slot(3))), "{product:?}");
        }
    }

    #[test]
    fn a_mask_of_all_bits_has_no_effect() {
        let field = folded_binary(Binary::BitAnd, ExprKind::Slot(Slot(3)), ExprKind::Const(0xff));
        assert!(matches!(field, ExprKind::Slot(Slot(3))), "{field:?}");
    }

    #[test]
    fn a_negative_constant_is_extended_by_a_cast() {
        let small = expr(ExprKind::Const(0xf), Scalar::Int(4));
        let mut cast = expr(ExprKind::Cast(small), Scalar::Int(8));
        fold(&mut cast);
        assert!(matches!(cast.kind, ExprKind::Const(0xff)), "{cast:?}");
    }
}
