//! The expressions that a control evaluates, with what is known of the variables in them.
//!
//! The compiler writes the value of an assigned variable into the statements behind it and folds
//! constants, within `apply` and within each action. It looks neither from `apply` into an action
//! nor back. So does this walk: what a rule of the chip looks at is an operation and the unit that
//! has to execute it, whatever kind of variable its operands are. It knows the IR and no rule.

use crate::constant_folding::fold;
use crate::fit::bits::{is_condition, is_plain};
use crate::fit::live::places;
use crate::register_action::same_expression;
use sojourn_p4::ir::{
    Arg, Body, Expr, ExprKind, ExternCall, Label, Layout, Program, Slot, Stmt, StmtKind, TableId,
    UnitId,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::{HashMap, HashSet};

/// Nodes of an expression that is remembered; a larger one is looked at where it stands only.
const REMEMBERED: usize = 64;

/// The unit of the chip that evaluates an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The gateway of a condition in `apply`.
    Gateway,
    /// An instruction of an action; the variable that it writes, if there is one.
    Instruction(Option<Slot>),
    /// The crossbars and hashes in front of a table, register or extern, and conditions in actions.
    Input,
}

/// An expression, evaluated.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// What evaluates it.
    pub by: Executor,
    /// The expression, copies and constants written into it.
    pub expr: Expr,
    /// Variables in it that hold a result computed in the same `apply` or action.
    pub computed: HashSet<Slot>,
}

/// An `if` in an action.
#[derive(Clone, Debug)]
pub struct Choice<'p> {
    /// The condition, copies and constants written into it.
    pub condition: Expr,
    /// Runs where it is true.
    pub then: &'p [Stmt],
    /// Runs where it is false.
    pub otherwise: &'p [Stmt],
    /// The action data of the table's action.
    pub data: HashSet<Slot>,
}

/// Expressions that a control evaluates, each with the unit that executes it.
#[derive(Debug, Default)]
pub struct Evaluations<'p> {
    /// Every expression, in the order of the program.
    pub all: Vec<Evaluated>,
    /// Every `if` in an action.
    pub choices: Vec<Choice<'p>>,
    /// Variables that are read where their value is not known, or seen behind the control.
    pub live: HashSet<Slot>,
}

/// Collects what a control evaluates.
pub fn evaluations(program: &Program, control: UnitId) -> Evaluations<'_> {
    let unit = &program.units[control.index()];
    let Body::Control { stmts, .. } = &unit.body else { return Evaluations::default() };
    let mut walk = Walk {
        program,
        unit: control,
        found: Evaluations::default(),
        leaving: HashMap::new(),
        action: None,
        data: HashSet::new(),
    };
    walk.list(stmts, Some(State::default()));
    let mut found = walk.found;
    found.live.extend(unit.params.iter().flat_map(|param| slots(&param.layout)));
    for object in program.objects.iter().filter(|object| object.unit == Some(control)) {
        for method in &object.methods {
            visit::statements(&method.body, &mut |stmt| {
                visit::expressions(stmt).into_iter().for_each(|e| note_reads(e, &mut found.live));
            });
        }
    }
    found
}

/// Values of variables, as expressions over other variables.
#[derive(Clone, Debug, Default)]
struct State(HashMap<Slot, Expr>);

impl State {
    /// `slot` is written: neither its value is known any longer, nor what was computed with it.
    fn forget(&mut self, slot: Slot) {
        self.0.remove(&slot);
        self.0.retain(|_, value| !visit::reads(value, slot));
    }

    fn learn(&mut self, slot: Slot, value: Expr) {
        if !visit::reads(&value, slot) && size(&value) <= REMEMBERED {
            self.0.insert(slot, value);
        }
    }

    /// An expression with copies, constants and conditions written into it.
    fn full(&self, expr: &Expr) -> Expr {
        let mut full = expr.clone();
        visit::change_expression(&mut full, &mut |expr| {
            let ExprKind::Slot(slot) = expr.kind else { return true };
            if let Some(value) = self.0.get(&slot).filter(|value| is_written_in(value)) {
                let span = expr.span;
                *expr = value.clone();
                if is_plain(expr) {
                    expr.span = span;
                }
            }
            false
        });
        fold(&mut full);
        full
    }

    fn computed(&self, expr: &Expr) -> HashSet<Slot> {
        let mut read = HashSet::new();
        note_reads(expr, &mut read);
        read.retain(|slot| self.0.contains_key(slot));
        read
    }

    /// What is known in both.
    fn meet(mut self, other: &State) -> State {
        self.0.retain(|slot, value| other.0.get(slot).is_some_and(|o| same_expression(o, value)));
        self
    }
}

fn is_written_in(value: &Expr) -> bool {
    is_plain(value) || is_condition(value)
}

fn join(ends: impl IntoIterator<Item = Option<State>>) -> Option<State> {
    ends.into_iter().flatten().reduce(|a, b| a.meet(&b))
}

struct Walk<'p> {
    program: &'p Program,
    unit: UnitId,
    found: Evaluations<'p>,
    /// What is known where a block is left.
    leaving: HashMap<Label, Vec<State>>,
    /// The action whose statements are walked.
    action: Option<Span>,
    /// The data of the table's action.
    data: HashSet<Slot>,
}

impl<'p> Walk<'p> {
    /// A list of statements; statements of one action among them are walked as it.
    fn list(&mut self, stmts: &'p [Stmt], mut state: Option<State>) -> Option<State> {
        let of = |stmt: &Stmt| self.program.declared.in_actions.get(&stmt.span).copied();
        let actions: Vec<Option<Span>> = match self.action {
            Some(_) => vec![None; stmts.len()],
            None => stmts.iter().map(of).collect(),
        };
        let mut at = 0;
        while at < stmts.len() {
            let before = state?;
            let Some(action) = actions[at] else {
                state = self.statement(&stmts[at], before);
                at += 1;
                continue;
            };
            let count = actions[at..].iter().take_while(|other| **other == Some(action)).count();
            state = Some(self.called(action, &stmts[at..at + count], before));
            at += count;
        }
        state
    }

    /// The statements of an action that `apply` calls. Nothing is known in it but its arguments,
    /// and nothing afterwards of what it writes.
    fn called(&mut self, action: Span, body: &'p [Stmt], mut outside: State) -> State {
        let own = self.parameters(body);
        let is_argument = |(slot, value): &(&Slot, &Expr)| own.contains(slot) && is_plain(value);
        let arguments = outside.0.iter().filter(is_argument);
        let start = arguments.map(|(slot, value)| (*slot, value.clone())).collect();
        self.action = Some(action);
        let _ = self.list(body, Some(State(start)));
        self.action = None;
        written(body, &mut |slot| outside.forget(slot));
        outside
    }

    fn statement(&mut self, stmt: &'p Stmt, mut state: State) -> Option<State> {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                return self.branch(condition, then, otherwise, state);
            }
            StmtKind::Switch { subject, cases, default } => {
                self.evaluate(Executor::Input, subject, &state);
                let arms = cases.iter().map(|(_, body)| body).chain([default]);
                let ends: Vec<_> = arms.map(|arm| self.list(arm, Some(state.clone()))).collect();
                return join(ends);
            }
            StmtKind::Block { label, body } => {
                let end = self.list(body, Some(state));
                let left = self.leaving.remove(label).unwrap_or_default();
                return join(left.into_iter().map(Some).chain([end]));
            }
            // A loop is refused as one; what it evaluates is not looked at.
            StmtKind::Loop { body, .. } => written(body, &mut |slot| state.forget(slot)),
            StmtKind::Leave(label) => {
                self.leaving.entry(*label).or_default().push(state);
                return None;
            }
            StmtKind::Apply { table, .. } => self.apply(*table, stmt, &mut state),
            StmtKind::Set(slot, value) => self.set(*slot, value, stmt.span, &mut state),
            StmtKind::Copy { narrow: (from, to, count), .. } => {
                self.copy(*from, *to, *count, stmt.span, &mut state);
            }
            _ => self.other(stmt, &mut state),
        }
        Some(state)
    }

    fn branch(
        &mut self,
        condition: &Expr,
        then: &'p [Stmt],
        otherwise: &'p [Stmt],
        state: State,
    ) -> Option<State> {
        let full = state.full(condition);
        if let ExprKind::Const(value) = full.kind {
            return self.list(if value == 0 { otherwise } else { then }, Some(state));
        }
        match self.action {
            Some(_) => {
                let data = self.data.clone();
                self.evaluate(Executor::Input, condition, &state);
                self.found.choices.push(Choice { condition: full, then, otherwise, data });
            }
            None => self.evaluate(Executor::Gateway, condition, &state),
        }
        let yes = self.list(then, Some(state.clone()));
        let no = self.list(otherwise, Some(state));
        join([yes, no])
    }

    fn set(&mut self, slot: Slot, value: &Expr, span: Span, state: &mut State) {
        // A declaration without a value: the variable is 0 here and undefined for the compiler.
        if matches!(value.kind, ExprKind::Const(0)) && value.span == span {
            return state.forget(slot);
        }
        let by = Executor::Instruction(Some(slot));
        self.evaluate(by, value, state);
        let full = state.full(value);
        state.forget(slot);
        state.learn(slot, full);
    }

    fn copy(&mut self, from: Slot, to: Slot, count: u32, span: Span, state: &mut State) {
        let pairs = || (0..count).map(|at| (Slot(from.0 + at), Slot(to.0 + at)));
        let values: Vec<_> = pairs().map(|(from, _)| state.0.get(&from).cloned()).collect();
        pairs().for_each(|(_, to)| state.forget(to));
        for ((from, to), value) in pairs().zip(values) {
            self.found.live.insert(from);
            if let Some(value) = value.filter(is_written_in) {
                state.learn(to, Expr { span, ..value });
            }
        }
    }

    fn apply(&mut self, id: TableId, stmt: &Stmt, state: &mut State) {
        let table = &self.program.tables[id.index()];
        for key in &table.keys {
            self.evaluate(Executor::Input, &key.expr, state);
        }
        for action in &table.actions {
            self.data = action.data.iter().flat_map(|(_, layout)| slots(layout)).collect();
            self.action = Some(action.span);
            let _ = self.list(&action.body, Some(State::default()));
            self.action = None;
            self.data.clear();
            written(&action.body, &mut |slot| state.forget(slot));
        }
        visit::written(stmt, &mut |slot| state.forget(slot));
    }

    /// Everything else that evaluates expressions and writes variables.
    fn other(&mut self, stmt: &Stmt, state: &mut State) {
        let by = match &stmt.kind {
            StmtKind::Call(call) if is_input(self.program, call) => Executor::Input,
            _ => Executor::Instruction(None),
        };
        for expr in visit::expressions(stmt) {
            self.evaluate(by, expr, state);
        }
        if let StmtKind::Call(call) = &stmt.kind {
            let both = call.args.iter().filter_map(|arg| match arg {
                Arg::InOut(layout) => Some(layout),
                _ => None,
            });
            self.found.live.extend(both.flat_map(slots));
        }
        visit::written(stmt, &mut |slot| state.forget(slot));
    }

    fn evaluate(&mut self, by: Executor, expr: &Expr, state: &State) {
        let full = state.full(expr);
        note_reads(&full, &mut self.found.live);
        let computed = state.computed(&full);
        self.found.all.push(Evaluated { by, expr: full, computed });
    }

    /// The parameters of a called action: they stand between its name and its body.
    fn parameters(&self, body: &[Stmt]) -> HashSet<Slot> {
        let Some(action) = body.first().and_then(|s| self.program.declared.in_actions.get(&s.span))
        else {
            return HashSet::new();
        };
        let first = body[0].span.start;
        let slots = self.program.units[self.unit.index()].slots.iter().enumerate();
        let inside =
            slots.filter(|(_, info)| action.end <= info.span.start && info.span.start < first);
        inside.map(|(at, _)| Slot(at as u32)).collect()
    }
}

/// True for a call whose arguments reach it over crossbars and hashes.
fn is_input(program: &Program, call: &ExternCall) -> bool {
    let of = call.object.map_or("", |object| &*program.objects[object.index()].of);
    matches!(of, "Hash" | "RegisterAction" | "Register" | "Counter" | "Meter" | "Lpf" | "Wred")
        && &*call.name != "write"
}

fn note_reads(expr: &Expr, read: &mut HashSet<Slot>) {
    match &expr.kind {
        ExprKind::Slot(slot) => {
            read.insert(*slot);
        }
        ExprKind::Element { base, stride, count, .. } => {
            read.extend((0..*count).map(|at| Slot(base.0 + at * stride)));
        }
        _ => {}
    }
    visit::operands(expr).into_iter().for_each(|operand| note_reads(operand, read));
}

fn written(stmts: &[Stmt], see: &mut dyn FnMut(Slot)) {
    visit::statements(stmts, &mut |stmt| visit::written(stmt, see));
}

fn slots(layout: &Layout) -> Vec<Slot> {
    use crate::fit::bits::Place;
    let narrow = |place| match place {
        Place::Narrow(slot) => Some(slot),
        Place::Wide(_) => None,
    };
    places(layout).filter_map(narrow).collect()
}

fn size(expr: &Expr) -> usize {
    1 + visit::operands(expr).into_iter().map(size).sum::<usize>()
}
