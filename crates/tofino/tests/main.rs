//! Tests of the chip: vectors, verdicts and programs that run on it.
//!
//! One binary for all files of this folder: each further one would be linked with the whole workspace.

mod codel_exact;
mod compiler_verdicts;
mod ghost;
mod salu_vectors;
mod tofino2;
