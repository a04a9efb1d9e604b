//! Reconfiguration of a running switch: mirror sessions, multicast groups, port shapers, queues, pools.
//!
//! Changes pass the same checks as a configuration. A rejected change has no effect. A [`Change`] is
//! data: the replaced object is saved with its state, so an undo restores it completely. Decisions
//! already made for packets in transit remain in force. The module must not depend on the caller.

use super::Switch;
use super::ingress::pipe_of;
use super::nodes::NodeChange;
use super::shares::ShareChange;
use crate::config::{ConfigError, DeflectionQueue, MirrorSession, MulticastGroup};
use crate::generator::{GeneratorChange, Generators};
use crate::router::Routes;
use crate::spray_flowlet::SpreadingRoutes;
use crate::tm::buffer_cells::ShareRule;
use crate::tm::nodes::Nodes;
use crate::tm::queue::Queue;
use crate::tm::queue_pacing::Pace;
use crate::tm::shaper::{ShaperConfig, TokenBucket};
use sojourn_packet::{PortId, Rate, ReportMode, Time};
use std::any::Any;
use std::collections::BTreeMap;

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Sets a mirror session, in place of one with its number.
    Session(MirrorSession),
    /// Takes a mirror session away.
    NoSession(u16),
    /// Sets a multicast group, in place of one with its number.
    Group(MulticastGroup),
    /// Takes a multicast group away.
    NoGroup(u16),
    /// Sets the port that copies for the processor go to.
    CpuPort(Option<PortId>),
    /// Sets the deflection queue of its port's pipe, in place of another.
    Deflection(DeflectionQueue),
    /// Sets rates and depth of queues, pauses and resumes them.
    Queues(QueueChange),
    /// Chooses the changes of depths that the queues of a pipe report; of every pipe if absent.
    Reports(Option<u16>, ReportMode),
    /// Sets a scheduler node, and puts it in use.
    Node(NodeChange),
    /// Frees a scheduler node of a port.
    NoNode(PortId, u8),
    /// Sets the cells of a pool; without any, the first pool has the rest of the buffer and another
    /// one none.
    Pool(u8, Option<u32>),
    /// Shapes a port, or no longer.
    Shaper(PortId, Option<ShaperConfig>),
    /// Changes a packet generator.
    Generator(GeneratorChange),
}

/// Rates, depth, weight and state of queues; what is absent stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueChange {
    /// At this port; at every port if absent.
    pub port: Option<PortId>,
    /// This queue; every queue of the port if absent.
    pub queue: Option<u8>,
    /// Packets a second, exactly spaced; none takes the limit away.
    pub packet_pace: Option<Option<u64>>,
    /// Bit/s on the wire, exactly spaced; none takes the limit away.
    pub bit_pace: Option<Option<Rate>>,
    /// Packets that it holds at most.
    pub packet_limit: Option<u32>,
    /// True takes the queue out of scheduling: it takes packets and gives none. Requests of advanced
    /// flow control have a state of their own; a queue sends if neither has paused it.
    pub paused: Option<bool>,
    /// Weight among queues of equal priority.
    pub weight: Option<u16>,
    /// Strict priority for bandwidth beyond the guaranteed rate, 0 to 7.
    pub level: Option<u8>,
    /// Its scheduler node, one that its port has in use.
    pub node: Option<u8>,
    /// Whether it reports its depth.
    pub reports: Option<bool>,
    /// Its part of the packet buffer.
    pub share: ShareChange,
}

/// The state that a change has replaced.
#[derive(Debug)]
pub struct Replaced(Previous);

#[derive(Debug)]
enum Previous {
    Session(u16, Option<MirrorSession>),
    Group(u16, Option<MulticastGroup>),
    CpuPort(Option<PortId>),
    Deflection(u16, Option<DeflectionQueue>),
    Queues(Vec<PreviousQueue>, Vec<PreviousNodes>),
    Nodes(usize, Option<Box<Nodes>>),
    Reports(BTreeMap<u16, ReportMode>),
    Pool(u8, Option<u32>),
    Shaper(usize, Option<TokenBucket>),
    Generators(Box<Generators>),
}

/// The nodes of a port, by its place.
type PreviousNodes = (usize, Option<Box<Nodes>>);

#[derive(Debug)]
struct PreviousQueue {
    port: usize,
    queue: usize,
    pace: Pace,
    packet_limit: Option<u32>,
    disabled: bool,
    reports: bool,
    weight: u16,
    level: u8,
    rule: ShareRule,
}

impl Switch {
    /// Gives a switch that is a router other routes; any other data plane stays as it is. Packets that
    /// are in queues keep their ports.
    pub fn set_routes(&mut self, routes: &Routes) {
        let plane: &mut dyn Any = &mut *self.plane;
        if let Some(own) = plane.downcast_mut::<Routes>() {
            own.clone_from(routes);
        } else if let Some(own) = plane.downcast_mut::<SpreadingRoutes>() {
            own.set_routes(routes);
        }
    }
}

impl Switch {
    /// Makes a change at `now`.
    ///
    /// ```
    /// use sojourn_packet::{Rate, Time};
    /// use sojourn_switch::{Change, PortConfig, PortId, QueueChange, Switch, SwitchConfig, CrossConnect};
    /// let mut config = SwitchConfig::default();
    /// config.ports = [1, 2].map(|port| PortConfig::front(PortId(port), Rate(1_000_000_000))).to_vec();
    /// let mut switch = Switch::new(config, Box::new(CrossConnect::between(PortId(1), PortId(2))))?;
    /// let short = QueueChange { packet_limit: Some(10), ..QueueChange::default() };
    /// let replaced = switch.change(Time::from_secs(1), &Change::Queues(short))?;
    /// switch.revert(replaced); // As if nothing had been.
    /// # Ok::<(), sojourn_switch::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// Its object does not exist, or a value is out of range; nothing has changed.
    pub fn change(&mut self, now: Time, change: &Change) -> Result<Replaced, ConfigError> {
        self.advance(now);
        let previous = match change {
            Change::Session(session) => {
                let previous = Previous::Session(session.id, self.mirror.session(session.id));
                self.set_mirror_session(*session)?;
                previous
            }
            Change::NoSession(id) => {
                let previous = self.mirror.session(*id);
                if !self.remove_mirror_session(*id) {
                    return Err(ConfigError::NoSession(*id));
                }
                Previous::Session(*id, previous)
            }
            Change::Group(group) => {
                let previous = Previous::Group(group.id, self.replication.group(group.id).cloned());
                self.set_multicast_group(group.clone())?;
                previous
            }
            Change::NoGroup(id) => {
                let previous = self.replication.remove_group(*id);
                Previous::Group(*id, Some(previous.ok_or(ConfigError::NoGroup(*id))?))
            }
            Change::CpuPort(port) => {
                if let Some(port) = port {
                    self.require("copies for the processor", *port, 0)?;
                }
                Previous::CpuPort(std::mem::replace(&mut self.replication.cpu_port, *port))
            }
            Change::Deflection(queue) => {
                self.require("deflection", queue.port, queue.queue)?;
                let pipe = pipe_of(queue.port);
                Previous::Deflection(pipe, self.set_deflection(pipe, Some(*queue)))
            }
            Change::Queues(change) => {
                let nodes = self.change_node_of_queues(change)?;
                match self.change_queues(change) {
                    Ok(queues) => Previous::Queues(queues, nodes),
                    Err(why) => {
                        self.restore_nodes(nodes);
                        return Err(why);
                    }
                }
            }
            Change::Reports(pipe, mode) => Previous::Reports(self.set_report_mode(*pipe, *mode)),
            Change::Node(change) => {
                let (port, before) = self.change_node(change)?;
                Previous::Nodes(port, before)
            }
            Change::NoNode(port, node) => {
                let (port, before) = self.free_node(*port, *node)?;
                Previous::Nodes(port, before)
            }
            Change::Pool(pool, cells) => Previous::Pool(*pool, self.set_pool(*pool, *cells)?),
            Change::Shaper(port, shaper) => {
                let index = self.find_port(*port).ok_or(ConfigError::NoSuchQueue {
                    what: "a shaper",
                    port: *port,
                    queue: 0,
                })?;
                let previous = self.ports[index].shaper;
                self.set_port_shaper(now, *port, shaper.as_ref())?;
                Previous::Shaper(index, previous)
            }
            Change::Generator(change) => {
                Previous::Generators(Box::new(self.change_generator(change)?))
            }
        };
        Ok(Replaced(previous))
    }

    /// Reverts the last change.
    pub fn revert(&mut self, replaced: Replaced) {
        match replaced.0 {
            Previous::Session(_, Some(session)) => self.mirror.set_session(session),
            Previous::Session(id, None) => {
                self.mirror.remove_session(id);
            }
            Previous::Group(_, Some(group)) => self.replication.set_group(group),
            Previous::Group(id, None) => {
                self.replication.remove_group(id);
            }
            Previous::CpuPort(port) => self.replication.cpu_port = port,
            Previous::Deflection(pipe, queue) => {
                self.set_deflection(pipe, queue);
            }
            Previous::Reports(modes) => self.report_modes = modes,
            Previous::Nodes(port, nodes) => self.restore_nodes(vec![(port, nodes)]),
            Previous::Queues(queues, nodes) => {
                self.restore_nodes(nodes);
                for previous in queues {
                    let PreviousQueue { port, queue, pace, packet_limit, .. } = previous;
                    let PreviousQueue { weight, level, disabled, reports, rule, .. } = previous;
                    self.ports[port].queues[queue].reports = reports;
                    self.ports[port].repace(queue, pace);
                    self.ports[port].reweigh(queue, weight);
                    self.ports[port].set_level(queue, level);
                    self.ports[port].disable(queue, disabled);
                    self.ports[port].queues[queue].packet_limit = packet_limit;
                    self.set_rule(port, queue, rule);
                    self.serve(port);
                }
                self.restore_pools();
            }
            Previous::Pool(pool, cells) => {
                self.pools[usize::from(pool)] = cells;
                self.restore_pools();
            }
            Previous::Shaper(index, shaper) => {
                self.ports[index].set_shaper(shaper);
                self.serve(index);
            }
            Previous::Generators(before) => self.restore_generators(*before),
        }
    }

    /// Sets or removes the deflection queue of a pipe; the one before.
    fn set_deflection(
        &mut self,
        pipe: u16,
        queue: Option<DeflectionQueue>,
    ) -> Option<DeflectionQueue> {
        let at = self.deflection.iter().position(|known| pipe_of(known.port) == pipe);
        let before = at.map(|at| self.deflection.swap_remove(at));
        self.deflection.extend(queue);
        before
    }

    fn change_queues(&mut self, change: &QueueChange) -> Result<Vec<PreviousQueue>, ConfigError> {
        self.check_queue_change(change)?;
        let mut replaced = Vec::new();
        for index in 0..self.ports.len() {
            if change.port.is_some_and(|only| only != self.ports[index].id) {
                continue;
            }
            for number in 0..self.ports[index].queues.len() {
                if change.queue.is_none_or(|only| usize::from(only) == number) {
                    replaced.push(self.change_queue(index, number, change));
                }
            }
            self.serve(index);
        }
        self.restore_pools();
        Ok(replaced)
    }

    fn check_queue_change(&self, change: &QueueChange) -> Result<(), ConfigError> {
        let (port, queue) = (change.port.unwrap_or(PortId(0)), change.queue.unwrap_or(0));
        if change.port.is_some() {
            self.require("a queue's rate, depth or weight", port, queue)?;
        }
        if let Some(weight) = change.weight {
            Queue::check_weight(port, queue.into(), weight)?;
        }
        if let Some(level) = change.level {
            Queue::check_level(port, queue.into(), "level", level)?;
        }
        self.check_shares(change)
    }

    /// Applies a change to one queue; returns its settings before.
    fn change_queue(&mut self, index: usize, number: usize, change: &QueueChange) -> PreviousQueue {
        let port = &mut self.ports[index];
        let (weight, level) = (port.weight(number), port.level(number));
        let queue = &mut port.queues[number];
        let previous = PreviousQueue {
            port: index,
            queue: number,
            pace: queue.pace.clone(),
            packet_limit: queue.packet_limit,
            weight,
            level,
            disabled: queue.disabled,
            reports: queue.reports,
            rule: queue.share.rule(),
        };
        queue.reports = change.reports.unwrap_or(previous.reports);
        queue.packet_limit = change.packet_limit.or(previous.packet_limit);
        port.repace(number, previous.pace.with(change.packet_pace, change.bit_pace));
        port.reweigh(number, change.weight.unwrap_or(weight));
        port.set_level(number, change.level.unwrap_or(level));
        port.disable(number, change.paused.unwrap_or(previous.disabled));
        self.set_rule(index, number, change.share.applied_to(previous.rule));
        previous
    }
}

impl Switch {
    /// Sets a mirror session, in place of one with its number.
    ///
    /// # Errors
    /// Its number is out of range, or its port or queue does not exist.
    pub fn set_mirror_session(&mut self, session: MirrorSession) -> Result<(), ConfigError> {
        let numbers = self.mirror.numbers();
        if !numbers.contains(&session.id) {
            return Err(ConfigError::SessionNumber { session: session.id, numbers });
        }
        if let Some(port) = session.port {
            self.require("a mirror session", port, session.queue)?;
        }
        self.mirror.set_session(session);
        Ok(())
    }

    /// Takes a mirror session away; false if there was none.
    pub fn remove_mirror_session(&mut self, id: u16) -> bool {
        self.mirror.remove_session(id)
    }

    /// Sets a multicast group, in place of one with its number.
    ///
    /// # Errors
    /// A port does not exist.
    pub fn set_multicast_group(&mut self, group: MulticastGroup) -> Result<(), ConfigError> {
        for &port in group.nodes.iter().flat_map(|node| &node.ports) {
            self.require("a multicast group", port, 0)?;
        }
        self.replication.set_group(group);
        Ok(())
    }

    /// Shapes a port otherwise from `now` on, or not at all. What the port has sent beyond its old
    /// rate it still owes: those bytes are paid for at the new one.
    ///
    /// # Errors
    /// The port does not exist, or the hardware cannot express the rate or the burst.
    pub fn set_port_shaper(
        &mut self,
        now: Time,
        port: PortId,
        shaper: Option<&ShaperConfig>,
    ) -> Result<(), ConfigError> {
        self.advance(now);
        self.require("a shaper", port, 0)?;
        let Some(index) = self.find_port(port) else { return Ok(()) };
        self.ports[index].reshape(self.now, shaper, self.shapers)?;
        self.serve(index);
        Ok(())
    }

    pub(super) fn require(
        &self,
        what: &'static str,
        port: PortId,
        queue: u8,
    ) -> Result<(), ConfigError> {
        let found = self.find_port(port);
        match found.filter(|&index| usize::from(queue) < self.ports[index].queues.len()) {
            Some(_) => Ok(()),
            None => Err(ConfigError::NoSuchQueue { what, port, queue }),
        }
    }
}
