//! Machine code for P4 programs that run often.
//!
//! ```text
//! flat code (sojourn-p4) -> blocks -> Cranelift's IR -> a function of this machine
//! ```
//!
//! `blocks.rs` divides code into blocks, `lower.rs` translates operations on slots to Cranelift's
//! IR, `memory.rs` those on memory, `tables.rs` lookups, `packet.rs` headers, and `prologue.rs`
//! entry and exit; `function.rs` holds the result. An operation that needs more ends a block: the
//! function returns its index. Must not depend on an architecture. The interpreter defines the
//! semantics; machine code only executes faster.

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

/// The compiler, as a static for callers that need one.
pub static COMPILER: Compiler = Compiler;

impl jit_tier::Compiler for Compiler {
    fn compile(&self, code: &UnitCode) -> Option<Box<dyn MachineCode>> {
        Some(Box::new(function::Function::compile(code, isa()?)?))
    }
}

/// Instruction set of this machine, if Cranelift supports it.
fn isa() -> Option<OwnedTargetIsa> {
    static ISA: OnceLock<Option<OwnedTargetIsa>> = OnceLock::new();
    let make = || {
        let mut flags = settings::builder();
        flags.set("opt_level", "speed").ok()?;
        // The frame stays in place; generated code is verified in debug builds only.
        flags.set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }).ok()?;
        cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
    };
    ISA.get_or_init(make).clone()
}
