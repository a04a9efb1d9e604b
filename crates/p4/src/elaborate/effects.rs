//! Side effects of expressions: their neighbours are saved in temporaries.

use crate::hir::{Arg, Callee, Expr, ExprKind, Object};

/// True if evaluating the expression may have side effects or end the parser.
pub(super) fn has_effects(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::InvalidHeader => false,
        ExprKind::Call(_) | ExprKind::ApplyTable(..) => true,
        ExprKind::StackNext(_) | ExprKind::StackLast(_) => true,
        ExprKind::Field(e, _)
        | ExprKind::Slice(e, ..)
        | ExprKind::StackLastIndex(e)
        | ExprKind::IsValid(e)
        | ExprKind::Unary(_, e)
        | ExprKind::Cast(e) => has_effects(e),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => has_effects(a) || has_effects(b),
        ExprKind::Mux(a, b, c) => has_effects(a) || has_effects(b) || has_effects(c),
        ExprKind::Aggregate(items) => items.iter().any(has_effects),
    }
}

/// The same for an argument.
pub(super) fn arg_has_effects(arg: &Arg) -> bool {
    match arg {
        Arg::In(e) | Arg::Out(e) | Arg::InOut(e) => has_effects(e),
        Arg::DontCare | Arg::Absent | Arg::Object(_) => false,
    }
}

/// True if the statements apply a sub-parser, which splits their state.
pub(super) fn applies_parser(
    stmts: &[crate::hir::Stmt],
    is_parser: &dyn Fn(&Object) -> bool,
) -> bool {
    use crate::hir::StmtKind;
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Call(call) => matches!(&call.callee, Callee::Apply(object) if is_parser(object)),
        StmtKind::If(_, a, b) => applies_parser(a, is_parser) || applies_parser(b, is_parser),
        StmtKind::Block(body)
        | StmtKind::For { body, .. }
        | StmtKind::ForRange { body, .. }
        | StmtKind::ForEach { body, .. } => applies_parser(body, is_parser),
        StmtKind::SwitchValue { cases, default, .. } => {
            cases.iter().any(|(_, body)| applies_parser(body, is_parser))
                || applies_parser(default, is_parser)
        }
        _ => false,
    })
}
