//! Bytecode operations and the data that they refer to.

use super::dataflow::FrameFacts;
use super::header::{Reader, WireHeader, Writer};
use super::select::Select;
use crate::ir::{Binary, Expr, ExternCall, Layout, Scalar, Slot, Stmt, TableId, Unary};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A slot of the frame: those of units, and temporaries behind them.
pub type At = u16;
/// Jump target: a label during generation, then the index of an operation.
pub type To = u32;

/// One operation. Operands `a` and `b` are slots with values of at most 64 bits unless stated
/// otherwise, `value` is a constant. `cut` is 64 minus the result's width: excess bits of a result
/// are shifted out and back.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // Fields are as said above.
pub enum Op {
    Set {
        to: At,
        value: u64,
    },
    /// Sets several slots at once; continues at `to`, behind them.
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
    /// Unsigned, as are the next two.
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
    /// Shifts by the number of bits in a slot, filling with zeros.
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
    /// `a` becomes the bits in front of `b`, whose width is given.
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
    /// Evaluates an expression with a narrow result by the tree.
    Eval {
        to: At,
        expr: u32,
    },

    /// Loads the cell with index `a`; continues at `beyond` if there is none.
    Load {
        to: At,
        a: At,
        cells: u16,
        beyond: To,
    },
    /// Stores `b` in the cell with index `a`, if there is one.
    Store {
        a: At,
        b: At,
        cells: u16,
    },
    /// Applies a function to `a`.
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

    /// Reports the read of a field of an invalid header.
    Note {
        expr: u32,
    },
    /// Rejects if an expression has raised an error.
    Check,
    /// Rejects with the error in the slot.
    Fail {
        a: At,
    },
    /// Counts an iteration of a loop.
    Round,
    /// Begins a state of a parser.
    State,
    /// Jumps to the next state, or continues if no case matches.
    Select {
        select: u32,
    },
    /// Select on keys of any width, by the tree.
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
    /// Extracts several headers at once and continues at `to`, or else extracts only the first.
    Read {
        run: u32,
        to: To,
    },
    Extract {
        header: u32,
    },
    /// Jumps if the packet has `bytes` bytes that are not counted zeros: the header may stay in the
    /// packet.
    Stay {
        bytes: u32,
        to: To,
    },
    Emit {
        header: u32,
    },
    /// Emits several adjacent headers; continues at `to`, behind them.
    EmitEach {
        header: u32,
        count: u16,
        to: To,
    },
    /// Emits a layout that has no prepared writer, by the tree.
    EmitRest {
        layout: u32,
    },
    Apply {
        site: u32,
    },
    /// Ends an `apply` after its action.
    Applied {
        site: u32,
    },
    /// Makes a call; `inside` is true in an action of a table.
    Call {
        call: u32,
        inside: bool,
    },
    /// Runs a statement by the tree; it contains no other statement.
    Statement {
        stmt: u32,
    },
    Accept,
    Reject,
    Done,
}

/// Result of a unit's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::interp) enum End {
    /// A control reached its end, or was left.
    Done,
    /// A parser accepted.
    Accept,
    /// A parser rejected, with this error.
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

/// The same for one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnaryOf {
    Op(Unary, Scalar),
    /// To this width.
    Cast(Scalar, u32),
    /// `width` bits from `low` on.
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
    /// Positions of its fields, if they are fixed.
    pub wire: Option<WireHeader>,
}

/// Headers that are extracted at once.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub reader: Reader,
    /// The operation that this one replaces.
    pub first: Op,
}

/// A header to emit.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// Slot of its validity.
    pub valid: At,
    /// Writer of its fields.
    pub writer: Writer,
    /// Whether machine code writes it.
    pub kept: Elision,
}

/// Whether the header is already in the packet, as the last one read that has not been given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elision {
    /// Written.
    #[default]
    No,
    /// In the packet if it is valid.
    IfValid,
    /// Always valid, and in the packet.
    Always,
}

/// Maximum number of key elements of the fast lookup.
pub(super) const FEW_KEYS: usize = 4;

/// Destinations of an action's data: slots, each with the mask of its width.
pub type Data = Box<[(At, u128)]>;

/// An application of a table.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub table: TableId,
    /// Slots of its key elements; `None` if one is wide, so the tree performs the lookup.
    pub keys: Option<Box<[At]>>,
    /// True for few key elements, none of kind `selector`, and no wide action data.
    pub plain: bool,
    /// Destinations of each action's data.
    pub data: Box<[Data]>,
    /// True if machine code may cache the action of a key: the lookup's result is not used
    /// otherwise.
    pub kept: bool,
    pub hit: Option<Slot>,
    pub action: Option<Slot>,
    /// Start of each action.
    pub actions: Box<[To]>,
    /// Position of this site's [`Op::Applied`].
    pub none: To,
    /// Position behind it.
    pub end: To,
}

/// A call made at run time.
#[derive(Clone, Debug)]
pub(super) struct Called {
    pub call: ExternCall,
    /// Slots that it reads; `None` for any.
    pub reads: Option<Box<[At]>>,
    /// True if few packets reach it.
    pub rare: bool,
}

/// Bytecode of a unit.
#[derive(Clone, Debug, Default)]
pub struct UnitCode {
    pub(super) ops: Box<[Op]>,
    /// Number of slots in front of the temporaries: those of the largest unit, and the inputs.
    pub(super) own: usize,
    pub(in crate::interp) is_parser: bool,
    /// Number of slots, temporaries included.
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
    /// For each slot, whether it never exceeds 64 bits; unknown for slots beyond the end.
    pub(in crate::interp) short: Vec<bool>,
    /// Memory shared with the externs.
    pub(super) cells: Vec<Cells>,
    pub(super) functions: Vec<Function>,
    /// Initial slots, and the slots used afterwards, unless all are.
    pub(in crate::interp) around: Option<FrameFacts>,
    /// For a chain, the number of operations of its first unit.
    pub(in crate::interp) first_unit: usize,
    /// Bytes of room required wherever machine code starts.
    pub(super) room: Option<usize>,
}

/// Cells of 64 bits. Their owner may read and write them between two runs.
pub type Cells = Arc<[AtomicU64]>;

/// A pure function of one word.
#[derive(Clone)]
pub struct Function(pub Arc<dyn Fn(u64) -> u64 + Send + Sync>);

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

impl UnitCode {
    /// Operations; execution begins with the first.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Number of slots: those of units, then private temporaries.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// True for a temporary of this code.
    pub fn is_temporary(&self, at: At) -> bool {
        usize::from(at) >= self.own
    }

    /// True for a slot that never exceeds 64 bits, whatever writes it.
    pub fn is_short(&self, at: At) -> bool {
        self.short.get(usize::from(at)).copied().unwrap_or(false)
    }

    /// The slots of an [`Op::SetEach`], each with its value.
    pub fn sets(&self, list: u32) -> &[(At, u64)] {
        &self.sets[list as usize]
    }

    /// Bytes of room required wherever machine code starts, which then does not check for it;
    /// `None` if unknown.
    pub fn room(&self) -> Option<usize> {
        self.room
    }

    /// The constant of an [`Op::SetLong`].
    pub fn constant(&self, constant: u32) -> u128 {
        self.constants[constant as usize]
    }

    /// Reader of an [`Op::Read`].
    pub fn reader(&self, run: u32) -> &Reader {
        &self.runs[run as usize].reader
    }

    /// Memories of loads and stores, by index.
    pub fn cells(&self) -> &[Cells] {
        &self.cells
    }

    /// Functions of [`Op::Map`], by index.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Known facts about the frame of a run; `None` for a unit whose caller fills the whole frame.
    pub fn around(&self) -> Option<&FrameFacts> {
        self.around.as_ref()
    }

    /// Headers of an [`Op::EmitEach`] or an [`Op::Emit`].
    pub fn emitted(&self, header: u32, count: u16) -> &[Emitted] {
        let first = header as usize;
        &self.emitted[first..first + usize::from(count)]
    }

    /// Removes these slots from the headers that are read at once.
    pub(in crate::interp) fn leave_unread(&mut self, unread: impl Fn(Slot) -> bool) {
        self.runs.iter_mut().for_each(|run| run.reader.leave_unread(&unread));
    }
}

/// Pattern of the operations that need more than slots: the packet, a table, an extern, the path of
/// execution. It lists them, so that a new operation does not compile before somebody has decided
/// where it belongs.
macro_rules! beyond_slots {
    () => {
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
    };
}
pub(in crate::interp::bytecode) use beyond_slots;

impl Op {
    /// True for an operation that uses slots only.
    #[inline]
    pub fn is_on_slots(&self) -> bool {
        !matches!(self, beyond_slots!())
    }

    /// Explicit jump target of the operation.
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
