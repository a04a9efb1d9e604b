//! The estimate as data: what goes where, what it uses, and why it takes so long.

use super::bits::Bits;
use super::depend::{Dependency, Edge, Graph};
use super::naming::{At, PASSES, at, id};
use super::node::{Kind, Node, Reader};
use super::resources::{self, Amounts, Resource, containers};
use super::schedule::Placement;
use super::state::{self, PassView, StatePath};
use crate::chip::Chip;
use serde::Serialize;
use sojourn_p4::ir::{Program, Unit};
use sojourn_p4::source::SourceMap;
use std::collections::BTreeMap;

/// Whether and how a program fits the stages of the chip.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// The chip.
    pub chip: &'static str,
    /// Stages that it has.
    pub stages_available: u32,
    /// Stages that the placement takes: an estimate.
    pub stages_used: u32,
    /// True if that is enough.
    pub fits: bool,
    /// Stages that no compiler can do without.
    pub stages_at_least: u32,
    /// Ingress and egress.
    pub passes: [Pass; 2],
    /// Each register with the steps before and behind it.
    pub state: Vec<StatePath>,
    /// The stages that are used, in order.
    pub stages: Vec<Stage>,
    /// Resources of the whole program.
    pub totals: Vec<Total>,
    /// Packet header vector: an estimate, each field in containers of its own.
    pub containers: Vec<Containers>,
    /// Steps without a stage: they need more than a stage has or wait for such a step. The numbers
    /// of stages are then those of the rest.
    pub unplaced: Vec<String>,
    /// Steps that could not be placed, and those that waited for a resource rather than a field.
    pub notes: Vec<String>,
    /// The same for each pipeline behind the first, where a program has several.
    pub others: Vec<Fit>,
}

/// One of the two passes.
#[derive(Clone, Debug, Serialize)]
pub struct Pass {
    /// `ingress` or `egress`.
    pub name: &'static str,
    /// Stages from 0 to the last that it uses.
    pub stages: u32,
    /// Stages that its dependencies alone take.
    pub critical_stages: u32,
    /// The longest chain of steps that need each other.
    pub critical_path: Vec<Step>,
}

/// A step of the critical path.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// The same as of what is placed.
    pub id: String,
    /// The earliest stage in which it can be.
    pub stage: u32,
    /// `table`, `gateway`, `stateful`, `action` or `switch`.
    pub kind: &'static str,
    /// Name of the step.
    pub name: String,
    /// Source position.
    pub at: Option<At>,
    /// Reason why it is not earlier.
    pub reason: Option<Reason>,
}

/// Reason why a step waits for the one before.
#[derive(Clone, Debug, Serialize)]
pub struct Reason {
    /// The kind of dependency; none if the two share a register.
    pub dependency: Option<Dependency>,
    /// The field.
    pub field: Option<String>,
    /// Position of the write in the step before.
    pub written: Option<At>,
    /// All of it as half a sentence.
    pub text: String,
}

/// A stage.
#[derive(Clone, Debug, Serialize)]
pub struct Stage {
    /// Its number, from 0.
    pub stage: u32,
    /// Steps placed in it.
    pub placed: Vec<Placed>,
    /// Resources used.
    pub used: BTreeMap<Resource, u32>,
}

/// Something in a stage.
#[derive(Clone, Debug, Serialize)]
pub struct Placed {
    /// Unique in the program; parts of one table in several stages share it.
    pub id: String,
    /// `ingress` or `egress`.
    pub pass: &'static str,
    /// `table`, `gateway`, `stateful`, `action` or `switch`.
    pub kind: &'static str,
    /// Name of the step.
    pub name: String,
    /// Key and size of a table, entries of a register; otherwise empty.
    pub detail: String,
    /// Source position.
    pub at: Option<At>,
    /// Resources that it needs of the stage, where not 0: an estimate. Registers and fields that
    /// others of the stage use too are counted for each.
    pub needs: BTreeMap<Resource, u32>,
    /// Its dependencies.
    pub waits: Vec<Wait>,
}

/// Dependency of a step in a stage.
#[derive(Clone, Debug, Serialize)]
pub struct Wait {
    /// The earlier step.
    pub on: String,
    /// Stages between the two, at least.
    pub stages: u32,
    /// Reason.
    #[serde(flatten)]
    pub reason: Reason,
}

/// Use of a resource in all stages together.
#[derive(Clone, Debug, Serialize)]
pub struct Total {
    /// The resource.
    pub resource: Resource,
    /// For people.
    pub name: &'static str,
    /// In all stages.
    pub used: u32,
    /// Of so many.
    pub limit: u32,
    /// In the fullest stage.
    pub most: u32,
    /// Of so many.
    pub limit_per_stage: u32,
    /// True if the compiler may need another number.
    pub estimate: bool,
}

/// Containers of one width.
#[derive(Clone, Debug, Serialize)]
pub struct Containers {
    /// Bits of each.
    pub width: u32,
    /// Used by ingress and egress.
    pub used: u32,
    /// Of so many, not counting those that only pass from parser to deparser.
    pub limit: u32,
}

/// Makes the data.
pub(super) fn report(
    chip: &Chip,
    program: &Program,
    passes: [PassView<'_>; 2],
    placement: &Placement,
    stages_at_least: u32,
    sources: &SourceMap,
) -> Fit {
    let units = passes.map(|pass| pass.unit);
    let graphs = passes.map(|pass| pass.graph);
    let state = (0..2).flat_map(|pass| {
        state::paths(program, pass, passes[pass], &placement.stage[pass], sources)
    });
    let state = state.collect();
    let stages_used = placement.stages.len() as u32;
    let passes = [0, 1].map(|pass: usize| Pass {
        name: PASSES[pass],
        stages: pass_stages(pass, placement),
        critical_stages: critical_stages(graphs[pass]),
        critical_path: critical_path(pass, units[pass], graphs[pass], sources),
    });
    Fit {
        chip: chip.full_name,
        stages_available: chip.stages,
        stages_used,
        fits: stages_used <= chip.stages && placement.unplaced.is_empty(),
        stages_at_least,
        passes,
        state,
        stages: stages(program, units, graphs, placement, sources),
        totals: totals(chip, placement),
        containers: phv(units, graphs),
        unplaced: unplaced(graphs, placement),
        notes: notes(graphs, placement),
        others: Vec::new(),
    }
}

fn pass_stages(pass: usize, placement: &Placement) -> u32 {
    let uses = |stage: &super::schedule::Stage| stage.nodes.iter().any(|(p, _)| *p == pass);
    placement.stages.iter().rposition(uses).map_or(0, |last| last as u32 + 1)
}

fn critical_stages(graph: &Graph) -> u32 {
    graph.earliest(|edge| edge.distance).map_or(0, |stage| graph.depth(&stage))
}

fn stages(
    program: &Program,
    units: [&Unit; 2],
    graphs: [&Graph; 2],
    placement: &Placement,
    sources: &SourceMap,
) -> Vec<Stage> {
    let stage = |(number, stage): (usize, &super::schedule::Stage)| {
        let mut nodes = stage.nodes.clone();
        nodes.sort_unstable();
        let placed = nodes.iter().map(|(pass, index)| {
            let mut placed = placed(program, units[*pass], graphs[*pass], (*pass, *index), sources);
            if placement.stage[*pass][*index] != number as u32 {
                placed.name.push_str(" (continued)");
            }
            placed.needs = placement.needs[*pass][*index].all().nonzero().collect();
            placed
        });
        let used = Resource::ALL.iter().map(|resource| (*resource, stage.used.get(*resource)));
        Stage { stage: number as u32, placed: placed.collect(), used: used.collect() }
    };
    placement.stages.iter().enumerate().map(stage).collect()
}

fn placed(
    program: &Program,
    unit: &Unit,
    graph: &Graph,
    (pass, index): (usize, usize),
    sources: &SourceMap,
) -> Placed {
    let node = &graph.nodes[index];
    let wait = |edge: &Edge| Wait {
        on: id(pass, edge.from),
        stages: edge.distance,
        reason: reason(unit, graph, edge, sources),
    };
    Placed {
        id: id(pass, index),
        pass: PASSES[pass],
        kind: node.kind_name(),
        name: node.name.clone(),
        detail: detail(program, node),
        at: at(sources, node.span),
        needs: BTreeMap::new(),
        waits: graph.waits[index].iter().map(wait).collect(),
    }
}

/// Key and size of a table, entries of registers.
fn detail(program: &Program, node: &Node) -> String {
    if let Kind::Table(id) = node.kind {
        let table = &program.tables[id.index()];
        let keys = table.keys.iter().map(|key| format!("{} {}", key.name, key.match_kind));
        let keys: Vec<String> = keys.collect();
        let entries = resources::entries(table);
        return match &keys[..] {
            [] => "no key".to_owned(),
            _ => format!("key: {}; {entries} entries", keys.join(", ")),
        };
    }
    let mut registers = node.registers.clone();
    registers.sort_unstable();
    registers.dedup();
    let texts = registers.iter().map(|id| state::entry_text(program, *id));
    texts.collect::<Vec<_>>().join(", ")
}

fn totals(chip: &Chip, placement: &Placement) -> Vec<Total> {
    let mut sum = Amounts::default();
    placement.stages.iter().for_each(|stage| sum.take(&stage.used));
    let total = |resource: &Resource| Total {
        resource: *resource,
        name: resource.name(),
        used: sum.get(*resource),
        limit: resource.limit() * chip.stages,
        most: placement.stages.iter().map(|s| s.used.get(*resource)).max().unwrap_or(0),
        limit_per_stage: resource.limit(),
        estimate: resource.is_estimate(),
    };
    Resource::ALL.iter().map(total).collect()
}

fn phv(units: [&Unit; 2], graphs: [&Graph; 2]) -> Vec<Containers> {
    let [a, b] = [0, 1].map(|pass: usize| containers(units[pass], &graphs[pass].nodes));
    let widths = [(8, 64), (16, 96), (32, 64)];
    let each = widths.iter().zip(a.iter().zip(&b));
    each.map(|(&(width, limit), (a, b))| Containers { width, used: a + b, limit }).collect()
}

fn unplaced(graphs: [&Graph; 2], placement: &Placement) -> Vec<String> {
    let name = |(pass, index): &(usize, usize)| {
        format!("`{}` of {}", graphs[*pass].nodes[*index].name, PASSES[*pass])
    };
    placement.unplaced.iter().map(name).collect()
}

fn notes(graphs: [&Graph; 2], placement: &Placement) -> Vec<String> {
    let mut notes = Vec::new();
    for (pass, index, resource) in placement.delayed.iter().take(8) {
        let name = &graphs[*pass].nodes[*index].name;
        let why = resource.name();
        notes.push(format!("{}: `{name}` waited for {why} (estimate)", PASSES[*pass]));
    }
    for (pass, index) in placement.unplaced.iter().take(8) {
        let name = &graphs[*pass].nodes[*index].name;
        notes.push(format!("{}: `{name}` has no stage (estimate)", PASSES[*pass]));
    }
    notes
}

/// The longest chain, from its first step to its last.
fn critical_path(pass: usize, unit: &Unit, graph: &Graph, sources: &SourceMap) -> Vec<Step> {
    let Some(stage) = graph.earliest(|edge| edge.distance) else { return Vec::new() };
    let end = |at: &usize| (stage[*at] + graph.nodes[*at].extra, *at);
    let Some(mut at) = (0..graph.nodes.len()).max_by_key(end) else { return Vec::new() };
    let mut steps = Vec::new();
    loop {
        let node = &graph.nodes[at];
        let tight = |edge: &&Edge| stage[edge.from] + edge.distance == stage[at];
        let edge = graph.waits[at].iter().filter(tight).max_by_key(|edge| {
            (edge.distance, edge.dependency == Dependency::Control, edge.certain)
        });
        let waits = edge.filter(|_| stage[at] > 0);
        let sharing = match waits {
            None if stage[at] > 0 => holder(graph, &stage, at),
            _ => None,
        };
        let reason = match (waits, sharing) {
            (Some(edge), _) => Some(reason(unit, graph, edge, sources)),
            (None, Some(other)) => Some(Reason {
                dependency: None,
                field: None,
                written: None,
                text: format!("shares a register with `{}`", graph.nodes[other].name),
            }),
            (None, None) => None,
        };
        steps.push(Step {
            id: id(pass, at),
            stage: stage[at],
            kind: node.kind_name(),
            name: node.name.clone(),
            at: self::at(sources, node.span),
            reason,
        });
        match waits.map(|edge| edge.from).or(sharing) {
            Some(before) if steps.len() <= graph.nodes.len() => at = before,
            _ => break,
        }
    }
    steps.reverse();
    steps
}

/// The node that holds a group in its stage.
fn holder(graph: &Graph, stage: &[u32], at: usize) -> Option<usize> {
    (0..graph.nodes.len()).find(|other| {
        let waits = &graph.waits[*other];
        *other != at
            && graph.group[*other] == graph.group[at]
            && waits.iter().any(|edge| stage[edge.from] + edge.distance == stage[at])
    })
}

fn reason(unit: &Unit, graph: &Graph, edge: &Edge, sources: &SourceMap) -> Reason {
    let field = edge.field.map(|bits: Bits| bits.name(unit));
    let written = at(sources, edge.written);
    let name = field.as_deref().unwrap_or_default();
    let mut text = match (edge.dependency, edge.by) {
        (Dependency::Match, Some(Reader::Gateway)) => format!("decides on {name}"),
        (Dependency::Match, Some(Reader::Stateful)) => format!("its stateful ALU reads {name}"),
        (Dependency::Match, Some(Reader::Hash)) => format!("hashes {name}"),
        (Dependency::Match, Some(Reader::Index)) => format!("its index is {name}"),
        (Dependency::Match, _) => format!("is matched on {name}"),
        (Dependency::Action, _) => format!("computes with {name}"),
        (Dependency::Output, _) => format!("writes {name} too"),
        (Dependency::Anti, _) => format!("overwrites {name} after it was read"),
        (Dependency::Control, _) => "runs if the one before says so".to_owned(),
    };
    let taken = graph.nodes[edge.from].extra;
    if taken > 0 {
        text.push_str(&format!(", which takes {} steps", taken + 1));
    }
    Reason { dependency: Some(edge.dependency), field, written, text }
}
