//! Results that the next statement needs (T1012, T1003).
//!
//! The compiler puts a value that was computed into the statements behind it that read it, and makes
//! one action of neighbours; a sum of what had to be computed takes a second instruction then, and an
//! action has one. It looks through branches, but not into actions that are called by name.

use crate::fit::bits::{compares_sum, needs_two_instructions};
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ExprKind, Program, Slot, Stmt, StmtKind};
use sojourn_p4::source::{SourceMap, Span};
use sojourn_p4::visit;
use std::collections::HashMap;

/// What a field was set to, and where.
#[derive(Clone)]
struct Held {
    value: Expr,
    set: Span,
}

type Known = HashMap<Slot, Held>;

/// What a control's statements outside tables break.
pub fn check(program: &Program, stmts: &[Stmt], sources: &SourceMap, found: &mut Vec<Diagnostic>) {
    Walk { program, sources, found }.list(stmts, &mut Known::new());
}

struct Walk<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    found: &'a mut Vec<Diagnostic>,
}

impl Walk<'_> {
    fn list(&mut self, stmts: &[Stmt], known: &mut Known) {
        for stmt in stmts {
            self.statement(stmt, known);
        }
    }

    fn statement(&mut self, stmt: &Stmt, known: &mut Known) {
        if let StmtKind::Set(slot, value) = &stmt.kind {
            let (value, from) = self.in_full(value, stmt.span, known);
            if needs_two_instructions(&value) {
                self.refuse(stmt.span, from);
            }
            forget(known, *slot);
            if !visit::reads(&value, *slot) && !needs_two_instructions(&value) {
                known.insert(*slot, Held { value, set: stmt.span });
            }
            return;
        }
        if let StmtKind::If { condition, .. } = &stmt.kind {
            let (full, from) = self.in_full(condition, condition.span, known);
            if compares_sum(&full) {
                self.refuse_condition(condition.span, from);
            }
        }
        let inner = visit::inner_lists(stmt);
        if matches!(stmt.kind, StmtKind::Loop { .. }) {
            written_inside(stmt, &mut |slot| forget(known, slot));
        }
        for list in inner {
            self.list(list, &mut known.clone());
        }
        written_inside(stmt, &mut |slot| forget(known, slot));
        if let StmtKind::Apply { table, .. } = &stmt.kind {
            for action in &self.program.tables[table.index()].actions {
                visit::statements(&action.body, &mut |stmt| {
                    visit::written(stmt, &mut |slot| forget(known, slot));
                });
            }
        }
    }

    /// A value with what is known of the fields in it, and where one of these was computed.
    fn in_full(&self, value: &Expr, at: Span, known: &Known) -> (Expr, Option<Span>) {
        let mut full = value.clone();
        let mut from = None;
        visit::change_expression(&mut full, &mut |expr| {
            let ExprKind::Slot(slot) = expr.kind else { return true };
            if let Some(held) = known.get(&slot).filter(|held| self.sees(held.set, at)) {
                *expr = held.value.clone();
                from = Some(held.set);
            }
            false
        });
        (full, from)
    }

    /// True if a statement at `later` stands behind one at `earlier` in the same block, or in a
    /// block inside it: no block is left on the way.
    fn sees(&self, earlier: Span, later: Span) -> bool {
        if later.start < earlier.end {
            return false;
        }
        let between = self.sources.text(Span::new(earlier.end, later.start));
        let mut depth = 0_i64;
        between.chars().all(|c| {
            depth += match c {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            depth >= 0
        }) && !between.is_empty()
    }

    fn refuse(&mut self, at: Span, from: Option<Span>) {
        let refused = match from {
            Some(first) => {
                let message = "computes with a result that another statement of `apply` computes";
                let refused = rules::NEIGHBOURS.refuse(at, message).with_label("the second step");
                refused.with_place(first, "the first step")
            }
            None => {
                let message = "two steps that need each other in one assignment";
                rules::DEPENDENT_STEPS.refuse(at, message)
            }
        };
        self.found.push(refused.into());
    }

    fn refuse_condition(&mut self, at: Span, from: Option<Span>) {
        let message = match from {
            Some(_) => "a condition on what a statement of `apply` computes is one that computes",
            None => "a condition computes",
        };
        let refused = rules::CONDITION_ARITHMETIC.refuse(at, message);
        self.found.push(match from {
            Some(first) => refused.with_place(first, "computed here").into(),
            None => refused.into(),
        });
    }
}

fn written_inside(stmt: &Stmt, see: &mut dyn FnMut(Slot)) {
    visit::statements(std::slice::from_ref(stmt), &mut |stmt| visit::written(stmt, see));
}

/// A field was written: neither its old value is known any longer, nor what was computed with it.
fn forget(known: &mut Known, slot: Slot) {
    known.remove(&slot);
    known.retain(|_, held| !visit::reads(&held.value, slot));
}
