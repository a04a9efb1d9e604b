//! The steps behind each application of a table, after
//! `backends/bmv2/common/controlFlowGraph.cpp`.
//!
//! bmv2 stores one successor of a table for each outcome, so a table that a control applies in
//! several places has the same successors in all of them. p4c makes an `exit`, and a `return` in a
//! `switch`, an assignment to a flag; any other `return` leads behind its control. Uses the IR; must
//! not depend on an architecture, which passes its rule.

use crate::rule::Rule;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Body, Label, Program, Slot, Stmt, StmtKind, TableId, UnitId};
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
type Successors = (BTreeSet<Step>, Span);

/// A diagnostic for each table with different successors, which break `rule`.
pub fn check(program: &Program, control: UnitId, rule: &'static Rule, found: &mut Vec<Diagnostic>) {
    let unit = &program.units[control.index()];
    let Body::Control { stmts, .. } = &unit.body else { return };
    let exits = program.declared.exits.iter().copied().collect();
    let (behind, tables) = (HashMap::new(), BTreeMap::new());
    let mut walk = Walk { exits, behind, flagged: false, tables };
    walk.list(stmts, Step::End);
    for (table, places) in walk.tables {
        let Some((first, others)) = places.split_first() else { continue };
        if places.iter().any(|(steps, _)| steps.contains(&Step::Unknown)) {
            continue;
        }
        if let Some((_, at)) = others.iter().find(|(steps, _)| *steps != first.0) {
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
    /// True inside of a `switch`: a `return` sets a flag there.
    flagged: bool,
    tables: BTreeMap<TableId, Vec<Successors>>,
}

impl Walk {
    fn list(&mut self, stmts: &[Stmt], end: Step) {
        for (at, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[at + 1..];
            let next = self.first(rest, end);
            match &stmt.kind {
                StmtKind::Apply { table, hit, action } => {
                    let steps = match hit.or(*action) {
                        None => BTreeSet::from([next]),
                        Some(outcome) => self.by_outcome(outcome, rest, end),
                    };
                    self.tables.entry(*table).or_default().push((steps, stmt.span));
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
            _ => Step::Statement(stmt),
        }
    }

    /// The steps behind `if (table.apply().hit)` and `switch (table.apply().action_run)`.
    fn by_outcome(&mut self, outcome: Slot, rest: &[Stmt], end: Step) -> BTreeSet<Step> {
        let Some((stmt, rest)) = rest.split_first() else { return [Step::Unknown].into() };
        let (StmtKind::If { condition: by, .. } | StmtKind::Switch { subject: by, .. }) =
            &stmt.kind
        else {
            return [Step::Unknown].into();
        };
        if !visit::reads(by, outcome) {
            return [Step::Unknown].into();
        }
        let next = self.first(rest, end);
        self.inside(stmt, |walk| {
            visit::inner_lists(stmt).into_iter().map(|list| walk.first(list, next)).collect()
        })
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
