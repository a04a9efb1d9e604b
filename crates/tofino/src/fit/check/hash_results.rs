//! The fields that a hash takes in (T1034) and the bits that an action takes from hashes and random
//! numbers (T1035), after `bf-p4c/mau/instruction_selection.cpp` and `bf-p4c/mau/table_layout.cpp`.
//!
//! Only bits that go to headers or metadata count: those of an index reach the memory by another
//! path. Uses the IR.

use crate::register_action::same_expression;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Expr, ExprKind, ExternCall, Layout, ObjectId, Program, Slot, Stmt, StmtKind, Unit, UnitId,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use sojourn_target::applied_tables::applied;
use std::collections::{HashMap, HashSet};

/// Bits of the path from the hash unit and the random numbers to an action.
const IMMEDIATE_BITS: u32 = 32;

/// Checks the calls of a control.
pub fn check(program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    let unit = &program.units[control.index()];
    let mut bodies = visit::unit_lists(unit);
    for table in applied(program).into_iter().filter(|table| table.unit == control) {
        bodies.extend(table.actions.iter().map(|action| &*action.body));
    }
    let mut first: HashMap<ObjectId, &ExternCall> = HashMap::new();
    for body in &bodies {
        visit::statements(body, &mut |stmt| {
            if let StmtKind::Call(call) = &stmt.kind
                && let Some(id) = call.object
                && is_of(program, call, &["Hash"])
            {
                let other = first.entry(id).or_insert(call);
                if differ(unit, other, call) {
                    let message = format!(
                        "`{}` takes in other fields here",
                        program.objects[id.index()].name
                    );
                    let refused = rules::HASH_FIELDS.refuse(call.span, message);
                    found.push(refused.with_place(other.span, "than here").into());
                }
            }
        });
    }
    let params = unit.params.iter().flat_map(|param| param.layout.range().narrow());
    let fields = params.map(|at| Slot(at as u32)).collect();
    for body in bodies {
        groups(program, &fields, body, found);
    }
}

fn is_of(program: &Program, call: &ExternCall, types: &[&str]) -> bool {
    let of = call.object.map(|id| &*program.objects[id.index()].of);
    &*call.name == "get" && of.is_some_and(|of| types.contains(&of))
}

/// True if two calls take in other fields for certain: what is computed has a place of its own in
/// each.
fn differ(unit: &Unit, one: &ExternCall, other: &ExternCall) -> bool {
    let [a, b] = [one, other].map(inputs);
    let width = |list: &[&Expr]| list.iter().map(|expr| expr.scalar.width()).sum::<u32>();
    let is_field = |expr: &Expr| match expr.kind {
        ExprKind::Slot(slot) => !unit.slots[slot.index()].temporary,
        _ => false,
    };
    let pairs = || a.iter().zip(&b).filter(|(a, b)| is_field(a) && is_field(b));
    width(&a) != width(&b) || a.len() == b.len() && pairs().any(|(a, b)| !same_expression(a, b))
}

fn inputs(call: &ExternCall) -> Vec<&Expr> {
    call.args.iter().flat_map(visit::argument_expressions).collect()
}

/// Bits of hashes and random numbers in one action.
#[derive(Default)]
struct Taken {
    bits: u32,
    /// Variables of the elaboration that hold a result.
    results: HashSet<Slot>,
    last: Option<Span>,
}

impl Taken {
    fn finish(&mut self, found: &mut Vec<Diagnostic>) {
        if let Some(span) = self.last.filter(|_| self.bits > IMMEDIATE_BITS) {
            let message = format!("{} bits of hashes and random numbers in one action", self.bits);
            found.push(rules::HASH_BITS.refuse(span, message).into());
        }
        *self = Taken::default();
    }

    fn add(&mut self, bits: u32, span: Span) {
        if bits > 0 {
            self.bits += bits;
            self.last = Some(span);
        }
    }

    /// Bits of results in an expression.
    fn bits_of(&self, expr: &Expr) -> u32 {
        match &expr.kind {
            ExprKind::Slot(slot) if self.results.contains(slot) => expr.scalar.width(),
            ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => {
                self.bits_of(inner).min(expr.scalar.width())
            }
            _ => visit::operands(expr).into_iter().map(|part| self.bits_of(part)).sum(),
        }
    }
}

/// The statements of each action, or that follow each other outside of actions.
fn groups(program: &Program, fields: &HashSet<Slot>, stmts: &[Stmt], found: &mut Vec<Diagnostic>) {
    let (mut taken, mut action) = (Taken::default(), None);
    for stmt in stmts {
        let of = program.declared.in_actions.get(&stmt.span).copied();
        if of != action {
            taken.finish(found);
            action = of;
        }
        match &stmt.kind {
            StmtKind::Call(call) if is_of(program, call, &["Hash", "Random"]) => {
                match &call.result {
                    Some(Layout::Narrow(slot, scalar)) if fields.contains(slot) => {
                        taken.add(scalar.width(), call.span);
                    }
                    Some(Layout::Narrow(slot, _)) => {
                        taken.results.insert(*slot);
                    }
                    _ => {}
                }
            }
            StmtKind::Set(target, value) | StmtKind::SetSlice { target, value, .. } => {
                if fields.contains(target) {
                    taken.add(taken.bits_of(value), stmt.span);
                }
            }
            StmtKind::Copy { .. } => {}
            _ => {
                taken.finish(found);
                visit::inner_lists(stmt)
                    .into_iter()
                    .for_each(|list| groups(program, fields, list, found));
            }
        }
    }
    taken.finish(found);
}
