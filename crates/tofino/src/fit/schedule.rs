//! Placement: which node goes to which stage, under dependencies and what the stages have.
//!
//! Stage by stage, the nodes that are ready go in, those with the longest way behind them first, and
//! of several those that fewer others have to be in front of, as the vendor's compiler orders them.
//! Nodes that share a register go together. A table whose entries do not fit goes on in the next
//! stage. The compiler searches longer; where the two differ, this one may need more stages.

use super::bits::Bits;
use super::depend::{Graph, is_table};
use super::node::Kind;
use super::resources::{Amounts, Need, Resource, need};
use sojourn_p4::ir::{ObjectId, Program};
use std::collections::{BTreeMap, HashSet};

/// Stages of the chip.
pub const STAGES: u32 = 12;
/// Stages after which the search gives up.
const MAX_STAGES: u32 = 256;

/// A stage in the making.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Resources used, crossbars included.
    pub used: Amounts,
    /// The nodes: pass (0 ingress, 1 egress) and index.
    pub nodes: Vec<(usize, usize)>,
    crossbar: HashSet<(usize, bool, Bits)>,
    /// Registers, counters and meters that are here.
    objects: HashSet<ObjectId>,
}

/// A placement.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The stages that are used.
    pub stages: Vec<Stage>,
    /// The stage of each node, by pass.
    pub stage: [Vec<u32>; 2],
    /// Resources that each node needs, by pass.
    pub needs: [Vec<Need>; 2],
    /// Nodes that had to wait for a resource: pass, node, resource.
    pub delayed: Vec<(usize, usize, Resource)>,
    /// Nodes that fit no stage.
    pub unplaced: Vec<(usize, usize)>,
}

struct Search<'g> {
    graphs: [&'g Graph; 2],
    needs: [Vec<Need>; 2],
    heights: [Vec<u32>; 2],
    /// Number of nodes before each.
    before: [Vec<usize>; 2],
    /// Members of each group, by pass and group.
    members: [BTreeMap<usize, Vec<usize>>; 2],
    start: [Vec<Option<u32>>; 2],
    /// The last stage of a node whose entries go over several.
    end: [Vec<u32>; 2],
    stages: Vec<Stage>,
    delayed: BTreeMap<(usize, usize), Resource>,
}

/// Places the nodes of both passes.
pub fn place(program: &Program, graphs: [&Graph; 2]) -> Placement {
    let needs = [0, 1].map(|pass| needs(program, graphs[pass], pass));
    let members = [0, 1].map(|pass: usize| {
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, group) in graphs[pass].group.iter().enumerate() {
            members.entry(*group).or_default().push(at);
        }
        members
    });
    let mut search = Search {
        graphs,
        needs,
        heights: graphs.map(heights),
        before: graphs.map(before),
        members,
        start: graphs.map(|graph| vec![None; graph.nodes.len()]),
        end: graphs.map(|graph| vec![0; graph.nodes.len()]),
        stages: Vec::new(),
        delayed: BTreeMap::new(),
    };
    let total = graphs.iter().map(|graph| graph.nodes.len()).sum::<usize>();
    let mut placed = 0;
    let mut stage = 0;
    while placed < total && stage < MAX_STAGES {
        while search.stages.len() <= stage as usize {
            search.stages.push(Stage::default());
        }
        placed += search.fill(stage);
        stage += 1;
    }
    search.result()
}

impl Search<'_> {
    /// Puts into a stage what can go there; the answer is how many nodes.
    fn fill(&mut self, stage: u32) -> usize {
        let mut placed = 0;
        loop {
            let mut ready = self.ready(stage);
            ready.sort_by_key(|(pass, group)| {
                let tallest = self.members[*pass][group].iter().map(|at| self.heights[*pass][*at]);
                let before = self.members[*pass][group].iter().map(|at| self.before[*pass][*at]);
                (std::cmp::Reverse(tallest.max()), before.min(), *pass, *group)
            });
            let mut progress = false;
            for (pass, group) in ready {
                let members = self.members[pass][&group].clone();
                if self.try_group(pass, &members, stage) {
                    placed += members.len();
                    progress = true;
                }
            }
            if !progress {
                return placed;
            }
        }
    }

    /// Groups whose members wait for nothing that is not placed early enough.
    fn ready(&self, stage: u32) -> Vec<(usize, usize)> {
        let mut ready = Vec::new();
        for pass in 0..2 {
            for (group, members) in &self.members[pass] {
                if self.start[pass][members[0]].is_some() {
                    continue;
                }
                let in_time = |at: &usize| {
                    self.graphs[pass].waits[*at].iter().all(|edge| {
                        let inside = members.contains(&edge.from) && edge.distance == 0;
                        let start = self.start[pass][edge.from];
                        let end = self.end[pass][edge.from];
                        inside
                            || start.is_some_and(|_| match edge.distance {
                                0 => end <= stage,
                                more => end + more <= stage,
                            })
                    })
                };
                if members.iter().all(in_time) {
                    ready.push((pass, *group));
                }
            }
        }
        ready
    }

    fn try_group(&mut self, pass: usize, members: &[usize], stage: u32) -> bool {
        let mut trial = self.stages[stage as usize].clone();
        let mut spill = Amounts::default();
        for at in members {
            let need = &self.needs[pass][*at];
            let node = &self.graphs[pass].nodes[*at];
            let mut fixed = need.fixed;
            for (object, amounts) in &need.shared {
                if trial.objects.insert(*object) {
                    fixed.take(amounts);
                }
            }
            if self.meets_shared_byte(&trial, pass, *at) {
                return false;
            }
            add_crossbar(&mut trial, pass, need, &mut fixed);
            if let Kind::Table(_) = node.kind
                && node.registers.is_empty()
            {
                spill = split(&trial.used, &mut fixed);
            }
            if let Some(resource) = trial.used.exceeded(&fixed).next() {
                self.delayed.insert((pass, *at), resource);
                return false;
            }
            trial.used.take(&fixed);
            trial.nodes.push((pass, *at));
        }
        self.stages[stage as usize] = trial;
        for at in members {
            self.start[pass][*at] = Some(stage);
            self.end[pass][*at] = stage;
        }
        if spill != Amounts::default() {
            self.go_on(pass, members[0], stage + 1, spill);
        }
        true
    }

    /// True if something in the stage that a packet can meet too writes another field of the byte
    /// that small fields share.
    fn meets_shared_byte(&self, stage: &Stage, pass: usize, at: usize) -> bool {
        let node = &self.graphs[pass].nodes[at];
        let others = stage.nodes.iter().filter(|(other, _)| *other == pass);
        others.map(|(_, other)| &self.graphs[pass].nodes[*other]).any(|other| {
            let both = node.shared_byte != 0 && other.shared_byte != 0;
            both && node.shared_byte != other.shared_byte && !node.excludes(other)
        })
    }

    /// The rest of a table's entries, in the stages behind its first.
    fn go_on(&mut self, pass: usize, at: usize, mut stage: u32, mut rest: Amounts) {
        while rest != Amounts::default() && stage < MAX_STAGES {
            while self.stages.len() <= stage as usize {
                self.stages.push(Stage::default());
            }
            let used = &mut self.stages[stage as usize];
            let mut now = rest;
            rest = split(&used.used, &mut now);
            now.0[Resource::LogicalTables as usize] = 1;
            used.used.take(&now);
            used.nodes.push((pass, at));
            self.end[pass][at] = stage;
            stage += 1;
        }
    }

    fn result(self) -> Placement {
        let (stages, needs) = (self.stages, self.needs);
        let mut placement = Placement { stages, needs, ..Placement::default() };
        while placement.stages.last().is_some_and(|stage| stage.nodes.is_empty()) {
            placement.stages.pop();
        }
        for pass in 0..2 {
            for (at, start) in self.start[pass].iter().enumerate() {
                match start {
                    Some(_) => {}
                    None => placement.unplaced.push((pass, at)),
                }
                placement.stage[pass].push(start.unwrap_or(0));
            }
        }
        placement.delayed =
            self.delayed.into_iter().map(|((pass, at), why)| (pass, at, why)).collect();
        placement
    }
}

/// Bytes of fields that are not yet on the stage's crossbar.
fn add_crossbar(stage: &mut Stage, pass: usize, need: &Need, fixed: &mut Amounts) {
    let exact = need.exact.iter().map(|bits| (false, bits));
    for (ternary, bits) in exact.chain(need.ternary.iter().map(|bits| (true, bits))) {
        if stage.crossbar.insert((pass, ternary, *bits)) {
            let resource = match ternary {
                true => Resource::TernaryCrossbarBytes,
                false => Resource::ExactCrossbarBytes,
            };
            fixed.0[resource as usize] += bits.bytes();
        }
    }
}

/// Leaves in `wanted` the blocks that a stage still has; the answer is the rest. A table that
/// finds no block at all stays whole.
fn split(used: &Amounts, wanted: &mut Amounts) -> Amounts {
    let mut rest = Amounts::default();
    for resource in [Resource::SramBlocks, Resource::TcamBlocks] {
        let free = resource.limit().saturating_sub(used.get(resource));
        let wants = wanted.get(resource);
        if wants > free && free > 0 {
            wanted.0[resource as usize] = free;
            rest.0[resource as usize] = wants - free;
        }
    }
    rest
}

/// How many stages follow at least, for each node.
fn heights(graph: &Graph) -> Vec<u32> {
    let mut heights: Vec<u32> = graph.nodes.iter().map(|node| node.extra).collect();
    for at in (0..graph.nodes.len()).rev() {
        for edge in &graph.waits[at] {
            heights[edge.from] = heights[edge.from].max(heights[at] + edge.distance);
        }
    }
    heights
}

/// How many nodes each waits for, those among them that others wait for.
fn before(graph: &Graph) -> Vec<usize> {
    let mut all: Vec<HashSet<usize>> = Vec::with_capacity(graph.nodes.len());
    for waits in &graph.waits {
        let direct = waits.iter().map(|edge| edge.from);
        let mut mine: HashSet<usize> = direct.clone().collect();
        direct.for_each(|from| mine.extend(&all[from]));
        all.push(mine);
    }
    all.iter().map(HashSet::len).collect()
}

fn needs(program: &Program, graph: &Graph, pass: usize) -> Vec<Need> {
    let stage = graph.earliest(|edge| edge.distance).unwrap_or(vec![0; graph.nodes.len()]);
    let mut guarded: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, node) in graph.nodes.iter().enumerate().filter(|(_, node)| is_table(node)) {
        guarded.entry(node.guard.unwrap_or(usize::MAX)).or_default().push(at);
    }
    // A gateway sits in the logical table of a table that it guards, if it has one in its stage.
    let attached = |at: usize| {
        guarded.get(&at).is_some_and(|list| list.iter().any(|later| stage[*later] == stage[at]))
    };
    let needs = graph.nodes.iter().enumerate();
    needs.map(|(at, node)| need(program, node, pass, attached(at))).collect()
}
