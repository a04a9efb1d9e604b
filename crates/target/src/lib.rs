//! The interface between a P4 architecture and the rest: [`Target`], [`Program`], [`Plane`].
//!
//! A loaded program is a [`DataPlane`](sojourn_packet::DataPlane): two passes over a packet with a
//! traffic manager between them. This crate must not depend on any architecture, on queues or on
//! packet sources.
//!
//! | part | contents |
//! |---|---|
//! | [`Program`] | a program, compiled once: described, checked, instantiated any number of times |
//! | [`Target`] | the operations that an architecture implements |
//! | [`load()`] | from a file to a [`Plane`] in one call |
//! | [`rule`] | codes, reasons and cures of what a target refuses |
//! | [`faults`] | counts of what a running program did that its target cannot do |
//! | [`trace_json`], [`observer`] | one packet followed step by step |
//! | [`def_use`], [`validity_checks`], [`fields`], [`applied_tables`], [`table_order`], [`common_limits`] | analyses of the IR that architectures share |

#[macro_use]
pub mod applied_tables;
pub mod rule;

pub mod arguments;
pub mod arithmetic;
mod chip_settings;
pub mod common_limits;
pub mod def_use;
pub mod deparser_output;
pub mod faults;
pub mod fields;
pub mod load;
pub mod log;
pub mod memory_budget;
pub mod observer;
pub mod package;
pub mod phv;
pub mod plane;
pub mod profile_defaults;
pub mod program;
mod sources;
mod successors;
pub mod table_order;
pub mod target;
pub mod trace_json;
pub mod unaligned_headers;
pub mod validity_checks;

pub use chip_settings::{Clock, ExponentParity};
pub use faults::{Fault, FaultKind, Faults};
pub use load::{Executor, LoadError, LoadOptions, Loaded, load, load_with};
pub use plane::Plane;
pub use program::{Checked, Program};
pub use rule::{Refusal, Rule};
pub use sources::{ProgramText, SourceText, Sources};
pub use target::{Target, Targets};
