//! What an architecture adds to P4: its metadata, its externs, its idea of a pipeline.
//!
//! Above this crate a loaded program is a [`DataPlane`]: two passes over a packet with a traffic
//! manager between them. Where packets come from, and what the queues do, is not known here.

mod dataplane;
pub mod describe;
pub mod runtime_control;
pub mod tna;

pub use dataplane::{
    Admission, DataPlane, EgressInput, EgressOutput, IngressInput, IngressOutput, Mirror,
    MirrorDirection, PortId, Replication,
};
pub use describe::describe;
pub use runtime_control::RuntimeControl;
