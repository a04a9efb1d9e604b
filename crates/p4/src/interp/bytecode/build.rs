//! Bytecode generation from a unit's statements: structured control flow becomes jumps.
//!
//! A unit whose bytecode would differ from the tree in behavior gets none ([`Uncompiled`]).

use super::assemble::{Assembler, Calls};
use super::code::{
    At, Called, Data, Elision, Emitted, Extracted, FEW_KEYS, Op, Site, To, UnitCode,
};
use super::header::{WireHeader, Writer};
use super::parser_cycles::go_round;
use super::select::{Case, Select, WideSelect, words};
use super::value::{Operand, cut, looks_ahead};
use crate::interp::arith::mask;
use crate::interp::unit_chain::{Link, Plan};
use crate::ir::{
    Body, Expr, ExternCall, Label, Layout, Next, ParserBody, Program, SelectCase, Slot, Stmt,
    StmtKind, TableAction, TableId, Transition, Unit,
};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::collections::HashMap;

/// The unit has no bytecode; the tree executes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uncompiled;

pub(super) type CompileResult<T = ()> = Result<T, Uncompiled>;

/// Code of a unit, if it can be generated.
pub(super) fn unit(program: &Program, unit: &Unit, calls: &dyn Calls) -> Option<UnitCode> {
    // Units may run on one frame, so temporaries must not be slots of any unit.
    let own = program.units.iter().map(|unit| unit.slots.len()).max().unwrap_or(0);
    let mut builder = Builder::new(program, own, calls);
    let is_parser = matches!(unit.body, Body::Parser(_));
    builder.code.is_parser = is_parser;
    let rejects = builder.unit(unit).ok()?;
    builder.ops.push(if is_parser { Op::Accept } else { Op::Done });
    builder.finish(rejects).ok()
}

/// Code of several units in sequence, if it can be generated. Their own slots precede the
/// temporaries, and so do `inputs` further slots.
pub(super) fn chain(
    program: &Program,
    plan: &Plan<'_>,
    inputs: usize,
    calls: &dyn Calls,
) -> Option<UnitCode> {
    let links = plan.links;
    let units = || links.iter().map(|link| &program.units[link.unit.index()]);
    let own = units().map(|unit| unit.slots.len()).max().unwrap_or(0);
    let mut builder = Builder::new(program, own + inputs, calls);
    builder.stay = plan.stay;
    let (mut rejects, end) = (None, builder.label());
    for (link, unit) in links.iter().zip(units()) {
        builder.go_on(link, end).ok()?;
        let label = builder.unit(unit).ok()?;
        // The caller of a chain identifies the parser that rejected.
        if label.is_some() && rejects.replace(label).is_some() {
            return None;
        }
        if builder.code.first_unit == 0 {
            builder.code.first_unit = builder.ops.len();
        }
    }
    builder.place(end);
    builder.ops.push(Op::Done);
    builder.finish(rejects.flatten()).ok()
}

/// Code under construction.
pub(super) struct Builder<'p> {
    program: &'p Program,
    pub code: UnitCode,
    pub ops: Vec<Op>,
    /// Position of each label, once known.
    labels: Vec<Option<To>>,
    /// Blocks that can be left, with the number of enclosing actions.
    left: HashMap<Label, (To, usize)>,
    /// Sites whose actions enclose the current code.
    inside: Vec<u32>,
    /// Temporaries in use behind the slots of units.
    temporaries: usize,
    own: usize,
    calls: &'p dyn Calls,
    in_parser: bool,
    /// Headers that stay in the packet, by the slots of their validity.
    stay: &'p [Slot],
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program, own: usize, calls: &'p dyn Calls) -> Builder<'p> {
        Builder {
            program,
            calls,
            code: UnitCode { slots: own, own, ..UnitCode::default() },
            ops: Vec::new(),
            labels: Vec::new(),
            left: HashMap::new(),
            inside: Vec::new(),
            temporaries: 0,
            own,
            in_parser: false,
            stay: &[],
        }
    }

    /// Appends a unit. It continues behind itself; returns the label at which its parser rejects.
    fn unit(&mut self, unit: &Unit) -> CompileResult<Option<To>> {
        self.left.clear();
        self.in_parser = matches!(unit.body, Body::Parser(_));
        match &unit.body {
            Body::Control { exit_label, stmts } => self.control(*exit_label, stmts).map(|()| None),
            Body::Parser(body) => self.parser(body).map(Some),
        }
    }

    /// Appends the frame operations in front of a further unit.
    fn go_on(&mut self, link: &Link, end: To) -> CompileResult {
        for (slot, value) in &link.ends_if {
            self.ops.push(Op::JumpEqualConst { a: slot_at(*slot)?, to: end, value: *value });
        }
        for (from, to) in &link.moves {
            self.ops.push(Op::Move { to: slot_at(*to)?, a: slot_at(*from)? });
        }
        for (to, value) in &link.sets {
            let to = slot_at(*to)?;
            let op = match u64::try_from(*value) {
                Ok(value) => Op::Set { to, value },
                Err(_) => {
                    self.code.constants.push(*value);
                    Op::SetLong { to, constant: self.code.constants.len() as u32 - 1 }
                }
            };
            self.ops.push(op);
        }
        Ok(())
    }

    fn control(&mut self, exit: Label, stmts: &[Stmt]) -> CompileResult {
        let end = self.label();
        self.left.insert(exit, (end, 0));
        self.list(stmts)?;
        self.place(end);
        Ok(())
    }

    fn parser(&mut self, body: &ParserBody) -> CompileResult<To> {
        let states: Vec<To> = body.states.iter().map(|_| self.label()).collect();
        let counted = go_round(&body.states);
        let (accept, reject) = (self.label(), self.label());
        let start = *states.get(body.start.index()).ok_or(Uncompiled)?;
        let to = |next: Next| match next {
            Next::State(state) => states.get(state.index()).copied().ok_or(Uncompiled),
            Next::Accept => Ok(accept),
            Next::Reject => Ok(reject),
        };
        self.list(&body.init)?;
        if body.start.index() > 0 {
            self.ops.push(Op::Jump { to: start });
        }
        for (at, (state, label)) in body.states.iter().zip(&states).enumerate() {
            self.place(*label);
            if counted {
                self.ops.push(Op::State);
            }
            self.list(&state.body)?;
            match &state.transition {
                Transition::Direct(Next::State(next)) if next.index() == at + 1 => {}
                Transition::Direct(next) => self.ops.push(Op::Jump { to: to(*next)? }),
                Transition::Select { keys, cases, .. } => {
                    let narrow = keys.iter().all(|key| key.scalar.is_narrow());
                    if !narrow {
                        let select = self.code.wide_selects.len() as u32;
                        self.code.wide_selects.push(WideSelect {
                            keys: keys.clone(),
                            cases: cases.clone(),
                            states: states.clone(),
                            accept,
                            reject,
                        });
                        self.ops.push(Op::SelectWide { select });
                        continue;
                    }
                    let mark = self.mark();
                    let slots = keys
                        .iter()
                        .map(|key| self.slot_of(key))
                        .collect::<CompileResult<Vec<At>>>()?;
                    if keys.iter().any(looks_ahead) {
                        self.ops.push(Op::Check);
                    }
                    let cases = cases.iter().map(|case| Ok((case, to(case.next)?)));
                    let cases = cases.collect::<CompileResult<Vec<_>>>()?;
                    self.select(keys, &slots, &cases)?;
                    self.ops.push(Op::NoMatch);
                    self.release(mark);
                }
            }
        }
        self.place(accept);
        // Rounds of loops are counted together with states.
        let loops = self.ops.iter().any(|op| matches!(op, Op::Round));
        if loops && !counted { Err(Uncompiled) } else { Ok(reject) }
    }

    /// Appends a select: jumps to the target of the first case that matches, or continues behind.
    fn select(
        &mut self,
        keys: &[Expr],
        slots: &[At],
        cases: &[(&SelectCase, To)],
    ) -> CompileResult {
        let words = cases.iter().map(|(case, _)| words(case, keys)).collect::<Option<Vec<_>>>();
        let Some(words) =
            words.filter(|_| keys.iter().all(|key| (1..=64).contains(&key.scalar.width())))
        else {
            let case = |(case, to): &(&SelectCase, To)| Case::new(case, keys, slots, *to);
            self.code.selects.push(Select { cases: cases.iter().map(case).collect() });
            self.ops.push(Op::Select { select: self.code.selects.len() as u32 - 1 });
            return Ok(());
        };
        for (words, (_, to)) in words.iter().zip(cases) {
            // The case's last comparison jumps there, those before it past the case.
            let (past, mark) = (self.label(), self.mark());
            for (at, (key, mask, value)) in words.iter().copied().enumerate() {
                let full = u64::MAX >> cut(keys[key].scalar);
                let a = if mask == full {
                    slots[key]
                } else {
                    let to = self.temporary()?;
                    self.ops.push(Op::AndConst { to, a: slots[key], value: mask });
                    to
                };
                self.ops.push(if at + 1 == words.len() {
                    Op::JumpEqualConst { a, to: *to, value }
                } else {
                    Op::JumpNotEqualConst { a, to: past, value }
                });
            }
            if words.is_empty() {
                self.ops.push(Op::Jump { to: *to });
            }
            self.place(past);
            self.release(mark);
        }
        Ok(())
    }

    /// Finishes the code and replaces labels by positions.
    fn finish(mut self, rejects: Option<To>) -> CompileResult<UnitCode> {
        if let Some(reject) = rejects {
            self.place(reject);
            self.ops.push(Op::Reject);
        }
        let labels = self.labels.into_iter().collect::<Option<Vec<To>>>().ok_or(Uncompiled)?;
        let resolve = |to: &mut To| *to = labels[*to as usize];
        self.ops.iter_mut().filter_map(Op::target).for_each(resolve);
        for site in &mut self.code.sites {
            site.actions.iter_mut().for_each(resolve);
            resolve(&mut site.none);
            resolve(&mut site.end);
        }
        for select in &mut self.code.selects {
            select.cases.iter_mut().for_each(|case| resolve(&mut case.to));
        }
        for select in &mut self.code.wide_selects {
            select.states.iter_mut().for_each(resolve);
            resolve(&mut select.accept);
            resolve(&mut select.reject);
        }
        // A jump to an end becomes that end.
        for at in 0..self.ops.len() {
            if let Op::Jump { to } = self.ops[at]
                && let end @ (Op::Accept | Op::Reject | Op::Done) = self.ops[to as usize]
            {
                self.ops[at] = end;
            }
        }
        if self.code.slots > usize::from(At::MAX) {
            return Err(Uncompiled);
        }
        // Calls inside actions use the lookup's result.
        let asks = |op: &Op| match op {
            Op::Call { inside, .. } => *inside,
            // No action extracts anything.
            Op::Statement { stmt } => {
                !matches!(self.code.stmts[*stmt as usize].kind, StmtKind::ExtractVar { .. })
            }
            _ => false,
        };
        let asked = self.ops.iter().any(asks);
        self.code.sites.iter_mut().for_each(|site| site.kept &= site.plain && !asked);
        self.code.join(&mut self.ops);
        self.code.ops = self.ops.into();
        Ok(self.code)
    }

    pub fn label(&mut self) -> To {
        self.labels.push(None);
        self.labels.len() as To - 1
    }

    /// Places the label at the current end of the code.
    pub fn place(&mut self, label: To) {
        self.labels[label as usize] = Some(self.ops.len() as To);
    }

    /// Allocates a temporary, until [`Builder::release`] of an earlier mark.
    pub fn temporary(&mut self) -> CompileResult<At> {
        let at = self.own + self.temporaries;
        self.temporaries += 1;
        self.code.slots = self.code.slots.max(at + 1);
        At::try_from(at).map_err(|_| Uncompiled)
    }

    pub fn mark(&self) -> usize {
        self.temporaries
    }

    pub fn release(&mut self, mark: usize) {
        self.temporaries = mark;
    }

    fn list(&mut self, stmts: &[Stmt]) -> CompileResult {
        stmts.iter().try_for_each(|stmt| {
            let mark = self.mark();
            self.statement(stmt)?;
            self.release(mark);
            Ok(())
        })
    }

    fn statement(&mut self, stmt: &Stmt) -> CompileResult {
        match &stmt.kind {
            StmtKind::Set(slot, value) => self.set(slot_at(*slot)?, value),
            StmtKind::SetSlice { target, high, low, value } => {
                self.set_slice(stmt, *target, *high, *low, value)
            }
            StmtKind::If { condition, then, otherwise } => self.choice(condition, then, otherwise),
            StmtKind::Switch { subject, cases, default } => self.switch(subject, cases, default),
            StmtKind::Block { label, body } => {
                let end = self.label();
                self.left.insert(*label, (end, self.inside.len()));
                self.list(body)?;
                self.place(end);
                Ok(())
            }
            StmtKind::Loop { label, body } => {
                let (begin, end) = (self.label(), self.label());
                self.left.insert(*label, (end, self.inside.len()));
                self.place(begin);
                self.ops.push(Op::Round);
                self.list(body)?;
                self.ops.push(Op::Jump { to: begin });
                self.place(end);
                Ok(())
            }
            StmtKind::Leave(label) => {
                let (to, depth) = self.left.get(label).copied().ok_or(Uncompiled)?;
                let actions = self.inside[depth..].iter().rev();
                self.ops.extend(actions.map(|site| Op::Applied { site: *site }));
                self.ops.push(Op::Jump { to });
                Ok(())
            }
            StmtKind::Apply { table, hit, action } => self.apply(*table, *hit, *action),
            StmtKind::Call(call) => {
                self.call(call);
                Ok(())
            }
            StmtKind::Copy { narrow: (from, to, count), wide: (_, _, 0) } => {
                let (from, to) = (slot_at(*from)?, slot_at(*to)?);
                let count = u16::try_from(*count).map_err(|_| Uncompiled)?;
                self.ops.push(Op::Copy { to, from, count });
                Ok(())
            }
            StmtKind::Extract { header: layout, bits } => {
                let Layout::Header { valid, fields, .. } = layout else { return Err(Uncompiled) };
                let wire = WireHeader::new(fields);
                let behind = self.stay.contains(valid).then(|| self.label());
                if let Some(to) = behind {
                    self.ops.push(Op::Stay { bytes: bits / 8, to });
                }
                let (valid, bits, layout) = (slot_at(*valid)?, *bits, layout.clone());
                self.code.extracted.push(Extracted { valid, bits, layout, wire });
                self.ops.push(Op::Extract { header: self.code.extracted.len() as u32 - 1 });
                behind.into_iter().for_each(|label| self.place(label));
                Ok(())
            }
            StmtKind::Skip { bits, .. } => {
                self.ops.push(Op::Skip { bits: u64::from(*bits) });
                Ok(())
            }
            StmtKind::Advance { bits } if !looks_ahead(bits) && bits.scalar.width() <= 64 => {
                let op = match self.operand(bits)? {
                    Operand::Const(bits) => Op::Skip { bits },
                    Operand::Slot(a) => Op::Advance { a },
                };
                self.ops.push(op);
                Ok(())
            }
            StmtKind::Verify { condition, error } => self.verify(condition, error),
            StmtKind::Emit(layout) => self.emit(layout),
            _ => self.by_tree(stmt),
        }
    }

    /// Leaves a statement to the tree. Fails for a lookahead whose error the tree handles only
    /// after the statement.
    fn by_tree(&mut self, stmt: &Stmt) -> CompileResult {
        let late = match &stmt.kind {
            StmtKind::SetSlice { value, .. } | StmtKind::SetWideSlice { value, .. } => {
                looks_ahead(value)
            }
            StmtKind::SetElement { index, value, .. }
            | StmtKind::SetWideElement { index, value, .. } => {
                looks_ahead(index) || looks_ahead(value)
            }
            StmtKind::Advance { bits } => looks_ahead(bits),
            _ => false,
        };
        if late {
            return Err(Uncompiled);
        }
        self.code.stmts.push(stmt.clone());
        self.ops.push(Op::Statement { stmt: self.code.stmts.len() as u32 - 1 });
        Ok(())
    }

    fn set(&mut self, to: At, value: &Expr) -> CompileResult {
        if !looks_ahead(value) {
            return self.into(value, to);
        }
        // The slot keeps its value if the packet ends too early.
        let a = self.temporary()?;
        self.into(value, a)?;
        self.ops.extend([Op::Check, Op::Move { to, a }]);
        Ok(())
    }

    fn set_slice(
        &mut self,
        stmt: &Stmt,
        target: Slot,
        high: u32,
        low: u32,
        value: &Expr,
    ) -> CompileResult {
        let width = high.saturating_sub(low) + 1;
        if high >= 64 || width >= 64 || value.scalar.width() > 64 || looks_ahead(value) {
            return self.by_tree(stmt);
        }
        let (to, a) = (slot_at(target)?, self.slot_of(value)?);
        self.ops.push(Op::Insert { to, a, low: low as u8, width: width as u8 });
        Ok(())
    }

    fn call(&mut self, call: &ExternCall) {
        let (calls, begin, labels) = (self.calls, self.ops.len(), self.labels.len());
        if calls.code(call, &mut Assembler { builder: self }).is_none() {
            self.ops.truncate(begin);
            self.labels.truncate(labels);
            self.call_it(call, false);
        }
    }

    /// Appends a call that is made at run time.
    pub fn call_it(&mut self, call: &ExternCall, rare: bool) {
        // If a parser can reject after the call, every slot must be current.
        let reads = self.calls.reads(call).filter(|_| !self.in_parser);
        let reads =
            reads.and_then(|slots| slots.into_iter().map(|slot| slot_at(slot).ok()).collect());
        self.code.calls.push(Called { call: call.clone(), reads, rare });
        let inside = !self.inside.is_empty();
        self.ops.push(Op::Call { call: self.code.calls.len() as u32 - 1, inside });
    }

    fn choice(&mut self, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) -> CompileResult {
        if looks_ahead(condition) {
            return Err(Uncompiled);
        }
        let (other, end) = (self.label(), self.label());
        let mark = self.mark();
        self.unless(condition, other)?;
        self.release(mark);
        self.list(then)?;
        if !otherwise.is_empty() {
            self.ops.push(Op::Jump { to: end });
        }
        self.place(other);
        self.list(otherwise)?;
        self.place(end);
        Ok(())
    }

    fn switch(
        &mut self,
        subject: &Expr,
        cases: &[(Vec<BigUint>, Vec<Stmt>)],
        default: &[Stmt],
    ) -> CompileResult {
        if looks_ahead(subject) || subject.scalar.width() > 64 {
            return Err(Uncompiled);
        }
        let a = self.slot_of(subject)?;
        let (bodies, end): (Vec<To>, To) =
            (cases.iter().map(|_| self.label()).collect(), self.label());
        for ((values, _), to) in cases.iter().zip(&bodies) {
            // A label too wide for a word matches no value.
            let values = values.iter().filter_map(ToPrimitive::to_u64);
            self.ops.extend(values.map(|value| Op::JumpEqualConst { a, to: *to, value }));
        }
        self.list(default)?;
        for ((_, body), label) in cases.iter().zip(&bodies) {
            self.ops.push(Op::Jump { to: end });
            self.place(*label);
            self.list(body)?;
        }
        self.place(end);
        Ok(())
    }

    fn verify(&mut self, condition: &Expr, error: &Expr) -> CompileResult {
        if error.scalar.width() > 64 {
            return Err(Uncompiled);
        }
        let holds = self.slot_of(condition)?;
        let a = self.slot_of(error)?;
        if looks_ahead(condition) || looks_ahead(error) {
            self.ops.push(Op::Check);
        }
        let on = self.label();
        self.ops.extend([Op::JumpIf { a: holds, to: on }, Op::Fail { a }]);
        self.place(on);
        Ok(())
    }

    fn apply(&mut self, id: TableId, hit: Option<Slot>, action: Option<Slot>) -> CompileResult {
        // Actions apply no tables, so an apply inside one is an error.
        if !self.inside.is_empty() {
            return Err(Uncompiled);
        }
        let table = self.program.tables.get(id.index()).ok_or(Uncompiled)?;
        if table.keys.iter().any(|key| looks_ahead(&key.expr)) {
            return Err(Uncompiled);
        }
        let mark = self.mark();
        let narrow = table.keys.iter().all(|key| key.expr.scalar.is_narrow());
        let keys = narrow.then(|| table.keys.iter().map(|key| self.slot_of(&key.expr)).collect());
        let keys: Option<Box<[At]>> = keys.transpose()?;
        self.release(mark);
        let one_word = matches!(&*table.keys, [key] if key.expr.scalar.width() <= 64);
        let few = keys.as_ref().is_some_and(|keys| keys.len() <= FEW_KEYS);
        let data = table.actions.iter().map(data_of).collect::<Option<Box<_>>>();
        let selects = table.keys.iter().any(|key| &*key.match_kind == "selector");
        let actions: Box<[To]> = table.actions.iter().map(|_| self.label()).collect();
        let (none, end) = (self.label(), self.label());
        let site = self.code.sites.len() as u32;
        self.code.sites.push(Site {
            table: id,
            keys,
            plain: few && !selects && data.is_some(),
            data: data.unwrap_or_default(),
            kept: one_word && !selects && hit.is_none() && action.is_none(),
            hit,
            action,
            actions: actions.clone(),
            none,
            end,
        });
        self.ops.push(Op::Apply { site });
        self.inside.push(site);
        for (at, (action, label)) in table.actions.iter().zip(&actions).enumerate() {
            if at > 0 {
                self.ops.push(Op::Jump { to: none });
            }
            self.place(*label);
            self.list(&action.body)?;
        }
        self.inside.pop();
        self.place(none);
        self.ops.push(Op::Applied { site });
        self.place(end);
        Ok(())
    }

    /// Emits headers one by one, in order.
    fn emit(&mut self, layout: &Layout) -> CompileResult {
        match layout {
            Layout::Header { valid, fields, .. } => {
                match WireHeader::new(fields) {
                    Some(wire) => {
                        let (valid, writer) = (slot_at(*valid)?, Writer::new(&wire));
                        self.code.emitted.push(Emitted { valid, writer, kept: Elision::No });
                        self.ops.push(Op::Emit { header: self.code.emitted.len() as u32 - 1 });
                    }
                    None => {
                        let behind = self.label();
                        self.ops.push(Op::JumpUnless { a: slot_at(*valid)?, to: behind });
                        self.code.layouts.push(layout.clone());
                        self.ops.push(Op::EmitRest { layout: self.code.layouts.len() as u32 - 1 });
                        self.place(behind);
                    }
                }
                Ok(())
            }
            Layout::Union { members: parts, .. }
            | Layout::Struct { fields: parts, .. }
            | Layout::Stack { elements: parts, .. } => {
                parts.iter().try_for_each(|part| self.emit(part))
            }
            // A field outside a header is not emitted (specification, section 16.1).
            _ => Ok(()),
        }
    }

    /// Slot of a value: its own, or a temporary.
    pub fn slot_of(&mut self, value: &Expr) -> CompileResult<At> {
        match self.operand(value)? {
            Operand::Slot(at) => Ok(at),
            Operand::Const(constant) => {
                let to = self.temporary()?;
                self.ops.push(Op::Set { to, value: constant });
                Ok(to)
            }
        }
    }
}

/// Destinations of an action's data, with their masks; `None` if a part of it is wide.
fn data_of(action: &TableAction) -> Option<Data> {
    let place = |(_, layout): &(_, Layout)| match layout {
        Layout::Narrow(slot, scalar) => Some((slot_at(*slot).ok()?, mask(scalar.width()))),
        _ => None,
    };
    action.data.iter().map(place).collect()
}

/// A slot of the unit as an operand.
pub(super) fn slot_at(slot: Slot) -> CompileResult<At> {
    At::try_from(slot.0).map_err(|_| Uncompiled)
}
