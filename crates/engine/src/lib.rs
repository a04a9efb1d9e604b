//! Engine: connects P4 programs to switches and networks.
//!
//! | part | what it is |
//! |---|---|
//! | [`builtin`] | table of the built-in targets |
//! | [`config`] | a run as data, its P4 programs included |
//! | [`load`] | programs loaded and configured for a run, and what is said of one |
//! | [`mod@simulation`] | a configured run in virtual time |
//! | [`control`] | operations of a control plane carried out on a running switch |
//! | [`mod@standalone`] | a configured switch that something else drives |
//! | [`editor`] | what an editor asks of a program that is being written |
//! | [`switch_setup`] | what a control plane sets at the switch itself |
//! | [`packet_switch`] | a switch that nothing is connected to, for packet tests |
//! | [`registers`] | values of traced registers as rows |
//! | [`replay`] | the packets of a trace put to an AQM one by one |
//!
//! It depends on the architecture and the network crates, and must not depend on Python, a clock or
//! a socket.

pub mod builtin;
pub mod config;
pub mod control;
pub mod editor;
mod error;
pub mod load;
pub mod packet_switch;
pub mod registers;
pub mod replay;
pub mod simulation;
pub mod standalone;
pub mod switch_setup;

pub use config::{Aqm, FurtherProgram, P4Aqm, RunConfig};
pub use error::RunError;
pub use load::{Programs, Watched};
pub use packet_switch::{PacketSwitch, PacketSwitchConfig};
pub use registers::{RegisterRows, WatchedRegisters};
pub use simulation::{simulation, simulation_with, switch_with_program, watched_simulation};
pub use standalone::{StandaloneConfig, StandalonePort, StandaloneRoute, drive, standalone};
