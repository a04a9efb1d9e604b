//! Machine-code tier: the compiler's input and output, and when a unit is compiled.
//!
//! A compiler turns a unit's bytecode into a function with the same effect on slots and on the two
//! ends of a packet. The function stops in front of an operation that needs more, which is then
//! executed without machine code. Must not depend on a compiler.

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

/// A compiler of machine code.
pub trait Compiler: fmt::Debug + Send + Sync {
    /// Machine code of a unit; `None` if it cannot be compiled.
    fn compile(&self, code: &UnitCode) -> Option<Box<dyn MachineCode>>;
}

/// A unit's operations as a native function.
pub trait MachineCode: fmt::Debug + Send + Sync {
    /// Executes from the operation `at` on; returns the first operation that it cannot execute. The
    /// ends of the packet move by the bytes read and written.
    fn run(&self, slots: &mut [u128], ends: &mut Ends<'_>, at: To) -> To;

    /// Bytes of room required.
    fn room(&self) -> usize;
}

/// The two ends of a packet, at byte boundaries: the bytes behind the read cursor, and the room
/// behind the output; also the cache of recent lookups. Machine code accesses the fields by offset.
#[repr(C)]
#[derive(Debug)]
pub struct Ends<'a> {
    ahead: *const u8,
    left: usize,
    room: *mut u8,
    free: usize,
    /// Null if the cache must not be used.
    inline_cache: *const Cell<u64>,
    known: usize,
    of: PhantomData<Borrowed<'a>>,
}

/// Types that the pointers of [`Ends`] refer to.
type Borrowed<'a> = (&'a [u8], &'a mut [u8], &'a [Cell<u64>]);

impl<'a> Ends<'a> {
    /// Offsets of the fields: the next byte to read and the number of bytes left, the next byte to
    /// write and the number of bytes of room.
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

    /// Offset of the pointer to the cache of recent lookups.
    pub const INLINE_CACHE: usize = std::mem::offset_of!(Ends<'_>, inline_cache);

    /// Gives machine code access to the cache of recent lookups.
    #[inline]
    pub(super) fn look_at(&mut self, tables: &'a Tables) {
        let words = tables.inline_cache().words();
        (self.inline_cache, self.known) = (words.as_ptr(), words.len());
    }

    /// Number of words of the cache, if it may be used.
    #[inline]
    pub fn known(&self) -> Option<usize> {
        (!self.inline_cache.is_null()).then_some(self.known)
    }

    /// Bytes left to read, and bytes of room left.
    #[inline]
    pub fn left(&self) -> (usize, usize) {
        (self.left, self.free)
    }
}

/// Runs of a unit before it is compiled: short runs do not wait for a compiler.
const RUNS: u32 = 200;

/// A unit's bytecode, and its machine code once that pays.
#[derive(Debug)]
pub(super) struct Unit {
    pub code: UnitCode,
    /// Bytecode from which machine code is compiled, if it differs; its operations are the same.
    pub fronted: Option<Box<UnitCode>>,
    /// Runs left before compilation.
    left: AtomicU32,
    machine: OnceLock<Option<Box<dyn MachineCode>>>,
}

impl Unit {
    pub fn new(code: UnitCode) -> Unit {
        Unit { code, fronted: None, left: AtomicU32::new(RUNS), machine: OnceLock::new() }
    }

    /// Machine code of the unit, compiled here if it has run often enough.
    #[inline]
    pub fn machine(&self, compiler: Option<&dyn Compiler>) -> Option<&dyn MachineCode> {
        match self.machine.get() {
            Some(machine) => machine.as_deref(),
            None => self.machine_in_time(compiler?),
        }
    }

    #[cold]
    fn machine_in_time(&self, compiler: &dyn Compiler) -> Option<&dyn MachineCode> {
        // A run may be lost if two threads count at once.
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
            return None;
        }
        self.compiled(compiler)
    }

    /// Machine code of the unit, compiled here.
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
