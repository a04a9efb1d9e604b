//! `sizeInBits` and `sizeInBytes` as the constants that they are.
//!
//! The compiler replaces both before it looks at parsers and controls (`common/size_of.cpp` in p4c's
//! Tofino back end), so a parser may advance by a size. [`fold`] does the same to a program. It must
//! not depend on the block that asks.

use sojourn_externs::call::argument_bits;
use sojourn_p4::ir::{Body, Expr, ExprKind, ExternCall, Layout, Program, Stmt, StmtKind};

/// Replaces each call by an assignment of its value; a call whose result is not used is left out.
pub fn fold(program: &mut Program) {
    for unit in &mut program.units {
        match &mut unit.body {
            Body::Control { stmts, .. } => list(stmts),
            Body::Parser(parser) => {
                list(&mut parser.init);
                parser.states.iter_mut().for_each(|state| list(&mut state.body));
            }
        }
    }
    let actions = program.tables.iter_mut().flat_map(|table| &mut table.actions);
    actions.for_each(|action| list(&mut action.body));
    let methods = program.objects.iter_mut().flat_map(|object| &mut object.methods);
    methods.for_each(|method| list(&mut method.body));
}

/// The value of a call of one of the two functions; none for other calls.
///
/// A size in bytes is rounded down, as the compiler does.
fn value(call: &ExternCall) -> Option<u32> {
    match (call.object, &*call.name) {
        (None, "sizeInBits") => Some(argument_bits(call, 0)),
        (None, "sizeInBytes") => Some(argument_bits(call, 0) / 8),
        _ => None,
    }
}

fn list(stmts: &mut Vec<Stmt>) {
    stmts.retain_mut(folded);
}

/// Folds a statement and those inside it; false if nothing is left of it.
fn folded(stmt: &mut Stmt) -> bool {
    match &mut stmt.kind {
        StmtKind::If { then, otherwise, .. } => {
            list(then);
            list(otherwise);
        }
        StmtKind::Switch { cases, default, .. } => {
            cases.iter_mut().for_each(|(_, body)| list(body));
            list(default);
        }
        StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => list(body),
        StmtKind::Call(call) => {
            let Some(value) = value(call) else { return true };
            let Some(Layout::Narrow(slot, scalar)) = call.result else { return false };
            let kind = ExprKind::Const(value.into());
            stmt.kind = StmtKind::Set(slot, Expr { kind, scalar, span: call.span });
        }
        _ => {}
    }
    true
}
