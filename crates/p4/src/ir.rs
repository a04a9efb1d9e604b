//! The intermediate representation: every instance inlined, every value a slot of a frame.
//!
//! Each parser or control passed to a package becomes one [`Unit`] with a flat frame: a scalar of
//! up to 128 bits is one narrow slot, a wider one a wide slot, a struct or header a range of slots.
//! Sub-parsers, sub-controls, functions and actions are inlined; control flow is structured (blocks
//! and loops with exits), which is easy to walk and easy to compile. Must not depend on the
//! behaviour of extern objects: a call to one is a statement that the target executes.

use crate::ast::{Annotation, Direction};
use crate::declared::Declared;
use crate::source::Span;
use crate::types::{Type, identifiers};
use num_bigint::{BigInt, BigUint};
use std::collections::BTreeMap;
use std::sync::Arc;

identifiers! {
    /// A narrow slot (at most 128 bits) of a unit's frame.
    Slot;
    /// A wide slot (any width) of a unit's frame.
    WideSlot;
    /// A unit: index into [`Program::units`].
    UnitId;
    /// An extern object: index into [`Program::objects`].
    ObjectId;
    /// A table instance: index into [`Program::tables`].
    TableId;
    /// A value set instance: index into [`Program::value_sets`].
    ValueSetId;
    /// A parser state: index into [`ParserBody::states`].
    StateId;
    /// A block or loop that can be left, unique in its unit.
    Label;
    /// A call of an external callee, unique in the program.
    CallSite;
}

/// A whole program, elaborated.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The instance called `main`.
    pub main: Option<Package>,
    /// Parsers and controls that are arguments of packages.
    pub units: Vec<Unit>,
    /// Extern objects of all units, and those at top level.
    pub objects: Vec<Object>,
    /// Tables of all units.
    pub tables: Vec<Table>,
    /// Value sets of all units.
    pub value_sets: Vec<ValueSet>,
    /// Errors: an error value is its index.
    pub errors: Vec<Arc<str>>,
    /// The number of call sites.
    pub call_sites: u32,
    /// Numeric top-level constants, and members of enums with values as `Enum.member`, for lookup
    /// by name.
    pub constants: BTreeMap<Arc<str>, BigInt>,
    /// Declarations for the control plane that no executor needs.
    pub declared: Declared,
}

/// A package instance.
#[derive(Clone, Debug)]
pub struct Package {
    /// The package type's name (`Pipeline`, `Switch`, `V1Switch`).
    pub of: Arc<str>,
    /// The architecture that the package's declaration states: `@pkginfo(arch = "TNA")`.
    pub architecture: Option<Arc<str>>,
    /// The instance's name.
    pub name: Arc<str>,
    /// Arguments with their parameters' names.
    pub args: Vec<(Arc<str>, PackageArg)>,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the instantiation.
    pub span: Span,
}

/// An argument of a package.
#[derive(Clone, Debug)]
pub enum PackageArg {
    /// Another package (a `Pipeline` in a `Switch`).
    Package(Package),
    /// A parser or control.
    Unit(UnitId),
    /// An extern object.
    Object(ObjectId),
    /// A value.
    Const(Const),
    /// Missing.
    Absent,
}

/// A value known when the program is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Const {
    /// A scalar of the given type, as its bit pattern.
    Scalar(Scalar, BigUint),
    /// A signed or unsigned number of type `int`.
    Int(num_bigint::BigInt),
    /// A string.
    String(Arc<str>),
    /// A member of an enum without representation: its index and name.
    EnumMember(u32, Arc<str>),
    /// A struct, tuple, list or stack.
    Aggregate(Vec<Const>),
}

/// The type of a scalar expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `bool`: one bit, 0 or 1.
    Bool,
    /// Unsigned: `bit<W>`; enums and errors are `Bit(32)` or their representation.
    Bit(u32),
    /// Two's complement: `int<W>`, stored as the W-bit pattern, zero-extended.
    Int(u32),
}

impl Scalar {
    /// Width in bits.
    #[inline]
    pub const fn width(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::Bit(w) | Scalar::Int(w) => w,
        }
    }

    /// True for `int<W>`.
    #[inline]
    pub const fn is_signed(self) -> bool {
        matches!(self, Scalar::Int(_))
    }

    /// True if a value fits a narrow slot.
    #[inline]
    pub const fn is_narrow(self) -> bool {
        self.width() <= 128
    }
}

/// A parser or control with everything inlined.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The declaration's name.
    pub name: Arc<str>,
    /// Its runtime parameters.
    pub params: Vec<Param>,
    /// Contents of each narrow slot, for messages and measurement.
    pub slots: Vec<SlotInfo>,
    /// Contents of each wide slot.
    pub wide_slots: Vec<SlotInfo>,
    /// Body.
    pub body: Body,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// Body of a unit.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The variants say what their fields are.
pub enum Body {
    /// A control: its local initialisation and `apply` block. `exit` is a [`StmtKind::Leave`] of
    /// `exit_label`, which encloses everything.
    Control { exit_label: Label, stmts: Vec<Stmt> },
    /// A parser.
    Parser(ParserBody),
}

/// The state machine of a parser, sub-parsers inlined.
#[derive(Clone, Debug)]
pub struct ParserBody {
    /// Local initialisation.
    pub init: Vec<Stmt>,
    /// All states.
    pub states: Vec<State>,
    /// Start state.
    pub start: StateId,
}

/// A parser state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name; states of sub-parsers are `instance.state`.
    pub name: Arc<str>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Transition at the end.
    pub transition: Transition,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// Transition of a state.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The variants say what their fields are.
pub enum Transition {
    /// Unconditional.
    Direct(Next),
    /// The first case whose patterns all match; without one the parser fails with `NoMatch`.
    Select { keys: Vec<Expr>, cases: Vec<SelectCase>, span: Span },
}

/// The target of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another state.
    State(StateId),
    /// Accepts.
    Accept,
    /// Rejects; the error is unchanged.
    Reject,
}

/// A case of a select.
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// One pattern per key.
    pub patterns: Vec<Pattern>,
    /// Next state.
    pub next: Next,
}

/// Pattern of a key. Values are bit patterns of the key's width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Equal.
    Value(BigUint),
    /// Equal under the mask: (value, mask).
    Mask(BigUint, BigUint),
    /// Between, both included; signed if the key is.
    Range(BigUint, BigUint),
    /// Anything.
    Any,
    /// In the value set; covers this key and the `columns - 1` that follow, whose patterns are `Any`.
    ValueSet(ValueSetId),
}

/// A runtime parameter of a unit or of a method.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: Arc<str>,
    /// Its direction.
    pub direction: Direction,
    /// Its type.
    pub ty: Type,
    /// Layout in the frame.
    pub layout: Layout,
}

/// End of the path of a slot that holds the validity of a header.
pub(crate) const VALIDITY: &str = ".$valid$";

impl Unit {
    /// The path of the header whose validity a slot holds, if it holds one.
    pub fn validity_of(&self, slot: Slot) -> Option<&str> {
        self.slots.get(slot.index())?.name.strip_suffix(VALIDITY)
    }
}

/// Contents of a slot.
#[derive(Clone, Debug)]
pub struct SlotInfo {
    /// A path such as `hdr.ipv4.ttl`, `meta.now`, `hdr.ipv4.$valid$`.
    pub name: Arc<str>,
    /// Its type.
    pub scalar: Scalar,
    /// True for slots generated by elaboration.
    pub temporary: bool,
    /// Span of the variable's declaration.
    pub span: Span,
}

/// Location of a value of any type in the frame. Equal types have layouts that differ only in their
/// start, and each layout covers one contiguous range of narrow slots and one of wide slots, so a
/// value is copied by copying two ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The variants say what their fields are.
pub enum Layout {
    /// A scalar of at most 128 bits.
    Narrow(Slot, Scalar),
    /// A wider scalar.
    Wide(WideSlot, Scalar),
    /// A variable-size bit string: its present length in bits, its value (always a wide slot), its
    /// maximum length.
    VarBit { length: Slot, value: WideSlot, max: u32 },
    /// A header: its validity, then its fields in order.
    Header { valid: Slot, fields: Vec<Layout>, ty: Type },
    /// A header union: its members.
    Union { members: Vec<Layout>, ty: Type },
    /// A struct, tuple or list.
    Struct { fields: Vec<Layout>, ty: Type },
    /// A stack: `nextIndex`, then its elements.
    Stack { next: Slot, elements: Vec<Layout>, ty: Type },
    /// An extern object such as `packet_in`: not in the frame.
    Object,
}

/// A value passed to an external callee, shaped like its type.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The variants say what their fields are.
pub enum Value {
    /// A scalar.
    Scalar(Expr),
    /// A variable-size bit string: length and value.
    VarBit(Expr, Expr),
    /// A header: validity and fields.
    Header { valid: Expr, fields: Vec<Value>, ty: Type },
    /// A union, by its members.
    Union { members: Vec<Value>, ty: Type },
    /// A struct, tuple or list.
    Struct { fields: Vec<Value>, ty: Type },
    /// A stack.
    Stack { next: Expr, elements: Vec<Value>, ty: Type },
    /// A string.
    String(Arc<str>),
}

/// An extern object.
#[derive(Clone, Debug)]
pub struct Object {
    /// The extern's name (`Register`).
    pub of: Arc<str>,
    /// Type arguments.
    pub type_args: Vec<Type>,
    /// The control-plane name: `SwitchEgress.codel.dropping`.
    pub name: Arc<str>,
    /// The enclosing unit; `None` at top level.
    pub unit: Option<UnitId>,
    /// Constructor, by index in the declaration.
    pub constructor: u32,
    /// Constructor arguments with their parameters' names.
    pub args: Vec<(Arc<str>, ObjectArg)>,
    /// Implementations of abstract methods; they may use the slots of `unit`.
    pub methods: Vec<Method>,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the instantiation.
    pub span: Span,
}

/// An argument of an extern object's constructor.
#[derive(Clone, Debug)]
pub enum ObjectArg {
    /// A value.
    Const(Const),
    /// Another object (a `RegisterAction`'s register).
    Object(ObjectId),
    /// Missing.
    Absent,
}

/// A method that the program implements.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name.
    pub name: Arc<str>,
    /// Its parameters, as slots of the unit.
    pub params: Vec<Param>,
    /// Layout of its result, if it returns one.
    pub returns: Option<Layout>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Span of the declaration.
    pub span: Span,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// The control-plane name: `SwitchIngress.forward`.
    pub name: Arc<str>,
    /// The enclosing unit.
    pub unit: UnitId,
    /// Its key.
    pub keys: Vec<Key>,
    /// The actions it may run.
    pub actions: Vec<TableAction>,
    /// Default action: index into `actions`, and the action data; with `None` a miss has no effect,
    /// and the control plane cannot set one.
    pub default_action: Option<(u32, Vec<BigUint>)>,
    /// True if the control plane may not change it.
    pub const_default_action: bool,
    /// Entries in the program.
    pub entries: Vec<Entry>,
    /// True if the control plane may not change them.
    pub const_entries: bool,
    /// `size`, if given.
    pub size: Option<u64>,
    /// Other properties (`implementation`, `registers`, `counters`, ...).
    pub properties: Vec<(Arc<str>, ObjectArg)>,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// A key element.
#[derive(Clone, Debug)]
pub struct Key {
    /// Key expression.
    pub expr: Expr,
    /// `exact`, `ternary`, `lpm`, `range`, `selector`, ...
    pub match_kind: Arc<str>,
    /// The control-plane name.
    pub name: Arc<str>,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Source span.
    pub span: Span,
}

/// An action of a table, inlined.
#[derive(Clone, Debug)]
pub struct TableAction {
    /// The control-plane name: `SwitchIngress.send`.
    pub name: Arc<str>,
    /// Action data: name and layout (always scalars).
    pub data: Vec<(Arc<str>, Layout)>,
    /// Statements.
    pub body: Vec<Stmt>,
    /// `@defaultonly`
    pub default_only: bool,
    /// `@tableonly`
    pub table_only: bool,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// An entry in the program.
#[derive(Clone, Debug)]
pub struct Entry {
    /// One pattern per key.
    pub patterns: Vec<Pattern>,
    /// Index into [`Table::actions`].
    pub action: u32,
    /// Action data.
    pub data: Vec<BigUint>,
    /// Larger wins.
    pub priority: i64,
    /// True if the control plane may not change this entry, even if it may change the others.
    pub is_const: bool,
    /// Source span.
    pub span: Span,
}

/// A parser value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// The control-plane name.
    pub name: Arc<str>,
    /// The scalars of an element and the match kind of each (`exact` unless annotated `@match`).
    pub columns: Vec<(Scalar, Arc<str>)>,
    /// Its size.
    pub size: u64,
    /// Span of the declaration.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Kind of the statement.
    pub kind: StmtKind,
    /// Source span.
    pub span: Span,
}

/// The forms of a statement.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // Each variant says what its fields are.
pub enum StmtKind {
    /// Sets a narrow slot to a value of its width.
    Set(Slot, Expr),
    /// Sets a wide slot to a value of its width.
    SetWide(WideSlot, Expr),
    /// `slot[high:low] = value`; the other bits do not change.
    SetSlice { target: Slot, high: u32, low: u32, value: Expr },
    /// The same for a wide slot.
    SetWideSlice { target: WideSlot, high: u32, low: u32, value: Expr },
    /// Sets a slot chosen at run time: `base + stride * index`; no effect beyond `count`.
    SetElement { base: Slot, stride: u32, count: u32, index: Expr, value: Expr },
    /// The same for a wide slot.
    SetWideElement { base: WideSlot, stride: u32, count: u32, index: Expr, value: Expr },
    /// Copies two equal ranges of slots (assignment of a whole struct): from, to, and their number.
    Copy { narrow: (Slot, Slot, u32), wide: (WideSlot, WideSlot, u32) },
    /// `if`
    If { condition: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    /// `switch` on a value.
    Switch { subject: Expr, cases: Vec<(Vec<BigUint>, Vec<Stmt>)>, default: Vec<Stmt> },
    /// Statements that [`StmtKind::Leave`] can leave: an inlined call left by `return`, a loop left
    /// by `break`, or an iteration left by `continue`.
    Block { label: Label, body: Vec<Stmt> },
    /// Repeats the body until it is left.
    Loop { label: Label, body: Vec<Stmt> },
    /// Continues behind the block or loop with this label.
    Leave(Label),
    /// Applies a table. `hit` becomes 1 or 0, `action` the index of the action that ran (the
    /// default action's on a miss), if they are used.
    Apply { table: TableId, hit: Option<Slot>, action: Option<Slot> },
    /// Calls an external callee.
    Call(ExternCall),
    /// `pkt.extract(header)` of a header with this width; sets its validity, or fails with
    /// `PacketTooShort`.
    Extract { header: Layout, bits: u32 },
    /// `pkt.extract(header, bits)` with a variable-size field.
    ExtractVar { header: Layout, bits: Expr },
    /// `pkt.extract(stack.next)`; fails with `StackOutOfBounds` if there is no next element.
    ExtractNext { stack: Layout },
    /// `pkt.extract(_)` of a header type: skips its bits.
    Skip { header: Type, bits: u32 },
    /// `pkt.advance(bits)`
    Advance { bits: Expr },
    /// `verify(condition, error)`: fails with the error if the condition is false.
    Verify { condition: Expr, error: Expr },
    /// Fails with `StackOutOfBounds` if `stack.last` or `stack.next` does not exist.
    CheckStack { next: Slot, count: u32, last: bool },
    /// `pkt.emit(...)`: appends the valid headers of the value in order.
    Emit(Layout),
    /// `stack.push_front(n)`
    PushFront { stack: Layout, count: u32 },
    /// `stack.pop_front(n)`
    PopFront { stack: Layout, count: u32 },
}

/// A call of an extern method or function.
#[derive(Clone, Debug)]
pub struct ExternCall {
    /// Call site, for data that a target prepares when the program is loaded.
    pub site: CallSite,
    /// The object; `None` for an extern function. Inside a method body `this` is its own object.
    pub object: Option<ObjectId>,
    /// The method's or function's name.
    pub name: Arc<str>,
    /// Overload, by index in the declaration (functions: 0).
    pub method: u32,
    /// Type arguments.
    pub type_args: Vec<Type>,
    /// Arguments in the order of the parameters.
    pub args: Vec<Arg>,
    /// Layout of the result, if it is used and there is one.
    pub result: Option<Layout>,
    /// The result's type.
    pub returns: Type,
    /// The whole call.
    pub span: Span,
}

/// An argument of an external call.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A value.
    In(Value),
    /// A location that is written.
    Out(Layout),
    /// A location that is read and written.
    InOut(Layout),
    /// An object.
    Object(ObjectId),
    /// The packet (a passed `packet_in` or `packet_out`).
    Packet,
    /// `_` or missing.
    Absent,
}

/// A scalar expression. Operands have no side effects, so order does not matter and evaluation
/// cannot fail.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Kind of the expression.
    pub kind: ExprKind,
    /// Its type.
    pub scalar: Scalar,
    /// Source span.
    pub span: Span,
}

/// The forms of a scalar expression.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The variants say what their fields are.
pub enum ExprKind {
    /// A constant of at most 128 bits.
    Const(u128),
    /// A wider constant.
    WideConst(BigUint),
    /// A narrow slot.
    Slot(Slot),
    /// A wide slot.
    WideSlot(WideSlot),
    /// A slot chosen at run time: `base + stride * index`; 0 beyond `count`.
    Element { base: Slot, stride: u32, count: u32, index: Box<Expr> },
    /// The same for a wide slot.
    WideElement { base: WideSlot, stride: u32, count: u32, index: Box<Expr> },
    /// A unary operation.
    Unary(Unary, Box<Expr>),
    /// A binary operation.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Mux(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Bits `low` and up of the operand, as many as the result is wide.
    Slice(Box<Expr>, u32),
    /// The operand made narrower (cut), wider (sign-extended if the operand is signed), or read as
    /// another scalar of the same width.
    Cast(Box<Expr>),
    /// Bits of the packet from `offset` behind the cursor, not consumed. Evaluating it beyond the
    /// end of the packet makes the parser fail with `PacketTooShort`, so no separate check precedes
    /// it.
    Lookahead { offset: u32 },
    /// The packet's length in bytes.
    PacketLength,
    /// `read` accesses a field of a header that may be invalid: the interpreter reports the read to
    /// its driver if `valid` is 0. Only targets insert these, into the program that they execute.
    Guarded { valid: Box<Expr>, read: Box<Expr> },
}

/// Unary operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `!` on bool
    Not,
    /// `~`
    Complement,
    /// `-`, modulo 2^W
    Negate,
}

/// Binary operations; signedness is that of the operands' scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are the operators' own; see the specification, chapter 8.
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    SatAdd,
    SatSub,
    /// The right operand is unsigned and may have any width; shifting out gives 0 (or the sign).
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    /// The left operand becomes the high bits.
    Concat,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Short-circuit forms make no difference, as operands have no side effects.
    And,
    Or,
}
