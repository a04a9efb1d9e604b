//! BfRt, Tofino's runtime interface: the schema of a program for its clients, and a server.
//!
//! ```text
//! wire ── service ── clients ── write, read ── control operations ── switch
//!             └ schema (bfrt_json, device_tables)  └ store: state outside the program
//! ```
//!
//! Reads and writes execute with the switch, between two packets ([`crate::device`]). Everything is
//! a table in BfRt, including registers and mirror sessions. One JSON document describes all
//! tables, and clients receive it unchanged. Source: the public definition of the service and its
//! public client, `bfrt_grpc`.
#![allow(deprecated)] // Clients use fields that the definition advises against.

mod bfrt_json;
mod clients;
mod crc;
pub mod device_tables;
mod fields;
mod idle;
mod pipe_scope;
mod pipeline;
mod read;
pub mod schema;
pub mod service;
mod store;
mod write;

pub use bfrt_json::{bfrt, text};
