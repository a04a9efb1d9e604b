//! P4Runtime: a switch under the control of programs that know nothing of it but its P4Info.
//!
//! ```text
//! wire ── service ── hub (arbitration, access) ── write, read ── control operations ── switch
//!             └ pipeline (schema)        └ store, digests, packets: what the program does not keep
//! ```
//!
//! What is written and read is done where the switch is, between two packets ([`crate::device`]).
#![allow(deprecated)] // Controllers use fields that P4Runtime advises against.

pub mod access;
pub mod arbitration;
pub mod bytes;
pub mod data;
pub mod digests;
pub mod entry;
pub mod hub;
pub mod packets;
pub mod pipeline;
pub mod read;
pub mod schema;
pub mod service;
pub mod store;
pub mod write;
