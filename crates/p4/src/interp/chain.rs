//! Chain of units: several units that run in sequence on one frame, compiled as one piece of code.
//!
//! Between two blocks a chip mostly moves fields. In a chain these moves are ordinary operations,
//! so a packet passes parser, control and deparser without returning to the caller. The caller
//! states which units can be joined and which moves lie between them; this module must not depend
//! on any architecture.

use super::bytecode::{self, Calls, Direct, NoCode, Op, ResumePoint, UnitCode};
use super::context::{Externs, unheard};
use super::jit_tier::{At, Ends, FrameFacts, ROOM, To};
use super::{Frame, Halt, Interpreter, PacketIn, PacketOut, Parsed, Tables};
use super::{jit_tier, packet};
use crate::ir::{Program, Slot, UnitId};
use num_bigint::BigUint;
use num_traits::Zero;
use std::ops::Range;
use std::sync::Arc;

/// A unit of a chain, and what is done to the frame in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The unit.
    pub unit: UnitId,
    /// The chain ends in front of all this if one of these slots of at most 64 bits has that value.
    pub ends_if: Vec<(Slot, u64)>,
    /// Slots that are copied, from and to, in this order.
    pub moves: Vec<(Slot, Slot)>,
    /// Slots that get constants, behind the moves.
    pub sets: Vec<(Slot, u128)>,
}

impl Link {
    /// A unit with nothing done in front of it.
    pub fn plain(unit: UnitId) -> Link {
        Link { unit, ends_if: Vec::new(), moves: Vec::new(), sets: Vec::new() }
    }
}

/// What a chain is made of.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The units, of which only the first may be a parser.
    pub links: &'a [Link],
    /// Slots of the units that the caller fills.
    pub given: &'a [Slot],
    /// How many of the wide ones, those in front.
    pub given_wide: usize,
    /// How many more it fills, behind those of all units.
    pub inputs: usize,
    /// Bytes in front of the packet that the parser reads; the caller may have them in more slots behind
    /// its others, eight in each.
    pub front: usize,
    /// Slots that begin with a number; all others begin with zero, whatever lies in the frame.
    pub first: &'a [(Slot, u128)],
    /// The slots that the caller reads behind the last unit; all of them if none.
    pub left: Option<&'a [Slot]>,
    /// Slots into which the parser puts what nobody reads.
    pub unread: &'a dyn Fn(Slot) -> bool,
    /// Headers, by the slots of their validity, that stay in the packet, and stay invalid, if it has all
    /// their bytes. Nothing may be extracted behind one.
    pub stay: &'a [Slot],
    /// Who has code for calls.
    pub calls: &'a dyn Calls,
    /// On no way through the chain that code may load twice from one memory.
    pub loads_once: bool,
    /// No slot ever has more than its width.
    pub keeps_widths: bool,
}

/// A chain that an interpreter has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    number: usize,
    /// The first of the slots that the caller fills: behind those of all units.
    pub input: Slot,
    /// The first of those for what is in front of the packet, if machine code reads it there, and bits
    /// for those that are read.
    pub front: Option<(Slot, u8)>,
    /// Slots that a frame needs to be filled.
    pub slots: usize,
}

/// Where machine code has stopped in front of the end of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    at: To,
    /// Bits of the packet that have been read.
    position: u64,
}

/// A chain as code.
#[derive(Clone, Debug)]
pub(super) struct Joined {
    pub unit: jit_tier::Unit,
    /// Wide slots that the caller fills.
    given_wide: usize,
    /// The only unit that may read fields of invalid headers, if there is one.
    noted: Option<UnitId>,
    /// Machine code, too, begins with a frame as it should be.
    cleared: bool,
    /// Bytes for which machine code wants to have room.
    room: usize,
    /// The operation at its end.
    end: To,
}

impl Interpreter {
    /// Makes one piece of code of units; none if a run of it could not be told from runs of the units
    /// one by one.
    pub fn chain(&mut self, plan: Plan<'_>) -> Option<Chain> {
        let links = plan.links;
        let inputs = plan.inputs + plan.front.div_ceil(8);
        let codes = links.iter().map(|link| Some(&self.code[link.unit.index()].as_ref()?.code));
        let codes: Vec<&UnitCode> = codes.collect::<Option<_>>()?;
        // Steps are counted for each unit, and so are reads of invalid headers.
        if codes.iter().skip(1).any(|code| code.is_parser)
            || codes.iter().filter(|code| code.ops().iter().any(is_counted)).count() > 1
        {
            return None;
        }
        let notes = |code: &&UnitCode| code.ops().iter().any(|op| matches!(op, Op::Note { .. }));
        let mut noted =
            links.iter().zip(&codes).filter(|(_, code)| notes(code)).map(|(l, _)| l.unit);
        let (first, second) = (noted.next(), noted.next());
        if second.is_some() {
            return None;
        }
        let (noted, own) = (first, own_slots(&self.program, links));
        let make = |calls| bytecode::chain(&self.program, &plan, inputs, calls);
        let mut code = make(plan.calls)
            .filter(|code| !plan.loads_once || !code.loads_twice())
            .or_else(|| make(&NoCode))?;
        code.leave_unread(plan.unread);
        if plan.keeps_widths {
            code.short = short_slots(&self.program, own);
        }
        code.around = Some(around(plan, own, &code)?);
        let (number, slots, input) = (self.chains.len(), code.slots, Slot(own as u32));
        let words = Slot((own + plan.inputs) as u32);
        let mut unit = jit_tier::Unit::new(code);
        if plan.front > 0 {
            unit.fronted = unit.code.fronted(words.0 as At, plan.front).map(Box::new);
        }
        let front = unit.fronted.as_deref().map(|code| (words, code.front_words(words.0 as At)));
        let cleared = unit.code.around().is_none_or(|around| around.cleared);
        let room = unit.code.most_written().min(ROOM);
        let end = unit.code.ops().iter().position(|op| matches!(op, Op::Done)).unwrap_or(0) as To;
        Arc::make_mut(&mut self.chains).push(Joined {
            unit,
            given_wide: plan.given_wide,
            noted,
            cleared,
            room,
            end,
        });
        Some(Chain { number, input, front, slots })
    }

    /// Runs a chain, on a packet from its cursor on if it begins with a parser. In the frame only the
    /// caller's slots have to be as they should. Where the parser rejects, it is as that has left it,
    /// and nothing behind it has run.
    ///
    /// # Errors
    /// As for [`Interpreter::run_control`].
    #[inline]
    pub fn run_chain<E: Externs + ?Sized>(
        &self,
        chain: &Chain,
        frame: &mut Frame,
        (mut packet, mut out): (Option<PacketIn<'_>>, Option<&mut PacketOut>),
        tables: &Tables,
        externs: &mut E,
    ) -> Result<Parsed, Halt> {
        let joined = &self.chains[chain.number];
        // Machine code that wants what is in front of the packet elsewhere is not for this.
        let machine = match chain.front {
            Some(_) => None,
            None => joined.unit.machine(self.compiler),
        };
        if machine.is_none() || joined.cleared {
            joined.begin(frame);
        }
        joined.clear_wide(frame);
        let (code, mut place) = (&joined.unit.code, ResumePoint::default());
        if let Some(machine) = machine {
            let inline_cache = unheard(tables, externs);
            let mut direct = Direct { code, machine, frame: &mut *frame, tables };
            let run = |ends: &mut Ends<'_>| direct.run(ends, &mut place, externs);
            let room = (out.as_deref_mut(), ROOM);
            if packet::move_ends(packet.as_mut(), room, inline_cache, run).is_some() {
                let consumed = packet.map_or(0, |packet| packet.position());
                return Ok(Parsed { accepted: true, error: self.errors.no_error, consumed });
            }
        }
        let context = self.context(frame, tables, packet, out);
        self.go_on((code, machine), context, &mut place, externs, joined.noted).parsed(self)
    }

    /// The same by machine code, of a packet whose front lies in the caller's slots: for how many bits of
    /// the packet what was written stands.
    ///
    /// # Errors
    /// Where machine code has stopped, for [`Interpreter::go_on_fronted`]; nothing if there is none, or not
    /// yet: nothing has happened then but to the frame.
    #[inline(always)]
    pub fn run_fronted<E: Externs + ?Sized>(
        &self,
        chain: &Chain,
        frame: &mut Frame,
        (mut packet, out): (PacketIn<'_>, Option<&mut PacketOut>),
        tables: &Tables,
        externs: &mut E,
    ) -> Result<u64, Option<Stopped>> {
        let joined = &self.chains[chain.number];
        let Some(machine) = joined.unit.machine(self.compiler) else { return Err(None) };
        if joined.cleared {
            joined.begin(frame);
        }
        joined.clear_wide(frame);
        let inline_cache = unheard(tables, externs);
        let slots = &mut frame.narrow;
        let run = |ends: &mut Ends<'_>| machine.run(slots, ends, 0);
        let at = packet::move_ends(Some(&mut packet), (out, joined.room), inline_cache, run);
        let position = packet.position();
        if at == joined.end { Ok(position) } else { Err(Some(Stopped { at, position })) }
    }

    /// Goes on where machine code has stopped, on the same frame, with the same packet from its front on and
    /// what was written already; none if it has stopped in the first unit.
    #[inline(never)]
    pub fn go_on_fronted<E: Externs + ?Sized>(
        &self,
        chain: &Chain,
        stopped: Stopped,
        frame: &mut Frame,
        (mut packet, mut out): (PacketIn<'_>, Option<&mut PacketOut>),
        tables: &Tables,
        externs: &mut E,
    ) -> Option<Result<u64, Halt>> {
        let joined = &self.chains[chain.number];
        let machine = joined.unit.machine(self.compiler)?;
        let code = &joined.unit.code;
        packet.advance(stopped.position);
        let mut place = ResumePoint::at(stopped.at);
        let mut direct = Direct { code, machine, frame: &mut *frame, tables };
        let inline_cache = unheard(tables, externs);
        let run = |ends: &mut Ends<'_>| direct.go_on(ends, &mut place, externs);
        let room = (out.as_deref_mut(), joined.room);
        if packet::move_ends(Some(&mut packet), room, inline_cache, run).is_some() {
            return Some(Ok(packet.position()));
        }
        if !code.is_behind_first_unit(&place) {
            return None;
        }
        let context = self.context(frame, tables, Some(packet), out);
        let run = self.go_on((code, Some(machine)), context, &mut place, externs, joined.noted);
        Some(run.parsed(self).map(|parsed| parsed.consumed))
    }
}

impl Joined {
    /// Makes the wide slots zero that begin like that.
    #[inline]
    fn clear_wide(&self, frame: &mut Frame) {
        if !frame.wide.is_empty() {
            frame.wide.iter_mut().skip(self.given_wide).for_each(BigUint::set_zero);
        }
    }

    /// Makes a frame as it is at the beginning.
    #[inline(never)]
    fn begin(&self, frame: &mut Frame) {
        let Some(FrameFacts { begun, first, .. }) = self.unit.code.around() else { return };
        begun.iter().for_each(|slots| frame.clear_slots(slots.start.into()..slots.end.into()));
        for (slot, value) in first {
            frame.set(Slot((*slot).into()), *value);
        }
    }
}

/// What is known of the frame around a chain with so many slots of its units.
fn around(plan: Plan<'_>, own: usize, code: &UnitCode) -> Option<FrameFacts> {
    let at = |slot: &Slot| At::try_from(slot.0).ok();
    let first = plan.first.iter().map(|(slot, value)| Some((at(slot)?, *value)));
    let left = plan.left.map(|left| left.iter().map(at).collect::<Option<Vec<At>>>());
    Some(FrameFacts {
        begun: others(plan.given, At::try_from(own).ok()?),
        first: first.collect::<Option<_>>()?,
        // Where all have to be there anyway, it is cheaper to begin with them.
        cleared: code.stops_with_all(),
        left: left.map_or(Some(None), |left| left.map(Some))?,
    })
}

/// The slots in front of `end` that are none of these, one behind the other.
fn others(slots: &[Slot], end: At) -> Vec<Range<At>> {
    let mut others: Vec<Range<At>> = Vec::new();
    for at in (0..end).filter(|at| !slots.contains(&Slot((*at).into()))) {
        match others.last_mut().filter(|last| last.end == at) {
            Some(last) => last.end += 1,
            None => others.push(at..at + 1),
        }
    }
    others
}

/// Of the slots in front of `end`, which have at most 64 bits in all units.
fn short_slots(program: &Program, end: usize) -> Vec<bool> {
    let is_short = |at: usize| {
        let infos = program.units.iter().filter_map(|unit| unit.slots.get(at));
        infos.into_iter().all(|info| info.scalar.width() <= 64)
    };
    (0..end).map(is_short).collect()
}

fn is_counted(op: &Op) -> bool {
    matches!(op, Op::State | Op::Round)
}

/// Slots of the unit that has most.
fn own_slots(program: &Program, links: &[Link]) -> usize {
    links.iter().map(|link| program.units[link.unit.index()].slots.len()).max().unwrap_or(0)
}

#[cfg(test)]
pub(super) mod tests;
