//! `p4/tna/codel_exact.p4` held against RFC 8289, and what happens when its copies are lost.
//!
//! Uses the public interface of the crate: a loaded program, its passes, its registers by name.

mod decisions;
mod ecn;
mod flood;
mod lost_copies;
mod rfc8289;
mod rig;
mod stages;
mod state;
