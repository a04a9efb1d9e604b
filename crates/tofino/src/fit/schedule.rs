//! Placement: which node goes to which stage, under dependencies and what the stages have.
//!
//! Stage by stage, the nodes that are ready go in, those with the longest way behind them first, and
//! of several those that fewer others have to be in front of, as the vendor's compiler orders them.
//! Nodes that share a register go together. A table whose entries do not fit goes on in the next
//! stage. The compiler searches longer; where the two differ, this one may need more stages.

use super::bits::Bits;
use super::depend::{Graph, is_table};
use super::node::Kind;
use super::resources::{Amounts, Need, Resource, need, packed_bytes};
use sojourn_p4::ir::{ObjectId, Program};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

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
    /// Rows of instruction memory of ingress and egress.
    rows: [Vec<Row>; 2],
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

/// A row of instruction memory.
#[derive(Clone, Debug)]
struct Row {
    /// The fields that its instructions write.
    fields: Vec<Bits>,
    /// True if it holds two actions.
    full: bool,
}

struct Search<'g> {
    graphs: [&'g Graph; 2],
    needs: [Vec<Need>; 2],
    heights: [Vec<u32>; 2],
    /// Number of nodes before each.
    before: [Vec<usize>; 2],
    /// Members of each group, by pass and group.
    members: [BTreeMap<usize, Vec<usize>>; 2],
    /// The nodes that wait for each.
    followers: [Vec<Vec<usize>>; 2],
    start: [Vec<Option<u32>>; 2],
    /// The first stage that each may have.
    first: [Vec<u32>; 2],
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
        followers: graphs.map(followers),
        start: graphs.map(|graph| vec![None; graph.nodes.len()]),
        first: graphs.map(first_stages),
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
    /// Puts into a stage the groups that can go there, the first in order of those that are ready
    /// each time; the answer is how many nodes.
    fn fill(&mut self, stage: u32) -> usize {
        let mut placed = 0;
        let mut ready: BTreeSet<_> = self.ready(stage).map(|group| self.order(group)).collect();
        while let Some((.., pass, group)) = ready.pop_first() {
            let members = self.members[pass][&group].clone();
            // A group without room now has none later, as a stage only fills.
            if !self.try_group(pass, &members, stage) {
                continue;
            }
            placed += members.len();
            for at in members.iter().flat_map(|at| &self.followers[pass][*at]) {
                let group = (pass, self.graphs[pass].group[*at]);
                if self.is_ready(group, stage) {
                    ready.insert(self.order(group));
                }
            }
        }
        placed
    }

    /// The place of a group among those that are ready, with its pass and number.
    fn order(&self, (pass, group): (usize, usize)) -> (Reverse<u32>, usize, usize, usize) {
        let members = &self.members[pass][&group];
        let tallest = members.iter().map(|at| self.heights[pass][*at]).max().unwrap_or(0);
        let before = members.iter().map(|at| self.before[pass][*at]).min().unwrap_or(0);
        (Reverse(tallest), before, pass, group)
    }

    /// Groups whose members wait for nothing that is not placed early enough.
    fn ready(&self, stage: u32) -> impl Iterator<Item = (usize, usize)> {
        let all =
            (0..2).flat_map(|pass| self.members[pass].keys().map(move |group| (pass, *group)));
        all.filter(move |group| self.is_ready(*group, stage))
    }

    fn is_ready(&self, (pass, group): (usize, usize), stage: u32) -> bool {
        let members = &self.members[pass][&group];
        let in_time = |at: &usize| {
            self.graphs[pass].waits[*at].iter().all(|edge| {
                let inside = members.contains(&edge.from) && edge.distance == 0;
                let end = self.end[pass][edge.from] + edge.distance;
                inside || (self.start[pass][edge.from].is_some() && end <= stage)
            })
        };
        let allowed = |at: &usize| self.first[pass][*at] <= stage;
        self.start[pass][members[0]].is_none()
            && members.iter().all(allowed)
            && members.iter().all(in_time)
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
            add_words(&mut trial.rows[pass], need, &mut fixed);
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
    let new = |ternary: bool, fields: &HashSet<Bits>, seen: &mut HashSet<(usize, bool, Bits)>| {
        fields.iter().copied().filter(|bits| seen.insert((pass, ternary, *bits))).collect()
    };
    let exact: Vec<Bits> = new(false, &need.exact, &mut stage.crossbar);
    let ternary: Vec<Bits> = new(true, &need.ternary, &mut stage.crossbar);
    fixed.0[Resource::ExactCrossbarBytes as usize] += exact.iter().map(Bits::bytes).sum::<u32>();
    fixed.0[Resource::TernaryCrossbarBytes as usize] += packed_bytes(&ternary);
}

/// Instruction words go into the first row that has room, as the compiler's do. One place of the first
/// row is that of `nop`.
fn add_words(rows: &mut Vec<Row>, need: &Need, fixed: &mut Amounts) {
    for word in &need.words {
        let meets = |row: &Row| row.fields.iter().any(|bits| word.iter().any(|w| w.overlap(bits)));
        match rows.iter_mut().find(|row| !row.full && !meets(row)) {
            Some(row) => {
                row.fields.extend(word);
                row.full = true;
            }
            None => {
                rows.push(Row { fields: word.clone(), full: rows.is_empty() });
                fixed.0[need.rows() as usize] += 1;
            }
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

/// Least number of stages that follow, for each node. Nodes of one stage have the same number.
fn heights(graph: &Graph) -> Vec<u32> {
    let mut heights: Vec<u32> = graph.nodes.iter().map(|node| node.extra).collect();
    let mut shared = vec![0; graph.nodes.len()];
    // Each round settles at least one group.
    for _ in 0..=graph.nodes.len() {
        let before = shared.clone();
        for at in (0..graph.nodes.len()).rev() {
            let group = graph.group[at];
            shared[group] = heights[at].max(shared[group]);
            heights[at] = shared[group];
            for edge in &graph.waits[at] {
                heights[edge.from] = heights[edge.from].max(heights[at] + edge.distance);
            }
        }
        if shared == before {
            break;
        }
    }
    heights
}

/// The first stage that each node may have: that of `@stage`, and of a gateway that of its company.
fn first_stages(graph: &Graph) -> Vec<u32> {
    let soonest = graph.with_company();
    let nodes = graph.nodes.iter().enumerate();
    let first = nodes.map(|(at, node)| match graph.company[at].is_empty() {
        true => node.first_stage,
        false => node.first_stage.max(soonest[at]),
    });
    first.collect()
}

/// The nodes that wait for each.
fn followers(graph: &Graph) -> Vec<Vec<usize>> {
    let mut followers = vec![Vec::new(); graph.nodes.len()];
    for (at, waits) in graph.waits.iter().enumerate() {
        waits.iter().for_each(|edge| followers[edge.from].push(at));
    }
    followers
}

/// Number of nodes that each waits for, those among them that others wait for.
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
    let stage = graph.with_company();
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
