//! Values written to a register entry, fitted to the update ALUs (rules T03).
//!
//! Operand A is memory or the constant, operand B a packet field, the constant or the math unit's
//! result; each ALU has one constant. What does not fit that shape is refused with the rule.

use super::resources::{Resources, Row};
use super::term::{Half, Operation, Term, TermKind};
use crate::rules::{self, Refusal};
use crate::salu::{
    AluOp, ArithmeticOp, Constant, LogicOp, MemoryOperand, OperandA, OperandB, OutputSource,
    PhvOperand, PredicateMask, Update,
};
use sojourn_p4::source::Span;

/// A value, and in which outcomes of the comparisons it is computed.
#[derive(Clone, Debug)]
pub struct Value {
    /// Computed value.
    pub term: Term,
    /// Outcomes in which it applies.
    pub mask: PredicateMask,
}

/// The two ALUs of a half, and what the math unit reads if the second one uses it.
#[derive(Clone, Copy, Debug, Default)]
pub struct HalfAlus {
    /// lo1 or hi1.
    pub first: Option<Update>,
    /// lo2 or hi2.
    pub second: Option<Update>,
    /// The operand of the math unit.
    pub math_operand: Option<OutputSource>,
}

/// Fits all values of one half to its two ALUs.
pub fn fit_half(
    values: &[Value],
    half: Half,
    shared: &mut Resources<'_>,
) -> Result<HalfAlus, Refusal> {
    let values = one_operation_each(values);
    if let [first, second, third, ..] = values.as_slice() {
        let which = if half == Half::Lo { "first" } else { "second" };
        return Err(rules::TWO_VALUES
            .refuse(third.term.span, format!("a third value for the {which} half of the entry"))
            .with_place(first.term.span, "the first")
            .with_place(second.term.span, "the second"));
    }
    let mut alus = HalfAlus::default();
    for value in &values {
        if shared.shape.wide {
            check_wide(&value.term, shared)?;
        }
        let (update, math_operand) = fit(&value.term, shared)?;
        let update = Update { predicate: value.mask, ..update };
        if math_operand.is_none() {
            *(if alus.first.is_none() { &mut alus.first } else { &mut alus.second }) = Some(update);
            continue;
        }
        if half == Half::Hi {
            let message = "the math unit's result for the second half of the entry";
            return Err(rules::MATH_HALF.refuse(value.term.span, message));
        }
        if alus.math_operand.is_some() {
            let message = "two different values from the math unit";
            return Err(rules::TWO_VALUES.refuse(value.term.span, message));
        }
        alus.first = alus.first.or(alus.second);
        alus.second = Some(update);
        alus.math_operand = math_operand;
    }
    Ok(alus)
}

/// An ALU has 32 bits: a wide word is copied, or its low 32 bits change.
fn check_wide(term: &Term, shared: &mut Resources<'_>) -> Result<(), Refusal> {
    use Operation as O;
    match &term.kind {
        TermKind::Operation(O::Add | O::Sub | O::Or | O::Xor, a, b)
            if ![a, b].iter().any(|side| matches!(side.kind, TermKind::Complement(_))) =>
        {
            let message = format!(
                "this changes 32 bits of the word's {}, without a carry",
                shared.shape.value_bits()
            );
            shared.warn(rules::WIDE_WORDS.warning(term.span, message));
            Ok(())
        }
        TermKind::Operation(..) | TermKind::Complement(_) | TermKind::Negate(_) => {
            let message = format!("this operation on {} bits", shared.shape.value_bits());
            Err(rules::WIDE_OPERATION.refuse(term.span, message))
        }
        TermKind::Constant(value) if i32::try_from(*value).is_err() => {
            let message = format!("the constant {value} for an ALU of 32 bits");
            Err(rules::WIDE_OPERATION.refuse(term.span, message))
        }
        _ => Ok(()),
    }
}

/// Splits `x | y` of two operations over two ALUs, whose results the half ORs, where a value could
/// not be computed otherwise or there would be too many of them.
fn one_operation_each(values: &[Value]) -> Vec<Value> {
    let crowded = values.len() > 2;
    let mut fitted: Vec<Value> = Vec::new();
    let mut put = |term: &Term, mask: PredicateMask| match fitted
        .iter_mut()
        .find(|known| known.term == *term)
    {
        Some(known) => known.mask.0 |= mask.0,
        None => fitted.push(Value { term: term.clone(), mask }),
    };
    for Value { term, mask } in values {
        match &term.kind {
            TermKind::Operation(Operation::Or, a, b)
                if crowded || is_operation(a) || is_operation(b) =>
            {
                put(a, *mask);
                put(b, *mask);
            }
            _ => put(term, *mask),
        }
    }
    fitted
}

fn is_operation(term: &Term) -> bool {
    match &term.kind {
        TermKind::Operation(..) => true,
        TermKind::Complement(inner) => is_operation(inner),
        _ => false,
    }
}

/// An operand that some input of an ALU can take.
#[derive(Clone, Copy, PartialEq)]
enum Operand {
    Memory(MemoryOperand),
    Field(PhvOperand),
    Constant(Constant),
    Math(OutputSource),
}

type Fitted = (Update, Option<OutputSource>);

/// Fits one value to one ALU; the second result is the operand of the math unit if it is needed.
pub fn fit(term: &Term, shared: &mut Resources<'_>) -> Result<Fitted, Refusal> {
    match &term.kind {
        TermKind::Operation(operation, left, right) => {
            binary(*operation, left, right, term.span, shared)
        }
        TermKind::Complement(inner) => complement(inner, shared),
        TermKind::Negate(inner) => {
            let zero = Operand::Constant(Constant::Immediate(0));
            let operand = operand(inner, shared)?;
            place(Operation::Sub, (zero, false), (operand, false), term.span)
        }
        _ => Ok(single(operand(term, shared)?, false)),
    }
}

fn complement(inner: &Term, shared: &mut Resources<'_>) -> Result<Fitted, Refusal> {
    if !is_operation(inner) && !matches!(inner.kind, TermKind::Complement(_)) {
        return Ok(single(operand(inner, shared)?, true));
    }
    let (mut update, math) = fit(inner, shared)?;
    let AluOp::Logic(LogicOp(table)) = update.op else {
        let message = "the complement of an arithmetic result is a second operation";
        return Err(rules::ONE_OPERATOR.refuse(inner.span, message));
    };
    update.op = AluOp::Logic(LogicOp(!table & 0b1111));
    Ok((update, math))
}

/// A leaf as an operand.
fn operand(term: &Term, shared: &mut Resources<'_>) -> Result<Operand, Refusal> {
    use TermKind as K;
    Ok(match &term.kind {
        K::Memory(Half::Lo) => Operand::Memory(MemoryOperand::Lo),
        K::Memory(Half::Hi) => Operand::Memory(MemoryOperand::Hi),
        K::Field(field) => Operand::Field(shared.field(field, term.span)?),
        K::Constant(value) => Operand::Constant(shared.constant(*value, term.span)?),
        K::Parameter(object) => Operand::Constant(shared.row(Row::Parameter(*object), term.span)?),
        K::Math(object, input) => {
            shared.math_unit(*object, term.span)?;
            shared.check_math_range(input.width, term.span);
            Operand::Math(math_operand(input, shared)?)
        }
        K::Operation(..) | K::Complement(_) | K::Negate(_) => {
            return Err(rules::ONE_OPERATOR.refuse(term.span, "an operation inside an operation"));
        }
        K::Low(_) | K::Part(..) => {
            return Err(rules::CUT_RESULT.refuse(term.span, "some bits of a memory word or result"));
        }
        K::Updated(_) => {
            return Err(rules::OUTPUT_FORM.refuse(term.span, "an updated half inside an update"));
        }
        K::Predicate
        | K::Address
        | K::Quotient(..)
        | K::Remainder(..)
        | K::Extreme(_)
        | K::ExtremeIndex(_) => {
            let message = "this result of the ALU can only be put out";
            return Err(rules::OUTPUT_FORM.refuse(term.span, message));
        }
    })
}

fn math_operand(input: &Term, shared: &mut Resources<'_>) -> Result<OutputSource, Refusal> {
    Ok(match &input.kind {
        TermKind::Memory(Half::Lo) => OutputSource::Memory(MemoryOperand::Lo),
        TermKind::Memory(Half::Hi) => OutputSource::Memory(MemoryOperand::Hi),
        TermKind::Field(field) => OutputSource::Phv(shared.field(field, input.span)?),
        _ => {
            let message = "this cannot be an operand of the math unit";
            return Err(rules::MATH_OPERAND.refuse(input.span, message));
        }
    })
}

/// An ALU that passes one operand on.
fn single(operand: Operand, complement: bool) -> Fitted {
    let (on_a, on_b) =
        if complement { (LogicOp::NOT_A, LogicOp::NOT_B) } else { (LogicOp::A, LogicOp::B) };
    let base = Update {
        op: AluOp::Logic(on_a),
        a: OperandA::Constant,
        b: OperandB::Constant,
        constant: Constant::Immediate(0),
        predicate: PredicateMask::ALWAYS,
    };
    match operand {
        Operand::Memory(memory) => (Update { a: OperandA::Memory(memory), ..base }, None),
        Operand::Constant(constant) => (Update { constant, ..base }, None),
        Operand::Field(field) => {
            (Update { op: AluOp::Logic(on_b), b: OperandB::Phv(field), ..base }, None)
        }
        Operand::Math(input) => {
            (Update { op: AluOp::Logic(on_b), b: OperandB::Math, ..base }, Some(input))
        }
    }
}

fn binary(
    operation: Operation,
    left: &Term,
    right: &Term,
    span: Span,
    shared: &mut Resources<'_>,
) -> Result<Fitted, Refusal> {
    let boolean = matches!(operation, Operation::And | Operation::Or | Operation::Xor);
    let mut side = |term: &Term| match &term.kind {
        TermKind::Complement(inner) if boolean => Ok((operand(inner, shared)?, true)),
        _ => Ok((operand(term, shared)?, false)),
    };
    let (left, right) = (side(left)?, side(right)?);
    place(operation, left, right, span)
}

/// Decides which side is operand A and which is operand B.
fn place(
    operation: Operation,
    left: (Operand, bool),
    right: (Operand, bool),
    span: Span,
) -> Result<Fitted, Refusal> {
    use Operand as O;
    let refuse = |rule: &'static rules::Rule, what: &str| Err(rule.refuse(span, what.to_owned()));
    let swapped = match (left.0, right.0) {
        (O::Memory(_), O::Memory(_)) => {
            return refuse(&rules::MEMORY_WITH_MEMORY, "an operation on two memory words");
        }
        (O::Field(_), O::Field(_)) => {
            return refuse(&rules::FIELD_WITH_FIELD, "an operation on two packet fields");
        }
        (O::Math(_), O::Field(_) | O::Math(_)) | (O::Field(_), O::Math(_)) => {
            return refuse(
                &rules::MATH_WITH_FIELD,
                "an operation on the math unit's result and something from the packet",
            );
        }
        (O::Constant(_), O::Constant(_)) => {
            return refuse(&rules::ONE_CONSTANT, "an operation on two constants");
        }
        (O::Memory(_), _) | (O::Constant(_), O::Field(_) | O::Math(_)) => false,
        (_, O::Memory(_)) | (O::Field(_) | O::Math(_), O::Constant(_)) => true,
    };
    let (a, b) = if swapped { (right, left) } else { (left, right) };
    let (constant, math) = match (a.0, b.0) {
        (O::Constant(constant), _) | (_, O::Constant(constant)) => (constant, None),
        _ => (Constant::Immediate(0), None),
    };
    let math = if let O::Math(input) = b.0 { Some(input) } else { math };
    let update = Update {
        op: opcode(operation, swapped, a.1, b.1),
        a: if let O::Memory(memory) = a.0 { OperandA::Memory(memory) } else { OperandA::Constant },
        b: match b.0 {
            O::Field(field) => OperandB::Phv(field),
            O::Math(_) => OperandB::Math,
            _ => OperandB::Constant,
        },
        constant,
        predicate: PredicateMask::ALWAYS,
    };
    Ok((update, math))
}

/// The chip's operation; `swapped` if the left operand of the text is operand B.
fn opcode(operation: Operation, swapped: bool, not_a: bool, not_b: bool) -> AluOp {
    use ArithmeticOp as A;
    let logic = |function: fn(bool, bool) -> bool| {
        let row =
            |bit: u8| u8::from(function((bit >> 1 == 1) ^ not_a, (bit & 1 == 1) ^ not_b)) << bit;
        AluOp::Logic(LogicOp((0..4).map(row).sum()))
    };
    AluOp::Arithmetic(match operation {
        Operation::And => return logic(|a, b| a & b),
        Operation::Or => return logic(|a, b| a | b),
        Operation::Xor => return logic(|a, b| a ^ b),
        Operation::Add => A::Add,
        Operation::Sub if swapped => A::Rsub,
        Operation::Sub => A::Sub,
        Operation::SatAdd { signed: false } => A::SaturatingAddUnsigned,
        Operation::SatAdd { signed: true } => A::SaturatingAddSigned,
        Operation::SatSub { signed: false } if swapped => A::SaturatingRsubUnsigned,
        Operation::SatSub { signed: false } => A::SaturatingSubUnsigned,
        Operation::SatSub { signed: true } if swapped => A::SaturatingRsubSigned,
        Operation::SatSub { signed: true } => A::SaturatingSubSigned,
        Operation::Min { signed: false } => A::MinUnsigned,
        Operation::Min { signed: true } => A::MinSigned,
        Operation::Max { signed: false } => A::MaxUnsigned,
        Operation::Max { signed: true } => A::MaxSigned,
    })
}
