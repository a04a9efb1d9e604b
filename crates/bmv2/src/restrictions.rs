//! Limits of the blocks and tables of bmv2 that p4c enforces (V0207 to V0212, V0216, V0217, V0219 to
//! V0221), after `backends/bmv2`: `simple_switch/simpleSwitch.cpp`, `common/deparser.cpp` and
//! `common/control.h`. Those that PSA has too are in `common_limits`.
//!
//! Uses the IR; must not depend on how a block runs.

use super::calls;
use super::next_element;
use super::rules;
use super::table_limits;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, Expr, ExprKind, ExternCall, Layout, Program, Scalar, Slot, Stmt, StmtKind, Table, Unit,
    UnitId, Value,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use sojourn_target::applied_tables::{SharedObject, shared_objects};
use sojourn_target::common_limits::{self, CommonRules};
use std::collections::HashMap;

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
    let deparser = &program.units[deparser.index()];
    for list in visit::unit_lists(deparser) {
        emits(deparser, list, &mut found);
    }
    found.extend(common_limits::check(program, &[ingress, egress], COMMON));
    owners(program, &mut found);
    selectors(program, &mut found);
    calls::check(program, parser, [ingress, egress], &mut found);
    next_element::check(&program.units[parser.index()], &mut found);
    table_limits::check(program, [ingress, egress], &mut found);
    found
}

/// Statements of a control that updates or verifies checksums.
fn checksums(unit: &Unit, stmts: &[Stmt], function: &str, found: &mut Vec<Diagnostic>) {
    let mut copies = HashMap::new();
    for stmt in stmts {
        if let StmtKind::Set(to, Expr { kind: ExprKind::Slot(from), .. }) = &stmt.kind
            && unit.slots[to.index()].temporary
        {
            copies.insert(*to, *from);
        }
        match &stmt.kind {
            StmtKind::Block { body, .. } => checksums(unit, body, function, found),
            StmtKind::Call(call) if call.name.starts_with(function) => {
                summed(call, &copies, found);
            }
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

/// The data of a checksum: fields and constants. `copies` has the variables that hold one.
fn summed(call: &ExternCall, copies: &HashMap<Slot, Slot>, found: &mut Vec<Diagnostic>) {
    let Some(Arg::In(data)) = call.args.get(1) else { return };
    let mut parts = Vec::new();
    visit::value_expressions(data, &mut parts);
    if let Some(part) = parts.iter().find(|part| is_computed(part)) {
        let message = "a computed value in a checksum";
        found.push(rules::CHECKSUM_BLOCK.refuse(part.span, message).into());
    } else if let Some(part) = own_field(call, data, copies) {
        // The compiler copies the fields to variables in front of the call.
        let message = "a checksum over the field that gets it";
        found.push(rules::CHECKSUM_BLOCK.refuse(part.span, message).into());
    }
}

/// The field that `update_checksum` writes, in its list of fields.
fn own_field<'c>(
    call: &ExternCall,
    data: &'c Value,
    copies: &HashMap<Slot, Slot>,
) -> Option<&'c Expr> {
    let Some(Arg::Out(target) | Arg::InOut(target)) = call.args.get(2) else { return None };
    let Value::Struct { fields, .. } = data else { return None };
    let field = |value: &'c Value| match value {
        Value::Scalar(expr) => Some(expr),
        _ => None,
    };
    let parts: Vec<&Expr> = fields.iter().map(field).collect::<Option<_>>()?;
    let original = |slot: Slot| copies.get(&slot).copied().unwrap_or(slot);
    let own = |part: &&Expr| {
        let ExprKind::Slot(read) = part.kind else { return false };
        target.range().narrow().any(|at| original(Slot(at as u32)) == original(read))
    };
    parts.into_iter().find(own).filter(|_| &*call.name == "update_checksum")
}

fn is_computed(part: &Expr) -> bool {
    match &part.kind {
        ExprKind::Const(_) => part.scalar == Scalar::Bool,
        ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Mux(..)
        | ExprKind::Slice(..)
        | ExprKind::Cast(..) => true,
        ExprKind::Guarded { read, .. } => is_computed(read),
        _ => false,
    }
}

/// Conditions, loops and headers of its own in a deparser.
fn emits(unit: &Unit, stmts: &[Stmt], found: &mut Vec<Diagnostic>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Block { body, .. } => emits(unit, body, found),
            StmtKind::If { .. } | StmtKind::Switch { .. } | StmtKind::Loop { .. } => {
                let message = "a condition or loop in a deparser";
                found.push(rules::DEPARSER_BLOCK.refuse(stmt.span, message).into());
            }
            // A header variable gets its validity by a statement.
            StmtKind::Emit(Layout::Header { valid, .. }) if !is_shared(unit, *valid) => {
                let message = "a header that the deparser makes";
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
        let unit = &program.units[other.unit.index()];
        if first.len() != second.len() || first.iter().zip(second).any(|(a, b)| !same(unit, a, b)) {
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

/// True for one field of a header or of metadata. p4c copies every other key to a variable of its
/// table, and compares the elements of stacks and validities by their place in the text.
fn same(unit: &Unit, a: &Expr, b: &Expr) -> bool {
    let named = |slot: Slot| {
        let info = unit.slots.get(slot.index());
        info.is_some_and(|info| !info.name.contains('[') && unit.validity_of(slot).is_none())
    };
    match (&a.kind, &b.kind) {
        (ExprKind::Slot(a), ExprKind::Slot(b)) => a == b && named(*a),
        (ExprKind::WideSlot(a), ExprKind::WideSlot(b)) => a == b,
        _ => false,
    }
}
