//! The traffic manager, one idea per file.
//!
//! [`cells`]: room in the buffer; [`shaper`]: token buckets; [`scheduler`]: which queue is next;
//! [`line`]: how long a packet holds the wire; [`mirror`]: copies on their way to a queue;
//! [`replication`]: multicast; [`queue`] and [`port`] put the first four together. Nothing here
//! may know of the data plane or of pipelines: those are the switch's.

pub mod cells;
pub mod line;
pub mod mirror;
pub mod port;
pub mod queue;
pub mod queued;
pub mod replication;
pub mod scheduler;
pub mod shaper;
