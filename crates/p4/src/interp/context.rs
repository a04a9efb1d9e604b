//! Context of an extern call while a program runs: the frame, the packet, the match.
//!
//! [`Externs`] is the only trait that a target implements for the interpreter; all other access to
//! the program goes through slots of frames. This module must not depend on any extern.

use super::frame::Frame;
use super::invalid_reads::{InvalidRead, InvalidReads};
use super::packet::{PacketIn, PacketOut};
use super::tables::{EntryHandle, Tables};
use super::trace::Trace;
use super::trap::Halt;
use super::{CoreErrors, arith};
use crate::ir::{self, ExternCall, Layout, Next, Object, ObjectId, State, Stmt, TableId};
use crate::ir::{Transition, Value};
use num_bigint::BigUint;
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// Interface of an architecture: the behaviour of its extern objects and functions.
pub trait Externs {
    /// Executes one call. Arguments are evaluated through `ctx` ([`Context::eval`]), results
    /// stored through it ([`Context::set`]).
    ///
    /// # Errors
    /// [`Halt`] ends the run; a program's own failures (a parser error) are not halts.
    fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt>;

    /// Chooses the action of an entry that names a member or group of the table's `implementation`.
    /// `selector` are the values of the key elements of match kind `selector`, in order.
    /// `None` counts as a miss.
    ///
    /// # Errors
    /// As for [`Externs::call`].
    fn select_action(
        &mut self,
        table: TableId,
        reference: u32,
        selector: &[u128],
        ctx: &mut Context<'_>,
    ) -> Result<Option<ActionRun>, Halt> {
        let _ = (table, reference, selector, ctx);
        Ok(None)
    }

    /// True if [`Externs::looked_up`] must be called for each lookup; if not, machine code need not
    /// stop for it.
    fn hears_lookups(&self) -> bool {
        true
    }

    /// Called for each table lookup before the action runs, for counters and meters of entries. It
    /// may write slots, and reads none.
    fn looked_up(&mut self, matched: &Matched, frame: &mut Frame) {
        let _ = (matched, frame);
    }

    /// Called at the end of a run that read fields of invalid headers, if the program marks such
    /// reads ([`ir::ExprKind::Guarded`]).
    fn read_invalid(&mut self, reads: &InvalidRead<'_>) {
        let _ = reads;
    }

    /// The [`Trace`] of the next run, if that is to be traced step by step; the run puts it back at
    /// its end.
    #[inline]
    fn trace(&mut self) -> Option<&mut Option<Box<Trace>>> {
        None
    }

    /// Memory cell that a call accesses, with its current value. Called before and after each call
    /// of a traced run only.
    fn reached(&self, call: &ExternCall, ctx: &Context<'_>) -> Option<Access> {
        let _ = (call, ctx);
        None
    }

    /// Called at each moment of a traced run. Does nothing unless the driver traces.
    #[inline(always)]
    fn follow(&mut self, moment: Moment<'_>, ctx: &mut Context<'_>) {
        let _ = (moment, ctx);
    }
}

/// Tables in which machine code may look keys up itself; `None` if the driver needs each lookup.
#[inline(always)]
pub(super) fn unheard<'t, E: Externs + ?Sized>(
    tables: &'t Tables,
    externs: &E,
) -> Option<&'t Tables> {
    (!externs.hears_lookups()).then_some(tables)
}

/// Moment of a traced run.
#[derive(Clone, Copy, Debug)]
pub enum Moment<'p> {
    /// Before a statement.
    Before(&'p Stmt),
    /// After a statement and those inside it.
    After(&'p Stmt),
    /// A lookup chose an action, whose data is set.
    Chosen(Choice),
    /// A parser enters a state.
    State(&'p State),
    /// It leaves the state for the next one, or with an error.
    Goes(&'p Transition, Result<Next, u32>),
}

/// Result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Table and entry.
    pub matched: Matched,
    /// Index into [`ir::Table::actions`].
    pub action: Option<u32>,
    /// Whether the program sees a hit.
    pub hit: bool,
}

/// A memory cell that a call accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The memory's name for the control plane.
    pub memory: Arc<str>,
    /// Index of the cell.
    pub index: u64,
    /// Contents: a number, or one for each field.
    pub words: Vec<BigUint>,
    /// Inputs and outputs of the hardware in front of it, by name.
    pub unit: Vec<(String, String)>,
}

/// For programs without externs: any call ends the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExterns;

impl Externs for NoExterns {
    fn call(&mut self, call: &ExternCall, _: &mut Context<'_>) -> Result<(), Halt> {
        Err(Halt::NotImplemented { name: call.name.clone(), span: call.span })
    }
}

/// An action that a table runs, with its action data in the order of [`ir::TableAction::data`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionRun {
    /// Index into [`ir::Table::actions`].
    pub action: u32,
    /// Action data; values of more than 128 bits do not pass through selectors.
    pub data: SmallVec<[u128; 4]>,
}

/// Result of the last lookup, which addresses direct registers, counters and meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched {
    /// The table.
    pub table: TableId,
    /// The entry; none on a miss.
    pub entry: Option<EntryHandle>,
}

/// A run in progress.
pub struct Context<'a> {
    pub(super) program: &'a ir::Program,
    pub(super) errors: &'a CoreErrors,
    pub(super) tables: &'a Tables,
    pub(super) frame: &'a mut Frame,
    pub(super) packet: Option<PacketIn<'a>>,
    pub(super) out: Option<&'a mut PacketOut>,
    pub(super) matched: Option<Matched>,
    /// An error that ends the parser's state: a lookahead beyond the end, or an extern's.
    pub(super) failed: Cell<Option<u32>>,
    /// Fields of invalid headers that were read.
    pub(super) invalid: InvalidReads,
    /// Remaining loop iterations and parser states until the run is stopped.
    pub(super) steps: u64,
}

impl<'a> Context<'a> {
    /// The program that runs.
    #[inline]
    pub fn program(&self) -> &'a ir::Program {
        self.program
    }

    /// The error values that core.p4 declares.
    #[inline]
    pub fn errors(&self) -> &CoreErrors {
        self.errors
    }

    /// The match tables and value sets.
    #[inline]
    pub fn tables(&self) -> &'a Tables {
        self.tables
    }

    /// The slots of the unit that runs.
    #[inline]
    pub fn frame(&self) -> &Frame {
        self.frame
    }

    /// The slots of the running unit, mutable.
    #[inline]
    pub fn frame_mut(&mut self) -> &mut Frame {
        self.frame
    }

    /// The packet that a parser reads.
    #[inline]
    pub fn packet_in(&mut self) -> Option<&mut PacketIn<'a>> {
        self.packet.as_mut()
    }

    /// The packet that a deparser writes.
    #[inline]
    pub fn packet_out(&mut self) -> Option<&mut PacketOut> {
        self.out.as_deref_mut()
    }

    /// Result of the enclosing table's lookup, inside its actions.
    #[inline]
    pub fn matched(&self) -> Option<Matched> {
        self.matched
    }

    /// An extern object.
    #[inline]
    pub fn object(&self, id: ObjectId) -> &'a Object {
        &self.program.objects[id.index()]
    }

    /// Makes a parser reject with this error once the current statement is done.
    pub fn reject(&mut self, error: u32) {
        self.failed.set(Some(error));
    }

    /// A scalar argument of at most 128 bits; 0 if the value is not one.
    #[inline]
    pub fn eval_value(&self, value: &Value) -> u128 {
        match value {
            Value::Scalar(expr) => self.eval(expr),
            _ => 0,
        }
    }

    /// A scalar argument of any width; 0 if the value is not one.
    pub fn eval_value_wide(&self, value: &Value) -> BigUint {
        match value {
            Value::Scalar(expr) => self.eval_wide(expr),
            _ => BigUint::default(),
        }
    }

    /// Appends the bits of a value in the order of its fields, as `emit` and hashes require:
    /// without validity bits, whether headers are valid or not.
    pub fn append_value(&self, value: &Value, out: &mut PacketOut) {
        match value {
            Value::Scalar(expr) if expr.scalar.width() <= 64 => {
                out.append_word(self.eval(expr) as u64, expr.scalar.width());
            }
            Value::Scalar(expr) if expr.scalar.is_narrow() => {
                out.append(self.eval(expr), expr.scalar.width());
            }
            Value::Scalar(expr) => out.append_wide(&self.eval_wide(expr), expr.scalar.width()),
            Value::VarBit(length, bits) => {
                let length = self.eval(length) as u32;
                out.append_wide(&(self.eval_wide(bits) & arith::wide_mask(length)), length);
            }
            Value::Header { fields: parts, .. }
            | Value::Union { members: parts, .. }
            | Value::Struct { fields: parts, .. }
            | Value::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.append_value(part, out));
            }
            Value::String(_) => {}
        }
    }

    /// Reads a narrow scalar; 0 if the layout is not one.
    #[inline]
    pub fn get(&self, layout: &Layout) -> u128 {
        match layout {
            Layout::Narrow(slot, _) => self.frame.get(*slot),
            _ => 0,
        }
    }

    /// Reads a scalar of any width; 0 if the layout is not one.
    pub fn get_wide(&self, layout: &Layout) -> BigUint {
        match layout {
            Layout::Narrow(slot, _) => BigUint::from(self.frame.get(*slot)),
            Layout::Wide(slot, _) => self.frame.get_wide(*slot),
            _ => BigUint::default(),
        }
    }

    /// Stores a scalar, cut to the layout's width. Nothing happens if the layout is not a scalar.
    #[inline]
    pub fn set(&mut self, layout: &Layout, value: u128) {
        match layout {
            Layout::Narrow(slot, scalar) => {
                self.frame.set(*slot, value & arith::mask(scalar.width()));
            }
            Layout::Wide(slot, _) => self.frame.set_wide(*slot, BigUint::from(value)),
            _ => {}
        }
    }

    /// Stores a scalar of any width, cut to the layout's. Nothing happens if the layout is not a
    /// scalar.
    pub fn set_wide(&mut self, layout: &Layout, value: BigUint) {
        match layout {
            Layout::Narrow(slot, scalar) => {
                let value = arith::narrowed(&value) & arith::mask(scalar.width());
                self.frame.set(*slot, value);
            }
            Layout::Wide(slot, scalar) => {
                self.frame.set_wide(*slot, value & arith::wide_mask(scalar.width()));
            }
            _ => {}
        }
    }

    /// Runs the body of an implemented method as plain code, for architectures without special
    /// hardware for it. The caller fills the slots of `method.params` before and reads them, and
    /// `method.returns`, afterwards.
    ///
    /// # Errors
    /// Errors of the body's own calls, and the step limit.
    pub fn run_method<E: Externs + ?Sized>(
        &mut self,
        method: &ir::Method,
        externs: &mut E,
    ) -> Result<(), Halt> {
        self.run(&method.body, externs).map(|_| ())
    }
}
