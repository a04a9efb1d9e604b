//! A many-core network processor: threads that run one program and share memory, before the queue.
//!
//! | file | what lives there |
//! |---|---|
//! | `target.rs` | what programs for it are called, what its switch is like |
//! | `load.rs`, `rules.rs` | from IR to a data plane, and what is refused on the way |
//! | `processor.rs` | the figures of the package: threads, times |
//! | `plane.rs` | the data plane: parser, ingress, deparser of one packet |
//! | `threads.rs` | the same packets as passes that overlap: threads, events, order |
//! | `engine.rs`, `memory.rs`, `mutex.rs` | what threads wait for, one access at an instant |
//! | `calls.rs` | from a call in the program to a request |
//! | `control.rs` | the control plane |
//!
//! Must not depend on queues: their depths are inputs
//! ([`QueueDepths`](sojourn_packet::QueueDepths)).

mod calls;
mod control_plane;
mod engine;
mod load;
mod memory;
mod mutex;
mod plane;
mod processor;
pub mod rules;
mod target;
mod threads;

#[cfg(test)]
mod tests;

pub use plane::Npu;
pub use target::NetworkProcessor;
