//! The steps behind each application of a table (V0217), after
//! `backends/bmv2/common/controlFlowGraph.cpp`.
//!
//! bmv2 stores one successor of a table for each outcome, so a table that a control applies in
//! several places has the same successors in all of them. Uses the IR; must not depend on how a
//! block runs.

use super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Body, ExprKind, Program, Slot, Stmt, StmtKind, TableId, UnitId};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::{BTreeMap, BTreeSet};

/// A step of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A table.
    Table(TableId),
    /// The statement that begins at this byte.
    Statement(u32),
    /// The end of the control.
    End,
    /// What `exit` or `return` leads to, which p4c may rewrite.
    Unknown,
}

/// Successors of a table at one of its applications.
type Successors = (BTreeSet<Step>, Span);

/// A diagnostic for each table with different successors.
pub(super) fn check(program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    let Body::Control { stmts, .. } = &program.units[control.index()].body else { return };
    let mut walk = Walk::default();
    walk.list(stmts, Step::End);
    for (table, places) in walk.tables {
        let Some((first, others)) = places.split_first() else { continue };
        if places.iter().any(|(steps, _)| steps.contains(&Step::Unknown)) {
            continue;
        }
        if let Some((_, at)) = others.iter().find(|(steps, _)| *steps != first.0) {
            let name = &program.tables[table.index()].name;
            let message = format!("another step follows `{name}` here");
            let refused = rules::ONE_SUCCESSOR.refuse(*at, message);
            found.push(refused.with_place(first.1, "than here").into());
        }
    }
}

#[derive(Default)]
struct Walk {
    tables: BTreeMap<TableId, Vec<Successors>>,
}

impl Walk {
    fn list(&mut self, stmts: &[Stmt], end: Step) {
        for (at, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[at + 1..];
            let next = first(rest, end);
            match &stmt.kind {
                StmtKind::Apply { table, hit, action } => {
                    let steps = match hit.or(*action) {
                        None => BTreeSet::from([next]),
                        Some(outcome) => by_outcome(outcome, rest, end),
                    };
                    self.tables.entry(*table).or_default().push((steps, stmt.span));
                }
                _ => visit::inner_lists(stmt).into_iter().for_each(|list| self.list(list, next)),
            }
        }
    }
}

/// The first step of a list, or what is behind it.
fn first(stmts: &[Stmt], end: Step) -> Step {
    let Some((stmt, rest)) = stmts.split_first() else { return end };
    match &stmt.kind {
        StmtKind::Apply { table, .. } => Step::Table(*table),
        StmtKind::Block { body, .. } => first(body, first(rest, end)),
        StmtKind::Leave(_) => Step::Unknown,
        // A declaration without a value.
        StmtKind::Set(_, value)
            if matches!(value.kind, ExprKind::Const(0)) && value.span == stmt.span =>
        {
            first(rest, end)
        }
        _ => Step::Statement(stmt.span.start),
    }
}

/// The steps behind `if (table.apply().hit)` and `switch (table.apply().action_run)`.
fn by_outcome(outcome: Slot, rest: &[Stmt], end: Step) -> BTreeSet<Step> {
    let Some((stmt, rest)) = rest.split_first() else { return [Step::Unknown].into() };
    let (StmtKind::If { condition: by, .. } | StmtKind::Switch { subject: by, .. }) = &stmt.kind
    else {
        return [Step::Unknown].into();
    };
    if !visit::reads(by, outcome) {
        return [Step::Unknown].into();
    }
    let next = first(rest, end);
    visit::inner_lists(stmt).into_iter().map(|list| first(list, next)).collect()
}
