//! Hardware modules as queue disciplines: SystemVerilog, compiled by Verilator, asked about packets.
//!
//! A library that `hardware/shim.cpp` was compiled into is added by name ([`add`]) and stands in the
//! switch's register of disciplines from then on. This crate keeps the packets and does what the
//! module answers. It must not know how a module becomes a library, nor what a module decides by.

mod discipline;
mod library;
mod stated_law;

pub use discipline::{AddError, add};
pub use library::LoadError;
