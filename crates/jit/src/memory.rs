//! Translation of accesses to persistent memory, and of functions of one word, to Cranelift's IR.
//!
//! Both are accessed by address; the owner of the function keeps them alive.

use crate::lower::Lower;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlags, Signature, Value, types};
use sojourn_p4::interp::jit_tier::{At, To};

/// A memory's first cell and the number of its cells.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pub first: usize,
    pub cells: usize,
}

/// Addresses that code refers to.
#[derive(Clone, Debug)]
pub struct Addresses {
    pub memories: Vec<Memory>,
    pub functions: Vec<usize>,
    /// Function that applies its first argument, a function, to its second, a word.
    pub apply: usize,
}

impl Lower<'_> {
    pub fn load_cell(&mut self, (to, a): (At, At), cells: u16, beyond: To, next: To) {
        let index = self.word(a);
        let is_there = self.is_cell(index, cells);
        let there = self.builder.create_block();
        self.builder.ins().brif(is_there, there, &[], self.labels[&beyond], &[]);
        self.begin(there);
        let cell = self.cell(index, cells);
        let value = self.builder.ins().load(types::I64, MemFlags::trusted(), cell, 0);
        self.set_slot(to, value);
        self.jump(next);
    }

    pub fn store_cell(&mut self, a: At, b: At, cells: u16) {
        let (index, value) = (self.word(a), self.word(b));
        let is_there = self.is_cell(index, cells);
        let (there, behind) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(is_there, there, &[], behind, &[]);
        self.begin(there);
        let cell = self.cell(index, cells);
        self.builder.ins().store(MemFlags::trusted(), value, cell, 0);
        self.builder.ins().jump(behind, &[]);
        self.begin(behind);
    }

    pub fn map(&mut self, to: At, a: At, function: u16) {
        let mut signature = Signature::new(self.builder.func.signature.call_conv);
        signature.params = [types::I64, types::I64].map(AbiParam::new).into();
        signature.returns.push(AbiParam::new(types::I64));
        let signature = self.builder.import_signature(signature);
        let apply = self.constant(self.addresses.apply as u64);
        let function = self.constant(self.addresses.functions[usize::from(function)] as u64);
        let a = self.word(a);
        let call = self.builder.ins().call_indirect(signature, apply, &[function, a]);
        let value = self.builder.inst_results(call)[0];
        self.set_slot(to, value);
    }

    /// Whether there is such a cell.
    fn is_cell(&mut self, index: Value, cells: u16) -> Value {
        let count = self.addresses.memories[usize::from(cells)].cells as u64;
        let count = self.constant(count);
        self.builder.ins().icmp(IntCC::UnsignedLessThan, index, count)
    }

    /// The address of an existing cell.
    fn cell(&mut self, index: Value, cells: u16) -> Value {
        let first = self.addresses.memories[usize::from(cells)].first as u64;
        let first = self.constant(first);
        let bytes = self.builder.ins().ishl_imm(index, 3);
        self.builder.ins().iadd(first, bytes)
    }
}
