//! Changes of a running switch as data, each of which can be undone.
//!
//! Changes pass the same checks as a configuration. A rejected change has no effect. The replaced
//! object is saved with its state, so an undo restores it completely. Decisions already made for
//! packets in transit remain in force. The module must not depend on the caller.

use super::{GeneratorChange, Generators, Switch};
use crate::config::{ConfigError, MirrorSession, MulticastGroup};
use crate::tm::pace::Pace;
use crate::tm::shaper::{ShaperConfig, TokenBucket};
use sojourn_packet::{PortId, Rate, Time};

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
    /// Sets rates and depth of queues.
    Queues(QueueChange),
    /// Shapes a port, or no longer.
    Shaper(PortId, Option<ShaperConfig>),
    /// Changes a packet generator.
    Generator(GeneratorChange),
}

/// Rates and depth of queues; what is absent stays as it is.
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
}

/// What a change has replaced.
#[derive(Debug)]
pub struct Replaced(Was);

#[derive(Debug)]
enum Was {
    Session(u16, Option<MirrorSession>),
    Group(u16, Option<MulticastGroup>),
    CpuPort(Option<PortId>),
    Queues(Vec<QueueWas>),
    Shaper(usize, Option<TokenBucket>),
    Generators(Box<Generators>),
}

#[derive(Debug)]
struct QueueWas {
    port: usize,
    queue: usize,
    pace: Pace,
    packet_limit: Option<u32>,
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
    /// What it is about does not exist, or a value is not allowed; nothing has changed.
    pub fn change(&mut self, now: Time, change: &Change) -> Result<Replaced, ConfigError> {
        self.advance(now);
        let was = match change {
            Change::Session(session) => {
                let was = Was::Session(session.id, self.mirror.session(session.id));
                self.set_mirror_session(*session)?;
                was
            }
            Change::NoSession(id) => {
                let was = self.mirror.session(*id);
                if !self.remove_mirror_session(*id) {
                    return Err(ConfigError::NoSession(*id));
                }
                Was::Session(*id, was)
            }
            Change::Group(group) => {
                let was = Was::Group(group.id, self.replication.group(group.id).cloned());
                self.set_multicast_group(group.clone())?;
                was
            }
            Change::NoGroup(id) => {
                let was = self.replication.remove_group(*id);
                Was::Group(*id, Some(was.ok_or(ConfigError::NoGroup(*id))?))
            }
            Change::CpuPort(port) => {
                if let Some(port) = port {
                    self.require("copies for the processor", *port, 0)?;
                }
                Was::CpuPort(std::mem::replace(&mut self.replication.cpu_port, *port))
            }
            Change::Queues(change) => Was::Queues(self.change_queues(change)?),
            Change::Shaper(port, shaper) => {
                let index = self.find_port(*port).ok_or(ConfigError::NoSuchQueue {
                    what: "a shaper",
                    port: *port,
                    queue: 0,
                })?;
                let was = self.ports[index].shaper;
                self.set_port_shaper(now, *port, shaper.as_ref())?;
                Was::Shaper(index, was)
            }
            Change::Generator(change) => Was::Generators(Box::new(self.change_generator(change)?)),
        };
        Ok(Replaced(was))
    }

    /// Takes a change back that was the last one.
    pub fn revert(&mut self, replaced: Replaced) {
        match replaced.0 {
            Was::Session(_, Some(session)) => self.mirror.set_session(session),
            Was::Session(id, None) => {
                self.mirror.remove_session(id);
            }
            Was::Group(_, Some(group)) => self.replication.set_group(group),
            Was::Group(id, None) => {
                self.replication.remove_group(id);
            }
            Was::CpuPort(port) => self.replication.cpu_port = port,
            Was::Queues(queues) => {
                for QueueWas { port, queue, pace, packet_limit } in queues {
                    self.ports[port].repace(queue, pace);
                    self.ports[port].queues[queue].packet_limit = packet_limit;
                    self.serve(port);
                }
            }
            Was::Shaper(index, shaper) => {
                self.ports[index].set_shaper(shaper);
                self.serve(index);
            }
            Was::Generators(before) => self.restore_generators(*before),
        }
    }

    fn change_queues(&mut self, change: &QueueChange) -> Result<Vec<QueueWas>, ConfigError> {
        if let Some(port) = change.port {
            self.require("a queue's rate or depth", port, change.queue.unwrap_or(0))?;
        }
        let wanted = |port: PortId| change.port.is_none_or(|only| only == port);
        let mut replaced = Vec::new();
        for index in 0..self.ports.len() {
            if !wanted(self.ports[index].id) {
                continue;
            }
            for number in 0..self.ports[index].queues.len() {
                if change.queue.is_some_and(|only| usize::from(only) != number) {
                    continue;
                }
                let queue = &mut self.ports[index].queues[number];
                let (pace, packet_limit) = (queue.pace.clone(), queue.packet_limit);
                queue.packet_limit = change.packet_limit.or(packet_limit);
                let new = pace.with(change.packet_pace, change.bit_pace);
                replaced.push(QueueWas { port: index, queue: number, pace, packet_limit });
                self.ports[index].repace(number, new);
            }
            self.serve(index);
        }
        Ok(replaced)
    }
}
