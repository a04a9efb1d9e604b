//! The path of each state variable: its register's stage, the steps that compute its index and
//! operands or decide over it, and the steps that use its output.
//!
//! Uses the placement and the flow of fields; must not depend on the drawing.

use super::bits::Place;
use super::depend::Graph;
use super::flow::{Flow, flows};
use super::naming::{At, PASSES, at, id};
use super::node::{Node, Reader};
use crate::arguments;
use serde::Serialize;
use sojourn_p4::ir::{Expr, ExprKind, ObjectId, Program, Unit};
use sojourn_p4::source::SourceMap;
use sojourn_p4::visit;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A pass as this file sees it.
#[derive(Clone, Copy)]
pub(super) struct PassView<'a> {
    /// Its control.
    pub unit: &'a Unit,
    /// Its nodes, merged.
    pub graph: &'a Graph,
    /// The variables that something behind the control reads.
    pub seen: &'a HashSet<Place>,
}

/// A register and the steps around it.
#[derive(Clone, Debug, Serialize)]
pub struct StatePath {
    /// Its name for the control plane.
    pub name: String,
    /// The last part of the name.
    pub short: String,
    /// `ingress` or `egress`.
    pub pass: &'static str,
    /// The stage that holds it: an estimate.
    pub stage: u32,
    /// Type of an entry: `bit<32>`, or the fields of a struct.
    pub entry: String,
    /// Its entries, if the program says so.
    pub size: Option<u64>,
    /// Position of its declaration.
    pub at: Option<At>,
    /// The calls that access it.
    pub accesses: Vec<StateAccess>,
    /// Sources of its index, its operands and the decision to access it.
    pub inputs: Vec<Input>,
    /// Destinations of its output.
    pub outputs: Vec<Output>,
}

/// A call that accesses a register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateAccess {
    /// The register action.
    pub action: String,
    /// The step that it is in.
    pub step: String,
    /// Whether it looks at the memory word.
    pub reads: bool,
    /// Whether it changes the memory word.
    pub writes: bool,
    /// Position of the call.
    pub at: Option<At>,
}

/// Something that a register's access needs from the packet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Input {
    /// The stage that computes it; none if it comes with the packet.
    pub stage: Option<u32>,
    /// `index`, `operand` or `condition` (whether the access is made at all).
    pub role: &'static str,
    /// The field; the text of a condition.
    pub field: String,
    /// The step that computes it.
    pub step: Option<String>,
}

/// Something that is done with a register's output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Output {
    /// The stage that uses it; none if it leaves with the packet.
    pub stage: Option<u32>,
    /// `condition`, `key`, `index`, `operand` (of an instruction), `state` (of a stateful ALU),
    /// `hash` or `packet` (it leaves with the packet).
    pub role: &'static str,
    /// The field that carries it.
    pub field: String,
    /// User of the register.
    pub name: String,
    /// The step that uses it.
    pub step: Option<String>,
}

/// The paths of a pass, in the order of their stages.
pub(super) fn paths(
    program: &Program,
    pass: usize,
    view: PassView<'_>,
    stages: &[u32],
    sources: &SourceMap,
) -> Vec<StatePath> {
    let nodes = &view.graph.nodes;
    let mut by_register: BTreeMap<ObjectId, Around> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for access in &node.accesses {
            by_register.entry(access.register).or_default().nodes.insert(at);
        }
    }
    let around = Surroundings { pass, view, stages };
    for flow in flows(nodes, view.seen) {
        if let Some(register) = flow.input_of.and_then(|id| by_register.get_mut(&id)) {
            register.inputs.insert(around.input(&flow));
        }
        if let Some(register) = flow.output_of.and_then(|id| by_register.get_mut(&id)) {
            register.outputs.insert(around.output(&flow));
        }
    }
    let mut paths: Vec<StatePath> = by_register
        .into_iter()
        .map(|(register, mut known)| {
            known.inputs.extend(known.nodes.iter().filter_map(|at| around.guard(&nodes[*at])));
            around.path(program, register, known, sources)
        })
        .collect();
    paths.sort_by_key(|path| path.stage);
    paths
}

/// Known facts about a register during the walk of the flows.
#[derive(Default)]
struct Around {
    nodes: BTreeSet<usize>,
    inputs: BTreeSet<Input>,
    outputs: BTreeSet<Output>,
}

struct Surroundings<'a> {
    pass: usize,
    view: PassView<'a>,
    stages: &'a [u32],
}

impl Surroundings<'_> {
    fn node(&self, at: usize) -> &Node {
        &self.view.graph.nodes[at]
    }

    fn input(&self, flow: &Flow) -> Input {
        let role = match flow.by {
            Some(Reader::Stateful) => "operand",
            _ => "index",
        };
        Input {
            stage: flow.from.map(|from| self.stages[from] + self.node(from).extra),
            role,
            field: flow.field.name(self.view.unit),
            step: flow.from.map(|from| id(self.pass, from)),
        }
    }

    /// The decision whether an access is made.
    fn guard(&self, node: &Node) -> Option<Input> {
        let guard = node.guard?;
        Some(Input {
            stage: Some(self.stages[guard]),
            role: "condition",
            field: self.node(guard).name.clone(),
            step: Some(id(self.pass, guard)),
        })
    }

    fn output(&self, flow: &Flow) -> Output {
        let role = match flow.by {
            Some(Reader::Gateway) => "condition",
            Some(Reader::Match) => "key",
            Some(Reader::Index) => "index",
            Some(Reader::Action) => "operand",
            Some(Reader::Stateful) => "state",
            Some(Reader::Hash) => "hash",
            None => "packet",
        };
        Output {
            stage: flow.to.map(|to| self.stages[to]),
            role,
            field: flow.field.name(self.view.unit),
            name: flow.to.map_or_else(String::new, |to| self.node(to).name.clone()),
            step: flow.to.map(|to| id(self.pass, to)),
        }
    }

    fn path(
        &self,
        program: &Program,
        register: ObjectId,
        known: Around,
        sources: &SourceMap,
    ) -> StatePath {
        let object = &program.objects[register.index()];
        let mut accesses = Vec::new();
        for node in &known.nodes {
            for access in self.node(*node).accesses.iter().filter(|a| a.register == register) {
                let (reads, writes) = touches(program, access.action);
                accesses.push(StateAccess {
                    action: short(&program.objects[access.action.index()].name),
                    step: id(self.pass, *node),
                    reads,
                    writes,
                    at: at(sources, access.span),
                });
            }
        }
        StatePath {
            name: object.name.to_string(),
            short: short(&object.name),
            pass: PASSES[self.pass],
            stage: known.nodes.first().map_or(0, |node| self.stages[*node]),
            entry: entry_type(program, register),
            size: arguments::integer(object, "size").ok(),
            at: at(sources, object.span),
            accesses,
            inputs: known.inputs.into_iter().collect(),
            outputs: known.outputs.into_iter().collect(),
        }
    }
}

fn short(name: &str) -> String {
    name.rsplit('.').next().unwrap_or_default().to_owned()
}

/// Whether a register action looks at its memory word, and whether it changes it.
fn touches(program: &Program, action: ObjectId) -> (bool, bool) {
    let object = &program.objects[action.index()];
    if object.methods.is_empty() {
        return (true, true);
    }
    let (mut reads, mut writes) = (false, false);
    for method in &object.methods {
        let Some(value) = method.params.first() else { continue };
        let memory: HashSet<Place> = super::live::places(&value.layout).collect();
        visit::statements(&method.body, &mut |stmt| {
            visit::written(stmt, &mut |slot| writes |= memory.contains(&Place::Narrow(slot)));
            for expr in visit::expressions(stmt) {
                reads |= reads_any(expr, &memory);
            }
        });
    }
    (reads, writes)
}

fn reads_any(expr: &Expr, memory: &HashSet<Place>) -> bool {
    match &expr.kind {
        ExprKind::Slot(slot) => memory.contains(&Place::Narrow(*slot)),
        _ => visit::operands(expr).into_iter().any(|operand| reads_any(operand, memory)),
    }
}

/// The type of a register's entry, a struct by its fields.
fn entry_type(program: &Program, register: ObjectId) -> String {
    use sojourn_p4::types::Type;
    match program.objects[register.index()].type_args.first() {
        Some(Type::Struct(fields)) => {
            let fields = fields.fields.iter().map(|field| format!("{} {}", field.ty, field.name));
            fields.collect::<Vec<_>>().join(", ")
        }
        Some(ty) => ty.to_string(),
        None => String::new(),
    }
}

/// Entry and number of entries of a register.
pub(super) fn entry_text(program: &Program, register: ObjectId) -> String {
    let entry = entry_type(program, register);
    let size: Option<u64> = arguments::integer(&program.objects[register.index()], "size").ok();
    match size {
        Some(size) => format!("{size} entries of {entry}"),
        None => format!("one entry of {entry} for each of the table's"),
    }
}
