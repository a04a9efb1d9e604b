//! An instruction in words close to the assembler's, one line per unit that does something.
//!
//! For users who inspect the result of a register action, and for tests that state it.

use super::instruction::{
    AluOp, ArithmeticOp, Change, Compare, Constant, Division, Instruction, LogicOp, MemoryOperand,
    Number, Opcode, OperandA, OperandB, Output, OutputSource, PhvOperand, PredicateMask, Relation,
    Search, Sense, Special, Update, Word,
};
use std::fmt;

/// The outputs' names.
pub(super) const OUTPUT_NAMES: [&str; 4] = ["output", "output2", "output3", "output4"];

impl fmt::Display for MemoryOperand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == MemoryOperand::Lo { "lo" } else { "hi" })
    }
}

impl fmt::Display for PhvOperand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == PhvOperand::Lo { "phv_lo" } else { "phv_hi" })
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Immediate(value) => write!(f, "{value}"),
            Constant::Row(row) => write!(f, "row{row}"),
        }
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (relation, sense) = match self {
            Opcode::Equal => return f.write_str("equ"),
            Opcode::NotEqual => return f.write_str("neq"),
            Opcode::Match(mask) => return write!(f, "tmatch {mask:#x}"),
            Opcode::Order(relation, sense) => (relation, sense),
        };
        let relation = match relation {
            Relation::Greater => "grt",
            Relation::LessEqual => "leq",
            Relation::GreaterEqual => "geq",
            Relation::Less => "lss",
        };
        let sense = match sense {
            Sense::Signed => "s",
            Sense::Unsigned => "u",
            Sense::Modular => "uus",
        };
        write!(f, "{relation}.{sense}")
    }
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.opcode)?;
        let sign = |negate: bool| if negate { "-" } else { "" };
        let masked = |word: &dyn fmt::Display, mask: u32| match mask {
            u32::MAX => word.to_string(),
            mask => format!("({word} & {mask})"),
        };
        if let Some(mem) = self.mem {
            write!(f, " {}{}", sign(self.mem_negate), masked(&mem, self.masks[0]))?;
        }
        if let Some(phv) = self.phv {
            write!(f, " {}{}", sign(self.phv_negate), masked(&phv, self.masks[1]))?;
        }
        if self.constant != Constant::Immediate(0) {
            write!(f, " {}", self.constant)?;
        }
        Ok(())
    }
}

impl fmt::Display for PredicateMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 != (self.0 & 15) * 0x1111 {
            return four(self.0, f);
        }
        f.write_str(match self.0 & 15 {
            0b0000 => "never",
            0b0001 => "!cmplo & !cmphi",
            0b0010 => "cmplo & !cmphi",
            0b0011 => "!cmphi",
            0b0100 => "!cmplo & cmphi",
            0b0101 => "!cmplo",
            0b0110 => "cmplo ^ cmphi",
            0b0111 => "!cmplo | !cmphi",
            0b1000 => "cmplo & cmphi",
            0b1001 => "!(cmplo ^ cmphi)",
            0b1010 => "cmplo",
            0b1011 => "cmplo | !cmphi",
            0b1100 => "cmphi",
            0b1101 => "!cmplo | cmphi",
            0b1110 => "cmplo | cmphi",
            _ => "always",
        })
    }
}

/// A function of four comparisons: one of them, all or some of them, otherwise its truth table.
fn four(mask: u16, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for unit in 0..4 {
        let yes = PredicateMask::unit(unit).0;
        match mask {
            mask if mask == yes => return write!(f, "cmp{unit}"),
            mask if mask == !yes => return write!(f, "!cmp{unit}"),
            _ => {}
        }
    }
    write!(f, "cmp in {mask:#06x}")
}

impl fmt::Display for AluOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ArithmeticOp as Op;
        f.write_str(match self {
            AluOp::Arithmetic(op) => match op {
                Op::SaturatingAddUnsigned => "saddu",
                Op::SaturatingAddSigned => "sadds",
                Op::SaturatingSubUnsigned => "ssubu",
                Op::SaturatingSubSigned => "ssubs",
                Op::MinUnsigned => "minu",
                Op::MinSigned => "mins",
                Op::MaxUnsigned => "maxu",
                Op::MaxSigned => "maxs",
                Op::SaturatingRsubUnsigned => "srsubu",
                Op::SaturatingRsubSigned => "srsubs",
                Op::Add => "add",
                Op::Sub => "sub",
                Op::Rsub => "rsub",
                Op::Reserved => "reserved",
            },
            AluOp::Logic(LogicOp::CLEAR) => "clear",
            AluOp::Logic(LogicOp::SET) => "set",
            AluOp::Logic(LogicOp::A) => "alu_a",
            AluOp::Logic(LogicOp::B) => "alu_b",
            AluOp::Logic(LogicOp::NOT_A) => "nota",
            AluOp::Logic(LogicOp::NOT_B) => "notb",
            AluOp::Logic(LogicOp::AND) => "and",
            AluOp::Logic(LogicOp::OR) => "or",
            AluOp::Logic(LogicOp::XOR) => "xor",
            AluOp::Logic(LogicOp(table)) => return write!(f, "logic{table:04b}"),
        })
    }
}

impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.op)?;
        let (reads_a, reads_b) = match self.op {
            AluOp::Logic(LogicOp::CLEAR | LogicOp::SET) => (false, false),
            AluOp::Logic(LogicOp::A | LogicOp::NOT_A) => (true, false),
            AluOp::Logic(LogicOp::B | LogicOp::NOT_B) => (false, true),
            _ => (true, true),
        };
        if reads_a {
            match self.a {
                OperandA::Memory(mem) => write!(f, " {mem}")?,
                OperandA::Constant => write!(f, " {}", self.constant)?,
            }
        }
        if reads_b {
            match self.b {
                OperandB::Phv(phv) => write!(f, " {phv}")?,
                OperandB::Constant => write!(f, " {}", self.constant)?,
                OperandB::Math => f.write_str(" math")?,
            }
        }
        if self.predicate != PredicateMask::ALWAYS {
            write!(f, " if {}", self.predicate)?;
        }
        Ok(())
    }
}

impl fmt::Display for OutputSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputSource::Memory(mem) => write!(f, "mem_{mem}"),
            OutputSource::Phv(phv) => write!(f, "{phv}"),
            OutputSource::Alu(mem) => write!(f, "alu_{mem}"),
            OutputSource::Predicate => f.write_str("predicate"),
            OutputSource::Nothing => f.write_str("nothing"),
            OutputSource::Address => f.write_str("address"),
            OutputSource::Quotient => f.write_str("div"),
            OutputSource::Remainder => f.write_str("mod"),
            OutputSource::Extreme => f.write_str("minmax"),
            OutputSource::ExtremeIndex => f.write_str("minmax_index"),
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.complement { "!" } else { "" }, self.source)?;
        if self.predicate != PredicateMask::ALWAYS {
            write!(f, " if {}", self.predicate)?;
        }
        Ok(())
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Memory(mem) => write!(f, "{mem}"),
            Word::Phv(phv) => write!(f, "{phv}"),
            Word::Constant(constant) => write!(f, "{constant}"),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Constant(number) => write!(f, "{number}"),
            Number::Phv(phv) => write!(f, "{phv}"),
        }
    }
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Special::Division(Division { dividend, divisor }) => {
                write!(f, "divmod {dividend} {divisor}")
            }
            Special::Search(Search { largest, wide, mask, change }) => {
                let (of, bits) = (if *largest { "max" } else { "min" }, if *wide { 16 } else { 8 });
                write!(f, "{of}{bits} mem, {mask}")?;
                match change {
                    Some(Change { by, down: true }) => write!(f, ", -{by}"),
                    Some(Change { by, down: false }) => write!(f, ", {by}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Instruction {
    /// The names of its compare units: there are four on a chip that has more than two.
    pub(super) fn unit_names(&self) -> [&'static str; 4] {
        let [.., third, fourth] = self.compare;
        if third.or(fourth).is_some() {
            ["cmp0", "cmp1", "cmp2", "cmp3"]
        } else {
            ["cmplo", "cmphi", "cmp2", "cmp3"]
        }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        for (name, unit) in self.unit_names().iter().zip(&self.compare) {
            if let Some(unit) = unit {
                lines.push(format!("{name}: {unit}"));
            }
        }
        let alus = [("lo1", &self.lo1), ("lo2", &self.lo2), ("hi1", &self.hi1), ("hi2", &self.hi2)];
        for (name, alu) in alus {
            if let Some(alu) = alu {
                lines.push(format!("{name}: {alu}"));
            }
        }
        if matches!(self.lo2, Some(Update { b: OperandB::Math, .. })) {
            lines.push(format!("math: {}", self.math_operand));
        }
        lines.extend(self.special.map(|special| special.to_string()));
        for (name, output) in OUTPUT_NAMES.iter().zip(&self.outputs) {
            lines.extend(output.as_ref().map(|output| format!("{name}: {output}")));
        }
        f.write_str(&lines.join("\n"))
    }
}
