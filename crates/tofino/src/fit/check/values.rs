//! The expressions that a control evaluates, with what is known of the variables in them.
//!
//! The compiler propagates the values of assigned variables into later statements and folds
//! constants, within `apply` and within each action (p4c's `LocalCopyPropagation`), but not from
//! `apply` into an action or back. So does this walk: a rule of the chip applies to an operation
//! and the unit that executes it, whatever kind of variable its operands are. Uses the IR; must not
//! depend on a rule.

use super::instruction::{is_field, steps};
use crate::access::{address_of, measured};
use crate::constant_folding::{constant, fold, reassociate};
use crate::fit::bits::{Bits, Copies, Place, is_constant, is_plain};
use crate::fit::live::places;
use crate::register_action::{is_action, is_direct_action, same_expression};
use sojourn_p4::ir::{
    Arg, Binary, Body, Expr, ExprKind, ExternCall, Label, Layout, ObjectId, Program, Slot, Stmt,
    StmtKind, TableId, UnitId,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Maximum number of nodes of a propagated expression; a larger one is examined only where it is
/// written.
const REMEMBERED: usize = 64;

/// The unit of the chip that evaluates an expression. A table's key and what a hash takes in are
/// computed by an instruction before, unless they are fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The gateway of a condition in `apply`.
    Gateway,
    /// The table that the compiler makes of a `switch` on a value.
    Switch,
    /// An instruction of an action; the bits that it writes, if it writes a variable.
    Instruction(Option<Bits>),
    /// An instruction that computes what a hash takes in.
    Operand,
    /// The address of a register, counter or meter.
    Index,
    /// What a filter measures, or the colour that a meter starts from.
    Measured(ObjectId),
    /// The crossbars and hashes in front of a table or extern, and conditions in actions.
    Input,
}

/// An expression, evaluated.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// Unit that evaluates it.
    pub by: Executor,
    /// The expression, the values of its variables written into it.
    pub expr: Expr,
    /// The statement or expression as the program has it.
    pub at: Span,
    /// Span at which a variable in it was computed.
    pub from: Option<Span>,
    /// True for what an action evaluates.
    pub in_action: bool,
    /// True if it reads what instructions of the same action compute or put together.
    pub waits: bool,
    /// True for an operand of `min` or `max`, which are an instruction.
    pub of_extreme: bool,
    /// The action data of the table's action that evaluates it.
    pub data: Rc<HashSet<Slot>>,
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
    pub data: Rc<HashSet<Slot>>,
}

/// A minimum or maximum that an instruction computes.
#[derive(Clone, Debug)]
pub struct Extreme {
    /// The bits that get it.
    pub target: Bits,
    /// Both operands, the values of their variables written into them.
    pub operands: [Expr; 2],
    /// The call.
    pub at: Span,
}

/// Expressions that a control evaluates, each with the unit that executes it.
#[derive(Debug, Default)]
pub struct Evaluations<'p> {
    /// Every expression, in the order of the program.
    pub all: Vec<Evaluated>,
    /// Every `if` in an action.
    pub choices: Vec<Choice<'p>>,
    /// Every call of `min` or `max`.
    pub extremes: Vec<Extreme>,
    /// Results of meters that are operands of an expression.
    pub colours: HashSet<Slot>,
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
        data: Rc::default(),
        results: HashMap::new(),
        overwritten: overwritten(program, control),
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

/// Value of a variable, and the span of its assignment.
#[derive(Clone, Debug)]
struct Held {
    value: Expr,
    set: Span,
}

/// Values of variables, as expressions over other variables.
#[derive(Clone, Debug, Default)]
struct State {
    known: HashMap<Slot, Held>,
    /// Bits that an instruction of the action computes and whose value is not known.
    computed: Vec<Bits>,
    /// Results of `min` and `max` in the expressions of a statement of `apply`.
    extremes: HashMap<Slot, Minimum>,
}

/// A call of `min` or `max` whose operands still have their values.
#[derive(Clone, Debug, PartialEq)]
struct Minimum {
    call: Span,
    operands: HashSet<Slot>,
}

/// An expression with the values of its variables written into it.
struct Full {
    expr: Expr,
    /// Span at which one of them was computed.
    from: Option<Span>,
}

impl State {
    /// `slot` is written: neither its value is known any longer, nor what was computed with it.
    fn forget(&mut self, slot: Slot) {
        self.known.remove(&slot);
        self.known.retain(|_, held| !visit::reads(&held.value, slot));
        self.extremes.remove(&slot);
        self.extremes.retain(|_, extreme| !extreme.operands.contains(&slot));
    }

    /// The call of `min` or `max` whose result an expression reads.
    fn extreme_in(&self, expr: &Expr) -> Option<Span> {
        let read = self.extremes.iter().find(|(slot, _)| visit::reads(expr, **slot));
        read.map(|(_, extreme)| extreme.call)
    }

    /// False if the value cannot be remembered.
    fn learn(&mut self, slot: Slot, value: Expr, set: Span) -> bool {
        let can = !visit::reads(&value, slot) && size(&value) <= REMEMBERED;
        if can {
            self.known.insert(slot, Held { value, set });
        }
        can
    }

    /// An expression with everything known written into it.
    fn full(&self, expr: &Expr) -> Full {
        self.full_of(expr, |_| true)
    }

    /// An expression with copies and constants written into it.
    fn copied(&self, expr: &Expr) -> Full {
        self.full_of(expr, is_plain)
    }

    fn full_of(&self, expr: &Expr, wanted: impl Fn(&Expr) -> bool) -> Full {
        let mut full = expr.clone();
        reassociate(&mut full);
        let mut from = None;
        visit::change_expression(&mut full, &mut |expr| {
            let ExprKind::Slot(slot) = expr.kind else { return true };
            if let Some(held) = self.known.get(&slot).filter(|held| wanted(&held.value)) {
                let span = expr.span;
                *expr = held.value.clone();
                match is_plain(expr) {
                    true => expr.span = span,
                    false => from = Some(held.set),
                }
            }
            false
        });
        // The compiler joins the constants of `x + 1` and what was copied into it, too.
        if from.is_some() {
            reassociate(&mut full);
        }
        fold(&mut full);
        Full { expr: full, from }
    }

    fn waits(&self, expr: &Expr) -> bool {
        let mut waits = false;
        Copies::default().read_all(expr, &mut |read| {
            waits |= self.computed.iter().any(|computed| computed.overlap(&read));
        });
        waits
    }

    /// Facts that hold in both. Two statements that compute the same value are two values.
    fn meet(mut self, other: &State) -> State {
        self.known.retain(|slot, held| {
            other.known.get(slot).is_some_and(|o| {
                same_expression(&o.value, &held.value)
                    && (is_plain(&held.value) || o.set == held.set)
            })
        });
        self.computed.extend(other.computed.iter().copied());
        self.extremes.retain(|slot, extreme| other.extremes.get(slot) == Some(extreme));
        self
    }
}

fn join(ends: impl IntoIterator<Item = Option<State>>) -> Option<State> {
    ends.into_iter().flatten().reduce(|a, b| a.meet(&b))
}

/// The unit that a result comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Memory,
    Hash,
}

struct Walk<'p> {
    program: &'p Program,
    unit: UnitId,
    found: Evaluations<'p>,
    /// Facts at each exit of a block.
    leaving: HashMap<Label, Vec<State>>,
    /// The action whose statements are walked.
    action: Option<Span>,
    /// The data of the table's action.
    data: Rc<HashSet<Slot>>,
    /// Results of calls that are operands of an expression.
    results: HashMap<Slot, Source>,
    /// Assignments that the compiler drops.
    overwritten: HashSet<*const Stmt>,
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
        let is_argument =
            |(slot, held): &(&Slot, &Held)| own.contains(slot) && is_plain(&held.value);
        let arguments = outside.known.iter().filter(is_argument);
        let known = arguments.map(|(slot, held)| (*slot, held.clone())).collect();
        self.action = Some(action);
        let _ = self.list(body, Some(State { known, ..State::default() }));
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
                self.evaluate(Executor::Switch, subject, &state);
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
            StmtKind::Set(slot, value) => {
                let before = self.found.all.len();
                self.set(*slot, value, stmt.span, &mut state);
                if self.overwritten.contains(&std::ptr::from_ref(stmt)) {
                    self.found.all.truncate(before);
                }
            }
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
        let full = state.full(condition).expr;
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
        // The elaborator assigns a call's result to a variable of its own first.
        if let (ExprKind::Slot(result), Some(last)) = (&value.kind, self.found.extremes.last_mut())
            && last.target.place == Place::Narrow(*result)
            && last.at == value.span
        {
            last.target = Bits::whole(&self.program.units[self.unit.index()], slot);
        }
        // A declaration without a value: the variable is 0 here and undefined for the compiler.
        if matches!(value.kind, ExprKind::Const(0)) && value.span == span {
            return state.forget(slot);
        }
        let target = self.whole(slot);
        self.evaluate_at(Executor::Instruction(Some(target)), value, span, state);
        let full = state.full(value).expr;
        let computes = steps(&full) > 0;
        // An assigned result is a field for the statements behind it.
        if let ExprKind::Slot(result) = full.kind {
            state.extremes.remove(&result);
        }
        state.forget(slot);
        if !state.learn(slot, full, span) && computes && self.action.is_some() {
            state.computed.push(target);
        }
    }

    fn whole(&self, slot: Slot) -> Bits {
        Bits::whole(&self.program.units[self.unit.index()], slot)
    }

    fn copy(&mut self, from: Slot, to: Slot, count: u32, span: Span, state: &mut State) {
        let pairs = || (0..count).map(|at| (Slot(from.0 + at), Slot(to.0 + at)));
        let held: Vec<_> = pairs().map(|(from, _)| state.known.get(&from).cloned()).collect();
        pairs().for_each(|(_, to)| state.forget(to));
        for ((from, to), held) in pairs().zip(held) {
            self.found.live.insert(from);
            if let Some(held) = held {
                state.learn(to, held.value, span);
            }
        }
    }

    fn apply(&mut self, id: TableId, stmt: &Stmt, state: &mut State) {
        let table = &self.program.tables[id.index()];
        for key in &table.keys {
            self.key(&key.expr, state);
        }
        for action in &table.actions {
            let data: HashSet<Slot> = action.data.iter().flat_map(|(_, l)| slots(l)).collect();
            self.data = Rc::new(data);
            self.action = Some(action.span);
            let _ = self.list(&action.body, Some(State::default()));
            self.action = None;
            self.data = Rc::default();
            written(&action.body, &mut |slot| state.forget(slot));
        }
        visit::written(stmt, &mut |slot| state.forget(slot));
    }

    /// A key that is no field, part of one or field under a mask is computed before the table.
    fn key(&mut self, key: &Expr, state: &State) {
        if !is_matched(key) {
            return self.evaluate(Executor::Instruction(None), key, state);
        }
        let copied = state.copied(key).expr;
        note_reads(&copied, &mut self.found.live);
        self.add(Executor::Input, Full { expr: copied, from: None }, key.span, false);
    }

    /// Everything else that evaluates expressions and writes variables.
    fn other(&mut self, stmt: &Stmt, state: &mut State) {
        match &stmt.kind {
            StmtKind::Call(call) => self.call(call, state),
            StmtKind::SetSlice { target, high, low, value } => {
                let bits = Bits { place: Place::Narrow(*target), low: *low, high: *high };
                self.evaluate(Executor::Instruction(Some(bits)), value, state);
                if self.action.is_some() && steps(value) > 0 {
                    state.computed.push(bits);
                }
            }
            _ => {
                for expr in visit::expressions(stmt) {
                    self.evaluate(Executor::Instruction(None), expr, state);
                }
            }
        }
        visit::written(stmt, &mut |slot| state.forget(slot));
        if let StmtKind::Call(call) = &stmt.kind {
            self.note_extreme(call, state);
        }
    }

    /// Remembers the result of `min` or `max`.
    fn note_extreme(&self, call: &ExternCall, state: &mut State) {
        let (true, Some(Layout::Narrow(result, _))) = (is_extreme(call), &call.result) else {
            return;
        };
        if self.action.is_some() {
            return state.computed.push(self.whole(*result));
        }
        // A variable of the program is a field for the statements behind it.
        if !self.program.units[self.unit.index()].slots[result.index()].temporary {
            return;
        }
        let mut operands = HashSet::new();
        for operand in call.args.iter().flat_map(visit::argument_expressions) {
            note_reads(&state.full(operand).expr, &mut operands);
        }
        let call = call.span;
        state.extremes.insert(*result, Minimum { call, operands });
    }

    fn call(&mut self, call: &ExternCall, state: &State) {
        let index = address_of(self.program, call).map(|index| index.span);
        let value = measured(self.program, call).map(|value| value.span);
        let of = call.object.map_or("", |object| &*self.program.objects[object.index()].of);
        for expr in call.args.iter().flat_map(visit::argument_expressions) {
            match of {
                _ if index == Some(expr.span) => self.address(expr, state),
                _ if value == Some(expr.span) => {
                    let by = call.object.map_or(Executor::Input, Executor::Measured);
                    self.evaluate(by, expr, state);
                }
                "Hash" => self.hashed(expr, state),
                // One instruction, whose operands another would compute.
                "" if is_extreme(call) => {
                    self.evaluate(Executor::Instruction(None), expr, state);
                    if let Some(operand) = self.found.all.last_mut() {
                        operand.of_extreme = true;
                    }
                }
                _ if is_input(of, &call.name) => self.evaluate(Executor::Input, expr, state),
                _ => self.evaluate(Executor::Instruction(None), expr, state),
            }
        }
        self.extreme(call, state);
        let source = match of {
            "Hash" => Some(Source::Hash),
            _ => index.map(|_| Source::Memory),
        };
        if let Some(Layout::Narrow(result, _)) = call.result {
            let info = &self.program.units[self.unit.index()].slots[result.index()];
            if info.temporary {
                self.results.extend(source.map(|source| (result, source)));
            }
            let of_action = self.action.is_some_and(|action| action.end <= info.span.start);
            if (info.temporary || of_action) && matches!(of, "Meter" | "DirectMeter") {
                self.found.colours.insert(result);
            }
        }
        let both = call.args.iter().filter_map(|arg| match arg {
            Arg::InOut(layout) => Some(layout),
            _ => None,
        });
        self.found.live.extend(both.flat_map(slots));
    }

    fn extreme(&mut self, call: &ExternCall, state: &State) {
        let Some(Layout::Narrow(target, _)) = call.result else { return };
        let operands: Vec<&Expr> = call.args.iter().flat_map(visit::argument_expressions).collect();
        if let ([a, b], true) = (&operands[..], is_extreme(call)) {
            let operands = [a, b].map(|operand| state.full(operand).expr);
            let target = self.whole(target);
            self.found.extremes.push(Extreme { target, operands, at: call.span });
        }
    }

    /// An address. It waits for a result that is written into it, except for bits of a hash: that
    /// result is in no field when the memory is accessed.
    fn address(&mut self, expr: &Expr, state: &State) {
        let full = state.full(expr);
        note_reads(&full.expr, &mut self.found.live);
        let waits = state.extreme_in(&full.expr).is_some()
            || self.results.iter().any(|(result, source)| {
                visit::reads(expr, *result) && !(*source == Source::Hash && is_part(expr))
            });
        self.add(Executor::Index, full, expr.span, waits);
    }

    /// A field that a hash takes in; anything else is computed before.
    fn hashed(&mut self, expr: &Expr, state: &State) {
        if let ExprKind::Binary(Binary::Concat, a, b) = &expr.kind {
            self.hashed(a, state);
            return self.hashed(b, state);
        }
        let by = match is_field(&state.full(expr).expr) {
            true => Executor::Input,
            false => Executor::Operand,
        };
        self.evaluate(by, expr, state);
    }

    fn evaluate(&mut self, by: Executor, expr: &Expr, state: &State) {
        self.evaluate_at(by, expr, expr.span, state);
    }

    fn evaluate_at(&mut self, by: Executor, expr: &Expr, at: Span, state: &State) {
        let mut full = state.full(expr);
        note_reads(&full.expr, &mut self.found.live);
        let extreme = state.extreme_in(&full.expr);
        full.from = full.from.or(extreme);
        let waits = extreme.is_some()
            || state.waits(&full.expr)
            || self.action.is_some() && assembles(&full.expr, false);
        self.add(by, full, at, waits);
    }

    fn add(&mut self, by: Executor, full: Full, at: Span, waits: bool) {
        let Full { expr, from } = full;
        let in_action = self.action.is_some();
        let data = self.data.clone();
        let of_extreme = false;
        self.found.all.push(Evaluated { by, expr, at, from, in_action, waits, of_extreme, data });
    }

    /// Parameters of a called action, whose spans are between its name and its body.
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

/// True for `min(a, b)` and `max(a, b)`.
fn is_extreme(call: &ExternCall) -> bool {
    call.object.is_none() && matches!(&*call.name, "min" | "max")
}

/// True for a variable or bits of one.
fn is_part(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Slot(_) => true,
        ExprKind::Slice(inner, _) => is_part(inner),
        ExprKind::Cast(inner) => inner.scalar.width() >= expr.scalar.width() && is_part(inner),
        _ => false,
    }
}

/// True for a call whose arguments reach it over crossbars.
fn is_input(of: &str, call: &str) -> bool {
    let takes = matches!(of, "Register" | "Counter" | "Meter" | "Lpf" | "Wred")
        || (is_action(of) && !is_direct_action(of));
    takes && call != "write"
}

/// True for a concatenation that is an operand: moves put it together before the operation.
fn assembles(expr: &Expr, is_operand: bool) -> bool {
    match &expr.kind {
        ExprKind::Binary(Binary::Concat, a, b) => {
            is_operand && constant(a) != Some(0) || assembles(a, false) || assembles(b, false)
        }
        ExprKind::Binary(op, a, b) => {
            let is_operand = is_operand || operates(*op);
            assembles(a, is_operand) || assembles(b, is_operand)
        }
        _ => visit::operands(expr).into_iter().any(|part| assembles(part, is_operand)),
    }
}

/// True for an operation that is not done bit by bit.
fn operates(op: Binary) -> bool {
    !matches!(op, Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::Eq | Binary::Ne)
}

/// True for what a table matches itself: p4c's `IsMask`, `IsSlice` and their like.
fn is_matched(key: &Expr) -> bool {
    match &key.kind {
        ExprKind::Slice(a, _) | ExprKind::Cast(a) => is_matched(a),
        ExprKind::Binary(Binary::BitAnd, a, b) => {
            is_constant(a) && is_plain(b) || is_constant(b) && is_plain(a)
        }
        ExprKind::Guarded { .. } | ExprKind::Element { .. } | ExprKind::WideElement { .. } => true,
        _ => is_plain(key),
    }
}

/// Assignments of a control to whole variables that later ones of the same list overwrite before
/// anything but an assignment runs.
fn overwritten(program: &Program, control: UnitId) -> HashSet<*const Stmt> {
    let mut found = HashSet::new();
    for list in visit::unit_lists(&program.units[control.index()]) {
        note_overwritten(list, &mut found);
    }
    for table in program.tables.iter().filter(|table| table.unit == control) {
        table.actions.iter().for_each(|action| note_overwritten(&action.body, &mut found));
    }
    found
}

fn note_overwritten(stmts: &[Stmt], found: &mut HashSet<*const Stmt>) {
    for (at, stmt) in stmts.iter().enumerate() {
        visit::inner_lists(stmt).into_iter().for_each(|list| note_overwritten(list, found));
        let StmtKind::Set(slot, _) = stmt.kind else { continue };
        let next = stmts[at + 1..].iter().find(|later| match &later.kind {
            StmtKind::Set(other, value) => *other == slot || visit::reads(value, slot),
            _ => true,
        });
        if let Some(StmtKind::Set(_, value)) = next.map(|later| &later.kind)
            && !visit::reads(value, slot)
        {
            found.insert(std::ptr::from_ref(stmt));
        }
    }
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

pub(super) fn slots(layout: &Layout) -> Vec<Slot> {
    let narrow = |place| match place {
        Place::Narrow(slot) => Some(slot),
        Place::Wide(_) => None,
    };
    places(layout).filter_map(narrow).collect()
}

fn size(expr: &Expr) -> usize {
    1 + visit::operands(expr).into_iter().map(size).sum::<usize>()
}
