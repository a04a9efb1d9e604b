//! Machine code of P4 programs: what packets run on that come often.
//!
//! ```text
//! flat code (sojourn-p4) -> blocks -> Cranelift's IR -> a function of this machine
//! ```
//!
//! `blocks.rs` cuts code into blocks, `lower.rs` makes Cranelift's IR of operations on slots, `cells.rs`
//! of those on memory, `tables.rs` of lookups and `packet.rs` of headers, `ends.rs` of beginning and stopping; `function.rs`
//! holds what has come of it. An operation that needs more than that ends a block: the function answers
//! with its number. Knows no architecture; what is
//! right is said by the interpreter, and this does the same, faster.

mod blocks;
mod function;
mod lower;
mod memory;
mod packet;
mod prologue;
mod tables;

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use sojourn_p4::interp::jit_tier::{self, MachineCode, UnitCode};
use std::sync::OnceLock;

/// Cranelift for this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compiler;

/// The compiler, for whoever keeps one.
pub static COMPILER: Compiler = Compiler;

impl jit_tier::Compiler for Compiler {
    fn compile(&self, code: &UnitCode) -> Option<Box<dyn MachineCode>> {
        Some(Box::new(function::Function::compile(code, isa()?)?))
    }
}

/// What this machine understands, if Cranelift knows the machine.
fn isa() -> Option<OwnedTargetIsa> {
    static ISA: OnceLock<Option<OwnedTargetIsa>> = OnceLock::new();
    let make = || {
        let mut flags = settings::builder();
        flags.set("opt_level", "speed").ok()?;
        // Slots are where they are: nothing that is compiled is verified twice.
        flags.set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }).ok()?;
        cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
    };
    ISA.get_or_init(make).clone()
}
