//! Simulation of one run: hosts, links and switches, in virtual time.
//!
//! Every host, or group of hosts, has a link to a switch. Every shaped port with rows is a
//! bottleneck. Half of a flow's round-trip time is between the last link and its receiver, the
//! other half between the last link and its sender. Links therefore stay shared and in order,
//! unless the configuration places the delay at the hosts.
//!
//! Links with a delay between switches divide the network into partitions (`partitioner.rs`). One
//! core at a time drives each partition from event to event (`partition.rs`). All partitions
//! advance in lookahead windows (`lookahead.rs`). The module depends on everything else in this
//! crate. It must not depend on the decisions of TCP or of a queue, only on when events are due.

mod closed_ends;
mod demux;
mod events;
mod host_qdisc;
mod hosts;
mod in_flight;
mod inter_partition_channel;
mod layout;
mod lookahead;
mod nic;
mod node;
mod output;
mod packet_ids;
mod partition;
mod partitioner;
mod partitions;
mod pods;
mod random_links;
mod records;
mod report;
mod schedule;
mod slab;
mod switch_timers;
mod switches;
mod transfers;
mod workload;

use crate::config::{ConfigError, NativeAqm, RunConfig};
use crate::host::Exchange;
use crate::report::RunReport;
pub use hosts::start_jitter;
use layout::Layout;
use lookahead::{AdvanceLimits, WORTH};
use node::Node;
use packet_ids::RunPacketIds;
use partition::Partition;
use partitioner::Partitioning;
use partitions::{Locations, Plans};
use report::Observed;
use sojourn_packet::{Bytes, DataPlane, Packet, Time};
use sojourn_switch::{CELL, PortId, Switch, SwitchConfig};
use transfers::Sources;

pub use workload::{FlowWorkload, workload};

/// The port of the senders where there is one switch.
pub const SENDERS: PortId = PortId(1);
/// Packets for a controller that may wait; more are lost.
const FOR_CONTROLLER: usize = 65_536;
/// Sampling interval of flows.
const SAMPLE_INTERVAL: Time = Time::from_millis(10);

/// A data plane with the switch settings and the discipline that it requires.
///
/// ```
/// use sojourn_net::{SwitchPlane, RunConfig, Simulation};
/// use sojourn_packet::{PortId, Time};
/// use sojourn_switch::CrossConnect;
/// let config = RunConfig::from_json(
///     r#"{
///         "duration": 100000000,
///         "aqm": {"kind": "switchplane"},
///         "flows": [{"kind": "udp", "rtt": 0, "rate": 1000000}]
///     }"#,
/// )?;
/// let wire = SwitchPlane::plain(Box::new(CrossConnect::between(PortId(1), PortId(2))));
/// let mut run = Simulation::new(config, [wire])?;
/// run.advance(Time::MAX, usize::MAX);
/// assert!(!run.take_packets().is_empty());
/// # Ok::<(), sojourn_net::ConfigError>(())
/// ```
pub struct SwitchPlane {
    /// The data plane.
    pub plane: Box<dyn DataPlane>,
    /// Settings of the switch from its control plane and its architecture, applied once the switch
    /// has its ports: sessions, groups, queues, limits.
    pub set_up: Box<dyn FnOnce(&mut SwitchConfig) + Send>,
    /// Size of a cell of its switch's packet buffer.
    pub cell: Bytes,
    /// Discipline of the queues under it; tail drop if absent.
    pub discipline: Option<NativeAqm>,
    /// Actions on its switch during the run.
    pub later: Vec<(Time, SwitchAction)>,
}

/// A change that a switch takes at an instant, wholly or not at all; the error names the reason.
pub type SwitchAction = Box<dyn FnOnce(&mut Switch, Time) -> Result<(), String> + Send>;

impl SwitchPlane {
    /// A data plane that asks nothing of its switch.
    pub fn plain(plane: Box<dyn DataPlane>) -> SwitchPlane {
        SwitchPlane {
            plane,
            set_up: Box::new(|_| ()),
            cell: CELL,
            discipline: None,
            later: Vec::new(),
        }
    }
}

/// A run that advances in virtual time under the caller's control.
pub struct Simulation {
    duration: Time,
    finished: bool,
    /// At least one.
    partitions: Vec<Partition>,
    locations: Locations,
    /// Minimum time of a frame from one partition to another.
    ahead: Time,
    threads: usize,
    /// Of how many events a window is divided among them.
    worth: u64,
    /// Events in a window, the mean of the last.
    pace: u64,
    /// The numbers of packets in the run, if there are several partitions.
    numbering: Option<RunPacketIds>,
    /// At least one; the first is the one that a run with one switch has.
    observed: Vec<Observed>,
    link_ports: Vec<report::LinkPort>,
    sources: Sources,
    /// Exchanges cut short by the end of the run, until they are taken.
    unfinished: Vec<(u32, Exchange)>,
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
        planes: impl IntoIterator<Item = SwitchPlane>,
    ) -> Result<Simulation, ConfigError> {
        Simulation::with_cut(config, planes, Partitioning::new)
    }

    fn with_cut(
        config: RunConfig,
        planes: impl IntoIterator<Item = SwitchPlane>,
        partitioning: impl FnOnce(&Layout, &[Node]) -> Partitioning,
    ) -> Result<Simulation, ConfigError> {
        config.check()?;
        let layout = layout::layout(&config);
        let mut planes = planes.into_iter();
        let (nodes, actions) = switches::nodes(&config, &layout, &mut planes)?;
        if planes.next().is_some() {
            return Err(ConfigError::PlaneUnexpected);
        }
        let partitioning = partitioning(&layout, &nodes);
        let locations = Locations::new(&layout, &partitioning);
        let transfers = transfers::planned(&config, &layout);
        Ok(Simulation {
            duration: Time(config.duration),
            finished: false,
            ahead: partitioning.ahead,
            threads: 1,
            worth: WORTH,
            pace: 0,
            numbering: (partitioning.partitions > 1).then(RunPacketIds::default),
            observed: report::observed(&layout),
            link_ports: report::link_ports(&layout),
            sources: Sources::new(&config, &transfers),
            unfinished: Vec::new(),
            partitions: partitions::partitions(
                &config,
                &layout,
                &locations,
                nodes,
                Plans { actions, transfers },
            ),
            locations,
        })
    }

    /// Uses up to so many threads from here on, one if this is never called. What happens is the same
    /// with any number; only a network with several switches and links between them that take their
    /// time is faster with more.
    pub fn use_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    /// Runs until `until`, the end of the run, or until `max_rows` packet rows wait (at least one),
    /// whichever comes first; after the last, take the rows and call it again. Where several
    /// switches are driven apart, some more rows may wait by then. A discipline may end the run
    /// ([`Simulation::halted`]).
    pub fn advance(&mut self, until: Time, max_rows: usize) {
        if self.halted().is_some() {
            return;
        }
        let (end, max_rows) = (until.min(self.duration), max_rows.max(1));
        let reached = match &mut self.partitions[..] {
            [only] => only.run(end, max_rows),
            all => {
                let Simulation { ahead, threads, worth, .. } = *self;
                AdvanceLimits { ahead, end, max_rows, threads, worth }.run(all, &mut self.pace)
            }
        };
        self.number_packets();
        if reached && self.now() >= self.duration && !self.finished {
            self.finished = true;
            let mut unfinished: Vec<_> =
                self.partitions.iter().flat_map(Partition::unfinished).collect();
            unfinished.sort_unstable_by_key(|(host, _)| *host);
            self.unfinished = unfinished.into_iter().map(|(host, e)| (host.flow(), e)).collect();
        }
    }

    /// Numbers what was sent, where the partitions could not do it themselves.
    fn number_packets(&mut self) {
        let Some(numbering) = &mut self.numbering else { return };
        numbering.settle(&mut self.partitions);
        for node in self.partitions.iter_mut().flat_map(|partition| &mut partition.nodes) {
            node.switch.renumber(|packet| numbering.in_run(packet));
        }
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.partitions[0].now
    }

    /// True once the configured duration has passed.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// The reason of a discipline that has ended the run: it could not decide about a packet.
    pub fn halted(&self) -> Option<&str> {
        self.partitions.iter().find_map(Partition::halted)
    }

    /// The counters so far.
    pub fn report(&self) -> RunReport {
        self.make_report()
    }

    /// Does something with a switch, by its place in the network, at the instant up to which
    /// everything has happened; nothing if there is no such switch. An equal switch with another
    /// program may replace it.
    pub fn with_switch<T>(
        &mut self,
        place: u16,
        work: impl FnOnce(&mut Switch, Time) -> T,
    ) -> Option<T> {
        let location = *self.locations.switches.get(usize::from(place))?;
        let partition = &mut self.partitions[location.partition()];
        partition.record(location.place);
        let done = work(&mut partition.nodes[location.place()].switch, partition.now);
        partition.drain_switch(location.place);
        Some(done)
    }

    /// A switch of a run, by its place in the network; nothing if there is no such switch.
    pub fn into_switch(mut self, place: u16) -> Option<Switch> {
        let location = *self.locations.switches.get(usize::from(place))?;
        let partition = &mut self.partitions[location.partition()];
        Some(partition.nodes.swap_remove(location.place()).switch)
    }

    /// Packets that a switch sent to its controller since the last call, with their times.
    pub fn take_controllers_packets(&mut self, switch: u16) -> Vec<(Time, Packet)> {
        let Some(location) = self.locations.switches.get(usize::from(switch)) else {
            return Vec::new();
        };
        let node = &mut self.partitions[location.partition()].nodes[location.place()];
        let mut packets = std::mem::take(&mut node.for_controller);
        if let Some(numbering) = &self.numbering {
            packets.iter_mut().for_each(|(_, packet)| packet.id = numbering.in_run(packet.id));
        }
        packets
    }

    /// Has a frame of the controller's reach its port of a switch now. False if there is no such port.
    pub fn packet_out(&mut self, switch: u16, bytes: Vec<u8>) -> bool {
        let Some(location) = self.locations.switches.get(usize::from(switch)) else { return false };
        let partition = &mut self.partitions[location.partition()];
        let Some(port) = partition.nodes[location.place()].cpu else { return false };
        partition.packet_in(location.place, port, bytes);
        self.number_packets();
        true
    }
}

#[cfg(test)]
mod frame_detail_tests;
#[cfg(test)]
mod lookahead_tests;
#[cfg(test)]
mod network_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod traffic_tests;
