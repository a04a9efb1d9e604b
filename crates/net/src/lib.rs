//! Virtual time: links, hosts, TCP and applications around one switch.
//!
//! A [`Simulation`] takes a [`RunConfig`](config::RunConfig) and, for a P4 run, a loaded program,
//! and yields rows of measurement as it advances. It stands on the switch floor and below; it reads
//! no clock and no file, starts no thread, and must not know wall-clock time, Python or Parquet.
//! The same configuration and seed give the same rows, to the byte, everywhere.
//!
//! Rare paths are marked `#[cold]` or `#[inline(never)]`, because what every packet goes through is
//! about as large as a processor's instruction cache.

mod app;
pub mod bench;
pub mod config;
pub mod controlled;
mod event;
mod host;
mod link;
pub mod records;
pub mod replay;
pub mod report;
mod simulation;
pub mod tcp;
pub mod wire;

pub use bench::{Bench, BenchConfig};
pub use config::{ConfigError, RunConfig};
pub use records::{
    CapturePoint, CapturedFrame, DatagramRows, ExchangeRows, FlowRows, PacketRows, Verdict,
};
pub use report::RunReport;
pub use simulation::{DrawnFlow, Simulation, drawn_traffic, start_jitter};
