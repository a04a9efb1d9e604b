//! The operations, and what they refer to.

use super::header::{Reader, WireHeader, Writer};
use super::select::Select;
use crate::ir::{Binary, Expr, ExprKind, ExternCall, Layout, Scalar, Slot, Stmt, TableId, Unary};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A slot of the frame: the unit's own, and temporaries behind them.
pub type At = u16;
/// Where code goes on: while it is made a label, then an operation.
pub type To = u32;

/// One operation. Operands named `a` and `b` are slots with values of at most 64 bits unless it says
/// otherwise, `value` is a constant. `cut` is 64 less the result's width: what a result has too much is
/// shifted out and back.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // Fields are as said above.
pub enum Op {
    Set {
        to: At,
        value: u64,
    },
    /// Several at once; goes on behind them.
    SetEach {
        list: u32,
        to: To,
    },
    /// A constant of more than 64 bits.
    SetLong {
        to: At,
        constant: u32,
    },
    /// Of any narrow width.
    Move {
        to: At,
        a: At,
    },

    Add {
        to: At,
        a: At,
        b: At,
        cut: u8,
    },
    AddConst {
        to: At,
        a: At,
        cut: u8,
        value: u64,
    },
    Sub {
        to: At,
        a: At,
        b: At,
        cut: u8,
    },
    /// The constant less the slot.
    SubFromConst {
        to: At,
        a: At,
        cut: u8,
        value: u64,
    },
    Mul {
        to: At,
        a: At,
        b: At,
        cut: u8,
    },
    /// Unsigned, and so the next two.
    SatAdd {
        to: At,
        a: At,
        b: At,
        cut: u8,
    },
    SatSub {
        to: At,
        a: At,
        b: At,
    },
    SatSubConst {
        to: At,
        a: At,
        value: u64,
    },
    SatSubFromConst {
        to: At,
        a: At,
        value: u64,
    },
    And {
        to: At,
        a: At,
        b: At,
    },
    AndConst {
        to: At,
        a: At,
        value: u64,
    },
    Or {
        to: At,
        a: At,
        b: At,
    },
    OrConst {
        to: At,
        a: At,
        value: u64,
    },
    Xor {
        to: At,
        a: At,
        b: At,
    },
    XorConst {
        to: At,
        a: At,
        value: u64,
    },
    /// By as many bits as the slot says, with zeros coming in.
    Shl {
        to: At,
        a: At,
        b: At,
        cut: u8,
    },
    Shr {
        to: At,
        a: At,
        b: At,
    },
    /// By less than 64 bits.
    ShlConst {
        to: At,
        a: At,
        cut: u8,
        by: u8,
    },
    /// The low 64 bits of a narrow slot, shifted left and then right, by less than 64 each.
    Shift {
        to: At,
        a: At,
        left: u8,
        right: u8,
    },
    /// `a` becomes the bits in front of `b`, which has so many.
    Concat {
        to: At,
        a: At,
        b: At,
        by: u8,
    },
    Equal {
        to: At,
        a: At,
        b: At,
    },
    EqualConst {
        to: At,
        a: At,
        value: u64,
    },
    Less {
        to: At,
        a: At,
        b: At,
    },
    LessConst {
        to: At,
        a: At,
        value: u64,
    },
    /// Signed; `cut` is of the operands.
    LessSigned {
        to: At,
        a: At,
        b: At,
        cut: u8,
    },
    /// On narrow slots of any width.
    Binary {
        to: At,
        a: At,
        b: At,
        what: u16,
    },
    Unary {
        to: At,
        a: At,
        what: u16,
    },
    /// `to[low + width - 1 : low] = a`, with `width` less than 64.
    Insert {
        to: At,
        a: At,
        low: u8,
        width: u8,
    },
    Copy {
        to: At,
        from: At,
        count: u16,
    },
    /// What only the tree can evaluate, of a narrow result.
    Eval {
        to: At,
        expr: u32,
    },

    /// The cell whose number is in `a`; goes on at `beyond` if there is none.
    Load {
        to: At,
        a: At,
        cells: u16,
        beyond: To,
    },
    /// Stores `b` in the cell whose number is in `a`, if there is one.
    Store {
        a: At,
        b: At,
        cells: u16,
    },
    /// What a function makes of `a`.
    Map {
        to: At,
        a: At,
        function: u16,
    },

    Jump {
        to: To,
    },
    JumpIf {
        a: At,
        to: To,
    },
    JumpUnless {
        a: At,
        to: To,
    },
    JumpEqual {
        a: At,
        b: At,
        to: To,
    },
    JumpNotEqual {
        a: At,
        b: At,
        to: To,
    },
    JumpLess {
        a: At,
        b: At,
        to: To,
    },
    JumpNotLess {
        a: At,
        b: At,
        to: To,
    },
    JumpEqualConst {
        a: At,
        to: To,
        value: u64,
    },
    JumpNotEqualConst {
        a: At,
        to: To,
        value: u64,
    },
    JumpLessConst {
        a: At,
        to: To,
        value: u64,
    },
    JumpNotLessConst {
        a: At,
        to: To,
        value: u64,
    },

    /// A field of an invalid header is read.
    Note {
        expr: u32,
    },
    /// Ends with an error that an expression has raised.
    Check,
    /// Ends with the error that the slot names.
    Fail {
        a: At,
    },
    /// Counts a round of a loop.
    Round,
    /// Begins a state of a parser.
    State,
    /// Chooses the next state, or goes on behind it.
    Select {
        select: u32,
    },
    /// The same with keys of any width, by the tree.
    SelectWide {
        select: u32,
    },
    NoMatch,
    Skip {
        bits: u64,
    },
    Advance {
        a: At,
    },
    /// Extracts several headers at once and goes on behind them, or else only the first.
    Read {
        run: u32,
        to: To,
    },
    Extract {
        header: u32,
    },
    Emit {
        header: u32,
    },
    /// Several that stand one behind the other; goes on behind them.
    EmitEach {
        header: u32,
        count: u16,
        to: To,
    },
    /// What is emitted but not prepared.
    EmitRest {
        layout: u32,
    },
    Apply {
        site: u32,
    },
    /// Ends an `apply` whose action has run.
    Applied {
        site: u32,
    },
    /// `inside` an action of a table.
    Call {
        call: u32,
        inside: bool,
    },
    /// A statement that only the tree can run; it has no other inside.
    Statement {
        stmt: u32,
    },
    Accept,
    Reject,
    Done,
}

/// How a unit's code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::interp) enum End {
    /// A control at its end, or left.
    Done,
    /// A parser that accepts.
    Accept,
    /// A parser that rejects, with this error.
    Reject(u32),
}

/// An operation on values of any narrow width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BinaryOf {
    pub op: Binary,
    /// Of the left operand.
    pub scalar: Scalar,
    /// Width of the right operand.
    pub right: u32,
}

/// The same with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnaryOf {
    Op(Unary, Scalar),
    /// To so many bits.
    Cast(Scalar, u32),
    /// So many bits from `low` on.
    Slice {
        low: u32,
        width: u32,
    },
}

/// A header to extract.
#[derive(Clone, Debug)]
pub(super) struct Extracted {
    pub valid: At,
    pub bits: u32,
    pub layout: Layout,
    /// Where its fields lie, if that is known beforehand.
    pub wire: Option<WireHeader>,
}

/// Headers that are extracted at once.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub reader: Reader,
    /// The operation in whose place it stands.
    pub first: Op,
}

/// A header to emit.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// Its validity: a slot.
    pub valid: At,
    /// What it is written by.
    pub writer: Writer,
}

/// Key elements of a table that is looked up without more ado.
pub(super) const FEW_KEYS: usize = 4;

/// Where an action's data goes: slots, each with the mask of its width.
pub(super) type Data = Box<[(At, u128)]>;

/// A place where a table is applied.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub table: TableId,
    /// The slots of its key elements; none if one is wide, so that the tree has to look it up.
    pub keys: Option<Box<[At]>>,
    /// A few keys, none of which selects a group's member, and actions without wide data.
    pub plain: bool,
    /// Where each action's data goes.
    pub data: Box<[Data]>,
    pub hit: Option<Slot>,
    pub action: Option<Slot>,
    /// Where each action begins.
    pub actions: Box<[To]>,
    /// [`Op::Applied`] of this site.
    pub none: To,
    /// Behind that.
    pub end: To,
}

/// A unit as code.
#[derive(Clone, Debug, Default)]
pub struct UnitCode {
    pub(super) ops: Box<[Op]>,
    /// The unit's own slots; temporaries are behind them.
    pub(super) own: usize,
    pub(in crate::interp) is_parser: bool,
    /// Slots that it needs, temporaries included.
    pub(in crate::interp) slots: usize,
    pub(super) constants: Vec<u128>,
    pub(super) sets: Vec<Box<[(At, u64)]>>,
    pub(super) binaries: Vec<BinaryOf>,
    pub(super) unaries: Vec<UnaryOf>,
    pub(super) exprs: Vec<Expr>,
    pub(super) stmts: Vec<Stmt>,
    pub(super) calls: Vec<ExternCall>,
    pub(super) selects: Vec<Select>,
    pub(super) wide_selects: Vec<super::select::WideSelect>,
    pub(super) extracted: Vec<Extracted>,
    pub(super) runs: Vec<Run>,
    pub(super) emitted: Vec<Emitted>,
    pub(super) layouts: Vec<Layout>,
    pub(super) sites: Vec<Site>,
    /// Memory that it shares with whoever made it.
    pub(super) cells: Vec<Cells>,
    pub(super) functions: Vec<Function>,
    /// How its slots are at the beginning and which matter behind it, if not all.
    pub(in crate::interp) around: Option<Around>,
    /// Of a chain, how many operations are those of its first unit.
    pub(in crate::interp) first_unit: usize,
}

/// Cells of 64 bits. Whoever has them may look at them and write them between two runs.
pub type Cells = Arc<[AtomicU64]>;

/// A function of one word, which has no state.
#[derive(Clone)]
pub struct Function(pub Arc<dyn Fn(u64) -> u64 + Send + Sync>);

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

/// What an operation reads.
#[derive(Clone, Debug)]
pub struct ReadBy {
    /// These slots, temporaries among them.
    pub slots: Vec<At>,
    /// Any of the unit's own, beside those.
    pub own: bool,
}

/// What is known of the frame around a run that begins with the first operation.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// The slots that are the caller's to fill. Of the unit's own all others are zero at the
    /// beginning, but for these:
    pub inputs: Range<At>,
    /// Slots that begin with a number other than zero.
    pub first: Vec<(At, u128)>,
    /// The frame has them like that. If not, it has anything, and machine code begins with them
    /// whatever lies there.
    pub cleared: bool,
    /// The unit's own slots that are read behind its end, unless a parser rejects; all if none.
    pub left: Option<Vec<At>>,
}

impl UnitCode {
    /// The operations; the first one is where it begins.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Slots that it needs: the unit's own, and temporaries, which nobody else looks at, behind them.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// True for a slot that only the code itself knows.
    pub fn is_temporary(&self, at: At) -> bool {
        usize::from(at) >= self.own
    }

    /// The slots of an [`Op::SetEach`], each with its value.
    pub fn sets(&self, list: u32) -> &[(At, u64)] {
        &self.sets[list as usize]
    }

    /// The constant of an [`Op::SetLong`].
    pub fn constant(&self, constant: u32) -> u128 {
        self.constants[constant as usize]
    }

    /// What an [`Op::Read`] reads.
    pub fn reader(&self, run: u32) -> &Reader {
        &self.runs[run as usize].reader
    }

    /// The memory that operations load from and store in, by the numbers that they have.
    pub fn cells(&self) -> &[Cells] {
        &self.cells
    }

    /// The functions of [`Op::Map`], by the numbers that it has.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// What is known of the frame around a run; nothing of a unit whose caller has filled all of it.
    pub fn around(&self) -> Option<&Around> {
        self.around.as_ref()
    }

    /// The headers of an [`Op::EmitEach`], or that of an [`Op::Emit`].
    pub fn emitted(&self, header: u32, count: u16) -> &[Emitted] {
        let first = header as usize;
        &self.emitted[first..first + usize::from(count)]
    }

    /// Where it may go on behind an operation that is executed without machine code.
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
            // A call that suspends is made again.
            Op::Call { .. } => goes_on(at as To),
            _ => {}
        }
        goes_on(at as To + 1);
    }

    /// True if nobody asks what the table found once its action has run: [`Op::Applied`] may be left
    /// out.
    pub fn ends_unseen(&self, site: u32) -> bool {
        let site = &self.sites[site as usize];
        site.hit.is_none() && site.action.is_none()
    }

    /// What an operation reads which is executed without machine code, and whoever goes on behind the
    /// last one.
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

    /// The slots of headers that are emitted.
    fn read_by_emit(&self, header: u32, count: u16) -> Vec<At> {
        let mut read = Vec::new();
        for Emitted { valid, writer } in self.emitted(header, count) {
            read.push(*valid);
            read.extend(writer.pieces.iter().map(|piece| piece.a));
        }
        read
    }

    /// The bits behind the cursor that an operation looks at, from one to the next, if it is a lookahead
    /// in eight bytes whose success is asked for at once.
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

    /// The same where the first `bytes` bytes of what is parsed lie in slots from `words` on, for machine
    /// code; none if not each way through the parser, which is the first unit, begins with reading
    /// those, or if it has effects before it accepts.
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
        // Nothing leads back to the first read.
        let mut back = false;
        for at in first + 1..self.first_unit {
            self.followed_by(at, |to| back |= to as usize <= first);
        }
        let mut code = self.clone();
        let run = &mut code.runs[run as usize];
        run.reader = run.reader.fronted(words, bytes)?;
        (!back).then_some(code)
    }

    /// Bits for the slots from `words` on that are read as what is in front of the packet.
    pub(in crate::interp) fn front_words(&self, words: At) -> u8 {
        let read = self.runs.iter().flat_map(|run| &run.reader.front).flat_map(|read| read.words);
        read.fold(0, |bits, word| bits | 1 << (word - words))
    }

    /// True if it stops at operations which may read any slot of the unit's own: other than where a
    /// parser rejects, or extracts what the packet does not have whole.
    pub(in crate::interp) fn stops_with_all(&self) -> bool {
        self.ops.iter().any(|op| match op {
            Op::Call { .. } | Op::Statement { .. } | Op::EmitRest { .. } => true,
            Op::Apply { .. } => self.read_by(op).own,
            _ => false,
        }) || (0..self.ops.len())
            .any(|at| matches!(self.ops[at], Op::Eval { .. }) && self.looks_ahead(at).is_none())
    }

    /// True if there is a way through it on which it loads twice from one memory.
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

    /// Where it may go on behind an operation.
    fn followed_by(&self, at: usize, mut goes_on: impl FnMut(To)) {
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

    /// Extracts nothing into these slots, where headers are read at once.
    pub(in crate::interp) fn leave_unread(&mut self, unread: impl Fn(Slot) -> bool) {
        self.runs.iter_mut().for_each(|run| run.reader.leave_unread(&unread));
    }
}

impl Op {
    /// True for what needs nothing but slots.
    #[inline]
    pub fn is_on_slots(&self) -> bool {
        !matches!(
            self,
            Op::Eval { .. }
                | Op::Note { .. }
                | Op::Check
                | Op::Fail { .. }
                | Op::Round
                | Op::State
                | Op::Select { .. }
                | Op::SelectWide { .. }
                | Op::NoMatch
                | Op::Skip { .. }
                | Op::Advance { .. }
                | Op::Read { .. }
                | Op::Extract { .. }
                | Op::Emit { .. }
                | Op::EmitEach { .. }
                | Op::EmitRest { .. }
                | Op::Apply { .. }
                | Op::Applied { .. }
                | Op::Call { .. }
                | Op::Statement { .. }
                | Op::Accept
                | Op::Reject
                | Op::Done
        )
    }

    /// Where it may go on other than behind itself, if that is written in it.
    pub fn target(&mut self) -> Option<&mut To> {
        match self {
            Op::Jump { to }
            | Op::JumpIf { to, .. }
            | Op::JumpUnless { to, .. }
            | Op::JumpEqual { to, .. }
            | Op::JumpNotEqual { to, .. }
            | Op::JumpLess { to, .. }
            | Op::JumpNotLess { to, .. }
            | Op::JumpEqualConst { to, .. }
            | Op::JumpNotEqualConst { to, .. }
            | Op::JumpLessConst { to, .. }
            | Op::JumpNotLessConst { to, .. }
            | Op::Load { beyond: to, .. } => Some(to),
            _ => None,
        }
    }
}
