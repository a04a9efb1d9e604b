//! The traffic manager, one idea per file.
//!
//! `buffer_cells`: space in the buffer, with `active_sharing`; `pause_counter`: who fills it;
//! `shaper`: token buckets; `queue_pacing`: exact rates; `scheduler`: selection of the next queue;
//! `nodes`: scheduling between queues and port; `serializer`: time of a packet on the wire; `mirror`:
//! copies on their way to a queue; `replication`: multicast; `queue` and `port` combine them. Must
//! not depend on the data plane or on pipelines: those are the switch's. Serializer and shaper are
//! useful elsewhere and therefore public; the other modules are private to this crate.

pub(crate) mod active_sharing;
pub(crate) mod buffer_cells;
pub mod link_trace;
pub(crate) mod mirror;
pub mod nodes;
pub(crate) mod pause_counter;
pub(crate) mod port;
pub(crate) mod queue;
pub(crate) mod queue_pacing;
pub(crate) mod queued_packet;
pub(crate) mod replication;
pub(crate) mod scheduler;
pub mod serializer;
pub mod shaper;
