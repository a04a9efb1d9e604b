//! P4Runtime server: lets controllers drive a switch that they know only by its P4Info.
//!
//! ```text
//! wire ── service ── hub (arbitration, access) ── write, read ── control operations ── switch
//!             └ pipeline (schema)        └ store, digests, packets: state outside the program
//! ```
//!
//! Reads and writes execute with the switch, between two packets ([`crate::device`]).
#![allow(deprecated)] // Controllers use fields that P4Runtime advises against.

pub mod arbitration;
pub mod bytes;
pub mod digests;
pub mod entry;
pub mod p4data;
pub mod packets;
pub mod pipeline;
pub mod read;
pub mod role_access;
pub mod schema;
pub mod service;
pub mod store;
pub mod streams;
pub mod write;
