//! The typed tree: a program after names are resolved, types inferred and constants folded.
//!
//! Every expression has its type, every implicit cast is explicit, every argument is at its
//! parameter's position, and generic functions are instantiated per set of type arguments.
//! Constructor parameters and instances are still open: elaboration (`crate::elaborate`) gives each
//! instance its own copy. The checker builds this tree. Must not depend on an architecture.

use crate::ast::{Annotation, BinaryOp, Direction, UnaryOp, annotation_text};
use crate::declared::AnnotatedBlock;
use crate::source::Span;
pub use crate::types::{ExternId, PackageId, TableId};
use crate::types::{FieldsType, Type, identifiers};
use num_bigint::BigInt;
use std::collections::BTreeMap;
use std::sync::Arc;

identifiers! {
    /// A variable, parameter or constructor parameter: index into [`Program::vars`].
    VarId;
    /// An instantiation: index into [`Program::instances`].
    InstanceId;
    /// A parser declaration: index into [`Program::parsers`].
    ParserId;
    /// A control declaration: index into [`Program::controls`].
    ControlId;
    /// A function (with one set of type arguments): index into [`Program::functions`].
    FunctionId;
    /// An action: index into [`Program::actions`].
    ActionId;
    /// An extern function: index into [`Program::extern_functions`].
    ExternFunctionId;
    /// A value set: index into [`Program::value_sets`].
    ValueSetId;
}

/// A checked program: tables of all declarations, addressed by the identifiers above.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// All variables, parameters and constructor parameters.
    pub vars: Vec<Var>,
    /// All instantiations, at top level, in parsers and controls, and anonymous ones.
    pub instances: Vec<Instance>,
    /// Parser declarations.
    pub parsers: Vec<Parser>,
    /// Control declarations.
    pub controls: Vec<Control>,
    /// Functions, one for each set of type arguments in use.
    pub functions: Vec<Function>,
    /// Actions, at top level and in controls.
    pub actions: Vec<Action>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Parser value sets.
    pub value_sets: Vec<ValueSet>,
    /// Extern object declarations.
    pub externs: Vec<ExternObject>,
    /// Extern functions.
    pub extern_functions: Vec<ExternFunction>,
    /// Package types.
    pub packages: Vec<Package>,
    /// Header types in declaration order, except generic ones.
    pub headers: Vec<Arc<FieldsType>>,
    /// Blocks of statements with annotations, in source order.
    pub annotated_blocks: Vec<AnnotatedBlock>,
    /// Errors in declaration order: an error value is its index.
    pub errors: Vec<Arc<str>>,
    /// Match kinds in declaration order.
    pub match_kinds: Vec<Arc<str>>,
    /// Top-level instantiations in source order.
    pub top_level: Vec<InstanceId>,
    /// The top-level instantiation called `main`.
    pub main: Option<InstanceId>,
    /// Numeric top-level constants, and members of enums with values as `Enum.member`, for lookup
    /// by name.
    pub constants: BTreeMap<Arc<str>, BigInt>,
}

/// A variable of any kind.
#[derive(Clone, Debug)]
pub struct Var {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Kind.
    pub kind: VarKind,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// Kind of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// Declared in a block, parser or control.
    Local,
    /// A parameter of an `apply`, action, function or method. `Direction::None` on an action's
    /// parameter is action data; on a function's or block's it is compile-time known or an object.
    Parameter(Direction),
    /// A constructor parameter: known when the instance is created.
    ConstructorParameter,
}

/// An instantiation of a parser, control, package or extern object.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its name; empty for `Ctrl()` as an argument, and the type's name for direct application.
    pub name: Arc<str>,
    /// Instantiated class, with type arguments applied.
    pub of: InstanceOf,
    /// The type.
    pub ty: Type,
    /// Constructor arguments in the order of the parameters.
    pub args: Vec<Arg>,
    /// Implementations of abstract methods and other functions in the initializer.
    pub methods: Vec<MethodBody>,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// Class of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The variants say what their fields are.
pub enum InstanceOf {
    /// A parser.
    Parser(ParserId),
    /// A control.
    Control(ControlId),
    /// A package.
    Package(PackageId),
    /// An extern object; `constructor` is an index into [`ExternObject::constructors`].
    Extern { id: ExternId, constructor: u32 },
}

/// A function in an instantiation's initializer; it sees the variables of the enclosing block.
#[derive(Clone, Debug)]
pub struct MethodBody {
    /// Index into [`ExternObject::methods`] if it implements an abstract method.
    pub implements: Option<u32>,
    /// Name, parameters and body.
    pub function: Function,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Arc<str>,
    /// Its parameters.
    pub params: Vec<VarId>,
    /// Return type.
    pub returns: Type,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Span of the declaration.
    pub span: Span,
}

/// An action.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its name.
    pub name: Arc<str>,
    /// Its parameters; those without direction are action data when a table calls it.
    pub params: Vec<VarId>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Enclosing control; `None` at top level.
    pub control: Option<ControlId>,
    /// Its annotations (`@name`, `@hidden`).
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// A parser declaration.
#[derive(Clone, Debug)]
pub struct Parser {
    /// Its name.
    pub name: Arc<str>,
    /// Its runtime parameters.
    pub params: Vec<VarId>,
    /// Its constructor parameters.
    pub constructor_params: Vec<VarId>,
    /// Instances declared in it.
    pub instances: Vec<InstanceId>,
    /// Value sets declared in it.
    pub value_sets: Vec<ValueSetId>,
    /// Initialisation of its local variables, run each time it is applied.
    pub init: Vec<Stmt>,
    /// Its states; `start` is one of them, `accept` and `reject` are not.
    pub states: Vec<State>,
    /// Index of `start`.
    pub start: u32,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// A parser state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
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
pub enum Transition {
    /// Unconditional.
    Direct(StateRef),
    /// The first case that matches; without one `error.NoMatch`.
    Select {
        /// Selected expressions.
        keys: Vec<Expr>,
        /// Cases in order.
        cases: Vec<SelectCase>,
        /// The whole expression.
        span: Span,
    },
}

/// The target of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateRef {
    /// Index into [`Parser::states`].
    State(u32),
    /// `accept`
    Accept,
    /// `reject`
    Reject,
}

/// A case of a select expression.
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// One keyset per key.
    pub keysets: Vec<Keyset>,
    /// Next state.
    pub next: StateRef,
    /// The whole case.
    pub span: Span,
}

/// Pattern of one key; expressions have the key's type.
#[derive(Clone, Debug)]
pub enum Keyset {
    /// Equal to this.
    Value(Expr),
    /// Equal under this mask.
    Mask(Expr, Expr),
    /// Between these, both included.
    Range(Expr, Expr),
    /// Anything.
    Any,
    /// Member of this value set. If the set's element is a tuple or struct it matches all keys at
    /// once, and is then the only one in [`SelectCase::keysets`].
    ValueSet(ValueSetId),
}

/// A parser value set, filled by the control plane.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// Its name.
    pub name: Arc<str>,
    /// The type of its elements.
    pub element: Type,
    /// Its size.
    pub size: Expr,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// A control declaration.
#[derive(Clone, Debug)]
pub struct Control {
    /// Its name.
    pub name: Arc<str>,
    /// Its runtime parameters.
    pub params: Vec<VarId>,
    /// Its constructor parameters.
    pub constructor_params: Vec<VarId>,
    /// Instances declared in it.
    pub instances: Vec<InstanceId>,
    /// Actions declared in it.
    pub actions: Vec<ActionId>,
    /// Tables declared in it.
    pub tables: Vec<TableId>,
    /// Initialisation of its local variables, run each time it is applied.
    pub init: Vec<Stmt>,
    /// The `apply` block.
    pub body: Vec<Stmt>,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: Arc<str>,
    /// Its key.
    pub keys: Vec<Key>,
    /// The actions it may run.
    pub actions: Vec<TableAction>,
    /// The default action; without one `NoAction` behaviour.
    pub default_action: Option<DefaultAction>,
    /// Entries in the program.
    pub entries: Vec<Entry>,
    /// True if the control plane may not change the entries.
    pub const_entries: bool,
    /// `size`, if given.
    pub size: Option<u64>,
    /// Properties in order. `largest_priority_wins` (default true) and `priority_delta` are not
    /// among them, but folded into the entries' priorities.
    pub properties: Vec<Property>,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// A key element.
#[derive(Clone, Debug)]
pub struct Key {
    /// The expression.
    pub expr: Expr,
    /// Match kind: an index into [`Program::match_kinds`].
    pub match_kind: u32,
    /// The control-plane name: that of `@name`, or else the source text (`hdr.ipv4.dst`).
    pub name: Arc<str>,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Source span.
    pub span: Span,
}

/// An action in a table's list.
#[derive(Clone, Debug)]
pub struct TableAction {
    /// The action.
    pub action: ActionId,
    /// Arguments bound in the list to the parameters that have a direction, in order; `None` for
    /// action data.
    pub bound: Vec<Option<Arg>>,
    /// `@defaultonly`
    pub default_only: bool,
    /// `@tableonly`
    pub table_only: bool,
    /// Annotations of this list's entry.
    pub annotations: Arc<[Annotation]>,
    /// Source span.
    pub span: Span,
}

/// A default action.
#[derive(Clone, Debug)]
pub struct DefaultAction {
    /// Index into [`Table::actions`].
    pub action: u32,
    /// Values of the action data, in the order of the directionless parameters.
    pub data: Vec<Expr>,
    /// True if the control plane may not change it.
    pub is_const: bool,
    /// Source span.
    pub span: Span,
}

/// An entry in the program.
#[derive(Clone, Debug)]
pub struct Entry {
    /// One keyset per key.
    pub keysets: Vec<Keyset>,
    /// Index into [`Table::actions`].
    pub action: u32,
    /// Values of the action data.
    pub data: Vec<Expr>,
    /// Larger wins; entries without a written priority count down from the first.
    pub priority: i64,
    /// `const` on the entry or the list.
    pub is_const: bool,
    /// The whole entry.
    pub span: Span,
}

/// A table property that the language does not define (`implementation`, `counters`, ...).
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub value: Arg,
    /// True for `const`.
    pub is_const: bool,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Source span.
    pub span: Span,
}

/// An extern object declaration.
#[derive(Clone, Debug)]
pub struct ExternObject {
    /// Its name.
    pub name: Arc<str>,
    /// The names of its type parameters.
    pub type_params: Vec<Arc<str>>,
    /// Its constructors.
    pub constructors: Vec<Signature>,
    /// Its methods; overloads are separate methods.
    pub methods: Vec<ExternMethod>,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// A method of an extern object, as declared (its types may name type parameters).
#[derive(Clone, Debug)]
pub struct ExternMethod {
    /// Its name.
    pub name: Arc<str>,
    /// True for `abstract`.
    pub is_abstract: bool,
    /// Its parameters.
    pub signature: Signature,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
}

/// Parameters of an external callee: name, direction, type, and whether it is optional.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// The names of the type parameters.
    pub type_params: Vec<Arc<str>>,
    /// Parameters.
    pub params: Vec<SignatureParam>,
    /// Return type; `None` is `void`.
    pub returns: Option<Type>,
}

/// A parameter of an external callee.
#[derive(Clone, Debug)]
pub struct SignatureParam {
    /// Its name.
    pub name: Arc<str>,
    /// Its direction.
    pub direction: Direction,
    /// Its type as declared.
    pub ty: Type,
    /// `@optional`, or it has a default value.
    pub optional: bool,
}

/// An extern function.
#[derive(Clone, Debug)]
pub struct ExternFunction {
    /// Its name.
    pub name: Arc<str>,
    /// Its parameters.
    pub signature: Signature,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

/// A package type.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: Arc<str>,
    /// Its constructor's parameters.
    pub signature: Signature,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

impl Package {
    /// The architecture that it states: `@pkginfo(arch = "TNA")`.
    pub fn architecture(&self) -> Option<Arc<str>> {
        annotation_text(&self.annotations, "pkginfo", "arch")
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Kind of the statement.
    pub kind: StmtKind,
    /// The whole statement.
    pub span: Span,
}

/// The forms of a statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Declares a variable; without a value its headers are invalid, the rest undefined (the
    /// interpreter makes it zero).
    Declare(VarId, Option<Expr>),
    /// `target = value`; a compound assignment is expanded.
    Assign(Expr, Expr),
    /// A call whose result is not used.
    Call(Call),
    /// `t.apply();`
    ApplyTable(TableId),
    /// `if`
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `{ ... }`
    Block(Vec<Stmt>),
    /// `switch (t.apply().action_run)`: labels are indices into [`Table::actions`].
    SwitchAction {
        /// The table that is applied.
        table: TableId,
        /// Cases, with fall-through expanded.
        cases: Vec<(Vec<u32>, Vec<Stmt>)>,
        /// `default:`
        default: Vec<Stmt>,
    },
    /// `switch` on a value: labels are constants of the subject's type.
    SwitchValue {
        /// Selected expression.
        subject: Expr,
        /// Cases, with fall-through expanded.
        cases: Vec<(Vec<BigInt>, Vec<Stmt>)>,
        /// `default:`
        default: Vec<Stmt>,
    },
    /// `for (init; condition; update) body`; `init` precedes it in its own block.
    For {
        /// Checked before each iteration.
        condition: Expr,
        /// Executed after each iteration, also after `continue`.
        update: Vec<Stmt>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `for (T var in low .. high) body`
    ForRange {
        /// The loop variable.
        var: VarId,
        /// First value.
        low: Expr,
        /// Last value.
        high: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `for (T var in collection) body`: the elements of a list, tuple or stack
    ForEach {
        /// The loop variable.
        var: VarId,
        /// The collection.
        collection: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<Expr>),
    /// `exit`
    Exit,
    /// `h.setValid()` (true) or `h.setInvalid()`
    SetValid(Expr, bool),
    /// `stack.push_front(n)`
    PushFront(Expr, u32),
    /// `stack.pop_front(n)`
    PopFront(Expr, u32),
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Callee.
    pub callee: Callee,
    /// Type arguments, written or inferred, with no variables left.
    pub type_args: Vec<Type>,
    /// Arguments in the order of the parameters.
    pub args: Vec<Arg>,
    /// The type of the result.
    pub returns: Type,
    /// The whole call.
    pub span: Span,
}

/// Callee of a call.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The variants say what their fields are.
pub enum Callee {
    /// A function.
    Function(FunctionId),
    /// An action, called directly.
    Action(ActionId),
    /// An extern function.
    ExternFunction(ExternFunctionId),
    /// A method of an extern object: index into [`ExternObject::methods`].
    Method { object: Object, of: ExternId, method: u32 },
    /// `apply` of a parser or control instance.
    Apply(Object),
}

/// An object that is called or passed on.
#[derive(Clone, Debug)]
pub enum Object {
    /// An instance.
    Instance(InstanceId),
    /// A parameter or constructor parameter that holds an object (`packet_in pkt`).
    Param(VarId),
    /// `this`, inside an initializer's function.
    This,
}

/// An argument of a parameter.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A value (direction `in` or none).
    In(Expr),
    /// An lvalue written on return.
    Out(Expr),
    /// An lvalue read and written.
    InOut(Expr),
    /// `_`
    DontCare,
    /// A missing optional argument.
    Absent,
    /// An extern object, parser, control or package.
    Object(Object),
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Kind of the expression.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Source span.
    pub span: Span,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A known value: `bool`, integers of any kind (in range for their type), enum members.
    Const(Value),
    /// A variable, parameter or constructor parameter.
    Var(VarId),
    /// A field of a struct, header or union, by its index.
    Field(Box<Expr>, u32),
    /// An element of a stack, tuple or list.
    Index(Box<Expr>, Box<Expr>),
    /// `base[high:low]`
    Slice(Box<Expr>, u32, u32),
    /// `stack.next`
    StackNext(Box<Expr>),
    /// `stack.last`
    StackLast(Box<Expr>),
    /// `stack.lastIndex`
    StackLastIndex(Box<Expr>),
    /// `h.isValid()`
    IsValid(Box<Expr>),
    /// A unary operation.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operation; operands have equal types except for shifts and concatenation.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Mux(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A cast to the expression's type.
    Cast(Box<Expr>),
    /// A struct, valid header, tuple, list or stack, element by element in order.
    Aggregate(Vec<Expr>),
    /// `{#}`: an invalid header or union of the expression's type.
    InvalidHeader,
    /// A call with a result.
    Call(Box<Call>),
    /// `t.apply().hit`, `.miss`
    ApplyTable(TableId, ApplyResult),
}

/// Part of a table's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyResult {
    /// `.hit`
    Hit,
    /// `.miss`
    Miss,
}

/// A value known at compile time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `bool`
    Bool(bool),
    /// `bit`, `int`, serializable enum and new types on these; an error as its index; a plain enum
    /// member as its index; a match kind as its index
    Int(BigInt),
    /// `string`
    String(Arc<str>),
}
