//! Control-plane view of types: by name where they have one, with each named type listed once.

use super::annotation::{Annotation, read};
use super::{Value, value_of};
use sojourn_p4::types::{FieldsType, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataType {
    /// `bool`
    Bool,
    /// `bit<W>`
    Bit(u32),
    /// `int<W>`
    Int(u32),
    /// `varbit<W>`
    VarBit(u32),
    /// `error`
    Error,
    /// An enum without values.
    Enum(String),
    /// An enum with values.
    SerializableEnum(String),
    /// `type T name`
    New(String),
    /// A struct.
    Struct(String),
    /// A header.
    Header(String),
    /// A header union.
    HeaderUnion(String),
    /// A stack of headers, with its size.
    HeaderStack(String, u32),
    /// A stack of header unions, with its size.
    HeaderUnionStack(String, u32),
    /// A tuple.
    Tuple(Vec<DataType>),
    /// Type whose values a control plane never sets.
    Other,
}

/// All named types used in a schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Types {
    /// Structs.
    pub structs: BTreeMap<String, Vec<Field>>,
    /// Headers, with nested structs expanded.
    pub headers: BTreeMap<String, Vec<Field>>,
    /// Header unions.
    pub header_unions: BTreeMap<String, Vec<Field>>,
    /// Enums without values.
    pub enums: BTreeMap<String, Vec<String>>,
    /// Enums with values.
    pub serializable_enums: BTreeMap<String, EnumType>,
    /// `type T name`.
    pub new_types: BTreeMap<String, NewType>,
    /// The program's errors, if a value has that type.
    pub errors: Option<Vec<String>>,
}

/// A field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: DataType,
    /// Its annotations.
    pub annotations: Vec<Annotation>,
}

/// An enum with values.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumType {
    /// Bits of a value.
    pub width: u32,
    /// Names and values.
    pub members: Vec<(String, Value)>,
}

/// `type T name`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewType {
    /// Underlying type, resolved to one without a name.
    pub original: DataType,
    /// Its annotations.
    pub annotations: Vec<Annotation>,
}

impl Types {
    /// The schema's form of a type; registers the types that it names.
    pub(super) fn note(&mut self, ty: &Type, errors: &[Arc<str>]) -> DataType {
        match ty {
            Type::Bool => DataType::Bool,
            Type::Bit(width) => DataType::Bit(*width),
            Type::Int(width) => DataType::Int(*width),
            Type::VarBit(width) => DataType::VarBit(*width),
            Type::Error => {
                self.errors = Some(errors.iter().map(|name| name.to_string()).collect());
                DataType::Error
            }
            Type::Enum(of) => {
                let members = of.members.iter().map(|(name, _)| name.to_string()).collect();
                self.enums.insert(of.name.to_string(), members);
                DataType::Enum(of.name.to_string())
            }
            Type::SerializableEnum(of) => {
                let width = of.underlying.as_ref().map_or(0, width);
                let members = of.members.iter();
                let members = members.map(|(name, v)| (name.to_string(), value_of(v, width)));
                let made = EnumType { width, members: members.collect() };
                self.serializable_enums.insert(of.name.to_string(), made);
                DataType::SerializableEnum(of.name.to_string())
            }
            Type::New(new) => {
                let mut original = &new.target;
                while let Type::New(deeper) = original {
                    original = &deeper.target;
                }
                let original = self.note(original, errors);
                let annotations = read(&new.annotations);
                self.new_types.insert(new.name.to_string(), NewType { original, annotations });
                DataType::New(new.name.to_string())
            }
            Type::Struct(of) => {
                let name = of.name.to_string();
                if !self.structs.contains_key(&name) {
                    let fields = self.fields(of, errors);
                    self.structs.insert(name.clone(), fields);
                }
                DataType::Struct(name)
            }
            Type::Header(of) => {
                let name = of.name.to_string();
                if !self.headers.contains_key(&name) {
                    let fields = flat(of).into_iter().map(|(name, ty, annotations)| {
                        let ty = self.note(&ty, errors);
                        Field { name, ty, annotations }
                    });
                    let fields = fields.collect();
                    self.headers.insert(name.clone(), fields);
                }
                DataType::Header(name)
            }
            Type::HeaderUnion(of) => {
                let name = of.name.to_string();
                if !self.header_unions.contains_key(&name) {
                    let fields = self.fields(of, errors);
                    self.header_unions.insert(name.clone(), fields);
                }
                DataType::HeaderUnion(name)
            }
            Type::Stack(of, size) => match self.note(of, errors) {
                DataType::Header(name) => DataType::HeaderStack(name, *size),
                DataType::HeaderUnion(name) => DataType::HeaderUnionStack(name, *size),
                _ => DataType::Other,
            },
            Type::Tuple(parts) => {
                DataType::Tuple(parts.iter().map(|part| self.note(part, errors)).collect())
            }
            Type::List(_) => DataType::Other,
            _ => DataType::Other,
        }
    }

    fn fields(&mut self, of: &FieldsType, errors: &[Arc<str>]) -> Vec<Field> {
        let field = |field: &sojourn_p4::types::FieldType| {
            let annotations = read(&field.annotations);
            let name = named(&annotations).unwrap_or(&field.name).to_owned();
            Field { name, ty: self.note(&field.ty, errors), annotations }
        };
        of.fields.iter().map(field).collect()
    }

    /// The width of a control-plane value, in bits: that of the translation for a translated type,
    /// 0 for a string.
    pub(super) fn width(&self, ty: &Type) -> u32 {
        if let Type::New(new) = ty {
            let translated = read(&new.annotations);
            let translated = translated.iter().find(|a| a.name == TRANSLATION);
            if let Some(annotation) = translated {
                return annotation.number().map_or(0, |width| width as u32);
            }
        }
        width(ty)
    }
}

/// The annotation of a new type with other values in the control plane.
const TRANSLATION: &str = "p4runtime_translation";

/// The name given by `@name`, without the dot of an absolute one.
pub(super) fn named(annotations: &[Annotation]) -> Option<&str> {
    let name = annotations.iter().find(|annotation| annotation.name == "name")?.string()?;
    Some(name.strip_prefix('.').unwrap_or(name))
}

/// Bits of a value.
pub(super) fn width(ty: &Type) -> u32 {
    match ty {
        Type::Bool => 1,
        Type::Bit(width) | Type::Int(width) | Type::VarBit(width) => *width,
        Type::SerializableEnum(of) => of.underlying.as_ref().map_or(0, width),
        Type::New(new) => width(&new.target),
        _ => 0,
    }
}

/// The fields of a header, with nested structs expanded: `outer.inner`.
pub(super) fn flat(header: &FieldsType) -> Vec<(String, Type, Vec<Annotation>)> {
    let mut found = Vec::new();
    let nested = header.fields.iter().any(|field| matches!(field.ty, Type::Struct(_)));
    for field in &header.fields {
        let annotations = read(&field.annotations);
        match &field.ty {
            Type::Struct(inner) => {
                for (name, ty, own) in flat(inner) {
                    let mut all = own;
                    let known: Vec<String> = all.iter().map(|a| a.name.clone()).collect();
                    all.extend(annotations.iter().filter(|a| !known.contains(&a.name)).cloned());
                    found.push((format!("{}.{name}", field.name), ty, all));
                }
            }
            ty => {
                let name = if nested { None } else { named(&annotations) };
                found.push((name.unwrap_or(&field.name).to_owned(), ty.clone(), annotations));
            }
        }
    }
    found
}
