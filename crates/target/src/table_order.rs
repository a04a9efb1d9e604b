//! The order in which the paths of a control meet tables.
//!
//! Switches and compilers have one node for each table, however often a program applies it, so that
//! a path from a table back to itself cannot be run. Conditions are not looked at: both branches of
//! an `if` are paths. Uses the IR; must not depend on an architecture.

use sojourn_p4::ir::{
    Body, Expr, ExprKind, Label, Program, Slot, Stmt, StmtKind, TableId, Unary, UnitId,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Tables that a packet may have met.
type Met = BTreeMap<TableId, Place>;

/// A table on a path: its first application, and whether it may have hit.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The first application.
    span: Span,
    /// False if the table was missed on this path.
    may_have_hit: bool,
}

/// Pairs of tables in the order of some path.
#[derive(Debug, Default)]
pub struct Order {
    /// Each table with those behind it, and the two applications.
    behind: BTreeMap<TableId, BTreeMap<TableId, (Span, Span)>>,
    /// Pairs of tables of which a path meets the second after a hit in the first.
    behind_hit: BTreeSet<(TableId, TableId)>,
    /// The table of which a variable tells whether it was hit.
    hits: HashMap<Slot, TableId>,
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

    /// Whether a path meets `second` behind `first`.
    pub fn meets_behind(&self, first: TableId, second: TableId) -> bool {
        self.behind.get(&first).is_some_and(|behind| behind.contains_key(&second))
    }

    /// Whether a path meets `second` after a hit in `first`.
    pub fn meets_behind_hit(&self, first: TableId, second: TableId) -> bool {
        self.behind_hit.contains(&(first, second))
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

    /// The table whose outcome a condition asks, and whether it is true for a hit.
    fn outcome(&self, condition: &Expr) -> Option<(TableId, bool)> {
        let (slot, hit) = asked(condition)?;
        self.hits.get(&slot).map(|table| (*table, hit))
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
            StmtKind::Apply { table, hit, .. } => {
                for (before, place) in &met {
                    let behind = self.behind.entry(*before).or_default();
                    behind.entry(*table).or_insert((place.span, stmt.span));
                    if place.may_have_hit {
                        self.behind_hit.insert((*before, *table));
                    }
                }
                self.hits.extend(hit.map(|slot| (slot, *table)));
                met.entry(*table).or_insert(Place { span: stmt.span, may_have_hit: true });
                Some(met)
            }
            StmtKind::If { condition, then, otherwise } if self.outcome(condition).is_some() => {
                let (table, when_true) = self.outcome(condition)?;
                let mut missed = met.clone();
                missed.entry(table).and_modify(|place| place.may_have_hit = false);
                let (of_then, of_else) = if when_true { (met, missed) } else { (missed, met) };
                let then = self.list(then, Some(of_then));
                join([then, self.list(otherwise, Some(of_else))])
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

/// True for a hit, false for a miss, behind the number of the variable that is asked.
fn asked(condition: &Expr) -> Option<(Slot, bool)> {
    match &condition.kind {
        ExprKind::Slot(slot) => Some((*slot, true)),
        ExprKind::Unary(Unary::Not, inner) => asked(inner).map(|(slot, hit)| (slot, !hit)),
        _ => None,
    }
}

/// Union of the tables that several paths have met.
fn join(ends: impl IntoIterator<Item = Option<Met>>) -> Option<Met> {
    ends.into_iter().flatten().reduce(|mut a, b| {
        b.into_iter().for_each(|(table, place)| {
            let may_have_hit = place.may_have_hit;
            a.entry(table).and_modify(|known| known.may_have_hit |= may_have_hit).or_insert(place);
        });
        a
    })
}
