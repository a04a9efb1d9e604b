//! Types of P4-16, in the checker and in the typed tree.
//!
//! Nominal types are compared by their declaration and type arguments; structural types by shape.
//! Must not depend on how values are stored: the IR decides that.

use crate::ast::has_annotation;
use crate::source::Span;
use num_bigint::BigInt;
use std::fmt;
use std::sync::Arc;

/// The widest number, the longest stack and the widest slice that a program may declare.
pub const MAX_WIDTH: u32 = 1 << 18;

/// A type. Cheap to clone.
///
/// ```
/// use sojourn_p4::types::Type;
/// assert_eq!(Type::Bit(8), Type::Bit(8));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `void`: the result of a call that gives none.
    Void,
    /// `bool`
    Bool,
    /// `bit<W>`
    Bit(u32),
    /// `int<W>`, two's complement
    Int(u32),
    /// `varbit<W>`, at most W bits
    VarBit(u32),
    /// `int`: arbitrary precision, compile time only
    InfInt,
    /// `string`
    String,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `enum` without representation
    Enum(Arc<EnumType>),
    /// `enum bit<W>` or `enum int<W>`
    SerializableEnum(Arc<EnumType>),
    /// `type T name`: a type of its own
    New(Arc<NewType>),
    /// `struct`; with an empty name, the type of a `{ k = v }` without a declared type
    Struct(Arc<FieldsType>),
    /// `header`
    Header(Arc<FieldsType>),
    /// `header_union`
    HeaderUnion(Arc<FieldsType>),
    /// `T[N]`: a stack of headers or unions (1.2.5 allows arrays of other types too)
    Stack(Arc<Type>, u32),
    /// `tuple<...>`
    Tuple(Arc<[Type]>),
    /// `list<T>`
    List(Arc<Type>),
    /// An extern object type with its type arguments
    Extern(ExternId, Arc<[Type]>),
    /// A parser declaration as a type (for constructor calls), or a parser type
    Parser(Arc<BlockType>),
    /// A control declaration as a type, or a control type
    Control(Arc<BlockType>),
    /// A package type with its type arguments
    Package(PackageId, Arc<[Type]>),
    /// A set of values (keysets, value sets)
    Set(Arc<Type>),
    /// The result of `t.apply()`
    TableResult(TableId),
    /// A type parameter inside a generic declaration; never left in a checked body
    Var(TypeVar),
    /// After an error was reported: fits everything, so that one mistake gives one message
    Unknown,
}

/// A type parameter: its number is unique in the program.
#[derive(Clone, Debug)]
pub struct TypeVar {
    /// Unique number.
    pub id: u32,
    /// The name as written.
    pub name: Arc<str>,
}

impl PartialEq for TypeVar {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
impl Eq for TypeVar {}
impl std::hash::Hash for TypeVar {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

macro_rules! identifiers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);
        impl $name {
            /// Converts to an index into its table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
pub(crate) use identifiers;

identifiers! {
    /// A declaration that makes a nominal type; unique in the program.
    DeclarationId;
    /// An extern object declaration: index into `hir::Program::externs`.
    ExternId;
    /// A package type: index into `hir::Program::packages`.
    PackageId;
    /// A table: index into `hir::Program::tables`.
    TableId;
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct EnumType {
    /// Id of the declaration.
    pub declaration: DeclarationId,
    /// Its name.
    pub name: Arc<str>,
    /// For a serializable enum the type of its values.
    pub underlying: Option<Type>,
    /// Members in order, with their value: as declared if serializable, else 0, 1, 2...
    pub members: Vec<(Arc<str>, BigInt)>,
    /// Span of the declaration.
    pub span: Span,
}

/// `type T name;`
#[derive(Clone, Debug)]
pub struct NewType {
    /// Id of the declaration.
    pub declaration: DeclarationId,
    /// Its name.
    pub name: Arc<str>,
    /// The underlying type.
    pub target: Type,
    /// Its annotations.
    pub annotations: Arc<[crate::ast::Annotation]>,
}

/// A struct, header or header union, its type arguments applied.
#[derive(Clone, Debug)]
pub struct FieldsType {
    /// Id of the declaration.
    pub declaration: DeclarationId,
    /// Its name.
    pub name: Arc<str>,
    /// Its type arguments.
    pub args: Vec<Type>,
    /// Fields in order.
    pub fields: Vec<FieldType>,
    /// The type's annotations.
    pub annotations: Arc<[crate::ast::Annotation]>,
    /// Span of the declaration.
    pub span: Span,
}

impl FieldsType {
    /// True if the compiler lays out a header of this type: the type, a field, or the type of a struct in
    /// it is `@flexible`.
    pub fn is_flexible(&self) -> bool {
        let inner = |ty: &Type| matches!(ty, Type::Struct(of) if of.is_flexible());
        has_annotation(&self.annotations, "flexible")
            || self
                .fields
                .iter()
                .any(|field| has_annotation(&field.annotations, "flexible") || inner(&field.ty))
    }
}

/// A field.
#[derive(Clone, Debug)]
pub struct FieldType {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Its annotations.
    pub annotations: Arc<[crate::ast::Annotation]>,
}

/// A parser's or control's type: what `apply` takes and, for declarations, the constructor.
#[derive(Clone, Debug)]
pub struct BlockType {
    /// Id of the declaration.
    pub declaration: DeclarationId,
    /// Its name.
    pub name: Arc<str>,
    /// Type arguments, if it is a generic parser or control type.
    pub args: Vec<Type>,
    /// Parameters of `apply`: name, direction, type.
    pub params: Vec<(Arc<str>, crate::ast::Direction, Type)>,
}

macro_rules! nominal {
    ($name:ident { $($field:ident),+ }) => {
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                true $(&& self.$field == other.$field)+
            }
        }
        impl Eq for $name {}
        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                $(self.$field.hash(state);)+
            }
        }
    };
}
nominal!(EnumType { declaration });
nominal!(NewType { declaration });
nominal!(FieldsType { declaration, args });
nominal!(BlockType { declaration, args });

impl fmt::Display for Type {
    /// The type as a P4 programmer writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list(f: &mut fmt::Formatter<'_>, args: &[Type]) -> fmt::Result {
            for (i, a) in args.iter().enumerate() {
                write!(f, "{}{a}", if i > 0 { ", " } else { "" })?;
            }
            Ok(())
        }
        fn applied(f: &mut fmt::Formatter<'_>, name: &str, args: &[Type]) -> fmt::Result {
            f.write_str(name)?;
            if !args.is_empty() {
                f.write_str("<")?;
                list(f, args)?;
                f.write_str(">")?;
            }
            Ok(())
        }
        match self {
            Type::Void => f.write_str("void"),
            Type::Bool => f.write_str("bool"),
            Type::Bit(w) => write!(f, "bit<{w}>"),
            Type::Int(w) => write!(f, "int<{w}>"),
            Type::VarBit(w) => write!(f, "varbit<{w}>"),
            Type::InfInt => f.write_str("int"),
            Type::String => f.write_str("string"),
            Type::Error => f.write_str("error"),
            Type::MatchKind => f.write_str("match_kind"),
            Type::Enum(e) | Type::SerializableEnum(e) => f.write_str(&e.name),
            Type::New(n) => f.write_str(&n.name),
            Type::Struct(s) | Type::Header(s) | Type::HeaderUnion(s) if !s.name.is_empty() => {
                applied(f, &s.name, &s.args)
            }
            Type::Struct(s) | Type::Header(s) | Type::HeaderUnion(s) => {
                f.write_str("{ ")?;
                for (i, field) in s.fields.iter().enumerate() {
                    write!(f, "{}{} {}", if i > 0 { "; " } else { "" }, field.ty, field.name)?;
                }
                f.write_str(" }")
            }
            Type::Stack(t, n) => write!(f, "{t}[{n}]"),
            Type::Tuple(args) => {
                f.write_str("tuple<")?;
                list(f, args)?;
                f.write_str(">")
            }
            Type::List(t) => write!(f, "list<{t}>"),
            Type::Extern(id, args) => applied(f, &format!("extern #{}", id.0), args),
            Type::Parser(b) | Type::Control(b) => applied(f, &b.name, &b.args),
            Type::Package(id, args) => applied(f, &format!("package #{}", id.0), args),
            Type::Set(t) => write!(f, "set of {t}"),
            Type::TableResult(_) => f.write_str("result of a table's apply"),
            Type::Var(v) => f.write_str(&v.name),
            Type::Unknown => f.write_str("?"),
        }
    }
}
