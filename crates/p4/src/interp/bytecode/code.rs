//! The operations, and what they refer to.

use super::dataflow::FrameFacts;
use super::header::{Reader, WireHeader, Writer};
use super::select::Select;
use crate::ir::{Binary, Expr, ExternCall, Layout, Scalar, Slot, Stmt, TableId, Unary};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A slot of the frame: those of units, and temporaries behind them.
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
    /// Goes on where it says if the packet has so many bytes that are not counted zeros: a header that may
    /// stay there.
    Stay {
        bytes: u32,
        to: To,
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
    /// Whether machine code writes it.
    pub kept: Elision,
}

/// Whether a header that is emitted lies in the packet already, as the last of what has been read that is
/// not taken back yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elision {
    /// It is to be written.
    #[default]
    No,
    /// It lies there if it is valid.
    IfValid,
    /// It is always valid, and lies there.
    Always,
}

/// Key elements of a table that is looked up without more ado.
pub(super) const FEW_KEYS: usize = 4;

/// Where an action's data goes: slots, each with the mask of its width.
pub type Data = Box<[(At, u128)]>;

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
    /// What the only key led to may be kept for machine code: nobody asks what was found.
    pub kept: bool,
    pub hit: Option<Slot>,
    pub action: Option<Slot>,
    /// Where each action begins.
    pub actions: Box<[To]>,
    /// [`Op::Applied`] of this site.
    pub none: To,
    /// Behind that.
    pub end: To,
}

/// A call that is called.
#[derive(Clone, Debug)]
pub(super) struct Called {
    pub call: ExternCall,
    /// The slots that it reads; none if it may be any.
    pub reads: Option<Box<[At]>>,
    /// Few packets come to it.
    pub rare: bool,
}

/// A unit as code.
#[derive(Clone, Debug, Default)]
pub struct UnitCode {
    pub(super) ops: Box<[Op]>,
    /// As many slots as the largest unit has, and inputs; temporaries are behind them.
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
    pub(super) calls: Vec<Called>,
    pub(super) selects: Vec<Select>,
    pub(super) wide_selects: Vec<super::select::WideSelect>,
    pub(super) extracted: Vec<Extracted>,
    pub(super) runs: Vec<Run>,
    pub(super) emitted: Vec<Emitted>,
    pub(super) layouts: Vec<Layout>,
    pub(super) sites: Vec<Site>,
    /// By slot, whether it never has more than 64 bits; not known of those that are not there.
    pub(in crate::interp) short: Vec<bool>,
    /// Memory that it shares with whoever made it.
    pub(super) cells: Vec<Cells>,
    pub(super) functions: Vec<Function>,
    /// How its slots are at the beginning and which matter behind it, if not all.
    pub(in crate::interp) around: Option<FrameFacts>,
    /// Of a chain, how many operations are those of its first unit.
    pub(in crate::interp) first_unit: usize,
    /// Bytes for which there has to be room wherever machine code begins.
    pub(super) room: Option<usize>,
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

impl UnitCode {
    /// The operations; the first one is where it begins.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Slots that it needs: those of units, and temporaries, which nobody else looks at, behind them.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// True for a slot that only the code itself knows.
    pub fn is_temporary(&self, at: At) -> bool {
        usize::from(at) >= self.own
    }

    /// True for a slot that never has more than 64 bits, whoever writes it.
    pub fn is_short(&self, at: At) -> bool {
        self.short.get(usize::from(at)).copied().unwrap_or(false)
    }

    /// The slots of an [`Op::SetEach`], each with its value.
    pub fn sets(&self, list: u32) -> &[(At, u64)] {
        &self.sets[list as usize]
    }

    /// Bytes for which there has to be room wherever machine code begins, which then does not ask for
    /// it; none if it is not known beforehand.
    pub fn room(&self) -> Option<usize> {
        self.room
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
    pub fn around(&self) -> Option<&FrameFacts> {
        self.around.as_ref()
    }

    /// The headers of an [`Op::EmitEach`], or that of an [`Op::Emit`].
    pub fn emitted(&self, header: u32, count: u16) -> &[Emitted] {
        let first = header as usize;
        &self.emitted[first..first + usize::from(count)]
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
                | Op::Stay { .. }
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
            | Op::Load { beyond: to, .. }
            | Op::Stay { to, .. } => Some(to),
            _ => None,
        }
    }
}
