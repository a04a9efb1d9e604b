//! What a deparser may ask for when it makes copies: `Mirror`, `Resubmit`, `Digest` (rules T0903,
//! T0904).
//!
//! Stands on the IR of a deparser. The forms are those that the open-source Tofino back end
//! accepts (`parde/extract_deparser.cpp`, `midend/simplify_nested_if.cpp`); what it may rewrite into
//! one of them is let through. Lengths are checked where the runtime is prepared.

use super::rules;
use crate::visit;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, Binary, Body, Expr, ExprKind, ExternCall, ObjectArg, Program, Scalar, Stmt, StmtKind,
    Unary, UnitId, Value,
};

/// A condition that holds or does not hold on the way to a statement.
type Condition<'p> = (&'p Expr, bool);

/// Diagnostics about the copies that a deparser makes.
pub fn check(program: &Program, deparser: UnitId) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Body::Control { stmts, .. } = &program.units[deparser.index()].body {
        walk(program, stmts, &mut Vec::new(), &mut found);
    }
    found
}

fn walk<'p>(
    program: &Program,
    stmts: &'p [Stmt],
    conditions: &mut Vec<Condition<'p>>,
    found: &mut Vec<Diagnostic>,
) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                for (list, truth) in [(then, true), (otherwise, false)] {
                    conditions.push((condition, truth));
                    walk(program, list, conditions, found);
                    conditions.pop();
                }
            }
            StmtKind::Call(call) => {
                if let Some((typed, fields)) = copy(program, call) {
                    if !typed {
                        check_conditions(call, conditions, found);
                    }
                    fields.into_iter().for_each(|fields| check_fields(fields, found));
                }
            }
            _ => {
                for list in visit::inner_lists(stmt) {
                    walk(program, list, conditions, found);
                }
            }
        }
    }
}

/// If a call makes a copy: whether its object already says for which type, and what is copied.
fn copy<'p>(program: &Program, call: &'p ExternCall) -> Option<(bool, Option<&'p Value>)> {
    let object = &program.objects[call.object?.index()];
    let data = match (&*object.of, &*call.name) {
        ("Mirror", "emit") => 1,
        ("Resubmit", "emit") | ("Digest", "pack") => 0,
        _ => return None,
    };
    let typed = object.args.iter().any(|(_, arg)| matches!(arg, ObjectArg::Const(_)));
    let fields = match call.args.get(data) {
        Some(Arg::In(value)) => Some(value),
        _ => None,
    };
    Some((typed, fields))
}

fn check_conditions(call: &ExternCall, conditions: &[Condition<'_>], found: &mut Vec<Diagnostic>) {
    if conditions.is_empty() {
        let message = "a copy that is made for every packet";
        found.push(rules::COPY_CONDITION.refuse(call.span, message).into());
        return;
    }
    let several = conditions.len() > 1;
    let wrong = conditions.iter().find(|(condition, truth)| !allowed(condition, *truth, several));
    if let Some((condition, _)) = wrong {
        let message = "this condition decides about a copy and is no `type == constant`";
        let refused = rules::COPY_CONDITION.refuse(condition.span, message);
        found.push(refused.with_place(call.span, "the copy").into());
    }
}

/// True for conditions that lead to a lookup by type; `several` if others hold beside it.
fn allowed(condition: &Expr, truth: bool, several: bool) -> bool {
    match &condition.kind {
        ExprKind::Binary(Binary::Eq, a, b) => is_constant(a) || is_constant(b),
        ExprKind::Binary(Binary::Ne, a, b) => {
            (several || !truth) && (is_constant(a) || is_constant(b))
        }
        ExprKind::Binary(Binary::And, a, b) => allowed(a, truth, true) && allowed(b, truth, true),
        ExprKind::Unary(Unary::Not, inner) => allowed(inner, !truth, several),
        ExprKind::Slot(_) | ExprKind::Const(_) => condition.scalar == Scalar::Bool,
        _ => false,
    }
}

fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) => true,
        ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => is_constant(inner),
        _ => false,
    }
}

fn check_fields(value: &Value, found: &mut Vec<Diagnostic>) {
    match value {
        Value::Scalar(Expr { kind: ExprKind::Const(constant), span, .. }) if *constant != 0 => {
            let message = format!("the constant {constant} among the fields of a copy");
            found.push(rules::COPY_CONSTANT.refuse(*span, message).into());
        }
        Value::Header { fields: parts, .. } | Value::Struct { fields: parts, .. } => {
            parts.iter().for_each(|part| check_fields(part, found));
        }
        _ => {}
    }
}
