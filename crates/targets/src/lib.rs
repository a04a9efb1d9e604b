//! What an architecture adds to P4: its metadata, its externs, its idea of a pipeline.
//!
//! Above this crate a loaded program is a [`DataPlane`]: two passes over a packet with a traffic
//! manager between them. Where packets come from, and what the queues do, is not known here.

pub mod control;
mod dataplane;
pub mod tna;

pub use dataplane::{
    Admission, DataPlane, EgressInput, EgressOutput, IngressInput, IngressOutput, Mirror,
    MirrorDirection, PortId, Replication,
};
