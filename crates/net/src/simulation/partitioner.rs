//! Partitioner: divides a network at links with a delay into partitions that run in parallel.
//!
//! A frame arrives no sooner than the link's delay after it was sent. Within this span, events on
//! one side do not depend on the other (Chandy and Misra 1979; in windows of that span, Nicol
//! 1993). Of short links those are cut that have much traffic in that span: a fabric's pods. Even one
//! core is faster then, since a pod's packets fit its cache. The partitioner depends on the layout and
//! on the passage times of switches. It must not depend on the code that drives the partitions.

use super::layout::{Change, End, Layout};
use super::lookahead::WORTH;
use super::node::Node;
use super::pods::Groups;
use sojourn_packet::{Rate, Time};
use sojourn_switch::ShapedRate;
use std::collections::BTreeMap;

/// Links that take less are not worth a cut, unless hosts send and links carry [`WORTH`] packets in that time.
const LEAST: Time = Time::from_micros(100);
/// As many partitions as there are at most; more take turns in being one.
const MOST: usize = 64;
/// Bits of a full packet.
const PACKET: u64 = 8 * 1_514;
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
    rate: Rate,
}

impl Partitioning {
    /// As many partitions as there are between links that are worth a cut, whatever drives them.
    pub(super) fn new(layout: &Layout, nodes: &[Node]) -> Partitioning {
        let links = links(layout, nodes);
        let far = joined(nodes.len(), &links, LEAST).by_switch();
        let far = Partitioning::from_groups(far, &links);
        if far.partitions > 1 {
            return far;
        }
        let mut pods = joined(nodes.len(), &links, Time(1));
        pods.join_pods(links.iter().map(|link| (link.from, link.to)));
        let near = Partitioning::from_groups(pods.by_switch(), &links);
        // What hosts can send, and what the links that are cut can carry.
        let sent = layout.access_links.iter().map(|access| u128::from(access.rate.0)).sum::<u128>();
        let carried = near.crossing(&links).map(|link| u128::from(link.rate.0)).sum::<u128>();
        let bits = sent.min(carried) * u128::from(near.ahead.0) / 1_000_000_000;
        let is_worth_it = near.partitions > 1 && bits >= u128::from(WORTH * PACKET);
        if is_worth_it { near } else { far }
    }

    /// A partition for each group of switches, given by each switch's.
    fn from_groups(groups: Vec<usize>, links: &[SwitchLink]) -> Partitioning {
        let mut numbers = BTreeMap::new();
        let mut number = |group: &usize| {
            let next = numbers.len();
            (*numbers.entry(*group).or_insert(next) % MOST) as u8
        };
        let by_switch: Vec<u8> = groups.iter().map(&mut number).collect();
        let mut made =
            Partitioning { partitions: numbers.len().min(MOST), ahead: APART, by_switch };
        if let Some(least) = made.crossing(links).map(|link| link.minimum_delay).min() {
            made.ahead = least;
        }
        made
    }

    /// The links that are cut.
    fn crossing<'a>(&self, links: &'a [SwitchLink]) -> impl Iterator<Item = &'a SwitchLink> {
        links.iter().filter(|link| self.by_switch[link.from] != self.by_switch[link.to])
    }
}

/// The group of each switch if those are one that a link of less than `least` connects.
fn joined(switches: usize, links: &[SwitchLink], least: Time) -> Groups {
    let mut groups = Groups::new(switches);
    let near = links.iter().filter(|link| link.minimum_delay < least);
    near.for_each(|link| groups.join(link.from, link.to));
    groups
}

/// All links between switches, one way each.
fn links(layout: &Layout, nodes: &[Node]) -> Vec<SwitchLink> {
    let mut shortest = BTreeMap::new();
    for (_, change) in &layout.changes {
        if let Change::Delay(at, port, delay) = change {
            let known = shortest.entry((usize::from(*at), *port)).or_insert(*delay);
            *known = (*known).min(*delay);
        }
    }
    let mut links = Vec::new();
    for (from, switch) in layout.switches.iter().enumerate() {
        for (place, port) in switch.ports.iter().enumerate() {
            let End::Switch(to, _) = port.end else { continue };
            let later = shortest.get(&(from, place)).copied().unwrap_or(Time::MAX);
            let delay = port.delay.min(later);
            let to = usize::from(to);
            // Frames that leave a partition arrive in order.
            let overtaken = port.netem.as_ref().is_some_and(|netem| netem.given.reorders());
            let minimum_delay = delay + nodes[to].passage.unwrap_or(Time::ZERO);
            let rate = match port.shaper.as_ref().map(|shaper| shaper.rate) {
                Some(ShapedRate::Bits(rate)) => rate,
                _ => port.speed,
            };
            links.push(SwitchLink {
                from,
                to,
                rate,
                minimum_delay: if overtaken { Time::ZERO } else { minimum_delay },
            });
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The links between switches `a` and `b`, both ways, each of 1 us.
    fn both_ways(pairs: &[(usize, usize)]) -> Vec<SwitchLink> {
        let (minimum_delay, rate) = (Time::from_micros(1), Rate(1));
        let link = |from, to| SwitchLink { from, to, minimum_delay, rate };
        pairs.iter().flat_map(|&(a, b)| [link(a, b), link(b, a)]).collect()
    }

    #[test]
    fn switches_that_a_link_without_delay_connects_are_one_group() {
        let mut links = both_ways(&[(0, 1), (1, 2)]);
        links[0].minimum_delay = Time::ZERO;
        assert_eq!(joined(3, &links, Time(1)).by_switch(), [0, 0, 2]);
    }
}
