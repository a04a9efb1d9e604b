//! Bytecode execution.
//!
//! Operations on slots run in an inner loop over the slots; an operation that needs the rest of the
//! context leaves the loop.

use super::code::{At, Emitted, End, Function, Op, Site, To, UnitCode, beyond_slots};
use crate::interp::context::{Context, Externs};
use crate::interp::exec::{Applied, Flow};
use crate::interp::jit_tier::{Ends, MachineCode};
use crate::interp::packet::move_ends;
use crate::interp::trap::Halt;
use smallvec::SmallVec;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Position of a run; the default is the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::interp) struct ResumePoint {
    pub(super) at: To,
    /// The table whose action is running.
    pub(super) applied: Option<Applied>,
}

impl ResumePoint {
    /// Position of an operation outside tables.
    pub(in crate::interp) fn at(at: To) -> ResumePoint {
        ResumePoint { at, applied: None }
    }
}

impl UnitCode {
    /// True if the run of a chain left its first unit without a rejection.
    pub(in crate::interp) fn is_behind_first_unit(&self, place: &ResumePoint) -> bool {
        let at = place.at as usize;
        at >= self.first_unit && !matches!(self.ops[at], Op::Reject)
    }
}

#[inline(always)]
fn word(slots: &[u128], at: At) -> u64 {
    slots[usize::from(at)] as u64
}

#[inline(always)]
fn put(slots: &mut [u128], at: At, value: u64) {
    slots[usize::from(at)] = u128::from(value);
}

#[inline(always)]
fn signed(value: u64, cut: u8) -> i64 {
    (value << cut) as i64
}

/// The cell whose index is in a slot.
#[inline(always)]
fn cell<'c>(code: &'c UnitCode, slots: &[u128], a: At, cells: u16) -> Option<&'c AtomicU64> {
    code.cells[usize::from(cells)].get(usize::try_from(word(slots, a)).ok()?)
}

#[inline(never)]
fn set_each(code: &UnitCode, slots: &mut [u128], list: u32) {
    for (to, value) in &code.sets[list as usize] {
        put(slots, *to, *value);
    }
}

#[inline(never)]
fn set_long(code: &UnitCode, slots: &mut [u128], to: At, constant: u32) {
    slots[usize::from(to)] = code.constants[constant as usize];
}

#[inline(never)]
fn long_binary(code: &UnitCode, slots: &mut [u128], (to, a, b): (At, At, At), what: u16) {
    let what = code.binaries[usize::from(what)];
    slots[usize::from(to)] = what.apply(slots[usize::from(a)], slots[usize::from(b)]);
}

#[inline(never)]
fn long_unary(code: &UnitCode, slots: &mut [u128], (to, a): (At, At), what: u16) {
    slots[usize::from(to)] = code.unaries[usize::from(what)].apply(slots[usize::from(a)]);
}

/// Runs operations until one needs more than the slots; returns that operation and the position
/// behind it.
#[inline(always)]
fn on_slots<'c>(
    code: &UnitCode,
    ops: &'c [Op],
    slots: &mut [u128],
    mut at: usize,
) -> (&'c Op, usize) {
    loop {
        // Not copied: each operation reads only its own operands.
        let op = &ops[at];
        at += 1;
        match *op {
            Op::Set { to, value } => put(slots, to, value),
            Op::SetEach { list, to } => {
                set_each(code, slots, list);
                at = to as usize;
            }
            Op::SetLong { to, constant } => set_long(code, slots, to, constant),
            Op::Move { to, a } => slots[usize::from(to)] = slots[usize::from(a)],
            Op::Add { to, a, b, cut } => {
                let sum = word(slots, a).wrapping_add(word(slots, b));
                put(slots, to, sum << cut >> cut);
            }
            Op::AddConst { to, a, cut, value } => {
                put(slots, to, word(slots, a).wrapping_add(value) << cut >> cut);
            }
            Op::Sub { to, a, b, cut } => {
                let difference = word(slots, a).wrapping_sub(word(slots, b));
                put(slots, to, difference << cut >> cut);
            }
            Op::SubFromConst { to, a, cut, value } => {
                put(slots, to, value.wrapping_sub(word(slots, a)) << cut >> cut);
            }
            Op::Mul { to, a, b, cut } => {
                let product = word(slots, a).wrapping_mul(word(slots, b));
                put(slots, to, product << cut >> cut);
            }
            Op::SatAdd { to, a, b, cut } => {
                let sum = word(slots, a).saturating_add(word(slots, b));
                put(slots, to, sum.min(u64::MAX >> cut));
            }
            Op::SatSub { to, a, b } => {
                put(slots, to, word(slots, a).saturating_sub(word(slots, b)));
            }
            Op::SatSubConst { to, a, value } => {
                put(slots, to, word(slots, a).saturating_sub(value));
            }
            Op::SatSubFromConst { to, a, value } => {
                put(slots, to, value.saturating_sub(word(slots, a)));
            }
            Op::And { to, a, b } => put(slots, to, word(slots, a) & word(slots, b)),
            Op::AndConst { to, a, value } => put(slots, to, word(slots, a) & value),
            Op::Or { to, a, b } => put(slots, to, word(slots, a) | word(slots, b)),
            Op::OrConst { to, a, value } => put(slots, to, word(slots, a) | value),
            Op::Xor { to, a, b } => put(slots, to, word(slots, a) ^ word(slots, b)),
            Op::XorConst { to, a, value } => put(slots, to, word(slots, a) ^ value),
            Op::Shl { to, a, b, cut } => {
                let by = word(slots, b);
                let value = if by < 64 { word(slots, a) << by } else { 0 };
                put(slots, to, value << cut >> cut);
            }
            Op::Shr { to, a, b } => {
                let by = word(slots, b);
                put(slots, to, if by < 64 { word(slots, a) >> by } else { 0 });
            }
            Op::ShlConst { to, a, cut, by } => put(slots, to, word(slots, a) << by << cut >> cut),
            Op::Shift { to, a, left, right } => put(slots, to, word(slots, a) << left >> right),
            Op::Concat { to, a, b, by } => {
                put(slots, to, word(slots, a) << by | word(slots, b));
            }
            Op::Equal { to, a, b } => put(slots, to, (word(slots, a) == word(slots, b)).into()),
            Op::EqualConst { to, a, value } => put(slots, to, (word(slots, a) == value).into()),
            Op::Less { to, a, b } => put(slots, to, (word(slots, a) < word(slots, b)).into()),
            Op::LessConst { to, a, value } => put(slots, to, (word(slots, a) < value).into()),
            Op::LessSigned { to, a, b, cut } => {
                let less = signed(word(slots, a), cut) < signed(word(slots, b), cut);
                put(slots, to, less.into());
            }
            Op::Binary { to, a, b, what } => long_binary(code, slots, (to, a, b), what),
            Op::Unary { to, a, what } => long_unary(code, slots, (to, a), what),
            Op::Insert { to, a, low, width } => {
                let place = ((1 << width) - 1) << low;
                let value = word(slots, a) << low & place;
                slots[usize::from(to)] =
                    slots[usize::from(to)] & !u128::from(place) | u128::from(value);
            }
            Op::Copy { to, from, count } => {
                let (from, to) = (usize::from(from), usize::from(to));
                slots.copy_within(from..from + usize::from(count), to);
            }
            Op::Load { to, a, cells, beyond } => match cell(code, slots, a, cells) {
                Some(cell) => put(slots, to, cell.load(Relaxed)),
                None => at = beyond as usize,
            },
            Op::Store { a, b, cells } => {
                if let Some(cell) = cell(code, slots, a, cells) {
                    cell.store(word(slots, b), Relaxed);
                }
            }
            Op::Map { to, a, function } => {
                let Function(function) = &code.functions[usize::from(function)];
                put(slots, to, function(word(slots, a)));
            }
            Op::Jump { to } => at = to as usize,
            Op::JumpIf { a, to } if word(slots, a) != 0 => at = to as usize,
            Op::JumpUnless { a, to } if word(slots, a) == 0 => at = to as usize,
            Op::JumpEqual { a, b, to } if word(slots, a) == word(slots, b) => at = to as usize,
            Op::JumpNotEqual { a, b, to } if word(slots, a) != word(slots, b) => at = to as usize,
            Op::JumpLess { a, b, to } if word(slots, a) < word(slots, b) => at = to as usize,
            Op::JumpNotLess { a, b, to } if word(slots, a) >= word(slots, b) => at = to as usize,
            Op::JumpEqualConst { a, to, value } if word(slots, a) == value => at = to as usize,
            Op::JumpNotEqualConst { a, to, value } if word(slots, a) != value => at = to as usize,
            Op::JumpLessConst { a, to, value } if word(slots, a) < value => at = to as usize,
            Op::JumpNotLessConst { a, to, value } if word(slots, a) >= value => at = to as usize,
            Op::JumpIf { .. }
            | Op::JumpUnless { .. }
            | Op::JumpEqual { .. }
            | Op::JumpNotEqual { .. }
            | Op::JumpLess { .. }
            | Op::JumpNotLess { .. }
            | Op::JumpEqualConst { .. }
            | Op::JumpNotEqualConst { .. }
            | Op::JumpLessConst { .. }
            | Op::JumpNotLessConst { .. } => {}
            // No default: it would need a test.
            beyond_slots!() => return (op, at),
        }
    }
}

impl Context<'_> {
    /// Runs a unit's code from a position on. If a call suspends, the position is that call.
    // Operations that need more than the slots are separate functions and not inlined: otherwise
    // each run would begin by loading all their data.
    pub(in crate::interp) fn execute<E: Externs + ?Sized>(
        &mut self,
        (code, machine): (&UnitCode, Option<&dyn MachineCode>),
        place: &mut ResumePoint,
        externs: &mut E,
    ) -> Result<End, Halt> {
        if self.frame.narrow.len() < code.slots {
            self.make_room(code);
        }
        if let Some(applied) = &place.applied {
            self.matched = Some(applied.matched);
        }
        let ops = &*code.ops;
        let inline_cache = !externs.hears_lookups();
        let mut at = place.at as usize;
        loop {
            let op;
            (op, at) = match machine {
                Some(machine) => {
                    let at = self.by_machine(machine, inline_cache, at);
                    let op = &ops[at];
                    if op.is_on_slots() {
                        on_slots(code, ops, &mut self.frame.narrow, at)
                    } else {
                        (op, at + 1)
                    }
                }
                None => on_slots(code, ops, &mut self.frame.narrow, at),
            };
            match *op {
                Op::Read { run, to } => {
                    if self.read(code, run) {
                        at = to as usize;
                    } else if let Some(error) = self.read_first(code, run) {
                        return Ok(End::Reject(error));
                    }
                }
                Op::Stay { bytes, to } => {
                    let ahead = self.packet.as_ref().and_then(|packet| packet.ahead());
                    if ahead.is_some_and(|ahead| ahead.len() >= bytes as usize) {
                        at = to as usize;
                    }
                }
                Op::EmitEach { header, count, to } => {
                    self.emit_each(code, header, count);
                    at = to as usize;
                }
                Op::Emit { header } => self.emit_each(code, header, 1),
                Op::Select { select } => {
                    if let Some(to) = self.choose(code, select) {
                        at = to as usize;
                    }
                }
                Op::Call { call, inside } => {
                    if !inside {
                        // Machine code does not end an application whose result is unused.
                        (place.applied, self.matched) = (None, None);
                    }
                    let called = externs.call(&code.calls[call as usize].call, self);
                    if called.is_err() {
                        // A suspended call is repeated.
                        place.at = at as To - 1;
                    }
                    called?;
                    if let Some(error) = self.failed.take() {
                        return Ok(End::Reject(error));
                    }
                }
                Op::Apply { site } => {
                    at = self.begin_apply(code, site, place, externs)? as usize;
                }
                Op::Applied { site } => self.end_apply(code, site, place),
                Op::Done => return Ok(End::Done),
                Op::Accept => return Ok(End::Accept),
                Op::Reject => return Ok(End::Reject(self.errors.no_error)),
                Op::Round => self.spend_step()?,
                Op::SelectWide { select } => match self.choose_far(code, select) {
                    Ok(to) => at = to as usize,
                    Err(error) => return Ok(End::Reject(error)),
                },
                Op::Statement { stmt } => {
                    if let Flow::Reject(error) = self.statement(code, stmt, externs)? {
                        return Ok(End::Reject(error));
                    }
                }
                other => {
                    if let Flow::Reject(error) = self.rare_op(code, other) {
                        return Ok(End::Reject(error));
                    }
                }
            }
        }
    }

    /// Runs machine code; returns the operation in front of which it stops.
    #[inline(always)]
    fn by_machine(&mut self, machine: &dyn MachineCode, inline_cache: bool, at: usize) -> usize {
        let out = self.out.as_deref_mut();
        let room = out.as_ref().map_or(0, |_| machine.room());
        let slots = &mut self.frame.narrow;
        let run = |ends: &mut Ends<'_>| machine.run(slots, ends, at as To) as usize;
        move_ends(self.packet.as_mut(), (out, room), inline_cache.then_some(self.tables), run)
    }

    /// Grows the frame for temporaries.
    #[cold]
    fn make_room(&mut self, code: &UnitCode) {
        self.frame.narrow.resize(code.slots, 0);
    }

    /// Extracts headers at once, if the packet contains all of them and the cursor is at a byte
    /// boundary.
    #[inline(never)]
    fn read(&mut self, code: &UnitCode, run: u32) -> bool {
        let reader = &code.runs[run as usize].reader;
        let Some(packet) = &mut self.packet else { return false };
        let Some(ahead) = packet.ahead() else { return false };
        let read = reader.read(ahead, &mut self.frame.narrow);
        if read {
            packet.pass(reader.bytes);
        }
        read
    }

    /// Extracts the first of them; returns the error if that fails.
    #[cold]
    fn read_first(&mut self, code: &UnitCode, run: u32) -> Option<u32> {
        match self.rare_op(code, code.runs[run as usize].first) {
            Flow::Reject(error) => Some(error),
            _ => None,
        }
    }

    #[inline(never)]
    fn emit_each(&mut self, code: &UnitCode, header: u32, count: u16) {
        let Some(out) = self.out.as_deref_mut() else { return };
        let slots = &*self.frame.narrow;
        let first = header as usize;
        for Emitted { valid, writer, .. } in &code.emitted[first..first + usize::from(count)] {
            if word(slots, *valid) != 0 {
                writer.write(slots, out);
            }
        }
    }

    #[inline(never)]
    fn choose(&self, code: &UnitCode, select: u32) -> Option<To> {
        code.selects[select as usize].choose(&self.frame.narrow, self.tables)
    }

    #[inline(never)]
    fn choose_far(&mut self, code: &UnitCode, select: u32) -> Result<To, u32> {
        let select = &code.wide_selects[select as usize];
        self.choose_wide(&select.keys, &select.cases).map(|next| select.to(next))
    }

    #[inline(never)]
    fn statement<E: Externs + ?Sized>(
        &mut self,
        code: &UnitCode,
        stmt: u32,
        externs: &mut E,
    ) -> Result<Flow, Halt> {
        self.step(&code.stmts[stmt as usize], externs)
    }

    #[inline(never)]
    fn end_apply(&mut self, code: &UnitCode, site: u32, place: &mut ResumePoint) {
        let site = &code.sites[site as usize];
        if let Some(applied) = place.applied.take() {
            self.after_action(&applied, site.hit, site.action);
        }
    }

    #[inline(never)]
    fn rare_op(&mut self, code: &UnitCode, op: Op) -> Flow {
        match op {
            Op::Extract { header } => {
                let header = &code.extracted[header as usize];
                self.extract(&header.layout, header.bits.into())
            }
            Op::State => match self.steps.checked_sub(1) {
                Some(steps) => {
                    self.steps = steps;
                    Flow::Next
                }
                // An endless loop of a parser is the packet's fault, not the run's.
                None => Flow::Reject(self.errors.parser_timeout),
            },
            Op::Eval { to, expr } => {
                let value = self.eval(&code.exprs[expr as usize]);
                self.frame.narrow[usize::from(to)] = value;
                Flow::Next
            }
            Op::Note { expr } => {
                self.invalid.note(&code.exprs[expr as usize]);
                Flow::Next
            }
            Op::Check => self.after_failure(),
            Op::Fail { a } => Flow::Reject(word(&self.frame.narrow, a) as u32),
            Op::NoMatch => Flow::Reject(self.errors.no_match),
            Op::Skip { bits } => self.skip(bits),
            Op::Advance { a } => self.skip(word(&self.frame.narrow, a)),
            Op::EmitRest { layout } => {
                self.emit(&code.layouts[layout as usize]);
                Flow::Next
            }
            _ => Flow::Next,
        }
    }

    /// Looks the table up and returns the start of its action.
    #[inline(never)]
    fn begin_apply<E: Externs + ?Sized>(
        &mut self,
        code: &UnitCode,
        site: u32,
        place: &mut ResumePoint,
        externs: &mut E,
    ) -> Result<To, Halt> {
        let site = &code.sites[site as usize];
        let Some(to) = site.begin(self.tables, self.frame, externs, &mut place.applied) else {
            return self.begin_any_apply(site, place, externs);
        };
        if let Some(applied) = &mut place.applied {
            applied.before = self.matched.replace(applied.matched);
        }
        Ok(to)
    }

    /// The same for any table.
    #[inline(never)]
    fn begin_any_apply<E: Externs + ?Sized>(
        &mut self,
        site: &Site,
        place: &mut ResumePoint,
        externs: &mut E,
    ) -> Result<To, Halt> {
        let Some(state) = self.tables.get(site.table) else { return Ok(site.end) };
        let applied = match &site.keys {
            None => self.look_up(site.table, externs)?,
            Some(slots) => {
                let mut keys = SmallVec::<[u128; 8]>::new();
                let mut selector = SmallVec::<[u128; 4]>::new();
                for (at, selects) in slots.iter().zip(state.selectors()) {
                    let value = self.frame.narrow[usize::from(*at)];
                    if *selects {
                        selector.push(value);
                    } else {
                        keys.push(value);
                    }
                }
                self.look_up_key(site.table, &keys, &selector, externs)?
            }
        };
        let Some(applied) = applied else { return Ok(site.end) };
        let action = applied.action.and_then(|action| site.actions.get(action as usize));
        place.applied = Some(applied);
        Ok(action.copied().unwrap_or(site.none))
    }
}
