//! The traffic manager, one idea per file.
//!
//! `cells`: room in the buffer; `shaper`: token buckets; `pace`: exact rates; `scheduler`: which queue is next; `line`:
//! how long a packet holds the wire; `mirror`: copies on their way to a queue; `replication`:
//! multicast; `queue` and `port` put the first four together. Nothing here may know of the data
//! plane or of pipelines: those are the switch's. Line and shaper are of use outside too and public
//! for that; the rest is this crate's own.

pub(crate) mod cells;
pub(crate) mod mirror;
pub mod opportunities;
pub(crate) mod pace;
pub(crate) mod port;
pub(crate) mod queue;
pub(crate) mod queued;
pub(crate) mod replication;
pub(crate) mod scheduler;
pub mod serializer;
pub mod shaper;
