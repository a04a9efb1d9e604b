//! The statement walk.
//!
//! Control flow is structured, so a walk of the tree needs one signal only ([`Flow`]). Statements
//! that only parsers have end it with an error value.

use super::arith;
use super::context::{ActionRun, Choice, Context, Externs, Matched, Moment};
use super::tables::{ActionData, Datum, Found};
use super::trap::Halt;
use crate::ir::{self, Expr, Label, Layout, Slot, Stmt, StmtKind, TableId, WideSlot};
use num_bigint::BigUint;
use smallvec::SmallVec;

/// Continuation after a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// At the next statement.
    Next,
    /// Behind the block or loop with this label.
    Leave(Label),
    /// At `reject`, with this error.
    Reject(u32),
}

pub(super) type Step = Result<Flow, Halt>;

/// Value of the variable of a `switch` on `action_run` if no action ran.
pub const NO_ACTION_RAN: u32 = u32::MAX;

impl Flow {
    /// The flow behind a block or loop with this label.
    #[inline]
    pub(super) fn arrive(self, label: Label) -> Flow {
        if self == Flow::Leave(label) { Flow::Next } else { self }
    }
}

impl<'a> Context<'a> {
    /// Runs statements in order.
    pub(super) fn run<E: Externs + ?Sized>(&mut self, stmts: &[Stmt], externs: &mut E) -> Step {
        for stmt in stmts {
            externs.follow(Moment::Before(stmt), self);
            let flow = self.step(stmt, externs)?;
            externs.follow(Moment::After(stmt), self);
            match flow {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    /// Runs one statement and what is inside it.
    pub(super) fn step<E: Externs + ?Sized>(&mut self, stmt: &Stmt, externs: &mut E) -> Step {
        match &stmt.kind {
            StmtKind::Set(slot, value) => {
                let value = self.eval(value);
                if self.failed.get().is_some() {
                    return Ok(self.after_failure());
                }
                self.frame.set(*slot, value);
            }
            StmtKind::If { condition, then, otherwise } => {
                let branch = if self.eval(condition) != 0 { then } else { otherwise };
                return self.run(branch, externs);
            }
            StmtKind::Block { label, body } => {
                return Ok(self.run(body, externs)?.arrive(*label));
            }
            StmtKind::Leave(label) => return Ok(Flow::Leave(*label)),
            StmtKind::Apply { table, hit, action } => {
                return self.apply(*table, *hit, *action, externs);
            }
            StmtKind::Call(call) => {
                externs.call(call, self)?;
                return Ok(self.after_failure());
            }
            StmtKind::Switch { subject, cases, default } => {
                return self.switch(subject, cases, default, externs);
            }
            StmtKind::Loop { label, body } => return self.repeat(*label, body, externs),
            StmtKind::Copy { narrow, wide } => self.copy(*narrow, *wide),
            StmtKind::Extract { header, bits } => return Ok(self.extract(header, (*bits).into())),
            StmtKind::Emit(layout) => self.emit(layout),
            _ => return Ok(self.rare(stmt)),
        }
        Ok(Flow::Next)
    }

    /// Statements without inner statements that are not in the hot path of most programs.
    fn rare(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::SetWide(slot, value) => {
                let value = self.eval_wide(value);
                if self.failed.get().is_none() {
                    self.frame.set_wide(*slot, value);
                }
                self.after_failure()
            }
            StmtKind::SetSlice { target, high, low, value } => {
                let value = self.eval(value);
                self.set_slice(*target, *high, *low, value)
            }
            StmtKind::SetWideSlice { target, high, low, value } => {
                let mask = arith::wide_mask(high.saturating_sub(*low) + 1);
                let value = (self.eval_wide(value) & &mask) << *low;
                let old = self.frame.get_wide(*target);
                let kept = &old ^ (&old & (mask << *low));
                self.frame.set_wide(*target, kept | value);
                Flow::Next
            }
            StmtKind::SetElement { base, stride, count, index, value } => {
                let value = self.eval(value);
                if let Some(offset) = self.element(*stride, *count, index) {
                    self.frame.set(Slot(base.0.saturating_add(offset)), value);
                }
                Flow::Next
            }
            StmtKind::SetWideElement { base, stride, count, index, value } => {
                let value = self.eval_wide(value);
                if let Some(offset) = self.element(*stride, *count, index) {
                    self.frame.set_wide(WideSlot(base.0.saturating_add(offset)), value);
                }
                Flow::Next
            }
            StmtKind::PushFront { stack, count } => {
                self.shift_stack(stack, *count, true);
                Flow::Next
            }
            StmtKind::PopFront { stack, count } => {
                self.shift_stack(stack, *count, false);
                Flow::Next
            }
            _ => self.parser_step(stmt),
        }
    }

    /// The error that an expression or extern has raised, as a flow.
    #[inline]
    pub(super) fn after_failure(&mut self) -> Flow {
        self.failed.take().map_or(Flow::Next, Flow::Reject)
    }

    fn set_slice(&mut self, target: Slot, high: u32, low: u32, value: u128) -> Flow {
        let mask = arith::mask(high.saturating_sub(low) + 1);
        let place = mask.checked_shl(low).unwrap_or(0);
        let kept = self.frame.get(target) & !place;
        self.frame.set(target, kept | ((value & mask).checked_shl(low).unwrap_or(0)));
        Flow::Next
    }

    fn copy(&mut self, narrow: (Slot, Slot, u32), wide: (WideSlot, WideSlot, u32)) {
        let (from, to, count) = (narrow.0.index(), narrow.1.index(), narrow.2 as usize);
        let len = self.frame.narrow.len();
        if count > 0 && from + count <= len && to + count <= len {
            self.frame.narrow.copy_within(from..from + count, to);
        }
        let (from, to, count) = (wide.0.index(), wide.1.index(), wide.2 as usize);
        let len = self.frame.wide.len();
        if count > 0 && from + count <= len && to + count <= len && from != to {
            // Equal layouts never overlap in part, so the order does not matter.
            for at in 0..count {
                let value = self.frame.wide[from + at].clone();
                self.frame.wide[to + at] = value;
            }
        }
    }

    fn switch<E: Externs + ?Sized>(
        &mut self,
        subject: &Expr,
        cases: &[(Vec<BigUint>, Vec<Stmt>)],
        default: &[Stmt],
        externs: &mut E,
    ) -> Step {
        let case = self.case(subject, cases);
        self.run(cases.get(case).map_or(default, |(_, body)| body), externs)
    }

    /// The case of a `switch` that its subject chooses; behind the last if it is the default.
    pub(super) fn case(&self, subject: &Expr, cases: &[(Vec<BigUint>, Vec<Stmt>)]) -> usize {
        let value = if subject.scalar.is_narrow() {
            BigOrSmall::Small(self.eval(subject))
        } else {
            BigOrSmall::Big(self.eval_wide(subject))
        };
        let chosen = |(labels, _): &(Vec<BigUint>, _)| labels.iter().any(|label| value.is(label));
        cases.iter().position(chosen).unwrap_or(cases.len())
    }

    fn repeat<E: Externs + ?Sized>(
        &mut self,
        label: Label,
        body: &[Stmt],
        externs: &mut E,
    ) -> Step {
        loop {
            self.spend_step()?;
            match self.run(body, externs)? {
                Flow::Next => {}
                other => return Ok(other.arrive(label)),
            }
        }
    }

    /// Counts a loop round or parser state.
    #[inline]
    pub(super) fn spend_step(&mut self) -> Result<(), Halt> {
        self.steps = self.steps.checked_sub(1).ok_or(Halt::StepLimit { limit: 0 })?;
        Ok(())
    }

    /// Looks a table up and runs the chosen action.
    fn apply<E: Externs + ?Sized>(
        &mut self,
        id: TableId,
        hit: Option<Slot>,
        action: Option<Slot>,
        externs: &mut E,
    ) -> Step {
        let Some(applied) = self.look_up(id, externs)? else { return Ok(Flow::Next) };
        let flow = match self.body(&applied) {
            Some(body) => self.run(body, externs)?,
            None => Flow::Next,
        };
        self.after_action(&applied, hit, action);
        Ok(flow)
    }

    /// Looks a table up and stores the data of the chosen action.
    pub(super) fn look_up<E: Externs + ?Sized>(
        &mut self,
        id: TableId,
        externs: &mut E,
    ) -> Result<Option<Applied>, Halt> {
        let (Some(table), Some(state)) = (self.program.tables.get(id.index()), self.tables.get(id))
        else {
            return Ok(None);
        };
        let mut keys = SmallVec::<[u128; 8]>::new();
        let mut selector = SmallVec::<[u128; 4]>::new();
        for (key, selects) in table.keys.iter().zip(state.selectors()) {
            if *selects {
                selector.push(self.eval(&key.expr));
            } else if key.expr.scalar.is_narrow() {
                keys.push(self.eval(&key.expr));
            } else {
                super::tables::push_limbs(&self.eval_wide(&key.expr), key.expr.scalar, &mut keys);
            }
        }
        self.look_up_key(id, &keys, &selector, externs)
    }

    /// [`Context::look_up`] with the limbs of the key, and the values that choose among a group's
    /// members.
    #[inline]
    pub(super) fn look_up_key<E: Externs + ?Sized>(
        &mut self,
        id: TableId,
        keys: &[u128],
        selector: &[u128],
        externs: &mut E,
    ) -> Result<Option<Applied>, Halt> {
        let (Some(table), Some(state)) = (self.program.tables.get(id.index()), self.tables.get(id))
        else {
            return Ok(None);
        };
        let entry = state.lookup(keys);
        let matched = Matched { table: id, entry };
        let before = self.matched.replace(matched);
        externs.looked_up(&matched, self.frame);
        let mut hit = entry.is_some();
        let chosen = match state.found(entry) {
            Found::Reference(reference) => {
                match externs.select_action(id, reference, selector, self)? {
                    Some(run) => Chosen::Selected(run),
                    None => {
                        hit = false;
                        state.default_action().map_or(Chosen::Nothing, Chosen::Stored)
                    }
                }
            }
            Found::Action(data) => Chosen::Stored(data),
            Found::Nothing => Chosen::Nothing,
        };
        let action = match &chosen {
            Chosen::Stored(data) => Some(data.action),
            Chosen::Selected(run) => Some(run.action),
            Chosen::Nothing => None,
        };
        let applied = Applied { matched, before, action, hit };
        if let Some(body) = action.and_then(|index| table.actions.get(index as usize)) {
            self.pass_data(body, &chosen);
        }
        externs.follow(Moment::Chosen(Choice { matched, action, hit }), self);
        Ok(Some(applied))
    }

    /// The statements of the action that a lookup has chosen.
    pub(super) fn body(&self, applied: &Applied) -> Option<&'a [Stmt]> {
        let table = self.program.tables.get(applied.matched.table.index())?;
        table.actions.get(applied.action? as usize).map(|action| &*action.body)
    }

    /// Ends an `apply` after its action: stores the results that the program reads.
    pub(super) fn after_action(
        &mut self,
        applied: &Applied,
        hit: Option<Slot>,
        action: Option<Slot>,
    ) {
        applied.store_result(self.frame, hit, action);
        self.matched = applied.before;
    }

    fn pass_data(&mut self, action: &ir::TableAction, chosen: &Chosen<'_>) {
        match chosen {
            Chosen::Stored(data) => {
                for (at, datum) in data.data.iter().enumerate() {
                    match (datum, action.data.get(at)) {
                        (Datum::Narrow(value), Some((_, layout))) => self.set(layout, *value),
                        (Datum::Wide(value), Some((_, layout))) => {
                            self.set_wide(layout, value.clone());
                        }
                        (_, None) => {}
                    }
                }
            }
            Chosen::Selected(run) => {
                for ((_, layout), value) in action.data.iter().zip(&run.data) {
                    self.set(layout, *value);
                }
            }
            Chosen::Nothing => {}
        }
    }

    /// Appends the valid headers of a value, in order.
    pub(super) fn emit(&mut self, layout: &Layout) {
        match layout {
            Layout::Header { valid, fields, .. } if self.frame.get(*valid) != 0 => {
                fields.iter().for_each(|field| self.emit_field(field));
            }
            Layout::Union { members: parts, .. }
            | Layout::Struct { fields: parts, .. }
            | Layout::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.emit(part));
            }
            // A field outside a header is not emitted (specification, section 16.1).
            _ => {}
        }
    }

    #[inline]
    fn emit_field(&mut self, field: &Layout) {
        let Some(out) = self.out.as_deref_mut() else { return };
        match field {
            Layout::Narrow(slot, scalar) => out.append(self.frame.get(*slot), scalar.width()),
            Layout::Wide(slot, scalar) => {
                if let Some(value) = self.frame.wide.get(slot.index()) {
                    out.append_wide(value, scalar.width());
                }
            }
            Layout::VarBit { length, value, max } => {
                let length = self.frame.get(*length).min(u128::from(*max)) as u32;
                out.append_wide(&self.frame.get_wide(*value), length);
            }
            Layout::Struct { fields, .. } => {
                fields.iter().for_each(|field| self.emit_field(field));
            }
            _ => {}
        }
    }

    /// `push_front` and `pop_front` (specification, section 8.18).
    fn shift_stack(&mut self, stack: &Layout, count: u32, push: bool) {
        let Layout::Stack { next, elements, .. } = stack else { return };
        let len = elements.len();
        let count = (count as usize).min(len);
        let index = self.frame.get(*next) as usize;
        for at in 0..len {
            let at = if push { len - 1 - at } else { at };
            let source = if push { at.checked_sub(count) } else { Some(at + count) };
            match source.and_then(|source| elements.get(source)) {
                Some(source) => self.copy_within(source, &elements[at]),
                None => self.invalidate(&elements[at]),
            }
        }
        let index = if push { (index + count).min(len) } else { index.saturating_sub(count) };
        self.frame.set(*next, index as u128);
    }

    /// Copies a value inside the frame.
    fn copy_within(&mut self, source: &Layout, target: &Layout) {
        let (from, to) = (source.range(), target.range());
        self.copy(
            (from.narrow_start, to.narrow_start, from.narrow_len),
            (from.wide_start, to.wide_start, from.wide_len),
        );
    }

    fn invalidate(&mut self, layout: &Layout) {
        match layout {
            Layout::Header { valid, .. } => self.frame.set(*valid, 0),
            Layout::Union { members, .. } => members.iter().for_each(|m| self.invalidate(m)),
            _ => self.frame.clear_layout(layout),
        }
    }
}

/// An `apply` whose action is chosen or running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Applied {
    pub matched: Matched,
    /// Result of the enclosing lookup.
    pub before: Option<Matched>,
    pub action: Option<u32>,
    pub hit: bool,
}

/// Action that a table runs.
enum Chosen<'t> {
    Stored(&'t ActionData),
    Selected(ActionRun),
    Nothing,
}

/// A value that is compared with labels without widening it.
enum BigOrSmall {
    Small(u128),
    Big(BigUint),
}

impl BigOrSmall {
    fn is(&self, label: &BigUint) -> bool {
        match self {
            BigOrSmall::Small(value) => *value == arith::narrowed(label) && label.bits() <= 128,
            BigOrSmall::Big(value) => value == label,
        }
    }
}
