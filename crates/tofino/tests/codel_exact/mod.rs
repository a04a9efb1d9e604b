//! `p4/tna/codel_exact.p4` compared with RFC 8289, also after lost copies.
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
