//! Conditions of a register action, fitted to the two compare units (rules T02).
//!
//! Each comparison becomes a sum against zero. A repeated comparison, or its exact opposite, shares
//! the unit.

use super::resources::{Resources, Row};
use super::term::{Half, Operation, Term, TermKind};
use crate::chip::StatefulAlu;
use crate::rules::{self, Refusal};
use crate::salu::{Compare, Constant, MemoryOperand, Opcode, Relation, Sense, Width};
use sojourn_p4::ir::{Binary, Scalar};
use sojourn_p4::source::Span;

/// The compare units of one action, in the order in which its text asks.
#[derive(Debug, Default)]
pub struct Units {
    units: Vec<(Compare, Span)>,
}

impl Units {
    /// The unit (0 lo, 1 hi) that answers this comparison, and whether it answers the opposite.
    pub fn answer(
        &mut self,
        compare: Compare,
        span: Span,
        chip: StatefulAlu,
    ) -> Result<(usize, bool), Refusal> {
        for (index, (known, _)) in self.units.iter().enumerate() {
            if *known == compare {
                return Ok((index, false));
            }
            if (Compare { opcode: opposite(known.opcode), ..*known }) == compare {
                return Ok((index, true));
            }
        }
        if self.units.len() == 2 && chip.comparisons > 2 {
            let message = "a third comparison in one register action is not simulated";
            return Err(rules::UNSUPPORTED.refuse(span, message));
        }
        if self.units.len() == 2 {
            return Err(rules::COMPARISONS
                .refuse(span, "a third comparison in one register action")
                .with_place(self.units[0].1, "the first")
                .with_place(self.units[1].1, "the second"));
        }
        self.units.push((compare, span));
        Ok((self.units.len() - 1, false))
    }

    /// Units lo and hi.
    pub fn into_pair(self) -> [Option<Compare>; 2] {
        let mut units = self.units.into_iter().map(|(unit, _)| unit);
        [units.next(), units.next()]
    }

    /// Number of units in use.
    pub fn len(&self) -> usize {
        self.units.len()
    }
}

fn opposite(opcode: Opcode) -> Opcode {
    match opcode {
        Opcode::Equal => Opcode::NotEqual,
        Opcode::NotEqual => Opcode::Equal,
        Opcode::Order(relation, sense) => {
            let relation = match relation {
                Relation::Greater => Relation::LessEqual,
                Relation::LessEqual => Relation::Greater,
                Relation::GreaterEqual => Relation::Less,
                Relation::Less => Relation::GreaterEqual,
            };
            Opcode::Order(relation, sense)
        }
    }
}

/// A comparison as the text has it.
pub struct Comparison<'a> {
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`
    pub operator: Binary,
    /// Left operand.
    pub left: &'a Term,
    /// Right operand.
    pub right: &'a Term,
    /// The type of the operands.
    pub operands: Scalar,
    /// One of the operands is written as a sum or difference.
    pub explicit_sum: bool,
    /// The whole comparison.
    pub span: Span,
}

/// The terms of a sum: at most one of each kind, with their signs.
#[derive(Default)]
struct Sum {
    memory: Option<(Half, bool)>,
    field: Option<(Term, bool)>,
    parameter: Option<(Term, bool)>,
    constant: i128,
}

impl Sum {
    fn add(&mut self, term: &Term, negative: bool) -> Result<(), Refusal> {
        use TermKind as K;
        let twice = |what: &str| {
            Err(rules::COMPARE_TERMS
                .refuse(term.span, format!("a second {what} in one comparison")))
        };
        match &term.kind {
            K::Operation(Operation::Add, a, b) => {
                self.add(a, negative)?;
                self.add(b, negative)
            }
            K::Operation(Operation::Sub, a, b) => {
                self.add(a, negative)?;
                self.add(b, !negative)
            }
            K::Negate(a) => self.add(a, !negative),
            K::Constant(value) => {
                self.constant += if negative { -value } else { *value };
                Ok(())
            }
            K::Memory(_) if self.memory.is_some() => twice("memory word"),
            K::Memory(half) => {
                self.memory = Some((*half, negative));
                Ok(())
            }
            K::Field(_) if self.field.is_some() => twice("packet field"),
            K::Field(_) => {
                self.field = Some((term.clone(), negative));
                Ok(())
            }
            K::Parameter(_) if self.parameter.is_some() => twice("parameter"),
            K::Parameter(_) => {
                self.parameter = Some((term.clone(), negative));
                Ok(())
            }
            K::Low(inner) if matches!(inner.kind, K::Memory(_)) => Err(rules::COMPARE_SLICE
                .refuse(term.span, "a comparison of some bits of the memory word")),
            _ => {
                Err(rules::COMPARE_SHAPE
                    .refuse(term.span, "this cannot be an operand of a comparison"))
            }
        }
    }
}

/// Fits a comparison to a compare unit.
pub fn fit(comparison: &Comparison<'_>, shared: &mut Resources<'_>) -> Result<Compare, Refusal> {
    let mut sum = Sum::default();
    sum.add(comparison.left, false)?;
    sum.add(comparison.right, true)?;
    let mut opcode = opcode(comparison, shared.width)?;
    if sum.parameter.as_ref().is_some_and(|(_, negative)| *negative) {
        opcode = turn_round(&mut sum, opcode);
    }
    let constant = constant(&sum, comparison.span, shared)?;
    let (mem, mem_negate) = match sum.memory {
        Some((Half::Lo, negative)) => (Some(MemoryOperand::Lo), negative),
        Some((Half::Hi, negative)) => (Some(MemoryOperand::Hi), negative),
        None => (None, false),
    };
    let (phv, phv_negate) = match &sum.field {
        Some((Term { kind: TermKind::Field(field), span, .. }, negative)) => {
            (Some(shared.field(field, *span)?), *negative)
        }
        _ => (None, false),
    };
    Ok(Compare { opcode, mem, mem_negate, phv, phv_negate, constant })
}

fn opcode(comparison: &Comparison<'_>, width: Width) -> Result<Opcode, Refusal> {
    let relation = match comparison.operator {
        Binary::Eq => return Ok(Opcode::Equal),
        Binary::Ne => return Ok(Opcode::NotEqual),
        Binary::Gt => Relation::Greater,
        Binary::Le => Relation::LessEqual,
        Binary::Ge => Relation::GreaterEqual,
        _ => Relation::Less,
    };
    let sense = if !comparison.operands.is_signed() {
        Sense::Unsigned
    } else if !comparison.explicit_sum {
        Sense::Signed
    } else if comparison.operands.width() == width.bits() {
        Sense::Modular
    } else {
        let message = format!(
            "a comparison of {}-bit differences in a {}-bit register",
            comparison.operands.width(),
            width.bits()
        );
        return Err(rules::COMPARE_NARROW.refuse(comparison.span, message));
    };
    Ok(Opcode::Order(relation, sense))
}

/// A row of the register file can only be added: negates the whole sum instead.
fn turn_round(sum: &mut Sum, opcode: Opcode) -> Opcode {
    let flip = |negative: &mut bool| *negative = !*negative;
    sum.memory.iter_mut().for_each(|(_, negative)| flip(negative));
    sum.field.iter_mut().for_each(|(_, negative)| flip(negative));
    sum.parameter.iter_mut().for_each(|(_, negative)| flip(negative));
    sum.constant = -sum.constant;
    let Opcode::Order(relation, sense) = opcode else { return opcode };
    let relation = match relation {
        Relation::Greater => Relation::Less,
        Relation::Less => Relation::Greater,
        Relation::GreaterEqual => Relation::LessEqual,
        Relation::LessEqual => Relation::GreaterEqual,
    };
    Opcode::Order(relation, sense)
}

fn constant(sum: &Sum, span: Span, shared: &mut Resources<'_>) -> Result<Constant, Refusal> {
    if let Some((Term { kind: TermKind::Parameter(object), .. }, _)) = &sum.parameter {
        if sum.constant != 0 {
            let message = "a parameter and a constant in one comparison";
            return Err(rules::PARAMETER_USE.refuse(span, message));
        }
        return shared.row(Row::Parameter(*object), span);
    }
    let value = sum.constant;
    if i32::try_from(value).is_err() {
        let message = format!("the comparison needs the constant {value}");
        return Err(rules::COMPARE_CONSTANT.refuse(span, message));
    }
    let kept = i128::from(shared.width.sign_extend(value as u32));
    if kept != value {
        let message = format!(
            "the comparison needs the constant {value}, of which an ALU in {}-bit mode keeps {kept}",
            shared.width.bits()
        );
        let warning = rules::COMPARE_CONSTANT_CUT.warning(span, message);
        if !shared.warnings.contains(&warning) {
            shared.warnings.push(warning);
        }
    }
    shared.constant(value, span)
}
