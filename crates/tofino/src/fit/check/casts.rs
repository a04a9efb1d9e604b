//! Casts of casts (T1026), after `bf-p4c/midend/elim_cast.cpp`.
//!
//! The compiler merges a cast with the one inside it before it propagates values, so that the
//! statements are looked at as the program has them.

use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ExprKind, Program, Scalar, UnitId};
use sojourn_p4::visit;

/// Refuses nested casts that the compiler does not merge.
pub fn check(program: &Program, unit: UnitId, found: &mut Vec<Diagnostic>) {
    visit::unit_statements(program, unit, &mut |stmt| {
        visit::expressions(stmt).into_iter().for_each(|expr| casts(expr, found));
    });
    for table in program.tables.iter().filter(|table| table.unit == unit) {
        table.keys.iter().for_each(|key| casts(&key.expr, found));
    }
}

fn casts(expr: &Expr, found: &mut Vec<Diagnostic>) {
    if let ExprKind::Cast(inner) = &expr.kind
        && let ExprKind::Cast(source) = &inner.kind
    {
        let message = if matches!(source.kind, ExprKind::Cast(_)) {
            Some("three casts in one another")
        } else {
            widens_cut([expr, inner, source]).then_some("a cast widens what another cast has cut")
        };
        if let Some(message) = message {
            found.push(rules::NESTED_CASTS.refuse(expr.span, message).into());
            return;
        }
    }
    visit::operands(expr).into_iter().for_each(|operand| casts(operand, found));
}

fn widens_cut(casts: [&Expr; 3]) -> bool {
    let [Scalar::Bit(outer), Scalar::Bit(inner), Scalar::Bit(source)] =
        casts.map(|cast| cast.scalar)
    else {
        return false;
    };
    outer > inner && inner < source
}
