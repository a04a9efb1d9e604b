//! Code generation for extern calls: an architecture emits common operations for its own externs.
//!
//! An extern that only computes and stores numbers then runs without a call into the architecture.

use super::build::Builder;
use super::code::{At, Cells, Function, Op, To};
use crate::ir::{Expr, ExternCall, Slot};
use std::sync::Arc;

/// Code generation that an architecture offers for some extern calls.
pub trait Calls {
    /// Appends the code of a call; with `None` the call is made at run time, and the code appended
    /// so far is dropped.
    fn code(&self, call: &ExternCall, to: &mut Assembler<'_, '_>) -> Option<()>;

    /// Slots that a call reads, if they are known; it may write others.
    fn reads(&self, _call: &ExternCall) -> Option<Vec<Slot>> {
        None
    }
}

/// Generates no code: all calls are made at run time.
#[derive(Clone, Copy, Debug)]
pub struct NoCode;

impl Calls for NoCode {
    fn code(&self, _: &ExternCall, _: &mut Assembler<'_, '_>) -> Option<()> {
        None
    }
}

/// Collects the operations of a call.
pub struct Assembler<'b, 'p> {
    pub(super) builder: &'b mut Builder<'p>,
}

impl Assembler<'_, '_> {
    /// Appends an operation.
    pub fn push(&mut self, op: Op) {
        self.builder.ops.push(op);
    }

    /// Allocates a slot for the call's own use.
    pub fn temporary(&mut self) -> Option<At> {
        self.builder.temporary().ok()
    }

    /// Slot of a value, which is computed here if necessary.
    pub fn slot_of(&mut self, value: &Expr) -> Option<At> {
        self.builder.slot_of(value).ok()
    }

    /// Creates a label whose position is still open.
    pub fn label(&mut self) -> To {
        self.builder.label()
    }

    /// Places the label at the current end of the code.
    pub fn place(&mut self, label: To) {
        self.builder.place(label);
    }

    /// Appends the call itself, on a path that few packets take.
    pub fn call_rarely(&mut self, call: &ExternCall) {
        self.builder.call_it(call, true);
    }

    /// Index of a memory.
    pub fn cells(&mut self, cells: &Cells) -> u16 {
        let all = &mut self.builder.code.cells;
        let at = all.iter().position(|known| Arc::ptr_eq(known, cells)).unwrap_or_else(|| {
            all.push(cells.clone());
            all.len() - 1
        });
        at as u16
    }

    /// Index of a function.
    pub fn function(&mut self, function: Function) -> u16 {
        self.builder.code.functions.push(function);
        self.builder.code.functions.len() as u16 - 1
    }
}
