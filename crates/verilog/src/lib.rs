//! Hardware modules as queue disciplines: SystemVerilog, compiled by Verilator, asked about packets.
//!
//! A library that `hardware/shim.cpp` was compiled into is added by name ([`add`]) and stands in the
//! switch's register of disciplines from then on. This crate keeps the packets, with a module that does
//! not their order too, and does what the module answers. It must not know how a module becomes a library, nor what a module decides by.

mod dequeue_aqm;
mod discipline;
mod dut;
mod library;
mod reference;
mod scheduler;

pub use discipline::{AddError, add, declare};
pub use library::LoadError;
