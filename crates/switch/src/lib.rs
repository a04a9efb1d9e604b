//! The switch: ports, traffic manager, mirroring, recirculation and native queue disciplines.
//!
//! Sans-IO. [`Switch`] is a state machine fed with instants and packets; it reads no clock, opens
//! no socket and must not know who drives it, virtual time or a wall clock. What the packets mean
//! is the business of the [`DataPlane`](sojourn_packet::DataPlane) it is given: a program, or a
//! [`Wire`] or [`Routes`].
//!
//! The driver's loop: hand in what arrives with [`Switch::receive`], call [`Switch::advance`] when
//! [`Switch::next_timer`] is due, and after either take everything from
//! [`Switch::poll_transmit`] and [`Switch::poll_observation`].
//!
//! Rare paths are marked `#[cold]` or `#[inline(never)]`, because what every packet goes through is
//! about as large as a processor's instruction cache.

mod config;
pub mod discipline;
mod ecn;
mod observation;
mod routes;
mod statistics;
mod switch;
pub mod tm;
mod wire;

pub use config::{
    ColorLimits, ConfigError, ExclusionSet, MirrorConfig, MirrorSession, MulticastGroup,
    MulticastNode, PortConfig, QueueConfig, SessionDirection, SwitchConfig, cells_for_bytes,
};
pub use observation::{CapturedFrame, Observation, PacketObservation, Transmit, Verdict};
pub use routes::Routes;
pub use sojourn_packet::PortId;
pub use statistics::{
    BufferStatistics, Count, IngressStatistics, MirrorStatistics, PortStatistics, QueueStatistics,
    RecirculationStatistics, Statistics, UnsynchronisedTime,
};
pub use switch::{Change, Disciplines, QueueChange, Replaced, Switch};
pub use tm::scheduler::MAX_QUEUES;
pub use tm::shaper::{EffectiveShaper, Provisioning, ShapedRate, ShaperConfig};
pub use wire::Wire;
