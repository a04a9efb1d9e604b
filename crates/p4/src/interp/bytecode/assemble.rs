//! Code generation for extern calls: an architecture emits common operations for its own externs.
//!
//! An extern that only computes and stores numbers then runs without a call into the architecture.

use super::build::Builder;
use super::code::{At, Cells, Function, Op, To};
use crate::ir::{Expr, ExternCall, Slot};
use std::sync::Arc;

/// An architecture that has code for some calls.
pub trait Calls {
    /// The code of a call, put behind what there is; none if it is to be called, whatever has been put
    /// there.
    fn code(&self, call: &ExternCall, to: &mut Assembler<'_, '_>) -> Option<()>;

    /// The slots that a call reads, if that is known; it may write others.
    fn reads(&self, _call: &ExternCall) -> Option<Vec<Slot>> {
        None
    }
}

/// All calls are called.
#[derive(Clone, Copy, Debug)]
pub struct NoCode;

impl Calls for NoCode {
    fn code(&self, _: &ExternCall, _: &mut Assembler<'_, '_>) -> Option<()> {
        None
    }
}

/// Takes the operations of a call.
pub struct Assembler<'b, 'p> {
    pub(super) builder: &'b mut Builder<'p>,
}

impl Assembler<'_, '_> {
    /// Puts an operation behind the others.
    pub fn push(&mut self, op: Op) {
        self.builder.ops.push(op);
    }

    /// A slot of the call's own.
    pub fn temporary(&mut self) -> Option<At> {
        self.builder.temporary().ok()
    }

    /// The slot with a value, which is computed now if it has to be.
    pub fn slot_of(&mut self, value: &Expr) -> Option<At> {
        self.builder.slot_of(value).ok()
    }

    /// A place to jump to that is yet to be said.
    pub fn label(&mut self) -> To {
        self.builder.label()
    }

    /// It is behind the operations that there are now.
    pub fn place(&mut self, label: To) {
        self.builder.place(label);
    }

    /// Calls it after all, where few packets come to.
    pub fn call_rarely(&mut self, call: &ExternCall) {
        self.builder.call_it(call, true);
    }

    /// The number of a memory.
    pub fn cells(&mut self, cells: &Cells) -> u16 {
        let all = &mut self.builder.code.cells;
        let at = all.iter().position(|known| Arc::ptr_eq(known, cells)).unwrap_or_else(|| {
            all.push(cells.clone());
            all.len() - 1
        });
        at as u16
    }

    /// The number of a function.
    pub fn function(&mut self, function: Function) -> u16 {
        self.builder.code.functions.push(function);
        self.builder.code.functions.len() as u16 - 1
    }
}
