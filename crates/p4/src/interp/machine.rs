//! Machine code: what a compiler is given, what it gives back, and when it is asked.
//!
//! A compiler sees a unit's flat code and makes a function of it that does the same to slots and to
//! the two ends of a packet. Where an operation needs more than those, the function stops in front of
//! it, and it is executed as without machine code. Knows no compiler.

pub use super::flat::code::{Around, At, Cells, Emitted, Function, Op, ReadBy, To, UnitCode};
pub use super::flat::header::{LongRead, Piece, ROOM, Read, Reader, Writer};

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Makes machine code.
pub trait Compiler: fmt::Debug + Send + Sync {
    /// The code of a unit for this machine; none if there cannot be any.
    fn compile(&self, code: &UnitCode) -> Option<Box<dyn MachineCode>>;
}

/// A unit's operations as a function of this machine.
pub trait MachineCode: fmt::Debug + Send + Sync {
    /// Executes from the operation `at` on, until one is not for it: the answer.
    fn run(&self, slots: &mut [u128], at: To) -> To;

    /// The same with a packet that is read or written.
    fn run_with(&self, slots: &mut [u128], ends: Ends<'_>, at: To) -> Stopped;
}

/// The two ends of a packet, at the beginnings of bytes.
#[derive(Debug, Default)]
pub struct Ends<'a> {
    /// The real bytes behind the cursor of what is read; none where there are none to be read at once.
    pub ahead: &'a [u8],
    /// Where what is written goes on.
    pub room: &'a mut [u8],
}

/// How far machine code has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The operation in front of which it stopped.
    pub at: To,
    /// Bytes of those ahead that were read.
    pub read: usize,
    /// Bytes of the room that were written.
    pub written: usize,
}

/// Runs of a unit before it is compiled: what runs a few packets does not wait for a compiler.
const RUNS: u32 = 500;

/// A unit's code, and machine code once it pays.
#[derive(Debug)]
pub(super) struct Unit {
    pub code: UnitCode,
    /// Runs that are left.
    left: AtomicU32,
    machine: OnceLock<Option<Box<dyn MachineCode>>>,
}

impl Unit {
    pub fn new(code: UnitCode) -> Unit {
        Unit { code, left: AtomicU32::new(RUNS), machine: OnceLock::new() }
    }

    /// Its machine code, made now if it has run often enough.
    #[inline]
    pub fn machine(&self, compiler: Option<&dyn Compiler>) -> Option<&dyn MachineCode> {
        match self.machine.get() {
            Some(machine) => machine.as_deref(),
            None => self.machine_in_time(compiler?),
        }
    }

    #[cold]
    fn machine_in_time(&self, compiler: &dyn Compiler) -> Option<&dyn MachineCode> {
        // Two threads may count a run as one.
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
            return None;
        }
        self.compiled(compiler)
    }

    /// Its machine code, made now.
    pub fn compiled(&self, compiler: &dyn Compiler) -> Option<&dyn MachineCode> {
        self.machine.get_or_init(|| compiler.compile(&self.code)).as_deref()
    }
}

impl Clone for Unit {
    fn clone(&self) -> Unit {
        Unit::new(self.code.clone())
    }
}
