//! Calls of a register's instruction as code: the comparisons are jumps to one of four outcomes, and
//! each outcome has the ALUs that run there.
//!
//! It does what [`Ready::execute`] does. Not compiled are registers whose memory or constants can
//! change, and instructions with rare operations of the ALUs.

use super::Runtime;
use super::prepared::{Execution, Operand};
use crate::register_action::OutputFormat;
use crate::salu::decoded::{AFTER, Alu, CONSTANT, Comparison, Half, MATH, Operation, Put, ZERO};
use crate::salu::{Ready, Shared};
use sojourn_p4::interp::Assembler;
use sojourn_p4::interp::jit_tier::{At, Cells, Function, Op, To};
use sojourn_p4::ir::{ExternCall, Slot};
use std::sync::Arc;

/// The code of `action.execute(index)`.
pub(super) fn execute(
    runtime: &Runtime,
    (register, action): (u32, u32),
    call: &ExternCall,
    to: &mut Assembler<'_, '_>,
) -> Option<()> {
    let state = runtime.registers.get(register as usize)?;
    let (memory, ready, shared) = state.fixed(action)?;
    let execution = runtime.prepared.get(call.site.index())?.execution.as_ref()?;
    let mut code = Code { execution, ready, shared, mask: state.mask(), words: [None; 16], to };
    code.access(memory)
}

/// A word while code is made.
#[derive(Clone, Copy)]
enum Word {
    Slot(At),
    Const(u32),
}

/// The code of one call in the making.
struct Code<'a, 'b, 'p> {
    execution: &'a Execution,
    ready: &'a Ready,
    shared: &'a Shared,
    /// Of a word's width.
    mask: u32,
    /// Inputs of the units, by place, as far as they are in slots.
    words: [Option<At>; 16],
    to: &'a mut Assembler<'b, 'p>,
}

impl Code<'_, '_, '_> {
    fn access(&mut self, memory: &Cells) -> Option<()> {
        let index = self.operand(self.execution.index)?;
        let cells = self.to.cells(memory);
        let (beyond, end) = (self.to.label(), self.to.label());
        let entry = self.to.temporary()?;
        self.to.push(Op::Load { to: entry, a: index, cells, beyond });
        self.fetch(entry)?;
        let outcomes = [(); 4].map(|()| self.to.label());
        let behind = self.to.label();
        // With the second comparison first: its outcome is the high bit.
        self.compare(1, behind)?;
        self.compare_low([outcomes[0], outcomes[1]])?;
        self.to.place(behind);
        if self.ready.compare[1].is_some() {
            self.compare_low([outcomes[2], outcomes[3]])?;
        }
        for (outcome, label) in outcomes.into_iter().enumerate() {
            self.to.place(label);
            if outcome & 2 == 0 || self.ready.compare[1].is_some() {
                self.outcome(outcome, (index, cells))?;
                self.to.push(Op::Jump { to: end });
            }
        }
        // An index beyond the memory accesses nothing and puts out 0.
        self.to.place(beyond);
        self.answer(Word::Const(0))?;
        self.to.place(end);
        Some(())
    }

    /// The words of memory and packet.
    fn fetch(&mut self, entry: At) -> Option<()> {
        let [lo, hi] = [self.to.temporary()?, self.to.temporary()?];
        self.to.push(Op::AndConst { to: lo, a: entry, value: u32::MAX.into() });
        self.to.push(Op::Shift { to: hi, a: entry, left: 0, right: 32 });
        [self.words[0], self.words[1]] = [Some(lo), Some(hi)];
        for (at, field) in self.execution.fields.into_iter().enumerate() {
            let (a, to) = (self.operand(field)?, self.to.temporary()?);
            self.to.push(Op::AndConst { to, a, value: self.mask.into() });
            self.words[2 + at] = Some(to);
        }
        Some(())
    }

    /// Goes on where the first comparison says.
    fn compare_low(&mut self, [no, yes]: [To; 2]) -> Option<()> {
        self.compare(0, yes)?;
        self.to.push(Op::Jump { to: no });
        Some(())
    }

    /// Goes to a place if a comparison holds.
    fn compare(&mut self, unit: usize, yes: To) -> Option<()> {
        let Some(unit) = self.ready.compare[unit] else { return Some(()) };
        let sum = self.sum(&unit)?;
        let zero = self.to.temporary()?;
        self.to.push(Op::Set { to: zero, value: 0 });
        let Comparison { accepted, sum_above: cut, .. } = unit;
        match accepted {
            0b010 | 0b101 => {
                let a = self.cut(sum, cut)?;
                self.to.push(match accepted {
                    0b010 => Op::JumpEqualConst { a, to: yes, value: 0 },
                    _ => Op::JumpNotEqualConst { a, to: yes, value: 0 },
                });
            }
            _ => {
                let less = self.to.temporary()?;
                // Below or not, else above or not.
                let (a, b) =
                    if matches!(accepted, 0b001 | 0b110) { (sum, zero) } else { (zero, sum) };
                self.to.push(Op::LessSigned { to: less, a, b, cut });
                self.to.push(match accepted {
                    0b001 | 0b100 => Op::JumpIf { a: less, to: yes },
                    _ => Op::JumpUnless { a: less, to: yes },
                });
            }
        }
        Some(())
    }

    /// Sum that a comparison tests against zero, in 64 bits.
    fn sum(&mut self, unit: &Comparison) -> Option<At> {
        let mut sum = self.to.temporary()?;
        self.to.push(Op::Set { to: sum, value: unit.constant as u64 });
        for (place, negate) in [(unit.mem, unit.mem_negate), (unit.phv, unit.phv_negate)] {
            if place == ZERO {
                continue;
            }
            let term = self.term(place, unit.term_above)?;
            let to = self.to.temporary()?;
            self.to.push(match negate {
                0 => Op::Add { to, a: sum, b: term, cut: 0 },
                _ => Op::Sub { to, a: sum, b: term, cut: 0 },
            });
            sum = to;
        }
        Some(sum)
    }

    /// A word as a number with a sign, or with none.
    fn term(&mut self, place: u8, above: u8) -> Option<At> {
        let a = self.words[usize::from(place)]?;
        if above == 0 {
            return Some(a);
        }
        let sign = 1 << (63 - above);
        let [turned, term] = [self.to.temporary()?, self.to.temporary()?];
        self.to.push(Op::XorConst { to: turned, a, value: sign });
        self.to.push(Op::AddConst { to: term, a: turned, cut: 0, value: sign.wrapping_neg() });
        Some(term)
    }

    fn cut(&mut self, a: At, cut: u8) -> Option<At> {
        if cut == 0 {
            return Some(a);
        }
        let to = self.to.temporary()?;
        self.to.push(Op::AndConst { to, a, value: u64::MAX >> cut });
        Some(to)
    }

    /// Code for one outcome of the comparisons.
    fn outcome(&mut self, outcome: usize, (index, cells): (At, u16)) -> Option<()> {
        self.words[usize::from(MATH)] = None;
        if self.ready.math_at >> outcome & 1 != 0 {
            self.words[usize::from(MATH)] = Some(self.math()?);
        }
        let before = [self.words[0]?, self.words[1]?];
        let [lo, hi] = [0, 1].map(|half| self.ready.halves[half][outcome]);
        let after = [self.half(lo)?, self.half(hi)?];
        let is_written = after[0].is_some() || (self.ready.dual && after[1].is_some());
        let [lo, hi] = [after[0].unwrap_or(before[0]), after[1].unwrap_or(before[1])];
        if is_written {
            let entry = self.to.temporary()?;
            let hi = if self.ready.dual { hi } else { before[1] };
            self.to.push(Op::Concat { to: entry, a: hi, b: lo, by: 32 });
            self.to.push(Op::Store { a: index, b: entry, cells });
        }
        match self.ready.put[outcome] {
            Put::Constant(value) => self.answer(Word::Const(value)),
            Put::Word { place, turned } => {
                let word = match place {
                    place if place == AFTER[0] => Word::Slot(lo),
                    place if place == AFTER[1] => Word::Slot(hi),
                    place => self.word(place)?,
                };
                let word = match (word, turned) {
                    (word, 0) => word,
                    (Word::Const(value), turned) => Word::Const(value ^ turned),
                    (Word::Slot(a), turned) => {
                        let to = self.to.temporary()?;
                        self.to.push(Op::XorConst { to, a, value: turned.into() });
                        Word::Slot(to)
                    }
                };
                self.answer(word)
            }
        }
    }

    fn math(&mut self) -> Option<At> {
        let (math, parity, mask) = (self.shared.math, self.shared.parity, self.mask);
        let compute = move |word| u64::from(math.execute(word as u32, parity) & mask);
        let function = self.to.function(Function(Arc::new(compute)));
        let word = self.word(self.ready.math)?;
        let (a, to) = (self.in_slot(word)?, self.to.temporary()?);
        self.to.push(Op::Map { to, a, function });
        Some(to)
    }

    /// A half of the entry behind the instruction, if that does anything to it.
    fn half(&mut self, half: Half) -> Option<Option<At>> {
        Some(match half {
            Half::Kept => None,
            Half::One(alu) => Some(self.alu(&alu)?),
            Half::Both(one, two) => {
                let (a, b, to) = (self.alu(&one)?, self.alu(&two)?, self.to.temporary()?);
                self.to.push(Op::Or { to, a, b });
                Some(to)
            }
        })
    }

    fn alu(&mut self, alu: &Alu) -> Option<At> {
        let (a, b) = (self.word(alu.a)?, self.word(alu.b)?);
        let (a, b) = match alu.operation {
            Operation::A => return self.in_slot(a),
            Operation::B => return self.in_slot(b),
            Operation::Rsub => (b, a),
            Operation::Add | Operation::Sub => (a, b),
            Operation::Other(_) => return None,
        };
        let cut = 64 - self.ready.width.bits() as u8;
        let (a, b, to) = (self.in_slot(a)?, self.in_slot(b)?, self.to.temporary()?);
        self.to.push(match alu.operation {
            Operation::Add => Op::Add { to, a, b, cut },
            _ => Op::Sub { to, a, b, cut },
        });
        Some(to)
    }

    /// Input of a unit at a place.
    fn word(&mut self, place: u8) -> Option<Word> {
        Some(match place {
            ZERO => Word::Const(0),
            place if place >= CONSTANT => Word::Const(self.ready.words[usize::from(place)]),
            place => Word::Slot(self.words[usize::from(place)]?),
        })
    }

    fn in_slot(&mut self, word: Word) -> Option<At> {
        Some(match word {
            Word::Slot(at) => at,
            Word::Const(value) => {
                let to = self.to.temporary()?;
                self.to.push(Op::Set { to, value: value.into() });
                to
            }
        })
    }

    fn operand(&mut self, operand: Operand) -> Option<At> {
        match operand {
            Operand::Slot(Slot(slot)) => At::try_from(slot).ok(),
            Operand::Const(value) => {
                let to = self.to.temporary()?;
                self.to.push(Op::Set { to, value });
                Some(to)
            }
        }
    }

    /// Stores what the call is worth.
    fn answer(&mut self, output: Word) -> Option<()> {
        let Some((slot, mask)) = self.execution.result else { return Some(()) };
        let (to, mask) = (At::try_from(slot.0).ok()?, mask as u64);
        match (output, self.execution.format) {
            (Word::Const(value), format) => {
                self.to.push(Op::Set { to, value: format.read(value.into()) & mask });
            }
            (Word::Slot(a), OutputFormat::Bits { low, width }) => {
                let mask = mask & u64::MAX >> (64 - width.clamp(1, 32));
                let part = self.to.temporary()?;
                self.to.push(Op::Shift { to: part, a, left: 0, right: low });
                self.to.push(Op::AndConst { to, a: part, value: mask });
            }
            (Word::Slot(_), OutputFormat::Member(_)) => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::salu::random::Choices;
    use crate::salu::{AluOp, ArithmeticOp, Instruction, LogicOp};
    use proptest::prelude::*;
    use sojourn_p4::compile_with;
    use sojourn_p4::interp::Calls;
    use sojourn_p4::interp::{Executor, Frame, Interpreter, NoExterns, Tables};
    use sojourn_p4::ir::{Program, UnitId};
    use sojourn_p4::preprocess::{MemoryLoader, PreprocessOptions};
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

    const PROGRAM: &str = "
        error { NoError }
        extern Register { Register(); bit<32> execute(in bit<32> index); }
        struct m_t { bit<32> index; bit<32> a; bit<32> b; bit<32> result; }
        control C(inout m_t m) {
            Register() r;
            apply { m.result = r.execute(m.index); }
        }
        control Any(inout m_t m);
        package S(Any c);
        S(C()) main;";

    /// Cells of the register.
    const CELLS: usize = 3;

    /// Any instruction that has code.
    fn instruction(random: &mut Choices) -> Instruction {
        let mut instruction = random.instruction();
        let ops = [
            AluOp::Logic(LogicOp::A),
            AluOp::Logic(LogicOp::B),
            AluOp::Arithmetic(ArithmeticOp::Add),
            AluOp::Arithmetic(ArithmeticOp::Sub),
            AluOp::Arithmetic(ArithmeticOp::Rsub),
        ];
        let Instruction { lo1, lo2, hi1, hi2, .. } = &mut instruction;
        for alu in [lo1, lo2, hi1, hi2].into_iter().flatten() {
            alu.op = random.choose(&ops);
        }
        instruction
    }

    /// The code of one instruction, for the one call of the program.
    struct One<'a> {
        ready: &'a Ready,
        shared: &'a Shared,
        mask: u32,
        memory: &'a Cells,
        execution: Execution,
    }

    impl Calls for One<'_> {
        fn code(&self, _: &ExternCall, to: &mut Assembler<'_, '_>) -> Option<()> {
            let One { ready, shared, mask, memory, execution } = self;
            let words = [None; 16];
            Code { execution, ready, shared, mask: *mask, words, to }.access(memory)
        }
    }

    fn program() -> Program {
        let loader = MemoryLoader::new().with("one.p4", PROGRAM);
        let options = PreprocessOptions::default();
        compile_with(&loader, "one.p4".as_ref(), &options)
            .expect("it compiles")
            .program
            .as_ref()
            .clone()
    }

    fn slot(program: &Program, name: &str) -> Slot {
        let slots = &program.units[0].slots;
        let at = slots.iter().position(|slot| &*slot.name == name);
        Slot(at.expect("it is one of the slots") as u32)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2 * ProptestConfig::default().cases))]
        #[test]
        fn the_code_of_an_instruction_does_what_the_instruction_does(
            random in prop::collection::vec(any::<u64>(), 4),
        ) {
            let mut random = Choices(random);
            let (instruction, shared) = (instruction(&mut random), random.shared());
            let mask = instruction.width.mask();
            let ready = Ready::new(&instruction, &shared).expect("Tofino 1 has it");
            let program = program();
            let [index, a, b, out] =
                ["m.index", "m.a", "m.b", "m.result"].map(|name| slot(&program, name));
            for executor in [Executor::Flat, Executor::Native] {
                let memory: Cells = (0..CELLS).map(|_| AtomicU64::new(0)).collect();
                let one = One {
                    ready: &ready,
                    shared: &shared,
                    mask,
                    memory: &memory,
                    execution: Execution {
                        index: Operand::Slot(index),
                        fields: [Operand::Slot(a), Operand::Slot(b)],
                        format: OutputFormat::Bits { low: 0, width: 32 },
                        result: Some((out, u32::MAX.into())),
                    },
                };
                let mut interpreter =
                    Interpreter::with_executor(program.clone().into(), executor).with_calls(&one);
                if executor == Executor::Native {
                    interpreter.compile_by(&sojourn_jit::COMPILER);
                    prop_assert_eq!(interpreter.compile_all(), 1);
                }
                let tables = Tables::new(interpreter.program().clone());
                for _ in 0..8 {
                    let at = random.below(CELLS as u64 + 2) as usize;
                    let fields = [random.word(), random.word()];
                    let before = [random.word() & mask, random.word() & mask];
                    let joined = |entry: [u32; 2]| u64::from(entry[1]) << 32 | u64::from(entry[0]);
                    memory.get(at).inspect(|cell| cell.store(joined(before), Relaxed));
                    let mut frame: Frame = interpreter.frame(UnitId(0));
                    frame.set(index, at as u128);
                    frame.set(a, fields[0].into());
                    frame.set(b, fields[1].into());
                    interpreter
                        .run_control(UnitId(0), &mut frame, None, &tables, &mut NoExterns)
                        .expect("nothing is called");
                    let Some(cell) = memory.get(at) else {
                        prop_assert_eq!(frame.get(out), 0);
                        continue;
                    };
                    let done = ready.execute(before, fields.map(|field| field & mask), &shared);
                    let after = [done.lo.unwrap_or(before[0]), done.hi.unwrap_or(before[1])];
                    prop_assert_eq!(cell.load(Relaxed), joined(after), "{}", &instruction);
                    prop_assert_eq!(frame.get(out), done.output.into(), "{}", &instruction);
                }
            }
        }
    }
}
