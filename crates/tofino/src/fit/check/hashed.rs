//! Actions that need the hash unit or a random number (T1013, T1014, T1019).
//!
//! Their results are available to an action only where its table hits. A table without a key can be
//! made to hit, but its entry then carries no action data: the driver sets what a miss does. An
//! instruction's constant is action data where the instruction has no room for it. What the
//! compiler said of each case is in the tests.

use super::instruction;
use super::values::Evaluated;
use crate::access::address_of;
use crate::chip::Chip;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Binary, Expr, ExprKind, Layout, Program, Slot, Stmt, StmtKind, Table, TableAction, Unit,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::sync::Arc;

/// Value that one instruction loads into a whole container.
const LOADED_BITS: u32 = 21;

/// Violations in the actions of a table.
pub fn check_table(chip: &Chip, program: &Program, table: &Table, found: &mut Vec<Diagnostic>) {
    for (number, action) in table.actions.iter().enumerate() {
        let Some(hashed) = hash_in(program, &action.body, &action.data) else { continue };
        if table.keys.is_empty() {
            check_data(action, hashed, found);
            let stmts: Vec<&Stmt> = action.body.iter().collect();
            check_constants(chip, &stmts, hashed, found);
        } else if is_default(table, number) && !may_match_by_hash(table) {
            let message =
                format!("the default action of `{}` needs the hash unit here", table.name);
            let refused = rules::HASH_ON_MISS.refuse(hashed, message);
            found.push(refused.with_place(table.span, "the table").into());
        }
    }
}

/// Checks an input of a hash that an instruction computes. The instruction precedes the action,
/// without action data, and a slice of its result is not an input.
pub fn check_operand(unit: &Unit, evaluated: &Evaluated, found: &mut Vec<Diagnostic>) {
    if cuts(&evaluated.expr) {
        let message = "a hash takes in a part of a result";
        found.push(rules::HASHED_PART.refuse(evaluated.at, message).into());
        return;
    }
    instruction::check(unit, evaluated, found);
}

fn cuts(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Slice(..) => true,
        ExprKind::Cast(a) => a.scalar.width() > expr.scalar.width() || cuts(a),
        _ => false,
    }
}

fn is_default(table: &Table, action: usize) -> bool {
    table.default_action.as_ref().is_some_and(|(default, _)| *default as usize == action)
}

/// True for a table that may have no memory at all: its one action is found by the key's value.
fn may_match_by_hash(table: &Table) -> bool {
    table.actions.len() == 1
        && table.const_default_action
        && table.keys.iter().all(|key| &*key.match_kind == "exact")
}

/// Statements outside tables: an action called by name is a table without key. What stands in
/// `apply` itself the compiler divides as it likes.
pub fn check_statements(
    chip: &Chip,
    program: &Program,
    stmts: &[Stmt],
    found: &mut Vec<Diagnostic>,
) {
    let action = |stmt: &Stmt| program.declared.in_actions.get(&stmt.span);
    for (at, stmt) in stmts.iter().enumerate() {
        if let Some(hashed) = hash_of(program, stmt, &[])
            && let Some(own) = action(stmt)
        {
            let is_beside = |other: &&Stmt| action(other) == Some(own);
            let before = stmts[..at].iter().rev().take_while(is_beside);
            let group: Vec<&Stmt> =
                before.chain(stmts[at + 1..].iter().take_while(is_beside)).collect();
            check_constants(chip, &group, hashed, found);
        }
        for inner in visit::inner_lists(stmt) {
            check_statements(chip, program, inner, found);
        }
    }
}

fn check_data(action: &TableAction, hashed: Span, found: &mut Vec<Diagnostic>) {
    let used = action.data.iter().find_map(|(name, layout)| {
        let Layout::Narrow(slot, _) = layout else { return None };
        read_in(&action.body, *slot).map(|span| (name, span))
    });
    if let Some((name, span)) = used {
        let message = format!("`{name}` is action data, beside a hash in a table without key");
        let refused = rules::HASH_WITH_DATA.refuse(span, message);
        found.push(refused.with_place(hashed, "what needs the hash unit").into());
    }
}

fn check_constants(chip: &Chip, stmts: &[&Stmt], hashed: Span, found: &mut Vec<Diagnostic>) {
    for stmt in stmts {
        let StmtKind::Set(_, value) = &stmt.kind else { continue };
        if let Some(constant) = too_large(chip, value) {
            let message = format!("the constant {constant} is action data, beside a hash");
            let refused = rules::HASH_WITH_DATA.refuse(value.span, message);
            found.push(refused.with_place(hashed, "what needs the hash unit").into());
        } else if let Some(constant) = part_of_container(chip, value) {
            let message = format!(
                "the constant {constant} is action data, beside a hash, unless its field fills a container"
            );
            let warning = rules::HASH_WITH_DATA.warning(value.span, message);
            found.push(warning.with_place(hashed, "what needs the hash unit"));
        }
    }
}

/// The constant of an instruction that has no room for it, wherever its result lies.
fn too_large(chip: &Chip, value: &Expr) -> Option<u128> {
    let width = value.scalar.width();
    match &value.kind {
        ExprKind::Const(pattern) if !matches!(width, 8 | 16) => {
            let loaded = width == 32 && *pattern >> LOADED_BITS == 0;
            (!loaded && !is_small(chip, *pattern, width)).then_some(*pattern)
        }
        ExprKind::Binary(op, a, b) if adds(*op) => match (&a.kind, &b.kind) {
            (ExprKind::Const(c), field) | (field, ExprKind::Const(c))
                if !matches!(field, ExprKind::Const(_)) =>
            {
                (!is_small(chip, *c, width)).then_some(*c)
            }
            _ => None,
        },
        _ => None,
    }
}

/// A constant that one instruction sets only where the field has a container of its own.
fn part_of_container(chip: &Chip, value: &Expr) -> Option<u128> {
    let width = value.scalar.width();
    match &value.kind {
        ExprKind::Const(pattern) if matches!(width, 8 | 16) => {
            (!is_small(chip, *pattern, width)).then_some(*pattern)
        }
        _ => None,
    }
}

fn adds(op: Binary) -> bool {
    matches!(op, Binary::Add | Binary::Sub | Binary::SatAdd | Binary::SatSub)
}

fn is_small(chip: &Chip, pattern: u128, width: u32) -> bool {
    let (small, number) = (&chip.small_constants, pattern as i128);
    small.contains(&number) || width < 127 && small.contains(&(number - (1 << width)))
}

/// The first use of the hash unit or a random number in a body.
fn hash_in(program: &Program, body: &[Stmt], data: &[(Arc<str>, Layout)]) -> Option<Span> {
    let mut first = None;
    visit::statements(body, &mut |stmt| {
        if first.is_none() {
            first = hash_of(program, stmt, data);
        }
    });
    first
}

fn hash_of(program: &Program, stmt: &Stmt, data: &[(Arc<str>, Layout)]) -> Option<Span> {
    let StmtKind::Call(call) = &stmt.kind else { return None };
    let object = &program.objects[call.object?.index()];
    let index = match (&*object.of, &*call.name) {
        ("Hash" | "Random", "get") => return Some(call.span),
        _ => address_of(program, call),
    };
    index.filter(|index| is_computed(index, data)).map(|index| index.span)
}

/// True for an index that comes from the packet: constants and action data need no hash.
fn is_computed(index: &Expr, data: &[(Arc<str>, Layout)]) -> bool {
    match &index.kind {
        ExprKind::Const(_) => false,
        ExprKind::Cast(inner) => is_computed(inner, data),
        ExprKind::Slot(slot) => {
            !data.iter().any(|(_, layout)| matches!(layout, Layout::Narrow(own, _) if own == slot))
        }
        _ => true,
    }
}

/// The first read of a slot in a body.
fn read_in(body: &[Stmt], slot: Slot) -> Option<Span> {
    let mut first = None;
    visit::statements(body, &mut |stmt| {
        let reads = visit::expressions(stmt).into_iter().find(|expr| visit::reads(expr, slot));
        first = first.or(reads.map(|expr| expr.span));
    });
    first
}
