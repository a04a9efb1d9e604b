//! Machine code: what a compiler is given, what it gives back, and when it is asked.
//!
//! A compiler sees a unit's flat code and makes a function of it that does the same to slots and to
//! the two ends of a packet. Where an operation needs more than those, the function stops in front of
//! it, and it is executed as without machine code. Knows no compiler.

pub use super::bytecode::code::{At, Cells, Data, Elision, Emitted, Function, Op, To, UnitCode};
pub use super::bytecode::dataflow::{FrameFacts, Lookup, ReadBy};
pub use super::bytecode::header::{FrontRead, LongRead, Piece, ROOM, Read, Reader, Writer};
pub use super::tables::inline_cache;

use super::tables::Tables;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Makes machine code.
pub trait Compiler: fmt::Debug + Send + Sync {
    /// The code of a unit for this machine; none if there cannot be any.
    fn compile(&self, code: &UnitCode) -> Option<Box<dyn MachineCode>>;
}

/// A unit's operations as a function of this machine.
pub trait MachineCode: fmt::Debug + Send + Sync {
    /// Executes from the operation `at` on, until one is not for it: the answer. The ends of the
    /// packet are moved by what was read and written.
    fn run(&self, slots: &mut [u128], ends: &mut Ends<'_>, at: To) -> To;

    /// Bytes for which there should be room.
    fn room(&self) -> usize;
}

/// The two ends of a packet, at the beginnings of bytes: the bytes behind the cursor of what is read,
/// and where what is written goes on; and what tables have found lately. Machine code knows where the
/// fields lie.
#[repr(C)]
#[derive(Debug)]
pub struct Ends<'a> {
    ahead: *const u8,
    left: usize,
    room: *mut u8,
    free: usize,
    /// Null if it is not to be looked at.
    inline_cache: *const Cell<u64>,
    known: usize,
    of: PhantomData<Borrowed<'a>>,
}

/// What the pointers of [`Ends`] are to.
type Borrowed<'a> = (&'a [u8], &'a mut [u8], &'a [Cell<u64>]);

impl<'a> Ends<'a> {
    /// Where the fields lie: the next byte to read and how many there are, the next byte to write and
    /// for how many there is room.
    pub const FIELDS: [usize; 4] = [
        std::mem::offset_of!(Ends<'_>, ahead),
        std::mem::offset_of!(Ends<'_>, left),
        std::mem::offset_of!(Ends<'_>, room),
        std::mem::offset_of!(Ends<'_>, free),
    ];

    /// The ends of a packet.
    #[inline]
    pub fn new(ahead: &'a [u8], room: &'a mut [u8]) -> Ends<'a> {
        let (left, free) = (ahead.len(), room.len());
        let (inline_cache, known) = (std::ptr::null(), 0);
        let (ahead, room) = (ahead.as_ptr(), room.as_mut_ptr());
        Ends { ahead, left, room, free, inline_cache, known, of: PhantomData }
    }

    /// Where the pointer lies to what keys of tables have led to lately.
    pub const INLINE_CACHE: usize = std::mem::offset_of!(Ends<'_>, inline_cache);

    /// Lets machine code look at what keys of tables have led to lately.
    #[inline]
    pub(super) fn look_at(&mut self, tables: &'a Tables) {
        let words = tables.inline_cache().words();
        (self.inline_cache, self.known) = (words.as_ptr(), words.len());
    }

    /// Words that may be looked at, if there are some.
    #[inline]
    pub fn known(&self) -> Option<usize> {
        (!self.inline_cache.is_null()).then_some(self.known)
    }

    /// Bytes that are still ahead, and for how many there is still room.
    #[inline]
    pub fn left(&self) -> (usize, usize) {
        (self.left, self.free)
    }
}

/// Runs of a unit before it is compiled: what runs a few packets does not wait for a compiler.
const RUNS: u32 = 200;

/// A unit's code, and machine code once it pays.
#[derive(Debug)]
pub(super) struct Unit {
    pub code: UnitCode,
    /// What machine code is made of, if that is not the same: its operations are.
    pub fronted: Option<Box<UnitCode>>,
    /// Runs that are left.
    left: AtomicU32,
    machine: OnceLock<Option<Box<dyn MachineCode>>>,
}

impl Unit {
    pub fn new(code: UnitCode) -> Unit {
        Unit { code, fronted: None, left: AtomicU32::new(RUNS), machine: OnceLock::new() }
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
        let code = self.fronted.as_deref().unwrap_or(&self.code);
        self.machine.get_or_init(|| compiler.compile(code)).as_deref()
    }
}

impl Clone for Unit {
    fn clone(&self) -> Unit {
        Unit { fronted: self.fronted.clone(), ..Unit::new(self.code.clone()) }
    }
}
