//! Registers: memory, and the stateful ALU in front of it.

use super::{Prepared, Runtime, Site, answer, field, scalar};
use crate::register_action::{CompiledRegister, Row};
use crate::salu::{Fetched, Ready, Shared, by_unit};
use sojourn_p4::interp::jit_tier::Cells;
use sojourn_p4::interp::{Access, Context};
use sojourn_p4::ir::{Arg, ExternCall, Layout, ObjectId, Value};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A register while packets pass.
#[derive(Debug)]
pub struct RegisterState {
    /// Compiled form.
    pub(crate) compiled: CompiledRegister,
    /// The instructions of its actions, as packets run them.
    ready: Vec<Ready>,
    /// Of a word's width.
    mask: u32,
    /// The entries, the first word in the low half; the second one of a single register is not used.
    /// Code that packets run on has it, too. That of a direct register has room for more.
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
    pub const CELL_BYTES: u64 = size_of::<AtomicU64>() as u64;

    /// A register with `entries` entries of its initial value.
    pub fn new(compiled: CompiledRegister, entries: usize) -> RegisterState {
        let memory = cells(compiled.initial, entries);
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
        let ready = self.ready.get(action as usize)?;
        (!self.is_direct() && !changes && self.second.is_none()).then_some((
            &self.memory,
            ready,
            &compiled.shared,
        ))
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
        let mut text = format!("{}: {pair}{} bits", self.name(), shape.width.bits());
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
    pub fn get(&self, index: usize) -> Option<[u32; 2]> {
        self.memory[..self.entries].get(index).map(entry)
    }

    /// Sets one entry, cut to the register's width; false if there is no such entry.
    pub fn set(&mut self, index: usize, entry: [u32; 2]) -> bool {
        let mask = self.compiled.shape.width.mask();
        let place = self.memory[..self.entries].get(index);
        place.map(|place| put(place, entry.map(|word| word & mask))).is_some()
    }

    /// The value of a `RegisterParam`, if this register's actions use it.
    pub(crate) fn parameter(&self, parameter: ObjectId) -> Option<u32> {
        let mut rows = self.compiled.shared.rows.iter().zip(&self.compiled.rows);
        let used = rows.find(|(_, content)| **content == Row::Parameter(parameter));
        used.map(|(row, _)| *row)
    }

    /// Gives a `RegisterParam` another value where this register's actions use it.
    pub(crate) fn set_parameter(&mut self, parameter: ObjectId, value: u32) {
        let rows = self.compiled.shared.rows.iter_mut().zip(&self.compiled.rows);
        rows.filter(|(_, content)| **content == Row::Parameter(parameter))
            .for_each(|(row, _)| *row = value);
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

    /// Room for the state of a table entry.
    pub(crate) fn grow(&mut self, index: usize) {
        if index >= self.memory.len() {
            let count = (index + 1).next_power_of_two();
            self.memory = grown(&self.memory, count, self.compiled.initial);
        }
        self.entries = self.entries.max(index + 1);
    }

    /// The entries that an earlier state of it has otherwise, which then has them, too.
    pub(crate) fn differs_from(&self, earlier: &mut RegisterState) -> Vec<usize> {
        let entries = 0..self.len();
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
            both.for_each(|(now, then)| put(now, entry(then)));
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

/// So many entries.
fn cells(initial: [u32; 2], count: usize) -> Cells {
    (0..count).map(|_| AtomicU64::new(joined(initial))).collect()
}

fn copied(memory: &Cells) -> Cells {
    memory.iter().map(|cell| AtomicU64::new(cell.load(Relaxed))).collect()
}

/// The same with more entries.
fn grown(memory: &Cells, count: usize, initial: [u32; 2]) -> Cells {
    let more = (memory.len()..count).map(|_| AtomicU64::new(joined(initial)));
    memory.iter().map(|cell| AtomicU64::new(cell.load(Relaxed))).chain(more).collect()
}

#[inline]
fn joined(entry: [u32; 2]) -> u64 {
    u64::from(entry[1]) << 32 | u64::from(entry[0])
}

/// The words of an entry.
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
fn ready(register: &CompiledRegister) -> Vec<Ready> {
    let actions = register.actions.iter();
    actions.map(|action| Ready::new(&action.instruction, &register.shared)).collect()
}

/// Runs an instruction on an entry.
#[inline]
fn run(instruction: &Ready, shared: &Shared, cell: &AtomicU64, fields: [u32; 2]) -> u32 {
    let before = entry(cell);
    let done = instruction.execute(before, fields, shared);
    put(cell, [done.lo.unwrap_or(before[0]), done.hi.unwrap_or(before[1])]);
    done.output
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
        let entry = state.get(index).or(direct.then_some(state.compiled.initial))?;
        let mut unit = Vec::new();
        if let Some(action) = action.and_then(|at| state.compiled.actions.get(at as usize)) {
            let (mask, fields) = (state.compiled.shape.width.mask(), &state.compiled.fields);
            let inputs = [0, 1].map(|at| action.input(fields, at));
            let [phv_lo, phv_hi] = inputs.map(|input| field(input, ctx) & mask);
            for (name, input, value) in
                [("phv_lo", inputs[0], phv_lo), ("phv_hi", inputs[1], phv_hi)]
            {
                unit.extend(input.map(|_| (name.to_owned(), value.to_string())));
            }
            let fetched = Fetched { mem_lo: entry[0], mem_hi: entry[1], phv_lo, phv_hi };
            unit.extend(by_unit(&action.instruction, &state.compiled.shared, &fetched));
        }
        let halves = if state.compiled.shape.dual { 2 } else { 1 };
        let words = entry[..halves].iter().map(|word| (*word).into()).collect();
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
        let output = match memory.get(known.index.get(frame) as usize) {
            Some(cell) => run(&ready[action as usize], &compiled.shared, cell, fields),
            None => 0,
        };
        known.answer(known.format.read(output), frame);
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
        let mask = state.compiled.shape.width.mask();
        let RegisterState { compiled, ready, memory, .. } = state;
        let (action, instruction) = (&compiled.actions[action as usize], &ready[action as usize]);
        let fields = [0, 1].map(|at| field(action.input(&compiled.fields, at), ctx) & mask);
        // An index beyond the memory accesses nothing and puts out 0.
        let cell = memory.get(index);
        let output = cell.map_or(0, |cell| run(instruction, &compiled.shared, cell, fields));
        answer(call, ctx, action.format.read(output).into());
    }

    /// The entry that `read` and `write` of a register mean, in the one access of this pass.
    fn plain_access(
        &mut self,
        register: u32,
        direct: bool,
        call: &ExternCall,
        ctx: &Context<'_>,
    ) -> Option<&AtomicU64> {
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
        state.memory.get(index)
    }

    /// `register.read(index)`
    pub(super) fn read_register(
        &mut self,
        register: u32,
        direct: bool,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let entry = self.plain_access(register, direct, call, ctx).map_or([0; 2], entry);
        match &call.result {
            Some(Layout::Struct { fields, .. }) => {
                for (field, word) in fields.iter().zip(entry) {
                    ctx.set(field, word.into());
                }
            }
            _ => answer(call, ctx, entry[0].into()),
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
                let word = |index| fields.get(index).map_or(0, |f| ctx.eval_value(f) as u32);
                [word(0), word(1)]
            }
            Some(Arg::In(value)) => [ctx.eval_value(value) as u32, 0],
            _ => [0; 2],
        };
        if let Some(cell) = self.plain_access(register, direct, call, ctx) {
            put(cell, value);
        }
    }
}
