//! Resources that all actions of a register share: packet inputs, constant rows, the math unit, and
//! the position of the predicate in the output (rules T05).

use super::shape::Shape;
use super::term::same_expression;
use crate::arguments::{ArgumentError, math_unit};
use crate::chip::{Chip, StatefulAlu};
use crate::math_unit::{ExponentParity, MathUnit};
use crate::rules::{self, Refusal};
use crate::salu::{Constant, PhvOperand, PredicateOutput, Width};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ObjectId, Program, UnitId};
use sojourn_p4::source::Span;

/// A row of the register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// A constant of the program.
    Constant(i128),
    /// A `RegisterParam`, which the control plane may change.
    Parameter(ObjectId),
}

/// A packet input of a stateful ALU. Ghost and ingress can share a register, and each has inputs of
/// its own.
#[derive(Clone, Debug)]
pub struct Field {
    /// The unit whose variables it reads.
    pub unit: UnitId,
    /// Its value.
    pub expr: Expr,
}

/// The shared parts of one stateful ALU, filled as its actions are compiled.
#[derive(Debug)]
pub struct Resources<'p> {
    /// Capabilities of the chip's stateful ALUs.
    pub chip: StatefulAlu,
    /// The chip's name in messages.
    pub chip_title: &'static str,
    /// The program, for objects that actions refer to.
    pub program: &'p Program,
    /// Shape of the register's entries.
    pub shape: Shape,
    /// Width of the words that the ALU works on.
    pub width: Width,
    /// The mask of comparisons of whole wide words, once an action makes one.
    pub ternary: Option<(u64, Span)>,
    /// The unit of the action that is being compiled.
    pub unit: UnitId,
    /// Packet inputs in use, with the first place that uses each.
    pub fields: Vec<(Field, Span)>,
    /// Rows in use, with the first place that uses each.
    pub rows: Vec<(Row, Span)>,
    /// The math unit in use, and where it is first used.
    pub math: Option<(MathUnit, Span)>,
    /// Position of the combined predicate bit, once an action puts it out, with the width of the
    /// widest output that uses it.
    pub combined: Option<(u8, u32, Span)>,
    /// True once an action puts out the predicate's bits for the outcomes.
    pub one_hot: Option<Span>,
    /// Warnings found on the way.
    pub warnings: Vec<Diagnostic>,
}

impl<'p> Resources<'p> {
    /// A stateful ALU of which nothing is used yet.
    pub fn new(chip: &Chip, program: &'p Program, shape: Shape) -> Resources<'p> {
        Resources {
            chip: chip.stateful_alu,
            chip_title: chip.title,
            program,
            shape,
            width: shape.width,
            ternary: None,
            unit: UnitId(0),
            fields: Vec::new(),
            rows: Vec::new(),
            math: None,
            combined: None,
            one_hot: None,
            warnings: Vec::new(),
        }
    }

    /// The packet input that carries `field`, which a unit reads from one place.
    pub fn field_at(
        &mut self,
        field: &Expr,
        place: PhvOperand,
        span: Span,
    ) -> Result<PhvOperand, Refusal> {
        // An input that nothing uses leaves the first place free.
        if place == PhvOperand::Hi && self.fields.is_empty() {
            self.fields.push((Field { unit: self.unit, expr: field.clone() }, span));
            self.fields.push((Field { unit: self.unit, expr: field.clone() }, span));
            return Ok(place);
        }
        let found = self.field(field, span)?;
        if found == place {
            return Ok(place);
        }
        let message = match place {
            PhvOperand::Lo => "a mask from the packet that is not the register's first field",
            PhvOperand::Hi => "a change from the packet that is not the register's second field",
        };
        Err(rules::SEARCH.refuse(span, message))
    }

    /// The packet input that carries `field`.
    pub fn field(&mut self, field: &Expr, span: Span) -> Result<PhvOperand, Refusal> {
        let (width, most) = (field.scalar.width(), self.shape.word_bits());
        if width > most {
            let message =
                format!("this field has {width} bits, the stateful ALU works in {most}-bit mode");
            return Err(rules::FIELD_WIDTH.refuse(span, message));
        }
        let same = |other: &Field| other.unit == self.unit && same_expression(&other.expr, field);
        let known = self.fields.iter().position(|(other, _)| same(other));
        let index = known.unwrap_or_else(|| {
            self.fields.push((Field { unit: self.unit, expr: field.clone() }, span));
            self.fields.len() - 1
        });
        match index {
            0 => Ok(PhvOperand::Lo),
            1 => Ok(PhvOperand::Hi),
            _ => {
                let refused =
                    rules::FIELD_INPUTS.refuse(span, "a third packet field for one register");
                Err(refused
                    .with_place(self.fields[0].1, "the first")
                    .with_place(self.fields[1].1, "the second"))
            }
        }
    }

    /// An immediate, or the row that holds the constant.
    pub fn constant(&mut self, value: i128, span: Span) -> Result<Constant, Refusal> {
        if (-8..=7).contains(&value) {
            return Ok(Constant::Immediate(value as i8));
        }
        self.row(Row::Constant(value), span)
    }

    /// The constant of a comparison: an immediate of the chip's, or the row that holds it.
    pub fn compared(&mut self, value: i128, span: Span) -> Result<Constant, Refusal> {
        if self.chip.compared_constants.contains(&value) {
            return Ok(Constant::Immediate(value as i8));
        }
        self.row(Row::Constant(value), span)
    }

    /// Makes this the register's mask of comparisons of whole wide words.
    pub fn ternary_mask(&mut self, mask: u64, span: Span) -> Result<(), Refusal> {
        match self.ternary {
            Some((other, first)) if other != mask => Err(rules::COMPARE_MASK
                .refuse(span, "a second mask for whole words of one register")
                .with_place(first, "the first")),
            _ => {
                self.ternary = Some((mask, span));
                Ok(())
            }
        }
    }

    /// The row that holds a constant or parameter.
    pub fn row(&mut self, row: Row, span: Span) -> Result<Constant, Refusal> {
        let known = self.rows.iter().position(|(other, _)| *other == row);
        let index = known.unwrap_or_else(|| {
            self.rows.push((row, span));
            self.rows.len() - 1
        });
        if index < 4 {
            return Ok(Constant::Row(index as u8));
        }
        let message = "a fifth large constant or parameter for one register";
        let names = ["the first", "the second", "the third", "the fourth"];
        let refused = rules::CONSTANT_ROWS.refuse(span, message);
        Err(self.rows.iter().zip(names).fold(refused, |d, ((_, at), name)| d.with_place(*at, name)))
    }

    /// Makes the math unit of this object the register's.
    pub fn math_unit(&mut self, object: ObjectId, span: Span) -> Result<(), Refusal> {
        let declared = &self.program.objects[object.index()];
        let (unit, capped) = math_unit(declared).map_err(|ArgumentError(why)| {
            rules::EXTERN_ARGUMENT.refuse(declared.span, format!("this MathUnit: {why}"))
        })?;
        if let Some(capped) = capped {
            let message = format!(
                "the math unit's scale would be {} and is capped at {}",
                capped.wanted, capped.used
            );
            self.warnings.push(rules::EXTERN_ARGUMENT.warning(declared.span, message));
        }
        match &self.math {
            Some((other, first)) if *other != unit => Err(rules::MATH_UNITS
                .refuse(span, "a second, different math unit for one register")
                .with_place(*first, "the first")),
            Some(_) => Ok(()),
            None => {
                self.math = Some((unit, span));
                Ok(())
            }
        }
    }

    /// Warns where the math unit's result for an operand of so many bits can be cut.
    pub fn check_math_range(&mut self, operand_bits: u32, span: Span) {
        let Some((unit, _)) = &self.math else { return };
        let operand_bits = operand_bits.min(self.width.bits());
        let Some(first) = unit.first_cut(operand_bits, self.width.bits(), ExponentParity::Vendor)
        else {
            return;
        };
        let bits = self.width.bits();
        let message = format!("for operands from {first} on the result does not fit {bits} bits");
        self.warn(rules::MATH_RANGE.warning(span, message));
    }

    /// Notes a warning once.
    pub fn warn(&mut self, warning: Diagnostic) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Uses the combined predicate bit at `position` for an output of `width` bits.
    pub fn combined_bit(&mut self, position: u8, width: u32, span: Span) -> Result<(), Refusal> {
        if let Some((other, _, first)) = self.combined
            && other != position
        {
            return Err(rules::OUTPUT_CONSTANTS
                .refuse(span, "two actions of one register put out different constants")
                .with_place(first, "the other"));
        }
        let widest = self.combined.map_or(0, |(_, widest, _)| widest).max(width);
        self.combined = Some((position, widest, span));
        self.check_predicate_place(span)
    }

    /// Uses the predicate's bits for the outcomes.
    pub fn one_hot_bits(&mut self, span: Span) -> Result<(), Refusal> {
        self.one_hot = Some(span);
        self.check_predicate_place(span)
    }

    /// Those bits start at 4, so a constant in the same word must be narrow.
    fn check_predicate_place(&self, span: Span) -> Result<(), Refusal> {
        match (self.combined, self.one_hot) {
            (Some((_, width, other)), Some(one_hot)) if width > 4 => Err(rules::OUTPUT_CONSTANTS
                .refuse(
                    span,
                    format!("a constant of {width} bits and predicate() for one register"),
                )
                .with_place(if span == other { one_hot } else { other }, "the other")),
            _ => Ok(()),
        }
    }

    /// Position of the predicate in the output word.
    pub fn predicate_output(&self) -> PredicateOutput {
        PredicateOutput {
            combined: self.combined.map_or(0, |(position, _, _)| position),
            one_hot: self.one_hot.map(|_| 4),
        }
    }
}
