//! The C ABI of `hardware/shim.cpp`: a library, and modules made from it.
//!
//! THE ONLY FILE OF THIS CRATE WITH `unsafe`. What it stands on: the library was compiled from our
//! shim, so its functions have the signatures below (`aqm_abi` tells the version), throw nothing and
//! keep no pointer that they are handed; a library is never unloaded while a module of it lives,
//! because the module holds it.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// The version of the interface that this file is written for.
const ABI: u32 = 1;

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system cannot load it, or something is missing in it.
    #[error("the compiled module cannot be loaded: {0}")]
    Library(#[from] libloading::Error),
    /// It is from another version of Sojourn.
    #[error("the compiled module is of version {0} of the interface, {ABI} is wanted")]
    Version(u32),
}

/// A question to a module, laid out as in C.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Question {
    pub now: u64,
    pub enqueued: u64,
    pub target: u32,
    pub interval: u32,
    pub maxpacket: u32,
    pub backlog: u32,
    pub length: u16,
    pub ecn: u8,
    pub capable: u8,
}

/// What a module says about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is sent, or not, with a mark, or not.
    Verdict { drop: bool, mark: bool },
    /// No answer within the cycles that it was given.
    Hung,
    /// The answer hangs on a bit that nobody has set.
    Unknown,
    /// It ended itself (`$fatal`, `$stop`, no stable state).
    Fatal,
}

const HUNG: u32 = 1 << 8;
const UNKNOWN: u32 = 1 << 9;
const FATAL: u32 = 1 << 10;

type New = unsafe extern "C" fn() -> *mut c_void;
type Delete = unsafe extern "C" fn(*mut c_void);
type Ask = unsafe extern "C" fn(*mut c_void, *const Question, u32, *mut u32) -> u32;
type Said = unsafe extern "C" fn(*const c_void) -> *const c_char;

/// A module's library, in memory.
#[derive(Debug)]
pub(crate) struct Library {
    new: New,
    delete: Delete,
    ask: Ask,
    said: Said,
    /// Keeps the code of the functions above where it is.
    _held: libloading::Library,
}

impl Library {
    pub fn load(path: &Path) -> Result<Library, LoadError> {
        // SAFETY: the library is compiled from our shim; its initialisers are those of C++ and
        // Verilator. The types are those of its functions.
        unsafe {
            let held = libloading::Library::new(path)?;
            let abi: unsafe extern "C" fn() -> u32 = *held.get(b"aqm_abi\0")?;
            let version = abi();
            if version != ABI {
                return Err(LoadError::Version(version));
            }
            Ok(Library {
                new: *held.get::<New>(b"aqm_new\0")?,
                delete: *held.get::<Delete>(b"aqm_delete\0")?,
                ask: *held.get::<Ask>(b"aqm_ask\0")?,
                said: *held.get::<Said>(b"aqm_said\0")?,
                _held: held,
            })
        }
    }
}

/// One module after its reset.
#[derive(Debug)]
pub(crate) struct Module {
    library: Arc<Library>,
    state: NonNull<c_void>,
}

// SAFETY: a module is one C++ object with a context of its own and is used through `&mut`; nothing
// of it belongs to a thread.
unsafe impl Send for Module {}

impl Module {
    /// None if the module ends itself in its reset.
    pub fn new(library: Arc<Library>) -> Option<Module> {
        // SAFETY: see `Library`.
        let state = NonNull::new(unsafe { (library.new)() })?;
        Some(Module { library, state })
    }

    /// Asks about a packet, for at most that many cycles. The answer, and after how many cycles.
    pub fn ask(&mut self, question: &Question, most: u32) -> (Answer, u32) {
        let mut cycles = 0;
        // SAFETY: `state` is alive; the pointers are good during the call.
        let answer =
            unsafe { (self.library.ask)(self.state.as_ptr(), question, most, &raw mut cycles) };
        let answer = match answer {
            HUNG => Answer::Hung,
            UNKNOWN => Answer::Unknown,
            FATAL => Answer::Fatal,
            verdict => Answer::Verdict { drop: verdict & 1 != 0, mark: verdict & 2 != 0 },
        };
        (answer, cycles)
    }

    /// What it said when it ended itself.
    pub fn said(&self) -> String {
        // SAFETY: a string that ends with a zero byte and lives until the next question.
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
