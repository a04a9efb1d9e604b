//! Decoded instructions: a register's configuration, prepared for fast execution.
//!
//! Equivalent to [`execute`](super::execute()), which defines the semantics bit by bit. Code is
//! generated from this form of an instruction.

use super::execute::{Shared, arithmetic, logic};
use super::instruction::{
    AluOp, ArithmeticOp, Compare, Instruction, LogicOp, MemoryOperand, Opcode, OperandA, OperandB,
    Output, OutputSource, PhvOperand, Relation, Sense, Update, Width,
};

/// Inputs of the units, by place: the words of memory and packet first, then these.
pub(crate) type Words = [u32; 16];
/// A term or an output that is not there.
pub(crate) const ZERO: u8 = 4;
/// The halves as they are behind the instruction.
pub(crate) const AFTER: [u8; 2] = [5, 6];
/// The result of the math unit.
pub(crate) const MATH: u8 = 7;
/// The constants of the four ALUs.
pub(crate) const CONSTANT: u8 = 8;

fn memory(operand: MemoryOperand) -> u8 {
    match operand {
        MemoryOperand::Lo => 0,
        MemoryOperand::Hi => 1,
    }
}

fn phv(operand: PhvOperand) -> u8 {
    match operand {
        PhvOperand::Lo => 2,
        PhvOperand::Hi => 3,
    }
}

#[inline(always)]
fn word(words: &Words, place: u8) -> u32 {
    words[usize::from(place & 15)]
}

/// A compare unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    pub mem: u8,
    pub phv: u8,
    /// Accepted signs of the sum: bit 0 below zero, bit 1 zero, bit 2 above.
    pub accepted: u8,
    /// Bits above the sign of a term, and of the sum; 0 if it has none.
    pub term_above: u8,
    pub sum_above: u8,
    /// All ones for terms that are subtracted.
    pub mem_negate: i64,
    pub phv_negate: i64,
    pub constant: i64,
}

impl Comparison {
    fn new(unit: &Compare, width: Width, shared: &Shared) -> Comparison {
        let accepted = match unit.opcode {
            Opcode::Equal => 0b010,
            Opcode::NotEqual => 0b101,
            Opcode::Order(Relation::Greater, _) => 0b100,
            Opcode::Order(Relation::LessEqual, _) => 0b011,
            Opcode::Order(Relation::GreaterEqual, _) => 0b110,
            Opcode::Order(Relation::Less, _) => 0b001,
            // `Ready::new` leaves those out.
            Opcode::Match(_) => 0,
        };
        let above = |sense| match unit.opcode {
            Opcode::Order(_, of) if of == sense => 64 - width.bits() as u8,
            _ => 0,
        };
        Comparison {
            mem: unit.mem.map_or(ZERO, memory),
            phv: unit.phv.map_or(ZERO, phv),
            accepted,
            term_above: above(Sense::Signed),
            sum_above: above(Sense::Modular),
            mem_negate: -i64::from(unit.mem_negate),
            phv_negate: -i64::from(unit.phv_negate),
            constant: shared.constant(unit.constant, width),
        }
    }

    #[inline(always)]
    fn holds(&self, words: &Words) -> bool {
        let term = |place: u8, negate: i64| {
            let value = i64::from(word(words, place)) << self.term_above >> self.term_above;
            (value ^ negate) - negate
        };
        let terms = term(self.mem, self.mem_negate) + term(self.phv, self.phv_negate);
        let sum = (terms + self.constant) << self.sum_above >> self.sum_above;
        self.accepted >> (1 + sum.signum()) & 1 != 0
    }
}

/// Frequent operations of the ALUs, and the general case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operation {
    A,
    B,
    Add,
    Sub,
    Rsub,
    Other(AluOp),
}

/// An update ALU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alu {
    predicate: u16,
    pub a: u8,
    pub b: u8,
    pub operation: Operation,
}

impl Alu {
    fn new(alu: &Update, constant: u8) -> Alu {
        use {AluOp::*, ArithmeticOp as Op};
        Alu {
            predicate: alu.predicate.0,
            a: match alu.a {
                OperandA::Memory(operand) => memory(operand),
                OperandA::Constant => constant,
            },
            b: match alu.b {
                OperandB::Phv(operand) => phv(operand),
                OperandB::Constant => constant,
                OperandB::Math => MATH,
            },
            operation: match alu.op {
                Logic(LogicOp::A) => Operation::A,
                Logic(LogicOp::B) => Operation::B,
                Arithmetic(Op::Add) => Operation::Add,
                Arithmetic(Op::Sub) => Operation::Sub,
                Arithmetic(Op::Rsub) => Operation::Rsub,
                other => Operation::Other(other),
            },
        }
    }

    #[inline(always)]
    fn run(&self, words: &Words, width: Width, mask: u32) -> u32 {
        let (a, b) = (word(words, self.a), word(words, self.b));
        match self.operation {
            Operation::A => a,
            Operation::B => b,
            Operation::Add => a.wrapping_add(b) & mask,
            Operation::Sub => a.wrapping_sub(b) & mask,
            Operation::Rsub => b.wrapping_sub(a) & mask,
            Operation::Other(op) => other(op, a, b, width),
        }
    }

    /// Whether it runs at an outcome of the comparisons.
    fn runs_at(&self, outcome: usize) -> bool {
        self.predicate >> outcome & 1 != 0
    }
}

/// Update of a half of an entry at one outcome of the comparisons.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Half {
    /// It stays.
    Kept,
    One(Alu),
    /// Outputs of both ALUs, combined.
    Both(Alu, Alu),
}

impl Half {
    fn at(alus: [Option<Alu>; 2], outcome: usize) -> Half {
        match alus.map(|alu| alu.filter(|alu| alu.runs_at(outcome))) {
            [None, None] => Half::Kept,
            [Some(alu), None] | [None, Some(alu)] => Half::One(alu),
            [Some(one), Some(two)] => Half::Both(one, two),
        }
    }

    #[inline(always)]
    fn run(&self, words: &Words, width: Width, mask: u32) -> Option<u32> {
        match self {
            Half::Kept => None,
            Half::One(alu) => Some(alu.run(words, width, mask)),
            Half::Both(one, two) => Some(one.run(words, width, mask) | two.run(words, width, mask)),
        }
    }
}

/// Output at one outcome of the comparisons.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Put {
    Constant(u32),
    /// A word, some of whose bits are turned.
    Word {
        place: u8,
        turned: u32,
    },
}

impl Put {
    fn at(output: Option<Output>, outcome: usize, shared: &Shared, width: Width) -> Put {
        let Some(output) = output else { return Put::Constant(0) };
        let chosen = 1 << outcome & output.predicate.0;
        match output.source {
            OutputSource::Predicate => Put::Constant(shared.predicate_output.word(chosen)),
            _ if chosen == 0 => Put::Constant(0),
            source => {
                let turned = if output.complement { width.mask() } else { 0 };
                Put::Word { place: place(source, AFTER), turned }
            }
        }
    }
}

#[inline(never)]
fn other(op: AluOp, a: u32, b: u32, width: Width) -> u32 {
    match op {
        AluOp::Arithmetic(op) => arithmetic(op, a, b, width),
        AluOp::Logic(op) => logic(op, a, b, width),
    }
}

/// An instruction with the constants of its register, with its ALUs by the four joint outcomes of
/// the two comparisons: the first is bit 0.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// Inputs of units other than memory and packet.
    pub(crate) words: Words,
    pub(crate) width: Width,
    mask: u32,
    pub(crate) dual: bool,
    pub(crate) compare: [Option<Comparison>; 2],
    /// By half and outcome.
    pub(crate) halves: [[Half; 4]; 2],
    /// Input of the math unit.
    pub(crate) math: u8,
    /// The outcomes at which its result is read, as bits.
    pub(crate) math_at: u16,
    /// By outcome.
    pub(crate) put: [Put; 4],
}

const OUTCOMES: [usize; 4] = [0, 1, 2, 3];

/// Result of one access with words of at most 32 bits and one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The new first half, if it is written.
    pub lo: Option<u32>,
    /// The new second half, if it is written back.
    pub hi: Option<u32>,
    /// The output.
    pub output: u32,
}

impl Ready {
    /// Makes an instruction ready; again if the constants change. None for an instruction that uses
    /// what Tofino 1 does not have: [`execute`](super::execute()) runs that.
    pub fn new(instruction: &Instruction, shared: &Shared) -> Option<Ready> {
        if !is_small(instruction) {
            return None;
        }
        let width = instruction.width;
        let mut words = Words::default();
        let compare =
            |unit: &Option<Compare>| unit.map(|unit| Comparison::new(&unit, width, shared));
        let mut alu = |at: u8, alu: &Option<Update>| {
            alu.map(|alu| {
                let value = shared.constant(alu.constant, width) as u32 & width.mask();
                words[usize::from(CONSTANT + at)] = value;
                Alu::new(&alu, CONSTANT + at)
            })
        };
        let alus = [
            [alu(0, &instruction.lo1), alu(1, &instruction.lo2)],
            [alu(2, &instruction.hi1), alu(3, &instruction.hi2)],
        ];
        let with_math = alus.iter().flatten().flatten().filter(|alu| alu.b == MATH);
        let [lo, hi, ..] = &instruction.compare;
        Some(Ready {
            words,
            width,
            mask: width.mask(),
            dual: instruction.dual,
            compare: [compare(lo), compare(hi)],
            halves: alus.map(|half| OUTCOMES.map(|outcome| Half::at(half, outcome))),
            math: place(instruction.math_operand, [0, 1]),
            math_at: with_math.fold(0, |at, alu| at | alu.predicate),
            put: OUTCOMES.map(|outcome| Put::at(instruction.outputs[0], outcome, shared, width)),
        })
    }

    /// Runs it on the words of memory and packet, each within the register's width.
    #[inline]
    pub fn execute(&self, mem: [u32; 2], phv: [u32; 2], shared: &Shared) -> Done {
        let mut words = self.words;
        [words[0], words[1], words[2], words[3]] = [mem[0], mem[1], phv[0], phv[1]];
        let holds = |unit: &Option<Comparison>| match unit {
            Some(unit) => usize::from(unit.holds(&words)),
            None => 0,
        };
        let outcome = holds(&self.compare[0]) | holds(&self.compare[1]) << 1;
        if self.math_at >> outcome & 1 != 0 {
            let result = shared.math.execute(word(&words, self.math), shared.parity);
            words[usize::from(MATH)] = result & self.mask;
        }
        let lo = self.halves[0][outcome].run(&words, self.width, self.mask);
        let hi = self.halves[1][outcome].run(&words, self.width, self.mask);
        let output = match self.put[outcome] {
            Put::Constant(value) => value,
            Put::Word { place, turned } => {
                words[usize::from(AFTER[0])] = lo.unwrap_or(mem[0]);
                words[usize::from(AFTER[1])] = hi.unwrap_or(mem[1]);
                word(&words, place) ^ turned
            }
        };
        Done { lo, hi: if self.dual { hi } else { None }, output }
    }
}

/// Place of a source's word; those of the ALUs are at `after`.
fn place(source: OutputSource, after: [u8; 2]) -> u8 {
    match source {
        OutputSource::Memory(operand) => memory(operand),
        OutputSource::Phv(operand) => phv(operand),
        OutputSource::Alu(operand) => after[usize::from(memory(operand))],
        _ => ZERO,
    }
}

/// True if the instruction has two comparisons, one output and no special unit.
fn is_small(instruction: &Instruction) -> bool {
    let [lo, hi, third, fourth] = instruction.compare;
    let [first, others @ ..] = instruction.outputs;
    let whole =
        |unit: Compare| unit.masks == Compare::WHOLE && !matches!(unit.opcode, Opcode::Match(_));
    third.or(fourth).is_none()
        && lo.is_none_or(whole)
        && hi.is_none_or(whole)
        && others.iter().all(Option::is_none)
        && first.is_none_or(|output| output.source != OutputSource::Address)
        && instruction.special.is_none()
}

#[cfg(test)]
mod tests {
    use super::super::execute::{Fetched, Outcome, execute};
    use super::super::random::Choices;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16 * ProptestConfig::default().cases))]
        #[test]
        fn what_is_ready_does_what_the_instruction_does(
            random in prop::collection::vec(any::<u64>(), 4),
        ) {
            let mut random = Choices(random);
            let instruction = random.instruction();
            let shared = random.shared();
            let ready = Ready::new(&instruction, &shared).expect("Tofino 1 has it");
            for _ in 0..8 {
                let [a, b, c, d] = [(); 4].map(|()| random.word() & instruction.width.mask());
                let at = Fetched {
                    mem_lo: a.into(),
                    mem_hi: b.into(),
                    phv_lo: c.into(),
                    phv_hi: d.into(),
                    ..Fetched::default()
                };
                let done = ready.execute([a, b], [c, d], &shared);
                let word = |half: Option<u64>| half.map(|word| word as u32);
                let Outcome { lo, hi, outputs, .. } = execute(&instruction, &shared, &at);
                let all = Done { lo: word(lo), hi: word(hi), output: outputs[0] as u32 };
                prop_assert_eq!(done, all);
            }
        }
    }
}
