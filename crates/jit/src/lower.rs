//! Translation of operations on slots to Cranelift's IR.
//!
//! The function's parameters are the slots, the two ends of the packet and the first operation; it
//! returns the operation in front of which it stopped. In between the slots are values:
//! `prologue.rs` loads them from the frame, and stores those that are read later.

use crate::blocks::{Blocks, is_exit};
use crate::memory::Addresses;
use crate::packet::{self, Packet};
use crate::tables;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, Function, InstBuilder, Signature, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_module::Module;
use sojourn_p4::interp::jit_tier::{At, Op, To, UnitCode};
use std::collections::BTreeMap;

/// Parameters and result of a unit's function.
pub fn signature(module: &impl Module) -> Signature {
    let mut signature = module.make_signature();
    let pointer = module.target_config().pointer_type();
    signature.params = [pointer, pointer, types::I32].map(AbiParam::new).into();
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Generates the function's body.
pub fn function(
    code: &UnitCode,
    addresses: &Addresses,
    to: &mut Function,
    room: &mut FunctionBuilderContext,
) {
    let blocks = Blocks::new(code);
    let mut builder = FunctionBuilder::new(to, room);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    builder.seal_block(entry);
    let [frame, ends, at] = [0, 1, 2].map(|number| builder.block_params(entry)[number]);
    let labels = (0..code.ops().len()).filter(|at| blocks.begins[*at]);
    let labels = labels.map(|at| (at as To, builder.create_block())).collect();
    let mut word = || builder.declare_var(types::I64);
    let slots = (0..code.slots()).map(|_| [word(), word()]).collect();
    let packet = Packet::new(code, &mut word);
    let mut lower =
        Lower { code, addresses, blocks, builder, frame, ends, labels, slots, packet, at: 0 };
    lower.enter(at);
    lower.all();
    // Blocks that are targets of backward jumps.
    lower.builder.seal_all_blocks();
    lower.builder.finalize();
}

/// A function under construction.
pub struct Lower<'a> {
    pub code: &'a UnitCode,
    pub addresses: &'a Addresses,
    pub blocks: Blocks,
    pub builder: FunctionBuilder<'a>,
    pub frame: Value,
    /// The ends of the packet.
    pub ends: Value,
    pub labels: BTreeMap<To, Block>,
    /// Bits 0 to 63 and 64 to 127 of each slot.
    slots: Vec<[Variable; 2]>,
    pub packet: Packet,
    /// The operation being translated.
    at: usize,
}

impl Lower<'_> {
    fn all(&mut self) {
        let mut open = false;
        for at in 0..self.code.ops().len() {
            if self.blocks.begins[at] {
                if open {
                    self.jump(at as To);
                }
                let label = self.labels[&(at as To)];
                match self.blocks.looped[at] {
                    true => self.builder.switch_to_block(label),
                    false => self.begin(label),
                }
                open = true;
            }
            // Code behind a jump that does not begin a block is unreachable.
            if open {
                open = self.operation(at);
            }
        }
    }

    /// Continues in a block without further predecessors. It is sealed at once, since an unsealed
    /// block costs time when a variable is looked up.
    pub fn begin(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }

    /// Translates one operation; false if the block ends with it.
    fn operation(&mut self, at: usize) -> bool {
        self.at = at;
        let op = self.code.ops()[at];
        let next = at as To + 1;
        match op {
            Op::Read { run, to } => packet::read(self, at as To, run, to),
            Op::Emit { header } => packet::emit(self, at as To, (header, 1), next),
            Op::EmitEach { header, count, to } => packet::emit(self, at as To, (header, count), to),
            _ if is_exit(self.code, at) => self.stop(at as To),
            Op::Apply { .. } => {
                let code = self.code;
                if let Some(lookup) = code.lookup(at) {
                    tables::apply(self, at as To, &lookup);
                }
            }
            Op::Stay { bytes, to } => packet::stay(self, bytes, to, next),
            Op::Skip { bits } => packet::skip(self, at as To, bits / 8),
            Op::Eval { to, .. } => packet::look_ahead(self, at as To, to),
            Op::Jump { to } => self.jump(to),
            Op::JumpIf { a, to } => {
                let a = self.word(a);
                self.branch(a, to, next);
            }
            Op::JumpUnless { a, to } => {
                let a = self.word(a);
                self.branch(a, next, to);
            }
            Op::JumpEqual { a, b, to } => self.compare(IntCC::Equal, (a, b), to, next),
            Op::JumpNotEqual { a, b, to } => self.compare(IntCC::NotEqual, (a, b), to, next),
            Op::JumpLess { a, b, to } => self.compare(IntCC::UnsignedLessThan, (a, b), to, next),
            Op::JumpNotLess { a, b, to } => {
                self.compare(IntCC::UnsignedGreaterThanOrEqual, (a, b), to, next);
            }
            Op::JumpEqualConst { a, to, value } => {
                self.compare_const(IntCC::Equal, (a, value), to, next);
            }
            Op::JumpNotEqualConst { a, to, value } => {
                self.compare_const(IntCC::NotEqual, (a, value), to, next);
            }
            Op::JumpLessConst { a, to, value } => {
                self.compare_const(IntCC::UnsignedLessThan, (a, value), to, next);
            }
            Op::JumpNotLessConst { a, to, value } => {
                self.compare_const(IntCC::UnsignedGreaterThanOrEqual, (a, value), to, next);
            }
            Op::Load { to, a, cells, beyond } => self.load_cell((to, a), cells, beyond, next),
            Op::SetEach { list, to } => {
                for (slot, value) in self.code.sets(list) {
                    let value = self.constant(*value);
                    self.set_slot(*slot, value);
                }
                self.jump(to);
            }
            _ => {
                self.compute(op);
                return true;
            }
        }
        false
    }

    /// Translates an operation whose result is a slot.
    fn compute(&mut self, op: Op) {
        match op {
            Op::Set { to, value } => {
                let value = self.constant(value);
                self.set_slot(to, value);
            }
            Op::SetLong { to, constant } => {
                let value = self.code.constant(constant);
                let (low, high) =
                    (self.constant(value as u64), self.constant((value >> 64) as u64));
                self.set_halves(to, [low, high]);
            }
            Op::Move { to, a } => {
                let halves = self.halves(a);
                self.set_halves(to, halves);
            }
            Op::Store { a, b, cells } => self.store_cell(a, b, cells),
            Op::Map { to, a, function } => self.map(to, a, function),
            Op::Add { to, a, b, cut } => {
                let [a, b] = self.words(a, b);
                let sum = self.builder.ins().iadd(a, b);
                self.put_cut(to, sum, cut);
            }
            Op::AddConst { to, a, cut, value } => {
                let (a, value) = (self.word(a), self.constant(value));
                let sum = self.builder.ins().iadd(a, value);
                self.put_cut(to, sum, cut);
            }
            Op::Sub { to, a, b, cut } => {
                let [a, b] = self.words(a, b);
                let difference = self.builder.ins().isub(a, b);
                self.put_cut(to, difference, cut);
            }
            Op::SubFromConst { to, a, cut, value } => {
                let (a, value) = (self.word(a), self.constant(value));
                let difference = self.builder.ins().isub(value, a);
                self.put_cut(to, difference, cut);
            }
            Op::Mul { to, a, b, cut } => {
                let [a, b] = self.words(a, b);
                let product = self.builder.ins().imul(a, b);
                self.put_cut(to, product, cut);
            }
            Op::SatAdd { to, a, b, cut } => {
                let [a, b] = self.words(a, b);
                let sum = self.builder.ins().iadd(a, b);
                let over = self.builder.ins().icmp(IntCC::UnsignedLessThan, sum, a);
                let most = self.constant(u64::MAX >> cut);
                let sum = self.builder.ins().select(over, most, sum);
                let sum = self.builder.ins().umin(sum, most);
                self.set_slot(to, sum);
            }
            Op::SatSub { to, a, b } => {
                let [a, b] = self.words(a, b);
                self.put_saturating(to, a, b);
            }
            Op::SatSubConst { to, a, value } => {
                let (a, value) = (self.word(a), self.constant(value));
                self.put_saturating(to, a, value);
            }
            Op::SatSubFromConst { to, a, value } => {
                let (a, value) = (self.word(a), self.constant(value));
                self.put_saturating(to, value, a);
            }
            Op::And { to, a, b } => {
                let [a, b] = self.words(a, b);
                let value = self.builder.ins().band(a, b);
                self.set_slot(to, value);
            }
            Op::AndConst { to, a, value } => {
                let a = self.word(a);
                let value = self.masked(a, value);
                self.set_slot(to, value);
            }
            Op::Or { to, a, b } => {
                let [a, b] = self.words(a, b);
                let value = self.builder.ins().bor(a, b);
                self.set_slot(to, value);
            }
            Op::OrConst { to, a, value } => {
                let (a, value) = (self.word(a), self.constant(value));
                let value = self.builder.ins().bor(a, value);
                self.set_slot(to, value);
            }
            Op::Xor { to, a, b } => {
                let [a, b] = self.words(a, b);
                let value = self.builder.ins().bxor(a, b);
                self.set_slot(to, value);
            }
            Op::XorConst { to, a, value } => {
                let (a, value) = (self.word(a), self.constant(value));
                let value = self.builder.ins().bxor(a, value);
                self.set_slot(to, value);
            }
            Op::Shl { to, a, b, cut } => {
                let [a, by] = self.words(a, b);
                let value = self.builder.ins().ishl(a, by);
                let value = self.unless_too_far(value, by);
                self.put_cut(to, value, cut);
            }
            Op::Shr { to, a, b } => {
                let [a, by] = self.words(a, b);
                let value = self.builder.ins().ushr(a, by);
                let value = self.unless_too_far(value, by);
                self.set_slot(to, value);
            }
            Op::ShlConst { to, a, cut, by } => {
                let a = self.word(a);
                let value = self.builder.ins().ishl_imm(a, i64::from(by));
                self.put_cut(to, value, cut);
            }
            Op::Shift { to, a, left, right } => {
                let a = self.word(a);
                let value =
                    if left == 0 { a } else { self.builder.ins().ishl_imm(a, i64::from(left)) };
                let value = self.builder.ins().ushr_imm(value, i64::from(right));
                self.set_slot(to, value);
            }
            Op::Concat { to, a, b, by } => {
                let [a, b] = self.words(a, b);
                let value = self.builder.ins().ishl_imm(a, i64::from(by));
                let value = self.builder.ins().bor(value, b);
                self.set_slot(to, value);
            }
            Op::Equal { to, a, b } => {
                let [a, b] = self.words(a, b);
                self.put_if(to, IntCC::Equal, a, b);
            }
            Op::EqualConst { to, a, value } => {
                let (a, value) = (self.word(a), self.constant(value));
                self.put_if(to, IntCC::Equal, a, value);
            }
            Op::Less { to, a, b } => {
                let [a, b] = self.words(a, b);
                self.put_if(to, IntCC::UnsignedLessThan, a, b);
            }
            Op::LessConst { to, a, value } => {
                let (a, value) = (self.word(a), self.constant(value));
                self.put_if(to, IntCC::UnsignedLessThan, a, value);
            }
            Op::LessSigned { to, a, b, cut } => {
                let [a, b] = self.words(a, b);
                let [a, b] = [a, b].map(|value| self.builder.ins().ishl_imm(value, i64::from(cut)));
                self.put_if(to, IntCC::SignedLessThan, a, b);
            }
            Op::Insert { to, a, low, width } => {
                let place = ((1_u64 << width) - 1) << low;
                let a = self.word(a);
                let [before, high] = self.halves(to);
                let a = self.builder.ins().ishl_imm(a, i64::from(low));
                let a = self.masked(a, place);
                let before = self.masked(before, !place);
                let value = self.builder.ins().bor(before, a);
                self.set_halves(to, [value, high]);
            }
            Op::Copy { to, from, count } => {
                // The ranges may overlap.
                let values: Vec<_> = (from..from + count).map(|slot| self.halves(slot)).collect();
                for (slot, halves) in (to..).zip(values) {
                    self.set_halves(slot, halves);
                }
            }
            // All other operations end a block.
            _ => {}
        }
    }

    pub fn constant(&mut self, value: u64) -> Value {
        self.builder.ins().iconst(types::I64, value as i64)
    }

    /// A value under a mask.
    pub fn masked(&mut self, value: Value, mask: u64) -> Value {
        match mask {
            u64::MAX => value,
            // Shorter than an `and` with a 64-bit constant.
            0xffff_ffff => {
                let half = self.builder.ins().ireduce(types::I32, value);
                self.builder.ins().uextend(types::I64, half)
            }
            _ => self.builder.ins().band_imm(value, mask as i64),
        }
    }

    fn unless_too_far(&mut self, value: Value, by: Value) -> Value {
        let near = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, by, 64);
        let zero = self.constant(0);
        self.builder.ins().select(near, value, zero)
    }

    /// Bits 0 to 63 of a slot.
    pub fn word(&mut self, slot: At) -> Value {
        self.half(slot, 0)
    }

    fn words(&mut self, a: At, b: At) -> [Value; 2] {
        [self.word(a), self.word(b)]
    }

    /// All bits of a slot as two words, the low ones first.
    pub fn halves(&mut self, slot: At) -> [Value; 2] {
        [0, 1].map(|half| self.half(slot, half))
    }

    fn half(&mut self, slot: At, half: usize) -> Value {
        if half == 1 && self.code.is_short(slot) {
            self.constant(0)
        } else if self.blocks.changed[self.at].has(slot) {
            self.builder.use_var(self.slots[usize::from(slot)][half])
        } else {
            self.load(slot, half)
        }
    }

    pub fn set_slot(&mut self, slot: At, low: Value) {
        let high = self.constant(0);
        self.set_halves(slot, [low, high]);
    }

    pub fn set_halves(&mut self, slot: At, halves: [Value; 2]) {
        if self.blocks.framed.has(slot) {
            return self.store(slot, halves);
        }
        for (half, value) in self.slots[usize::from(slot)].into_iter().zip(halves) {
            self.builder.def_var(half, value);
        }
    }

    fn put_cut(&mut self, slot: At, value: Value, cut: u8) {
        let value = match cut {
            0 => value,
            1..32 => {
                let up = self.builder.ins().ishl_imm(value, i64::from(cut));
                self.builder.ins().ushr_imm(up, i64::from(cut))
            }
            cut => self.masked(value, u64::MAX >> cut),
        };
        self.set_slot(slot, value);
    }

    fn put_if(&mut self, slot: At, what: IntCC, a: Value, b: Value) {
        let holds = self.builder.ins().icmp(what, a, b);
        let value = self.builder.ins().uextend(types::I64, holds);
        self.set_slot(slot, value);
    }

    fn put_saturating(&mut self, slot: At, a: Value, b: Value) {
        let difference = self.builder.ins().isub(a, b);
        let below = self.builder.ins().icmp(IntCC::UnsignedLessThan, a, b);
        let zero = self.constant(0);
        let value = self.builder.ins().select(below, zero, difference);
        self.set_slot(slot, value);
    }

    pub fn jump(&mut self, to: To) {
        self.builder.ins().jump(self.labels[&to], &[]);
    }

    pub fn branch(&mut self, condition: Value, to: To, next: To) {
        self.builder.ins().brif(condition, self.labels[&to], &[], self.labels[&next], &[]);
    }

    fn compare(&mut self, what: IntCC, (a, b): (At, At), to: To, next: To) {
        let [a, b] = self.words(a, b);
        let holds = self.builder.ins().icmp(what, a, b);
        self.branch(holds, to, next);
    }

    fn compare_const(&mut self, what: IntCC, (a, value): (At, u64), to: To, next: To) {
        let (a, value) = (self.word(a), self.constant(value));
        let holds = self.builder.ins().icmp(what, a, value);
        self.branch(holds, to, next);
    }
}
