//! Components of a running network: hosts, their links, switches and the peers of switch ports.
//!
//! The module holds plain state and computes when a frame reaches the other end of a wire.
//! [`Partition`](super::partition::Partition) decides all events and their times.

use super::host_qdisc::HostQdisc;
use super::partition::HostId;
use super::random_links::RandomWay;
use crate::host::Host;
use crate::link::Link;
use crate::records::{CapturedFrame, PacketRows};
use crate::report::TelemetryReport;
use crate::wire::Telemetry;
use sojourn_packet::{Packet, Time};
use sojourn_switch::{PortId, Switch, Transmit};

/// A host with what the simulator keeps for it.
pub(super) struct HostState {
    pub(super) host: Host,
    pub(super) id: HostId,
    /// The configured flow that its flow is of.
    pub(super) source: u32,
    /// Its access link.
    pub(super) access: u16,
    /// Of what it sends, in front of its link.
    pub(super) delay: Time,
    /// The earliest timer event that is in the queue for it.
    pub(super) timer: Time,
    /// When it leaves its place, if it is over.
    pub(super) leaves: Time,
}

/// A port that frames arrive at, by the index of its switch in the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PortRef {
    pub(super) switch: u16,
    pub(super) port: PortId,
}

/// The way from a host, or a group of hosts, to its switch.
pub(super) struct AccessLink {
    pub(super) port_ref: PortRef,
    /// The switch's [`Switch::passage`], nothing if it has none.
    pub(super) passage: Time,
    pub(super) qdisc: HostQdisc,
    pub(super) to_switch: Link,
    /// Random events of frames on it.
    pub(super) random: Option<Box<RandomWay>>,
}

/// A switch and what is behind its ports.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) switch: Switch,
    /// [`Switch::passage`], after which frames are delivered.
    pub(super) passage: Option<Time>,
    /// The port of its controller, and what has left by it.
    pub(super) cpu: Option<PortId>,
    pub(super) for_controller: Vec<(Time, Packet)>,
    pub(super) port_links: Vec<PortLink>,
    /// Of the rows that wait in the switch those that are counted among the partition's.
    pub(super) counted: usize,
}

impl Node {
    /// True if the switch has frames or rows that were not collected yet.
    #[inline]
    pub(super) fn has_output(&self) -> bool {
        let switch = &self.switch;
        switch.has_transmits() || switch.rows().len() > self.counted || switch.has_frames()
    }

    /// [`Switch::passage`], nothing if it has none.
    pub(super) fn passage_or_none(&self) -> Time {
        self.passage.unwrap_or(Time::ZERO)
    }
}

/// The link behind one port.
pub(super) struct PortLink {
    pub(super) port: PortId,
    pub(super) end: LinkEnd,
    /// A link that the hosts behind the port share.
    pub(super) shared: Option<Link>,
    pub(super) delay: Time,
    /// The [`Switch::passage`] of a switch at the other end, nothing if it has none.
    pub(super) passage: Time,
    /// Arrival of the last frame at the other end: no later frame overtakes it.
    pub(super) last: Time,
    /// Random events of frames on it.
    pub(super) random: Option<Box<RandomWay>>,
    /// False while the link is down.
    pub(super) up: bool,
    /// The place of its rows, if the port is observed.
    pub(super) bottleneck: Option<u16>,
}

/// The other end of a port's link, by its index in the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkEnd {
    /// A port of a switch.
    Switch(PortRef),
    /// The hosts behind an access link.
    Hosts(u16),
    /// Another partition, by the index of the outgoing channel.
    Partition(u16),
}

/// Output of one observed port.
#[derive(Default)]
pub(super) struct Bottleneck {
    pub(super) rows: PacketRows,
    pub(super) capture: Vec<CapturedFrame>,
}

/// A value with the instant at which it applies.
pub(super) struct Scheduled<T> {
    pub(super) at: Time,
    /// It applies before other changes of that instant.
    pub(super) first: bool,
    pub(super) what: T,
}

impl<T> Scheduled<T> {
    /// Each of what is given in the order of time.
    pub(super) fn each(given: impl Iterator<Item = (Time, T)>) -> Vec<Scheduled<T>> {
        let mut last = None;
        let due = |(at, what)| Scheduled { at, first: last.replace(at) != Some(at), what };
        given.map(due).collect()
    }
}

/// Counters outside the switch and the hosts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub(super) events: u64,
    /// Of these, what counts as one event with one of another partition.
    pub(super) shared: u64,
    pub(super) malformed: u64,
    pub(super) stray: u64,
    /// Frames sent into links that were down.
    pub(super) into_down_links: u64,
    /// Segments that returned INT to a sender, and the hops in them.
    pub(super) telemetry: TelemetryReport,
}

impl Counters {
    /// A host has read a frame with this in front of its transport.
    pub(super) fn note_telemetry(&mut self, telemetry: Option<&Telemetry>) {
        if let Some(returned) = telemetry.filter(|telemetry| telemetry.returned) {
            self.telemetry.returned += 1;
            self.telemetry.hops += returned.hops().len() as u64;
        }
    }
}

impl PortLink {
    /// Time at which a frame that leaves the port has its last bit on the link.
    #[inline(always)]
    pub(super) fn through(&mut self, transmit: &Transmit) -> Time {
        match &mut self.shared {
            Some(link) => link.send(transmit.end, transmit.packet.len()),
            None => transmit.end,
        }
    }

    /// Arrival of a frame that leaves the port at the other end.
    #[inline]
    pub(super) fn carry(&mut self, transmit: &Transmit) -> Time {
        let through = self.through(transmit);
        self.last = self.last.max(through + self.delay);
        self.last
    }
}
