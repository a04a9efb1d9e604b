//! Tests of the language: small programs, packets and damaged texts.
//!
//! One binary for all files of this folder: each further one would be linked with the whole workspace.

mod common;
mod elaboration;
mod externs;
mod fuzz_corpus;
mod parsers;
mod programs;
mod trace;
