//! Marks reads of fields whose header may be invalid, so that the interpreter reports those that
//! are.
//!
//! A read gets a guard unless its header is known to be valid: by an enclosing condition, a
//! `setValid` or an earlier extraction. So the usual `if (hdr.ipv4.isValid())` costs nothing. The
//! value read does not change. Whole headers that are copied, compared or hashed are not fields,
//! and a table whose key contains `hdr.ipv4.isValid()` distinguishes the cases itself: neither gets
//! guards. Nor do calls of externs and methods that a target has compiled. Must not depend on an
//! architecture.

use sojourn_p4::ir::{
    Binary, Body, Expr, ExprKind, Label, Layout, Program, Scalar, Slot, Stmt, StmtKind, TableId,
    Transition, Unary, Unit, UnitId, WideSlot,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::{HashMap, HashSet};

/// The validity slots of headers that are certainly valid.
type Valid = HashSet<Slot>;

/// The program with guards on its doubtful reads; everything else is unchanged.
pub fn with_guards(program: &Program) -> Program {
    let mut guarded = program.clone();
    for index in 0..program.units.len() {
        Guarder::new(program, UnitId(index as u32)).mark(&mut guarded);
    }
    guarded
}

/// Header of each slot of a unit.
struct Headers {
    validity: HashSet<Slot>,
    narrow: Vec<Option<Slot>>,
    wide: Vec<Option<Slot>>,
}

impl Headers {
    fn new(unit: &Unit) -> Headers {
        let mut headers =
            Headers { validity: HashSet::new(), narrow: Vec::new(), wide: Vec::new() };
        let mut by_path: HashMap<&str, Option<Slot>> = HashMap::new();
        let mut current: Option<(&str, Slot)> = None;
        for (at, info) in unit.slots.iter().enumerate() {
            let slot = Slot(at as u32);
            // A header's fields follow its validity.
            if let Some(path) = unit.validity_of(slot) {
                headers.validity.insert(slot);
                current = Some((path, slot));
                // Two copies of one parameter have one path: the intended one is then unknown.
                by_path.entry(path).and_modify(|facts| *facts = None).or_insert(Some(slot));
            }
            let inside = current.filter(|(path, valid)| slot != *valid && within(&info.name, path));
            headers.narrow.push(inside.map(|(_, valid)| valid));
        }
        for info in &unit.wide_slots {
            let paths = info.name.match_indices('.').map(|(end, _)| &info.name[..end]);
            headers.wide.push(paths.filter_map(|path| by_path.get(path)).find_map(|valid| *valid));
        }
        headers
    }

    fn of_slot(&self, slot: Slot) -> Option<Slot> {
        self.narrow.get(slot.index()).copied().flatten()
    }

    fn of_wide(&self, slot: WideSlot) -> Option<Slot> {
        self.wide.get(slot.index()).copied().flatten()
    }
}

/// True if `name` is a path inside `path`.
fn within(name: &str, path: &str) -> bool {
    name.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
}

/// Known facts where an expression is evaluated.
#[derive(Clone, Copy)]
struct Facts<'k> {
    valid: &'k Valid,
    /// Headers being copied whole, or distinguished by the same key.
    exempt: &'k Valid,
}

/// A unit under construction.
struct Guarder<'p> {
    program: &'p Program,
    unit: UnitId,
    headers: Headers,
    /// Facts that hold at every application of a table.
    applied: HashMap<TableId, Valid>,
    /// Facts that hold at every exit of a block.
    left: HashMap<Label, Valid>,
}

impl<'p> Guarder<'p> {
    fn new(program: &'p Program, unit: UnitId) -> Guarder<'p> {
        let headers = Headers::new(&program.units[unit.index()]);
        Guarder { program, unit, headers, applied: HashMap::new(), left: HashMap::new() }
    }

    fn mark(mut self, guarded: &mut Program) {
        match &mut guarded.units[self.unit.index()].body {
            Body::Control { stmts, .. } => {
                self.list(stmts, Valid::new());
            }
            Body::Parser(parser) => {
                self.list(&mut parser.init, Valid::new());
                for state in &mut parser.states {
                    let valid = self.list(&mut state.body, Valid::new()).unwrap_or_default();
                    if let Transition::Select { keys, .. } = &mut state.transition {
                        let facts = Facts { valid: &valid, exempt: &Valid::new() };
                        keys.iter_mut().for_each(|key| _ = self.guard(key, facts));
                    }
                }
            }
        }
        for (index, table) in guarded.tables.iter_mut().enumerate() {
            let Some(valid) = self.applied.remove(&TableId(index as u32)) else { continue };
            let tested_headers: Valid =
                table.keys.iter().filter_map(|key| self.tested_validity(&key.expr)).collect();
            let facts = Facts { valid: &valid, exempt: &tested_headers };
            table.keys.iter_mut().for_each(|key| _ = self.guard(&mut key.expr, facts));
            for action in &mut table.actions {
                self.list(&mut action.body, valid.clone());
            }
        }
    }

    /// The header whose validity the expression tests.
    fn tested_validity(&self, expr: &Expr) -> Option<Slot> {
        match &expr.kind {
            ExprKind::Slot(slot) if self.headers.validity.contains(slot) => Some(*slot),
            ExprKind::Cast(inner) => self.tested_validity(inner),
            _ => None,
        }
    }

    /// Guards statements that begin where `valid` holds; returns the facts behind them, if that is
    /// reachable.
    fn list(&mut self, stmts: &mut [Stmt], mut valid: Valid) -> Option<Valid> {
        // A header copy is written part by part, validity first, all with one span.
        let mut copied: (Span, Valid) = (Span::DUMMY, Valid::new());
        for stmt in stmts {
            if copied.0 != stmt.span {
                copied = (stmt.span, Valid::new());
            }
            let tested_validity = match &stmt.kind {
                StmtKind::Set(_, value) => self.all_tested(value),
                _ => Valid::new(),
            };
            valid = self.statement(stmt, valid, &copied.1)?;
            copied.1.extend(tested_validity);
        }
        Some(valid)
    }

    /// The headers, or first elements of stacks, whose validity an expression reads.
    fn all_tested(&self, expr: &Expr) -> Valid {
        let mut tested_validity: Valid = match &expr.kind {
            ExprKind::Slot(slot) | ExprKind::Element { base: slot, .. }
                if self.headers.validity.contains(slot) =>
            {
                Valid::from([*slot])
            }
            _ => Valid::new(),
        };
        visit::operands(expr)
            .into_iter()
            .for_each(|inner| tested_validity.extend(self.all_tested(inner)));
        tested_validity
    }

    fn statement(&mut self, stmt: &mut Stmt, mut valid: Valid, exempt: &Valid) -> Option<Valid> {
        match &mut stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                self.guard(condition, Facts { valid: &valid, exempt });
                let yes = self.list(then, joined(&valid, self.if_true(condition)));
                let no = self.list(otherwise, joined(&valid, self.if_false(condition)));
                return either(yes, no);
            }
            StmtKind::Switch { subject, cases, default } => {
                self.guard(subject, Facts { valid: &valid, exempt });
                let mut behind = self.list(default, valid.clone());
                for (_, body) in cases {
                    behind = either(behind, self.list(body, valid.clone()));
                }
                return behind;
            }
            StmtKind::Block { label, body } => {
                let label = *label;
                let through = self.list(body, valid);
                return either(through, self.left.remove(&label));
            }
            StmtKind::Loop { label, body } => {
                let label = *label;
                self.list(body, Valid::new());
                return self.left.remove(&label);
            }
            StmtKind::Leave(label) => {
                self.exit(*label, valid);
                return None;
            }
            StmtKind::Apply { table, .. } => return Some(self.apply(*table, valid)),
            StmtKind::Set(slot, value) => {
                self.guard(value, Facts { valid: &valid, exempt });
                if matches!(value.kind, ExprKind::Const(1)) && self.headers.validity.contains(slot)
                {
                    valid.insert(*slot);
                } else {
                    valid.remove(slot);
                }
                return Some(valid);
            }
            StmtKind::Copy { narrow: (from, to, count), .. } => {
                let at = |first: &Slot, i: u32| Slot(first.0 + i);
                let whole: Vec<Slot> = (0..*count)
                    .filter(|i| valid.contains(&at(from, *i)))
                    .map(|i| at(to, i))
                    .collect();
                (0..*count).for_each(|i| _ = valid.remove(&at(to, i)));
                valid.extend(whole);
                return Some(valid);
            }
            StmtKind::SetWide(_, value)
            | StmtKind::SetSlice { value, .. }
            | StmtKind::SetWideSlice { value, .. } => {
                self.guard(value, Facts { valid: &valid, exempt });
            }
            StmtKind::SetElement { index, value, .. }
            | StmtKind::SetWideElement { index, value, .. } => {
                self.guard(index, Facts { valid: &valid, exempt });
                self.guard(value, Facts { valid: &valid, exempt });
            }
            StmtKind::ExtractVar { bits, .. } | StmtKind::Advance { bits } => {
                self.guard(bits, Facts { valid: &valid, exempt });
            }
            StmtKind::Verify { condition, .. } => {
                self.guard(condition, Facts { valid: &valid, exempt });
            }
            _ => {}
        }
        visit::written(stmt, &mut |slot| _ = valid.remove(&slot));
        if let StmtKind::Extract { header: Layout::Header { valid: slot, .. }, .. }
        | StmtKind::ExtractVar { header: Layout::Header { valid: slot, .. }, .. } = &stmt.kind
        {
            valid.insert(*slot);
        }
        Some(valid)
    }

    fn exit(&mut self, label: Label, valid: Valid) {
        let all = match self.left.remove(&label) {
            Some(facts) => facts.intersection(&valid).copied().collect(),
            None => valid,
        };
        self.left.insert(label, all);
    }

    /// A table is applied where `valid` holds; returns the facts behind it, whatever action runs.
    fn apply(&mut self, id: TableId, valid: Valid) -> Valid {
        let mut behind = valid.clone();
        let all = match self.applied.remove(&id) {
            Some(facts) => facts.intersection(&valid).copied().collect(),
            None => valid,
        };
        self.applied.insert(id, all);
        let actions = &self.program.tables[id.index()].actions;
        let mut labels = Vec::new();
        for action in actions {
            visit::statements(&action.body, &mut |stmt| {
                visit::written(stmt, &mut |slot| _ = behind.remove(&slot));
                if let StmtKind::Leave(label) = stmt.kind {
                    labels.push(label);
                }
            });
        }
        labels.into_iter().for_each(|label| self.exit(label, behind.clone()));
        behind
    }

    /// Headers that are valid where `condition` is true.
    fn if_true(&self, condition: &Expr) -> Valid {
        match &condition.kind {
            ExprKind::Slot(slot) if self.headers.validity.contains(slot) => Valid::from([*slot]),
            ExprKind::Unary(Unary::Not, inner) => self.if_false(inner),
            ExprKind::Binary(Binary::And, a, b) => joined(&self.if_true(a), self.if_true(b)),
            ExprKind::Binary(Binary::Or, a, b) => common(&self.if_true(a), &self.if_true(b)),
            ExprKind::Binary(Binary::Eq, a, b) if matches!(b.kind, ExprKind::Const(1)) => {
                self.if_true(a)
            }
            // Form of `&&` and `||` whose right side has a guard.
            ExprKind::Mux(a, b, c) => match (&b.kind, &c.kind) {
                (_, ExprKind::Const(0)) => joined(&self.if_true(a), self.if_true(b)),
                (ExprKind::Const(1), _) => common(&self.if_true(a), &self.if_true(c)),
                _ => Valid::new(),
            },
            _ => Valid::new(),
        }
    }

    /// Headers that are valid where `condition` is false.
    fn if_false(&self, condition: &Expr) -> Valid {
        match &condition.kind {
            ExprKind::Unary(Unary::Not, inner) => self.if_true(inner),
            ExprKind::Binary(Binary::Or, a, b) => joined(&self.if_false(a), self.if_false(b)),
            ExprKind::Binary(Binary::And, a, b) => common(&self.if_false(a), &self.if_false(b)),
            ExprKind::Binary(Binary::Eq, a, b) if matches!(b.kind, ExprKind::Const(0)) => {
                self.if_true(a)
            }
            ExprKind::Mux(a, b, c) => match (&b.kind, &c.kind) {
                (_, ExprKind::Const(0)) => common(&self.if_false(a), &self.if_false(b)),
                (ExprKind::Const(1), _) => joined(&self.if_false(a), self.if_false(c)),
                _ => Valid::new(),
            },
            _ => Valid::new(),
        }
    }

    /// Guards the doubtful reads of an expression; true if there is one. The right side of `&&` and
    /// `||` is then evaluated only if needed, as in the program.
    fn guard(&self, expr: &mut Expr, facts: Facts<'_>) -> bool {
        match &mut expr.kind {
            ExprKind::Slot(_) | ExprKind::WideSlot(_) | ExprKind::Element { .. } => {
                self.guard_read(expr, facts)
            }
            ExprKind::WideElement { index, .. } => self.guard(index, facts),
            ExprKind::Unary(_, a) | ExprKind::Slice(a, _) | ExprKind::Cast(a) => {
                self.guard(a, facts)
            }
            ExprKind::Binary(op @ (Binary::And | Binary::Or), a, b) => {
                let op = *op;
                let left = self.guard(a, facts);
                let more = if op == Binary::And { self.if_true(a) } else { self.if_false(a) };
                let valid = joined(facts.valid, more);
                let right = self.guard(b, Facts { valid: &valid, ..facts });
                if right {
                    let (a, b) = (a.clone(), b.clone());
                    expr.kind = short_circuit(op, a, b, expr.span);
                }
                left || right
            }
            ExprKind::Binary(_, a, b) => {
                let left = self.guard(a, facts);
                self.guard(b, facts) || left
            }
            ExprKind::Mux(condition, a, b) => {
                let tested_validity = self.guard(condition, facts);
                let valid = joined(facts.valid, self.if_true(condition));
                let yes = self.guard(a, Facts { valid: &valid, ..facts });
                let valid = joined(facts.valid, self.if_false(condition));
                let no = self.guard(b, Facts { valid: &valid, ..facts });
                tested_validity || yes || no
            }
            _ => false,
        }
    }

    fn guard_read(&self, expr: &mut Expr, facts: Facts<'_>) -> bool {
        let header = match &expr.kind {
            ExprKind::Slot(slot) => self.headers.of_slot(*slot),
            ExprKind::WideSlot(slot) => self.headers.of_wide(*slot),
            ExprKind::Element { base, .. } => self.headers.of_slot(*base),
            _ => None,
        };
        let Some(header) = header.filter(|header| !facts.exempt.contains(header)) else {
            return false;
        };
        let valid = match &expr.kind {
            // The element's index is not known statically.
            ExprKind::Element { stride, count, index, .. } => ExprKind::Element {
                base: header,
                stride: *stride,
                count: *count,
                index: index.clone(),
            },
            _ if facts.valid.contains(&header) => return false,
            _ => ExprKind::Slot(header),
        };
        let valid = Box::new(Expr { kind: valid, scalar: Scalar::Bool, span: expr.span });
        expr.kind = ExprKind::Guarded { valid, read: Box::new(expr.clone()) };
        true
    }
}

/// `a && b` or `a || b` as a conditional.
fn short_circuit(op: Binary, a: Box<Expr>, b: Box<Expr>, span: Span) -> ExprKind {
    let truth =
        |value: u128| Box::new(Expr { kind: ExprKind::Const(value), scalar: Scalar::Bool, span });
    match op {
        Binary::And => ExprKind::Mux(a, b, truth(0)),
        _ => ExprKind::Mux(a, truth(1), b),
    }
}

fn joined(facts: &Valid, mut more: Valid) -> Valid {
    more.extend(facts);
    more
}

fn common(a: &Valid, b: &Valid) -> Valid {
    a.intersection(b).copied().collect()
}

/// Facts behind two paths, of which one may be unreachable.
fn either(a: Option<Valid>, b: Option<Valid>) -> Option<Valid> {
    match (a, b) {
        (Some(a), Some(b)) => Some(common(&a, &b)),
        (one, other) => one.or(other),
    }
}
