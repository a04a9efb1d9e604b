//! Trace of one access, unit by unit: the inputs and outputs of each.
//!
//! For traces only. `execute` computes the result; this module evaluates its parts one by one.

use super::display::OUTPUT_NAMES;
use super::execute::{Fetched, Outcome, Shared, compare, execute, update};
use super::instruction::{Instruction, OperandB, Update};

/// Each unit of an instruction that does something, with its operation and its result.
pub fn by_unit(
    instruction: &Instruction,
    shared: &Shared,
    operands: &Fetched,
) -> Vec<(String, String)> {
    let Instruction { width, .. } = instruction;
    let mut lines = Vec::new();
    let mut say = |name: &str, text: String| lines.push((name.to_owned(), text));
    for row in 0..4u8 {
        let named = format!("row{row}");
        if instruction.to_string().contains(&named) {
            say(&named, width.sign_extend(shared.rows[usize::from(row)] as u32).to_string());
        }
    }
    let mut hot = 0;
    let units = instruction.unit_names().into_iter().zip(&instruction.compare);
    for (bit, (name, unit)) in units.enumerate() {
        if let Some(unit) = unit {
            let holds = compare(unit, *width, operands, shared);
            hot |= u16::from(holds) << bit;
            say(name, format!("{unit} -> {holds}"));
        }
    }
    // The math unit's result is what the ALU behind it would take over unchanged.
    let math = || {
        let read = match instruction.math_operand.to_string().as_str() {
            "phv_lo" => operands.phv_lo,
            "phv_hi" => operands.phv_hi,
            "mem_hi" => operands.mem_hi,
            _ => operands.mem_lo,
        };
        (read, shared.math.execute(read as u32, shared.parity) & width.mask())
    };
    if matches!(instruction.lo2, Some(Update { b: OperandB::Math, .. })) {
        let (read, result) = math();
        say("math", format!("{} = {read} -> {result}", instruction.math_operand));
    }
    let alus = [
        ("lo1", &instruction.lo1),
        ("lo2", &instruction.lo2),
        ("hi1", &instruction.hi1),
        ("hi2", &instruction.hi2),
    ];
    for (name, alu) in alus {
        let Some(alu) = alu else { continue };
        if alu.predicate.0 & (1 << hot) == 0 {
            say(name, format!("{alu} -> off"));
        } else {
            let result = update(alu, *width, operands, shared, || math().1);
            say(name, format!("{alu} -> {result}"));
        }
    }
    let Outcome { outputs, .. } = execute(instruction, shared, operands);
    if let Some(special) = &instruction.special {
        say("special", special.to_string());
    }
    for (at, of) in instruction.outputs.iter().enumerate() {
        if let Some(of) = of {
            say(OUTPUT_NAMES[at], format!("{of} -> {}", outputs[at]));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::instruction::{
        AluOp, ArithmeticOp, Compare, Constant, LogicOp, MemoryOperand, Opcode, OperandA, OperandB,
        Output, OutputSource, PhvOperand, PredicateMask, Relation, Sense, Width,
    };
    use super::*;

    #[test]
    fn the_trace_of_each_unit_has_its_operation_and_its_result() {
        let alu = |op, predicate: u16| Update {
            op,
            a: OperandA::Memory(MemoryOperand::Lo),
            b: OperandB::Phv(PhvOperand::Lo),
            constant: Constant::default(),
            predicate: PredicateMask(predicate * 0x1111),
        };
        let mut instruction = Instruction::idle(Width::ThirtyTwo, false);
        instruction.compare[0] = Some(Compare {
            opcode: Opcode::Order(Relation::GreaterEqual, Sense::Modular),
            mem: Some(MemoryOperand::Lo),
            mem_negate: true,
            phv: Some(PhvOperand::Lo),
            phv_negate: false,
            constant: Constant::Row(1),
            masks: Compare::WHOLE,
        });
        instruction.lo1 = Some(alu(AluOp::Arithmetic(ArithmeticOp::Add), 0b1010));
        instruction.lo2 = Some(alu(AluOp::Logic(LogicOp::B), 0b0101));
        let source = OutputSource::Alu(MemoryOperand::Lo);
        let output = Output { source, predicate: PredicateMask::ALWAYS, complement: false };
        instruction.outputs[0] = Some(output);
        let shared = Shared { rows: [0, -1, 0, 0], ..Shared::default() };
        let operands = Fetched { mem_lo: 5, phv_lo: 7, ..Fetched::default() };
        let lines = by_unit(&instruction, &shared, &operands);
        let lines: Vec<_> = lines.iter().map(|(name, text)| format!("{name}: {text}")).collect();
        assert_eq!(
            lines,
            [
                "row1: -1",
                "cmplo: geq.uus -lo phv_lo row1 -> true",
                "lo1: add lo phv_lo if cmplo -> 12",
                "lo2: alu_b phv_lo if !cmplo -> off",
                "output: alu_lo -> 12",
            ]
        );
    }
}
