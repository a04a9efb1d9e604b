//! A compiled unit: memory that can be executed, and the call of it.
//!
//! THE ONLY FILE OF THIS CRATE WITH `unsafe`. What it stands on: the function was made by `lower.rs`
//! of the same code; it reads and writes slots of the code alone, whose number is compared before each
//! call, bytes ahead only when so many are left, room only when so much is left, which may be compared
//! before the call as well, cells only when there is one of the number, and what tables have found only if
//! it has so many words; cells and functions live as long as it does.

#![allow(unsafe_code)]

use crate::lower;
use crate::memory::{Addresses, Memory};
use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};
use sojourn_p4::interp::jit_tier::inline_cache::TABLE;
use sojourn_p4::interp::jit_tier::{self, Cells, Ends, MachineCode, ROOM, To, UnitCode};
use std::fmt;
use std::mem::ManuallyDrop;

/// What a frame of another unit would be.
const SMALL: &str =
    "a frame of the unit has room for its temporaries, and what is written for its headers";

/// What tables of another program would be.
const OTHER: &str = "the tables are those of the unit's program";

type Entry = unsafe extern "C" fn(*mut u128, *mut Ends<'_>, u32) -> u32;

/// A unit's machine code.
pub struct Function {
    entry: Entry,
    /// Slots that it reads and writes.
    slots: usize,
    /// Bytes that it writes without asking.
    unchecked: usize,
    /// Bytes for which there should be room.
    room: usize,
    /// Words of what tables have found lately.
    known: usize,
    /// What it refers to by address.
    _data: Box<CodeData>,
    /// What holds its memory.
    module: ManuallyDrop<JITModule>,
}

// SAFETY: behind `finalize_definitions` nothing is changed any more, and the function has no state of
// its own; the module is only there to be freed.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// Memory and functions of the code.
struct CodeData {
    cells: Vec<Cells>,
    functions: Vec<jit_tier::Function>,
}

impl CodeData {
    fn new(code: &UnitCode) -> Box<CodeData> {
        Box::new(CodeData { cells: code.cells().into(), functions: code.functions().into() })
    }

    /// The addresses of what is in it. It is not moved and nothing is taken out as long as there is
    /// the function.
    fn addresses(&self) -> Addresses {
        let memory = |cells: &Cells| Memory { first: cells.as_ptr() as usize, cells: cells.len() };
        Addresses {
            memories: self.cells.iter().map(memory).collect(),
            functions: self.functions.iter().map(|f| std::ptr::from_ref(f) as usize).collect(),
            apply: apply as *const () as usize,
        }
    }
}

/// Applies a function to a word, for machine code.
unsafe extern "C" fn apply(function: *const jit_tier::Function, word: u64) -> u64 {
    // SAFETY: machine code has it from `CodeData::addresses`.
    let jit_tier::Function(function) = unsafe { &*function };
    function(word)
}

impl Function {
    /// Compiles a unit; none if this machine does not let code be made.
    pub fn compile(code: &UnitCode, isa: OwnedTargetIsa) -> Option<Function> {
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let data = CodeData::new(code);
        match define(&mut module, code, &data.addresses()) {
            Some(entry) => {
                let module = ManuallyDrop::new(module);
                let (slots, unchecked) = (code.slots(), code.room().unwrap_or(0));
                let room = code.most_written().min(ROOM);
                let tables =
                    (0..code.ops().len()).filter_map(|at| code.lookup(at)).map(|l| l.table + 1);
                let known = TABLE * tables.max().unwrap_or(0);
                Some(Function { entry, slots, unchecked, room, known, _data: data, module })
            }
            None => {
                // SAFETY: nothing of it was given away.
                unsafe { module.free_memory() };
                None
            }
        }
    }
}

/// Makes the function and memory for it.
fn define(module: &mut JITModule, code: &UnitCode, addresses: &Addresses) -> Option<Entry> {
    let mut context: Context = module.make_context();
    context.func.signature = lower::signature(module);
    let mut room = FunctionBuilderContext::new();
    lower::function(code, addresses, &mut context.func, &mut room);
    let declared = module.declare_anonymous_function(&context.func.signature).ok()?;
    module.define_function(declared, &mut context).ok()?;
    module.finalize_definitions().ok()?;
    let made = module.get_finalized_function(declared);
    // SAFETY: `made` is a function of this signature.
    Some(unsafe { std::mem::transmute::<*const u8, Entry>(made) })
}

impl MachineCode for Function {
    #[inline]
    fn run(&self, slots: &mut [u128], ends: &mut Ends<'_>, at: To) -> To {
        assert!(slots.len() >= self.slots && ends.left().1 >= self.unchecked, "{SMALL}");
        assert!(ends.known().is_none_or(|known| known >= self.known), "{OTHER}");
        // SAFETY: see the head of the file.
        unsafe { (self.entry)(slots.as_mut_ptr(), ends, at) }
    }

    fn room(&self) -> usize {
        self.room
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        // SAFETY: nobody can call the function any more, and the module is not used again.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("slots", &self.slots).finish_non_exhaustive()
    }
}
