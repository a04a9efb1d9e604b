//! Virtual time: links, hosts, TCP and applications around switches.
//!
//! A [`Simulation`] takes a [`RunConfig`] and a data plane for each switch that
//! has one, and yields rows of measurement as it advances. It depends on the switch crate and those
//! below; it reads no clock and no file and starts no thread. Must not depend on wall-clock time,
//! on a data plane's implementation, Python or Parquet. The same configuration and seed give the
//! same rows, to the byte, everywhere.
//!
//! Rare paths are marked `#[cold]` or `#[inline(never)]`, because what every packet goes through is
//! about as large as a processor's instruction cache.

mod app;
pub mod config;
mod event;
mod host;
mod link;
mod link_netem;
pub mod records;
pub mod report;
mod simulation;
pub mod tcp;
mod winner_tree;
pub mod wire;

pub use config::{ConfigError, RunConfig};
pub use records::{
    CapturePoint, CapturedFrame, DatagramRows, ExchangeRows, FlowRows, PacketRows, Verdict,
};
pub use report::RunReport;
pub use simulation::{
    FlowWorkload, SENDERS, Simulation, SwitchAction, SwitchPlane, start_jitter, workload,
};
