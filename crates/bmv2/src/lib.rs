//! v1model, the architecture of bmv2's `simple_switch`.
//!
//! Uses the language crate and the types of [`DataPlane`](sojourn_packet::DataPlane). Implements
//! the processing of one packet in one pass of `simple_switch`, by its documentation
//! (`docs/simple_switch.md` of p4lang/behavioral-model) and, where that is silent, its source;
//! queues, ports and clocks are not part of it.
//!
//! | part | what it is |
//! |---|---|
//! | `build` | from the IR to a [`V1Model`], or to diagnostics |
//! | `blocks` | the six blocks of a `V1Switch`, their frames, and what moves between them |
//! | `fused_pass` | blocks of a pass as one piece of code |
//! | `passthrough_headers` | headers that stay in front of the payload |
//! | `pipeline` | the two passes, and what happens to a packet behind each |
//! | `standard` | `standard_metadata`: its fields and their units |
//! | `field_list` | the metadata that a clone, a resubmission or a recirculation keeps |
//! | `runtime` | extern objects and functions while packets pass |
//! | [`rules`] | what a program cannot ask for |

mod blocks;
mod calls;
mod control_plane;
mod field_list;
mod fused_pass;
mod load;
mod next_element;
mod passthrough_headers;
mod pipeline;
mod restrictions;
pub mod rules;
mod runtime;
mod standard_metadata;
mod table_limits;
mod target;
#[cfg(test)]
mod tests;

pub use pipeline::V1Model;

pub use standard_metadata::InstanceType;
pub use target::Bmv2;
