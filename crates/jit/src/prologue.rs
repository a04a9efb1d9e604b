//! Entry and exit of the compiled function: slots are loaded from the frame and stored back.

use crate::blocks::is_exit;
use crate::lower::Lower;
use crate::packet;
use cranelift_codegen::ir::{
    AliasRegion, Block, InstBuilder, JumpTableData, MemFlags, Value, types,
};
use sojourn_p4::interp::jit_tier::{At, To};
use std::collections::BTreeMap;

/// The frame does not alias other memory.
const FRAME: MemFlags = MemFlags::trusted().with_alias_region(Some(AliasRegion::Vmctx));

/// Offset of a half of a slot in the frame.
fn byte(slot: At, half: usize) -> i32 {
    16 * i32::from(slot) + 8 * half as i32
}

impl Lower<'_> {
    /// Enters at the caller's operation.
    pub fn enter(&mut self, at: Value) {
        packet::take(self);
        let elsewhere = self.builder.create_block();
        let others = self.builder.create_block();
        self.builder.set_cold_block(others);
        // No code is needed in front of operations that are executed without machine code.
        let entries = self.blocks.entries.iter().copied();
        let entries: Vec<To> = entries.filter(|to| !is_exit(self.code, *to as usize)).collect();
        let entries: BTreeMap<To, Block> =
            entries.into_iter().map(|to| (to, self.builder.create_block())).collect();
        let first = entries.get(&0).copied().unwrap_or(elsewhere);
        self.builder.ins().brif(at, others, &[], first, &[]);
        self.begin(others);
        self.jump_to_entry(at, &entries, elsewhere);
        // An operation that is no entry point: all of it is executed without machine code.
        self.begin(elsewhere);
        self.builder.ins().return_(&[at]);
        for (to, block) in entries {
            self.begin(block);
            self.load_all(to);
            self.builder.ins().jump(self.labels[&to], &[]);
        }
    }

    fn jump_to_entry(&mut self, at: Value, entries: &BTreeMap<To, Block>, elsewhere: Block) {
        let last = entries.last_key_value().map_or(0, |(at, _)| *at);
        let mut call = |block: Block| self.builder.func.dfg.block_call(block, &[]);
        let default = call(elsewhere);
        let table: Vec<_> =
            (0..=last).map(|at| entries.get(&at).map_or(default, |block| call(*block))).collect();
        let table = JumpTableData::new(default, &table);
        let table = self.builder.create_jump_table(table);
        self.builder.ins().br_table(at, table);
    }

    /// Loads the slots that are read as values from an operation on.
    fn load_all(&mut self, to: To) {
        let values = &self.blocks.values[to as usize];
        let values: Vec<At> = values.both(values).collect();
        for slot in values {
            let halves = match self.first_of(to, slot) {
                Some(value) => self.halves_of(value),
                None => [0, 1].map(|half| self.load(slot, half)),
            };
            self.set_halves(slot, halves);
        }
        if to == 0 {
            self.begin_frame();
        }
    }

    /// Initialises the slots in the frame that are read, unless the caller has.
    fn begin_frame(&mut self) {
        if self.code.around().is_none_or(|around| around.cleared) {
            return;
        }
        let slots: Vec<At> = self.blocks.framed_at_first().collect();
        for slot in slots {
            if let Some(value) = self.first_of(0, slot) {
                let halves = self.halves_of(value);
                self.store(slot, halves);
            }
        }
    }

    fn halves_of(&mut self, value: u128) -> [Value; 2] {
        [value as u64, (value >> 64) as u64].map(|half| self.constant(half))
    }

    /// Initial value of a slot, if it is known.
    fn first_of(&self, to: To, slot: At) -> Option<u128> {
        self.code.around().filter(|_| to == 0)?.first_of(slot)
    }

    /// Loads a half of a slot from the frame.
    pub fn load(&mut self, slot: At, half: usize) -> Value {
        if half == 1 && self.code.is_short(slot) {
            return self.constant(0);
        }
        self.builder.ins().load(types::I64, FRAME, self.frame, byte(slot, half))
    }

    /// Stores a whole slot in the frame.
    pub fn store(&mut self, slot: At, halves: [Value; 2]) {
        let stored = if self.code.is_short(slot) { 1 } else { 2 };
        for (half, value) in halves.into_iter().enumerate().take(stored) {
            self.builder.ins().store(FRAME, value, self.frame, byte(slot, half));
        }
    }

    /// Stops in front of an operation, with the frame in the state that its executor needs.
    pub fn stop(&mut self, at: To) {
        let needed = self.blocks.needed(self.code, at);
        let stored: Vec<At> = needed.both(&self.blocks.changed[at as usize]).collect();
        for slot in stored {
            let halves = self.halves(slot);
            self.store(slot, halves);
        }
        packet::give_back(self);
        let at = self.builder.ins().iconst(types::I32, i64::from(at));
        self.builder.ins().return_(&[at]);
    }

    /// Stops in front of an operation if a condition holds, else continues in a block of its own.
    pub fn stop_if(&mut self, condition: Value, at: To) {
        let (stop, on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(stop);
        self.builder.ins().brif(condition, stop, &[], on, &[]);
        self.begin(stop);
        self.stop(at);
        self.begin(on);
    }
}
