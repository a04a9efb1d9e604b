//! Statements of deparsers: emits, assignments, checksums (T0906 to T0910).
//!
//! A deparser emits valid headers, and sums checksums; it decides and computes nothing. Copies are
//! checked in `deparser_requests`. Uses `copy_propagation` and `fields`.

use super::checksum_fields::{Headers, Part};
use super::copy_propagation::Known;
use super::fields::computed;
use super::slots;
use crate::constant_folding::constant;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, Binary, Body, Expr, ExprKind, ExternCall, Layout, Program, Slot, Stmt, StmtKind, Unary,
    UnitId, Value,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::HashSet;

/// Checks the statements of a deparser.
pub fn check(program: &Program, deparser: UnitId, found: &mut Vec<Diagnostic>) {
    let unit = &program.units[deparser.index()];
    let Body::Control { stmts, .. } = &unit.body else { return };
    let outer = unit.params.iter().flat_map(|param| slots(&param.layout)).collect();
    let (headers, sums) = (Headers::new(unit), HashSet::new());
    Walk { program, outer, headers, sums, found }.list(stmts, &mut Known::default(), &[]);
}

struct Walk<'a> {
    program: &'a Program,
    /// Slots of the deparser's parameters.
    outer: HashSet<Slot>,
    headers: Headers,
    /// Variables that hold the result of a checksum.
    sums: HashSet<Slot>,
    found: &'a mut Vec<Diagnostic>,
}

impl Walk<'_> {
    fn list(&mut self, stmts: &[Stmt], known: &mut Known, conditions: &[&Expr]) {
        for stmt in stmts {
            self.statement(stmt, known, conditions);
            known.step(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt, known: &mut Known, conditions: &[&Expr]) {
        match &stmt.kind {
            StmtKind::Set(slot, value) | StmtKind::SetSlice { target: slot, value, .. } => {
                self.assign(*slot, value, stmt, known);
            }
            StmtKind::Copy { narrow: (_, to, count), .. } => {
                if (0..*count).any(|at| self.outer.contains(&Slot(to.0 + at))) {
                    self.refuse_assignment(stmt);
                }
            }
            StmtKind::Apply { .. } => {
                let message = "a deparser applies a table";
                self.found.push(rules::DEPARSER_ASSIGNMENT.refuse(stmt.span, message).into());
            }
            StmtKind::Loop { .. } => {
                self.found.push(rules::LOOP.refuse(stmt.span, "a loop in a deparser").into());
            }
            StmtKind::Emit(_) if !conditions.is_empty() => {
                let message = "a header is emitted under a condition";
                self.found.push(rules::CONDITIONAL_EMIT.refuse(stmt.span, message).into());
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = known.resolved(condition);
                match constant(&condition) {
                    Some(value) => {
                        self.list(if value == 0 { otherwise } else { then }, known, conditions);
                    }
                    None => {
                        let inner: Vec<&Expr> =
                            conditions.iter().copied().chain([&condition]).collect();
                        for list in [then, otherwise] {
                            self.list(list, &mut known.clone(), &inner);
                        }
                        known.forget_written(then);
                        known.forget_written(otherwise);
                    }
                }
            }
            StmtKind::Call(call) => self.call(call, known, conditions),
            _ => {
                for list in visit::inner_lists(stmt) {
                    self.list(list, known, conditions);
                }
            }
        }
    }

    fn assign(&mut self, slot: Slot, value: &Expr, stmt: &Stmt, known: &Known) {
        let value = known.resolved(value);
        let sum = matches!(value.kind, ExprKind::Slot(from) if self.sums.contains(&from));
        if sum {
            self.sums.insert(slot);
            if self.outer.contains(&slot) {
                self.check_place(slot, stmt.span);
            }
        } else if self.outer.contains(&slot) {
            self.refuse_assignment(stmt);
        }
    }

    fn refuse_assignment(&mut self, stmt: &Stmt) {
        let message = "a deparser assigns to a field";
        self.found.push(rules::DEPARSER_ASSIGNMENT.refuse(stmt.span, message).into());
    }

    fn call(&mut self, call: &ExternCall, known: &Known, conditions: &[&Expr]) {
        let Some(id) = call.object else { return };
        if &*self.program.objects[id.index()].of != "Checksum" {
            return;
        }
        if let Some(Layout::Narrow(slot, _)) = &call.result {
            self.sums.insert(*slot);
        }
        if &*call.name != "update" {
            let message = format!("`{}` of a checksum in a deparser", call.name);
            self.found.push(rules::CHECKSUM_FIELDS.refuse(call.span, message).into());
            return;
        }
        if let Some(Arg::In(data)) = call.args.first() {
            let said = self.found.len();
            let mut parts = Vec::new();
            if matches!(data, Value::Scalar(_)) {
                let message = "a checksum of a value that is no list";
                self.found.push(rules::CHECKSUM_FIELDS.refuse(call.span, message).into());
            }
            self.sum(data, known, &mut parts);
            if let Some(message) =
                self.headers.parts_fault(&parts).filter(|_| said == self.found.len())
            {
                self.found.push(rules::CHECKSUM_BYTES.refuse(call.span, message).into());
            }
        }
        if let Some(Layout::Narrow(slot, _)) = &call.result
            && self.outer.contains(slot)
        {
            self.check_place(*slot, call.span);
        }
        for condition in conditions.iter().filter(|condition| !is_bits(condition)) {
            let message = "this condition decides about a checksum and is no test of one bit";
            let refused = rules::CHECKSUM_CONDITION.refuse(condition.span, message);
            self.found.push(refused.with_place(call.span, "the checksum").into());
        }
    }

    /// The place of a checksum's result.
    fn check_place(&mut self, slot: Slot, span: Span) {
        if let Some(message) = self.headers.place_fault(slot) {
            self.found.push(rules::CHECKSUM_BYTES.refuse(span, message).into());
        }
    }

    /// Parts of a checksum; its fields go to `parts`.
    fn sum(&mut self, data: &Value, known: &Known, parts: &mut Vec<Part>) {
        match data {
            Value::Scalar(part) => {
                let part = known.resolved(part);
                let field = match part.kind {
                    ExprKind::Slot(slot) => Some(slot),
                    _ => None,
                };
                parts.push((field, part.scalar.width()));
                let message = match part.kind {
                    _ if known.reads_computed(&part) => "a checksum of a computed value".to_owned(),
                    ExprKind::Const(0) | ExprKind::Slot(_) | ExprKind::WideSlot(_) => return,
                    ExprKind::Const(value) => format!("the constant {value} in a checksum"),
                    _ if computed(&part).is_some() => "a checksum of a computed value".to_owned(),
                    _ => "a checksum of a part of a field".to_owned(),
                };
                self.found.push(rules::CHECKSUM_FIELDS.refuse(part.span, message).into());
            }
            Value::Header { fields, .. } | Value::Struct { fields, .. } => {
                fields.iter().for_each(|field| self.sum(field, known, parts));
            }
            _ => {}
        }
    }
}

/// True for tests of single bits that all have to hold.
fn is_bits(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Binary(Binary::And, a, b) => is_bits(a) && is_bits(b),
        ExprKind::Binary(Binary::Eq | Binary::Ne, a, b) => {
            a.scalar.width() == 1 && (constant(a).is_some() || constant(b).is_some())
        }
        ExprKind::Unary(Unary::Not, inner) => is_bits(inner),
        ExprKind::Slot(_) | ExprKind::Guarded { .. } => condition.scalar.width() == 1,
        ExprKind::Cast(inner) => condition.scalar.width() == 1 && is_bits(inner),
        _ => false,
    }
}
