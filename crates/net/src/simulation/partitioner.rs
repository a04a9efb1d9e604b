//! Partitioner: divides a network at links with a delay into partitions that run in parallel.
//!
//! A frame arrives no sooner than the link's delay after it was sent. Within this span, events on
//! one side do not depend on the other (Chandy and Misra 1979; in windows of that span, Nicol
//! 1993). The partitioner depends on the layout and on the passage times of switches. It must not
//! depend on the code that drives the partitions.

use super::layout::{Change, End, Layout};
use super::node::Node;
use sojourn_packet::Time;
use std::collections::BTreeMap;

/// Links that take less are not worth a cut.
const LEAST: Time = Time::from_micros(100);
/// As many partitions as there are at most; more take turns in being one.
const MOST: usize = 64;
/// Lookahead of partitions that no link connects.
const APART: Time = Time::from_millis(10);

/// The partitions of a network.
pub(super) struct Partitioning {
    /// Number of partitions.
    pub(super) partitions: usize,
    /// The partition of each switch.
    pub(super) by_switch: Vec<u8>,
    /// The least time that a frame takes from one partition to another.
    pub(super) ahead: Time,
}

/// A link from one switch to another.
struct SwitchLink {
    from: usize,
    to: usize,
    /// The least time that a frame takes.
    minimum_delay: Time,
}

impl Partitioning {
    /// As many partitions as there are between links that are worth a cut, whatever drives them.
    pub(super) fn new(layout: &Layout, nodes: &[Node]) -> Partitioning {
        let links = links(layout, nodes);
        let mut joined: Vec<usize> = (0..nodes.len()).collect();
        for link in links.iter().filter(|link| link.minimum_delay < LEAST) {
            let (kept, gone) = (joined[link.from], joined[link.to]);
            joined.iter_mut().filter(|group| **group == gone).for_each(|group| *group = kept);
        }
        let mut numbers = BTreeMap::new();
        let mut number = |group: &usize| {
            let next = numbers.len();
            (*numbers.entry(*group).or_insert(next) % MOST) as u8
        };
        let by_switch: Vec<u8> = joined.iter().map(&mut number).collect();
        let crossing = links.iter().filter(|link| by_switch[link.from] != by_switch[link.to]);
        Partitioning {
            partitions: numbers.len().min(MOST),
            ahead: crossing.map(|link| link.minimum_delay).min().unwrap_or(APART),
            by_switch,
        }
    }
}

/// All links between switches, one way each.
fn links(layout: &Layout, nodes: &[Node]) -> Vec<SwitchLink> {
    let mut links = Vec::new();
    for (from, switch) in layout.switches.iter().enumerate() {
        for (place, port) in switch.ports.iter().enumerate() {
            let End::Switch(to, _) = port.end else { continue };
            let later = layout.changes.iter().filter_map(|(_, change)| match change {
                Change::Delay(at, port, delay) if (usize::from(*at), *port) == (from, place) => {
                    Some(*delay)
                }
                _ => None,
            });
            let delay = later.fold(port.delay, Time::min);
            let to = usize::from(to);
            // Frames that leave a partition arrive in order.
            let overtaken = port.netem.as_ref().is_some_and(|netem| netem.given.reorders());
            let minimum_delay = delay + nodes[to].passage.unwrap_or(Time::ZERO);
            links.push(SwitchLink {
                from,
                to,
                minimum_delay: if overtaken { Time::ZERO } else { minimum_delay },
            });
        }
    }
    links
}
