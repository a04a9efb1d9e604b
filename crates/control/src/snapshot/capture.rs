//! Per-stage view of a packet that was traced step by step.
//!
//! The steps of a pass run in program order here and in stage order on the chip. A step's writes
//! are visible from the stage after its last one. The input of a stage is therefore the input of
//! the control plus the writes of steps in earlier stages.

use super::plan::{Field, PassPlan, Slot, Step};
use super::{StageSeen, StepName, StepSeen, TriggerField};
use crate::Number;
use num_bigint::BigUint;
use sojourn_p4::interp::Frame;
use sojourn_p4::interp::trace::{Called, Lookup, Named, Node, Trace, What, Write};
use sojourn_p4::source::Span;
use std::collections::{BTreeMap, HashMap};

/// A packet that a control has processed.
pub(super) struct TracedPacket<'p> {
    plan: &'p PassPlan,
    /// Index of the plan's fields, by name.
    places: HashMap<&'p str, usize>,
    /// Value of each field when the control began.
    began: Vec<BigUint>,
    /// Writes to each field: the first stage that sees the write, the changed bits and the new
    /// value.
    writes: Vec<Vec<Change>>,
    /// Results by step.
    step_results: BTreeMap<usize, StepResult>,
}

struct Change {
    seen_from: u32,
    /// Changed bits; `None` for all.
    bits: Option<BigUint>,
    now: BigUint,
}

#[derive(Default)]
struct StepResult {
    hit: bool,
    entry: Option<u32>,
}

impl<'p> TracedPacket<'p> {
    /// Reads a pass out of its trace; `None` if its control did not run.
    pub fn new(plan: &'p PassPlan, trace: &Trace) -> Option<TracedPacket<'p>> {
        let is_control = |node: &&Node| match &node.what {
            What::Unit { name, parsed: None, .. } => **name == *plan.control,
            _ => false,
        };
        let control = trace.seen().iter().find(is_control)?;
        let frame = trace.frame_of(&plan.control)?;
        let mut traced = TracedPacket {
            plan,
            places: plan.fields.iter().enumerate().map(|(at, f)| (f.name.as_str(), at)).collect(),
            began: plan.fields.iter().map(|field| in_frame(field, frame)).collect(),
            writes: plan.fields.iter().map(|_| Vec::new()).collect(),
            step_results: BTreeMap::new(),
        };
        traced.walk(&control.steps, &mut 0);
        // Two writes of a field are in the order of their stages.
        traced.writes.iter_mut().for_each(|all| all.sort_by_key(|change| change.seen_from));
        Some(traced)
    }

    /// Walks steps outside tables; `from` is the last step of the plan that was found.
    fn walk(&mut self, nodes: &[Node], from: &mut usize) {
        for node in nodes {
            match &node.what {
                What::Table(lookup) => self.table(lookup, node, from),
                What::Branch { .. } => self.walk(&node.steps, from),
                _ => {
                    let step =
                        self.find(*from, |step| !step.is_table && contains(step.span, node.span));
                    if let Some(step) = step {
                        *from = step;
                        self.step_results.entry(step).or_default();
                    }
                    self.written(node, step.unwrap_or(*from));
                }
            }
        }
    }

    fn table(&mut self, lookup: &Lookup, node: &Node, from: &mut usize) {
        let is_it = |step: &Step| step.is_table && step.name == *lookup.table;
        let here = self.find(*from, |step| is_it(step) && step.span == node.span);
        let Some(step) = here.or_else(|| self.find(*from, is_it)) else {
            // Fields without a reader are in no stage.
            return node.steps.iter().for_each(|inner| self.written(inner, *from));
        };
        *from = step;
        let entry = lookup.entry.as_ref().map(|entry| entry.handle.0);
        self.step_results.insert(step, StepResult { hit: lookup.hit, entry });
        node.steps.iter().for_each(|inner| self.written(inner, step));
    }

    /// The next step for which `is_it` holds, or else an earlier one.
    fn find(&self, from: usize, is_it: impl Fn(&Step) -> bool) -> Option<usize> {
        let steps = &self.plan.steps;
        let on = steps.iter().enumerate().skip(from).find(|(_, step)| is_it(step));
        on.map(|(at, _)| at).or_else(|| steps.iter().position(is_it))
    }

    /// Records the writes of a node, and of those inside it.
    fn written(&mut self, node: &Node, step: usize) {
        let seen_from = self.plan.steps.get(step).map_or(0, |step| step.stages.end() + 1);
        let mut note = |named: &Named, old: Option<&BigUint>| {
            let Some(place) = self.places.get(&*named.name) else { return };
            let bits = old.map(|old| old ^ &named.value);
            self.writes[*place].push(Change { seen_from, bits, now: named.value.clone() });
        };
        match &node.what {
            What::Set { writes } => {
                writes.iter().for_each(|Write { now, old }| note(now, Some(old)))
            }
            What::Call(called) => {
                let Called { results, writes, .. } = &**called;
                results.iter().for_each(|result| note(result, None));
                writes.iter().for_each(|Write { now, old }| note(now, Some(old)));
            }
            _ => {}
        }
        node.steps.iter().for_each(|inner| self.written(inner, step));
    }

    /// Value of a field on entry to a stage; `None` if it is not set.
    fn value(&self, place: usize, stage: u32) -> Option<BigUint> {
        let mut value = self.began[place].clone();
        for change in self.writes[place].iter().take_while(|change| change.seen_from <= stage) {
            value = match &change.bits {
                None => change.now.clone(),
                Some(bits) => (&value ^ (&value & bits)) | (&change.now & bits),
            };
        }
        // Targets mark an unset field with a bit above its width.
        (value.bits() <= u64::from(self.plan.fields[place].width)).then_some(value)
    }

    /// Whether the packet matches a trigger on entry to a stage.
    pub fn matches(&self, stage: u32, trigger: &[TriggerField]) -> bool {
        trigger.iter().all(|asked| {
            let Some(place) = self.places.get(asked.field.as_str()) else { return false };
            let value = self.value(*place, stage).unwrap_or_default();
            (value ^ &asked.value.0) & &asked.mask.0 == BigUint::ZERO
        })
    }

    /// Fields on entry to a stage, and the results in it.
    pub fn at(&self, stage: u32) -> StageSeen {
        let mut seen = StageSeen { stage, ..StageSeen::default() };
        for (place, field) in self.plan.fields.iter().enumerate() {
            if !field.stages.as_ref().is_some_and(|stages| stages.contains(&stage)) {
                continue;
            }
            let value = self.value(place, stage);
            for part in &field.parts {
                let bits = value.as_ref().map_or(BigUint::ZERO, |value| value >> part.from);
                let bits = bits.iter_u64_digits().next().unwrap_or(0) & ((1 << part.bits) - 1);
                *seen.containers.entry(part.container).or_default() |= (bits << part.at) as u32;
            }
            let header = field.header.as_deref().and_then(|valid| self.places.get(valid));
            let is_there =
                header.is_none_or(|valid| self.value(*valid, stage) == Some(1_u8.into()));
            if let Some(value) = value.filter(|_| is_there) {
                seen.fields.insert(field.name.clone(), Number(value));
            }
        }
        let steps = self.plan.steps.iter().enumerate();
        let here = steps.filter(|(_, step)| step.stages.contains(&stage));
        seen.steps = here.map(|(at, step)| self.step(at, step, stage)).collect();
        let behind = self.step_results.keys().map(|at| &self.plan.steps[*at]);
        let behind = behind.filter(|step| *step.stages.start() > stage);
        seen.next = behind.min_by_key(|step| *step.stages.start()).map(name);
        seen
    }

    /// For a table whose entries are in several stages, the first stage reports the hit.
    fn step(&self, at: usize, step: &Step, stage: u32) -> StepSeen {
        let step_results = self.step_results.get(&at);
        let first = step_results.filter(|_| stage == *step.stages.start());
        StepSeen {
            step: name(step),
            executed: step_results.is_some(),
            hit: first.is_some_and(|step_results| step_results.hit),
            entry: first.and_then(|step_results| step_results.entry),
        }
    }
}

fn name(step: &Step) -> StepName {
    StepName { name: step.name.clone(), is_table: step.is_table }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn in_frame(field: &Field, frame: &Frame) -> BigUint {
    match field.slot {
        Slot::Narrow(at) => frame.narrow.get(at).copied().unwrap_or(0).into(),
        Slot::Wide(at) => frame.wide.get(at).cloned().unwrap_or_default(),
    }
}
