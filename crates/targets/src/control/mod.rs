//! The control plane of a loaded program, the same for every architecture.
//!
//! Before a run it is data ([`ControlPlane`]); while packets pass it is a [`RuntimeControl`]. Both
//! stand on the language floor's tables, which check names and widths. Mirror sessions, multicast
//! groups and queues are the switch's and not known here.

mod data;
mod describe;
mod error;
mod install;
mod number;
mod runtime;

pub use data::{
    ActionCall, ControlPlane, MatchValue, MeterCell, MirrorSession, ParameterValue, ProfileEntries,
    ProfileMember, TableEntries, TableEntry, ValueSetMembers,
};
pub use describe::{
    ActionDescription, KeyDescription, ObjectDescription, ParameterDescription, ProgramDescription,
    TableDescription, describe,
};
pub use error::ControlError;
pub use install::{GROUP, entry_spec, fits, install_tables, install_value_sets, named, unknown};
pub use number::Number;
pub use runtime::{Count, RuntimeControl, cell, find_object};
