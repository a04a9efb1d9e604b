//! One of the two passes: parser, control and deparser, and the frames they run on.
//!
//! `handover` moves fields between them. This module must not depend on the meaning of the
//! metadata.

use super::block_frame::Block;
use super::fused_pass;
pub use super::fused_pass::Joined;
use super::ghost::{ReportFields, ReportWord};
use super::metadata::{IntrinsicField, Role};
use super::parameter_passing::{Handover, shared};
use super::rules::{self, Refusal};
use super::runtime::CopyTypes;
use super::validity::INVALID;
use sojourn_p4::interp::{Calls, Frame, Interpreter};
use sojourn_p4::ir::{Expr, ExprKind, Program, Slot, StmtKind, UnitId};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use sojourn_packet::MirrorOverrides;
use sojourn_packet::dataplane::PortId;
use std::collections::HashSet;

/// Fields of a pass's frame that the chip writes, or reads to make copies.
#[derive(Clone, Debug)]
pub struct PassFields {
    pub tstamp: [IntrinsicField; 2],
    pub parser_err: [IntrinsicField; 2],
    mirror: IntrinsicField,
    resubmit: IntrinsicField,
    digest: IntrinsicField,
    /// `mirror_egress_port`, `mirror_qid`, `mirror_ingress_cos`, `mirror_io_select`,
    /// `mirror_deflect_on_drop`.
    overrides: [IntrinsicField; 5],
    cut_to: IntrinsicField,
    /// `drop_ctl`, where it cancels a resubmit.
    cancels: IntrinsicField,
    /// `adv_flow_ctl`
    flow_control: IntrinsicField,
}

impl PassFields {
    fn new(control: &Block, deparser: &Block) -> PassFields {
        let both = |name| [control, deparser].map(|block| block.field(Role::FromParser, name));
        let copied = |name| control.answer(Role::ForDeparser, name);
        PassFields {
            tstamp: both("global_tstamp"),
            parser_err: both("parser_err"),
            mirror: copied("mirror_type"),
            resubmit: copied("resubmit_type"),
            digest: copied("digest_type"),
            overrides: [
                copied("mirror_egress_port"),
                copied("mirror_qid"),
                copied("mirror_ingress_cos"),
                copied("mirror_io_select"),
                copied("mirror_deflect_on_drop"),
            ],
            cut_to: copied("mtu_trunc_len"),
            cancels: IntrinsicField(None),
            flow_control: copied("adv_flow_ctl"),
        }
    }

    /// True if the control may request to pause or resume a queue.
    pub fn controls_flow(&self) -> bool {
        self.flow_control.0.is_some()
    }

    /// True if the control may have the deparser cut the packet.
    pub fn cuts(&self) -> bool {
        self.cut_to.0.is_some()
    }
}

/// A pass.
#[derive(Clone, Debug)]
pub struct Gress {
    /// The parser.
    pub parser: Block,
    /// The match-action control.
    pub control: Block,
    /// The deparser.
    pub deparser: Block,
    /// Of parser, control and deparser, which have one together where it goes on.
    frames: [Frame; 3],
    /// Index of the frame of the control and the deparser.
    control_at: usize,
    deparser_at: usize,
    to_control: Handover,
    to_deparser: Handover,
    /// Fields with a valid bit that start a block of their own, where the frame goes on.
    invalid: [Vec<Slot>; 2],
    /// True if the program looks at `parser_err`.
    pub reads_parser_error: bool,
    /// Fields that the chip writes and reads.
    pub fields: PassFields,
    /// Its chain of code, if any.
    pub joined: Option<Joined>,
    /// A packet on which the parser fails goes on, whether or not the program looks at the error.
    forgiving: bool,
    /// The word of a depth report, where the control reads it.
    ghost: Option<(ReportFields, ReportWord)>,
}

impl Gress {
    /// A pass made of these units.
    pub fn new(
        interpreter: &Interpreter,
        parser: UnitId,
        control: UnitId,
        deparser: UnitId,
    ) -> Gress {
        let reads_parser_error = reads_parser_error(interpreter.program(), control)
            || reads_parser_error(interpreter.program(), deparser);
        let [parser, control, deparser] =
            [parser, control, deparser].map(|unit| Block::new(interpreter, unit));
        let control = control.behind(&parser);
        let needed = needed(&control, &deparser);
        let to_deparser = Handover::new(&control, &deparser, &deparser.read, |_| true);
        let dirty = |slot| parser.leaves_something(slot);
        let to_control = Handover::new(&parser, &control, &needed, dirty);
        let invalid =
            [to_control.unshared(&control.invalid), to_deparser.unshared(&deparser.invalid)];
        let control_at = if to_control.copied() { 1 } else { 0 };
        let deparser_at = if to_deparser.copied() { 2 } else { control_at };
        Gress {
            frames: frames([&parser, &control, &deparser]),
            control_at,
            deparser_at,
            to_control,
            to_deparser,
            invalid,
            fields: PassFields::new(&control, &deparser),
            parser,
            control,
            deparser,
            reads_parser_error,
            joined: None,
            forgiving: false,
            ghost: None,
        }
    }

    /// The same for egress: its parser drops nothing but what it rejects.
    #[must_use]
    pub fn forgiving(self) -> Gress {
        Gress { forgiving: true, ..self }
    }

    /// True if a packet goes on whose parser has failed with these bits of an error.
    pub fn goes_on(&self, error: u16) -> bool {
        error != 0 && (self.forgiving || self.reads_parser_error)
    }

    /// The same for a control that may read the word of a depth report.
    #[must_use]
    pub fn reporting(mut self) -> Gress {
        self.ghost = ReportFields::new(&self.control)
            .filter(|fields| fields.are_read(&self.control))
            .map(|fields| (fields, ReportWord::default()));
        self
    }

    /// Sets the word of the report that the control reads.
    pub fn set_report(&mut self, word: ReportWord) {
        if let Some((_, last)) = &mut self.ghost {
            *last = word;
        }
    }

    /// The same for a chip on which a dropped packet is not resubmitted.
    #[must_use]
    pub fn cancelling(mut self) -> Gress {
        self.fields.cancels = self.control.answer(Role::ForDeparser, "drop_ctl");
        self
    }

    /// Makes one chain of code of the blocks, as far as that can be, with so many bytes in front
    /// of packets and the code of calls. Slots that are `unread` get no value from the parser.
    pub fn join(
        &mut self,
        interpreter: &mut Interpreter,
        front: usize,
        unread: &HashSet<Slot>,
        calls: &dyn Calls,
    ) {
        if self.ghost.is_some() {
            // The word of a report is no input of a chain.
            return;
        }
        self.joined = fused_pass::join(interpreter, self, front, unread, calls);
        if let Some(joined) = &self.joined {
            let slots = joined.chain.slots.max(self.frames[0].narrow.len());
            self.frames[0].narrow.resize(slots, 0);
        }
    }

    /// Parameter passing to control and deparser.
    pub(super) fn handovers(&self) -> [&Handover; 2] {
        [&self.to_control, &self.to_deparser]
    }

    /// The fields with a valid bit that start a block of their own: of the control and the deparser.
    pub(super) fn invalid(&self) -> [&[Slot]; 2] {
        self.invalid.each_ref().map(Vec::as_slice)
    }

    /// The parser's frame, until its data are passed on.
    #[inline]
    pub fn parser_frame(&mut self) -> &mut Frame {
        &mut self.frames[0]
    }

    /// Its chain of code, with the frame on which that runs.
    #[inline]
    pub fn joined_frame(&mut self) -> Option<(&Joined, &mut Frame)> {
        self.joined.as_ref().map(|joined| (joined, &mut self.frames[0]))
    }

    /// True if all of it is one chain of code, the deparser too.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.joined.is_some_and(|joined| joined.whole)
    }

    /// The control's frame, between the parser's and the control's end.
    #[inline]
    pub fn control_frame(&mut self) -> &mut Frame {
        &mut self.frames[self.control_at]
    }

    /// Copies that the deparser is to make, once the control has run.
    pub fn chosen_copies(&self) -> CopyTypes {
        let frame = &self.frames[self.control_at];
        let chosen = |field: IntrinsicField| field.get(frame).map(|value| value as u8);
        let [port, queue, cos, deparsed, deflect] = self.fields.overrides;
        let cancelled = self.fields.cancels.or_zero(frame) & 1 != 0;
        CopyTypes {
            mirror: chosen(self.fields.mirror),
            resubmit: chosen(self.fields.resubmit).filter(|_| !cancelled),
            digest: chosen(self.fields.digest),
            overrides: MirrorOverrides {
                port: port.get(frame).map(|port| PortId(port as u16)),
                queue: chosen(queue),
                cos: chosen(cos),
                deflect_on_drop: chosen(deflect).map(|bit| bit != 0),
            },
            as_deparsed: chosen(deparsed).map(|bit| bit != 0),
            cut_to: self.fields.cut_to.get(frame).map(|length| length as u16),
            flow_control: self.fields.flow_control.get(frame).map(|word| word as u32),
        }
    }

    /// The deparser's frame, once the control's data are passed on.
    #[inline]
    pub fn deparser_frame(&mut self) -> &mut Frame {
        &mut self.frames[self.deparser_at]
    }

    /// Makes the frames ready for a packet.
    pub fn reset(&mut self) {
        let [first, second, third] = &mut self.frames;
        self.parser.reset(first);
        if self.control_at == 1 {
            self.control.reset(second);
        }
        if self.deparser_at == 2 {
            self.deparser.reset(third);
        }
    }

    /// Passes the parser's data to the control.
    pub fn parsed(&mut self) {
        let [first, second, _] = &mut self.frames;
        if self.control_at == 1 {
            self.to_control.copy(first, second);
        } else {
            self.to_control.go_on(first);
        }
        let frame = &mut self.frames[self.control_at];
        self.invalid[0].iter().for_each(|slot| frame.set(*slot, INVALID));
        if let Some((fields, word)) = &self.ghost {
            fields.set(frame, *word);
        }
    }

    /// Passes the control's data to the deparser; the control's frame is unspecified afterwards.
    pub fn controlled(&mut self) {
        if self.deparser_at == 2 {
            let [front @ .., third] = &mut self.frames;
            self.to_deparser.copy(&front[self.control_at & 1], third);
        } else {
            self.to_deparser.go_on(&mut self.frames[self.control_at]);
        }
        let frame = &mut self.frames[self.deparser_at];
        self.invalid[1].iter().for_each(|slot| frame.set(*slot, INVALID));
    }

    /// Sets a field that the parser stage gives to control and deparser, once the parser's data are
    /// passed on.
    #[inline]
    pub fn set_both(&mut self, field: [IntrinsicField; 2], value: u128) {
        field[0].set(self.control_frame(), value);
        // A frame that goes on takes it along.
        if self.deparser_at == 2 {
            field[1].set(&mut self.frames[2], value);
        }
    }
}

/// Slots of a control that it reads, that the chip reads behind it, or that the deparser reads.
fn needed(control: &Block, deparser: &Block) -> HashSet<Slot> {
    let mut needed = control.read.clone();
    needed.extend(control.answers());
    for (mine, theirs) in shared(control, deparser) {
        let both = mine.narrow().zip(theirs.narrow());
        let read = both.filter(|(_, theirs)| deparser.read.contains(&Slot(*theirs as u32)));
        needed.extend(read.map(|(mine, _)| Slot(mine as u32)));
    }
    needed
}

/// Three frames, each large enough for all of the blocks.
fn frames(blocks: [&Block; 3]) -> [Frame; 3] {
    let narrow = blocks.iter().map(|block| block.size.0).max().unwrap_or(0);
    let wide = blocks.iter().map(|block| block.size.1).max().unwrap_or(0);
    [(); 3].map(|()| Frame {
        narrow: vec![0; narrow],
        wide: std::iter::repeat_with(Default::default).take(wide).collect(),
    })
}

/// True if a unit uses `parser_err` other than by passing it on: copying it to a header or to
/// metadata is a use.
fn reads_parser_error(program: &Program, unit: UnitId) -> bool {
    let params = &program.units[unit.index()].params;
    let errors = params.iter().filter(|p| Role::of_type(&p.ty) == Some(Role::FromParser));
    let mut carriers: HashSet<Slot> =
        errors.filter_map(|param| super::metadata::field(&param.layout, "parser_err")).collect();
    let lasting: HashSet<Slot> = params
        .iter()
        .filter(|param| Role::of_type(&param.ty) != Some(Role::FromParser))
        .flat_map(|param| param.layout.range().narrow())
        .map(|slot| Slot(slot as u32))
        .collect();
    let mut read = false;
    let mut before = 0;
    while carriers.len() != before {
        before = carriers.len();
        visit::unit_statements(program, unit, &mut |stmt| match &stmt.kind {
            StmtKind::Set(to, Expr { kind: ExprKind::Slot(from), .. })
                if carriers.contains(from) =>
            {
                read |= lasting.contains(to);
                carriers.insert(*to);
            }
            StmtKind::Copy { narrow: (from, to, count), .. } => {
                let moved = (0..*count).filter(|i| carriers.contains(&Slot(from.0 + i)));
                let moved: Vec<Slot> = moved.map(|i| Slot(to.0 + i)).collect();
                read |= moved.iter().any(|slot| lasting.contains(slot));
                carriers.extend(moved);
            }
            _ => {
                let expressions = visit::expressions(stmt);
                read |= carriers.iter().any(|c| expressions.iter().any(|e| visit::reads(e, *c)));
            }
        });
        let tables = program.tables.iter().filter(|table| table.unit == unit);
        let mut keys = tables.flat_map(|table| &table.keys);
        read |= keys.any(|key| carriers.iter().any(|c| visit::reads(&key.expr, *c)));
    }
    read
}

/// Checks that a block has parameters that its place in the pipeline gives it.
pub fn check_block(
    program: &Program,
    unit: UnitId,
    is_parser: bool,
    at: Span,
) -> Result<(), Refusal> {
    let unit = &program.units[unit.index()];
    let fits = matches!(unit.body, sojourn_p4::ir::Body::Parser(_)) == is_parser;
    if fits && !unit.params.is_empty() {
        return Ok(());
    }
    let message = format!("`{}` cannot stand at this place of a pipeline", unit.name);
    Err(rules::PIPELINE.refuse(at, message).with_place(unit.span, "declared here"))
}
