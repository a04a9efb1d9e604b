//! One access to a register for each packet and pass, checked when a program is loaded.
//!
//! A walk over everything that can happen to a packet keeps the registers that may have been used
//! so far, and by what conditions. A second use on the same path is refused (rules T07). So are
//! two indices in one table action.

use super::register_action::same_expression;
use super::rules;
use super::visit;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, Binary, Body, Expr, ExprKind, ExternCall, Label, ObjectId, Program, Scalar, Slot, Stmt,
    StmtKind, Unary, UnitId, Value,
};
use sojourn_p4::source::Span;
use std::collections::{BTreeMap, HashMap};

/// Which register a call uses, if it is an access to one.
pub type RegisterOf<'a> = &'a dyn Fn(&ExternCall) -> Option<ObjectId>;

/// What is known about a slot on a path.
#[derive(Clone, Copy, PartialEq)]
enum Fact {
    Is(u128),
    IsNot(u128),
}

/// A use of a register, and what was known when it happened.
#[derive(Clone, PartialEq)]
struct Use {
    span: Span,
    /// Conditions on slots that have not been written since.
    facts: Vec<(Slot, Fact)>,
}

/// What may have happened on the way to a point.
#[derive(Clone, Default, PartialEq)]
struct Path {
    uses: BTreeMap<ObjectId, Vec<Use>>,
    facts: Vec<(Slot, Fact)>,
}

/// More uses of one register than this are not told apart.
const MAX_USES: usize = 16;

struct Walk<'a> {
    program: &'a Program,
    register_of: RegisterOf<'a>,
    diagnostics: Vec<Diagnostic>,
    /// Paths that have left a block and wait behind it.
    leaving: HashMap<Label, Vec<Path>>,
}

/// Diagnostics about registers that a packet could access twice in a pass of `unit`.
pub fn check_unit(program: &Program, unit: UnitId, register_of: RegisterOf<'_>) -> Vec<Diagnostic> {
    let Body::Control { stmts, .. } = &program.units[unit.index()].body else { return Vec::new() };
    let mut walk = Walk { program, register_of, diagnostics: Vec::new(), leaving: HashMap::new() };
    walk.list(stmts, Some(Path::default()));
    walk.diagnostics
}

impl Walk<'_> {
    fn list(&mut self, stmts: &[Stmt], mut path: Option<Path>) -> Option<Path> {
        for stmt in stmts {
            path = self.statement(stmt, path?);
        }
        path
    }

    fn statement(&mut self, stmt: &Stmt, mut path: Path) -> Option<Path> {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                let yes = self.list(then, path.clone().assume(condition, true));
                let no = self.list(otherwise, path.assume(condition, false));
                return join([yes, no]);
            }
            StmtKind::Switch { subject, cases, default } => {
                let mut ends = Vec::new();
                for (labels, body) in cases {
                    let path = match (&subject.kind, labels.as_slice()) {
                        (ExprKind::Slot(slot), [label]) => {
                            path.clone().learn(*slot, Fact::Is(low(label)))
                        }
                        _ => Some(path.clone()),
                    };
                    ends.push(self.list(body, path));
                }
                ends.push(self.list(default, Some(path)));
                return join(ends);
            }
            StmtKind::Block { label, body } => {
                let end = self.list(body, Some(path));
                let left = self.leaving.remove(label).unwrap_or_default();
                return join(left.into_iter().map(Some).chain([end]));
            }
            StmtKind::Loop { label, body } => {
                // Twice round, so that the second round meets the uses of the first.
                let once = self.list(body, Some(path));
                let twice = once.clone().and_then(|path| self.list(body, Some(path)));
                let left = self.leaving.remove(label).unwrap_or_default();
                return join(left.into_iter().map(Some).chain([once, twice]));
            }
            StmtKind::Leave(label) => {
                self.leaving.entry(*label).or_default().push(path);
                return None;
            }
            StmtKind::Apply { table, .. } => {
                let actions = &self.program.tables[table.index()].actions;
                let mut ends: Vec<Option<Path>> = vec![Some(path.clone())];
                for action in actions {
                    ends.push(self.list(&action.body, Some(path.clone())));
                }
                path = join(ends)?;
            }
            StmtKind::Call(call) => self.call(call, &mut path),
            _ => {}
        }
        let mut known = None;
        if let StmtKind::Set(slot, Expr { kind: ExprKind::Const(value), .. }) = &stmt.kind {
            known = Some((*slot, Fact::Is(*value)));
        }
        visit::written(stmt, &mut |slot| path.forget(slot));
        path.facts.extend(known);
        Some(path)
    }

    fn call(&mut self, call: &ExternCall, path: &mut Path) {
        let Some(register) = (self.register_of)(call) else { return };
        let uses = path.uses.entry(register).or_default();
        if let Some(first) = uses.iter().find(|first| !contradict(&first.facts, &path.facts)) {
            let name = &self.program.objects[register.index()].name;
            let message = format!("a packet can access register `{name}` twice in one pass");
            let mut refused =
                rules::ONE_ACCESS.refuse(call.span, message).with_label("the second access");
            if first.span != call.span {
                refused = refused.with_place(first.span, "the first access");
            }
            let refused = Diagnostic::from(refused);
            if !self.diagnostics.contains(&refused) {
                self.diagnostics.push(refused);
            }
            return;
        }
        if uses.len() < MAX_USES {
            uses.push(Use { span: call.span, facts: path.facts.clone() });
        }
    }
}

fn join(paths: impl IntoIterator<Item = Option<Path>>) -> Option<Path> {
    paths.into_iter().flatten().reduce(|mut a, b| {
        a.facts.retain(|fact| b.facts.contains(fact));
        for (register, uses) in b.uses {
            let known = a.uses.entry(register).or_default();
            for second in uses {
                if !known.contains(&second) && known.len() < MAX_USES {
                    known.push(second);
                }
            }
        }
        a
    })
}

/// True if both cannot hold at once.
fn contradict(a: &[(Slot, Fact)], b: &[(Slot, Fact)]) -> bool {
    let clash = |x: &Fact, y: &Fact| match (x, y) {
        (Fact::Is(x), Fact::Is(y)) => x != y,
        (Fact::Is(x), Fact::IsNot(y)) | (Fact::IsNot(y), Fact::Is(x)) => x == y,
        (Fact::IsNot(_), Fact::IsNot(_)) => false,
    };
    a.iter().any(|(slot, x)| b.iter().any(|(other, y)| slot == other && clash(x, y)))
}

impl Path {
    /// Forgets what was known about a slot that is written, also by earlier uses.
    fn forget(&mut self, slot: Slot) {
        self.facts.retain(|(known, _)| *known != slot);
        for used in self.uses.values_mut().flatten() {
            used.facts.retain(|(known, _)| *known != slot);
        }
    }

    /// The path on which a fact holds; none if it cannot.
    fn learn(mut self, slot: Slot, fact: Fact) -> Option<Path> {
        if contradict(&self.facts, &[(slot, fact)]) {
            return None;
        }
        self.facts.push((slot, fact));
        Some(self)
    }

    /// The path on which a condition is `truth`; none if it cannot be.
    fn assume(self, condition: &Expr, truth: bool) -> Option<Path> {
        match (&condition.kind, truth) {
            (ExprKind::Const(value), _) => ((*value != 0) == truth).then_some(self),
            (ExprKind::Unary(Unary::Not, inner), _) => self.assume(inner, !truth),
            (ExprKind::Binary(Binary::And, a, b), true) => self.assume(a, true)?.assume(b, true),
            (ExprKind::Binary(Binary::Or, a, b), false) => self.assume(a, false)?.assume(b, false),
            (ExprKind::Binary(op @ (Binary::Eq | Binary::Ne), a, b), _) => {
                let (Some(slot), ExprKind::Const(value)) = (plain_slot(a), &b.kind) else {
                    return Some(self);
                };
                let is = (*op == Binary::Eq) == truth;
                self.learn(slot, if is { Fact::Is(*value) } else { Fact::IsNot(*value) })
            }
            (ExprKind::Slot(slot), _) if condition.scalar == Scalar::Bool => {
                self.learn(*slot, Fact::Is(u128::from(truth)))
            }
            _ => Some(self),
        }
    }
}

/// Diagnostics about table actions that use registers or meters at different indices.
pub fn check_indices(program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for action in program.tables.iter().flat_map(|table| &table.actions) {
        let mut first: Option<&Expr> = None;
        visit::statements(&action.body, &mut |stmt| {
            let StmtKind::Call(call) = &stmt.kind else { return };
            let Some(index) = index_of(program, call) else { return };
            match first {
                Some(other) if !same_expression(other, index) => {
                    let message = "two indices for registers or meters in one table action";
                    let refused = rules::ONE_INDEX.refuse(index.span, message);
                    found.push(refused.with_place(other.span, "the other index").into());
                }
                Some(_) => {}
                None => first = Some(index),
            }
        });
    }
    found
}

/// The index of an access to an indexed register or meter.
fn index_of<'p>(program: &Program, call: &'p ExternCall) -> Option<&'p Expr> {
    let object = &program.objects[call.object?.index()];
    match (&*object.of, &*call.name) {
        ("RegisterAction" | "Meter", "execute") | ("Register", "read" | "write") => {}
        _ => return None,
    }
    match call.args.first()? {
        Arg::In(Value::Scalar(index)) => Some(index),
        _ => None,
    }
}

/// A slot as it is, or cast to another type of its width.
fn plain_slot(expr: &Expr) -> Option<Slot> {
    match &expr.kind {
        ExprKind::Slot(slot) => Some(*slot),
        ExprKind::Cast(inner) if inner.scalar.width() == expr.scalar.width() => plain_slot(inner),
        ExprKind::Slice(inner, 0) if inner.scalar.width() == expr.scalar.width() => {
            plain_slot(inner)
        }
        _ => None,
    }
}

fn low(label: &num_bigint::BigUint) -> u128 {
    u128::try_from(label).unwrap_or(u128::MAX)
}
