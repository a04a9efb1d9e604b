//! Hardware modules as queue disciplines, written in SystemVerilog and compiled by Verilator.
//!
//! [`add`] registers a library that includes `hardware/shim.cpp`, by name, in the switch's registry
//! of disciplines. This crate stores the packets, and orders them unless the module does. It
//! executes the module's decisions. It must not depend on how a module is compiled to a library,
//! nor on the basis of a module's decisions.

mod dequeue_aqm;
mod discipline;
mod dut;
mod library;
mod reference;
mod scheduler;

pub use discipline::{AddError, add, declare};
pub use library::LoadError;
