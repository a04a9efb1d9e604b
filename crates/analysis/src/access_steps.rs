//! Statements that access state, in the order of the program.
//!
//! A call inside a statement is part of the statement; a condition is included only if it depends
//! on state or something in its arms accesses state.

use super::variable_set::VariableSet;
use sojourn_p4::source::Span;

/// Kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A condition; the steps one level deeper run only if it holds.
    If,
    /// A condition evaluated if the previous one does not hold.
    ElseIf,
    /// The default branch.
    Else,
    /// A statement.
    Do,
}

/// A statement that accesses state, or depends on it.
#[derive(Clone, Debug)]
pub struct StateAccess {
    /// Kind.
    pub kind: Kind,
    /// Source span; for a condition, without its branches.
    pub span: Span,
    /// Number of enclosing conditions.
    pub depth: u32,
    /// Variables whose memory is read here.
    pub reads: VariableSet,
    /// Variables on which its value depends.
    pub uses: VariableSet,
    /// Variables that decide whether those values are computed.
    pub implied: VariableSet,
    /// Variables whose memory is written here, with the dependencies of the new value.
    pub writes: Vec<(usize, VariableSet)>,
    /// True if the packet is dropped here.
    pub drops: bool,
}

impl StateAccess {
    /// A step without accesses.
    pub fn new(kind: Kind, span: Span, depth: u32) -> StateAccess {
        let none = VariableSet::default;
        let (reads, uses, implied) = (none(), none(), none());
        StateAccess { kind, span, depth, reads, uses, implied, writes: Vec::new(), drops: false }
    }

    /// All variables on which its result depends.
    pub fn depends(&self) -> VariableSet {
        self.reads.union(&self.uses).union(&self.implied)
    }

    /// Adds the accesses of `part`.
    fn take(&mut self, mut part: StateAccess) {
        self.reads.union_with(&part.reads);
        self.uses.union_with(&part.uses);
        self.implied.union_with(&part.implied);
        self.writes.append(&mut part.writes);
        self.drops |= part.drops;
    }

    fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.uses.is_empty() && self.writes.is_empty() && !self.drops
    }
}

/// The steps found so far.
#[derive(Debug, Default)]
pub struct Steps {
    /// In the order of the program.
    pub list: Vec<StateAccess>,
}

impl Steps {
    /// Adds a step. Earlier steps inside its text, such as the calls in a condition, become part of
    /// it; the steps of a register action's body remain below its call.
    pub fn push(&mut self, mut step: StateAccess) {
        if step.is_empty() && step.kind == Kind::Do {
            return;
        }
        while let Some(part) = self.list.pop() {
            if part.depth < step.depth || !contains(step.span, part.span) {
                self.list.push(part);
                break;
            }
            step.take(part);
        }
        let before = self.list.iter().rposition(|other| other.depth <= step.depth);
        if let Some(call) = before.map(|at| &mut self.list[at])
            && call.depth == step.depth
            && (call.kind, step.kind) == (Kind::Do, Kind::Do)
            && contains(step.span, call.span)
        {
            call.span = step.span;
            call.take(step);
            return;
        }
        self.list.push(step);
    }

    /// Removes a condition at `at` if it neither depends on state nor controls a step.
    pub fn close(&mut self, at: usize) {
        if at + 1 == self.list.len() && self.list[at].is_empty() {
            self.list.pop();
        }
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
