//! The wall clock: a switch between real interfaces.
//!
//! Sockets, a clock and one thread, nothing else. The thread owns the [`Switch`](sojourn_switch::Switch)
//! and is its driver, as the simulator is in virtual time: frames that arrive are handed in, timers
//! are kept, what the switch transmits goes out. It must not know P4, TCP or scenarios, nor who
//! takes the rows.

mod af_packet;
mod clock;
mod cpu;
mod delay;
mod error;
mod flows;
mod identity;
mod interface;
mod lateness;
mod report;
mod runner;
mod sys;
mod tap;
mod wake;

pub use af_packet::PacketSocket;
pub use clock::Clock;
pub use cpu::{CpuPort, CpuSender, Take, cpu_port};
pub use delay::{DelayClass, DelayLine, Prefix, Way};
pub use error::LiveError;
pub use flows::{FlowKey, Flows};
pub use identity::identity;
pub use interface::{Arrival, Interface, is_up, open};
pub use lateness::{Lateness, Percentiles};
pub use report::{LiveReport, PortReport};
pub use runner::{
    Arrived, Direction, End, Link, Live, LiveHandle, LivePort, Options, WayChange, Work,
};
