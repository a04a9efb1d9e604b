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

/// A unit of a chain, with the frame operations in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The unit.
    pub unit: UnitId,
    /// The chain ends in front of this link if one of these slots of at most 64 bits has the value.
    pub ends_if: Vec<(Slot, u64)>,
    /// Slots to copy, from and to, in this order.
    pub moves: Vec<(Slot, Slot)>,
    /// Slots set to constants after the moves.
    pub sets: Vec<(Slot, u128)>,
}

impl Link {
    /// A unit without frame operations.
    pub fn plain(unit: UnitId) -> Link {
        Link { unit, ends_if: Vec::new(), moves: Vec::new(), sets: Vec::new() }
    }
}

/// Composition of a chain.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// Units, of which only the first may be a parser.
    pub links: &'a [Link],
    /// Slots of the units that the caller fills.
    pub given: &'a [Slot],
    /// Number of leading wide slots that the caller fills.
    pub given_wide: usize,
    /// Number of further slots that the caller fills, behind those of all units.
    pub inputs: usize,
    /// Bytes in front of the packet that the parser reads; the caller may hold them in slots behind
    /// its others, eight bytes in each.
    pub front: usize,
    /// Slots with an initial number; all others begin with zero, whatever the frame contains.
    pub first: &'a [(Slot, u128)],
    /// Slots that the caller reads after the last unit; `None` for all.
    pub left: Option<&'a [Slot]>,
    /// True for slots whose extracted value is never read.
    pub unread: &'a dyn Fn(Slot) -> bool,
    /// Headers, by the slots of their validity, that stay in the packet, and stay invalid, if the
    /// packet has all their bytes. No header may be extracted behind one.
    pub stay: &'a [Slot],
    /// Code generator for calls.
    pub calls: &'a dyn Calls,
    /// True if generated code must not load twice from one memory on any path.
    pub loads_once: bool,
    /// True if no slot ever exceeds its width.
    pub keeps_widths: bool,
}

/// A chain of an interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    number: usize,
    /// First of the slots that the caller fills, behind those of all units.
    pub input: Slot,
    /// First slot of the packet's front, if machine code reads it there, and the bit set of the
    /// slots it reads.
    pub front: Option<(Slot, u8)>,
    /// Number of slots of the frame.
    pub slots: usize,
}

/// Position at which machine code stopped before the end of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    at: To,
    /// Bits of the packet read so far.
    position: u64,
}

/// Code of a chain.
#[derive(Clone, Debug)]
pub(super) struct Joined {
    pub unit: jit_tier::Unit,
    /// Wide slots that the caller fills.
    given_wide: usize,
    /// The only unit that may read fields of invalid headers, if any.
    noted: Option<UnitId>,
    /// True if machine code requires an initialised frame.
    cleared: bool,
    /// Bytes of room that machine code requires.
    room: usize,
    /// Its last operation.
    end: To,
}

impl Interpreter {
    /// Compiles units into one piece of code; `None` if its run could differ from runs of the units
    /// one by one.
    pub fn chain(&mut self, plan: Plan<'_>) -> Option<Chain> {
        let links = plan.links;
        let inputs = plan.inputs + plan.front.div_ceil(8);
        let codes = links.iter().map(|link| Some(&self.code[link.unit.index()].as_ref()?.code));
        let codes: Vec<&UnitCode> = codes.collect::<Option<_>>()?;
        // Steps and reads of invalid headers are counted for each unit.
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

    /// Runs a chain, on a packet from its cursor on if it begins with a parser. Only the caller's
    /// slots of the frame need to be set. If the parser rejects, the frame is as the parser left
    /// it, and no later unit has run.
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
        // Machine code that expects the packet's front in slots cannot run here.
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

    /// Runs a chain by machine code on a packet whose front is in the caller's slots. Returns the
    /// number of bits of the packet that the output replaces.
    ///
    /// # Errors
    /// Returns the position at which machine code stopped, for [`Interpreter::go_on_fronted`];
    /// `None` if there is no machine code yet, in which case only the frame has changed.
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

    /// Continues where machine code stopped, on the same frame, the same packet from its front on
    /// and the same output; `None` if it stopped in the first unit.
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
    /// Clears the wide slots with initial value zero.
    #[inline]
    fn clear_wide(&self, frame: &mut Frame) {
        if !frame.wide.is_empty() {
            frame.wide.iter_mut().skip(self.given_wide).for_each(BigUint::set_zero);
        }
    }

    /// Initialises a frame.
    #[inline(never)]
    fn begin(&self, frame: &mut Frame) {
        let Some(FrameFacts { begun, first, .. }) = self.unit.code.around() else { return };
        begun.iter().for_each(|slots| frame.clear_slots(slots.start.into()..slots.end.into()));
        for (slot, value) in first {
            frame.set(Slot((*slot).into()), *value);
        }
    }
}

/// Known facts about the frame of a chain with `own` slots of its units.
fn around(plan: Plan<'_>, own: usize, code: &UnitCode) -> Option<FrameFacts> {
    let at = |slot: &Slot| At::try_from(slot.0).ok();
    let first = plan.first.iter().map(|(slot, value)| Some((at(slot)?, *value)));
    let left = plan.left.map(|left| left.iter().map(at).collect::<Option<Vec<At>>>());
    Some(FrameFacts {
        begun: others(plan.given, At::try_from(own).ok()?),
        first: first.collect::<Option<_>>()?,
        // If all slots must be current anyway, initialising them first is cheaper.
        cleared: code.stops_with_all(),
        left: left.map_or(Some(None), |left| left.map(Some))?,
    })
}

/// Ranges of the slots in front of `end` that are not among these.
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

/// For each slot in front of `end`, whether it has at most 64 bits in all units.
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

/// Number of slots of the largest unit.
fn own_slots(program: &Program, links: &[Link]) -> usize {
    links.iter().map(|link| program.units[link.unit.index()].slots.len()).max().unwrap_or(0)
}

#[cfg(test)]
pub(super) mod tests;
