//! Memory size of a statement: one unit for the statement and one for each further [`EACH`] nodes
//! of its expressions or words of its constants.
//!
//! Inlining multiplies statements, and an expression within one may be as large as the program's
//! text. Nested statements are not counted: each was counted when it was created.

use crate::ir::{Arg, Expr, ExprKind, StmtKind, Value};

/// Number of expression nodes that count as one statement.
const EACH: u64 = 64;

/// Units of a statement.
pub(super) fn units(kind: &StmtKind) -> u32 {
    let nodes: u64 = match kind {
        StmtKind::Set(_, value)
        | StmtKind::SetWide(_, value)
        | StmtKind::SetSlice { value, .. }
        | StmtKind::SetWideSlice { value, .. } => expr(value),
        StmtKind::SetElement { index, value, .. }
        | StmtKind::SetWideElement { index, value, .. } => expr(index) + expr(value),
        StmtKind::If { condition, .. } => expr(condition),
        StmtKind::Switch { subject, cases, .. } => {
            let labels = cases.iter().flat_map(|(labels, _)| labels);
            expr(subject) + labels.map(|label| 1 + label.bits() / 64).sum::<u64>()
        }
        StmtKind::ExtractVar { bits, .. } | StmtKind::Advance { bits } => expr(bits),
        StmtKind::Verify { condition, error } => expr(condition) + expr(error),
        StmtKind::Call(call) => call.args.iter().map(arg).sum(),
        _ => 0,
    };
    u32::try_from(1 + nodes / EACH).unwrap_or(u32::MAX)
}

fn arg(arg: &Arg) -> u64 {
    match arg {
        Arg::In(given) => value(given),
        _ => 0,
    }
}

fn value(given: &Value) -> u64 {
    let all = |parts: &[Value]| parts.iter().map(value).sum::<u64>();
    match given {
        Value::Scalar(scalar) => expr(scalar),
        Value::VarBit(length, bits) => expr(length) + expr(bits),
        Value::Header { valid, fields, .. } => expr(valid) + all(fields),
        Value::Union { members: parts, .. } | Value::Struct { fields: parts, .. } => all(parts),
        Value::Stack { next, elements, .. } => expr(next) + all(elements),
        Value::String(text) => text.len() as u64 / 8,
    }
}

fn expr(of: &Expr) -> u64 {
    1 + match &of.kind {
        ExprKind::WideConst(number) => number.bits() / 64,
        ExprKind::Element { index: a, .. }
        | ExprKind::WideElement { index: a, .. }
        | ExprKind::Unary(_, a)
        | ExprKind::Slice(a, _)
        | ExprKind::Cast(a) => expr(a),
        ExprKind::Binary(_, a, b) | ExprKind::Guarded { valid: a, read: b } => expr(a) + expr(b),
        ExprKind::Mux(c, a, b) => expr(c) + expr(a) + expr(b),
        _ => 0,
    }
}
