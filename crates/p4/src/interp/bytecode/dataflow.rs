//! Control-flow and data-flow queries on bytecode: successors, slots read, initial slots and slots
//! live at the end.
//!
//! Machine code and chains are generated from these queries; plain execution does not need them.

use super::code::{At, Data, Elision, Emitted, Op, Site, To, UnitCode};
use crate::ir::{Expr, ExprKind, StmtKind};
use std::ops::Range;

/// Slots that an operation reads.
#[derive(Clone, Debug)]
pub struct ReadBy {
    /// These slots, including temporaries.
    pub slots: Vec<At>,
    /// Any of the unit's own slots in addition.
    pub own: bool,
}

/// Lookup in a table with one key element.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'c> {
    /// Index of the table.
    pub table: usize,
    /// Slot of its key.
    pub key: At,
    /// Destinations of each action's data, with masks.
    pub data: &'c [Data],
    /// Start of each action.
    pub actions: &'c [To],
    /// Position at which it continues without an action.
    pub none: To,
}

/// Known facts about the frame of a run that begins with the first operation.
#[derive(Clone, Debug, Default)]
pub struct FrameFacts {
    /// Slots with a known initial value: zero, except those in `first`. The caller fills all
    /// others.
    pub begun: Vec<Range<At>>,
    /// Slots with another initial value than zero.
    pub first: Vec<(At, u128)>,
    /// True if the frame holds these values. Otherwise its contents are arbitrary, and machine code
    /// initialises it.
    pub cleared: bool,
    /// The unit's own slots that are read after its end, unless a parser rejects; `None` for all.
    pub left: Option<Vec<At>>,
}

impl FrameFacts {
    /// Initial value of a slot, if it is known.
    pub fn first_of(&self, slot: At) -> Option<u128> {
        let known = self.begun.iter().any(|slots| slots.contains(&slot));
        let number =
            || self.first.iter().find(|(at, _)| *at == slot).map_or(0, |(_, value)| *value);
        known.then(number)
    }
}

impl UnitCode {
    /// True if few packets reach an operation: those that a parser rejects, that lack a header, or
    /// that have one of variable size.
    pub fn is_rare(&self, at: usize) -> bool {
        match &self.ops[at] {
            Op::NoMatch | Op::Fail { .. } | Op::Check | Op::Reject | Op::Note { .. } => true,
            Op::EmitRest { .. } => true,
            Op::Call { call, .. } => self.calls[*call as usize].rare,
            Op::Statement { stmt } => {
                matches!(self.stmts[*stmt as usize].kind, StmtKind::ExtractVar { .. })
            }
            _ => false,
        }
    }

    /// Calls `goes_on` with each successor of an operation that is executed without machine code.
    pub fn behind(&self, at: usize, mut goes_on: impl FnMut(To)) {
        match &self.ops[at] {
            Op::Select { select } => {
                self.selects[*select as usize].cases.iter().for_each(|case| goes_on(case.to));
            }
            Op::SelectWide { select } => {
                let select = &self.wide_selects[*select as usize];
                select.states.iter().copied().for_each(&mut goes_on);
                goes_on(select.accept);
                goes_on(select.reject);
            }
            Op::Apply { site } => {
                let site = &self.sites[*site as usize];
                site.actions.iter().copied().for_each(&mut goes_on);
                goes_on(site.none);
                goes_on(site.end);
            }
            Op::Read { to, .. } | Op::EmitEach { to, .. } => goes_on(*to),
            Op::Accept | Op::Reject | Op::Done => return,
            // A suspended call is repeated.
            Op::Call { .. } => goes_on(at as To),
            _ => {}
        }
        goes_on(at as To + 1);
    }

    /// True if the lookup's result is unused after its action: [`Op::Applied`] is then unnecessary.
    pub fn ends_unseen(&self, site: u32) -> bool {
        let site = &self.sites[site as usize];
        site.hit.is_none() && site.action.is_none()
    }

    /// Cached lookup that an operation performs, if it is one.
    pub fn lookup(&self, at: usize) -> Option<Lookup<'_>> {
        let Op::Apply { site } = self.ops[at] else { return None };
        let Site { table, keys, data, actions, none, .. } =
            self.sites.get(site as usize).filter(|site| site.kept)?;
        let key = *keys.as_deref()?.first()?;
        Some(Lookup { table: table.index(), key, data, actions, none: *none })
    }

    /// Slots read by an operation that is executed without machine code, or by the code behind the
    /// end.
    pub fn read_by(&self, op: &Op) -> ReadBy {
        let some = |slots: Vec<At>| ReadBy { slots, own: false };
        let all = |slots: Vec<At>| ReadBy { slots, own: true };
        match op {
            Op::Binary { a, b, .. } => some(vec![*a, *b]),
            Op::Unary { a, .. } => some(vec![*a]),
            Op::Copy { from, count, .. } => some((*from..from + count).collect()),
            Op::Select { select } => {
                let mut read = Vec::new();
                let cases = &self.selects[*select as usize].cases;
                cases.iter().for_each(|case| case.reads(&mut |at| read.push(at)));
                some(read)
            }
            Op::Apply { site } => match &self.sites[*site as usize].keys {
                Some(keys) => some(keys.to_vec()),
                None => all(Vec::new()),
            },
            Op::Call { call, .. } => match &self.calls[*call as usize].reads {
                Some(slots) => some(slots.to_vec()),
                None => all(Vec::new()),
            },
            Op::EmitRest { layout } => {
                let slots = self.layouts[*layout as usize].range().narrow();
                some(slots.map(|slot| slot as At).collect())
            }
            Op::Emit { header } => some(self.read_by_emit(*header, 1)),
            Op::EmitEach { header, count, .. } => some(self.read_by_emit(*header, *count)),
            Op::Accept | Op::Done => match self.around.as_ref().and_then(|a| a.left.as_ref()) {
                Some(left) => some(left.clone()),
                None => all(Vec::new()),
            },
            Op::Applied { .. } | Op::Note { .. } | Op::Round => some(Vec::new()),
            // A parser may reject there.
            Op::Fail { a } | Op::Advance { a } => all(vec![*a]),
            _ => all(Vec::new()),
        }
    }

    /// Slots of emitted headers.
    fn read_by_emit(&self, header: u32, count: u16) -> Vec<At> {
        let mut read = Vec::new();
        for Emitted { valid, writer, kept } in self.emitted(header, count) {
            if *kept != Elision::Always {
                read.push(*valid);
            }
            if *kept == Elision::No {
                read.extend(writer.pieces.iter().map(|piece| piece.a));
            }
        }
        read
    }

    /// Slots that an operation may write, extracted headers excepted; `None` for any.
    pub fn written_by(&self, op: &Op) -> Option<Vec<At>> {
        let of_site = |site: &Site| {
            let told = [site.hit, site.action].into_iter().flatten();
            told.filter_map(|slot| At::try_from(slot.0).ok()).collect::<Vec<At>>()
        };
        Some(match *op {
            Op::Call { .. } | Op::Statement { .. } => return None,
            Op::SetEach { list, .. } => self.sets(list).iter().map(|(to, _)| *to).collect(),
            Op::Copy { to, count, .. } => (to..to + count).collect(),
            Op::Apply { site } => {
                let site = &self.sites[site as usize];
                let data = site.data.iter().flatten().map(|(to, _)| *to);
                of_site(site).into_iter().chain(data).collect()
            }
            Op::Applied { site } => of_site(&self.sites[site as usize]),
            Op::Set { to, .. }
            | Op::SetLong { to, .. }
            | Op::Move { to, .. }
            | Op::Add { to, .. }
            | Op::AddConst { to, .. }
            | Op::Sub { to, .. }
            | Op::SubFromConst { to, .. }
            | Op::Mul { to, .. }
            | Op::SatAdd { to, .. }
            | Op::SatSub { to, .. }
            | Op::SatSubConst { to, .. }
            | Op::SatSubFromConst { to, .. }
            | Op::And { to, .. }
            | Op::AndConst { to, .. }
            | Op::Or { to, .. }
            | Op::OrConst { to, .. }
            | Op::Xor { to, .. }
            | Op::XorConst { to, .. }
            | Op::Shl { to, .. }
            | Op::Shr { to, .. }
            | Op::ShlConst { to, .. }
            | Op::Shift { to, .. }
            | Op::Concat { to, .. }
            | Op::Equal { to, .. }
            | Op::EqualConst { to, .. }
            | Op::Less { to, .. }
            | Op::LessConst { to, .. }
            | Op::LessSigned { to, .. }
            | Op::Binary { to, .. }
            | Op::Unary { to, .. }
            | Op::Insert { to, .. }
            | Op::Eval { to, .. }
            | Op::Load { to, .. }
            | Op::Map { to, .. } => vec![to],
            _ => Vec::new(),
        })
    }

    /// Range of bits behind the cursor that an operation reads, if it is a lookahead within eight
    /// bytes whose success is checked at once.
    pub fn looks_ahead(&self, at: usize) -> Option<(u32, u32)> {
        let Op::Eval { expr, .. } = self.ops[at] else { return None };
        let Expr { kind: ExprKind::Lookahead { offset }, scalar, .. } = &self.exprs[expr as usize]
        else {
            return None;
        };
        let alone = at == 0 || !matches!(self.ops[at - 1], Op::Eval { .. });
        let asked = matches!(self.ops.get(at + 1), Some(Op::Check));
        let fits = scalar.width() > 0 && offset % 8 + scalar.width() <= 64;
        (alone && asked && fits).then(|| (*offset, offset + scalar.width()))
    }

    /// The same code with the first `bytes` bytes of the packet in slots from `words` on, for
    /// machine code. `None` unless every path of the parser, which is the first unit, begins with
    /// reading them and has no effects before it accepts.
    pub(in crate::interp) fn fronted(&self, words: At, bytes: usize) -> Option<UnitCode> {
        let ops = self.ops.get(..self.first_unit)?;
        let first = ops.iter().position(|op| !matches!(op, Op::Set { .. } | Op::SetEach { .. }))?;
        let Op::Read { run, .. } = ops[first] else { return None };
        let plain = |(at, op): (usize, &Op)| match op {
            Op::Read { .. } | Op::Extract { .. } | Op::Skip { .. } | Op::Fail { .. } => true,
            Op::NoMatch | Op::Check | Op::Reject | Op::Accept | Op::Note { .. } => true,
            Op::Eval { .. } => self.looks_ahead(at).is_some(),
            other => other.is_on_slots(),
        };
        if !ops.iter().enumerate().all(plain) {
            return None;
        }
        // No path leads back to the first read.
        let mut back = false;
        for at in first + 1..self.first_unit {
            self.followed_by(at, |to| back |= to as usize <= first);
        }
        let mut code = self.clone();
        let run = &mut code.runs[run as usize];
        run.reader = run.reader.fronted(words, bytes)?;
        code.keep(bytes);
        (!back).then_some(code)
    }

    /// Bit set of the slots from `words` on that are read as the front of the packet.
    pub(in crate::interp) fn front_words(&self, words: At) -> u8 {
        let read = self.runs.iter().flat_map(|run| &run.reader.front).flat_map(|read| read.words);
        read.fold(0, |bits, word| bits | 1 << (word - words))
    }

    /// True if it stops at operations that may read any slot of the unit's own. Rarely reached
    /// operations, and extractions beyond the end of the packet, do not count.
    pub(in crate::interp) fn stops_with_all(&self) -> bool {
        let stops = |(at, op): (usize, &Op)| match op {
            Op::Call { .. } | Op::Statement { .. } | Op::Apply { .. } => {
                !self.is_rare(at) && self.read_by(op).own
            }
            Op::Eval { .. } => self.looks_ahead(at).is_none(),
            _ => false,
        };
        self.ops.iter().enumerate().any(stops)
    }

    /// True if a path loads twice from one memory.
    pub(in crate::interp) fn loads_twice(&self) -> bool {
        let loads = |at: usize| match self.ops[at] {
            Op::Load { cells, .. } => Some(cells),
            _ => None,
        };
        (0..self.ops.len()).any(|first| {
            let Some(cells) = loads(first) else { return false };
            let mut seen = vec![false; self.ops.len()];
            let mut next = vec![first];
            while let Some(at) = next.pop() {
                self.followed_by(at, |to| {
                    let to = to as usize;
                    if to < seen.len() && !std::mem::replace(&mut seen[to], true) {
                        next.push(to);
                    }
                });
            }
            (0..seen.len()).any(|at| seen[at] && loads(at) == Some(cells))
        })
    }

    /// Calls `goes_on` with each successor of an operation.
    pub(super) fn followed_by(&self, at: usize, mut goes_on: impl FnMut(To)) {
        let mut op = self.ops[at];
        match op.target() {
            Some(to) => {
                goes_on(*to);
                if !matches!(op, Op::Jump { .. }) {
                    goes_on(at as To + 1);
                }
            }
            None => self.behind(at, goes_on),
        }
    }
}
