//! One access of a stateful ALU to its memory, bit by bit as the chip does it.
//!
//! Everything reads the words as they were fetched; what the instruction writes is seen by the
//! next access only. The comparisons, the ALUs and the math unit work side by side.

use super::instruction::{
    AluOp, ArithmeticOp, Compare, Constant, Instruction, LogicOp, MemoryOperand, OUTPUTS, Opcode,
    OperandA, OperandB, Output, OutputSource, PhvOperand, PredicateOutput, Relation, Sense, Update,
    Width,
};
use super::special::{self, Found};
use crate::math_unit::{ExponentParity, MathUnit};

/// Settings shared by all instructions of one stateful ALU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// The four rows of the constant register file.
    pub rows: [i64; 4],
    /// Bits of a row that comparisons see beyond the register's width.
    pub spare_bits: u32,
    /// The math unit.
    pub math: MathUnit,
    /// Normalisation in the math unit.
    pub parity: ExponentParity,
    /// Position of the predicate in the output.
    pub predicate_output: PredicateOutput,
}

/// The operands of one access: words with 64 bits where the entry has those, of which units see the
/// low 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// First half of the entry.
    pub mem_lo: u64,
    /// Second half of the entry (for a single register: the neighbour, which only reads see).
    pub mem_hi: u64,
    /// First packet slot.
    pub phv_lo: u64,
    /// Second packet slot.
    pub phv_hi: u64,
    /// The whole word of the memory; only a search reads it.
    pub word: u128,
    /// The address of the entry.
    pub address: u32,
}

impl Fetched {
    #[inline]
    pub(super) fn memory(&self, operand: MemoryOperand) -> u64 {
        match operand {
            MemoryOperand::Lo => self.mem_lo,
            MemoryOperand::Hi => self.mem_hi,
        }
    }

    #[inline]
    pub(super) fn phv(&self, operand: PhvOperand) -> u64 {
        match operand {
            PhvOperand::Lo => self.phv_lo,
            PhvOperand::Hi => self.phv_hi,
        }
    }
}

/// Result of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The new first half, if it is written.
    pub lo: Option<u64>,
    /// The new second half, if it is written back (dual registers only).
    pub hi: Option<u64>,
    /// The new word of the memory, if a search changes it.
    pub word: Option<u128>,
    /// The outputs.
    pub outputs: [u64; OUTPUTS],
}

impl Shared {
    /// A constant as comparisons see it; update ALUs see the bits of the register's width.
    #[inline]
    pub(super) fn constant(&self, constant: Constant, width: Width) -> i64 {
        match constant {
            Constant::Immediate(value) => value.into(),
            Constant::Row(row) => {
                let unused = 64 - width.bits() - self.spare_bits;
                self.rows[usize::from(row & 3)] << unused >> unused
            }
        }
    }
}

/// Evaluates one compare unit.
#[inline]
pub fn compare(unit: &Compare, width: Width, operands: &Fetched, shared: &Shared) -> bool {
    let [of_memory, of_packet] = unit.masks;
    let memory = unit.mem.map(|m| operands.memory(m));
    let packet = unit.phv.map(|p| operands.phv(p));
    if let Opcode::Match(mask) = unit.opcode {
        return (memory.unwrap_or(0) ^ packet.unwrap_or(0)) & mask == 0;
    }
    let signed = matches!(unit.opcode, Opcode::Order(_, Sense::Signed));
    let term = |word: u32, negate: bool| {
        let value = if signed { i64::from(width.sign_extend(word)) } else { i64::from(word) };
        if negate { -value } else { value }
    };
    let mem = memory.map_or(0, |word| term(word as u32 & of_memory, unit.mem_negate));
    let phv = packet.map_or(0, |word| term(word as u32 & of_packet, unit.phv_negate));
    let sum = mem + phv + shared.constant(unit.constant, width);
    // Three 33-bit terms cannot leave 35 bits, so the sign of the sum is bit 34 of the chip's.
    let (relation, sum) = match unit.opcode {
        Opcode::Equal => return sum == 0,
        Opcode::NotEqual => return sum != 0,
        Opcode::Order(relation, Sense::Modular) => {
            (relation, i64::from(width.sign_extend(sum as u32)))
        }
        Opcode::Order(relation, _) => (relation, sum),
        Opcode::Match(_) => return true,
    };
    match relation {
        Relation::Greater => sum > 0,
        Relation::LessEqual => sum <= 0,
        Relation::GreaterEqual => sum >= 0,
        Relation::Less => sum < 0,
    }
}

#[inline]
pub(super) fn arithmetic(op: ArithmeticOp, a: u32, b: u32, width: Width) -> u32 {
    use ArithmeticOp as Op;
    let mask = width.mask();
    let (sa, sb) = (i64::from(width.sign_extend(a)), i64::from(width.sign_extend(b)));
    let clamp = |value: i64| {
        let top = 1i64 << (width.bits() - 1);
        value.clamp(-top, top - 1) as u32
    };
    let result = match op {
        Op::SaturatingAddUnsigned => (u64::from(a) + u64::from(b)).min(u64::from(mask)) as u32,
        Op::SaturatingAddSigned => clamp(sa + sb),
        Op::SaturatingSubUnsigned => a.saturating_sub(b),
        Op::SaturatingSubSigned => clamp(sa - sb),
        Op::MinUnsigned => a.min(b),
        Op::MinSigned => sa.min(sb) as u32,
        Op::MaxUnsigned => a.max(b),
        Op::MaxSigned => sa.max(sb) as u32,
        Op::SaturatingRsubUnsigned => b.saturating_sub(a),
        Op::SaturatingRsubSigned => clamp(sb - sa),
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Rsub => b.wrapping_sub(a),
        Op::Reserved => 0,
    };
    result & mask
}

#[inline]
pub(super) fn logic(op: LogicOp, a: u32, b: u32, width: Width) -> u32 {
    let minterm = |bit: u8, word: u32| if op.0 & (1 << bit) != 0 { word } else { 0 };
    let word = minterm(0, !a & !b) | minterm(1, !a & b) | minterm(2, a & !b) | minterm(3, a & b);
    word & width.mask()
}

/// Evaluates one update ALU that is on; `math` is the math unit's result, needed by lo2 alone.
///
/// An ALU has 32 bits. Those above come from its memory operand, otherwise from its packet operand.
#[inline]
pub fn update(
    alu: &Update,
    width: Width,
    operands: &Fetched,
    shared: &Shared,
    math: impl FnOnce() -> u32,
) -> u64 {
    let constant = shared.constant(alu.constant, width) as u32 & width.mask();
    let (a, above) = match alu.a {
        OperandA::Memory(m) => (operands.memory(m) as u32, Some(operands.memory(m) >> 32)),
        OperandA::Constant => (constant, None),
    };
    let (b, otherwise) = match alu.b {
        OperandB::Phv(p) => (operands.phv(p) as u32, operands.phv(p) >> 32),
        OperandB::Constant => (constant, 0),
        OperandB::Math => (math(), 0),
    };
    let low = match alu.op {
        AluOp::Arithmetic(op) => arithmetic(op, a, b, width),
        AluOp::Logic(op) => logic(op, a, b, width),
    };
    let reads_a = alu.op != AluOp::Logic(LogicOp::B);
    above.filter(|_| reads_a).unwrap_or(otherwise) << 32 | u64::from(low)
}

/// The ALU, if there is one and its predicate holds.
#[inline(always)]
fn on(alu: &Option<Update>, hot: u16) -> Option<&Update> {
    alu.as_ref().filter(|alu| alu.predicate.0 & hot != 0)
}

/// Runs one instruction on fetched operands.
pub fn execute(instruction: &Instruction, shared: &Shared, operands: &Fetched) -> Outcome {
    let Instruction { width, dual, .. } = instruction;
    let hot = 1 << outcome(instruction, shared, operands);
    let math = || {
        let operand = source_word(instruction.math_operand, operands, [None; 2]) as u32;
        shared.math.execute(operand, shared.parity) & width.mask()
    };
    let run = |alu: &Update| update(alu, *width, operands, shared, math);
    let either = |one: Option<u64>, two: Option<u64>| match (one, two) {
        (None, None) => None,
        _ => Some(one.unwrap_or(0) | two.unwrap_or(0)),
    };
    let new_lo = either(on(&instruction.lo1, hot).map(run), on(&instruction.lo2, hot).map(run));
    let new_hi = either(on(&instruction.hi1, hot).map(run), on(&instruction.hi2, hot).map(run));
    let found = instruction.special.map(|special| special::run(special, *width, shared, operands));
    let put = |of: &Option<Output>| match of {
        Some(of) => output(of, instruction.width, shared, operands, hot, [new_lo, new_hi], found),
        None => 0,
    };
    Outcome {
        lo: new_lo,
        hi: new_hi.filter(|_| *dual),
        word: found.and_then(|found| found.word),
        outputs: instruction.outputs.each_ref().map(put),
    }
}

/// Number of the comparisons' joint outcome.
fn outcome(instruction: &Instruction, shared: &Shared, operands: &Fetched) -> u16 {
    let units = instruction.compare.iter().enumerate();
    let holds = units.map(|(at, unit)| match unit {
        Some(unit) => u16::from(compare(unit, instruction.width, operands, shared)) << at,
        None => 0,
    });
    holds.sum()
}

/// A word as it is, or a half with its new value.
#[inline]
fn source_word(source: OutputSource, operands: &Fetched, [lo, hi]: [Option<u64>; 2]) -> u64 {
    match source {
        OutputSource::Memory(m) => operands.memory(m),
        OutputSource::Phv(p) => operands.phv(p),
        OutputSource::Alu(MemoryOperand::Lo) => lo.unwrap_or(operands.mem_lo),
        OutputSource::Alu(MemoryOperand::Hi) => hi.unwrap_or(operands.mem_hi),
        OutputSource::Address => operands.address.into(),
        _ => 0,
    }
}

fn output(
    output: &Output,
    width: Width,
    shared: &Shared,
    operands: &Fetched,
    hot: u16,
    new: [Option<u64>; 2],
    found: Option<Found>,
) -> u64 {
    let chosen = hot & output.predicate.0;
    if output.source == OutputSource::Predicate {
        return shared.predicate_output.word(chosen).into();
    }
    if chosen == 0 {
        return 0;
    }
    let found = found.unwrap_or_default();
    let word = match output.source {
        OutputSource::Quotient | OutputSource::Extreme => found.first,
        OutputSource::Remainder | OutputSource::ExtremeIndex => found.second,
        source => source_word(source, operands, new),
    };
    if output.complement { !word & u64::from(width.mask()) } else { word }
}

#[cfg(test)]
mod tests {
    use super::super::instruction::PredicateMask;
    use super::*;
    use proptest::prelude::*;

    fn widths() -> impl Strategy<Value = Width> {
        prop_oneof![Just(Width::Eight), Just(Width::Sixteen), Just(Width::ThirtyTwo)]
    }

    fn order(relation: Relation, sense: Sense) -> Compare {
        Compare {
            opcode: Opcode::Order(relation, sense),
            mem: Some(MemoryOperand::Lo),
            mem_negate: true,
            phv: Some(PhvOperand::Lo),
            phv_negate: false,
            constant: Constant::Immediate(0),
            masks: Compare::WHOLE,
        }
    }

    fn two(width: Width, mem_lo: u32, phv_lo: u32) -> Fetched {
        let mask = width.mask();
        Fetched {
            mem_lo: (mem_lo & mask).into(),
            phv_lo: (phv_lo & mask).into(),
            ..Fetched::default()
        }
    }

    #[test]
    fn an_unsigned_comparison_of_times_breaks_at_the_wrap_and_a_modular_one_does_not() {
        let next = 0xffff_ff00;
        let now = 0x0000_0100;
        let at = two(Width::ThirtyTwo, next, now);
        let unsigned = order(Relation::Greater, Sense::Unsigned);
        let modular = order(Relation::Greater, Sense::Modular);
        assert!(!compare(&unsigned, Width::ThirtyTwo, &at, &Shared::default()));
        assert!(compare(&modular, Width::ThirtyTwo, &at, &Shared::default()));
    }

    #[test]
    fn the_output_is_zero_when_its_predicate_does_not_hold() {
        let mut instruction = Instruction::idle(Width::ThirtyTwo, false);
        instruction.compare[0] = Some(order(Relation::Greater, Sense::Unsigned));
        instruction.outputs[0] = Some(Output {
            source: OutputSource::Memory(MemoryOperand::Lo),
            predicate: PredicateMask::unit(0),
            complement: false,
        });
        let run = |mem, phv| {
            execute(&instruction, &Shared::default(), &two(Width::ThirtyTwo, mem, phv)).outputs[0]
        };
        assert_eq!((run(5, 6), run(5, 5)), (5, 0));
    }

    #[test]
    fn the_second_half_of_a_single_register_is_scratch() {
        let mut instruction = Instruction::idle(Width::ThirtyTwo, false);
        instruction.hi1 = Some(Update {
            op: AluOp::Arithmetic(ArithmeticOp::Add),
            a: OperandA::Constant,
            b: OperandB::Phv(PhvOperand::Lo),
            constant: Constant::Immediate(3),
            predicate: PredicateMask::ALWAYS,
        });
        instruction.outputs[0] = Some(Output {
            source: OutputSource::Alu(MemoryOperand::Hi),
            predicate: PredicateMask::ALWAYS,
            complement: false,
        });
        let done = execute(&instruction, &Shared::default(), &two(Width::ThirtyTwo, 9, 4));
        assert_eq!((done.lo, done.hi, done.outputs), (None, None, [7, 0, 0, 0]));
    }

    #[test]
    fn two_alus_of_a_half_are_or_ed_and_a_half_that_no_alu_drives_keeps_its_value() {
        let put = |word, predicate| {
            Some(Update {
                op: AluOp::Logic(LogicOp::A),
                a: OperandA::Constant,
                b: OperandB::Constant,
                constant: Constant::Immediate(word),
                predicate,
            })
        };
        let mut instruction = Instruction::idle(Width::Eight, true);
        instruction.lo1 = put(1, PredicateMask::ALWAYS);
        instruction.lo2 = put(4, PredicateMask::ALWAYS);
        instruction.hi1 = put(7, PredicateMask::NEVER);
        let done = execute(&instruction, &Shared::default(), &Fetched::default());
        assert_eq!((done.lo, done.hi), (Some(5), None));
    }

    #[test]
    fn a_one_bit_register_can_put_out_the_complement_of_its_old_bit() {
        let mut instruction = Instruction::idle(Width::One, false);
        instruction.outputs[0] = Some(Output {
            source: OutputSource::Memory(MemoryOperand::Lo),
            predicate: PredicateMask::ALWAYS,
            complement: true,
        });
        let run =
            |bit| execute(&instruction, &Shared::default(), &two(Width::One, bit, 0)).outputs[0];
        assert_eq!((run(0), run(1)), (1, 0));
    }

    proptest! {
        #[test]
        fn signed_and_unsigned_comparisons_are_exact(
            width in widths(), m: u32, p: u32, k in -8i8..8, negate: bool,
        ) {
            let at = two(width, m, p);
            let exact = |x: i128, y: i128| {
                (if negate { -x } else { x }) + y + i128::from(k)
            };
            let unsigned = exact(at.mem_lo.into(), at.phv_lo.into());
            let signed = exact(
                width.sign_extend(at.mem_lo as u32).into(),
                width.sign_extend(at.phv_lo as u32).into(),
            );
            for (sense, sum) in [(Sense::Unsigned, unsigned), (Sense::Signed, signed)] {
                let unit = |relation| Compare {
                    mem_negate: negate,
                    constant: Constant::Immediate(k),
                    ..order(relation, sense)
                };
                let ask = |relation| compare(&unit(relation), width, &at, &Shared::default());
                prop_assert_eq!(ask(Relation::Greater), sum > 0);
                prop_assert_eq!(ask(Relation::LessEqual), sum <= 0);
                prop_assert_eq!(ask(Relation::GreaterEqual), sum >= 0);
                prop_assert_eq!(ask(Relation::Less), sum < 0);
            }
        }

        #[test]
        fn a_modular_comparison_orders_instants_less_than_half_a_turn_apart(
            width in widths(), start: u32, ahead: u32,
        ) {
            let ahead = ahead & (width.mask() >> 1);
            let at = two(width, start, start.wrapping_add(ahead));
            let ask = |relation| compare(&order(relation, Sense::Modular), width, &at, &Shared::default());
            prop_assert!(ask(Relation::GreaterEqual));
            prop_assert_eq!(ask(Relation::Greater), ahead != 0);
            prop_assert!(!ask(Relation::Less));
        }

        #[test]
        fn arithmetic_is_exact_modulo_the_width_or_clamped_to_it(width in widths(), a: u32, b: u32) {
            let (a, b) = (a & width.mask(), b & width.mask());
            let (ua, ub) = (i128::from(a), i128::from(b));
            let (sa, sb) =
                (i128::from(width.sign_extend(a)), i128::from(width.sign_extend(b)));
            let mask = i128::from(width.mask());
            let top = (mask + 1) / 2;
            let run = |op| i128::from(arithmetic(op, a, b, width));
            use ArithmeticOp as Op;
            prop_assert_eq!(run(Op::Add), (ua + ub) & mask);
            prop_assert_eq!(run(Op::Sub), (ua - ub) & mask);
            prop_assert_eq!(run(Op::Rsub), (ub - ua) & mask);
            prop_assert_eq!(run(Op::SaturatingAddUnsigned), (ua + ub).min(mask));
            prop_assert_eq!(run(Op::SaturatingSubUnsigned), (ua - ub).max(0));
            prop_assert_eq!(run(Op::SaturatingRsubUnsigned), (ub - ua).max(0));
            let clamp = |value: i128| value.clamp(-top, top - 1) & mask;
            prop_assert_eq!(run(Op::SaturatingAddSigned), clamp(sa + sb));
            prop_assert_eq!(run(Op::SaturatingSubSigned), clamp(sa - sb));
            prop_assert_eq!(run(Op::SaturatingRsubSigned), clamp(sb - sa));
            prop_assert_eq!(run(Op::MinUnsigned), ua.min(ub));
            prop_assert_eq!(run(Op::MaxUnsigned), ua.max(ub));
            prop_assert_eq!(run(Op::MinSigned), sa.min(sb) & mask);
            prop_assert_eq!(run(Op::MaxSigned), sa.max(sb) & mask);
        }

        #[test]
        fn a_truth_table_is_applied_bit_by_bit(width in widths(), table in 0u8..16, a: u32, b: u32) {
            let got = logic(LogicOp(table), a, b, width);
            for bit in 0..width.bits() {
                let row = (a >> bit & 1) << 1 | (b >> bit & 1);
                prop_assert_eq!(got >> bit & 1, u32::from(table) >> row & 1);
            }
            prop_assert_eq!(got & !width.mask(), 0);
        }
    }
}
