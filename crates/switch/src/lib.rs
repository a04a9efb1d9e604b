//! The switch: ports, traffic manager, mirroring, recirculation and native queue disciplines.
//!
//! Sans-IO. [`Switch`] is a state machine driven by times and packets; it reads no clock and opens
//! no socket. Must not depend on its driver, virtual time or a wall clock. The
//! [`DataPlane`](sojourn_packet::DataPlane) interprets the packets: a program, or a
//! [`CrossConnect`] or [`Routes`].
//!
//! The driver's loop: pass arrivals to [`Switch::receive`], call [`Switch::advance`] when
//! [`Switch::next_timer`] is due, and after either take everything from [`Switch::take_transmits`]
//! and [`Switch::take_observations`].
//!
//! ```
//! use sojourn_packet::{Packet, PortId, Rate, Time};
//! use sojourn_switch::{PortConfig, Switch, SwitchConfig, CrossConnect};
//! let mut config = SwitchConfig::default();
//! config.ports = [1, 2].map(|port| PortConfig::front(PortId(port), Rate(1_000_000_000))).to_vec();
//! let wire = CrossConnect::between(PortId(1), PortId(2));
//! let mut switch = Switch::new(config, Box::new(wire))?;
//! let packet = Packet { bytes: vec![0; 54], zeros: 1460, ..Packet::default() };
//! switch.receive(Time::from_micros(1), PortId(1), packet);
//! while let Some(due) = switch.next_timer() {
//!     switch.advance(due);
//! }
//! let sent = switch.take_transmits().next().expect("the packet leaves");
//! assert_eq!(sent.port, PortId(2));
//! // 1514 bytes, and 24 of preamble, FCS and gap.
//! assert!((12_200..=12_304).contains(&(sent.end - sent.start).as_nanos()));
//! # Ok::<(), sojourn_switch::ConfigError>(())
//! ```
//!
//! Rare paths are marked `#[cold]` or `#[inline(never)]`, because what every packet goes through is
//! about as large as a processor's instruction cache.

mod config;
mod crossconnect;
pub mod discipline;
pub mod ecn;
mod generator;
mod observation;
mod router;
mod spray_flowlet;
mod statistics;
mod switch;
pub mod tm;

pub use config::{
    CELL, ColorLimits, ConfigError, DeflectionQueue, DepthReportConfig, ExclusionSet, MOST_ALPHA,
    MOST_POOLS, MirrorConfig, MirrorSession, MulticastGroup, MulticastNode, NodeConfig, PortConfig,
    QueueConfig, Reserve, RoundLimit, SessionDirection, SwitchConfig, cells_for_bytes,
};
pub use crossconnect::CrossConnect;
pub use generator::{
    Application, GeneratorChange, GeneratorError, GeneratorSetting, Generators, SettingError,
    Trigger,
};
pub use observation::{
    CapturePoint, CapturedFrame, Observation, PacketObservation, Transmit, Verdict,
};
pub use router::Routes;
pub use sojourn_packet::PortId;
pub use spray_flowlet::{Spreading, SpreadingRoutes};
pub use statistics::{
    BufferStatistics, Count, DepthReportStatistics, FlowControlStatistics, IngressStatistics,
    MirrorStatistics, PortStatistics, QueueStatistics, RecirculationStatistics, SetBy, Statistics,
    Unroutable, UnsynchronisedTime,
};
pub use switch::{
    Change, Disciplines, NodeChange, QueueChange, QueueSettings, Replaced, ShareChange, Switch,
};
pub use tm::buffer_cells::{Pool, ShareRule, Usage};
pub use tm::nodes::NodeSettings;
pub use tm::pause_counter::{PauseRule, PauseStatistics, PauseThreshold};
pub use tm::scheduler::MAX_QUEUES;
pub use tm::shaper::{EffectiveShaper, Provisioning, ShapedRate, ShaperConfig};
