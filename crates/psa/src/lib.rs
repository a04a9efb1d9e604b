//! The Portable Switch Architecture (PSA), as bmv2's `psa_switch` runs it.
//!
//! Uses the language crate and the types of [`DataPlane`](sojourn_packet::DataPlane). Implements the
//! processing of one packet in one pass by the PSA specification 1.2 and, where that leaves a choice,
//! by `targets/psa_switch` of p4lang/behavioral-model; queues, ports and clocks are not part of it.
//!
//! | part | contents |
//! |---|---|
//! | `target` | names and properties of the switch |
//! | `load` | from the IR to a [`Psa`], or to diagnostics |
//! | `blocks` | the six blocks, their frames, and the data passed between them |
//! | `metadata` | the fields that the switch writes and reads |
//! | `pipeline` | the two passes, and the actions after each |
//! | `runtime` | extern objects and functions while packets pass |
//! | [`rules`] | what a program cannot request |

mod blocks;
mod control_plane;
mod load;
mod metadata;
mod pipeline;
pub mod rules;
mod runtime;
mod target;
#[cfg(test)]
mod tests;

pub use pipeline::Psa;
pub use target::PsaSwitch;
