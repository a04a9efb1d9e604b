//! Ghost thread of Tofino 2: the control that runs for each report of a queue's depth.
//!
//! Each report comes twice, with `ping_pong` 0 and then 1. A register that ghost and ingress use is
//! duplicated by the chip's compiler: ghost writes one copy while ingress reads the other. This
//! file holds the word of a report and the rule of duplication; it must not depend on the traffic
//! manager.

use super::block_frame::Block;
use super::blocks::Blocks;
use super::chip::Chip;
use super::metadata::{IntrinsicField, Role};
use super::register_action::{is_action, register_of};
use super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::{Frame, Interpreter};
use sojourn_p4::ir::{
    Body, Expr, ExternCall, Layout, ObjectId, Program, Slot, Stmt, StmtKind, UnitId,
};
use sojourn_p4::visit;
use sojourn_packet::{DepthReport, WordOrder};
use std::collections::{BTreeMap, HashSet};

/// The fields of a report as a program reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportWord {
    /// 0 at the first pass of a report, 1 at the second.
    pub ping_pong: u32,
    qlength: u32,
    qid: u32,
    pipe: u32,
}

impl ReportWord {
    /// The word of a report about a queue of a chip's port, at one of its two passes.
    pub fn new(chip: &Chip, report: &DepthReport, ping_pong: u32) -> ReportWord {
        let port = report.port.0;
        let group = u32::from(port % chip.pipe_ports / chip.front.group_ports);
        let queue = chip.front.egress_queue(port, report.queue) as u32;
        let pipe = u32::from(port / chip.pipe_ports) & 3;
        let qlength = report.depth.min(0x3_ffff);
        let qid = (group & 0xf) << 7 | queue;
        match report.order {
            WordOrder::Compiler => ReportWord { ping_pong, qlength, qid, pipe },
            WordOrder::Model => {
                ReportWord::compiled(ping_pong << 31 | pipe << 29 | qid << 18 | qlength)
            }
        }
    }

    /// The fields where the compiler expects them in a word.
    fn compiled(word: u32) -> ReportWord {
        ReportWord {
            ping_pong: word >> 31,
            qlength: word >> 13 & 0x3_ffff,
            qid: word >> 2 & 0x7ff,
            pipe: word & 3,
        }
    }
}

/// The parameter of a control that holds a report.
#[derive(Clone, Debug)]
pub struct ReportFields {
    valid: Option<Slot>,
    /// `ping_pong`, `qlength`, `qid`, `pipe_id`.
    fields: [IntrinsicField; 4],
}

impl ReportFields {
    /// Of a control that has the parameter.
    pub fn new(control: &Block) -> Option<ReportFields> {
        let layout = control.params.get(&Role::Ghost)?;
        let valid = match layout {
            Layout::Header { valid, .. } => Some(*valid),
            _ => None,
        };
        let names = ["ping_pong", "qlength", "qid", "pipe_id"];
        Some(ReportFields {
            valid,
            fields: names.map(|name| IntrinsicField::new(Some(layout), name)),
        })
    }

    /// True if the control reads one of them.
    pub fn are_read(&self, control: &Block) -> bool {
        let slots = self.fields.iter().filter_map(|field| field.0).chain(self.valid);
        slots.into_iter().any(|slot| control.read.contains(&slot))
    }

    /// Sets them.
    pub fn set(&self, frame: &mut Frame, word: ReportWord) {
        let ReportWord { ping_pong, qlength, qid, pipe } = word;
        for (field, value) in self.fields.iter().zip([ping_pong, qlength, qid, pipe]) {
            field.set(frame, value.into());
        }
        if let Some(valid) = self.valid {
            frame.set(valid, 1);
        }
    }
}

/// The ghost control of a program.
#[derive(Clone, Debug)]
pub struct GhostThread {
    control: Block,
    frame: Frame,
    fields: Option<ReportFields>,
    /// The word of the last pass, which ingress reads.
    pub last: ReportWord,
}

impl GhostThread {
    /// A thread that has seen no report.
    pub fn new(interpreter: &Interpreter, unit: UnitId) -> GhostThread {
        let control = Block::new(interpreter, unit);
        let (frame, fields) = (interpreter.frame(unit), ReportFields::new(&control));
        GhostThread { control, frame, fields, last: ReportWord::default() }
    }

    /// Its unit, and its frame ready for a pass on a word.
    pub fn begin(&mut self, word: ReportWord) -> (UnitId, &mut Frame) {
        self.last = word;
        self.control.reset(&mut self.frame);
        if let Some(fields) = &self.fields {
            fields.set(&mut self.frame, word);
        }
        (self.control.unit, &mut self.frame)
    }
}

/// The registers of a pipeline of which the chip's compiler makes two copies.
///
/// They are those whose actions ghost and ingress run and egress does not, if ingress has the
/// ghost parameter and neither control tests `ping_pong` right in front of the access.
pub(super) fn duplicated(
    program: &Program,
    blocks: &Blocks,
    warnings: &mut Vec<Diagnostic>,
) -> HashSet<ObjectId> {
    let Some(ghost) = blocks.ghost else { return HashSet::new() };
    let [_, ingress, _, _, egress, _] = blocks.six;
    if ping_pong(program, ingress).is_none() {
        return HashSet::new();
    }
    let [in_ghost, in_ingress, in_egress] =
        [ghost, ingress, egress].map(|unit| Accesses::new(program, unit));
    let mut found = HashSet::new();
    for (register, by_ghost) in &in_ghost.0 {
        let Some(by_ingress) = in_ingress.0.get(register) else { continue };
        if in_egress.0.contains_key(register) {
            continue;
        }
        match (by_ghost, by_ingress) {
            (false, false) => {
                found.insert(*register);
            }
            (true, true) => {}
            _ => warnings.push(one_sided(program, *register)),
        }
    }
    found
}

/// The slot of `ping_pong` in a control.
fn ping_pong(program: &Program, unit: UnitId) -> Option<Slot> {
    let params = &program.units[unit.index()].params;
    let param = params.iter().find(|param| Role::of_type(&param.ty) == Some(Role::Ghost))?;
    super::metadata::field(&param.layout, "ping_pong")
}

fn one_sided(program: &Program, register: ObjectId) -> Diagnostic {
    let object = &program.objects[register.index()];
    let message = format!(
        "register `{}` is accessed behind a test of `ping_pong` in one of ghost and ingress only: \
         the compiler makes no second copy of it",
        object.name
    );
    rules::GHOST.warning(object.span, message)
}

/// The registers that a control accesses; true if a test of `ping_pong` is right in front.
struct Accesses(BTreeMap<ObjectId, bool>);

impl Accesses {
    fn new(program: &Program, unit: UnitId) -> Accesses {
        let mut walk = Walk { program, unit, slot: ping_pong(program, unit) };
        let mut accesses = Accesses(BTreeMap::new());
        if let Body::Control { stmts, .. } = &program.units[unit.index()].body {
            walk.list(stmts, false, &mut accesses);
        }
        accesses
    }
}

struct Walk<'p> {
    program: &'p Program,
    unit: UnitId,
    slot: Option<Slot>,
}

impl Walk<'_> {
    fn list(&mut self, stmts: &[Stmt], tested: bool, found: &mut Accesses) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Call(call) => self.call(call, tested, found),
                StmtKind::Apply { table, .. } => {
                    let table = &self.program.tables[table.index()];
                    debug_assert_eq!(table.unit, self.unit);
                    for action in &table.actions {
                        self.list(&action.body, tested, found);
                    }
                }
                _ => {
                    let tested = match &stmt.kind {
                        StmtKind::If { condition, .. } => self.tests(condition),
                        _ => tested,
                    };
                    let lists = visit::inner_lists(stmt);
                    lists.into_iter().for_each(|list| self.list(list, tested, found));
                }
            }
        }
    }

    fn tests(&self, condition: &Expr) -> bool {
        self.slot.is_some_and(|slot| visit::reads(condition, slot))
    }

    fn call(&self, call: &ExternCall, tested: bool, found: &mut Accesses) {
        let of = |object: ObjectId| &*self.program.objects[object.index()].of;
        let action = call.object.filter(|object| is_action(of(*object)));
        if let Some(register) = action.and_then(|action| register_of(self.program, action)) {
            *found.0.entry(register).or_insert(false) |= tested;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::TOFINO2;
    use sojourn_packet::{PortId, Time};

    fn report(order: WordOrder) -> DepthReport {
        DepthReport { now: Time(0), port: PortId(128 + 19), queue: 2, depth: 0x2_0001, order }
    }

    #[test]
    fn a_word_names_the_port_group_its_queue_and_the_pipe() {
        let word = ReportWord::new(&TOFINO2, &report(WordOrder::Compiler), 1);
        let qid = 2 << 7 | (3 * 16 + 2);
        assert_eq!(word, ReportWord { ping_pong: 1, qlength: 0x2_0001, qid, pipe: 1 });
    }

    #[test]
    fn in_the_models_order_a_compiled_program_reads_other_bits() {
        let word = ReportWord::new(&TOFINO2, &report(WordOrder::Model), 1);
        let bits = 1 << 31 | 1 << 29 | (2 << 7 | (3 * 16 + 2)) << 18 | 0x2_0001;
        assert_eq!(word, ReportWord::compiled(bits));
        assert_eq!(word.ping_pong, 1);
        assert_ne!(word.qlength, 0x2_0001);
    }
}
