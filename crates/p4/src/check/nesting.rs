//! Nesting rules of types: the table of specification 7.2.8, and the types that may be renamed.
//!
//! The rules are checked at each written type and at each application of type arguments. An
//! argument can introduce a nesting that the declaration alone does not show.

use super::Checker;
use super::messages::code;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;

/// A type that contains types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Header,
    /// A struct inside a header.
    StructInHeader,
    HeaderUnion,
    Struct,
    Tuple,
    List,
    Array,
}

impl Container {
    fn words(self) -> &'static str {
        match self {
            Container::Header => "a header",
            Container::StructInHeader => "a struct inside a header",
            Container::HeaderUnion => "a header union",
            Container::Struct => "a struct",
            Container::Tuple => "a tuple",
            Container::List => "a list",
            Container::Array => "an array",
        }
    }

    fn may_hold(self, ty: &Type) -> bool {
        if matches!(ty, Type::Unknown | Type::Var(_)) {
            return true;
        }
        if let Type::New(new) = ty {
            return self.may_hold(&new.target);
        }
        match self {
            Container::Header | Container::StructInHeader => match ty {
                Type::Bit(_) | Type::Int(_) | Type::Bool | Type::SerializableEnum(_) => true,
                Type::VarBit(_) => self == Container::Header,
                Type::Struct(fields) => {
                    fields.fields.iter().all(|f| Container::StructInHeader.may_hold(&f.ty))
                }
                Type::Stack(element, _) => self.may_hold(element),
                _ => false,
            },
            Container::HeaderUnion => matches!(ty, Type::Header(_)),
            Container::Struct => is_storable(ty),
            // In tuples too, which then only constants can hold.
            Container::Tuple | Container::List => {
                is_storable(ty)
                    || matches!(ty, Type::InfInt | Type::String | Type::MatchKind)
                    || matches!(ty, Type::List(_) | Type::Tuple(_))
            }
            Container::Array => match ty {
                Type::Stack(element, _) => {
                    !matches!(**element, Type::Header(_) | Type::HeaderUnion(_))
                }
                Type::Extern(..) => true,
                Type::Error | Type::Tuple(_) => false,
                _ => is_storable(ty),
            },
        }
    }
}

/// True for types whose values a variable can hold.
pub(super) fn is_storable(ty: &Type) -> bool {
    match ty {
        Type::Bit(_) | Type::Int(_) | Type::VarBit(_) | Type::Bool | Type::Error => true,
        Type::Enum(_) | Type::SerializableEnum(_) | Type::New(_) => true,
        Type::Struct(_) | Type::Header(_) | Type::HeaderUnion(_) => true,
        Type::Tuple(elements) => elements.iter().all(is_storable),
        Type::Stack(element, _) => is_storable(element),
        Type::Var(_) | Type::Unknown => true,
        _ => false,
    }
}

/// The first invalid nesting in a type: (container, element).
fn misplaced(ty: &Type) -> Option<(Container, Type)> {
    let check = |container: Container, inside: &[&Type]| {
        inside.iter().find_map(|element| match container.may_hold(element) {
            true => misplaced(element),
            false => Some((container, (*element).clone())),
        })
    };
    match ty {
        Type::Stack(element, _) => check(Container::Array, &[element]),
        Type::List(element) => check(Container::List, &[element]),
        Type::Tuple(elements) => check(Container::Tuple, &elements.iter().collect::<Vec<_>>()),
        Type::Struct(f) if !f.args.is_empty() => {
            check(Container::Struct, &f.fields.iter().map(|f| &f.ty).collect::<Vec<_>>())
        }
        Type::Header(f) if !f.args.is_empty() => {
            check(Container::Header, &f.fields.iter().map(|f| &f.ty).collect::<Vec<_>>())
        }
        Type::HeaderUnion(f) if !f.args.is_empty() => {
            check(Container::HeaderUnion, &f.fields.iter().map(|f| &f.ty).collect::<Vec<_>>())
        }
        Type::Extern(_, args) | Type::Package(_, args) => args.iter().find_map(misplaced),
        Type::Parser(b) | Type::Control(b) if !b.args.is_empty() => {
            b.params.iter().find_map(|(_, _, ty)| misplaced(ty))
        }
        _ => None,
    }
}

/// Maximum number of parts of a type.
pub(super) const MAX_PARTS: u64 = 1 << 17;

/// Number of parts of a value of this type, including itself. Counting stops a little above `most`,
/// since nested types can double without end.
fn parts(ty: &Type, most: u64) -> u64 {
    let of_fields = |types: &mut dyn Iterator<Item = &Type>| {
        let mut sum = 1;
        for ty in types {
            if sum > most {
                break;
            }
            sum += parts(ty, most - sum);
        }
        sum
    };
    match ty {
        Type::New(new) => parts(&new.target, most),
        Type::Struct(f) | Type::Header(f) | Type::HeaderUnion(f) => {
            of_fields(&mut f.fields.iter().map(|field| &field.ty))
        }
        Type::Tuple(elements) => of_fields(&mut elements.iter()),
        Type::Stack(element, size) => {
            parts(element, most).saturating_mul(u64::from(*size)).saturating_add(1)
        }
        Type::List(element) | Type::Set(element) => 1 + parts(element, most),
        Type::Extern(_, args) | Type::Package(_, args) => of_fields(&mut args.iter()),
        Type::Parser(block) | Type::Control(block) => of_fields(&mut block.args.iter()),
        _ => 1,
    }
}

impl Checker<'_> {
    /// Reports types that have more than `most` parts together; `name` is that of their owner.
    pub(super) fn too_large<'t>(
        &mut self,
        types: impl IntoIterator<Item = &'t Type>,
        most: u64,
        name: &str,
        span: Span,
    ) -> bool {
        let mut sum = 1;
        for ty in types {
            sum += parts(ty, most);
            if sum > most {
                let message = format!("{name} has more than {most} parts");
                let diagnostic = Diagnostic::error(code::TOO_LARGE, span, message);
                self.report(diagnostic.with_note(
                    "all fields and elements are counted, with those within them; each level of \
                     types within types multiplies them",
                ));
                return true;
            }
        }
        false
    }

    /// Returns the type if all its nesting is valid; otherwise reports an error.
    pub(super) fn well_formed(&mut self, ty: Type, span: Span) -> Type {
        if self.too_large([&ty], MAX_PARTS, "this type", span) {
            return Type::Unknown;
        }
        let resolved = self.resolved(&ty);
        match misplaced(&resolved) {
            None => ty,
            Some((container, element)) => {
                let (element, whole) = (self.show(&element), self.show(&ty));
                let message = format!("{} cannot hold `{element}`", container.words());
                let diagnostic = Diagnostic::error(code::NESTING, span, message);
                self.report(diagnostic.with_label(format!("in `{whole}`")));
                Type::Unknown
            }
        }
    }

    /// A field of a struct, header or union: its type if it is valid there.
    pub(super) fn field_type(
        &mut self,
        kind: crate::ast::FieldsKind,
        ty: Type,
        span: Span,
    ) -> Type {
        let container = match kind {
            crate::ast::FieldsKind::Header => Container::Header,
            crate::ast::FieldsKind::HeaderUnion => Container::HeaderUnion,
            crate::ast::FieldsKind::Struct => Container::Struct,
        };
        if container.may_hold(&ty) {
            return ty;
        }
        let message = format!("{} cannot hold `{}`", container.words(), self.show(&ty));
        let mut diagnostic = Diagnostic::error(code::NESTING, span, message);
        if container == Container::Header && matches!(ty, Type::Enum(_)) {
            diagnostic = diagnostic.with_help("give the enum a representation: `enum bit<8> ...`");
        }
        self.report(diagnostic);
        Type::Unknown
    }
}
