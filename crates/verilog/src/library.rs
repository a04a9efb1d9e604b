//! C ABI of `hardware/shim.cpp`: a library, and modules created from it.
//!
//! THE ONLY FILE OF THIS CRATE WITH `unsafe`. Its safety relies on these conditions: the library
//! was compiled from our shim, so its functions have the signatures below (`aqm_abi` gives the
//! version), throw no exceptions and retain no pointer; a library is never unloaded while a module
//! of it exists, because the module owns a reference to it.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// Version of the interface that this file implements.
const ABI: u32 = 2;

/// Reason why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system cannot load it, or a symbol is missing.
    #[error("the compiled module cannot be loaded: {0}")]
    Library(#[from] libloading::Error),
    /// It was compiled for another version of Sojourn.
    #[error("the compiled module is of version {0} of the interface, {ABI} is wanted")]
    Version(u32),
}

/// Kind of a request to a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// A packet is to be sent: the one at the head, or any if the module keeps the order.
    #[default]
    Ask = 0,
    /// A packet has arrived.
    Put = 1,
    /// The queue is full.
    Shed = 2,
}

/// A request to a module, with C layout.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Question {
    pub now: u64,
    pub enqueued: u64,
    pub kind: Kind,
    pub target: u32,
    pub interval: u32,
    pub maxpacket: u32,
    pub quantum: u32,
    pub limit: u32,
    pub backlog: u32,
    pub hash: u32,
    pub length: u16,
    pub packet: u16,
    pub ecn: u8,
    pub capable: u8,
}

/// Answer of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Verdict on a packet: drop, or send with or without a mark; `done` ends the answer.
    Of { packet: u16, drop: bool, mark: bool, done: bool },
    /// No further verdict.
    Done,
    /// No answer within the allowed cycles.
    Hung,
    /// The answer depends on an undefined bit.
    Unknown,
    /// It terminated itself (`$fatal`, `$stop`, no stable state).
    Fatal,
}

const DROP: u32 = 1;
const MARK: u32 = 1 << 1;
const ANSWER: u32 = 1 << 2;
const DONE: u32 = 1 << 3;
const HUNG: u32 = 1 << 8;
const UNKNOWN: u32 = 1 << 9;
const FATAL: u32 = 1 << 10;

/// Capability bit of a module that decides about other packets than the head of the queue.
const KEEPS_ORDER: u32 = 1;
const SHEDS: u32 = 1 << 1;

type New = unsafe extern "C" fn() -> *mut c_void;
type Delete = unsafe extern "C" fn(*mut c_void);
type Can = unsafe extern "C" fn() -> u32;
type Ask = unsafe extern "C" fn(*mut c_void, *const Question, u32, *mut u32) -> u32;
type More = unsafe extern "C" fn(*mut c_void, u32, *mut u32) -> u32;
type Said = unsafe extern "C" fn(*const c_void) -> *const c_char;

/// A module's library, in memory.
#[derive(Debug)]
pub(crate) struct Library {
    new: New,
    delete: Delete,
    ask: Ask,
    more: More,
    said: Said,
    can: u32,
    /// Keeps the library loaded.
    _held: libloading::Library,
}

impl Library {
    pub fn load(path: &Path) -> Result<Library, LoadError> {
        // SAFETY: the library is compiled from our shim; its initialisers are those of C++ and
        // Verilator, and its functions have these types.
        unsafe {
            let held = libloading::Library::new(path)?;
            let abi: unsafe extern "C" fn() -> u32 = *held.get(b"aqm_abi\0")?;
            let version = abi();
            if version != ABI {
                return Err(LoadError::Version(version));
            }
            let can: Can = *held.get(b"aqm_can\0")?;
            Ok(Library {
                can: can(),
                new: *held.get::<New>(b"aqm_new\0")?,
                delete: *held.get::<Delete>(b"aqm_delete\0")?,
                ask: *held.get::<Ask>(b"aqm_ask\0")?,
                more: *held.get::<More>(b"aqm_more\0")?,
                said: *held.get::<Said>(b"aqm_said\0")?,
                _held: held,
            })
        }
    }

    /// Whether its modules keep the order of packets, and receive each arrival.
    pub fn keeps_order(&self) -> bool {
        self.can & KEEPS_ORDER != 0
    }

    /// Whether its modules can shed packets.
    pub fn sheds(&self) -> bool {
        self.can & SHEDS != 0
    }
}

impl From<u32> for Answer {
    fn from(said: u32) -> Answer {
        let is = |bit| said & bit != 0;
        match said {
            HUNG => Answer::Hung,
            UNKNOWN => Answer::Unknown,
            FATAL => Answer::Fatal,
            _ if !is(ANSWER) => Answer::Done,
            _ => Answer::Of {
                packet: (said >> 16) as u16,
                drop: is(DROP),
                mark: is(MARK),
                done: is(DONE),
            },
        }
    }
}

/// One module after its reset.
#[derive(Debug)]
pub(crate) struct Module {
    library: Arc<Library>,
    state: NonNull<c_void>,
}

// SAFETY: a module is one C++ object with a context of its own, accessed through `&mut`; it has no
// thread-local state.
unsafe impl Send for Module {}

impl Module {
    /// Creates a module; `None` if it terminates in its reset.
    pub fn new(library: Arc<Library>) -> Option<Module> {
        // SAFETY: see `Library`.
        let state = NonNull::new(unsafe { (library.new)() })?;
        Some(Module { library, state })
    }

    /// Sends a request with a limit of `most` cycles. Returns the first answer, and the number of
    /// cycles.
    pub fn ask(&mut self, question: &Question, most: u32) -> (Answer, u32) {
        let mut cycles = 0;
        // SAFETY: `state` is alive; the pointers are valid during the call.
        let said =
            unsafe { (self.library.ask)(self.state.as_ptr(), question, most, &raw mut cycles) };
        (Answer::from(said), cycles)
    }

    /// Its next answer, unless it is done.
    pub fn more(&mut self, most: u32) -> (Answer, u32) {
        let mut cycles = 0;
        // SAFETY: as above.
        let said = unsafe { (self.library.more)(self.state.as_ptr(), most, &raw mut cycles) };
        (Answer::from(said), cycles)
    }

    /// Library of the module.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Message of the module's termination.
    pub fn message(&self) -> String {
        // SAFETY: the string ends with a zero byte and lives until the next request.
        let said = unsafe { CStr::from_ptr((self.library.said)(self.state.as_ptr())) };
        said.to_string_lossy().into_owned()
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: made by `aqm_new`, and not used again.
        unsafe { (self.library.delete)(self.state.as_ptr()) }
    }
}
