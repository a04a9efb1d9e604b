//! Dependencies of every value, statement by statement.
//!
//! Each variable of the frame has the set of state variables that it depends on. A statement under
//! a condition depends on the condition too, and so does any statement after a conditional
//! `return`.

use super::access_steps::{Kind, StateAccess, Steps};
use super::variable_set::VariableSet;
use super::variables::Variables;
use sojourn_p4::ir::{
    Expr, ExprKind, Label, Layout, Program, Slot, Stmt, StmtKind, TableId, Unit, WideSlot,
};
use sojourn_p4::source::Span;
use std::collections::{BTreeMap, HashMap};

/// A variable of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// A variable of at most 128 bits.
    Narrow(Slot),
    /// A wider variable.
    Wide(WideSlot),
}

/// Results of the walk over a control.
#[derive(Debug, Default)]
pub struct ControlDependencies {
    /// The statements that access state.
    pub steps: Steps,
    /// For each pair of variables, the first position where one flows into the other.
    pub flows: BTreeMap<(usize, usize), Span>,
}

/// Iterations of a loop after which no new dependencies are expected.
const ROUNDS: usize = 8;

/// Dependencies of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueDependencies {
    /// The variables that its value was computed from.
    pub value: VariableSet,
    /// Variables that decide whether it was computed.
    pub context: VariableSet,
}

impl ValueDependencies {
    fn add(&mut self, other: &ValueDependencies) {
        self.value.union_with(&other.value);
        self.context.union_with(&other.context);
    }
}

type Env = HashMap<Cell, ValueDependencies>;

/// Walks over the statements of a control.
pub fn analyse_control(
    program: &Program,
    unit: &Unit,
    variables: &Variables,
    stmts: &[Stmt],
) -> ControlDependencies {
    let mut walk = Walk {
        program,
        unit,
        variables,
        env: Env::new(),
        dead: false,
        context: VariableSet::default(),
        left: Vec::new(),
        memory: HashMap::new(),
        found: ControlDependencies::default(),
        depth: 0,
    };
    walk.list(stmts);
    walk.found
}

pub(super) struct Walk<'p> {
    pub program: &'p Program,
    pub unit: &'p Unit,
    pub variables: &'p Variables,
    pub env: Env,
    /// True behind a `return`.
    dead: bool,
    /// Dependencies of this statement's execution.
    pub context: VariableSet,
    /// Blocks left under conditions, with the facts at that point.
    left: Vec<(Label, VariableSet, Env)>,
    /// Cells that represent the memory of a register while one of its actions is analysed.
    pub memory: HashMap<Cell, usize>,
    pub found: ControlDependencies,
    pub depth: u32,
}

impl Walk<'_> {
    pub fn list(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if self.dead {
                return;
            }
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                self.branch(condition, then, otherwise, span, Kind::If);
            }
            StmtKind::Switch { subject, cases, default } => {
                let step =
                    self.reading(StateAccess::new(Kind::If, subject.span, self.depth), subject);
                let mut arms: Vec<&[Stmt]> =
                    cases.iter().map(|(_, body)| body.as_slice()).collect();
                arms.push(default);
                self.arms(step, &arms);
            }
            StmtKind::Block { label, body } => {
                self.list(body);
                self.arrive(*label);
            }
            StmtKind::Loop { label, body } => self.repeat(*label, body),
            StmtKind::Leave(label) => {
                self.left.push((*label, self.context.clone(), std::mem::take(&mut self.env)));
                self.dead = true;
            }
            StmtKind::Apply { table, hit, action } => {
                let value = self.table(*table, span);
                for slot in [hit, action].into_iter().flatten() {
                    let known =
                        ValueDependencies { value: value.clone(), context: self.condition() };
                    self.env.insert(Cell::Narrow(*slot), known);
                }
            }
            StmtKind::Call(call) => self.call(call),
            StmtKind::Set(slot, value) => self.set(&[Cell::Narrow(*slot)], value, span, true),
            StmtKind::SetWide(slot, value) => self.set(&[Cell::Wide(*slot)], value, span, true),
            StmtKind::SetSlice { target, value, .. } => {
                self.set(&[Cell::Narrow(*target)], value, span, false);
            }
            StmtKind::SetWideSlice { target, value, .. } => {
                self.set(&[Cell::Wide(*target)], value, span, false);
            }
            StmtKind::SetElement { base, stride, count, value, .. } => {
                let cells = (0..*count).map(|at| Cell::Narrow(Slot(base.0 + at * stride)));
                self.set(&cells.collect::<Vec<_>>(), value, span, false);
            }
            StmtKind::SetWideElement { base, stride, count, value, .. } => {
                let cells = (0..*count).map(|at| Cell::Wide(WideSlot(base.0 + at * stride)));
                self.set(&cells.collect::<Vec<_>>(), value, span, false);
            }
            StmtKind::Copy { narrow: (from, to, count), wide: (wide, to_wide, wides) } => {
                let narrow = (0..*count)
                    .map(|at| (Cell::Narrow(Slot(from.0 + at)), Cell::Narrow(Slot(to.0 + at))));
                let wide = (0..*wides).map(|at| {
                    (Cell::Wide(WideSlot(wide.0 + at)), Cell::Wide(WideSlot(to_wide.0 + at)))
                });
                self.copy(narrow.chain(wide).collect(), span);
            }
            _ => {}
        }
    }

    /// An `if`, and the `else if` that follows.
    fn branch(
        &mut self,
        condition: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
        span: Span,
        kind: Kind,
    ) {
        if let ExprKind::Const(value) = condition.kind {
            return self.list(if value == 0 { otherwise } else { then });
        }
        let step = self.reading(StateAccess::new(kind, condition.span, self.depth), condition);
        let decided = step.depends();
        self.found.steps.push(step);
        let at = self.found.steps.list.len() - 1;
        let (before, outer) = (self.env.clone(), self.context.clone());
        self.context.union_with(&decided);
        self.inside(then);
        let after = std::mem::replace(&mut self.env, before);
        let gone = std::mem::replace(&mut self.dead, false);
        if let Some(StmtKind::If { condition, then, otherwise: rest }) = else_if(otherwise, span) {
            self.list(&otherwise[..otherwise.len() - 1]);
            self.branch(condition, then, rest, span, Kind::ElseIf);
        } else if !otherwise.is_empty() {
            let row = self.found.steps.list.len();
            let place = StateAccess::new(Kind::Else, otherwise[0].span, self.depth);
            self.found.steps.push(place);
            self.inside(otherwise);
            self.found.steps.close(row);
        }
        self.join(after, gone);
        self.context = outer;
        self.found.steps.close(at);
    }

    /// Alternative branches under a deciding step.
    fn arms(&mut self, step: StateAccess, arms: &[&[Stmt]]) {
        let decided = step.depends();
        self.found.steps.push(step);
        let at = self.found.steps.list.len() - 1;
        let (before, outer) = (self.env.clone(), self.context.clone());
        self.context.union_with(&decided);
        let mut dead = true;
        let mut after = Env::new();
        for arm in arms {
            self.env = before.clone();
            self.dead = false;
            self.inside(arm);
            if !self.dead {
                dead = false;
                after = united(after, std::mem::take(&mut self.env));
            }
        }
        self.env = after;
        self.dead = dead && !arms.is_empty();
        self.context = outer;
        self.found.steps.close(at);
    }

    fn inside(&mut self, stmts: &[Stmt]) {
        self.depth += 1;
        self.list(stmts);
        self.depth -= 1;
    }

    /// Joins the facts of two paths.
    fn join(&mut self, other: Env, other_dead: bool) {
        match (self.dead, other_dead) {
            (false, false) => self.env = united(std::mem::take(&mut self.env), other),
            (true, false) => (self.env, self.dead) = (other, false),
            _ => {}
        }
    }

    /// The end of a block: joins the paths that left it, with their dependencies.
    fn arrive(&mut self, label: Label) {
        let left = std::mem::take(&mut self.left);
        for (to, context, env) in left {
            if to == label {
                self.join(env, false);
            } else {
                self.left.push((to, context, env));
            }
        }
    }

    fn repeat(&mut self, label: Label, body: &[Stmt]) {
        let start = self.found.steps.list.len();
        for _ in 0..ROUNDS {
            self.found.steps.list.truncate(start);
            let before = self.env.clone();
            self.list(body);
            if self.dead {
                break;
            }
            let after = united(before.clone(), std::mem::take(&mut self.env));
            let settled = after == before;
            self.env = after;
            if settled {
                break;
            }
        }
        self.arrive(label);
    }

    /// Dependencies of a table's result.
    fn table(&mut self, id: TableId, span: Span) -> VariableSet {
        let table = &self.program.tables[id.index()];
        let mut step = StateAccess::new(Kind::If, span, self.depth);
        for key in &table.keys {
            step = self.reading(step, &key.expr);
        }
        let decided = step.depends();
        let mut arms: Vec<&[Stmt]> = table.actions.iter().map(|a| a.body.as_slice()).collect();
        arms.push(&[]);
        self.arms(step, &arms);
        decided
    }

    /// Dependencies of this statement's execution, including earlier exits.
    pub fn condition(&self) -> VariableSet {
        self.left.iter().fold(self.context.clone(), |all, (_, context, _)| all.union(context))
    }

    fn set(&mut self, cells: &[Cell], value: &Expr, span: Span, whole: bool) {
        let step = self.reading(StateAccess::new(Kind::Do, span, self.depth), value);
        self.assign(step, cells, whole);
    }

    /// Records an assignment, after which `cells` depend on the step's reads.
    pub fn assign(&mut self, mut step: StateAccess, cells: &[Cell], whole: bool) {
        let value = step.reads.union(&step.uses);
        let context = step.implied.union(&self.condition());
        let depends = value.union(&context);
        for cell in cells {
            if let Some(variable) = self.memory.get(cell) {
                step.writes.push((*variable, depends.clone()));
                self.flow(&depends, *variable, step.span);
            }
            step.drops |= self.is_drop(*cell);
            let mut now = ValueDependencies { value: value.clone(), context: context.clone() };
            if let Some(known) = self.env.get(cell).filter(|_| !whole) {
                now.add(known);
            }
            self.env.insert(*cell, now);
        }
        if step.drops {
            step.uses.union_with(&depends);
        }
        self.found.steps.push(step);
    }

    fn copy(&mut self, pairs: Vec<(Cell, Cell)>, span: Span) {
        for (from, to) in pairs {
            let mut step = StateAccess::new(Kind::Do, span, self.depth);
            self.read_cell(&mut step, from);
            self.assign(step, &[to], true);
        }
    }

    /// Records that a value written to a variable depends on these.
    pub fn flow(&mut self, from: &VariableSet, to: usize, span: Span) {
        for variable in from.iter() {
            self.found.flows.entry((variable, to)).or_insert(span);
        }
    }

    /// The step with the expression's reads added.
    pub fn reading(&self, mut step: StateAccess, expr: &Expr) -> StateAccess {
        self.read(&mut step, expr);
        step
    }

    pub fn read(&self, step: &mut StateAccess, expr: &Expr) {
        match &expr.kind {
            ExprKind::Slot(slot) => self.read_cell(step, Cell::Narrow(*slot)),
            ExprKind::WideSlot(slot) => self.read_cell(step, Cell::Wide(*slot)),
            ExprKind::Element { base, stride, count, index } => {
                for at in 0..*count {
                    self.read_cell(step, Cell::Narrow(Slot(base.0 + at * stride)));
                }
                self.read(step, index);
            }
            ExprKind::WideElement { base, stride, count, index } => {
                for at in 0..*count {
                    self.read_cell(step, Cell::Wide(WideSlot(base.0 + at * stride)));
                }
                self.read(step, index);
            }
            ExprKind::Unary(_, a) | ExprKind::Slice(a, _) | ExprKind::Cast(a) => self.read(step, a),
            ExprKind::Binary(_, a, b) => {
                self.read(step, a);
                self.read(step, b);
            }
            ExprKind::Mux(c, a, b) => {
                self.read(step, c);
                self.read(step, a);
                self.read(step, b);
            }
            _ => {}
        }
    }

    pub fn read_cell(&self, step: &mut StateAccess, cell: Cell) {
        let Some(known) = self.env.get(&cell) else { return };
        match self.memory.get(&cell) {
            Some(variable) if known.value == VariableSet::single(*variable) => {
                step.reads.union_with(&known.value)
            }
            // Dependencies that enclose this statement anyway are not recorded again.
            _ => {
                step.uses.union_with(&known.value);
                step.uses.union_with(&known.context.without(&self.condition()));
            }
        }
        step.implied.union_with(&known.context);
    }

    /// True for the field that drops a packet on its way out.
    fn is_drop(&self, cell: Cell) -> bool {
        let Cell::Narrow(slot) = cell else { return false };
        let info = self.unit.slots.get(slot.index());
        info.is_some_and(|info| info.name.ends_with(".drop_ctl"))
    }
}

/// The cells of a value.
pub fn cells(layout: &Layout) -> impl Iterator<Item = Cell> + use<> {
    let range = layout.range();
    let narrow = range.narrow().map(|at| Cell::Narrow(Slot(at as u32)));
    narrow.chain(range.wide().map(|at| Cell::Wide(WideSlot(at as u32))))
}

fn united(mut into: Env, other: Env) -> Env {
    for (cell, set) in other {
        into.entry(cell).and_modify(|known| known.add(&set)).or_insert(set);
    }
    into
}

/// The `if` of an `else if`: the last statement, preceded only by calls of its condition.
fn else_if(otherwise: &[Stmt], whole: Span) -> Option<&StmtKind> {
    let (last, calls) = otherwise.split_last()?;
    let StmtKind::If { condition, .. } = &last.kind else { return None };
    let inside = |outer: Span, inner: Span| outer.start <= inner.start && inner.end <= outer.end;
    let all = calls.iter().all(|call| inside(condition.span, call.span));
    (all && inside(whole, last.span)).then_some(&last.kind)
}
