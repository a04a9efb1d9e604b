//! BfRt, the runtime interface of Tofino: what a program is to its clients, and a server of it.
//!
//! ```text
//! wire ── service ── clients ── write, read ── control operations ── switch
//!             └ schema (document, fixed)  └ store: what the program does not keep
//! ```
//!
//! What is written and read is done where the switch is, between two packets ([`crate::device`]).
//! Everything is a table there, a register and a mirror session, too; all of them are read from one
//! document of JSON, which clients get as it is. Source: the public definition of the service and
//! its public client, `bfrt_grpc`.
#![allow(deprecated)] // Clients use fields that the definition advises against.

mod bfrt_json;
mod clients;
mod crc;
pub mod device_tables;
mod fields;
mod idle;
mod pipeline;
mod read;
pub mod schema;
mod scope;
pub mod service;
mod store;
mod write;

pub use bfrt_json::{bfrt, text};
