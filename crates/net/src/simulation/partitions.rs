//! Construction of partitions from a layout: assigns each switch and its hosts to one, and
//! renumbers all positions.

use super::SwitchAction;
use super::demux::ELSEWHERE;
use super::hosts::{self, FlowHosts};
use super::inter_partition_channel::{IncomingChannel, OutgoingChannel};
use super::layout::{End, Layout};
use super::node::{Bottleneck, LinkEnd, Node, PortRef, Scheduled};
use super::partition::Partition;
use super::partitioner::Partitioning;
use super::schedule::Change;
use super::switches;
use super::transfers::Planned;
use crate::config::RunConfig;
use sojourn_packet::Time;

/// The partition of a network element, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) partition: u8,
    pub(super) place: u16,
}

impl Location {
    /// Its partition's place among all.
    pub(super) fn partition(self) -> usize {
        usize::from(self.partition)
    }

    pub(super) fn place(self) -> usize {
        usize::from(self.place)
    }
}

/// The locations of all network elements, by their index in the layout.
pub(super) struct Locations {
    pub(super) switches: Vec<Location>,
    pub(super) access_links: Vec<Location>,
    pub(super) bottlenecks: Vec<Location>,
}

impl Locations {
    pub(super) fn new(layout: &Layout, partitioning: &Partitioning) -> Locations {
        let at = |switch: u16| partitioning.by_switch[usize::from(switch)];
        let access_links = layout.access_links.iter().map(|access| at(access.switch));
        let bottlenecks = layout.bottlenecks.iter().map(|(switch, _)| at(*switch));
        Locations {
            switches: locations(partitioning.by_switch.iter().copied()),
            access_links: locations(access_links),
            bottlenecks: locations(bottlenecks),
        }
    }

    /// The partition's own index of a host's place.
    fn place_in(&self, partition: u8, place: &FlowHosts) -> FlowHosts {
        let access = place.access.map(|access| {
            let location = self.access_links[usize::from(access)];
            if location.partition == partition { location.place } else { ELSEWHERE }
        });
        FlowHosts { access, ..place.clone() }
    }

    /// The partitions of a flow's ends.
    fn partitions_of(&self, place: &FlowHosts) -> Vec<u8> {
        let mut partitions =
            place.access.map(|a| self.access_links[usize::from(a)].partition).to_vec();
        partitions.dedup();
        partitions
    }
}

/// Of what is given in the order of the layout, each has the next place in its partition.
fn locations(partitions: impl Iterator<Item = u8>) -> Vec<Location> {
    let mut taken = Vec::new();
    let mut location = |partition: u8| {
        taken.resize(taken.len().max(usize::from(partition) + 1), 0);
        let place = taken[usize::from(partition)];
        taken[usize::from(partition)] += 1;
        Location { partition, place }
    };
    partitions.map(&mut location).collect()
}

/// The scheduled changes and transfers of a run, in the order of time.
pub(super) struct Plans {
    pub(super) actions: Vec<Scheduled<(u16, SwitchAction)>>,
    pub(super) transfers: Vec<Scheduled<Planned>>,
}

/// The partitions of a network, ready to be driven.
pub(super) fn partitions(
    config: &RunConfig,
    layout: &Layout,
    locations: &Locations,
    nodes: Vec<Node>,
    plans: Plans,
) -> Vec<Partition> {
    let written = switches::written(config, layout, &nodes);
    let count =
        locations.switches.iter().map(|location| location.partition() + 1).max().unwrap_or(1);
    let mut partitions: Vec<Partition> =
        (0..count).map(|place| Partition::new(place as u8, count, written)).collect();
    add_access_links(&mut partitions, config, layout, locations, &nodes);
    add_nodes(&mut partitions, layout, locations, nodes, config.seed);
    add_hosts(&mut partitions, config, layout, locations);
    add_plans(&mut partitions, layout, locations, plans);
    partitions.iter_mut().for_each(Partition::begin);
    partitions
}

fn add_access_links(
    partitions: &mut [Partition],
    config: &RunConfig,
    layout: &Layout,
    locations: &Locations,
    nodes: &[Node],
) {
    let links = layout.access_links.iter().zip(layout.hosts);
    for ((given, hosts), location) in links.zip(&locations.access_links) {
        let partition = &mut partitions[location.partition()];
        let switch = usize::from(given.switch);
        let port_ref = PortRef { switch: locations.switches[switch].place, port: given.port };
        let passage = nodes[switch].passage_or_none();
        let link = switches::access_link(given, &config.netem, port_ref, passage, config.seed);
        partition.send_path.access_links.push(link);
        partition.demux.open(hosts.addresses);
    }
}

fn add_nodes(
    partitions: &mut [Partition],
    layout: &Layout,
    locations: &Locations,
    nodes: Vec<Node>,
    seed: u64,
) {
    let passages: Vec<_> = nodes.iter().map(Node::passage_or_none).collect();
    let switches = nodes.into_iter().zip(&layout.switches).zip(&locations.switches);
    for ((mut node, given), location) in switches {
        for port in &given.ports {
            let (end, passage) = match port.end {
                End::Hosts(access) => {
                    let access = locations.access_links[usize::from(access)].place;
                    (LinkEnd::Hosts(access), Time::ZERO)
                }
                End::Switch(switch, port) => {
                    let next = locations.switches[usize::from(switch)];
                    let port_ref = PortRef { switch: next.place, port };
                    (behind(partitions, *location, next, port_ref), passages[usize::from(switch)])
                }
            };
            node.port_links.push(switches::port_link(layout, port, end, passage, seed));
        }
        partitions[location.partition()].nodes.push(node);
    }
    for (&(switch, place), location) in layout.bottlenecks.iter().zip(&locations.bottlenecks) {
        let partition = &mut partitions[location.partition()];
        partition.bottlenecks.push(Bottleneck::default());
        let node = &mut partition.nodes[locations.switches[usize::from(switch)].place()];
        node.port_links[place].bottleneck = Some(location.place);
    }
}

/// The other end of a link from one switch to a door of the next.
fn behind(
    partitions: &mut [Partition],
    location: Location,
    next: Location,
    port_ref: PortRef,
) -> LinkEnd {
    if next.partition == location.partition {
        return LinkEnd::Switch(port_ref);
    }
    let incoming = &mut partitions[next.partition()].channels.incoming;
    incoming.push(IncomingChannel::new(port_ref));
    let incoming_index = incoming.len() - 1;
    let outgoing = &mut partitions[location.partition()].channels.outgoing;
    outgoing.push(OutgoingChannel::new(next.partition, incoming_index));
    LinkEnd::Partition(outgoing.len() as u16 - 1)
}

/// Partition by partition, so that the hosts of one are adjacent in memory.
fn add_hosts(
    partitions: &mut [Partition],
    config: &RunConfig,
    layout: &Layout,
    locations: &Locations,
) {
    let mut ends: Vec<(u8, u32)> = Vec::new();
    for flow in 0..config.flows.len() as u32 {
        let partitions = locations.partitions_of(&FlowHosts::of_flow(config, layout, flow));
        ends.extend(partitions.into_iter().map(|partition| (partition, flow)));
    }
    ends.sort_unstable();
    for (partition, flow) in ends {
        let (place, hosts) = hosts::of_flow(config, layout, flow);
        partitions[usize::from(partition)].attach(
            (flow, flow),
            &locations.place_in(partition, &place),
            hosts,
        );
    }
}

/// Each partition's plans, the next last.
fn add_plans(partitions: &mut [Partition], layout: &Layout, locations: &Locations, plans: Plans) {
    let changes = Scheduled::each(layout.changes.iter().cloned());
    for due in changes.into_iter().rev() {
        let (partition, what) = change(locations, due.what);
        partitions[partition].changes.push(Scheduled { what, ..due });
    }
    for due in plans.actions.into_iter().rev() {
        let (switch, act) = due.what;
        let location = locations.switches[usize::from(switch)];
        partitions[location.partition()].actions.push(Scheduled {
            at: due.at,
            first: due.first,
            what: (location.place, act),
        });
    }
    for due in plans.transfers.into_iter().rev() {
        for (number, partition) in locations.partitions_of(&due.what.place).into_iter().enumerate()
        {
            let what = due.what.at(locations.place_in(partition, &due.what.place));
            let first = due.first && number == 0;
            partitions[usize::from(partition)].transfers.push(Scheduled {
                at: due.at,
                first,
                what,
            });
        }
    }
}

/// The partition that a change is in, and the change as it is known there.
fn change(locations: &Locations, mut change: Change) -> (usize, Change) {
    let (all, place) = match &mut change {
        Change::Up(switch, ..)
        | Change::Routes(switch, _)
        | Change::Shaper(switch, ..)
        | Change::Delay(switch, ..) => (&locations.switches, switch),
        Change::AccessLink(access, ..) => (&locations.access_links, access),
    };
    let location = all[usize::from(*place)];
    *place = location.place;
    (location.partition(), change)
}
