//! Construction of partitions from a layout: assigns each switch and its hosts to one, and
//! renumbers all positions.

use super::Act;
use super::demux::ELSEWHERE;
use super::hosts::{self, Place};
use super::inter_partition_channel::{WayIn, WayOut};
use super::layout::{End, Layout};
use super::node::{Behind, Bottleneck, Door, Due, Node};
use super::partition::Region;
use super::partitioner::Cut;
use super::schedule::Change;
use super::switches;
use super::transfers::Planned;
use crate::config::RunConfig;
use sojourn_packet::Time;

/// Where something of the network is: in which region, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) region: u8,
    pub(super) place: u16,
}

impl Home {
    /// Its region's place among all.
    pub(super) fn region(self) -> usize {
        usize::from(self.region)
    }

    pub(super) fn place(self) -> usize {
        usize::from(self.place)
    }
}

/// Where everything of a network is, by its place in the layout.
pub(super) struct Homes {
    pub(super) switches: Vec<Home>,
    pub(super) access_links: Vec<Home>,
    pub(super) bottlenecks: Vec<Home>,
}

impl Homes {
    pub(super) fn of(layout: &Layout, cut: &Cut) -> Homes {
        let at = |switch: u16| cut.of[usize::from(switch)];
        let access_links = layout.access_links.iter().map(|access| at(access.switch));
        let bottlenecks = layout.bottlenecks.iter().map(|(switch, _)| at(*switch));
        Homes {
            switches: homes(cut.of.iter().copied()),
            access_links: homes(access_links),
            bottlenecks: homes(bottlenecks),
        }
    }

    /// A place of hosts as a region knows it.
    fn place_in(&self, region: u8, place: &Place) -> Place {
        let access = place.access.map(|access| {
            let home = self.access_links[usize::from(access)];
            if home.region == region { home.place } else { ELSEWHERE }
        });
        Place { access, ..place.clone() }
    }

    /// The regions of a flow's ends.
    fn regions_of(&self, place: &Place) -> Vec<u8> {
        let mut regions = place.access.map(|a| self.access_links[usize::from(a)].region).to_vec();
        regions.dedup();
        regions
    }
}

/// Of what is given in the order of the layout, each has the next place in its region.
fn homes(regions: impl Iterator<Item = u8>) -> Vec<Home> {
    let mut taken = Vec::new();
    let mut home = |region: u8| {
        taken.resize(taken.len().max(usize::from(region) + 1), 0);
        let place = taken[usize::from(region)];
        taken[usize::from(region)] += 1;
        Home { region, place }
    };
    regions.map(&mut home).collect()
}

/// What is done in a run beside its traffic, in the order of time.
pub(super) struct Plans {
    pub(super) acts: Vec<Due<(u16, Act)>>,
    pub(super) transfers: Vec<Due<Planned>>,
}

/// The regions of a network, ready to be driven.
pub(super) fn regions(
    config: &RunConfig,
    layout: &Layout,
    homes: &Homes,
    nodes: Vec<Node>,
    plans: Plans,
) -> Vec<Region> {
    let written = switches::written(config, layout, &nodes);
    let count = homes.switches.iter().map(|home| home.region() + 1).max().unwrap_or(1);
    let mut regions: Vec<Region> =
        (0..count).map(|place| Region::new(place as u8, count, written)).collect();
    add_access_links(&mut regions, config, layout, homes, &nodes);
    add_nodes(&mut regions, layout, homes, nodes, config.seed);
    add_hosts(&mut regions, config, layout, homes);
    add_plans(&mut regions, layout, homes, plans);
    regions.iter_mut().for_each(Region::begin);
    regions
}

fn add_access_links(
    regions: &mut [Region],
    config: &RunConfig,
    layout: &Layout,
    homes: &Homes,
    nodes: &[Node],
) {
    let links = layout.access_links.iter().zip(layout.hosts);
    for ((given, hosts), home) in links.zip(&homes.access_links) {
        let region = &mut regions[home.region()];
        let switch = usize::from(given.switch);
        let door = Door { switch: homes.switches[switch].place, port: given.port };
        let passage = nodes[switch].passage_or_none();
        let link = switches::access_link(given, &config.netem, door, passage, config.seed);
        region.sending.access_links.push(link);
        region.directory.open(hosts.addresses);
    }
}

fn add_nodes(regions: &mut [Region], layout: &Layout, homes: &Homes, nodes: Vec<Node>, seed: u64) {
    let passages: Vec<_> = nodes.iter().map(Node::passage_or_none).collect();
    let switches = nodes.into_iter().zip(&layout.switches).zip(&homes.switches);
    for ((mut node, given), home) in switches {
        for port in &given.ports {
            let (end, passage) = match port.end {
                End::Hosts(access) => {
                    let access = homes.access_links[usize::from(access)].place;
                    (Behind::Hosts(access), Time::ZERO)
                }
                End::Switch(switch, port) => {
                    let next = homes.switches[usize::from(switch)];
                    let door = Door { switch: next.place, port };
                    (behind(regions, *home, next, door), passages[usize::from(switch)])
                }
            };
            node.wires.push(switches::wire(layout, port, end, passage, seed));
        }
        regions[home.region()].nodes.push(node);
    }
    for (&(switch, place), home) in layout.bottlenecks.iter().zip(&homes.bottlenecks) {
        let region = &mut regions[home.region()];
        region.bottlenecks.push(Bottleneck::default());
        let node = &mut region.nodes[homes.switches[usize::from(switch)].place()];
        node.wires[place].bottleneck = Some(home.place);
    }
}

/// The other end of a link from one switch to a door of the next.
fn behind(regions: &mut [Region], home: Home, next: Home, door: Door) -> Behind {
    if next.region == home.region {
        return Behind::Switch(door);
    }
    let ways_in = &mut regions[next.region()].border.ways_in;
    ways_in.push(WayIn::new(door));
    let way_in = ways_in.len() - 1;
    let ways_out = &mut regions[home.region()].border.ways_out;
    ways_out.push(WayOut::new(next.region, way_in));
    Behind::Region(ways_out.len() as u16 - 1)
}

/// Region by region, so that what hosts of one have in memory lies together.
fn add_hosts(regions: &mut [Region], config: &RunConfig, layout: &Layout, homes: &Homes) {
    let mut ends: Vec<(u8, u32)> = Vec::new();
    for flow in 0..config.flows.len() as u32 {
        let regions = homes.regions_of(&Place::of_flow(config, layout, flow));
        ends.extend(regions.into_iter().map(|region| (region, flow)));
    }
    ends.sort_unstable();
    for (region, flow) in ends {
        let (place, hosts) = hosts::of_flow(config, layout, flow);
        regions[usize::from(region)].attach(flow, &homes.place_in(region, &place), hosts);
    }
}

/// Each region's plans, the next last.
fn add_plans(regions: &mut [Region], layout: &Layout, homes: &Homes, plans: Plans) {
    let changes = Due::each(layout.changes.iter().copied());
    for due in changes.into_iter().rev() {
        let (region, what) = change(homes, due.what);
        regions[region].changes.push(Due { what, ..due });
    }
    for due in plans.acts.into_iter().rev() {
        let (switch, act) = due.what;
        let home = homes.switches[usize::from(switch)];
        regions[home.region()].acts.push(Due {
            at: due.at,
            first: due.first,
            what: (home.place, act),
        });
    }
    for due in plans.transfers.into_iter().rev() {
        for (number, region) in homes.regions_of(&due.what.place).into_iter().enumerate() {
            let what = due.what.at(homes.place_in(region, &due.what.place));
            let first = due.first && number == 0;
            regions[usize::from(region)].transfers.push(Due { at: due.at, first, what });
        }
    }
}

/// The region that a change is in, and the change as it is known there.
fn change(homes: &Homes, change: Change) -> (usize, Change) {
    match change {
        Change::Shaper(switch, port, shaper) => {
            let home = homes.switches[usize::from(switch)];
            (home.region(), Change::Shaper(home.place, port, shaper))
        }
        Change::Delay(switch, port, delay) => {
            let home = homes.switches[usize::from(switch)];
            (home.region(), Change::Delay(home.place, port, delay))
        }
        Change::AccessLink(access, rate, delay) => {
            let home = homes.access_links[usize::from(access)];
            (home.region(), Change::AccessLink(home.place, rate, delay))
        }
    }
}
