//! Trace of one run of a unit, step by step, as a tree.
//!
//! A run is traced if its driver's [`Externs::trace`] returns a [`Trace`]. The traced walk is a
//! separate instance of the code, with `Followed` in place of the driver, so that untraced runs
//! have no cost. Must not depend on externs: it queries the driver for the memory that a call
//! accesses ([`Externs::reached`]), and reads the rest from the frame.

use super::Parsed;
use super::context::{Access, ActionRun, Choice, Context, Externs, Matched, Moment};
use super::exec::Flow;
use super::frame::Frame;
use super::invalid_reads::InvalidRead;
use super::tables::EntryView;
use super::trap::Halt;
use crate::ir::{self, Arg, Expr, ExternCall, Layout, Next, Scalar, Stmt, StmtKind, Value};
use crate::ir::{ParserBody, TableId, Transition, Unit};
use crate::source::Span;
use num_bigint::BigUint;
use std::sync::Arc;

/// A step, with the steps inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Kind of the step.
    pub what: What,
    /// Source span.
    pub span: Span,
    /// Steps inside it, in order.
    pub steps: Vec<Node>,
}

/// A value with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// A path such as `hdr.ipv4.ttl`; empty if the program has no name for it.
    pub name: Arc<str>,
    /// Width and signedness.
    pub scalar: Scalar,
    /// Its bits.
    pub value: BigUint,
}

/// A write to the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Name and new value.
    pub now: Named,
    /// Previous value.
    pub old: BigUint,
}

/// Kind of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A parser or control ran.
    Unit {
        /// Its name.
        name: Arc<str>,
        /// Result of a parser.
        parsed: Option<Ended>,
        /// Reason of a halt.
        halted: Option<String>,
    },
    /// A parser entered a state.
    State {
        /// Its name.
        name: Arc<str>,
    },
    /// A parser took a transition.
    Goes {
        /// The next state, `accept` or `reject`.
        to: Arc<str>,
        /// Selected values.
        keys: Vec<Named>,
    },
    /// A condition or a subject selected a branch.
    Branch {
        /// Its value.
        on: Named,
    },
    /// A table was applied; its action's steps are inside.
    Table(Box<Lookup>),
    /// An external function or method was called.
    Call(Box<Called>),
    /// A header was extracted from the packet.
    Extract {
        /// Name of the header.
        header: Arc<str>,
        /// Its fields, if the packet was long enough.
        fields: Option<Vec<Named>>,
    },
    /// Headers were emitted.
    Emit {
        /// The valid ones, with their fields.
        headers: Vec<(Arc<str>, Vec<Named>)>,
    },
    /// Values were assigned.
    Set {
        /// The writes.
        writes: Vec<Write>,
    },
}

/// Result of a parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// It reached `accept`.
    pub accepted: bool,
    /// The name of its error.
    pub error: Arc<str>,
    /// Bits consumed.
    pub consumed: u64,
}

/// Lookup of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The table's name for the control plane.
    pub table: Arc<str>,
    /// Its key with each match kind.
    pub keys: Vec<(Arc<str>, Named)>,
    /// The matching entry.
    pub entry: Option<EntryView>,
    /// Whether the program sees a hit.
    pub hit: bool,
    /// The action that ran, with its data.
    pub action: Option<(Arc<str>, Vec<Named>)>,
}

/// Call of an external function or method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// The object's name for the control plane; empty for a function.
    pub object: Arc<str>,
    /// The method or function.
    pub name: Arc<str>,
    /// Arguments.
    pub args: Vec<Named>,
    /// Results.
    pub results: Vec<Named>,
    /// Memory cell that it accessed, with its words afterwards.
    pub access: Option<(Access, Vec<BigUint>)>,
    /// Writes in addition to its result.
    pub writes: Vec<Write>,
}

/// Steps of runs, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    done: Vec<Node>,
    open: Vec<Node>,
    before: Vec<Frame>,
    /// Frames of controls at their start, if recorded.
    frames: Option<Vec<(Arc<str>, Frame)>>,
}

impl Trace {
    /// Creates an empty trace.
    pub fn new() -> Trace {
        Trace::default()
    }

    /// Creates a trace that also records the frames of controls at their start.
    pub fn with_frames() -> Trace {
        Trace { frames: Some(Vec::new()), ..Trace::default() }
    }

    /// Units that have run so far, a node for each.
    pub fn seen(&self) -> &[Node] {
        &self.done
    }

    /// Frame of a control at its start, if recorded.
    pub fn frame_of(&self, control: &str) -> Option<&Frame> {
        let mut kept = self.frames.iter().flatten();
        kept.find(|(name, _)| &**name == control).map(|(_, frame)| frame)
    }

    /// Takes the recorded nodes, one for each unit that ran.
    pub fn take(&mut self) -> Vec<Node> {
        while !self.open.is_empty() {
            self.close();
        }
        std::mem::take(&mut self.done)
    }

    fn open(&mut self, what: What, span: Span) {
        self.open.push(Node { what, span, steps: Vec::new() });
    }

    fn close(&mut self) {
        if let Some(node) = self.open.pop() {
            self.add(node);
        }
    }

    fn add(&mut self, node: Node) {
        match self.open.last_mut() {
            Some(parent) => parent.steps.push(node),
            None => self.done.push(node),
        }
    }

    /// Begins a unit.
    pub(super) fn begin(&mut self, unit: &Unit) {
        let what = What::Unit { name: unit.name.clone(), parsed: None, halted: None };
        self.open(what, unit.span);
    }

    /// Ends a unit.
    pub(super) fn end(&mut self, how: Option<Ended>, why: Option<&Halt>) {
        while self.open.len() > 1 {
            self.close();
        }
        self.before.clear();
        if let Some(Node { what: What::Unit { parsed, halted, .. }, .. }) = self.open.last_mut() {
            (*parsed, *halted) = (how, why.map(ToString::to_string));
        }
        self.close();
    }
}

/// A driver whose run is traced.
pub(super) struct Followed<'a, E: ?Sized> {
    pub inner: &'a mut E,
    pub trace: &'a mut Trace,
    pub unit: &'a Unit,
}

impl Context<'_> {
    /// Runs a control and records its steps.
    #[cold]
    pub(super) fn follow_control<E: Externs + ?Sized>(
        &mut self,
        unit: &Unit,
        stmts: &[Stmt],
        mut trace: Box<Trace>,
        externs: &mut E,
    ) -> Result<Flow, Halt> {
        trace.begin(unit);
        if let Some(frames) = &mut trace.frames {
            frames.push((unit.name.clone(), self.frame.clone()));
        }
        let ended =
            self.run(stmts, &mut Followed { inner: &mut *externs, trace: &mut trace, unit });
        trace.end(None, ended.as_ref().err());
        if let Some(place) = externs.trace() {
            *place = Some(trace);
        }
        ended
    }

    /// Runs a parser and records its steps.
    #[cold]
    pub(super) fn follow_parser<E: Externs + ?Sized>(
        &mut self,
        unit: &Unit,
        body: &ParserBody,
        mut trace: Box<Trace>,
        externs: &mut E,
    ) -> Result<Parsed, Halt> {
        trace.begin(unit);
        let mut followed = Followed { inner: &mut *externs, trace: &mut trace, unit };
        let parsed = self.parse(body, &mut followed);
        let how = parsed.as_ref().ok().map(|parsed| Ended {
            accepted: parsed.accepted,
            error: self.program.errors.get(parsed.error as usize).cloned().unwrap_or_default(),
            consumed: parsed.consumed,
        });
        trace.end(how, parsed.as_ref().err());
        if let Some(place) = externs.trace() {
            *place = Some(trace);
        }
        parsed
    }
}

/// Evaluates a query without an effect on the run.
fn quietly<T>(ctx: &mut Context<'_>, ask: impl FnOnce(&Context<'_>) -> T) -> T {
    let (failed, invalid) = (ctx.failed.take(), std::mem::take(&mut ctx.invalid));
    let answer = ask(ctx);
    ctx.failed.set(failed);
    ctx.invalid = invalid;
    answer
}

fn value(expr: &Expr, name: Arc<str>, ctx: &Context<'_>) -> Named {
    Named { name, scalar: expr.scalar, value: ctx.eval_wide(expr) }
}

impl<E: Externs + ?Sized> Externs for Followed<'_, E> {
    fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
        self.inner.call(call, ctx)
    }

    fn select_action(
        &mut self,
        table: TableId,
        reference: u32,
        selector: &[u128],
        ctx: &mut Context<'_>,
    ) -> Result<Option<ActionRun>, Halt> {
        self.inner.select_action(table, reference, selector, ctx)
    }

    fn looked_up(&mut self, matched: &Matched, frame: &mut Frame) {
        self.inner.looked_up(matched, frame);
    }

    fn read_invalid(&mut self, reads: &InvalidRead<'_>) {
        self.inner.read_invalid(reads);
    }

    fn reached(&self, call: &ExternCall, ctx: &Context<'_>) -> Option<Access> {
        self.inner.reached(call, ctx)
    }

    fn follow(&mut self, moment: Moment<'_>, ctx: &mut Context<'_>) {
        match moment {
            Moment::Before(stmt) => self.before(stmt, ctx),
            Moment::After(stmt) => self.after(stmt, ctx),
            Moment::Chosen(choice) => self.chosen(&choice, ctx),
            Moment::State(state) => {
                if self.trace.open.len() > 1 {
                    self.trace.close();
                }
                self.trace.open(What::State { name: state.name.clone() }, state.span);
            }
            Moment::Goes(transition, next) => self.goes(transition, next, ctx),
        }
    }
}

impl<E: Externs + ?Sized> Followed<'_, E> {
    fn before(&mut self, stmt: &Stmt, ctx: &mut Context<'_>) {
        match &stmt.kind {
            StmtKind::Block { .. } | StmtKind::Loop { .. } | StmtKind::Leave(_) => return,
            StmtKind::If { condition: on, .. } | StmtKind::Switch { subject: on, .. } => {
                let on_value = quietly(ctx, |ctx| value(on, self.name_of(on), ctx));
                return self.trace.open(What::Branch { on: on_value }, stmt.span);
            }
            StmtKind::Apply { table, .. } => return self.lookup(*table, stmt.span, ctx),
            StmtKind::Call(call) => {
                let what = What::Call(Box::new(self.called(call, ctx)));
                self.trace.open(what, stmt.span);
            }
            _ => {}
        }
        self.trace.before.push(ctx.frame.clone());
    }

    fn after(&mut self, stmt: &Stmt, ctx: &mut Context<'_>) {
        match &stmt.kind {
            StmtKind::Block { .. } | StmtKind::Loop { .. } | StmtKind::Leave(_) => return,
            StmtKind::If { .. } | StmtKind::Switch { .. } | StmtKind::Apply { .. } => {
                return self.trace.close();
            }
            _ => {}
        }
        let Some(before) = self.trace.before.pop() else { return };
        let what = match &stmt.kind {
            StmtKind::Call(call) => {
                let writes = self.writes(&before, ctx.frame);
                self.answered(call, writes, ctx);
                return self.trace.close();
            }
            StmtKind::Extract { header, .. } | StmtKind::ExtractVar { header, .. } => {
                self.extracted(header, ctx.frame)
            }
            StmtKind::ExtractNext { stack: Layout::Stack { next, elements, .. } } => {
                match elements.get(before.get(*next) as usize) {
                    Some(header) => self.extracted(header, ctx.frame),
                    None => What::Set { writes: Vec::new() },
                }
            }
            StmtKind::Emit(layout) => {
                let mut headers = Vec::new();
                self.emitted(layout, ctx.frame, &mut headers);
                What::Emit { headers }
            }
            // An assignment is recorded even if the value does not change.
            StmtKind::Set(slot, _) if !self.is_temporary(slot.index()) && !self.prepares() => {
                let old = BigUint::from(before.get(*slot));
                let now = self.slot(slot.index(), ctx.frame);
                What::Set { writes: vec![Write { now, old }] }
            }
            _ => What::Set { writes: self.writes(&before, ctx.frame) },
        };
        if !matches!(&what, What::Set { writes } if writes.is_empty()) {
            self.trace.add(Node { what, span: stmt.span, steps: Vec::new() });
        }
    }

    fn lookup(&mut self, id: TableId, span: Span, ctx: &mut Context<'_>) {
        let Some(table) = ctx.program.tables.get(id.index()) else {
            return self.trace.open(What::Set { writes: Vec::new() }, span);
        };
        let key = |key: &ir::Key| {
            let named = quietly(ctx, |ctx| value(&key.expr, key.name.clone(), ctx));
            (key.match_kind.clone(), named)
        };
        let lookup = Lookup {
            table: table.name.clone(),
            keys: table.keys.iter().map(key).collect(),
            entry: None,
            hit: false,
            action: None,
        };
        self.trace.open(What::Table(Box::new(lookup)), span);
    }

    fn chosen(&mut self, choice: &Choice, ctx: &mut Context<'_>) {
        let Some(table) = ctx.program.tables.get(choice.matched.table.index()) else { return };
        let Some(Node { what: What::Table(lookup), .. }) = self.trace.open.last_mut() else {
            return;
        };
        let entry = choice.matched.entry;
        lookup.entry =
            entry.and_then(|entry| ctx.tables.entry(choice.matched.table, entry).ok().flatten());
        lookup.hit = choice.hit;
        let action = choice.action.and_then(|index| table.actions.get(index as usize));
        lookup.action = action.map(|action| {
            let datum = |(name, layout): &(Arc<str>, Layout)| Named {
                name: name.clone(),
                scalar: match layout {
                    Layout::Narrow(_, scalar) | Layout::Wide(_, scalar) => *scalar,
                    _ => Scalar::Bit(0),
                },
                value: ctx.get_wide(layout),
            };
            (action.name.clone(), action.data.iter().map(datum).collect())
        });
    }

    fn goes(&mut self, transition: &Transition, next: Result<Next, u32>, ctx: &mut Context<'_>) {
        let (keys, span) = match transition {
            Transition::Direct(_) => (Vec::new(), Span::default()),
            Transition::Select { keys, span, .. } => (
                keys.iter()
                    .map(|key| quietly(ctx, |ctx| value(key, self.name_of(key), ctx)))
                    .collect(),
                *span,
            ),
        };
        let to = match (next, &self.unit.body) {
            (Ok(Next::State(id)), ir::Body::Parser(body)) => {
                body.states.get(id.index()).map_or_else(|| "?".into(), |state| state.name.clone())
            }
            (Ok(Next::Accept), _) => "accept".into(),
            _ => "reject".into(),
        };
        self.trace.add(Node { what: What::Goes { to, keys }, span, steps: Vec::new() });
    }

    fn called(&self, call: &ExternCall, ctx: &mut Context<'_>) -> Called {
        let mut args = Vec::new();
        for arg in &call.args {
            match arg {
                Arg::In(given) => quietly(ctx, |ctx| self.flatten(given, ctx, &mut args)),
                Arg::InOut(layout) => self.leaves(layout, ctx.frame, &mut args),
                _ => {}
            }
        }
        Called {
            object: call.object.map(|id| ctx.object(id).name.clone()).unwrap_or_default(),
            name: call.name.clone(),
            args,
            results: Vec::new(),
            access: quietly(ctx, |ctx| self.inner.reached(call, ctx)).map(|a| (a, Vec::new())),
            writes: Vec::new(),
        }
    }

    fn answered(&mut self, call: &ExternCall, mut writes: Vec<Write>, ctx: &mut Context<'_>) {
        let mut results = Vec::new();
        if let Some(layout) = &call.result {
            self.leaves(layout, ctx.frame, &mut results);
        }
        writes.retain(|write| !results.iter().any(|result| result.name == write.now.name));
        let after = quietly(ctx, |ctx| self.inner.reached(call, ctx));
        let Some(Node { what: What::Call(called), .. }) = self.trace.open.last_mut() else {
            return;
        };
        (called.results, called.writes) = (results, writes);
        if let (Some((_, words)), Some(after)) = (&mut called.access, after) {
            *words = after.words;
        }
    }

    fn flatten(&self, given: &Value, ctx: &Context<'_>, args: &mut Vec<Named>) {
        match given {
            Value::Scalar(expr) => args.push(value(expr, self.name_of(expr), ctx)),
            Value::VarBit(_, bits) => args.push(value(bits, self.name_of(bits), ctx)),
            Value::Header { fields: parts, .. }
            | Value::Union { members: parts, .. }
            | Value::Struct { fields: parts, .. }
            | Value::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.flatten(part, ctx, args));
            }
            Value::String(_) => {}
        }
    }

    /// The scalars of a value in the frame.
    fn leaves(&self, layout: &Layout, frame: &Frame, found: &mut Vec<Named>) {
        match layout {
            Layout::Narrow(slot, _) => found.push(self.slot(slot.index(), frame)),
            Layout::Wide(slot, _) | Layout::VarBit { value: slot, .. } => {
                found.push(self.wide_slot(slot.index(), frame));
            }
            Layout::Header { fields: parts, .. }
            | Layout::Union { members: parts, .. }
            | Layout::Struct { fields: parts, .. }
            | Layout::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.leaves(part, frame, found));
            }
            Layout::Object => {}
        }
    }

    fn extracted(&self, layout: &Layout, frame: &Frame) -> What {
        let Layout::Header { valid, .. } = layout else {
            return What::Set { writes: Vec::new() };
        };
        let mut fields = Vec::new();
        self.leaves(layout, frame, &mut fields);
        let fields = (frame.get(*valid) != 0).then_some(fields);
        What::Extract { header: self.header(valid.index()), fields }
    }

    fn emitted(&self, layout: &Layout, frame: &Frame, out: &mut Vec<(Arc<str>, Vec<Named>)>) {
        match layout {
            Layout::Header { valid, .. } if frame.get(*valid) != 0 => {
                let mut fields = Vec::new();
                self.leaves(layout, frame, &mut fields);
                out.push((self.header(valid.index()), fields));
            }
            Layout::Union { members: parts, .. }
            | Layout::Struct { fields: parts, .. }
            | Layout::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.emitted(part, frame, out));
            }
            _ => {}
        }
    }

    /// Name of a header, from the slot of its validity.
    fn header(&self, valid: usize) -> Arc<str> {
        let name = self.unit.slots.get(valid).map_or("", |slot| &*slot.name);
        name.rsplit_once('.').map_or(name, |(header, _)| header).into()
    }

    fn name_of(&self, expr: &Expr) -> Arc<str> {
        use ir::ExprKind;
        match &expr.kind {
            ExprKind::Slot(slot) if self.is_temporary(slot.index()) => None,
            ExprKind::Slot(slot) => self.unit.slots.get(slot.index()).map(|s| s.name.clone()),
            ExprKind::WideSlot(slot) => {
                self.unit.wide_slots.get(slot.index()).map(|s| s.name.clone())
            }
            ExprKind::Guarded { read, .. } => return self.name_of(read),
            _ => None,
        }
        .unwrap_or_default()
    }

    /// Whether the statement initialises a parser's variables, before its first state.
    fn prepares(&self) -> bool {
        self.trace.open.len() == 1 && matches!(self.unit.body, ir::Body::Parser(_))
    }

    fn is_temporary(&self, slot: usize) -> bool {
        self.unit.slots.get(slot).is_none_or(|slot| slot.temporary)
    }

    fn slot(&self, at: usize, frame: &Frame) -> Named {
        let info = self.unit.slots.get(at);
        let value = frame.narrow.get(at).copied().unwrap_or(0).into();
        Named {
            name: info.filter(|slot| !slot.temporary).map_or_else(Arc::default, |s| s.name.clone()),
            scalar: info.map_or(Scalar::Bit(0), |slot| slot.scalar),
            value,
        }
    }

    fn wide_slot(&self, at: usize, frame: &Frame) -> Named {
        let info = self.unit.wide_slots.get(at);
        Named {
            name: info.map_or_else(Arc::default, |slot| slot.name.clone()),
            scalar: info.map_or(Scalar::Bit(0), |slot| slot.scalar),
            value: frame.wide.get(at).cloned().unwrap_or_default(),
        }
    }

    /// Named slots whose values differ.
    fn writes(&self, before: &Frame, now: &Frame) -> Vec<Write> {
        let narrow = before.narrow.iter().zip(&now.narrow).enumerate();
        let narrow = narrow.filter(|(at, (old, new))| old != new && !self.is_temporary(*at));
        let narrow = narrow
            .map(|(at, (old, _))| Write { now: self.slot(at, now), old: BigUint::from(*old) });
        let wide = before.wide.iter().zip(&now.wide).enumerate();
        let wide = wide.filter(|(at, (old, new))| {
            old != new && self.unit.wide_slots.get(*at).is_some_and(|slot| !slot.temporary)
        });
        let wide =
            wide.map(|(at, (old, _))| Write { now: self.wide_slot(at, now), old: old.clone() });
        narrow.chain(wide).collect()
    }
}
