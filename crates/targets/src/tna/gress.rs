//! One of the two passes: parser, control and deparser with their frames, and what moves between
//! them.
//!
//! The chip has one set of containers for a pass; here each block has a frame of its own, and the
//! parameters that two blocks share are copied. It must not know what the metadata means.

use super::metadata::{Role, Told, fields_with_valid_bit};
use super::rules::{self, Refusal};
use super::validity::INVALID;
use crate::visit;
use sojourn_p4::interp::{Frame, Interpreter, SlotRange, copy_range};
use sojourn_p4::ir::{Expr, ExprKind, Layout, Program, Slot, StmtKind, UnitId};
use sojourn_p4::source::Span;
use std::collections::{BTreeMap, HashSet};

/// A block of a pass.
#[derive(Clone, Debug)]
pub struct Block {
    /// The unit.
    pub unit: UnitId,
    /// Its frame, used again for each packet.
    pub frame: Frame,
    /// Where its parameters lie.
    pub params: BTreeMap<Role, Layout>,
    /// Slots that start without a value of their own.
    invalid: Vec<Slot>,
}

impl Block {
    fn new(interpreter: &Interpreter, unit: UnitId) -> Block {
        let program = interpreter.program();
        let mut params = BTreeMap::new();
        let mut own = [Role::Headers, Role::Metadata].into_iter();
        for param in &program.units[unit.index()].params {
            let role = match (&param.layout, Role::of_type(&param.ty)) {
                (Layout::Object, _) => Some(Role::Packet),
                (_, Some(role)) => Some(role),
                (_, None) => own.next(),
            };
            params.extend(role.map(|role| (role, param.layout.clone())));
        }
        let invalid = params.values().flat_map(fields_with_valid_bit).collect();
        Block { unit, frame: interpreter.frame(unit), params, invalid }
    }

    /// Makes the frame ready for a packet.
    pub fn reset(&mut self) {
        self.frame.clear();
        for slot in &self.invalid {
            self.frame.set(*slot, INVALID);
        }
    }

    /// A field of a parameter.
    pub fn field(&self, role: Role, name: &str) -> Told {
        Told::new(self.params.get(&role), name)
    }
}

/// Ranges of slots to copy from one block's frame to another's.
type Copies = Vec<(SlotRange, SlotRange)>;

fn copies(from: &Block, to: &Block, roles: impl Fn(Role) -> bool) -> Copies {
    let shared = from.params.iter().filter(|(role, _)| **role != Role::Packet && roles(**role));
    shared
        .filter_map(|(role, layout)| Some((layout.range(), to.params.get(role)?.range())))
        .collect()
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
    parser_to_control: Copies,
    parser_to_deparser: Copies,
    control_to_deparser: Copies,
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
        let [parser, control, deparser] =
            [parser, control, deparser].map(|unit| Block::new(interpreter, unit));
        // What the control does not have goes from the parser to the deparser directly.
        let passed_by = |role| !control.params.contains_key(&role);
        Gress {
            parser_to_control: copies(&parser, &control, |_| true),
            parser_to_deparser: copies(&parser, &deparser, passed_by),
            control_to_deparser: copies(&control, &deparser, |_| true),
            parser,
            control,
            deparser,
            reads_parser_error,
        }
    }

    /// Makes all frames ready for a packet.
    pub fn reset(&mut self) {
        self.parser.reset();
        self.control.reset();
        self.deparser.reset();
    }

    /// Hands on what the parser made.
    pub fn parsed(&mut self) {
        for (from, to) in &self.parser_to_control {
            copy_range(&self.parser.frame, *from, &mut self.control.frame, *to);
        }
        for (from, to) in &self.parser_to_deparser {
            copy_range(&self.parser.frame, *from, &mut self.deparser.frame, *to);
        }
    }

    /// Hands on what the control made.
    pub fn controlled(&mut self) {
        for (from, to) in &self.control_to_deparser {
            copy_range(&self.control.frame, *from, &mut self.deparser.frame, *to);
        }
    }
}

/// True if a unit does more with `parser_err` than hand it on.
fn reads_parser_error(program: &Program, unit: UnitId) -> bool {
    let params = &program.units[unit.index()].params;
    let errors = params.iter().filter(|p| Role::of_type(&p.ty) == Some(Role::FromParser));
    let mut carriers: HashSet<Slot> =
        errors.filter_map(|param| super::metadata::field(&param.layout, "parser_err")).collect();
    let mut read = false;
    let mut before = 0;
    while carriers.len() != before {
        before = carriers.len();
        visit::unit_statements(program, unit, &mut |stmt| match &stmt.kind {
            StmtKind::Set(to, Expr { kind: ExprKind::Slot(from), .. })
                if carriers.contains(from) =>
            {
                carriers.insert(*to);
            }
            StmtKind::Copy { narrow: (from, to, count), .. } => {
                let moved = (0..*count).filter(|i| carriers.contains(&Slot(from.0 + i)));
                let moved: Vec<Slot> = moved.map(|i| Slot(to.0 + i)).collect();
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
