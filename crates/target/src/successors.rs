//! The steps behind each application of a table, after
//! `backends/bmv2/common/controlFlowGraph.cpp`.
//!
//! bmv2 stores one successor of a table for each outcome, so a table that a control applies in
//! several places has the same successors in all of them. p4c makes an `exit`, and a `return` in a
//! `switch`, an assignment to a flag; any other `return` leads behind its control. Uses the IR; must
//! not depend on an architecture, which passes its rule.

use crate::def_use::values_used_by;
use crate::rule::Rule;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Body, Expr, ExprKind, Label, Program, Slot, Stmt, StmtKind, TableId, Unary, UnitId,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A step of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A table.
    Table(TableId),
    /// A statement, by its address: an inlined control has one for each application.
    Statement(*const Stmt),
    /// The end of the control.
    End,
    /// The step behind `break` or `continue`, which p4c may rewrite.
    Unknown,
}

/// Successors of a table at one of its applications.
#[derive(PartialEq, Eq)]
struct Successors {
    steps: BTreeSet<Step>,
    /// Number of outcomes that the control distinguishes: p4c compares that, too.
    outcomes: usize,
}

/// A diagnostic for each table with different successors, which break `rule`.
pub fn check(program: &Program, control: UnitId, rule: &'static Rule, found: &mut Vec<Diagnostic>) {
    let unit = &program.units[control.index()];
    let Body::Control { stmts, .. } = &unit.body else { return };
    let exits = program.declared.exits.iter().copied().collect();
    let (behind, tables) = (HashMap::new(), BTreeMap::new());
    let used = used(program, control);
    let mut walk = Walk { exits, behind, used, flagged: false, tables };
    walk.list(stmts, Step::End);
    for (table, places) in walk.tables {
        let Some((first, others)) = places.split_first() else { continue };
        if places.iter().any(|(next, _)| next.steps.contains(&Step::Unknown)) {
            continue;
        }
        if let Some((_, at)) = others.iter().find(|(next, _)| *next != first.0) {
            let name = &program.tables[table.index()].name;
            let message = format!("another step follows `{name}` here");
            let refused = rule.refuse(*at, message);
            let elsewhere = first.1 != *at;
            found.push(
                if elsewhere { refused.with_place(first.1, "than here") } else { refused }.into(),
            );
        }
    }
}

struct Walk {
    /// The `exit` statements outside of actions.
    exits: HashSet<Span>,
    /// The step behind each block.
    behind: HashMap<Label, Step>,
    /// Variables that are read, or seen behind the control.
    used: HashSet<Slot>,
    /// True inside of a `switch`: a `return` sets a flag there.
    flagged: bool,
    tables: BTreeMap<TableId, Vec<(Successors, Span)>>,
}

impl Walk {
    fn list(&mut self, stmts: &[Stmt], end: Step) {
        for (at, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[at + 1..];
            let next = self.first(rest, end);
            match &stmt.kind {
                StmtKind::Apply { table, hit, action } => {
                    let successors = match hit.or(*action) {
                        None => Successors { steps: [next].into(), outcomes: 1 },
                        Some(outcome) => self.by_outcome(outcome, rest, end),
                    };
                    self.tables.entry(*table).or_default().push((successors, stmt.span));
                }
                StmtKind::Block { label, body } => {
                    self.behind.insert(*label, next);
                    self.list(body, next);
                }
                StmtKind::Loop { label, body } => {
                    self.behind.insert(*label, Step::Unknown);
                    self.list(body, Step::Statement(stmt));
                }
                _ => self.inside(stmt, |walk| {
                    visit::inner_lists(stmt).into_iter().for_each(|list| walk.list(list, next));
                }),
            }
        }
    }

    /// True for an assignment of a variable to itself, or to one that is read nowhere.
    fn is_idle(&self, slot: Slot, value: &Expr) -> bool {
        matches!(value.kind, ExprKind::Slot(from) if from == slot) || !self.used.contains(&slot)
    }

    /// The first step of a list, or what is behind it.
    fn first(&mut self, stmts: &[Stmt], end: Step) -> Step {
        let Some((stmt, rest)) = stmts.split_first() else { return end };
        match &stmt.kind {
            StmtKind::Apply { table, .. } => Step::Table(*table),
            StmtKind::Block { label, body } => {
                let next = self.first(rest, end);
                self.behind.insert(*label, next);
                self.first(body, next)
            }
            StmtKind::Leave(_) if self.exits.contains(&stmt.span) => Step::Statement(stmt),
            StmtKind::Leave(label) => match self.behind.get(label) {
                Some(Step::Unknown) | None => Step::Unknown,
                Some(_) if self.flagged => Step::Statement(stmt),
                Some(next) => *next,
            },
            // Declarations, and copies of parameters that p4c leaves out.
            StmtKind::Copy { .. } => self.first(rest, end),
            StmtKind::Set(_, value) if value.span == stmt.span => self.first(rest, end),
            // p4c leaves out what changes nothing.
            StmtKind::Set(slot, value) if self.is_idle(*slot, value) => self.first(rest, end),
            StmtKind::If { then, otherwise, .. } if then.is_empty() && otherwise.is_empty() => {
                self.first(rest, end)
            }
            _ => Step::Statement(stmt),
        }
    }

    /// The steps behind `if (table.apply().hit)` and `switch (table.apply().action_run)`. p4c writes
    /// any other use of the outcome into statements of its own.
    fn by_outcome(&mut self, outcome: Slot, rest: &[Stmt], end: Step) -> Successors {
        let unknown = Successors { steps: [Step::Unknown].into(), outcomes: 1 };
        let Some((stmt, rest)) = rest.split_first() else { return unknown };
        let outcomes = match &stmt.kind {
            StmtKind::If { condition, .. } if asks(condition, outcome) => 2,
            StmtKind::Switch { subject, cases, default } if asks(subject, outcome) => {
                // p4c adds a `default` where there is none, and an edge for no label beside it.
                let labels: usize = cases.iter().map(|(labels, _)| labels.len()).sum();
                if labels == 0 && default.is_empty() { 1 } else { labels + 2 }
            }
            StmtKind::If { condition: by, .. } | StmtKind::Set(_, by)
                if visit::reads(by, outcome) =>
            {
                return Successors { steps: [Step::Statement(stmt)].into(), outcomes: 2 };
            }
            _ => return unknown,
        };
        let next = self.first(rest, end);
        let mut steps: BTreeSet<Step> = self.inside(stmt, |walk| {
            visit::inner_lists(stmt).into_iter().map(|list| walk.first(list, next)).collect()
        });
        if matches!(stmt.kind, StmtKind::Switch { .. }) {
            steps.insert(next);
        }
        Successors { steps, outcomes }
    }

    /// Looks at the lists of a statement; those of a `switch` are `flagged`.
    fn inside<T>(&mut self, stmt: &Stmt, look: impl FnOnce(&mut Walk) -> T) -> T {
        let outer = self.flagged;
        self.flagged |= matches!(stmt.kind, StmtKind::Switch { .. });
        let found = look(self);
        self.flagged = outer;
        found
    }
}

/// True for an outcome or its opposite.
fn asks(by: &Expr, outcome: Slot) -> bool {
    match &by.kind {
        ExprKind::Slot(slot) => *slot == outcome,
        ExprKind::Unary(Unary::Not, inner) => asks(inner, outcome),
        _ => false,
    }
}

/// The slots of a control that something reads, and those of its parameters.
fn used(program: &Program, control: UnitId) -> HashSet<Slot> {
    let params = &program.units[control.index()].params;
    let slots = params.iter().flat_map(|param| param.layout.range().narrow());
    let own = slots.map(|slot| Slot(slot as u32));
    own.chain(values_used_by(program, control)).collect()
}
