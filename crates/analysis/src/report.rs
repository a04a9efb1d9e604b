//! Result of the analysis as data.

use super::access_steps::{Kind, StateAccess};
use super::atomic_blocks::strongly_connected_components;
use super::dependencies::ControlDependencies;
use super::variable_set::VariableSet;
use super::variables::{Variables, size};
use serde::Serialize;
use sojourn_p4::ir::{Program, Unit};
use sojourn_p4::source::{SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The state variables of a program and what they depend on.
#[derive(Clone, Debug, Serialize)]
pub struct Dependencies {
    /// The controls that have state.
    pub controls: Vec<Control>,
}

/// A control.
#[derive(Clone, Debug, Serialize)]
pub struct Control {
    /// Its name.
    pub name: String,
    /// Its state variables, in the order of first access.
    pub variables: Vec<Variable>,
    /// The statements that access state or depend on it, in the order of the program.
    pub steps: Vec<Step>,
    /// Flows between variables.
    pub flows: Vec<Flow>,
    /// The variables in groups, each before those that it flows into.
    pub blocks: Vec<Block>,
}

/// A state variable.
#[derive(Clone, Debug, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The register that holds it.
    pub register: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Number of entries of the register, if the program gives it.
    pub size: Option<u64>,
    /// Position of the register's declaration.
    pub at: Option<Place>,
}

/// A source position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A statement that accesses state, or depends on it.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// Number of enclosing conditions.
    pub depth: u32,
    /// Its text on one line, conditions with their `if` or `else`.
    pub text: String,
    /// Source position.
    pub at: Option<Place>,
    /// Variables that are read here.
    pub reads: Vec<String>,
    /// Other variables on which its value depends.
    pub uses: Vec<String>,
    /// Variables that are written here.
    pub writes: Vec<Written>,
    /// True if it drops the packet.
    pub drops: bool,
}

/// A write.
#[derive(Clone, Debug, Serialize)]
pub struct Written {
    /// The variable.
    pub name: String,
    /// The variables on which the new value, or the write itself, depends.
    pub from: Vec<String>,
}

/// One variable flows into another: the value written there depends on the value read here.
#[derive(Clone, Debug, Serialize)]
pub struct Flow {
    /// Variable read.
    pub from: String,
    /// Variable written.
    pub to: String,
    /// Position of the first write.
    pub at: Option<Place>,
    /// The text there.
    pub text: String,
}

/// Variables that have to be read and written in one step.
#[derive(Clone, Debug, Serialize)]
pub struct Block {
    /// The variables.
    pub variables: Vec<String>,
    /// Number of registers that hold them.
    pub registers: usize,
    /// True if a value written to them depends on a value read from them.
    pub read_modify_write: bool,
}

/// The report of a control; `None` if it has no state.
pub(super) fn control(
    program: &Program,
    unit: &Unit,
    variables: &Variables,
    found: &ControlDependencies,
    sources: &SourceMap,
) -> Option<Control> {
    let touched = order(&found.steps.list);
    if touched.is_empty() {
        return None;
    }
    let number: BTreeMap<usize, usize> =
        touched.iter().enumerate().map(|(at, variable)| (*variable, at)).collect();
    let names = Names { variables, sources };
    let flows = found.flows.iter().map(|((from, to), span)| Flow {
        from: names.name(*from),
        to: names.name(*to),
        at: place(sources, *span),
        text: names.text(*span),
    });
    let edges: Vec<(usize, usize)> =
        found.flows.keys().map(|(from, to)| (number[from], number[to])).collect();
    let grouped = strongly_connected_components(touched.len(), edges.iter().copied());
    let block = |group: Vec<usize>| Block {
        variables: group.iter().map(|at| names.name(touched[*at])).collect(),
        registers: group
            .iter()
            .map(|at| variables.list[touched[*at]].register)
            .collect::<BTreeSet<_>>()
            .len(),
        read_modify_write: group.len() > 1 || edges.contains(&(group[0], group[0])),
    };
    let variable = |at: &usize| {
        let variable = &variables.list[*at];
        let object = &program.objects[variable.register.index()];
        Variable {
            name: variable.name.clone(),
            register: object.name.to_string(),
            ty: variable.ty.clone(),
            size: size(object),
            at: place(sources, object.span),
        }
    };
    Some(Control {
        name: unit.name.to_string(),
        variables: touched.iter().map(variable).collect(),
        steps: found.steps.list.iter().map(|touch| names.step(touch)).collect(),
        flows: flows.collect(),
        blocks: grouped.into_iter().map(block).collect(),
    })
}

/// The variables in the order of first access.
fn order(steps: &[StateAccess]) -> Vec<usize> {
    let mut known = BTreeSet::new();
    let mut order = Vec::new();
    for step in steps {
        let written = step.writes.iter().map(|(variable, _)| *variable);
        for variable in step.reads.iter().chain(written) {
            if known.insert(variable) {
                order.push(variable);
            }
        }
    }
    order
}

struct Names<'a> {
    variables: &'a Variables,
    sources: &'a SourceMap,
}

impl Names<'_> {
    fn name(&self, variable: usize) -> String {
        self.variables.list[variable].name.clone()
    }

    fn all(&self, set: &VariableSet) -> Vec<String> {
        set.iter().map(|variable| self.name(variable)).collect()
    }

    /// The source text, on one line.
    fn text(&self, span: Span) -> String {
        let text = self.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        text.trim_end_matches([';', ' ']).to_owned()
    }

    fn step(&self, touch: &StateAccess) -> Step {
        let text = self.text(touch.span);
        let uses = touch.uses.iter().filter(|variable| !touch.reads.contains(*variable));
        Step {
            depth: touch.depth,
            text: match touch.kind {
                Kind::If if text.contains(".apply(") => text,
                Kind::If => format!("if ({text})"),
                Kind::ElseIf => format!("else if ({text})"),
                Kind::Else => "else".to_owned(),
                Kind::Do => text,
            },
            at: place(self.sources, touch.span),
            reads: self.all(&touch.reads),
            uses: uses.map(|variable| self.name(variable)).collect(),
            writes: touch
                .writes
                .iter()
                .map(|(variable, from)| Written {
                    name: self.name(*variable),
                    from: self.all(from),
                })
                .collect(),
            drops: touch.drops,
        }
    }
}

fn place(sources: &SourceMap, span: Span) -> Option<Place> {
    let location = sources.location(span)?;
    Some(Place { file: location.path.to_string(), line: location.line, column: location.column })
}
