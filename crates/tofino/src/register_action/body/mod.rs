//! Effects of a register action's body in each outcome of its comparisons.
//!
//! Two comparisons have four outcomes, four have 16. The body is walked once for each, with every
//! condition decided, so that a list of assignments remains. All reads yield the words as fetched,
//! independently of earlier assignments, as in the silicon.
//!
//! This file handles statements; `value` has expressions, `truth` conditions, `calls` the permitted
//! calls, `exclusive` the check that assignments do not meet.

mod calls;
mod exclusive;
mod truth;
mod value;

use self::exclusive::check_exclusive;
use super::condition::Units;
use super::resources::Resources;
use super::shape::Shape;
use super::term::{Half, Term, TermKind};
use crate::rules::{self, Refusal};
use sojourn_p4::ir::{
    Expr, ExprKind, Label, Layout, Method, ObjectId, Param, Program, Scalar, Slot, Stmt, StmtKind,
    Unit,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::{HashMap, HashSet};

/// Destination of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A half of the entry.
    Memory(Half),
    /// An output, by its number.
    Output(usize),
}

/// An assignment that happens in some outcome.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Destination.
    pub to: Destination,
    /// Assigned term.
    pub term: Term,
    /// Number of the statement in the text.
    pub statement: usize,
}

/// All that a body does.
#[derive(Debug)]
pub struct Effects {
    /// The assignments of each outcome, in which a bit stands for each compare unit of the chip.
    pub outcomes: Vec<Vec<Assignment>>,
    /// The compare units.
    pub units: Units,
}

/// Role of a slot in the body.
#[derive(Clone, Copy)]
enum Role {
    Memory(Half),
    Output(usize),
    /// A variable of the body.
    Local,
    /// A field of the packet or its metadata.
    Field,
}

/// Value of a local variable on the current path.
#[derive(Clone)]
enum Binding {
    Term(Term),
    Truth(bool),
}

/// Walks one body.
pub struct Body<'a, 'p> {
    program: &'p Program,
    unit: &'p Unit,
    method: &'p Method,
    action: ObjectId,
    shape: Shape,
    shared: &'a mut Resources<'p>,
    memory: Vec<Slot>,
    outputs: Vec<Slot>,
    numbers: HashMap<*const Stmt, usize>,
    /// Variables that the body declares.
    declared: HashSet<Slot>,
    /// The first statement that assigns to each half.
    first_write: [Option<usize>; 2],
    units: Units,
    outcome: usize,
    statement: usize,
    locals: HashMap<Slot, Binding>,
    assignments: Vec<Assignment>,
    /// Reads of memory: half, statement, outcomes, place.
    reads: Vec<(Half, usize, u16, Span)>,
    /// Conditions of `predicate`: which argument, whether it holds, the outcome, place.
    predicates: Vec<(usize, bool, usize, Span)>,
}

pub(super) type Result<T> = std::result::Result<T, Refusal>;

/// End of a list of statements.
enum Flow {
    On,
    Leaving(Label),
}

/// Walks the body of `method` and lists what it does in every outcome.
pub fn effects<'p>(
    program: &'p Program,
    unit: &'p Unit,
    action: ObjectId,
    method: &'p Method,
    shape: Shape,
    shared: &mut Resources<'p>,
) -> Result<Effects> {
    let memory = slots_of(&method.params[0].layout);
    let outputs = outputs(method, shared)?;
    let mut body = Body {
        program,
        unit,
        method,
        action,
        shape,
        shared,
        memory,
        outputs,
        numbers: HashMap::new(),
        declared: HashSet::new(),
        first_write: [None; 2],
        units: Units::default(),
        outcome: 0,
        statement: 0,
        locals: HashMap::new(),
        assignments: Vec::new(),
        reads: Vec::new(),
        predicates: Vec::new(),
    };
    body.number(&method.body);
    body.declare_variables();
    body.run_all()
}

/// The slots of the outputs.
fn outputs(method: &Method, shared: &Resources<'_>) -> Result<Vec<Slot>> {
    let most = shared.chip.outputs;
    if method.params.len() > 1 + most {
        let title = shared.chip_title;
        let message =
            format!("an action with {} outputs: {title} has {most}", method.params.len() - 1);
        return Err(rules::ONE_OUTPUT.refuse(method.span, message));
    }
    let word = |param: &Param| match param.layout {
        Layout::Narrow(slot, _) => Ok(slot),
        _ => {
            let message = "the output of a register action is more than one word";
            Err(rules::ONE_OUTPUT.refuse(method.span, message))
        }
    };
    method.params.iter().skip(1).map(word).collect()
}

fn slots_of(layout: &Layout) -> Vec<Slot> {
    match layout {
        Layout::Narrow(slot, _) => vec![*slot],
        Layout::Struct { fields, .. } => fields.iter().flat_map(slots_of).collect(),
        _ => Vec::new(),
    }
}

/// The new upper 64 bits for one number; none for an operation, which changes the lower ones.
fn upper_half(term: &Term) -> Option<Term> {
    let make = |kind| Term { kind, width: HALF, span: term.span };
    Some(match &term.kind {
        TermKind::Field(field) if field.scalar.width() > HALF => {
            make(TermKind::Field(Box::new(bits(field, HALF, field.scalar.width() - HALF))))
        }
        TermKind::Field(_) => make(TermKind::Constant(0)),
        TermKind::Constant(value) => make(TermKind::Constant(value >> HALF)),
        _ => return None,
    })
}

fn lower_half(term: Term) -> Term {
    let kind = match term.kind {
        TermKind::Field(field) if field.scalar.width() > HALF => {
            TermKind::Field(Box::new(bits(&field, 0, HALF)))
        }
        TermKind::Constant(value) => TermKind::Constant(value & i128::from(u64::MAX)),
        kind => kind,
    };
    Term { kind, ..term }
}

fn bits(of: &Expr, low: u32, width: u32) -> Expr {
    let kind = ExprKind::Slice(Box::new(of.clone()), low);
    Expr { kind, scalar: Scalar::Bit(width), span: of.span }
}

/// Bits of each half of an entry that is one number.
const HALF: u32 = 64;

impl<'p> Body<'_, 'p> {
    /// Numbers the statements in the order of the text and notes which write memory first.
    fn number(&mut self, stmts: &'p [Stmt]) {
        for stmt in stmts {
            let number = self.numbers.len();
            self.numbers.insert(stmt, number);
            let (target, count) = match &stmt.kind {
                StmtKind::Set(slot, _) => (Some(*slot), 1),
                StmtKind::Copy { narrow: (_, to, count), .. } => (Some(*to), *count),
                StmtKind::Call(call) => match &call.result {
                    Some(Layout::Narrow(slot, _)) => (Some(*slot), 1),
                    _ => (None, 0),
                },
                _ => (None, 0),
            };
            for slot in
                target.into_iter().flat_map(|first| (0..count).map(move |i| Slot(first.0 + i)))
            {
                if let Some(half) = self.memory.iter().position(|known| *known == slot) {
                    self.first_write[half].get_or_insert(number);
                    if self.shape.joined {
                        self.first_write[1].get_or_insert(number);
                    }
                }
                self.declared.insert(slot);
            }
            match &stmt.kind {
                StmtKind::If { then, otherwise, .. } => {
                    self.number(then);
                    self.number(otherwise);
                }
                StmtKind::Block { body, .. } => self.number(body),
                _ => {}
            }
        }
    }

    /// Among the slots that the body writes, selects those that are unused outside it.
    fn declare_variables(&mut self) {
        let candidates = std::mem::take(&mut self.declared).into_iter();
        self.declared = candidates
            .filter(|slot| !self.memory.contains(slot) && !self.outputs.contains(slot))
            .filter(|slot| !self.unit.slots[slot.index()].temporary)
            .collect();
        if self.declared.is_empty() {
            return;
        }
        let mut known: HashSet<Slot> = HashSet::new();
        for param in &self.unit.params {
            let range = param.layout.range();
            known.extend((0..range.narrow_len).map(|i| Slot(range.narrow_start.0 + i)));
        }
        visit::statements_outside_methods(self.program, self.unit, &mut |stmt| {
            visit::written(stmt, &mut |slot| {
                known.insert(slot);
            });
            let found = visit::expressions(stmt);
            known.extend(
                self.declared
                    .iter()
                    .filter(|slot| found.iter().any(|expr| visit::reads(expr, **slot))),
            );
        });
        self.declared.retain(|slot| !known.contains(slot));
    }

    /// Walks until no new comparison turns up, then collects all outcomes.
    fn run_all(mut self) -> Result<Effects> {
        let mut known = usize::MAX;
        let mut outcomes = vec![Vec::new(); 1 << self.shared.chip.comparisons];
        while known != self.units.len() {
            known = self.units.len();
            self.reads.clear();
            self.predicates.clear();
            for (outcome, slot) in outcomes.iter_mut().enumerate() {
                self.outcome = outcome;
                self.locals.clear();
                self.assignments.clear();
                let method = self.method;
                self.statements(&method.body)?;
                *slot = std::mem::take(&mut self.assignments);
            }
        }
        self.check_predicates()?;
        check_exclusive(&outcomes, self.shared)?;
        self.warn_of_old_values(&outcomes);
        Ok(Effects { outcomes, units: self.units })
    }

    fn statements(&mut self, stmts: &'p [Stmt]) -> Result<Flow> {
        for stmt in stmts {
            self.statement = self.numbers[&std::ptr::from_ref(stmt)];
            if let Flow::Leaving(label) = self.statement(stmt)? {
                return Ok(Flow::Leaving(label));
            }
        }
        Ok(Flow::On)
    }

    fn statement(&mut self, stmt: &'p Stmt) -> Result<Flow> {
        match &stmt.kind {
            StmtKind::Set(slot, value) => self.assign(*slot, value, stmt.span)?,
            StmtKind::Copy { narrow: (from, to, count), wide: (_, _, 0) } => {
                for i in 0..*count {
                    let term = self.slot(Slot(from.0 + i), stmt.span)?;
                    self.put(Slot(to.0 + i), term, stmt.span)?;
                }
            }
            StmtKind::If { condition, then, otherwise } => {
                return if self.truth(condition)? {
                    self.statements(then)
                } else {
                    self.statements(otherwise)
                };
            }
            StmtKind::Block { label, body } => {
                if let Flow::Leaving(to) = self.statements(body)?
                    && to != *label
                {
                    return Ok(Flow::Leaving(to));
                }
            }
            StmtKind::Leave(label) => return Ok(Flow::Leaving(*label)),
            StmtKind::Call(call) => self.call(call)?,
            _ => {
                let message = "this statement cannot be part of a register action";
                return Err(rules::STATEMENT.refuse(stmt.span, message));
            }
        }
        Ok(Flow::On)
    }

    fn role(&self, slot: Slot) -> Role {
        if let Some(half) = self.memory.iter().position(|known| *known == slot) {
            return Role::Memory(if half == 0 { Half::Lo } else { Half::Hi });
        }
        if let Some(output) = self.outputs.iter().position(|known| *known == slot) {
            return Role::Output(output);
        }
        let info = &self.unit.slots[slot.index()];
        if info.temporary || self.declared.contains(&slot) {
            return Role::Local;
        }
        Role::Field
    }

    fn assign(&mut self, slot: Slot, value: &Expr, span: Span) -> Result<()> {
        if value.scalar == Scalar::Bool {
            let truth = self.truth(value)?;
            if matches!(self.role(slot), Role::Local) {
                self.locals.insert(slot, Binding::Truth(truth));
                return Ok(());
            }
            let kind = TermKind::Constant(i128::from(truth));
            return self.put(slot, Term { kind, width: 1, span: value.span }, span);
        }
        let term = match self.role(slot) {
            Role::Output(_) => self.output_term(value)?,
            _ => self.term(value)?,
        };
        self.put(slot, term, span)
    }

    /// Assigns a term to whatever `slot` is.
    fn put(&mut self, slot: Slot, term: Term, span: Span) -> Result<()> {
        let to = match self.role(slot) {
            Role::Memory(half) => Destination::Memory(half),
            Role::Output(output) => Destination::Output(output),
            Role::Field => {
                let name = &self.unit.slots[slot.index()].name;
                let message = format!("a register action cannot assign to `{name}`");
                return Err(rules::OUTSIDE_WRITE.refuse(span, message));
            }
            // The expression takes the place of the variable wherever it is read.
            Role::Local => {
                self.locals.insert(slot, Binding::Term(term));
                return Ok(());
            }
        };
        let unchanged = matches!((to, &term.kind),
            (Destination::Memory(half), TermKind::Memory(same)) if half == *same);
        if unchanged && self.shape.width.bits() > 1 {
            // A half that no ALU drives keeps its word.
            return Ok(());
        }
        let statement = self.statement;
        if self.shape.joined
            && to == Destination::Memory(Half::Lo)
            && let Some(upper) = upper_half(&term)
        {
            let to = Destination::Memory(Half::Hi);
            self.assignments.push(Assignment { to, term: upper, statement });
        }
        let term = if self.shape.joined { lower_half(term) } else { term };
        self.assignments.push(Assignment { to, term, statement });
        Ok(())
    }

    /// Reads of a half behind an assignment to it, on the same path.
    fn warn_of_old_values(&mut self, outcomes: &[Vec<Assignment>]) {
        let mut told = Vec::new();
        for (half, statement, outcome, span) in &self.reads {
            let written = outcomes[outcome.trailing_zeros() as usize].iter().any(|assignment| {
                assignment.to == Destination::Memory(*half) && assignment.statement < *statement
            });
            if written && !told.contains(span) {
                told.push(*span);
                let message = "this reads the value from before the assignment above";
                self.shared.warnings.push(rules::OLD_VALUE.warning(*span, message));
            }
        }
    }
}
