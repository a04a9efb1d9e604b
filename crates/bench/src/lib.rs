//! Workloads of the Rust benchmarks: packets through a built-in program, and a baseline in Rust.
//!
//! The benches, the example that counts instructions and the baseline's test share them. This crate
//! must not be a dependency of another one.

pub mod by_hand;
pub mod passes;
