//! Search for the pods of a fabric: groups of switches that most links connect.
//!
//! Two groups are joined whose links are the largest share of those that could be between their
//! switches, again and again, as long as no group has more than its share of all switches. A share of
//! a joined group is a mean of its parts' shares. So a share that was computed before its groups have
//! grown is never too small, and is computed again only when it would be the largest: the search costs
//! about as much as the links are, not that for each join. Must not depend on what a link is.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

/// Into so many partitions a fabric with short links is divided, about.
const PODS: usize = 8;

/// Groups of switches, and the links between them.
pub(super) struct Groups {
    /// The switch that stands for its group is its own parent.
    parent: Vec<usize>,
    size: Vec<usize>,
    /// Of each switch that stands for a group: those of others that links connect, both ways.
    beside: Vec<BTreeMap<usize, Joint>>,
    /// Joints and shares looked at, which is what the search costs.
    steps: usize,
}

/// The links between two groups.
#[derive(Clone, Copy)]
struct Joint {
    links: usize,
    /// The first of them.
    first: usize,
    /// Pairs of switches of the share that is queued for both groups as they are; 0 for none.
    queued: usize,
}

/// Links between two groups as a share of the pairs of their switches; ordered by this, and of equal
/// ones the group with the first link is greater.
struct Share {
    links: usize,
    pairs: usize,
    first: usize,
    of: (usize, usize),
}

impl Ord for Share {
    fn cmp(&self, other: &Share) -> Ordering {
        let product = |links: usize, pairs: usize| links as u128 * pairs as u128;
        let (mine, theirs) = (product(self.links, other.pairs), product(other.links, self.pairs));
        mine.cmp(&theirs).then(Reverse(self.first).cmp(&Reverse(other.first)))
    }
}

impl PartialOrd for Share {
    fn partial_cmp(&self, other: &Share) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Share {
    fn eq(&self, other: &Share) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Share {}

impl Groups {
    /// So many switches, each a group of its own, and no links.
    pub(super) fn new(switches: usize) -> Groups {
        Groups {
            parent: (0..switches).collect(),
            size: vec![1; switches],
            beside: vec![BTreeMap::new(); switches],
            steps: 0,
        }
    }

    /// The switch that stands for the group of `switch`.
    fn find(&mut self, mut switch: usize) -> usize {
        while self.parent[switch] != switch {
            self.parent[switch] = self.parent[self.parent[switch]];
            switch = self.parent[switch];
        }
        switch
    }

    /// Makes one group of those of two switches.
    pub(super) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        if one == other {
            return;
        }
        let is_wider = self.beside[one].len() >= self.beside[other].len();
        let (kept, gone) = if is_wider { (one, other) } else { (other, one) };
        self.parent[gone] = kept;
        self.size[kept] += self.size[gone];
        for (beside, joint) in std::mem::take(&mut self.beside[gone]) {
            self.steps += 1;
            self.beside[beside].remove(&gone);
            if beside != kept {
                self.connect(kept, beside, joint);
            }
        }
    }

    /// More links between two groups, whose share is not queued any more.
    fn connect(&mut self, one: usize, other: usize, more: Joint) {
        for (from, to) in [(one, other), (other, one)] {
            let joint = self.beside[from].entry(to).or_insert(Joint { links: 0, ..more });
            joint.links += more.links;
            joint.first = joint.first.min(more.first);
            joint.queued = 0;
        }
    }

    /// Joins groups by the shares of their links, given by the switches at both ends.
    pub(super) fn join_pods(&mut self, links: impl Iterator<Item = (usize, usize)>) {
        let most = self.parent.len().div_ceil(PODS);
        for (first, (from, to)) in links.enumerate() {
            let (from, to) = (self.find(from), self.find(to));
            if from != to {
                self.connect(from, to, Joint { links: 1, first, queued: 0 });
            }
        }
        let mut shares = BinaryHeap::new();
        for one in 0..self.parent.len() {
            let others: Vec<usize> = self.beside[one].range(one..).map(|(to, _)| *to).collect();
            others.into_iter().for_each(|other| shares.extend(self.share(one, other)));
        }
        while let Some(share) = shares.pop() {
            self.steps += 1;
            let (one, other) = (self.find(share.of.0), self.find(share.of.1));
            if one == other || self.size[one] + self.size[other] > most {
                continue;
            }
            let (joint, pairs) = (self.beside[one][&other], self.size[one] * self.size[other]);
            if (pairs, joint.links, joint.first) == (share.pairs, share.links, share.first) {
                self.join(one, other);
            } else {
                shares.extend(self.share(one, other));
            }
        }
    }

    /// The share of two groups as they are, if it is not queued.
    fn share(&mut self, one: usize, other: usize) -> Option<Share> {
        let pairs = self.size[one] * self.size[other];
        let Joint { links, first, queued } = self.beside[one][&other];
        if queued == pairs {
            return None;
        }
        for (from, to) in [(one, other), (other, one)] {
            self.beside[from].entry(to).and_modify(|joint| joint.queued = pairs);
        }
        Some(Share { links, pairs, first, of: (one, other) })
    }

    /// The switch that stands for the group of each.
    pub(super) fn by_switch(mut self) -> Vec<usize> {
        (0..self.parent.len()).map(|switch| self.find(switch)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The links of a fat tree of switches with `k` ports, both ways: edge, aggregation, core.
    fn fat_tree(k: usize) -> (usize, Vec<(usize, usize)>) {
        let half = k / 2;
        let tier = k * half;
        let mut links = Vec::new();
        for at in 0..tier {
            let pod = at / half * half;
            links.extend((pod..pod + half).map(|aggregation| (at, tier + aggregation)));
            links.extend((0..half).map(|core| (tier + at, 2 * tier + at % half * half + core)));
        }
        let back: Vec<_> = links.iter().map(|(a, b)| (*b, *a)).collect();
        links.extend(back);
        (2 * tier + half * half, links)
    }

    /// The groups, their sizes, and the steps of the search.
    fn searched(switches: usize, links: &[(usize, usize)]) -> (Vec<usize>, Vec<usize>, usize) {
        let mut groups = Groups::new(switches);
        groups.join_pods(links.iter().copied());
        let steps = groups.steps;
        let by_switch = groups.by_switch();
        let mut sizes = vec![0; switches];
        by_switch.iter().for_each(|group| sizes[*group] += 1);
        (by_switch, sizes.into_iter().filter(|size| *size > 0).collect(), steps)
    }

    #[test]
    fn the_pods_of_a_fat_tree_become_the_groups_and_the_core_is_shared_out() {
        let (switches, links) = fat_tree(8);
        let (groups, sizes, _) = searched(switches, &links);
        for at in 0..64 {
            assert_eq!(groups[at] == groups[0], at % 32 < 4, "{at}");
        }
        assert_eq!(sizes, [10; 8]);
    }

    #[test]
    fn the_search_of_thousands_of_switches_costs_some_steps_a_link() {
        for k in [16, 32, 48] {
            let (switches, links) = fat_tree(k);
            let (groups, sizes, steps) = searched(switches, &links);
            let pod = |at: usize| groups[at] == groups[at / (k / 2) * (k / 2)];
            assert!((0..k * k / 2).all(pod), "an edge switch is in the group of its pod");
            assert!(sizes.iter().all(|size| *size <= switches.div_ceil(PODS)));
            assert!(steps < 8 * links.len(), "{steps} steps, {} links", links.len());
        }
    }

    #[test]
    fn a_chain_is_cut_into_spans_and_a_full_mesh_anywhere() {
        let chain: Vec<_> = (1..4_000).map(|at| (at - 1, at)).collect();
        let (groups, sizes, steps) = searched(4_000, &chain);
        assert!(groups.windows(2).filter(|two| two[0] != two[1]).count() < sizes.len());
        assert!(steps < 8 * chain.len(), "{steps}");
        let mesh: Vec<_> = (0..200).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let (_, sizes, steps) = searched(200, &mesh);
        assert!(sizes.iter().all(|size| *size <= 25), "{sizes:?}");
        assert!(steps < 8 * mesh.len(), "{steps}");
    }
}
