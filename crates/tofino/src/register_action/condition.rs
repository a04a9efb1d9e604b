//! Conditions of a register action, fitted to the compare units (rules T02).
//!
//! Each comparison becomes a sum against zero. A repeated comparison, or its exact opposite, shares
//! the unit.

use super::resources::{Resources, Row};
use super::term::{Half, Operation, Term, TermKind};
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
    /// The unit that answers this comparison, and whether it answers the opposite.
    pub fn answer(
        &mut self,
        compare: Compare,
        span: Span,
        shared: &Resources<'_>,
    ) -> Result<(usize, bool), Refusal> {
        for (index, (known, _)) in self.units.iter().enumerate() {
            if *known == compare {
                return Ok((index, false));
            }
            if opposite(known.opcode).is_some_and(|opcode| Compare { opcode, ..*known } == compare)
            {
                return Ok((index, true));
            }
        }
        let most = shared.chip.comparisons;
        if self.units.len() == most {
            let (which, title) = (NUMBERS[most], shared.chip_title);
            let message =
                format!("a {which} comparison in one register action: {title} has {most}");
            let refused = rules::COMPARISONS.refuse(span, message);
            let others = self.units.iter().zip(NUMBERS);
            return Err(others.fold(refused, |refused, ((_, place), name)| {
                refused.with_place(*place, format!("the {name}"))
            }));
        }
        if matches!(compare.opcode, Opcode::Match(_)) && self.units.len() > 1 {
            let message = "a comparison of whole wide words behind two others";
            return Err(rules::COMPARE_MASK.refuse(span, message));
        }
        self.units.push((compare, span));
        Ok((self.units.len() - 1, false))
    }

    /// The units in their order.
    pub fn into_units(self) -> [Option<Compare>; 4] {
        let mut units = self.units.into_iter().map(|(unit, _)| unit);
        [units.next(), units.next(), units.next(), units.next()]
    }

    /// Number of units in use.
    pub fn len(&self) -> usize {
        self.units.len()
    }
}

/// Names of comparisons by their number.
const NUMBERS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

fn opposite(opcode: Opcode) -> Option<Opcode> {
    Some(match opcode {
        Opcode::Match(_) => return None,
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
    })
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
    /// Masks of the memory word and the packet field.
    masks: [Option<(u128, Span)>; 2],
    parameter: Option<(Term, bool)>,
    constant: i128,
}

impl Sum {
    /// Adds a term; `masks` says whether the chip's comparisons have masks.
    fn add(&mut self, term: &Term, negative: bool, masks: bool) -> Result<(), Refusal> {
        use TermKind as K;
        let twice = |what: &str| {
            Err(rules::COMPARE_TERMS
                .refuse(term.span, format!("a second {what} in one comparison")))
        };
        match &term.kind {
            K::Operation(Operation::Add, a, b) => {
                self.add(a, negative, masks)?;
                self.add(b, negative, masks)
            }
            K::Operation(Operation::Sub, a, b) => {
                self.add(a, negative, masks)?;
                self.add(b, !negative, masks)
            }
            K::Negate(a) => self.add(a, !negative, masks),
            K::Operation(Operation::And, a, b) if masks => {
                let (term, mask) = match (&a.kind, &b.kind) {
                    (_, K::Constant(mask)) => (a, *mask),
                    (K::Constant(mask), _) => (b, *mask),
                    _ => {
                        let message = "the mask of a comparison is no constant";
                        return Err(rules::COMPARE_MASK.refuse(term.span, message));
                    }
                };
                let of = match term.kind {
                    K::Memory(_) => 0,
                    K::Field(_) => 1,
                    _ => {
                        let message = "a mask on something that is no word of memory or packet";
                        return Err(rules::COMPARE_MASK.refuse(term.span, message));
                    }
                };
                self.masks[of] = Some((mask as u128 & u128::from(u64::MAX), term.span));
                self.add(term, negative, masks)
            }
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
    sum.add(comparison.left, false, shared.chip.masks)?;
    sum.add(comparison.right, true, shared.chip.masks)?;
    let mut opcode = opcode(comparison, shared.width)?;
    if sum.parameter.as_ref().is_some_and(|(_, negative)| *negative) {
        opcode = turn_round(&mut sum, opcode);
    }
    let ternary = ternary(&sum, opcode, shared);
    let constant = constant(&sum, comparison.span, shared)?;
    let masks = match ternary {
        Some(mask) => {
            shared.ternary_mask(mask, comparison.span)?;
            opcode = Opcode::Match(mask);
            Compare::WHOLE
        }
        None => masks(&sum, constant, shared)?,
    };
    if shared.shape.wide && ternary.is_none() {
        let message = format!("this looks at 32 of the word's {} bits", shared.shape.value_bits());
        shared.warn(rules::WIDE_WORDS.warning(comparison.span, message));
    }
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
    Ok(Compare { opcode, mem, mem_negate, phv, phv_negate, constant, masks })
}

/// The mask of a comparison of a whole memory word with a packet field: one that has more than 32
/// bits.
fn ternary(sum: &Sum, opcode: Opcode, shared: &Resources<'_>) -> Option<u64> {
    let [Some((mask, _)), None] = sum.masks else { return None };
    let equal = opcode == Opcode::Equal && sum.constant == 0 && sum.parameter.is_none();
    let wide = shared.shape.wide && mask > u128::from(u32::MAX);
    (equal && wide && sum.field.is_some()).then_some(mask as u64)
}

/// Masks of a unit. They lie where its constant lies, and so does that of the other word.
fn masks(sum: &Sum, constant: Constant, shared: &mut Resources<'_>) -> Result<[u32; 2], Refusal> {
    let mut masks = Compare::WHOLE;
    let mut row = match constant {
        Constant::Row(row) => Some(row),
        Constant::Immediate(_) => None,
    };
    let immediate = match constant {
        Constant::Immediate(0) | Constant::Row(_) => None,
        Constant::Immediate(value) => Some(i128::from(value)),
    };
    for (at, mask) in sum.masks.iter().enumerate() {
        let Some((mask, span)) = *mask else { continue };
        let Ok(word) = u32::try_from(mask) else {
            let message = "a mask of more than 32 bits in a comparison that adds";
            return Err(rules::COMPARE_MASK.refuse(span, message));
        };
        masks[at] = word;
        let value = i128::from(word);
        // The memory's mask can share the instruction's constant field.
        let small = at == 0 && shared.chip.compared_constants.contains(&value);
        if small && immediate.is_none_or(|other| other == value) {
            continue;
        }
        let needed = shared.row(Row::Constant(value), span)?;
        if row.is_some_and(|row| needed != Constant::Row(row)) {
            let message = "the masks and the large constant of one comparison differ";
            return Err(rules::COMPARE_MASK.refuse(span, message));
        }
        if let Constant::Row(new) = needed {
            row = Some(new);
        }
    }
    Ok(masks)
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
    let (value, spare) = (sum.constant, shared.chip.spare_row_bits);
    let fits = |bits: u32| (-(1i128 << (bits - 1))..1 << (bits - 1)).contains(&value);
    if !fits(32 + spare) {
        let message = format!("the comparison needs the constant {value}");
        return Err(rules::COMPARE_CONSTANT.refuse(span, message));
    }
    let bits = shared.width.bits() + spare;
    if !fits(bits) {
        let unused = 128 - bits;
        let kept = value << unused >> unused;
        let message = format!(
            "the comparison needs the constant {value}, of which an ALU in {}-bit mode keeps {kept}",
            shared.width.bits()
        );
        let warning = rules::COMPARE_CONSTANT_CUT.warning(span, message);
        shared.warn(warning);
    }
    shared.compared(value, span)
}
