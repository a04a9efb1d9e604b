//! Tofino 1 and 2 as their P4 architectures (TNA, T2NA) show them.
//!
//! Uses the language crate and the types of [`DataPlane`](sojourn_packet::DataPlane). Implements
//! the chip's processing of one packet in one pass; queues, ports and clocks are not part of it.
//!
//! | part | what it is |
//! |---|---|
//! | [`TofinoTarget`] | a chip, described as data, as a target |
//! | [`load()`] | from the text of a program to a [`Tofino`], or to diagnostics |
//! | [`rules`] | what the chip cannot do, why, and what to do instead |
//! | [`register_action`] | register actions compiled to stateful-ALU instructions |
//! | [`salu`], [`math_unit`] | the stateful ALU, bit by bit |
//! | [`fit`] | stages, estimated |
//! | [`externs`](sojourn_externs) | the other fixed-function blocks |
//! | [`Tofino`] | the two passes of a packet |
//! | [`ControlPlane`] | table entries, as data |

mod access;
mod arguments;
mod block_frame;
mod blocks;
mod chip;
mod constant_folding;
mod control_plane;
mod dead_fields;
mod deparser_requests;
pub mod fit;
mod fused_pass;
mod ghost;
mod gress;
mod load;
pub mod math_unit;
mod metadata;
mod omitted_parameters;
mod parameter_passing;
mod parde;
mod parse_depth;
mod pass;
mod pipeline;
pub mod register_action;
mod resubmit_header;
pub mod rules;
mod runtime;
pub mod salu;
mod size_functions;
mod snapshots;
mod target;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod tm_metadata;
mod validity;

pub use load::{Loaded, load, load_with};
pub use metadata::Clock;
pub use pipeline::Tofino;

pub use sojourn_control::digest::Digest;
pub use sojourn_control::{
    ActionCall, ControlError, ControlPlane, MatchValue, MeterCell, MirrorSession, Number,
    ParameterValue, ProfileEntries, ProfileMember, TableEntries, TableEntry, ValueSetMembers,
};
pub use sojourn_target::faults::Faults;
pub use sojourn_target::load::{LoadError, LoadOptions};
pub use target::{TOFINO1, TOFINO2, TOFINO2M, TofinoTarget};
