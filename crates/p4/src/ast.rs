//! The syntax tree: what the grammar of P4-16 (specification 1.2.5, appendix G) says, and nothing more.
//!
//! Names are not resolved, types are not known, nothing is folded but the values of structured
//! annotations, which the checker fills in. The parser makes it, the checker reads it; whether a program
//! makes sense is not its business.

use crate::source::Span;
use num_bigint::BigInt;
use std::sync::{Arc, OnceLock};

/// An identifier with its source span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text, without a leading dot.
    pub text: Arc<str>,
    /// Source span.
    pub span: Span,
}

/// A whole program after preprocessing.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Top-level declarations in source order.
    pub declarations: Vec<Declaration>,
}

/// `@name`, `@name(tokens)` or `@name[structured]`.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The name after `@`.
    pub name: Name,
    /// Body, behind the name.
    pub body: AnnotationBody,
    /// The whole annotation.
    pub span: Span,
}

/// True if one of the annotations has this name.
pub fn has_annotation(annotations: &[Annotation], name: &str) -> bool {
    annotations.iter().any(|annotation| &*annotation.name.text == name)
}

/// The text that the annotation `name` gives for `key`: `@name(key = "text")` or
/// `@name[key = "text"]`.
pub fn annotation_text(annotations: &[Annotation], name: &str, key: &str) -> Option<Arc<str>> {
    annotations.iter().filter(|annotation| &*annotation.name.text == name).find_map(|annotation| {
        match &annotation.body {
            AnnotationBody::Tokens(tokens) => tokens.windows(3).find_map(|part| match part {
                [of, equals, text] if &*of.text == key && &*equals.text == "=" => {
                    text.is_string.then(|| text.text.clone())
                }
                _ => None,
            }),
            AnnotationBody::KeyValues(pairs) => {
                let value = pairs.iter().find(|(of, _)| &*of.text == key)?;
                value.1.text().cloned()
            }
            _ => None,
        }
    })
}

/// The body of an annotation.
#[derive(Clone, Debug)]
pub enum AnnotationBody {
    /// `@name`
    Empty,
    /// `@name(...)`: unparsed tokens; string literals have their quotes removed.
    Tokens(Vec<AnnotationToken>),
    /// `@name[e, e]`
    Expressions(Vec<AnnotationValue>),
    /// `@name[k = e, k = e]`
    KeyValues(Vec<(Name, AnnotationValue)>),
}

/// A value in a structured annotation.
#[derive(Clone, Debug)]
pub struct AnnotationValue {
    /// The unevaluated expression.
    pub written: Expr,
    /// Its value, once the annotation is checked.
    pub value: OnceLock<AnnotationConstant>,
}

impl AnnotationValue {
    /// Its value, if it is a text.
    pub(crate) fn text(&self) -> Option<&Arc<str>> {
        match self.value.get() {
            Some(AnnotationConstant::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// A value in a structured annotation (specification 20.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotationConstant {
    /// A number of any integer type.
    Number(BigInt),
    /// A string.
    Text(Arc<str>),
    /// `true` or `false`
    Truth(bool),
}

/// A token in an unstructured annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotationToken {
    /// The token's text; for a string literal its contents.
    pub text: Arc<str>,
    /// True for a string literal.
    pub is_string: bool,
    /// Source span.
    pub span: Span,
}

/// A declaration, at top level or inside a parser, control or block.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its annotations, in order.
    pub annotations: Vec<Annotation>,
    /// Kind of the declaration.
    pub kind: DeclarationKind,
    /// The whole declaration.
    pub span: Span,
}

/// Kind of a declaration.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // Each variant shows its form; the fields are named for its parts.
pub enum DeclarationKind {
    /// `const T name = e;`
    Constant { ty: TypeRef, name: Name, value: Expr },
    /// `T name;` or `T name = e;`
    Variable { ty: TypeRef, name: Name, init: Option<Expr> },
    /// `T(args) name;` or `T(args) name = { ... };`
    Instantiation { ty: TypeRef, args: Vec<Argument>, name: Name, body: Option<Vec<Declaration>> },
    /// `extern Name<T> { ... }`
    ExternObject { name: Name, type_params: Vec<Name>, methods: Vec<Method> },
    /// `extern R name<T>(params);`
    ExternFunction(Prototype),
    /// `R name<T>(params) { ... }`
    Function { prototype: Prototype, body: Block },
    /// `action name(params) { ... }`
    Action { name: Name, params: Vec<Parameter>, body: Block },
    /// `parser Name(params)(constructor params) { locals states }`
    Parser(ParserDeclaration),
    /// `control Name(params)(constructor params) { locals apply { } }`
    Control(ControlDeclaration),
    /// `parser Name<T>(params);`
    ParserType { name: Name, type_params: Vec<Name>, params: Vec<Parameter> },
    /// `control Name<T>(params);`
    ControlType { name: Name, type_params: Vec<Name>, params: Vec<Parameter> },
    /// `package Name<T>(params);`
    PackageType { name: Name, type_params: Vec<Name>, params: Vec<Parameter> },
    /// `header`, `struct`, `header_union`
    Fields { kind: FieldsKind, name: Name, type_params: Vec<Name>, fields: Vec<Field> },
    /// `enum Name { a, b }` and `enum bit<8> Name { a = 1 }`
    Enum { name: Name, underlying: Option<TypeRef>, members: Vec<(Name, Option<Expr>)> },
    /// `error { A, B }`
    Error(Vec<Name>),
    /// `match_kind { a, b }`
    MatchKind(Vec<Name>),
    /// `typedef T name;`
    Typedef { target: TypedefTarget, name: Name },
    /// `type T name;`
    NewType { target: TypeRef, name: Name },
    /// `value_set<T>(size) name;`
    ValueSet { element: TypeRef, size: Expr, name: Name },
    /// `table name { ... }`
    Table { name: Name, properties: Vec<TableProperty> },
}

/// Target of a `typedef`.
#[derive(Clone, Debug)]
pub enum TypedefTarget {
    /// A type that exists.
    Type(TypeRef),
    /// A struct, header, union or enum declared on the spot.
    Declaration(Box<Declaration>),
}

/// Kind of a type with fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldsKind {
    /// `header`
    Header,
    /// `struct`
    Struct,
    /// `header_union`
    HeaderUnion,
}

/// A field of a struct, header or union.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its annotations.
    pub annotations: Vec<Annotation>,
    /// Its type.
    pub ty: TypeRef,
    /// Its name.
    pub name: Name,
}

/// `R name<T>(params)`
#[derive(Clone, Debug)]
pub struct Prototype {
    /// The return type; `None` is `void`.
    pub returns: Option<TypeRef>,
    /// The name.
    pub name: Name,
    /// Type parameters.
    pub type_params: Vec<Name>,
    /// Parameters.
    pub params: Vec<Parameter>,
}

/// A method of an extern object; a constructor has the object's name and `is_constructor`.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its annotations.
    pub annotations: Vec<Annotation>,
    /// True for a constructor (its prototype's return type is `None`).
    pub is_constructor: bool,
    /// True for `abstract`.
    pub is_abstract: bool,
    /// Name and parameters.
    pub prototype: Prototype,
    /// The whole method.
    pub span: Span,
}

/// The direction of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// No direction: compile-time known, an extern object, or action data.
    None,
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its annotations (`@optional` matters).
    pub annotations: Vec<Annotation>,
    /// Its direction.
    pub direction: Direction,
    /// Its type.
    pub ty: TypeRef,
    /// Its name.
    pub name: Name,
    /// Its default value.
    pub default: Option<Expr>,
    /// The whole parameter.
    pub span: Span,
}

/// `parser ... { ... }`
#[derive(Clone, Debug)]
pub struct ParserDeclaration {
    /// Its name.
    pub name: Name,
    /// Type parameters: refused by the checker, parsed for a good message.
    pub type_params: Vec<Name>,
    /// Runtime parameters.
    pub params: Vec<Parameter>,
    /// Constructor parameters.
    pub constructor_params: Vec<Parameter>,
    /// Constants, instances, variables, value sets.
    pub locals: Vec<Declaration>,
    /// States in source order.
    pub states: Vec<State>,
}

/// A parser state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its annotations.
    pub annotations: Vec<Annotation>,
    /// Its name.
    pub name: Name,
    /// Its statements.
    pub body: Vec<Statement>,
    /// Its transition; absent means `reject` (specification 13.5).
    pub transition: Option<Transition>,
    /// The whole state.
    pub span: Span,
}

/// `transition ...;`
#[derive(Clone, Debug)]
#[allow(missing_docs)] // Each variant shows its form; the fields are named for its parts.
pub enum Transition {
    /// `transition name;`
    Direct(Name),
    /// `transition select(...) { ... }`
    Select { keys: Vec<Expr>, cases: Vec<SelectCase>, span: Span },
}

/// `keyset : name;`
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// Keysets, one per key, or a single `Keyset::Default` for all.
    pub keysets: Vec<Keyset>,
    /// The next state.
    pub next: Name,
    /// The whole case.
    pub span: Span,
}

/// One element of a keyset expression.
#[derive(Clone, Debug)]
pub enum Keyset {
    /// `e`; also a value set's name
    Value(Expr),
    /// `e &&& e`
    Mask(Expr, Expr),
    /// `e .. e`
    Range(Expr, Expr),
    /// `default` or `_`
    Default(Span),
}

/// `control ... { ... }`
#[derive(Clone, Debug)]
pub struct ControlDeclaration {
    /// Its name.
    pub name: Name,
    /// Type parameters: refused by the checker, parsed for a good message.
    pub type_params: Vec<Name>,
    /// Runtime parameters.
    pub params: Vec<Parameter>,
    /// Constructor parameters.
    pub constructor_params: Vec<Parameter>,
    /// Constants, actions, tables, instances, variables.
    pub locals: Vec<Declaration>,
    /// The `apply` block.
    pub body: Block,
}

/// A property of a table.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // Each variant shows its form; the fields are named for its parts.
pub enum TableProperty {
    /// `key = { ... }`
    Key(Vec<KeyElement>),
    /// `actions = { ... }`
    Actions(Vec<ActionRef>),
    /// `entries = { ... }` or `const entries = { ... }`
    Entries { is_const: bool, entries: Vec<Entry>, annotations: Vec<Annotation>, span: Span },
    /// `name = e;` or `const name = e;` (`default_action`, `size`, `implementation`, ...)
    Other { is_const: bool, name: Name, value: Expr, annotations: Vec<Annotation> },
}

/// `e : match_kind;`
#[derive(Clone, Debug)]
pub struct KeyElement {
    /// The expression.
    pub expr: Expr,
    /// The match kind's name.
    pub match_kind: Name,
    /// Its annotations (`@name` matters to the control plane).
    pub annotations: Vec<Annotation>,
}

/// An action in an action list or an entry.
#[derive(Clone, Debug)]
pub struct ActionRef {
    /// Its annotations (`@defaultonly`, `@tableonly`).
    pub annotations: Vec<Annotation>,
    /// The action's name.
    pub name: Name,
    /// True for `.name`.
    pub global: bool,
    /// Arguments, if there is an argument list.
    pub args: Option<Vec<Argument>>,
    /// The whole reference.
    pub span: Span,
}

/// An entry in a table's entry list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// `const` before a single entry.
    pub is_const: bool,
    /// `priority = e :`
    pub priority: Option<Expr>,
    /// Keysets, one per key.
    pub keysets: Vec<Keyset>,
    /// Action of the entry.
    pub action: ActionRef,
    /// Annotations behind the action.
    pub annotations: Vec<Annotation>,
    /// The whole entry.
    pub span: Span,
}

/// A reference to a type.
#[derive(Clone, Debug)]
pub struct TypeRef {
    /// Kind of the type reference.
    pub kind: TypeRefKind,
    /// Source span.
    pub span: Span,
}

/// The forms of a type reference.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // Each variant shows its form; the fields are named for its parts.
pub enum TypeRefKind {
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `string`
    String,
    /// `int` without a width
    InfInt,
    /// `bit` (one bit), `bit<N>`, `bit<(e)>`
    Bit(Option<Box<Expr>>),
    /// `int<N>`, `int<(e)>`
    Int(Box<Expr>),
    /// `varbit<N>`, `varbit<(e)>`
    VarBit(Box<Expr>),
    /// `name` or `.name`
    Named { name: Name, global: bool },
    /// `name<T, U>`
    Specialized { name: Name, global: bool, args: Vec<TypeRef> },
    /// `T[e]`
    Stack(Box<TypeRef>, Box<Expr>),
    /// `tuple<T, U>`
    Tuple(Vec<TypeRef>),
    /// `list<T>`
    List(Box<TypeRef>),
    /// `void`, as a type argument
    Void,
    /// `_`, as a type argument
    DontCare,
}

/// `{ ... }`
#[derive(Clone, Debug)]
pub struct Block {
    /// Its annotations.
    pub annotations: Vec<Annotation>,
    /// Statements and declarations in order.
    pub statements: Vec<Statement>,
    /// The whole block.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Kind of the statement.
    pub kind: StatementKind,
    /// The whole statement.
    pub span: Span,
}

/// The forms of a statement.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // Each variant shows its form; the fields are named for its parts.
pub enum StatementKind {
    /// `;`
    Empty,
    /// A variable or constant declaration (an instantiation in a block is parsed and refused later).
    Declaration(Box<Declaration>),
    /// `lvalue = e;` or with an operator: `lvalue += e;`
    Assign { target: Expr, op: Option<BinaryOp>, value: Expr },
    /// A call whose result is not used; `expr` is always [`ExprKind::Call`].
    Call(Expr),
    /// `Type.apply(args);` (direct application)
    DirectApplication { ty: TypeRef, args: Vec<Argument> },
    /// `if (c) s else s`
    If { condition: Expr, then: Box<Statement>, otherwise: Option<Box<Statement>> },
    /// `{ ... }`
    Block(Block),
    /// `return;` or `return e;`
    Return(Option<Expr>),
    /// `exit;`
    Exit,
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `switch (e) { ... }`
    Switch { subject: Expr, cases: Vec<SwitchCase> },
    /// `for (init; condition; update) body`
    For {
        annotations: Vec<Annotation>,
        init: Vec<Statement>,
        condition: Expr,
        update: Vec<Statement>,
        body: Box<Statement>,
    },
    /// `for (T name in collection) body`
    ForIn {
        annotations: Vec<Annotation>,
        ty: TypeRef,
        name: Name,
        collection: ForCollection,
        body: Box<Statement>,
    },
}

/// Collection of a `for ... in`.
#[derive(Clone, Debug)]
pub enum ForCollection {
    /// A list, tuple or header stack.
    Expr(Expr),
    /// `low .. high`, both included
    Range(Expr, Expr),
}

/// `label: { ... }`, or `label:` that falls through.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// The label; `None` is `default`.
    pub label: Option<Expr>,
    /// The block; `None` falls through to the next case.
    pub body: Option<Block>,
    /// The whole case.
    pub span: Span,
}

/// An argument of a call or constructor.
#[derive(Clone, Debug)]
pub struct Argument {
    /// `name =` of a named argument.
    pub name: Option<Name>,
    /// The value; `None` is `_`.
    pub value: Option<Expr>,
    /// The whole argument.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Kind of the expression.
    pub kind: ExprKind,
    /// Source span.
    pub span: Span,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // Each variant shows its form; the fields are named for its parts.
pub enum ExprKind {
    /// `5`, `8w5`, `4s7`
    Integer(IntegerLiteral),
    /// `"text"`, escapes resolved
    String(Arc<str>),
    /// `true`, `false`
    Bool(bool),
    /// `this`
    This,
    /// `...`
    Dots,
    /// `name` or `.name`
    Name { name: Name, global: bool },
    /// A type in an expression position: `Type.member`, or a constructor's callee.
    Type(TypeRef),
    /// `error.Member`
    ErrorMember(Name),
    /// `e.member`
    Member(Box<Expr>, Name),
    /// `e[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `e[high:low]`
    Slice { base: Box<Expr>, high: Box<Expr>, low: Box<Expr> },
    /// `e[low +: width]`
    SliceFrom { base: Box<Expr>, low: Box<Expr>, width: Box<Expr> },
    /// `{ e, e }`
    List(Vec<Expr>),
    /// `{ k = e, k = e }`, `{ k = e, ... }` with `has_dots`
    KeyValueList { entries: Vec<(Name, Expr)>, has_dots: bool },
    /// `{#}`
    InvalidHeader,
    /// `( e )`: represented, because `(a)` is not a name where the grammar requires one.
    Paren(Box<Expr>),
    /// `-e`, `~e`, ...
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, ...
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Mux(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(T) e`
    Cast(TypeRef, Box<Expr>),
    /// `f<T>(args)`; also a constructor call `Type(args)` with callee [`ExprKind::Type`] or a name
    Call { callee: Box<Expr>, type_args: Vec<TypeRef>, args: Vec<Argument> },
    /// Placeholder of a malformed expression, after its error is reported.
    Error,
}

/// An integer literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegerLiteral {
    /// The value as written, never negative.
    pub value: BigInt,
    /// Width and signedness (`8w`: 8, false; `4s`: 4, true), if written.
    pub width: Option<(u32, bool)>,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Negate,
    /// `+`
    Plus,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are the operators' own.
pub enum BinaryOp {
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    SatAdd,
    SatSub,
    Shl,
    Shr,
    Le,
    Ge,
    Lt,
    Gt,
    Ne,
    Eq,
    BitAnd,
    BitXor,
    BitOr,
    Concat,
    And,
    Or,
}
