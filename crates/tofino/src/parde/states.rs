//! Statements of parser states (T1301, T1302, T1304, T1305, T1307, T1308, T1312, T1313).
//!
//! A state that the compiler creates for an `if` begins without known values. Uses `copy_propagation`,
//! `fields` and the checks of `select` and `varbit`.

use super::copy_propagation::Known;
use super::fields::{computed, variable_index};
use super::key_sources::{Source, Ways};
use super::state_merging::chains;
use super::{select, slots, varbit};
use crate::chip::Chip;
use crate::constant_folding::constant;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, Binary, Body, Expr, ExprKind, ExternCall, Layout, ParserBody, Program, Slot, StateId,
    Stmt, StmtKind, Transition, Unit, UnitId, Value,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::HashSet;

/// Bits of the packet that a state has in its input buffer.
const BUFFER_BITS: u64 = 8 * 32;

/// Checks the states of a parser.
pub fn check(chip: &Chip, program: &Program, parser: UnitId, found: &mut Vec<Diagnostic>) {
    let unit = &program.units[parser.index()];
    let Body::Parser(body) = &unit.body else { return };
    // Values that no state needs are not computed: the first pass finds those that are needed.
    let chains = chains(body);
    let mut walk = Walk::new(chip, program, unit, body, &chains);
    for round in 0..2 {
        walk.found.clear();
        walk.final_round = round == 1;
        for (at, chain) in chains.iter().enumerate() {
            walk.chain(at, chain);
        }
    }
    found.append(&mut walk.found);
}

struct Walk<'p> {
    chip: &'p Chip,
    program: &'p Program,
    unit: &'p Unit,
    body: &'p ParserBody,
    ways: Ways<'p>,
    /// The joined state that is looked at.
    at: usize,
    /// Slots of the parser's parameters: their values leave the parser.
    outer: HashSet<Slot>,
    /// Local variables whose values are read where they are not known.
    needed: HashSet<Slot>,
    /// The last bits that the joined state looks at, counted from its first bit.
    ahead: Vec<(u64, Span)>,
    final_round: bool,
    found: Vec<Diagnostic>,
}

/// Facts that hold at a point of a state.
#[derive(Default)]
struct Point {
    known: Known,
    /// Fields that were extracted in this state.
    extracted: HashSet<Slot>,
    /// Bits consumed; none if that is not known.
    shift: Option<u64>,
    /// A header of variable size was extracted.
    varbit: bool,
    /// Results of `verify` that no variable of the program has.
    verified: HashSet<Slot>,
}

impl<'p> Walk<'p> {
    fn new(
        chip: &'p Chip,
        program: &'p Program,
        unit: &'p Unit,
        body: &'p ParserBody,
        chains: &'p [Vec<StateId>],
    ) -> Walk<'p> {
        let outer = unit.params.iter().flat_map(|param| slots(&param.layout)).collect();
        let ways = Ways::new(body, chains);
        Walk {
            chip,
            program,
            unit,
            body,
            ways,
            at: 0,
            outer,
            needed: HashSet::new(),
            ahead: Vec::new(),
            final_round: false,
            found: Vec::new(),
        }
    }

    fn chain(&mut self, at: usize, chain: &[StateId]) {
        self.at = at;
        self.ahead.clear();
        let mut point = Point { shift: Some(0), ..Point::default() };
        if chain.first() == Some(&self.body.start) {
            self.list(&self.body.init, &mut point);
        }
        for state in chain {
            self.list(&self.body.states[state.index()].body, &mut point);
        }
        let Some(last) = chain.last().map(|state| &self.body.states[state.index()]) else { return };
        if let Some(bits) = point.shift.filter(|bits| !bits.is_multiple_of(8)) {
            let message = format!("this state consumes {bits} bits");
            self.found.push(rules::ADVANCE.refuse(last.span, message).into());
        }
        if let Transition::Select { keys, cases, span } = &last.transition {
            let keys: Vec<Expr> = keys.iter().map(|key| self.read(key, &point)).collect();
            for key in &keys {
                self.source(key);
            }
            select::check(&keys, cases, *span, &mut self.found);
        }
        self.check_ahead(&point);
    }

    /// The compiler divides a state after what it consumes, and what it looks at stays in sight.
    fn check_ahead(&mut self, end: &Point) {
        let Some(shift) = end.shift else { return };
        if let Some((last, span)) = self.ahead.iter().find(|(last, _)| *last > shift + BUFFER_BITS)
        {
            let bytes = (last - shift).div_ceil(8);
            let message = format!("this state looks at a byte {bytes} bytes ahead");
            self.found.push(rules::LOOK_AHEAD.refuse(*span, message).into());
        }
    }

    /// A key that is matched: on every way its value comes from the packet.
    fn source(&mut self, key: &Expr) {
        let mut read = Vec::new();
        slots_read(key, &mut read);
        for slot in read {
            let sources = self.ways.sources(self.at, slot);
            let message = if sources.contains(&Source::Nothing) {
                "a `select` looks at a variable that nothing has written on some way"
            } else if sources.contains(&Source::Constant) {
                "a `select` looks at a variable that is a constant on some way"
            } else {
                continue;
            };
            self.found.push(rules::SELECT_SOURCE.refuse(key.span, message).into());
        }
    }

    fn list(&mut self, stmts: &[Stmt], point: &mut Point) {
        for stmt in stmts {
            self.statement(stmt, point);
            point.known.step(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt, point: &mut Point) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Set(slot, value) => self.assign(Some(*slot), value, span, point),
            StmtKind::SetSlice { target, value, .. } => {
                self.assign(Some(*target), value, span, point);
            }
            StmtKind::SetWide(_, value) | StmtKind::SetWideSlice { value, .. } => {
                self.assign(None, value, span, point);
            }
            StmtKind::SetElement { index, value, .. }
            | StmtKind::SetWideElement { index, value, .. } => {
                self.index(index, span, point);
                self.assign(None, value, span, point);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.branch(condition, then, otherwise, span, point);
            }
            StmtKind::Loop { .. } => {
                let message = "a loop in a parser state";
                self.found.push(rules::PARSER_BRANCH.refuse(span, message).into());
            }
            StmtKind::Block { body, .. } => self.list(body, point),
            StmtKind::Advance { bits } => self.advance(bits, point),
            StmtKind::Extract { .. } | StmtKind::ExtractNext { .. } if point.varbit => {
                let message = "a header behind one of variable size in the same state";
                self.found.push(rules::VARBIT_USE.refuse(span, message).into());
            }
            StmtKind::Extract { header, bits } => {
                point.extracted.extend(slots(header));
                // A header that is no whole number of bytes is a rule of its own.
                let whole = point.shift.filter(|_| bits.is_multiple_of(8));
                point.shift = whole.map(|shift| shift + u64::from(*bits));
            }
            StmtKind::Skip { bits, .. } => {
                point.shift = point.shift.map(|shift| shift + u64::from(*bits));
            }
            StmtKind::ExtractNext { stack } => {
                point.extracted.extend(slots(stack));
                let element = match stack {
                    Layout::Stack { elements, .. } => elements.first().map(|e| e.wire_bits(None)),
                    _ => None,
                };
                point.shift = point.shift.map(|shift| shift + element.unwrap_or(0));
            }
            StmtKind::ExtractVar { header, bits } => {
                if std::mem::replace(&mut point.varbit, true) {
                    let message = "two headers of variable size in one state";
                    self.found.push(rules::VARBIT_USE.refuse(span, message).into());
                }
                point.extracted.extend(slots(header));
                point.shift = None;
                let bits = self.read(bits, point);
                varbit::check(header, &bits, span, &mut self.found);
            }
            StmtKind::Verify { .. } => {
                let message = "`verify` decides nothing: the compiler leaves it out";
                self.found.push(rules::VERIFY.warning(span, message));
            }
            StmtKind::Call(call) => self.call(call, point),
            _ => {}
        }
    }

    /// An expression with what is known in it; what is left of local variables is needed.
    fn read(&mut self, expr: &Expr, point: &Point) -> Expr {
        let expr = point.known.resolved(expr);
        let mut needed = Vec::new();
        slots_read(&expr, &mut needed);
        self.needed.extend(needed);
        if let (Some(last), Some(shift)) = (last_ahead(&expr), point.shift) {
            self.ahead.push((shift + last, expr.span));
        }
        expr
    }

    fn assign(&mut self, target: Option<Slot>, value: &Expr, span: Span, point: &mut Point) {
        let local = target.is_some_and(|slot| !self.outer.contains(&slot));
        if local && !(self.final_round && target.is_some_and(|slot| self.needed.contains(&slot))) {
            return;
        }
        let value = self.read(value, point);
        if let Some(index) = variable_index(&value).cloned() {
            self.index(&index, span, point);
        }
        if let Some(part) = computed(&value)
            && !accumulates(&value, target)
        {
            let message = "a parser state computes";
            let refused = rules::PARSER_ARITHMETIC.refuse(part.span, message);
            self.found.push(refused.into());
        } else if self.reads_validity(&value) && !target.is_some_and(|slot| self.is_validity(slot))
        {
            let message = "a parser state copies the validity of a header into a field";
            self.found.push(rules::PARSER_ARITHMETIC.refuse(value.span, message).into());
        }
    }

    fn reads_validity(&self, value: &Expr) -> bool {
        let mut read = Vec::new();
        slots_read(value, &mut read);
        read.into_iter().any(|slot| self.is_validity(slot))
    }

    fn is_validity(&self, slot: Slot) -> bool {
        self.unit.validity_of(slot).is_some()
    }

    /// The index of a stack; `next` and `last` are counted by the parser itself.
    fn index(&mut self, index: &Expr, span: Span, point: &Point) {
        let index = self.read(index, point);
        if constant(&index).is_none() && !self.counts_elements(&index) {
            let message = "a field chooses an element of a stack";
            self.found.push(rules::STACK_INDEX.refuse(span, message).into());
        }
    }

    /// True if an index is made of a stack's own `nextIndex`.
    fn counts_elements(&self, index: &Expr) -> bool {
        let mut read = Vec::new();
        slots_read(index, &mut read);
        let is_next = |slot: &Slot| {
            let info = self.unit.slots.get(slot.index());
            info.is_some_and(|info| info.name.ends_with(".$next$"))
        };
        !read.is_empty() && read.iter().all(is_next)
    }

    fn branch(
        &mut self,
        condition: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
        span: Span,
        point: &mut Point,
    ) {
        let condition = self.read(condition, point);
        if let Some(value) = constant(&condition) {
            return self.list(if value == 0 { otherwise } else { then }, point);
        }
        select::check_condition(&condition, span, &mut self.found);
        if matches!(condition.kind, ExprKind::Slot(slot) if point.verified.contains(&slot)) {
            let message = "an `if` in a parser state calls `verify`";
            self.found.push(rules::PARSER_BRANCH.refuse(span, message).into());
        }
        self.source(&condition);
        for list in [then, otherwise] {
            self.list(list, &mut Point::default());
        }
        *point = Point::default();
    }

    fn advance(&mut self, bits: &Expr, point: &mut Point) {
        let bits = self.read(bits, point);
        match constant(&bits) {
            Some(count) => point.shift = point.shift.map(|shift| shift + count as u64),
            None => {
                let message = "a parser advances by a field";
                self.found.push(rules::ADVANCE.refuse(bits.span, message).into());
                point.shift = None;
            }
        }
    }

    fn call(&mut self, call: &ExternCall, point: &mut Point) {
        let object = call.object.map(|id| &*self.program.objects[id.index()].of);
        match (object, &*call.name) {
            (None, "port_metadata_unpack") => {
                point.shift =
                    point.shift.map(|shift| shift + 8 * self.chip.front.port_metadata as u64);
            }
            (Some("Checksum"), "add" | "subtract") => {
                if let Some(Arg::In(data)) = call.args.first() {
                    self.sum(data, call.span, point);
                }
            }
            (Some("Checksum"), "verify") => {
                if let Some(Layout::Narrow(result, _)) = call.result
                    && self.unit.slots[result.index()].temporary
                {
                    point.verified.insert(result);
                }
            }
            (Some("ParserCounter"), "set") => {
                if let Some(Arg::In(Value::Scalar(value))) = call.args.first() {
                    let value = self.read(value, point);
                    if constant(&value).is_none() {
                        let message = "a parser counter is set to a value from the packet";
                        self.found.push(rules::COUNTER_START.refuse(value.span, message).into());
                    }
                }
            }
            _ => {}
        }
    }

    /// Parts that a checksum adds or subtracts.
    fn sum(&mut self, data: &Value, span: Span, point: &Point) {
        let mut parts = Vec::new();
        scalars(data, &mut parts);
        for part in parts {
            let part = self.read(part, point);
            match part.kind {
                _ if computed(&part).is_some() => {
                    let message = "a checksum of a computed value";
                    self.found.push(rules::CHECKSUM_FIELDS.refuse(part.span, message).into());
                }
                ExprKind::Const(0) => {}
                ExprKind::Const(value) => {
                    let message = format!("the constant {value} in a checksum");
                    self.found.push(rules::CHECKSUM_FIELDS.refuse(part.span, message).into());
                }
                ExprKind::Slot(slot) if !point.extracted.contains(&slot) => {
                    let message = "a checksum of a field that this state does not extract";
                    self.found.push(rules::CHECKSUM_STATE.refuse(span, message).into());
                    return;
                }
                _ => {}
            }
        }
    }
}

/// `field = field | value`, which the chip does while it writes.
fn accumulates(value: &Expr, target: Option<Slot>) -> bool {
    let ExprKind::Binary(Binary::BitOr | Binary::Or, a, b) = &value.kind else { return false };
    target.is_some_and(|slot| [a, b].into_iter().any(|side| is_plain(side, slot)))
}

fn is_plain(expr: &Expr, slot: Slot) -> bool {
    match &expr.kind {
        ExprKind::Slot(read) => *read == slot,
        ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => is_plain(inner, slot),
        _ => false,
    }
}

/// The number of bits ahead that an expression looks at.
fn last_ahead(expr: &Expr) -> Option<u64> {
    match &expr.kind {
        ExprKind::Lookahead { offset } => Some(u64::from(*offset) + u64::from(expr.scalar.width())),
        ExprKind::Slice(inner, low) if matches!(inner.kind, ExprKind::Lookahead { .. }) => {
            last_ahead(inner).map(|last| last - u64::from(*low))
        }
        _ => visit::operands(expr).into_iter().filter_map(last_ahead).max(),
    }
}

fn slots_read(expr: &Expr, found: &mut Vec<Slot>) {
    match &expr.kind {
        ExprKind::Slot(slot) => found.push(*slot),
        ExprKind::Element { base, stride, count, index } => {
            found.extend((0..*count).map(|at| Slot(base.0 + at * stride)));
            slots_read(index, found);
        }
        _ => visit::operands(expr).into_iter().for_each(|operand| slots_read(operand, found)),
    }
}

/// The fields of a value, without the validity of headers.
fn scalars<'v>(value: &'v Value, found: &mut Vec<&'v Expr>) {
    match value {
        Value::Scalar(expr) => found.push(expr),
        Value::Header { fields: parts, .. } | Value::Struct { fields: parts, .. } => {
            parts.iter().for_each(|part| scalars(part, found));
        }
        _ => {}
    }
}
