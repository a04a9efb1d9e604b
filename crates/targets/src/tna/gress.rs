//! One of the two passes: parser, control and deparser with their frames.
//!
//! What moves between them is in `handover`. It must not know what the metadata means.

use super::framed::Block;
use super::handover::Handover;
use super::metadata::Role;
use super::rules::{self, Refusal};
use super::validity::INVALID;
use crate::visit;
use sojourn_p4::interp::Interpreter;
use sojourn_p4::ir::{Expr, ExprKind, Program, Slot, StmtKind, UnitId};
use sojourn_p4::source::Span;
use std::collections::HashSet;

/// A pass.
#[derive(Clone, Debug)]
pub struct Gress {
    /// The parser.
    pub parser: Block,
    /// The match-action control.
    pub control: Block,
    /// The deparser.
    pub deparser: Block,
    to_control: Handover,
    to_deparser: Handover,
    /// What goes from the parser to the deparser directly, as the control does not have it.
    past_control: Option<Handover>,
    /// Fields with a valid bit that start a block of their own, where the frame goes on.
    invalid: [Vec<Slot>; 2],
    /// True if the program looks at `parser_err`.
    pub reads_parser_error: bool,
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
        let [mut parser, mut control, mut deparser] =
            [parser, control, deparser].map(|unit| Block::new(interpreter, unit));
        // What the control does not have, parser and pipeline put into the deparser's own frame.
        let all_through = deparser
            .params
            .keys()
            .all(|role| *role == Role::Packet || control.params.contains_key(role));
        let (to_control, to_deparser, past_control) = if all_through {
            let on = Handover::new(&control, &deparser);
            (Handover::new(&parser, &control), on, None)
        } else {
            let copies = Handover::copies;
            (
                copies(&parser, &control),
                copies(&control, &deparser),
                Some(copies(&parser, &deparser)),
            )
        };
        let invalid =
            [to_control.unshared(&control.invalid), to_deparser.unshared(&deparser.invalid)];
        same_size([&mut parser, &mut control, &mut deparser]);
        Gress {
            to_control,
            to_deparser,
            past_control,
            invalid,
            parser,
            control,
            deparser,
            reads_parser_error,
        }
    }

    /// Makes the frames ready for a packet.
    pub fn reset(&mut self) {
        self.parser.reset();
        if self.to_control.wants_reset() {
            self.control.reset();
        }
        if self.to_deparser.wants_reset() {
            self.deparser.reset();
        }
    }

    /// Hands on what the parser made.
    pub fn parsed(&mut self) {
        if let Some(past) = &self.past_control {
            past.run(&mut self.parser.frame, &mut self.deparser.frame);
        }
        self.to_control.run(&mut self.parser.frame, &mut self.control.frame);
        self.invalid[0].iter().for_each(|slot| self.control.frame.set(*slot, INVALID));
    }

    /// Hands on what the control made; its frame is of no use then.
    pub fn controlled(&mut self) {
        self.to_deparser.run(&mut self.control.frame, &mut self.deparser.frame);
        self.invalid[1].iter().for_each(|slot| self.deparser.frame.set(*slot, INVALID));
    }
}

/// Makes frames that are handed on large enough for each of the blocks.
fn same_size(blocks: [&mut Block; 3]) {
    let sizes = blocks.iter().map(|block| (block.frame.narrow.len(), block.frame.wide.len()));
    let (narrow, wide) = sizes.fold((0, 0), |a, b| (a.0.max(b.0), a.1.max(b.1)));
    for block in blocks {
        block.frame.narrow.resize(narrow, 0);
        block.frame.wide.resize(wide, Default::default());
    }
}

/// True if a unit does more with `parser_err` than hand it on: what it puts into a header or into
/// metadata is used there.
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
