//! Tofino 1 as its P4 architecture (TNA) shows it.
//!
//! It stands on the language crate and on [`crate::DataPlane`]'s vocabulary. What the chip does to
//! one packet in one pass is here; queues, ports and clocks are not.

mod arguments;
pub mod externs;
pub mod math_unit;
pub mod register_action;
pub mod rules;
pub mod salu;
