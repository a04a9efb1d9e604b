//! Executes code.
//!
//! Operations on slots run in an inner loop that holds the slots; what needs the rest of the context
//! leaves it for one operation.

use super::code::{At, End, Op, Site, To, UnitCode};
use crate::interp::context::{Context, Externs};
use crate::interp::exec::{Applied, Flow};
use crate::interp::halt::Halt;
use smallvec::SmallVec;

/// Where a run stands; the default is the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::interp) struct Place {
    at: To,
    /// The table whose action is run.
    applied: Option<Applied>,
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

#[inline(never)]
fn set_long(code: &UnitCode, slots: &mut [u128], to: At, constant: u32) {
    slots[usize::from(to)] = code.constants[constant as usize];
}

#[inline(never)]
fn long_binary(code: &UnitCode, slots: &mut [u128], (to, a, b): (At, At, At), what: u16) {
    let what = code.binaries[usize::from(what)];
    slots[usize::from(to)] = what.of(slots[usize::from(a)], slots[usize::from(b)]);
}

#[inline(never)]
fn long_unary(code: &UnitCode, slots: &mut [u128], (to, a): (At, At), what: u16) {
    slots[usize::from(to)] = code.unaries[usize::from(what)].of(slots[usize::from(a)]);
}

/// Runs operations until one needs more than the slots: it is the answer, with the place behind it.
#[inline(always)]
fn on_slots<'c>(code: &'c UnitCode, slots: &mut [u128], mut at: To) -> (&'c Op, To) {
    let ops = &*code.ops;
    loop {
        // Not copied out: each operation reads the operands that it has.
        let op = &ops[at as usize];
        at += 1;
        match *op {
            Op::Set { to, value } => put(slots, to, value),
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
            Op::Jump { to } => at = to,
            Op::JumpIf { a, to } if word(slots, a) != 0 => at = to,
            Op::JumpUnless { a, to } if word(slots, a) == 0 => at = to,
            Op::JumpEqual { a, b, to } if word(slots, a) == word(slots, b) => at = to,
            Op::JumpNotEqual { a, b, to } if word(slots, a) != word(slots, b) => at = to,
            Op::JumpLess { a, b, to } if word(slots, a) < word(slots, b) => at = to,
            Op::JumpNotLess { a, b, to } if word(slots, a) >= word(slots, b) => at = to,
            Op::JumpEqualConst { a, to, value } if word(slots, a) == value => at = to,
            Op::JumpNotEqualConst { a, to, value } if word(slots, a) != value => at = to,
            Op::JumpLessConst { a, to, value } if word(slots, a) < value => at = to,
            Op::JumpNotLessConst { a, to, value } if word(slots, a) >= value => at = to,
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
            _ => return (op, at),
        }
    }
}

impl Context<'_> {
    /// Runs a unit's code from a place on. Where a call suspends it, the place is that call.
    // What an operation needs beside the slots is in functions of its own, so that a run does not
    // begin with looking at everything that it might need.
    pub(in crate::interp) fn execute<E: Externs + ?Sized>(
        &mut self,
        code: &UnitCode,
        place: &mut Place,
        externs: &mut E,
    ) -> Result<End, Halt> {
        if self.frame.narrow.len() < code.slots {
            self.frame.narrow.resize(code.slots, 0);
        }
        if let Some(applied) = &place.applied {
            self.matched = Some(applied.matched);
        }
        let mut at = place.at;
        loop {
            let op;
            (op, at) = on_slots(code, &mut self.frame.narrow, at);
            let flow = match *op {
                Op::Extract { header } => self.extract_whole(code, header),
                Op::Emit { header } => {
                    self.emit_whole(code, header);
                    Flow::Next
                }
                Op::State => match self.steps.checked_sub(1) {
                    Some(steps) => {
                        self.steps = steps;
                        Flow::Next
                    }
                    // A parser that goes round for ever is the packet's fault, not the run's.
                    None => Flow::Reject(self.errors.parser_timeout),
                },
                Op::Select { select } => {
                    at = self.choose(code, select).unwrap_or(at);
                    Flow::Next
                }
                Op::Call { call } => {
                    let called = externs.call(&code.calls[call as usize], self);
                    if called.is_err() {
                        // A call that suspends is made again.
                        place.at = at - 1;
                    }
                    called?;
                    self.after_failure()
                }
                Op::Apply { site } => {
                    at = self.begin_apply(&code.sites[site as usize], place, externs)?;
                    Flow::Next
                }
                Op::Applied { site } => {
                    self.end_apply(code, site, place);
                    Flow::Next
                }
                Op::Done => return Ok(End::Done),
                Op::Accept => return Ok(End::Accept),
                Op::Reject => return Ok(End::Reject(self.errors.no_error)),
                Op::Round => {
                    self.spend_step()?;
                    Flow::Next
                }
                Op::SelectWide { select } => {
                    let select = &code.wide_selects[select as usize];
                    match self.choose_wide(&select.keys, &select.cases) {
                        Ok(next) => {
                            at = select.to(next);
                            Flow::Next
                        }
                        Err(error) => Flow::Reject(error),
                    }
                }
                Op::Statement { stmt } => self.step(&code.stmts[stmt as usize], externs)?,
                other => self.rare_op(code, other),
            };
            if let Flow::Reject(error) = flow {
                return Ok(End::Reject(error));
            }
        }
    }

    #[inline(never)]
    fn emit_whole(&mut self, code: &UnitCode, header: u32) {
        let header = &code.emitted[header as usize];
        if self.frame.get(header.valid) != 0
            && let Some(out) = self.out.as_deref_mut()
        {
            header.wire.write(&self.frame.narrow, out);
        }
    }

    #[inline(never)]
    fn choose(&self, code: &UnitCode, select: u32) -> Option<To> {
        code.selects[select as usize].choose(&self.frame.narrow, self.tables)
    }

    #[inline(never)]
    fn end_apply(&mut self, code: &UnitCode, site: u32, place: &mut Place) {
        let site = &code.sites[site as usize];
        if let Some(applied) = place.applied.take() {
            self.after_action(&applied, site.hit, site.action);
        }
    }

    #[inline(never)]
    fn rare_op(&mut self, code: &UnitCode, op: Op) -> Flow {
        match op {
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

    #[inline(never)]
    fn extract_whole(&mut self, code: &UnitCode, header: u32) -> Flow {
        let header = &code.extracted[header as usize];
        let bits = u64::from(header.bits);
        if let (Some(wire), Some(packet)) = (&header.wire, &mut self.packet)
            && packet.remaining() >= bits
            && let Some(ahead) = packet.ahead()
            && wire.read(ahead, &mut self.frame.narrow)
        {
            packet.advance(bits);
            self.frame.set(header.valid, 1);
            return Flow::Next;
        }
        self.extract(&header.layout, bits)
    }

    /// Looks a table up and says where its action begins.
    #[inline(never)]
    fn begin_apply<E: Externs + ?Sized>(
        &mut self,
        site: &Site,
        place: &mut Place,
        externs: &mut E,
    ) -> Result<To, Halt> {
        let applied = match &site.keys {
            None => self.look_up(site.table, externs)?,
            Some(slots) => {
                let Some(state) = self.tables.get(site.table) else { return Ok(site.end) };
                let value = |at: At| self.frame.narrow[usize::from(at)];
                match (&**slots, state.selectors()) {
                    ([key], [false]) => {
                        let key = value(*key);
                        self.look_up_key(site.table, &[key], &[], externs)?
                    }
                    (slots, selectors) => {
                        let mut keys = SmallVec::<[u128; 8]>::new();
                        let mut selector = SmallVec::<[u128; 4]>::new();
                        for (at, selects) in slots.iter().zip(selectors) {
                            if *selects {
                                selector.push(value(*at));
                            } else {
                                keys.push(value(*at));
                            }
                        }
                        self.look_up_key(site.table, &keys, &selector, externs)?
                    }
                }
            }
        };
        let Some(applied) = applied else { return Ok(site.end) };
        let action = applied.action.and_then(|action| site.actions.get(action as usize));
        place.applied = Some(applied);
        Ok(action.copied().unwrap_or(site.none))
    }
}
