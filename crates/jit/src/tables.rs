//! Translation of table lookups to Cranelift's IR: a search in the inline cache, if the caller
//! provides one.
//!
//! On a miss the function stops, and the caller executes the lookup and fills the cache.

use crate::lower::Lower;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, types};
use cranelift_frontend::Switch;
use sojourn_p4::interp::jit_tier::inline_cache::{FACTOR, LINE, SHIFT, TABLE};
use sojourn_p4::interp::jit_tier::{Ends, Lookup, To};

/// Size of a word in bytes.
const WORD: i64 = 8;

/// Jumps to the action of a table's key.
pub fn apply(lower: &mut Lower<'_>, at: To, lookup: &Lookup<'_>) {
    let key = lower.word(lookup.key);
    let known = word(lower, lower.ends, Ends::INLINE_CACHE as i64);
    let unknown = lower.builder.ins().icmp_imm(IntCC::Equal, known, 0);
    lower.stop_if(unknown, at);
    let table = lower.builder.ins().iadd_imm(known, (lookup.table * TABLE) as i64 * WORD);
    let factor = lower.constant(FACTOR);
    let spread = lower.builder.ins().imul(key, factor);
    let place = lower.builder.ins().ushr_imm(spread, i64::from(SHIFT));
    let place = lower.builder.ins().imul_imm(place, LINE as i64 * WORD);
    // Behind the line with the change count.
    let line = lower.builder.ins().iadd(table, place);
    let line = lower.builder.ins().iadd_imm(line, LINE as i64 * WORD);
    let changes = word(lower, table, 0);
    let [found, of, action] = [0, 1, 2].map(|field| word(lower, line, field * WORD));
    let is_old = lower.builder.ins().bxor(found, changes);
    let is_other = lower.builder.ins().bxor(of, key);
    let differs = lower.builder.ins().bor(is_old, is_other);
    lower.stop_if(differs, at);
    let mut switch = Switch::new();
    let blocks: Vec<_> = lookup.actions.iter().map(|_| lower.builder.create_block()).collect();
    for (number, block) in blocks.iter().enumerate() {
        switch.set_entry(number as u128, *block);
    }
    let none = lower.labels[&lookup.none];
    switch.emit(&mut lower.builder, action, none);
    for ((number, begin), block) in lookup.actions.iter().enumerate().zip(blocks) {
        lower.begin(block);
        let data = lookup.data.get(number).into_iter().flatten();
        for ((to, mask), field) in data.zip(3..) {
            let value = word(lower, line, field * WORD);
            let value = lower.masked(value, *mask as u64);
            lower.set_slot(*to, value);
        }
        lower.jump(*begin);
    }
}

fn word(lower: &mut Lower<'_>, from: Value, byte: i64) -> Value {
    lower.builder.ins().load(types::I64, MemFlags::trusted(), from, byte as i32)
}
