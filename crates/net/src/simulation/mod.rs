//! One run: hosts, links and switches, driven from event to event.
//!
//! Every host, or group of hosts, has a link to a switch, and every shaped port whose rows are wanted
//! is a bottleneck. A flow's round-trip time is spent half on the way from the last link to its
//! receiver and half on the way from the last link to its sender, so the links stay shared and in
//! order, unless the configuration has it at the hosts. Stands on everything else in this crate; must not
//! know what TCP or a queue decides, only when something is due.

mod changes;
mod departures;
mod directory;
mod hosts;
mod layout;
mod outlet;
mod parts;
mod records;
mod region;
mod report;
mod slab;
mod switches;
mod taken;
mod transfers;
mod workload;

use crate::config::{ConfigError, NativeAqm, RunConfig};
use crate::event::EventQueue;
use crate::records::{DatagramRows, ExchangeRows, FlowRows};
use crate::report::RunReport;
use directory::Directory;
pub use hosts::start_jitter;
use parts::Counters;
use region::Region;
use slab::PacketSlab;
use sojourn_packet::{DataPlane, Packet, Time};
use sojourn_switch::{PortId, Switch, SwitchConfig};
use transfers::Transfers;

pub use workload::{FlowWorkload, workload};

/// The port of the senders where there is one switch.
pub const SENDERS: PortId = PortId(1);
/// The recirculation port.
const RECIRCULATION: PortId = PortId(68);
/// Packets for a controller that may wait; more are lost.
const FOR_CONTROLLER: usize = 65_536;
/// How often flows are sampled.
const SAMPLE_INTERVAL: Time = Time::from_millis(10);

/// A data plane for a switch, and what it asks of the switch around it.
///
/// ```
/// use sojourn_net::{HandedOver, RunConfig, Simulation};
/// use sojourn_packet::{PortId, Time};
/// use sojourn_switch::Wire;
/// let config = RunConfig::from_json(
///     r#"{
///         "duration": 100000000,
///         "aqm": {"kind": "handedover"},
///         "flows": [{"kind": "udp", "rtt": 0, "rate": 1000000}]
///     }"#,
/// )?;
/// let wire = HandedOver::plain(Box::new(Wire::between(PortId(1), PortId(2))));
/// let mut run = Simulation::new(config, [wire])?;
/// run.advance(Time::MAX, usize::MAX);
/// assert!(!run.take_packets().is_empty());
/// # Ok::<(), sojourn_net::ConfigError>(())
/// ```
pub struct HandedOver {
    /// What decides.
    pub plane: Box<dyn DataPlane>,
    /// What its control plane and its architecture set at the switch itself, once the switch has
    /// its ports: sessions, groups, queues, limits.
    pub set_up: Box<dyn FnOnce(&mut SwitchConfig) + Send>,
    /// What manages the queues under it; tail drop if absent.
    pub discipline: Option<NativeAqm>,
    /// What is done to its switch while the run goes on.
    pub later: Vec<(Time, Act)>,
}

/// Something that is done to a switch at an instant: wholly, or it says why nothing was.
pub type Act = Box<dyn FnOnce(&mut Switch, Time) -> Result<(), String> + Send>;

impl HandedOver {
    /// A data plane that asks nothing of its switch.
    pub fn plain(plane: Box<dyn DataPlane>) -> HandedOver {
        HandedOver { plane, set_up: Box::new(|_| ()), discipline: None, later: Vec::new() }
    }
}

/// A run that advances in virtual time as far as it is told.
pub struct Simulation {
    duration: Time,
    finished: bool,
    region: Region,
}

impl Simulation {
    /// Builds the run; `planes` are the data planes, ready to run, one for each switch that waits
    /// for one, in the order of [`RunConfig::aqms`].
    ///
    /// ```
    /// use sojourn_net::{RunConfig, Simulation, Verdict};
    /// use sojourn_packet::Time;
    /// let config = RunConfig::from_json(
    ///     r#"{
    ///         "duration": 1000000000,
    ///         "aqm": {"kind": "native", "name": "codel"},
    ///         "flows": [{"kind": "tcp", "rtt": 20000000}]
    ///     }"#,
    /// )?;
    /// let mut run = Simulation::new(config, None)?;
    /// run.advance(Time::MAX, usize::MAX);
    /// let rows = run.take_packets();
    /// assert!(rows.verdict.contains(&(Verdict::Sent as u8)));
    /// assert!(run.report().flows[0].delivered > 0);
    /// # Ok::<(), sojourn_net::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// [`ConfigError`] if a value is not allowed, or if there are more or fewer data planes than
    /// switches that wait for one.
    pub fn new(
        config: RunConfig,
        planes: impl IntoIterator<Item = HandedOver>,
    ) -> Result<Simulation, ConfigError> {
        config.check()?;
        let layout = layout::layout(&config);
        let mut planes = planes.into_iter();
        let (nodes, acts) = switches::nodes(&config, &layout, &mut planes)?;
        if planes.next().is_some() {
            return Err(ConfigError::PlaneUnexpected);
        }
        let checksums = switches::checksums(&config, &layout);
        let (host_states, attached) = hosts::host_states(&config, &layout).into_iter().unzip();
        let mut region = Region {
            now: Time::ZERO,
            access_links: switches::access_links(&layout, &config.netem, &nodes),
            nodes,
            host_states,
            directory: Directory::new(&layout, attached),
            bottlenecks: switches::bottlenecks(&layout),
            changes: layout.changes.iter().rev().copied().collect(),
            acts,
            refused: None,
            soonest: (Time::MAX, 0),
            events: EventQueue::new(),
            slab: PacketSlab::new(checksums),
            checksums,
            next_packet: 0,
            counters: Counters::default(),
            rows: 0,
            flows: FlowRows::default(),
            exchanges: ExchangeRows::default(),
            datagrams: DatagramRows::default(),
            transfers: Transfers::new(&config, &layout),
        };
        region.begin();
        Ok(Simulation { duration: Time(config.duration), finished: false, region })
    }

    /// Runs until `until`, the end of the run, or until `max_rows` packet rows wait (at least one),
    /// whichever comes first; after the last, take the rows and call it again.
    pub fn advance(&mut self, until: Time, max_rows: usize) {
        let reached = self.region.run(until.min(self.duration), max_rows.max(1));
        if reached && self.now() >= self.duration && !self.finished {
            self.finished = true;
            self.region.record_unfinished();
        }
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.region.now
    }

    /// True once the configured duration has passed.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// The counters so far.
    pub fn report(&self) -> RunReport {
        self.make_report()
    }

    /// Does something with a switch, by its place in the network, at the instant up to which
    /// everything has happened; nothing if there is no such switch.
    pub fn with_switch<T>(
        &mut self,
        place: u16,
        work: impl FnOnce(&mut Switch, Time) -> T,
    ) -> Option<T> {
        let region = &mut self.region;
        let done = work(&mut region.nodes.get_mut(usize::from(place))?.switch, region.now);
        region.drain_switch(place);
        Some(done)
    }

    /// What a switch has sent to its controller since the last call, and when.
    pub fn take_controllers_packets(&mut self, switch: u16) -> Vec<(Time, Packet)> {
        let node = self.region.nodes.get_mut(usize::from(switch));
        node.map(|node| std::mem::take(&mut node.for_controller)).unwrap_or_default()
    }

    /// Has a frame of the controller's reach its port of a switch now. False if there is no such port.
    pub fn packet_out(&mut self, switch: u16, bytes: Vec<u8>) -> bool {
        let port = self.region.nodes.get(usize::from(switch)).and_then(|node| node.cpu);
        let Some(port) = port else { return false };
        self.region.packet_in(switch, port, bytes);
        true
    }
}

#[cfg(test)]
mod network_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod traffic_tests;
