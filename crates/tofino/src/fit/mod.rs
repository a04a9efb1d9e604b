//! Estimate of the stages of a loaded program.
//!
//! Uses the IR and the chip's numbers; must not depend on packets or control planes. Free choices
//! of the vendor's compiler are estimates here and named so; a program is rejected only if its
//! dependencies alone prove that it cannot fit.
//!
//! | file | step |
//! |---|---|
//! | `bits` | which bits of which field an expression reads |
//! | `extract` | statements become nodes: tables, gateways, actions |
//! | `decided` | conditions whose outcome is known |
//! | `live` | writes that nothing reads are removed |
//! | `packed` | small fields in one byte, and the tables that choose checksums |
//! | `valid_byte` | flags beside valid bits, on Tofino 2 |
//! | `merge` | neighbours become one action |
//! | `depend` | which node waits for which |
//! | `flow` | which step's result a step sees |
//! | `ghost` | the ghost thread's nodes join those of ingress |
//! | `cycle` | registers whose accesses wait for each other |
//! | `resources` | what a node needs |
//! | `schedule` | nodes go to stages |
//! | `stage_map` | where steps and fields are, for snapshots |
//! | `state` | each register with the steps before and behind it |
//! | `report`, `text` | the outcome as data and as text |
//! | `check` | rules about conditions, actions and time |

mod bits;
mod check;
mod cycle;
mod decided;
mod depend;
mod extract;
mod flow;
mod ghost;
mod live;
mod merge;
mod naming;
mod node;
mod packed;
mod report;
mod resources;
mod schedule;
mod stage_map;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod valid_byte;

pub(super) use self::bits::{Place, is_plain};
pub(super) use self::check::{check_casts, shifted};
pub use self::depend::Dependency;
pub(super) use self::live::header_fields;
pub use self::naming::At;
pub use self::report::{Containers, Fit, Pass, Placed, Reason, Stage, Step, Total, Wait};
pub use self::resources::Resource;
pub(super) use self::stage_map::plan;
pub use self::state::{Input, Output, StateAccess, StatePath};

use self::depend::Graph;
use self::node::Node;
use self::state::PassView;
use super::blocks::{Blocks, find_blocks};
use super::chip::Chip;
use super::pipeline::Tofino;
use super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Program, UnitId};
use sojourn_p4::source::SourceMap;
use sojourn_target::load::Loaded;
use std::collections::HashSet;

/// The stages of a loaded program.
pub fn estimate(loaded: &Loaded<Tofino>) -> Fit {
    fit_of_program(loaded.plane.chip(), loaded.plane.elaborated(), &loaded.sources)
}

/// The stages of a program that the chip has loaded: of its first pipeline, with the others in it.
pub(super) fn fit_of_program(chip: &Chip, program: &Program, sources: &SourceMap) -> Fit {
    let found = find_blocks(chip, program).unwrap_or_default();
    let mut fits = found.iter().map(|blocks| fit_of_pipeline(chip, program, blocks, sources));
    // A loaded program has its blocks.
    let none = Blocks { six: [UnitId(0); 6], ghost: None };
    let first = fits.next().unwrap_or_else(|| fit_of_pipeline(chip, program, &none, sources));
    Fit { others: fits.collect(), ..first }
}

fn fit_of_pipeline(chip: &Chip, program: &Program, found: &Blocks, sources: &SourceMap) -> Fit {
    let with_ghost = ghost::variables_of_both(program, found);
    let program = with_ghost.as_ref().unwrap_or(program);
    let blocks = found.six;
    let passes = [0, 1].map(|pass| PassNodes::with_ghost(chip, program, found, pass, sources));
    let graphs =
        [0, 1].map(|pass: usize| Graph::new(merge::merge(passes[pass].nodes.clone(), sources)));
    let units = controls(blocks).map(|unit| &program.units[unit.index()]);
    let graphs = [&graphs[0], &graphs[1]];
    let placement = schedule::place(program, graphs);
    let at_least = passes.iter().map(PassNodes::at_least).max().unwrap_or(0);
    let views = [0, 1].map(|pass: usize| PassView {
        unit: units[pass],
        graph: graphs[pass],
        seen: &passes[pass].seen,
    });
    report::report(chip, program, views, &placement, at_least, sources)
}

/// The warning that an estimate does not fit, where that is not proven.
pub fn doubt(loaded: &Loaded<Tofino>, fit: &Fit) -> Option<Diagnostic> {
    doubt_of(loaded.plane.chip(), loaded.plane.elaborated(), fit)
}

/// [`doubt`] about a program that the chip has loaded.
pub(super) fn doubt_of(chip: &Chip, program: &Program, fit: &Fit) -> Option<Diagnostic> {
    let fits = std::iter::once(fit).chain(&fit.others);
    let mut pipelines = fits.zip(find_blocks(chip, program).ok()?);
    let (fit, blocks) = pipelines.find(|(fit, _)| !fit.fits)?;
    let longest = usize::from(fit.passes[1].stages > fit.passes[0].stages);
    let span = program.units[controls(blocks.six)[longest].index()].span;
    let message = match &fit.unplaced[..] {
        [] => format!(
            "the program may not fit: by estimate it takes {} of {} stages",
            fit.stages_used, fit.stages_available
        ),
        [first, ..] => format!("the program may not fit: by estimate {first} finds no stage"),
    };
    Some(rules::STAGES.warning(span, message))
}

/// Violations in a program's controls of the rules of this folder. `pipeline` has its blocks.
pub(super) fn check(
    chip: &Chip,
    program: &Program,
    pipeline: &Blocks,
    sources: &SourceMap,
) -> Vec<Diagnostic> {
    let controls = controls(pipeline.six);
    let mut found = check::check(chip, program, controls, pipeline.ghost);
    let with_ghost = ghost::variables_of_both(program, pipeline);
    let program = with_ghost.as_ref().unwrap_or(program);
    for (pass, control) in controls.into_iter().enumerate() {
        let nodes = PassNodes::with_ghost(chip, program, pipeline, pass, sources);
        let control = &program.units[control.index()].name;
        found.extend(nodes.refusals(chip, program, control));
    }
    found
}

fn controls(blocks: [UnitId; 6]) -> [UnitId; 2] {
    [blocks[1], blocks[4]]
}

/// The nodes of a pass before they are merged.
struct PassNodes {
    nodes: Vec<Node>,
    /// Places read after the control.
    seen: HashSet<Place>,
}

impl PassNodes {
    /// The nodes of a pass, in ingress with those of the ghost thread in front.
    fn with_ghost(
        chip: &Chip,
        program: &Program,
        pipeline: &Blocks,
        pass: usize,
        sources: &SourceMap,
    ) -> PassNodes {
        let own = PassNodes::new(chip, program, pipeline.six, pass, sources);
        match pipeline.ghost.filter(|_| pass == 0) {
            Some(unit) => ghost::joined(program, own, (unit, pipeline.six[1]), sources),
            None => own,
        }
    }

    fn new(
        chip: &Chip,
        program: &Program,
        blocks: [UnitId; 6],
        pass: usize,
        sources: &SourceMap,
    ) -> PassNodes {
        let [parser, control, deparser] = [0, 1, 2].map(|at| blocks[3 * pass + at]);
        let mut nodes = extract::nodes(program, control, sources);
        packed::note_shared_bytes(chip, program, control, &mut nodes);
        nodes.extend(packed::checksum_tables(program, control, deparser));
        let seen = live::seen_behind(program, [parser, control, deparser]);
        live::drop_dead(&mut nodes, &seen);
        valid_byte::note_flags(chip, program, [parser, control, deparser], pass, &mut nodes);
        PassNodes { nodes, seen }
    }

    /// The needed nodes, one a statement: what is not merged waits for nothing that it need not.
    fn graph(&self) -> Graph {
        let mut place = vec![None; self.nodes.len()];
        let mut kept = Vec::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.alive) {
            place[at] = Some(kept.len());
            let mut node = node.clone();
            node.guard = node.guard.and_then(|guard| place[guard]);
            kept.push(node);
        }
        Graph::new(kept)
    }

    /// Stages that no compiler can do without.
    fn at_least(&self) -> u32 {
        let stages = self.graph().earliest(|edge| edge.certain).unwrap_or_default();
        stages.into_iter().max().map_or(0, |last| last + 1)
    }

    /// The errors that a pass cannot fit, if that is proven.
    fn refusals(&self, chip: &Chip, program: &Program, control: &str) -> Vec<Diagnostic> {
        let graph = self.graph();
        let Some(stages) = graph.earliest(|edge| edge.certain) else {
            return cycle::refusals(program, &graph);
        };
        let last = stages.iter().enumerate().max_by_key(|(_, stage)| **stage);
        let Some((last, needed)) = last.map(|(at, stage)| (at, stage + 1)) else {
            return Vec::new();
        };
        if needed <= chip.stages {
            return Vec::new();
        }
        let span = graph.nodes[last].span;
        let message = format!("`{control}` needs {needed} stages, one after the other");
        let refused = rules::STAGES.refuse(span, message).with_label("the last of them");
        vec![refused.into()]
    }
}
