//! The order in which the paths of a control meet tables.
//!
//! Switches and compilers have one node for each table, however often a program applies it, so that
//! a path from a table back to itself cannot be run. Conditions are not looked at: both branches of
//! an `if` are paths. Uses the IR; must not depend on an architecture.

use sojourn_p4::ir::{Body, Label, Program, Stmt, StmtKind, TableId, UnitId};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Tables that a packet may have met, each with its first application.
type Met = BTreeMap<TableId, Span>;

/// Pairs of tables in the order of some path.
#[derive(Debug, Default)]
pub struct Order {
    /// Each table with those behind it, and the two applications.
    behind: BTreeMap<TableId, BTreeMap<TableId, (Span, Span)>>,
    /// Paths that have left a block and go on behind it.
    leaving: HashMap<Label, Met>,
}

/// A table that is met, on some path each, before and behind another one or itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The table.
    pub table: TableId,
    /// The other table, or the same.
    pub other: TableId,
    /// The application of `table`.
    pub first: Span,
    /// The application of `other` behind it.
    pub second: Span,
}

impl Cycle {
    /// The cycle, as a diagnostic at `second` says it.
    pub fn message(&self, program: &Program) -> String {
        let name = |id: TableId| &program.tables[id.index()].name;
        if self.table == self.other {
            return format!("a packet can meet `{}` twice", name(self.table));
        }
        format!(
            "`{}` is applied before `{}` here and behind it on another path",
            name(self.table),
            name(self.other)
        )
    }
}

impl Order {
    /// The order of the tables of a control.
    pub fn new(program: &Program, control: UnitId) -> Order {
        let mut order = Order::default();
        if let Body::Control { stmts, .. } = &program.units[control.index()].body {
            order.list(stmts, Some(Met::new()));
        }
        order
    }

    /// A table that is met twice on a path.
    pub fn repeated(&self) -> Option<Cycle> {
        self.behind.iter().find_map(|(table, behind)| {
            let (first, second) = *behind.get(table)?;
            Some(Cycle { table: *table, other: *table, first, second })
        })
    }

    /// Whether a path meets both tables.
    pub fn meets_both(&self, one: TableId, other: TableId) -> bool {
        let behind =
            |first, second| self.behind.get(&first).is_some_and(|b| b.contains_key(&second));
        behind(one, other) || behind(other, one)
    }

    /// Each table that is met before another one and, on another path, behind it; each pair once.
    pub fn cycles(&self) -> Vec<Cycle> {
        let mut reported = BTreeSet::new();
        let mut found = Vec::new();
        for (table, behind) in &self.behind {
            let other = behind.iter().find(|(other, _)| {
                *other != table && !reported.contains(*other) && self.reaches(**other, *table)
            });
            if let Some((other, (first, second))) = other {
                reported.insert(*table);
                found.push(Cycle { table: *table, other: *other, first: *first, second: *second });
            }
        }
        found
    }

    fn reaches(&self, from: TableId, to: TableId) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(table) = open.pop() {
            let Some(next) = self.behind.get(&table) else { continue };
            if next.contains_key(&to) {
                return true;
            }
            open.extend(next.keys().copied().filter(|id| seen.insert(*id)));
        }
        false
    }

    fn list(&mut self, stmts: &[Stmt], mut met: Option<Met>) -> Option<Met> {
        for stmt in stmts {
            met = self.statement(stmt, met?);
        }
        met
    }

    fn statement(&mut self, stmt: &Stmt, mut met: Met) -> Option<Met> {
        match &stmt.kind {
            StmtKind::Leave(label) => {
                let left = self.leaving.remove(label);
                self.leaving.extend(join([left, Some(met)]).map(|met| (*label, met)));
                None
            }
            StmtKind::Block { label, body } | StmtKind::Loop { label, body } => {
                let end = self.list(body, Some(met));
                join([end, self.leaving.remove(label)])
            }
            StmtKind::Apply { table, .. } => {
                for (before, first) in &met {
                    let behind = self.behind.entry(*before).or_default();
                    behind.entry(*table).or_insert((*first, stmt.span));
                }
                met.entry(*table).or_insert(stmt.span);
                Some(met)
            }
            StmtKind::If { .. } | StmtKind::Switch { .. } => {
                let lists = visit::inner_lists(stmt);
                let ends: Vec<_> =
                    lists.into_iter().map(|list| self.list(list, Some(met.clone()))).collect();
                join(ends)
            }
            _ => Some(met),
        }
    }
}

/// Union of the tables that several paths have met.
fn join(ends: impl IntoIterator<Item = Option<Met>>) -> Option<Met> {
    ends.into_iter().flatten().reduce(|mut a, b| {
        b.into_iter().for_each(|(table, span)| {
            a.entry(table).or_insert(span);
        });
        a
    })
}
