//! Return values of a register action, fitted to the ALU's outputs (rules T04).
//!
//! An output comes straight from a source (memory, a packet field, an updated half, the outcome of
//! the comparisons) or, where the register has one word only, through the free second half.

use super::resources::Resources;
use super::shape::Shape;
use super::term::{Half, Term, TermKind};
use super::update::Value;
use crate::rules::{self, Refusal};
use crate::salu::{MemoryOperand, OUTPUTS, Output, OutputSource, PredicateMask};
use sojourn_p4::ir::{Expr, ExprKind};
use sojourn_p4::source::Span;

/// Conversion of an output word to the value of `execute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Bits `low` and up, as many as the result is wide.
    Bits {
        /// Lowest bit.
        low: u8,
        /// Number of bits.
        width: u32,
    },
    /// The member of an enumeration for each outcome of the comparisons, whose one-hot bits start
    /// at 4.
    Member([u32; 16]),
}

impl OutputFormat {
    /// The value of `execute`.
    #[inline]
    pub fn read(&self, word: u64) -> u64 {
        match self {
            OutputFormat::Bits { low, width } => {
                word >> low & u64::MAX >> (64 - (*width).clamp(1, 64))
            }
            OutputFormat::Member(members) => {
                let outcome = (word >> 4 & 0xffff).checked_ilog2().unwrap_or(0);
                members[outcome as usize].into()
            }
        }
    }
}

/// A fitted output; `second_half` are values that the free second half computes for it.
#[derive(Debug)]
pub struct Fitted {
    /// The output of the instruction.
    pub output: Option<Output>,
    /// Format of the output.
    pub format: OutputFormat,
    /// Values for the second half's ALUs.
    pub second_half: Vec<Value>,
}

/// The 32-bit words that an action puts out. Two of them take the low half of a wide word and two
/// the high half.
#[derive(Debug, Default)]
pub struct Words {
    all: usize,
    /// Sources of each half, with the first bit.
    halves: [Vec<(OutputSource, u32)>; 2],
    predicate: Option<PredicateMask>,
}

impl Words {
    /// Adds an output.
    pub fn add(
        &mut self,
        output: Option<&Output>,
        format: OutputFormat,
        shape: Shape,
        span: Span,
    ) -> Result<(), Refusal> {
        let Some(output) = output else { return Ok(()) };
        let (low, width) = match format {
            OutputFormat::Bits { low, width } => (u32::from(low), width),
            OutputFormat::Member(_) => (0, 16),
        };
        if output.source == OutputSource::Predicate {
            let other = *self.predicate.get_or_insert(output.predicate);
            if other != output.predicate {
                let message = "two outputs of one action come from different conditions";
                return Err(rules::OUTPUT_WORDS.refuse(span, message));
            }
        } else if low > 0 || width > 32 || (shape.joined && is_second(output.source)) {
            // Bits of the second half of one number leave by the units of high halves.
            let above = low >= 32 || (shape.joined && is_second(output.source));
            let halves = match (width > 32, above) {
                (true, _) => 0..2,
                (false, true) => 1..2,
                (false, false) => 0..1,
            };
            for half in halves {
                let place = (output.source, low);
                let known = self.halves[half].iter();
                let mut same = known.filter(|(source, from)| {
                    *source == place.0 && (!shape.joined || *from / 32 == low / 32)
                });
                if same.next().is_none() {
                    self.halves[half].push(place);
                }
            }
        }
        self.all += if width > 32 { 2 } else { 1 };
        if self.all > OUTPUTS || self.halves.iter().any(|half| half.len() > OUTPUTS / 2) {
            let message = "the outputs of this action take more words than there are";
            return Err(rules::OUTPUT_WORDS.refuse(span, message));
        }
        Ok(())
    }
}

/// True for a word of the second half of an entry.
fn is_second(source: OutputSource) -> bool {
    use OutputSource::{Alu, Memory};
    matches!(source, Memory(MemoryOperand::Hi) | Alu(MemoryOperand::Hi))
}

/// Fits the return values of an action in the four outcomes.
///
/// `in_text` are the terms in the order in which the action's text has them, none if one statement
/// has several. `free` says whether the second half of the ALU has nothing else to do.
pub fn fit(
    values: &[Value],
    in_text: &[&Term],
    width: u32,
    free: bool,
    shared: &mut Resources<'_>,
) -> Result<Fitted, Refusal> {
    let driven: Vec<&Value> = values.iter().filter(|value| !value.term.is_zero()).collect();
    let nothing = OutputFormat::Bits { low: 0, width };
    let Some(first) = driven.first() else {
        return Ok(Fitted { output: None, format: nothing, second_half: Vec::new() });
    };
    let mask = PredicateMask(driven.iter().fold(0, |mask, value| mask | value.mask.0));
    let wired = |source, low, width| Fitted {
        output: Some(Output { source, predicate: mask, complement: false }),
        format: OutputFormat::Bits { low, width },
        second_half: Vec::new(),
    };
    let same = driven.iter().all(|value| value.term == first.term);
    if same && matches!(first.term.kind, TermKind::Predicate) {
        shared.one_hot_bits(first.term.span)?;
        let outcomes = 1 << shared.chip.comparisons;
        return Ok(wired(OutputSource::Predicate, 4, width.min(outcomes)));
    }
    if same && let Some((source, low)) = direct(&first.term, shared)? {
        let whole = width.min(first.term.width) > 32;
        if whole && !matches!(source, OutputSource::Alu(_)) {
            let message = format!("all {} bits of a word", first.term.width);
            return Err(rules::OUTPUT_SLICE.refuse(first.term.span, message));
        }
        return Ok(wired(source, low, width.min(first.term.width)));
    }
    if free {
        let fitted = through_second_half(&driven, mask, width, shared)?;
        check_order(in_text)?;
        return Ok(fitted);
    }
    if let TermKind::Constant(value) = first.term.kind
        && same
        && value > 0
        && value.count_ones() == 1
        && value < 1 << 32
    {
        let position = value.trailing_zeros() as u8;
        shared.combined_bit(position, width, first.term.span)?;
        return Ok(wired(OutputSource::Predicate, 0, width));
    }
    if same {
        let message = "this value needs an ALU of its own, and the register has none left for it";
        return Err(rules::OUTPUT_FORM.refuse(first.term.span, message));
    }
    Err(incompatible(&driven))
}

fn incompatible(driven: &[&Value]) -> Refusal {
    let first = driven[0];
    let other = driven.iter().find(|value| value.term != first.term).unwrap_or(&first);
    rules::OUTPUT_SOURCES
        .refuse(other.term.span, "this action puts out one thing here and another elsewhere")
        .with_place(first.term.span, "the other output")
}

/// The source of a value that the output can take as it is, and the first bit.
fn direct(term: &Term, shared: &mut Resources<'_>) -> Result<Option<(OutputSource, u8)>, Refusal> {
    let source = match &term.kind {
        TermKind::Memory(half) => OutputSource::Memory(memory(*half)),
        TermKind::Updated(half) => OutputSource::Alu(memory(*half)),
        TermKind::Field(field) => OutputSource::Phv(shared.field(field, term.span)?),
        TermKind::Address => OutputSource::Address,
        TermKind::Quotient(..) => OutputSource::Quotient,
        TermKind::Remainder(..) => OutputSource::Remainder,
        TermKind::Extreme(_) => OutputSource::Extreme,
        TermKind::ExtremeIndex(_) => OutputSource::ExtremeIndex,
        TermKind::Low(inner) => return direct(inner, shared),
        TermKind::Part(inner, low) => {
            if *low < 32 && low + term.width > 32 {
                let message = format!("bits {} to {low} of the word", low + term.width - 1);
                return Err(rules::OUTPUT_SLICE.refuse(term.span, message));
            }
            return Ok(direct(inner, shared)?.map(|(source, _)| (source, *low as u8)));
        }
        _ => return Ok(None),
    };
    Ok(Some((source, 0)))
}

fn memory(half: Half) -> MemoryOperand {
    if half == Half::Lo { MemoryOperand::Lo } else { MemoryOperand::Hi }
}

/// Lets the second half's ALUs compute what is put out.
fn through_second_half(
    driven: &[&Value],
    mask: PredicateMask,
    width: u32,
    shared: &mut Resources<'_>,
) -> Result<Fitted, Refusal> {
    for value in driven {
        match &value.term.kind {
            TermKind::Memory(_)
            | TermKind::Field(_)
            | TermKind::Constant(_)
            | TermKind::Parameter(_)
            | TermKind::Math(..)
            | TermKind::Complement(_)
            | TermKind::Negate(_)
            | TermKind::Operation(..) => {}
            _ => return Err(incompatible(driven)),
        }
        match &value.term.kind {
            TermKind::Constant(constant) if *constant > i128::from(shared.width.mask()) => {
                let message = format!(
                    "the constant {constant} does not fit the {} bits of the register's ALU",
                    shared.width.bits()
                );
                return Err(rules::OUTPUT_FORM.refuse(value.term.span, message));
            }
            _ => {}
        }
    }
    let source = OutputSource::Alu(MemoryOperand::Hi);
    Ok(Fitted {
        output: Some(Output { source, predicate: mask, complement: false }),
        format: OutputFormat::Bits { low: 0, width: width.min(shared.width.bits()) },
        second_half: driven.iter().map(|value| (*value).clone()).collect(),
    })
}

/// Wiring of the output by the compiler, statement by statement.
#[derive(Clone, Copy, PartialEq)]
enum Wired<'t> {
    /// A word or field as it is.
    Straight(&'t Term),
    /// The second half's ALU.
    Second,
}

/// Refuses outputs that the compiler cannot bring together in the order of the text.
///
/// It wires the first word or field straight to the output. A constant behind it takes what is
/// wired through the second half's ALU; a sum does not, nor does another word or field. Behind a
/// value that goes through that ALU, a word does so, too, and a field does not
/// (`CreateSaluInstruction::createInstruction` of p4c's back end, and what it said of each pair).
fn check_order(in_text: &[&Term]) -> Result<(), Refusal> {
    let mut wired: Option<(Wired<'_>, &Term)> = None;
    for term in in_text.iter().copied().filter(|term| !term.is_zero()) {
        let Some((before, first)) = wired else {
            let Some(how) = alone(term) else { return Ok(()) };
            wired = Some((how, term));
            continue;
        };
        let together = match (&term.kind, before) {
            (TermKind::Constant(_), _) => Some(Wired::Second),
            (TermKind::Field(_) | TermKind::Memory(_), Wired::Straight(same)) => {
                (same == term).then_some(before)
            }
            (TermKind::Memory(_), Wired::Second) => Some(Wired::Second),
            (TermKind::Field(_), Wired::Second) => None,
            _ => match alone(term) {
                Some(how) => (how == before).then_some(how),
                None => return Ok(()),
            },
        };
        let Some(together) = together else {
            return Err(rules::OUTPUT_ORDER
                .refuse(term.span, "the compiler cannot put this out as well, in this order")
                .with_place(first.span, "the output before it"));
        };
        wired = Some((together, term));
    }
    Ok(())
}

/// Wiring of a value that is output first; `None` for untested ones.
fn alone(term: &Term) -> Option<Wired<'_>> {
    match &term.kind {
        TermKind::Memory(_) => Some(Wired::Straight(term)),
        TermKind::Field(field) if is_plain(field) => Some(Wired::Straight(term)),
        TermKind::Constant(_) | TermKind::Operation(..) => Some(Wired::Second),
        _ => None,
    }
}

/// True for a field or bits of one, which no hash has to put together.
fn is_plain(field: &Expr) -> bool {
    match &field.kind {
        ExprKind::Slot(_) | ExprKind::WideSlot(_) => true,
        ExprKind::Slice(inner, _) | ExprKind::Cast(inner) => is_plain(inner),
        _ => false,
    }
}

/// Output of an enumeration's member: the member of each outcome.
pub fn fit_member(
    members: [u32; 16],
    span: Span,
    shared: &mut Resources<'_>,
) -> Result<Fitted, Refusal> {
    shared.one_hot_bits(span)?;
    let output = Output {
        source: OutputSource::Predicate,
        predicate: PredicateMask::ALWAYS,
        complement: false,
    };
    Ok(Fitted {
        output: Some(output),
        format: OutputFormat::Member(members),
        second_half: Vec::new(),
    })
}
