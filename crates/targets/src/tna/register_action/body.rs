//! What the body of a register action does in each outcome of its comparisons.
//!
//! Two comparisons have four outcomes. The body is walked once for each, with every condition
//! decided, so that what is left is a list of assignments. All reads mean the words as fetched,
//! whatever was assigned before: that is what the silicon does.

use super::condition::{Comparison, Units, fit};
use super::resources::Resources;
use super::shape::Shape;
use super::term::{Half, Operation, Term, TermKind};
use crate::tna::rules::{self, Rule};
use crate::tna::salu::PredicateMask;
use crate::tna::visit;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, Binary, Expr, ExprKind, ExternCall, Label, Layout, Method, ObjectId, Program, Scalar,
    Slot, Stmt, StmtKind, Unary, Unit, Value as CallValue,
};
use sojourn_p4::source::Span;
use std::collections::{HashMap, HashSet};

/// Where an assignment goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A half of the entry.
    Memory(Half),
    /// The output.
    Output,
    /// The local variable that lives in the second half's ALU.
    Scratch,
}

/// An assignment that happens in some outcome.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Where to.
    pub to: Destination,
    /// What.
    pub term: Term,
    /// Number of the statement in the text.
    pub statement: usize,
}

/// All that a body does.
#[derive(Debug)]
pub struct Effects {
    /// The assignments of each outcome (bit 0: compare unit lo, bit 1: hi).
    pub outcomes: [Vec<Assignment>; 4],
    /// The compare units.
    pub units: Units,
}

/// What a slot is to the body.
#[derive(Clone, Copy)]
enum Role {
    Memory(Half),
    Output,
    /// A variable of the body; `temporary` if the elaborator made it.
    Local {
        temporary: bool,
    },
    /// A field of the packet or its metadata.
    Field,
}

/// What a local variable stands for on the path that is walked.
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
    output: Option<Slot>,
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
    reads: Vec<(Half, usize, u8, Span)>,
}

type Result<T> = std::result::Result<T, Diagnostic>;

/// How a list of statements ends.
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
    let output = match method.params.get(1).map(|param| &param.layout) {
        Some(layout) => match layout {
            Layout::Narrow(slot, _) => Some(*slot),
            _ => {
                return Err(rules::ONE_OUTPUT
                    .error(method.span, "the output of a register action is more than one word"));
            }
        },
        None => None,
    };
    if method.params.len() > 2 {
        return Err(rules::ONE_OUTPUT.error(method.span, "a register action with two outputs"));
    }
    let mut body = Body {
        program,
        unit,
        method,
        action,
        shape,
        shared,
        memory,
        output,
        numbers: HashMap::new(),
        declared: HashSet::new(),
        first_write: [None; 2],
        units: Units::default(),
        outcome: 0,
        statement: 0,
        locals: HashMap::new(),
        assignments: Vec::new(),
        reads: Vec::new(),
    };
    body.number(&method.body);
    body.declare_variables();
    body.run_all()
}

fn slots_of(layout: &Layout) -> Vec<Slot> {
    match layout {
        Layout::Narrow(slot, _) => vec![*slot],
        Layout::Struct { fields, .. } => fields.iter().flat_map(slots_of).collect(),
        _ => Vec::new(),
    }
}

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

    /// Of all slots that the body writes, keeps those that nothing outside it knows.
    fn declare_variables(&mut self) {
        let candidates = std::mem::take(&mut self.declared).into_iter();
        self.declared = candidates
            .filter(|slot| !self.memory.contains(slot) && self.output != Some(*slot))
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
        let mut outcomes: [Vec<Assignment>; 4] = Default::default();
        while known != self.units.len() {
            known = self.units.len();
            self.reads.clear();
            for (outcome, slot) in outcomes.iter_mut().enumerate() {
                self.outcome = outcome;
                self.locals.clear();
                self.assignments.clear();
                let method = self.method;
                self.statements(&method.body)?;
                *slot = std::mem::take(&mut self.assignments);
            }
        }
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
                return Err(rules::STATEMENT.error(stmt.span, message));
            }
        }
        Ok(Flow::On)
    }

    fn role(&self, slot: Slot) -> Role {
        if let Some(half) = self.memory.iter().position(|known| *known == slot) {
            return Role::Memory(if half == 0 { Half::Lo } else { Half::Hi });
        }
        if self.output == Some(slot) {
            return Role::Output;
        }
        let info = &self.unit.slots[slot.index()];
        if info.temporary || self.declared.contains(&slot) {
            return Role::Local { temporary: info.temporary };
        }
        Role::Field
    }

    fn assign(&mut self, slot: Slot, value: &Expr, span: Span) -> Result<()> {
        if value.scalar == Scalar::Bool {
            let truth = self.truth(value)?;
            if matches!(self.role(slot), Role::Local { .. }) {
                self.locals.insert(slot, Binding::Truth(truth));
                return Ok(());
            }
            let kind = TermKind::Constant(i128::from(truth));
            return self.put(slot, Term { kind, width: 1, span: value.span }, span);
        }
        self.locals_are_allowed(slot, span)?;
        let term = match self.role(slot) {
            Role::Output => self.output_term(value)?,
            _ => self.term(value)?,
        };
        self.put(slot, term, span)
    }

    fn locals_are_allowed(&self, slot: Slot, span: Span) -> Result<()> {
        let Role::Local { temporary: false } = self.role(slot) else { return Ok(()) };
        let info = &self.unit.slots[slot.index()];
        if info.scalar.width() == self.shape.width.bits() {
            return Ok(());
        }
        let message = format!(
            "the local variable `{}` has {} bits, the register's words have {}",
            info.name,
            info.scalar.width(),
            self.shape.width.bits()
        );
        Err(rules::LOCALS.error(span, message))
    }

    /// Assigns a term to whatever `slot` is.
    fn put(&mut self, slot: Slot, term: Term, span: Span) -> Result<()> {
        let to = match self.role(slot) {
            Role::Memory(half) => Destination::Memory(half),
            Role::Output => Destination::Output,
            Role::Field => {
                let name = &self.unit.slots[slot.index()].name;
                let message = format!("a register action cannot assign to `{name}`");
                return Err(rules::OUTSIDE_WRITE.error(span, message));
            }
            Role::Local { temporary } => {
                let name = matches!(
                    term.kind,
                    TermKind::Memory(_) | TermKind::Parameter(_) | TermKind::Constant(0)
                );
                if temporary || name {
                    self.locals.insert(slot, Binding::Term(term));
                    return Ok(());
                }
                if self.shape.dual {
                    let message = "a local variable that the ALU would have to compute";
                    return Err(rules::LOCALS.error(span, message));
                }
                let scratch = Term { kind: TermKind::Scratch, width: term.width, span };
                self.locals.insert(slot, Binding::Term(scratch));
                Destination::Scratch
            }
        };
        self.assignments.push(Assignment { to, term, statement: self.statement });
        Ok(())
    }

    /// The right side of an assignment to the output: after an assignment to a half its name
    /// means the new value.
    fn output_term(&mut self, value: &Expr) -> Result<Term> {
        let reads = self.reads.len();
        let term = self.term(value)?;
        let mut named = value;
        while let ExprKind::Cast(inner) | ExprKind::Slice(inner, _) = &named.kind {
            named = inner;
        }
        // A copy in a local variable stays what it was.
        let by_name = matches!(&named.kind, ExprKind::Slot(slot) if self.memory.contains(slot));
        Ok(if by_name { self.updated(term, reads) } else { term })
    }

    fn updated(&mut self, term: Term, reads: usize) -> Term {
        match term.kind {
            TermKind::Memory(half)
                if self.first_write[half as usize].is_some_and(|first| first < self.statement) =>
            {
                self.reads.truncate(reads);
                Term { kind: TermKind::Updated(half), ..term }
            }
            TermKind::Low(inner) => {
                let inner = self.updated(*inner, reads);
                Term { kind: TermKind::Low(Box::new(inner)), ..term }
            }
            _ => term,
        }
    }

    /// The value of a slot.
    fn slot(&mut self, slot: Slot, span: Span) -> Result<Term> {
        let scalar = self.unit.slots[slot.index()].scalar;
        let width = scalar.width();
        match self.role(slot) {
            Role::Memory(half) => {
                self.reads.push((half, self.statement, 1 << self.outcome, span));
                Ok(Term { kind: TermKind::Memory(half), width, span })
            }
            Role::Output => {
                Err(rules::OUTPUT_READ.error(span, "the output of a register action is read"))
            }
            Role::Local { .. } => match self.locals.get(&slot) {
                Some(Binding::Term(term)) => {
                    if let TermKind::Memory(half) = term.kind {
                        self.reads.push((half, self.statement, 1 << self.outcome, span));
                    }
                    Ok(Term { span, ..term.clone() })
                }
                Some(Binding::Truth(truth)) => {
                    Ok(Term { kind: TermKind::Constant(i128::from(*truth)), width, span })
                }
                None => Ok(Term { kind: TermKind::Constant(0), width, span }),
            },
            Role::Field => {
                let kind = ExprKind::Slot(slot);
                let field = Box::new(Expr { kind, scalar, span });
                Ok(Term { kind: TermKind::Field(field), width, span })
            }
        }
    }

    /// An arithmetic expression as a term.
    fn term(&mut self, expr: &Expr) -> Result<Term> {
        let (span, width) = (expr.span, expr.scalar.width());
        let make = |kind| Ok(Term { kind, width, span });
        match &expr.kind {
            ExprKind::Const(pattern) => make(TermKind::Constant(signed(*pattern, expr.scalar))),
            ExprKind::Slot(slot) => {
                let slot = self.slot(*slot, span)?;
                Ok(Term { span, ..slot })
            }
            ExprKind::Unary(Unary::Complement, inner) => {
                make(TermKind::Complement(Box::new(self.term(inner)?)))
            }
            ExprKind::Unary(Unary::Negate, inner) => {
                make(TermKind::Negate(Box::new(self.term(inner)?)))
            }
            ExprKind::Binary(Binary::Concat, high, low)
                if matches!(high.kind, ExprKind::Const(0)) =>
            {
                self.term(low)
            }
            ExprKind::Binary(operator, left, right)
                if Operation::of(*operator, expr.scalar.is_signed()).is_some() =>
            {
                let Some(operation) = Operation::of(*operator, expr.scalar.is_signed()) else {
                    unreachable!("the guard asked")
                };
                let (left, right) = (self.term(left)?, self.term(right)?);
                make(TermKind::Operation(operation, Box::new(left), Box::new(right)))
            }
            ExprKind::Mux(condition, then, otherwise) => {
                let arm = if self.truth(condition)? { then } else { otherwise };
                self.term(arm)
            }
            ExprKind::Cast(inner) => self.cast(expr, inner),
            ExprKind::Slice(inner, low) => self.slice(expr, inner, *low),
            _ if self.is_gathered(expr) => make(TermKind::Field(Box::new(expr.clone()))),
            _ if expr.scalar == Scalar::Bool => {
                let truth = self.truth(expr)?;
                make(TermKind::Constant(i128::from(truth)))
            }
            _ => {
                Err(rules::UPDATE_OPERATION
                    .error(span, "a stateful ALU does not have this operation"))
            }
        }
    }

    fn cast(&mut self, whole: &Expr, inner: &Expr) -> Result<Term> {
        let (from, to) = (inner.scalar.width(), whole.scalar.width());
        let widened_field = to > from && inner.scalar.is_signed() && self.is_gathered(inner);
        if widened_field {
            let kind = TermKind::Field(Box::new(whole.clone()));
            return Ok(Term { kind, width: to, span: whole.span });
        }
        if to < from {
            return self.slice(whole, inner, 0);
        }
        let term = self.term(inner)?;
        // A zero-extended field is the field: the input crossbar fills up with zeros.
        let constant = matches!(term.kind, TermKind::Constant(_));
        if to > from && inner.scalar.is_signed() && !constant {
            let message = "a stateful ALU cannot extend the sign of this";
            return Err(rules::UPDATE_OPERATION.error(whole.span, message));
        }
        if let TermKind::Constant(value) = term.kind {
            let pattern = value as u128 & (u128::MAX >> (128 - to.min(128)));
            let kind = TermKind::Constant(signed(pattern, whole.scalar));
            return Ok(Term { kind, width: to, span: whole.span });
        }
        Ok(Term { span: whole.span, ..term })
    }

    fn slice(&mut self, whole: &Expr, inner: &Expr, low: u32) -> Result<Term> {
        let (span, width) = (whole.span, whole.scalar.width());
        if self.is_gathered(inner) {
            return Ok(Term { kind: TermKind::Field(Box::new(whole.clone())), width, span });
        }
        let term = self.term(inner)?;
        match term.kind {
            TermKind::Constant(value) => {
                let pattern = (value >> low) as u128 & (u128::MAX >> (128 - width.clamp(1, 128)));
                let kind = TermKind::Constant(signed(pattern, whole.scalar));
                Ok(Term { kind, width, span })
            }
            TermKind::Field(field) if low == 0 && width >= field.scalar.width() => {
                Ok(Term { kind: TermKind::Field(field), width, span })
            }
            TermKind::Memory(_) | TermKind::Updated(_) | TermKind::Scratch if low == 0 => {
                Ok(Term { kind: TermKind::Low(Box::new(term)), width, span })
            }
            TermKind::Predicate if low == 0 && width >= 4 => Ok(Term { width, span, ..term }),
            _ => Err(rules::CUT_RESULT.error(span, "some bits of a result or memory word")),
        }
    }

    /// True for fields and what the input crossbar's hash can gather from them.
    fn is_gathered(&self, expr: &Expr) -> bool {
        fn leaves(body: &Body<'_, '_>, expr: &Expr, field: &mut bool) -> bool {
            match &expr.kind {
                ExprKind::Slot(slot) => {
                    *field = true;
                    matches!(body.role(*slot), Role::Field)
                }
                ExprKind::WideSlot(_) => {
                    *field = true;
                    true
                }
                ExprKind::Const(_) | ExprKind::WideConst(_) => true,
                ExprKind::Slice(inner, _) | ExprKind::Cast(inner) => leaves(body, inner, field),
                ExprKind::Binary(Binary::Concat | Binary::BitXor, a, b) => {
                    leaves(body, a, field) && leaves(body, b, field)
                }
                _ => false,
            }
        }
        let mut field = false;
        leaves(self, expr, &mut field) && field
    }

    /// Decides a condition in the outcome that is walked.
    fn truth(&mut self, condition: &Expr) -> Result<bool> {
        match &condition.kind {
            ExprKind::Const(value) => return Ok(*value != 0),
            ExprKind::Unary(Unary::Not, inner) => return Ok(!self.truth(inner)?),
            ExprKind::Binary(Binary::And, a, b) => {
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                return Ok(a && b);
            }
            ExprKind::Binary(Binary::Or, a, b) => {
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                return Ok(a || b);
            }
            ExprKind::Slot(slot) => {
                if let Some(Binding::Truth(truth)) = self.locals.get(slot) {
                    return Ok(*truth);
                }
            }
            ExprKind::Mux(choice, then, otherwise) => {
                let arm = if self.truth(choice)? { then } else { otherwise };
                return self.truth(arm);
            }
            ExprKind::Binary(operator, left, right) if is_comparison(*operator) => {
                return self.comparison(*operator, left, right, condition.span);
            }
            _ => {}
        }
        // A bare bit: is it set?
        let inner = match &condition.kind {
            ExprKind::Cast(inner) => inner,
            _ => condition,
        };
        let zero = Term { kind: TermKind::Constant(0), width: 1, span: condition.span };
        let bit = match &inner.kind {
            ExprKind::Slot(slot) => self.slot(*slot, inner.span)?,
            _ => self.term(inner)?,
        };
        self.ask(&Comparison {
            operator: Binary::Ne,
            left: &bit,
            right: &zero,
            operands: Scalar::Bit(1),
            explicit_sum: false,
            span: condition.span,
        })
    }

    fn comparison(
        &mut self,
        operator: Binary,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Result<bool> {
        if left.scalar == Scalar::Bool
            && let (ExprKind::Const(value), other) | (other, ExprKind::Const(value)) =
                (&left.kind, &right.kind)
        {
            let side = if std::ptr::eq(other, &left.kind) { left } else { right };
            let truth = self.truth(side)?;
            return Ok((truth == (*value != 0)) == (operator == Binary::Eq));
        }
        let sum =
            |expr: &Expr| matches!(expr.kind, ExprKind::Binary(Binary::Add | Binary::Sub, ..));
        let (left_term, right_term) = (self.term(left)?, self.term(right)?);
        if let (TermKind::Constant(a), TermKind::Constant(b)) = (&left_term.kind, &right_term.kind)
        {
            return Ok(decide(operator, a.cmp(b)));
        }
        self.ask(&Comparison {
            operator,
            left: &left_term,
            right: &right_term,
            operands: left.scalar,
            explicit_sum: sum(left) || sum(right),
            span,
        })
    }

    fn ask(&mut self, comparison: &Comparison<'_>) -> Result<bool> {
        if self.shape.width.bits() == 1 {
            let message = "a condition in an action of a one-bit register";
            return Err(rules::ONE_BIT.error(comparison.span, message));
        }
        let unit = fit(comparison, self.shared)?;
        let (index, opposite) = self.units.answer(unit, comparison.span)?;
        Ok((self.outcome >> index & 1 == 1) != opposite)
    }

    fn call(&mut self, call: &'p ExternCall) -> Result<()> {
        let term = self.call_result(call)?;
        let Some(Layout::Narrow(slot, scalar)) = &call.result else { return Ok(()) };
        self.put(*slot, Term { width: scalar.width(), ..term }, call.span)
    }

    fn call_result(&mut self, call: &'p ExternCall) -> Result<Term> {
        let object = call.object.map(|id| (id, &self.program.objects[id.index()]));
        let of = object.map_or("", |(_, object)| &*object.of);
        let width = self.shape.width.bits();
        let kind = match (of, &*call.name, object) {
            ("MathUnit", "execute", Some((id, _))) => {
                TermKind::Math(id, Box::new(self.argument(call, 0)?))
            }
            ("RegisterParam", "read", Some((id, _))) => TermKind::Parameter(id),
            ("", name @ ("min" | "max"), None) => {
                let (a, b) = (self.argument(call, 0)?, self.argument(call, 1)?);
                let signed = matches!(call.returns, sojourn_p4::types::Type::Int(_));
                let operation = if name == "min" {
                    Operation::Min { signed }
                } else {
                    Operation::Max { signed }
                };
                TermKind::Operation(operation, Box::new(a), Box::new(b))
            }
            (_, "predicate", Some((id, _))) if id == self.action => {
                self.predicate_arguments(call)?;
                TermKind::Predicate
            }
            _ => {
                let message = format!("a register action cannot call `{}`", call.name);
                return Err(rules::CALL.error(call.span, message));
            }
        };
        Ok(Term { kind, width, span: call.span })
    }

    fn argument(&mut self, call: &'p ExternCall, index: usize) -> Result<Term> {
        match call.args.get(index) {
            Some(Arg::In(CallValue::Scalar(value))) => self.term(value),
            _ => Err(rules::CALL.error(call.span, "this argument is no single value")),
        }
    }

    /// The conditions of `predicate(lo, hi)` must be what the units of those names decide.
    fn predicate_arguments(&mut self, call: &'p ExternCall) -> Result<()> {
        for (index, arg) in call.args.iter().enumerate() {
            let Arg::In(CallValue::Scalar(condition)) = arg else { continue };
            let outcome = self.outcome;
            // Which unit answers shows in the outcomes in which the condition holds.
            let mut holds = 0;
            for probe in 0..4 {
                self.outcome = probe;
                holds |= u8::from(self.truth(condition)?) << probe;
            }
            self.outcome = outcome;
            let constant = matches!(condition.kind, ExprKind::Const(_));
            if holds != PredicateMask::unit(index).0 && !constant {
                let message = format!(
                    "argument {} of predicate() is not the {} comparison of this action",
                    index + 1,
                    ["first", "second"][index.min(1)]
                );
                return Err(rules::PREDICATE_FIRST.error(condition.span, message));
            }
        }
        Ok(())
    }

    /// Reads of a half behind an assignment to it, on the same path.
    fn warn_of_old_values(&mut self, outcomes: &[Vec<Assignment>; 4]) {
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

/// The number that a pattern of this type means.
fn signed(pattern: u128, scalar: Scalar) -> i128 {
    let width = scalar.width().clamp(1, 127);
    let negative = scalar.is_signed() && pattern >> (width - 1) & 1 == 1;
    if negative { pattern as i128 - (1 << width) } else { pattern as i128 }
}

fn is_comparison(operator: Binary) -> bool {
    use Binary as B;
    matches!(operator, B::Eq | B::Ne | B::Lt | B::Le | B::Gt | B::Ge)
}

fn decide(operator: Binary, order: std::cmp::Ordering) -> bool {
    match operator {
        Binary::Eq => order.is_eq(),
        Binary::Ne => order.is_ne(),
        Binary::Lt => order.is_lt(),
        Binary::Le => order.is_le(),
        Binary::Gt => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// The outcomes in which a statement assigns to a destination, with a place.
struct Writer {
    to: Destination,
    statement: usize,
    mask: u8,
    zero: bool,
    span: Span,
}

/// Two assignments to one thing that happen in exactly the same outcomes, or of which one always
/// happens, are refused; two that sometimes happen together are OR-ed, which is told.
fn check_exclusive(outcomes: &[Vec<Assignment>; 4], shared: &mut Resources<'_>) -> Result<()> {
    let mut writers: Vec<Writer> = Vec::new();
    for (outcome, assignments) in outcomes.iter().enumerate() {
        for Assignment { to, term, statement } in assignments {
            let known = writers.iter_mut().find(|w| w.to == *to && w.statement == *statement);
            match known {
                Some(writer) => {
                    writer.mask |= 1 << outcome;
                    writer.zero &= term.is_zero();
                }
                None => writers.push(Writer {
                    to: *to,
                    statement: *statement,
                    mask: 1 << outcome,
                    zero: term.is_zero(),
                    span: term.span,
                }),
            }
        }
    }
    writers.sort_by_key(|writer| writer.statement);
    for (index, second) in writers.iter().enumerate() {
        for first in writers[..index].iter().filter(|first| first.to == second.to) {
            let switched_off = first.zero && first.mask == 0b1111;
            if first.mask & second.mask == 0
                || switched_off && !matches!(first.to, Destination::Memory(_))
            {
                continue;
            }
            let certain =
                first.mask == second.mask || first.mask == 0b1111 || second.mask == 0b1111;
            let rule: &'static Rule =
                if certain { &rules::EXCLUSIVE_WRITES } else { &rules::BOTH_WRITE };
            let message = "a second assignment on the same path";
            let place = |d: Diagnostic| d.with_place(first.span, "the first");
            if certain {
                return Err(place(rule.error(second.span, message)));
            }
            shared.warnings.push(place(rule.warning(second.span, message)));
        }
    }
    Ok(())
}
