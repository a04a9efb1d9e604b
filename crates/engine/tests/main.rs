//! Tests of P4 programs in switches, networks and control planes.
//!
//! One binary for all files of this folder: each further one would be linked with the whole workspace.

mod bad_input;
mod commands;
mod control;
mod dualpi2;
mod examples;
mod library;
mod loop_guard;
mod loops;
mod noise;
mod npu;
mod registers;
mod state_dependencies;
mod tcp_over_p4;
mod toy_target;
mod walls;
