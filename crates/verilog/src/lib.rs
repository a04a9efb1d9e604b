//! Hardware modules as queue disciplines: SystemVerilog, compiled by Verilator, asked about packets.
//!
//! A library that `hardware/shim.cpp` was compiled into is added by name ([`add`]) and stands in the
//! switch's register of disciplines from then on. This crate keeps the packets, with a module that does
//! not their order too, and does what the module answers. It must not know how a module becomes a library, nor what a module decides by.

mod asked;
mod discipline;
mod head;
mod library;
mod order;
mod stated_law;

pub use discipline::{AddError, add, declare};
pub use library::LoadError;
