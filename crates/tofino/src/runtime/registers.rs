//! Registers: memory, and the stateful ALU in front of it.

use super::{Prepared, Runtime, Site, answer, field, scalar};
use crate::register_action::{CompiledRegister, Row, Shape};
use crate::salu::{Fetched, OUTPUTS, Ready, Shared, by_unit, execute};
use sojourn_p4::interp::jit_tier::Cells;
use sojourn_p4::interp::{Access, Context};
use sojourn_p4::ir::{Arg, ExprKind, ExternCall, Layout, ObjectId, Value};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Bits of a memory block: 1,024 words of 128 bits.
const BLOCK_BITS: usize = 1024 * 128;

/// A register while packets pass.
#[derive(Debug)]
pub struct RegisterState {
    /// Compiled form.
    pub(crate) compiled: CompiledRegister,
    /// The instructions of its actions, as packets run them; none where the general form runs.
    ready: Vec<Option<Ready>>,
    /// Of a word's width.
    mask: u32,
    /// The entries. An entry of at most 64 bits is a cell, with its first word in the low half if it
    /// has two; a larger one has a cell for each word. Code that packets run on has it, too. That of a
    /// direct register has room for more.
    memory: Cells,
    entries: usize,
    /// The last pass that accessed it.
    last_pass: u64,
    /// True if that access was a `read`, of which a `write` behind it is a part.
    open: bool,
    /// The second copy of a register that ghost and ingress use in turn.
    second: Option<Cells>,
}

impl RegisterState {
    /// Bytes of memory that an entry takes.
    pub fn cell_bytes(register: &CompiledRegister) -> u64 {
        (stride(register.shape) * size_of::<AtomicU64>()) as u64
    }

    /// A register with `entries` entries of its initial value.
    pub fn new(compiled: CompiledRegister, entries: usize) -> RegisterState {
        let memory = Memory::from_register(&compiled).cells(entries);
        let (ready, mask) = (ready(&compiled), compiled.shape.width.mask());
        RegisterState {
            compiled,
            ready,
            mask,
            memory,
            entries,
            last_pass: 0,
            open: false,
            second: None,
        }
    }

    /// Gives the register a second copy, with the values that it has now.
    pub(super) fn duplicate(&mut self) {
        self.second = Some(copied(&self.memory));
    }

    /// Exchanges the two copies, if there are two.
    pub(super) fn exchange(&mut self) {
        if let Some(second) = &mut self.second {
            std::mem::swap(&mut self.memory, second);
        }
    }

    /// Its memory and an instruction, for code that does both; none if either may become another one.
    pub(super) fn fixed(&self, action: u32) -> Option<(&Cells, &Ready, &Shared)> {
        let compiled = &self.compiled;
        let changes = compiled.rows.iter().any(|row| matches!(row, Row::Parameter(_)));
        let ready = self.ready.get(action as usize)?.as_ref()?;
        (!self.is_direct() && !changes && self.second.is_none()).then_some((
            &self.memory,
            ready,
            &compiled.shared,
        ))
    }

    /// True if an action has the form that runs on a cell with one output.
    pub(super) fn is_ready(&self, action: u32) -> bool {
        self.ready.get(action as usize).is_some_and(Option::is_some)
    }

    fn layout(&self) -> Memory {
        Memory::from_register(&self.compiled)
    }

    /// Of a word's width.
    pub(super) fn mask(&self) -> u32 {
        self.mask
    }

    /// Its name for the control plane.
    pub fn name(&self) -> &str {
        &self.compiled.name
    }

    /// Compiled form.
    pub fn compiled(&self) -> &CompiledRegister {
        &self.compiled
    }

    /// Its shape, its constants and the instructions of its actions, as text.
    pub fn describe(&self) -> String {
        let CompiledRegister { shape, shared, actions, rows, .. } = &self.compiled;
        let pair = if shape.dual { "2 x " } else { "" };
        let mut text = format!("{}: {pair}{} bits", self.name(), shape.word_bits());
        for (number, _) in rows.iter().enumerate() {
            text += &format!("\n  row{number} = {}", shared.rows[number] as i32);
        }
        for action in actions {
            text += &format!("\n  {}", action.name);
            for line in action.instruction.to_string().lines() {
                text += &format!("\n    {line}");
            }
        }
        text
    }

    /// One entry.
    pub fn get(&self, index: usize) -> Option<[u64; 2]> {
        (index < self.reach()).then(|| self.layout().get(&self.memory, index))?
    }

    /// Sets one entry, cut to the register's width; false if there is no such entry.
    pub fn set(&mut self, index: usize, entry: [u64; 2]) -> bool {
        let mask = self.compiled.shape.mask();
        let entry = entry.map(|word| word & mask);
        index < self.reach() && self.layout().set(&self.memory, index, entry)
    }

    /// The value of a `RegisterParam`, if this register's actions use it.
    pub(crate) fn parameter(&self, parameter: ObjectId) -> Option<u32> {
        let mut rows = self.compiled.shared.rows.iter().zip(&self.compiled.rows);
        let used = rows.find(|(_, content)| **content == Row::Parameter(parameter));
        used.map(|(row, _)| *row as u32)
    }

    /// Gives a `RegisterParam` another value where this register's actions use it.
    pub(crate) fn set_parameter(&mut self, parameter: ObjectId, value: u32) {
        let rows = self.compiled.shared.rows.iter_mut().zip(&self.compiled.rows);
        rows.filter(|(_, content)| **content == Row::Parameter(parameter))
            .for_each(|(row, _)| *row = value.into());
        self.ready = ready(&self.compiled);
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries
    }

    /// True for a direct register whose table has no entry yet.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// True for a register with a cell for each entry of a table.
    pub fn is_direct(&self) -> bool {
        self.compiled.size.is_none()
    }

    /// The number of cells that an index reaches: on the chip, those of all blocks that the register
    /// has. Its size for the driver is the same (bf-asm/stateful.cpp, `gen_tbl_cfg`).
    fn reach(&self) -> usize {
        if self.is_direct() { self.entries } else { self.memory.len() / self.layout().stride }
    }

    /// Gives it the rest of its last block, if a call's index may be beyond its entries.
    pub(super) fn reached_by(&mut self, call: &ExternCall) {
        let Some(Arg::In(Value::Scalar(index))) = call.args.first() else { return };
        let is_inside = match index.kind {
            ExprKind::Const(value) => value < self.entries as u128,
            _ => index.scalar.width() < 64 && 1_u64 << index.scalar.width() <= self.entries as u64,
        };
        if !is_inside && self.entries > 0 {
            let each = BLOCK_BITS / self.compiled.shape.entry_bits() as usize;
            self.memory = self.layout().grown(&self.memory, self.entries.next_multiple_of(each));
        }
    }

    /// Room for the state of a table entry.
    pub(crate) fn grow(&mut self, index: usize) {
        let layout = self.layout();
        if index >= self.memory.len() / layout.stride {
            self.memory = layout.grown(&self.memory, (index + 1).next_power_of_two());
        }
        self.entries = self.entries.max(index + 1);
    }

    /// The entries that an earlier state of it has otherwise, which then has them, too.
    pub(crate) fn differs_from(&self, earlier: &mut RegisterState) -> Vec<usize> {
        let entries = 0..self.reach();
        let changed = |index: &usize| {
            let now = self.get(*index);
            let then = earlier.get(*index).or(Some(earlier.compiled.initial));
            now != then
        };
        let found: Vec<usize> = entries.filter(changed).collect();
        if !found.is_empty() {
            (earlier.memory, earlier.entries) = (copied(&self.memory), self.entries);
        }
        found
    }

    /// Becomes what it was; its memory stays where it is, if that has as many entries.
    pub(crate) fn become_again(&mut self, saved: RegisterState) {
        let memory = if self.entries == saved.entries {
            let both = self.memory.iter().zip(saved.memory.iter());
            both.for_each(|(now, then)| now.store(then.load(Relaxed), Relaxed));
            self.memory.clone()
        } else {
            saved.memory
        };
        *self = RegisterState { memory, ..saved };
    }

    /// True for the first access of this pass.
    #[inline]
    fn enter(&mut self, pass: u64) -> bool {
        let first = self.last_pass != pass;
        self.last_pass = pass;
        self.open = false;
        first
    }
}

impl Clone for RegisterState {
    /// A register of its own: what happens to one does not happen to the other.
    fn clone(&self) -> RegisterState {
        RegisterState {
            compiled: self.compiled.clone(),
            ready: self.ready.clone(),
            memory: copied(&self.memory),
            second: self.second.as_ref().map(copied),
            ..*self
        }
    }
}

/// Cells that an entry takes.
fn stride(shape: Shape) -> usize {
    if shape.wide && shape.dual { 2 } else { 1 }
}

/// Arrangement of a register's entries in cells.
#[derive(Clone, Copy)]
struct Memory {
    shape: Shape,
    initial: [u64; 2],
    stride: usize,
}

impl Memory {
    fn from_register(register: &CompiledRegister) -> Memory {
        let shape = register.shape;
        Memory { shape, initial: register.initial, stride: stride(shape) }
    }

    /// So many entries with their initial value.
    fn cells(self, entries: usize) -> Cells {
        let initial = self.to_cells(self.initial);
        let entries = (0..entries).flat_map(|_| initial[..self.stride].iter());
        entries.map(|cell| AtomicU64::new(*cell)).collect()
    }

    /// The same with more entries.
    fn grown(self, memory: &Cells, entries: usize) -> Cells {
        let more = self.cells(entries.saturating_sub(memory.len() / self.stride));
        let all = memory.iter().chain(more.iter());
        all.map(|cell| AtomicU64::new(cell.load(Relaxed))).collect()
    }

    fn to_cells(self, entry: [u64; 2]) -> [u64; 2] {
        if self.shape.wide { entry } else { [entry[1] << 32 | entry[0] & 0xffff_ffff, 0] }
    }

    fn get(self, memory: &[AtomicU64], index: usize) -> Option<[u64; 2]> {
        let cells = memory.chunks_exact(self.stride).nth(index)?;
        let first = cells[0].load(Relaxed);
        Some(match cells.get(1) {
            Some(second) => [first, second.load(Relaxed)],
            None if self.shape.wide => [first, 0],
            None => [first & 0xffff_ffff, first >> 32],
        })
    }

    /// Sets an entry; false if there is no such entry.
    fn set(self, memory: &[AtomicU64], index: usize, entry: [u64; 2]) -> bool {
        let Some(cells) = memory.chunks_exact(self.stride).nth(index) else { return false };
        cells.iter().zip(self.to_cells(entry)).for_each(|(cell, word)| cell.store(word, Relaxed));
        true
    }

    /// The entries of a word of 128 bits, the first with its lowest bits.
    fn word(self, memory: &[AtomicU64], word: usize) -> Option<u128> {
        let (entry_bits, word_bits) = (self.shape.entry_bits(), self.shape.word_bits());
        let entries = 128 / entry_bits as usize;
        let first = word.checked_mul(entries)?;
        let mut joined = None;
        for at in 0..entries {
            let Some([lo, hi]) = self.get(memory, first.checked_add(at)?) else { break };
            let hi = if self.shape.dual { u128::from(hi) << word_bits } else { 0 };
            let entry = u128::from(lo & self.shape.mask()) | hi;
            joined = Some(joined.unwrap_or(0) | entry << (at as u32 * entry_bits));
        }
        joined
    }

    /// Sets the entries of a word.
    fn set_word(self, memory: &[AtomicU64], word: usize, value: u128) {
        let (entry_bits, mask) = (self.shape.entry_bits(), self.shape.mask());
        let entries = 128 / entry_bits as usize;
        for at in 0..entries {
            let entry = value >> (at as u32 * entry_bits);
            let hi =
                if self.shape.dual { (entry >> self.shape.word_bits()) as u64 & mask } else { 0 };
            self.set(memory, word * entries + at, [entry as u64 & mask, hi]);
        }
    }
}

fn copied(memory: &Cells) -> Cells {
    memory.iter().map(|cell| AtomicU64::new(cell.load(Relaxed))).collect()
}

#[inline]
fn joined(entry: [u32; 2]) -> u64 {
    u64::from(entry[1]) << 32 | u64::from(entry[0])
}

/// The words of an entry of at most 64 bits.
#[inline]
fn entry(cell: &AtomicU64) -> [u32; 2] {
    let both = cell.load(Relaxed);
    [both as u32, (both >> 32) as u32]
}

#[inline]
fn put(cell: &AtomicU64, entry: [u32; 2]) {
    cell.store(joined(entry), Relaxed);
}

/// The instructions of a register's actions with the constants that it has now.
fn ready(register: &CompiledRegister) -> Vec<Option<Ready>> {
    let actions = register.actions.iter();
    let made = actions.map(|action| {
        let small = !register.shape.wide && !action.is_search;
        small.then(|| Ready::new(&action.instruction, &register.shared)).flatten()
    });
    made.collect()
}

/// Runs an instruction on an entry.
#[inline]
fn run(instruction: &Ready, shared: &Shared, cell: &AtomicU64, fields: [u32; 2]) -> u32 {
    let before = entry(cell);
    let done = instruction.execute(before, fields, shared);
    put(cell, [done.lo.unwrap_or(before[0]), done.hi.unwrap_or(before[1])]);
    done.output
}

impl RegisterState {
    /// Words and packet fields of an access; none beyond the memory.
    fn fetched(&self, action: usize, index: usize, fields: [u64; 2]) -> Option<Fetched> {
        let (layout, [phv_lo, phv_hi]) = (self.layout(), fields);
        let at = Fetched { phv_lo, phv_hi, address: index as u32, ..Fetched::default() };
        if self.compiled.actions[action].is_search {
            return Some(Fetched { word: layout.word(&self.memory, index)?, ..at });
        }
        let [mem_lo, mem_hi] = layout.get(&self.memory, index)?;
        Some(Fetched { mem_lo, mem_hi, ..at })
    }

    /// Runs any instruction; an index beyond the memory accesses nothing and puts out zeros.
    fn run(&self, action: usize, index: usize, fields: [u64; 2]) -> [u64; OUTPUTS] {
        let Some(at) = self.fetched(action, index, fields) else { return [0; OUTPUTS] };
        let instruction = &self.compiled.actions[action].instruction;
        let done = execute(instruction, &self.compiled.shared, &at);
        if let Some(word) = done.word {
            self.layout().set_word(&self.memory, index, word);
        }
        if !self.compiled.actions[action].is_search {
            let entry = [done.lo.unwrap_or(at.mem_lo), done.hi.unwrap_or(at.mem_hi)];
            self.layout().set(&self.memory, index, entry);
        }
        done.outputs
    }
}

impl Runtime {
    /// The entry that a call is about to access, and what the ALU in front of it will do with it.
    pub(super) fn reached_register(&self, call: &ExternCall, ctx: &Context<'_>) -> Option<Access> {
        let (register, action, direct) = match self.sites.get(call.site.index())? {
            Site::Execute { register, action } => (*register, Some(*action), false),
            Site::ExecuteDirect { register, action } => (*register, Some(*action), true),
            Site::ReadRegister { register, direct } | Site::WriteRegister { register, direct } => {
                (*register, None, *direct)
            }
            _ => return None,
        };
        let state = self.registers.get(register as usize)?;
        let index = match direct {
            true => ctx.matched()?.entry?.index(),
            false => scalar(call, 0, ctx) as usize,
        };
        // A direct register grows when its entries are hit.
        let entry = state.get(index).or(direct.then_some(state.compiled.initial));
        let mut unit = Vec::new();
        if let Some(at) = action.map(|at| at as usize)
            && let Some(action) = state.compiled.actions.get(at)
        {
            let inputs = [0, 1].map(|input| action.input(&state.compiled.fields, input));
            let fields = inputs.map(|input| field(input, ctx) & state.compiled.shape.mask());
            for (name, input, value) in
                [("phv_lo", inputs[0], fields[0]), ("phv_hi", inputs[1], fields[1])]
            {
                unit.extend(input.map(|_| (name.to_owned(), value.to_string())));
            }
            let [mem_lo, mem_hi] = entry.unwrap_or_default();
            let [phv_lo, phv_hi] = fields;
            let new = Fetched { mem_lo, mem_hi, phv_lo, phv_hi, ..Fetched::default() };
            let fetched = state.fetched(at, index, fields).unwrap_or(new);
            unit.extend(by_unit(&action.instruction, &state.compiled.shared, &fetched));
        }
        let halves = if state.compiled.shape.dual { 2 } else { 1 };
        let words = entry?[..halves].iter().map(|word| (*word).into()).collect();
        Some(Access { memory: state.name().into(), index: index as u64, words, unit })
    }

    /// `action.execute(index)`
    #[inline]
    pub(super) fn execute(
        &mut self,
        register: u32,
        action: u32,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let Some(Prepared { execution: Some(known), .. }) = self.prepared.get(call.site.index())
        else {
            let index = scalar(call, 0, ctx) as usize;
            return self.access(register, action, index, call, ctx);
        };
        let state = &mut self.registers[register as usize];
        let frame = ctx.frame_mut();
        if !state.enter(self.pass.number) {
            self.faults.second_access(state.name(), call.span);
            return known.answer(0, frame);
        }
        let mask = state.mask;
        let [lo, hi] = known.fields;
        let fields = [lo.get(frame) as u32 & mask, hi.get(frame) as u32 & mask];
        let RegisterState { compiled, ready, memory, .. } = state;
        // An index beyond the memory accesses nothing and puts out 0.
        let cell = memory.get(known.index.get(frame) as usize);
        let output = match (cell, &ready[action as usize]) {
            (Some(cell), Some(ready)) => run(ready, &compiled.shared, cell, fields),
            _ => 0,
        };
        known.answer(known.format.read(output.into()) as u32, frame);
    }

    /// `action.execute()` of a direct register: the entry is that of the table entry that was hit.
    pub(super) fn execute_direct(
        &mut self,
        register: u32,
        action: u32,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let entry = ctx.matched().and_then(|matched| matched.entry);
        let Some(entry) = entry else { return answer(call, ctx, 0) };
        self.registers[register as usize].grow(entry.index());
        self.access(register, action, entry.index(), call, ctx);
    }

    #[inline(never)]
    fn access(
        &mut self,
        register: u32,
        action: u32,
        index: usize,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let state = &mut self.registers[register as usize];
        if !state.enter(self.pass.number) {
            self.faults.second_access(state.name(), call.span);
            return answer(call, ctx, 0);
        }
        let compiled = &state.compiled;
        let (at, mask) = (action as usize, compiled.shape.mask());
        let action = &compiled.actions[at];
        let fields = [0, 1].map(|input| field(action.input(&compiled.fields, input), ctx) & mask);
        let words = state.run(at, index, fields);
        let mut values = action.formats.iter().zip(words).map(|(format, word)| format.read(word));
        answer(call, ctx, values.next().unwrap_or(0).into());
        for (argument, value) in
            call.args.iter().filter(|arg| matches!(arg, Arg::Out(_))).zip(values)
        {
            if let Arg::Out(layout) = argument {
                ctx.set(layout, value.into());
            }
        }
    }

    /// The entry that `read` and `write` of a register mean, in the one access of this pass.
    fn plain_access(
        &mut self,
        register: u32,
        direct: bool,
        call: &ExternCall,
        ctx: &Context<'_>,
    ) -> Option<(&RegisterState, usize)> {
        let state = &mut self.registers[register as usize];
        let is_part = state.open && state.last_pass == self.pass.number && &*call.name == "write";
        if !state.enter(self.pass.number) && !is_part {
            self.faults.second_access(state.name(), call.span);
            return None;
        }
        state.open = &*call.name == "read";
        let index = if direct {
            let index = ctx.matched()?.entry?.index();
            state.grow(index);
            index
        } else {
            scalar(call, 0, ctx) as usize
        };
        Some((state, index))
    }

    /// `register.read(index)`
    pub(super) fn read_register(
        &mut self,
        register: u32,
        direct: bool,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let accessed = self.plain_access(register, direct, call, ctx);
        let entry = accessed
            .and_then(|(state, index)| Some((state, state.layout().get(&state.memory, index)?)));
        let joined = entry.is_some_and(|(state, _)| state.compiled.shape.joined);
        let entry = entry.map_or([0; 2], |(_, entry)| entry);
        match &call.result {
            Some(Layout::Struct { fields, .. }) => {
                for (field, word) in fields.iter().zip(entry) {
                    ctx.set(field, word.into());
                }
            }
            _ if joined => answer(call, ctx, u128::from(entry[1]) << 64 | u128::from(entry[0])),
            _ => answer(call, ctx, entry[0].into()),
        }
    }

    /// `register.clear(value, busy)`: all entries at once, so that no access is busy.
    pub(super) fn clear_register(
        &mut self,
        register: u32,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let Some(Arg::In(value)) = call.args.first() else { return };
        let value = ctx.eval_value(value);
        let Some(state) = self.registers.get(register as usize) else { return };
        let (layout, mask) = (state.layout(), state.compiled.shape.mask());
        let entry = match state.compiled.shape.joined {
            true => [value as u64, (value >> 64) as u64],
            false => [value as u64 & mask, 0],
        };
        for index in 0..state.memory.len() / layout.stride {
            layout.set(&state.memory, index, entry);
        }
    }

    /// `register.write(index, value)`
    pub(super) fn write_register(
        &mut self,
        register: u32,
        direct: bool,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let value = match call.args.get(if direct { 0 } else { 1 }) {
            Some(Arg::In(Value::Struct { fields, .. })) => {
                let word = |index| fields.get(index).map_or(0, |f| ctx.eval_value(f) as u64);
                [word(0), word(1)]
            }
            Some(Arg::In(value)) => {
                let value = ctx.eval_value(value);
                [value as u64, (value >> 64) as u64]
            }
            _ => [0; 2],
        };
        if let Some((state, index)) = self.plain_access(register, direct, call, ctx) {
            let mask = state.compiled.shape.mask();
            state.layout().set(&state.memory, index, value.map(|word| word & mask));
        }
    }
}
