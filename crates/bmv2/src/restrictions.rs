//! Limits of the blocks and tables of bmv2 that p4c enforces (V0207 to V0212, V0216, V0217, V0219 to
//! V0221), after `backends/bmv2`: `simple_switch/simpleSwitch.cpp`, `common/deparser.cpp`
//! and `common/control.h`; those that PSA
//! has too are `common_limits`.
//!
//! Uses the IR; must not depend on how a block runs.

use super::calls;
use super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, Expr, ExprKind, ExternCall, Program, Slot, Stmt, StmtKind, Table, Unit, UnitId,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use sojourn_target::applied_tables::{SharedObject, shared_objects};
use sojourn_target::common_limits::{self, CommonRules};

/// The rules of limits that PSA has too.
const COMMON: CommonRules = CommonRules {
    apply_order: &rules::APPLY_ORDER,
    one_successor: &rules::ONE_SUCCESSOR,
    for_in: &rules::FOR_IN,
    one_lpm: &rules::ONE_LPM,
    action_data: &rules::ACTION_DATA,
    one_varbit: &rules::ONE_VARBIT,
    exit_once: &rules::EXIT_ONCE,
};

/// A diagnostic for each statement or table that a block of the six cannot have.
pub(super) fn check(
    program: &Program,
    [parser, verify, ingress, egress, compute, deparser]: [UnitId; 6],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (unit, function) in [(verify, "verify_checksum"), (compute, "update_checksum")] {
        let unit = &program.units[unit.index()];
        for list in visit::unit_lists(unit) {
            checksums(unit, list, function, &mut found);
        }
    }
    for list in visit::unit_lists(&program.units[deparser.index()]) {
        emits(list, &mut found);
    }
    found.extend(common_limits::check(program, &[ingress, egress], COMMON));
    owners(program, &mut found);
    selectors(program, &mut found);
    calls::check(program, parser, [ingress, egress], &mut found);
    found
}

/// Statements of a control that updates or verifies checksums.
fn checksums(unit: &Unit, stmts: &[Stmt], function: &str, found: &mut Vec<Diagnostic>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Block { body, .. } => checksums(unit, body, function, found),
            StmtKind::Call(call) if call.name.starts_with(function) => summed(call, found),
            StmtKind::If { .. } | StmtKind::Switch { .. } | StmtKind::Loop { .. } => {
                other(stmt.span, "a condition or loop", found);
            }
            StmtKind::Apply { .. } => other(stmt.span, "a table", found),
            StmtKind::Call(_) => other(stmt.span, "another call", found),
            // What is written to a local variable may be a part of a call.
            StmtKind::Set(slot, _) if is_shared(unit, *slot) => {
                other(stmt.span, "an assignment", found);
            }
            _ => {}
        }
    }
}

/// True for a slot of headers or metadata.
fn is_shared(unit: &Unit, slot: Slot) -> bool {
    unit.params.iter().any(|param| param.layout.range().narrow().any(|at| at == slot.index()))
}

fn other(span: Span, what: &str, found: &mut Vec<Diagnostic>) {
    let message = format!("{what} in a control of checksums");
    found.push(rules::CHECKSUM_BLOCK.refuse(span, message).into());
}

/// The data of a checksum: fields and constants.
fn summed(call: &ExternCall, found: &mut Vec<Diagnostic>) {
    let Some(Arg::In(data)) = call.args.get(1) else { return };
    let mut parts = Vec::new();
    visit::value_expressions(data, &mut parts);
    if let Some(part) = parts.into_iter().find(|part| is_computed(part)) {
        let message = "a computed value in a checksum";
        found.push(rules::CHECKSUM_BLOCK.refuse(part.span, message).into());
    }
}

fn is_computed(part: &Expr) -> bool {
    match &part.kind {
        ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Mux(..)
        | ExprKind::Slice(..)
        | ExprKind::Cast(..) => true,
        ExprKind::Guarded { read, .. } => is_computed(read),
        _ => false,
    }
}

/// Conditions and loops in a deparser.
fn emits(stmts: &[Stmt], found: &mut Vec<Diagnostic>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Block { body, .. } => emits(body, found),
            StmtKind::If { .. } | StmtKind::Switch { .. } | StmtKind::Loop { .. } => {
                let message = "a condition or loop in a deparser";
                found.push(rules::DEPARSER_BLOCK.refuse(stmt.span, message).into());
            }
            _ => {}
        }
    }
}

/// Direct counters and meters of two tables.
fn owners(program: &Program, found: &mut Vec<Diagnostic>) {
    for SharedObject { object, owner, other } in
        shared_objects(program, |of| of.starts_with("direct_"))
    {
        let message = format!("`{}` belongs to two tables", object.name);
        let refused = rules::DIRECT_OF_ONE.refuse(other.span, message);
        found.push(refused.with_place(owner.span, "the other table").into());
    }
}

/// Tables of a selector that choose by other keys.
fn selectors(program: &Program, found: &mut Vec<Diagnostic>) {
    let is_selector = |of: &str| of == "action_selector";
    for SharedObject { object, owner, other } in shared_objects(program, is_selector) {
        let sides = [(owner, selector_keys(owner)), (other, selector_keys(other))];
        let [(_, first), (_, second)] = &sides;
        if first.len() != second.len() || first.iter().zip(second).any(|(a, b)| !same(a, b)) {
            let message =
                format!("another selector key of `{}` than in `{}`", object.name, owner.name);
            let refused = rules::SELECTOR_KEY.refuse(other.span, message);
            found.push(refused.with_place(owner.span, "the other table").into());
        }
    }
}

fn selector_keys(table: &Table) -> Vec<&Expr> {
    let keys = table.keys.iter().filter(|key| &*key.match_kind == "selector");
    keys.map(|key| &key.expr).collect()
}

/// Whether two expressions are the same, wherever they stand.
fn same(a: &Expr, b: &Expr) -> bool {
    let parts = |expr| visit::operands(expr).into_iter().cloned().collect::<Vec<_>>();
    a.scalar == b.scalar
        && match (&a.kind, &b.kind) {
            (ExprKind::Slot(a), ExprKind::Slot(b)) => a == b,
            (ExprKind::WideSlot(a), ExprKind::WideSlot(b)) => a == b,
            (ExprKind::Const(a), ExprKind::Const(b)) => a == b,
            (ExprKind::Slice(x, low), ExprKind::Slice(y, other)) => low == other && same(x, y),
            _ => {
                let (x, y) = (parts(a), parts(b));
                std::mem::discriminant(&a.kind) == std::mem::discriminant(&b.kind)
                    && x.len() == y.len()
                    && x.iter().zip(&y).all(|(x, y)| same(x, y))
            }
        }
}
