//! Random instructions for tests.

use super::execute::Shared;
use super::instruction::{
    AluOp, ArithmeticOp, Compare, Constant, Instruction, LogicOp, MemoryOperand, Opcode, OperandA,
    OperandB, Output, OutputSource, PhvOperand, PredicateMask, PredicateOutput, Update, Width,
};
use crate::math_unit::{Exponent, ExponentParity, MathUnit};

/// Numbers that are taken out of random words.
pub struct Choices(pub Vec<u64>);

impl Choices {
    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        let last = self.0.len() - 1;
        self.0.rotate_left(1);
        self.0[last] = self.0[last].wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) ^ end;
        (self.0[last] >> 8) % end
    }

    /// One of these.
    pub fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn constant(&mut self) -> Constant {
        let (value, row) = (self.below(16) as i8 - 8, self.below(4) as u8);
        self.choose(&[Constant::Immediate(value), Constant::Row(row)])
    }

    fn mem(&mut self) -> MemoryOperand {
        self.choose(&[MemoryOperand::Lo, MemoryOperand::Hi])
    }

    fn phv(&mut self) -> PhvOperand {
        self.choose(&[PhvOperand::Lo, PhvOperand::Hi])
    }

    fn compare(&mut self) -> Option<Compare> {
        let (mem, phv) = (Some(self.mem()), Some(self.phv()));
        let unit = Compare {
            opcode: Opcode::from_code(self.below(16) as u8),
            mem: self.choose(&[mem, mem, None]),
            mem_negate: self.below(2) == 1,
            phv: self.choose(&[phv, phv, None]),
            phv_negate: self.below(2) == 1,
            constant: self.constant(),
            masks: Compare::WHOLE,
        };
        self.choose(&[Some(unit), Some(unit), None])
    }

    fn update(&mut self, math: bool) -> Option<Update> {
        let (mem, phv) = (OperandA::Memory(self.mem()), OperandB::Phv(self.phv()));
        let third = if math { OperandB::Math } else { phv };
        let arithmetic = AluOp::Arithmetic(ArithmeticOp::from_code(self.below(16) as u8));
        let logic = AluOp::Logic(LogicOp(self.below(16) as u8));
        let alu = Update {
            op: self.choose(&[arithmetic, logic]),
            a: self.choose(&[mem, OperandA::Constant]),
            b: self.choose(&[phv, OperandB::Constant, third]),
            constant: self.constant(),
            predicate: PredicateMask(self.below(16) as u16 * 0x1111),
        };
        self.choose(&[Some(alu), Some(alu), None])
    }

    fn source(&mut self) -> OutputSource {
        OutputSource::from_code(self.below(8) as u8).unwrap()
    }

    /// Any instruction.
    pub fn instruction(&mut self) -> Instruction {
        let output = Output {
            source: self.source(),
            predicate: PredicateMask(self.below(16) as u16 * 0x1111),
            complement: self.below(2) == 1,
        };
        Instruction {
            width: self.choose(&[Width::One, Width::Eight, Width::Sixteen, Width::ThirtyTwo]),
            dual: self.below(2) == 1,
            compare: [self.compare(), self.compare(), None, None],
            lo1: self.update(false),
            lo2: self.update(true),
            hi1: self.update(false),
            hi2: self.update(false),
            math_operand: self.source(),
            outputs: [self.choose(&[Some(output), Some(output), None]), None, None, None],
            special: None,
        }
    }

    /// Any word, often one at an edge.
    pub fn word(&mut self) -> u32 {
        let edge = self.choose(&[0, 1, u32::MAX, 1 << 31, (1 << 31) - 1, 0x80, 0x7f, 0x8000]);
        let any = self.below(1 << 32) as u32;
        self.choose(&[edge, any])
    }

    /// Random shared settings of instructions.
    pub fn shared(&mut self) -> Shared {
        let one_hot = self.choose(&[None, Some(4), Some(0)]);
        let combined = self.below(5) as u8;
        let exponent = self.choose(&[Exponent::Half, Exponent::Same, Exponent::Double]);
        let table = [0x46, 0x48, 0x4b, 0x4e, 0x52, 0x56, 0x5a, 0x60, 0x66, 0x6f, 0x79, 0x87];
        Shared {
            rows: [(); 4].map(|()| i64::from(self.word() as i32)),
            spare_bits: self.choose(&[0, 2]),
            math: MathUnit::from_tuple(self.below(2) == 1, exponent, 3, &table),
            parity: self.choose(&[ExponentParity::Vendor, ExponentParity::Paper]),
            predicate_output: PredicateOutput { combined, one_hot },
        }
    }
}
