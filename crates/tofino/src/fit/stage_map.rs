//! The estimate as a plan for snapshots: the stages of each step, the stages that see each field, and
//! the containers that it is in.
//!
//! A stage sees what is in a container of the match-action units. The vendor's compiler keeps what no
//! step touches in containers that only parser and deparser see, and so does this plan; which container
//! a field is in is the compiler's choice, and here each has its own, in the order of the program.

use super::bits::Place;
use super::node::{Kind, Node};
use super::schedule::{self, Placement};
use super::{Graph, PassNodes, merge};
use crate::chip::Chip;
use sojourn_control::snapshot::{Field, Part, PassPlan, Plan, Slot, Step};
use sojourn_p4::ir::{Layout, Program, Unit, UnitId};
use sojourn_p4::source::SourceMap;
use sojourn_p4::visit;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// The plan of a program's pipeline.
pub fn plan(chip: &Chip, program: &Program, blocks: [UnitId; 6], sources: &SourceMap) -> Plan {
    let available = chip.stages;
    let passes = [0, 1].map(|pass| PassNodes::new(chip, program, blocks, pass, sources));
    let graphs =
        [0, 1].map(|pass: usize| Graph::new(merge::merge(passes[pass].nodes.clone(), sources)));
    let placement = schedule::place(program, [&graphs[0], &graphs[1]]);
    let used = placement.stages.len() as u32;
    let refused = match placement.unplaced.is_empty() {
        true if used <= available => None,
        true => Some(format!("by estimate it takes {used} of {available} stages")),
        false => Some("by estimate not all of it finds a stage".to_owned()),
    };
    let mut containers = Allocation::default();
    let passes = [0, 1].map(|pass: usize| {
        let [parser, control] = [0, 1].map(|at| blocks[3 * pass + at]);
        let view = View {
            program,
            unit: &program.units[control.index()],
            graph: &graphs[pass],
            placement: &placement,
            pass,
            last_stage: available - 1,
            from_parser: parsed(program, parser, control),
            seen: &passes[pass].seen,
        };
        let mut fields = Vec::new();
        let reaches = view.reaches();
        for param in &view.unit.params {
            view.fields(&param.layout, None, &reaches, &mut fields);
        }
        for field in fields.iter_mut().filter(|field| field.stages.is_some()) {
            field.parts = containers.take(field.width);
        }
        containers.flags = None;
        PassPlan { control: view.unit.name.to_string(), steps: view.steps(), fields }
    });
    Plan { stages: available, passes, refused }
}

/// The variables of a control that its parser has put something into.
fn parsed(program: &Program, parser: UnitId, control: UnitId) -> HashSet<Place> {
    let to_mine: HashMap<Place, Place> =
        super::live::counterparts(program, control, parser).map(|(a, b)| (b, a)).collect();
    let mut found = HashSet::new();
    visit::unit_statements(program, parser, &mut |stmt| {
        visit::written(stmt, &mut |slot| found.extend(to_mine.get(&Place::Narrow(slot))));
    });
    found
}

struct View<'p> {
    program: &'p Program,
    unit: &'p Unit,
    graph: &'p Graph,
    placement: &'p Placement,
    pass: usize,
    last_stage: u32,
    from_parser: HashSet<Place>,
    seen: &'p HashSet<Place>,
}

/// Stages that access a variable.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    first_read: Option<u32>,
    last_read: Option<u32>,
    /// The stage behind the first step that writes it.
    written: Option<u32>,
}

impl View<'_> {
    /// The stages of a step.
    fn stages(&self, at: usize) -> RangeInclusive<u32> {
        let first = self.placement.stage[self.pass][at];
        let mut stages = self.placement.stages.iter();
        // A table whose entries do not fit goes on.
        let last = stages.rposition(|stage| stage.nodes.contains(&(self.pass, at)));
        let last = last.map_or(first, |last| (last as u32).max(first));
        first..=last + self.graph.nodes[at].extra
    }

    fn steps(&self) -> Vec<Step> {
        let nodes = self.graph.nodes.iter().enumerate();
        let is_step = |node: &Node| !matches!(node.kind, Kind::Gateway | Kind::Partition(_));
        let step = |(at, node): (usize, &Node)| {
            let table = match node.kind {
                Kind::Table(id) => Some(self.program.tables[id.index()].name.to_string()),
                _ => None,
            };
            let (is_table, span) = (table.is_some(), node.span);
            let name = table.unwrap_or_else(|| node.name.clone());
            Step { name, is_table, span, stages: self.stages(at) }
        };
        nodes.filter(|(_, node)| is_step(node)).map(step).collect()
    }

    fn reaches(&self) -> HashMap<Place, Reach> {
        let mut found: HashMap<Place, Reach> = HashMap::new();
        for (at, node) in self.graph.nodes.iter().enumerate() {
            let stages = self.stages(at);
            for read in &node.reads {
                let reach = found.entry(read.bits.place).or_default();
                let first = reach.first_read.unwrap_or(*stages.start());
                reach.first_read = Some(first.min(*stages.start()));
                reach.last_read = reach.last_read.max(Some(*stages.end()));
            }
            for write in &node.writes {
                let reach = found.entry(write.bits.place).or_default();
                let first = reach.written.unwrap_or(stages.end() + 1);
                reach.written = Some(first.min(stages.end() + 1));
            }
        }
        found
    }

    /// The stages that see a variable.
    fn sees(
        &self,
        place: Place,
        is_validity: bool,
        reach: Option<&Reach>,
    ) -> Option<RangeInclusive<u32>> {
        let is_sent = self.seen.contains(&place);
        if reach.is_none() && !(is_validity && is_sent) {
            return None;
        }
        let reach = reach.copied().unwrap_or_default();
        let is_fresh = is_validity || self.from_parser.contains(&place);
        let first = match (reach.written, reach.first_read) {
            (Some(written), read) if !is_fresh && read.is_none_or(|read| read >= written) => {
                written
            }
            _ => 0,
        };
        let last = if is_sent { Some(self.last_stage) } else { reach.last_read };
        last.map(|last| first..=last.min(self.last_stage)).filter(|stages| !stages.is_empty())
    }

    /// The fields of a parameter.
    fn fields(
        &self,
        layout: &Layout,
        header: Option<&str>,
        reaches: &HashMap<Place, Reach>,
        found: &mut Vec<Field>,
    ) {
        let mut add = |place: Place, is_validity: bool| {
            let (slot, info) = match place {
                Place::Narrow(slot) => {
                    (Slot::Narrow(slot.index()), self.unit.slots.get(slot.index()))
                }
                Place::Wide(slot) => {
                    (Slot::Wide(slot.index()), self.unit.wide_slots.get(slot.index()))
                }
            };
            let Some(info) = info else { return };
            found.push(Field {
                name: info.name.to_string(),
                slot,
                width: info.scalar.width(),
                stages: self.sees(place, is_validity, reaches.get(&place)),
                header: header.filter(|_| !is_validity).map(str::to_owned),
                parts: Vec::new(),
            });
        };
        match layout {
            Layout::Narrow(slot, _) => add(Place::Narrow(*slot), false),
            Layout::Wide(slot, _) | Layout::VarBit { value: slot, .. } => {
                add(Place::Wide(*slot), false)
            }
            Layout::Header { valid, fields, .. } => {
                add(Place::Narrow(*valid), true);
                let valid = self.unit.slots.get(valid.index()).map(|info| info.name.to_string());
                fields
                    .iter()
                    .for_each(|field| self.fields(field, valid.as_deref(), reaches, found));
            }
            Layout::Union { members: parts, .. }
            | Layout::Struct { fields: parts, .. }
            | Layout::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.fields(part, header, reaches, found));
            }
            Layout::Object => {}
        }
    }
}

/// The numbers of the containers of 32, 8 and 16 bits that match-action units see.
const CONTAINERS: [RangeInclusive<u16>; 3] = [0..=63, 64..=127, 128..=223];

/// Allocated containers.
#[derive(Debug, Default)]
struct Allocation {
    taken: [u16; 3],
    /// The container that single bits share, and how many are in it.
    flags: Option<(u16, u32)>,
}

impl Allocation {
    /// Containers for a field of so many bits; none where there are no more.
    fn take(&mut self, width: u32) -> Vec<Part> {
        if width == 1 {
            return self.flag().into_iter().collect();
        }
        let mut parts = Vec::new();
        let mut from = 0;
        while from < width {
            let bits = (width - from).min(32);
            let class = match bits {
                ..=8 => 1,
                9..=16 => 2,
                _ => 0,
            };
            let Some(container) = self.next(class) else { break };
            parts.push(Part { container, from, bits, at: 0 });
            from += bits;
        }
        parts
    }

    fn flag(&mut self) -> Option<Part> {
        let (container, at) = match self.flags {
            Some((container, taken @ ..8)) => (container, taken),
            _ => (self.next(1)?, 0),
        };
        self.flags = Some((container, at + 1));
        Some(Part { container, from: 0, bits: 1, at })
    }

    fn next(&mut self, class: usize) -> Option<u16> {
        let numbers = &CONTAINERS[class];
        let container = numbers.start() + self.taken[class];
        self.taken[class] += 1;
        numbers.contains(&container).then_some(container)
    }
}
