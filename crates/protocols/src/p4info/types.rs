//! Types in the form of P4Info.

use super::Notes;
use crate::wire::p4::config::v1 as p4;
use p4::p4_bitstring_like_type_spec::TypeSpec as Bits;
use p4::p4_data_type_spec::TypeSpec;
use sojourn_control::schema::{DataType, EnumType, Field, NewType, Types};

/// The name of a type declared by `type`; others are represented by their width.
pub fn name(ty: &DataType) -> Option<p4::P4NamedType> {
    match ty {
        DataType::New(name) => Some(named(name)),
        _ => None,
    }
}

/// The same for an action's parameter, which may be an enum without values.
pub fn parameter_name(ty: &DataType) -> Option<p4::P4NamedType> {
    match ty {
        DataType::Enum(name) => Some(named(name)),
        other => name(other),
    }
}

fn named(name: &str) -> p4::P4NamedType {
    p4::P4NamedType { name: name.to_owned() }
}

/// Type specification of a register's cell or a digest.
pub fn spec(ty: &DataType) -> p4::P4DataTypeSpec {
    let type_spec = match ty {
        DataType::Bool => TypeSpec::Bool(p4::P4BoolType {}),
        DataType::Bit(_) | DataType::Int(_) | DataType::VarBit(_) => TypeSpec::Bitstring(bits(ty)),
        DataType::Error => TypeSpec::Error(p4::P4ErrorType {}),
        DataType::Enum(name) => TypeSpec::Enum(named(name)),
        DataType::SerializableEnum(name) => TypeSpec::SerializableEnum(named(name)),
        DataType::New(name) => TypeSpec::NewType(named(name)),
        DataType::Struct(name) => TypeSpec::Struct(named(name)),
        DataType::Header(name) => TypeSpec::Header(named(name)),
        DataType::HeaderUnion(name) => TypeSpec::HeaderUnion(named(name)),
        DataType::HeaderStack(name, size) => TypeSpec::HeaderStack(p4::P4HeaderStackTypeSpec {
            header: Some(named(name)),
            size: *size as i32,
        }),
        DataType::HeaderUnionStack(name, size) => {
            TypeSpec::HeaderUnionStack(p4::P4HeaderUnionStackTypeSpec {
                header_union: Some(named(name)),
                size: *size as i32,
            })
        }
        DataType::Tuple(parts) => {
            TypeSpec::Tuple(p4::P4TupleTypeSpec { members: parts.iter().map(spec).collect() })
        }
        DataType::Other => return p4::P4DataTypeSpec::default(),
    };
    p4::P4DataTypeSpec { type_spec: Some(type_spec) }
}

fn bits(ty: &DataType) -> p4::P4BitstringLikeTypeSpec {
    let type_spec = match ty {
        DataType::Bit(width) => Some(Bits::Bit(p4::P4BitTypeSpec { bitwidth: *width as i32 })),
        DataType::Int(width) => Some(Bits::Int(p4::P4IntTypeSpec { bitwidth: *width as i32 })),
        DataType::VarBit(width) => {
            Some(Bits::Varbit(p4::P4VarbitTypeSpec { max_bitwidth: *width as i32 }))
        }
        _ => None,
    };
    p4::P4BitstringLikeTypeSpec { type_spec, ..Default::default() }
}

/// All types with names.
pub fn info(types: &Types) -> p4::P4TypeInfo {
    let structs = types.structs.iter().map(|(name, fields)| {
        let member = |field: &Field| p4::p4_struct_type_spec::Member {
            name: field.name.clone(),
            type_spec: Some(spec(&field.ty)),
        };
        let members = fields.iter().map(member).collect();
        (name.clone(), p4::P4StructTypeSpec { members, ..Default::default() })
    });
    let headers = types.headers.iter().map(|(name, fields)| {
        let member = |field: &Field| p4::p4_header_type_spec::Member {
            name: field.name.clone(),
            type_spec: Some(bits(&field.ty)),
        };
        let members = fields.iter().map(member).collect();
        (name.clone(), p4::P4HeaderTypeSpec { members, ..Default::default() })
    });
    let unions = types.header_unions.iter().map(|(name, fields)| {
        let member = |field: &Field| p4::p4_header_union_type_spec::Member {
            name: field.name.clone(),
            header: match &field.ty {
                DataType::Header(name) => Some(named(name)),
                _ => None,
            },
        };
        let members = fields.iter().map(member).collect();
        (name.clone(), p4::P4HeaderUnionTypeSpec { members, ..Default::default() })
    });
    let enums = types.enums.iter().map(|(name, members)| {
        let member = |name: &String| p4::p4_enum_type_spec::Member {
            name: name.clone(),
            ..Default::default()
        };
        let members = members.iter().map(member).collect();
        (name.clone(), p4::P4EnumTypeSpec { members, ..Default::default() })
    });
    let valued = types.serializable_enums.iter();
    let valued = valued.map(|(name, of)| (name.clone(), serializable(of)));
    let new_types = types.new_types.iter().map(|(name, of)| (name.clone(), new_type(of)));
    p4::P4TypeInfo {
        structs: structs.collect(),
        headers: headers.collect(),
        header_unions: unions.collect(),
        enums: enums.collect(),
        error: types.errors.clone().map(|members| p4::P4ErrorTypeSpec { members }),
        serializable_enums: valued.collect(),
        new_types: new_types.collect(),
    }
}

fn serializable(of: &EnumType) -> p4::P4SerializableEnumTypeSpec {
    let members =
        of.members.iter().map(|(name, value)| p4::p4_serializable_enum_type_spec::Member {
            name: name.clone(),
            value: value.bytes.clone(),
            ..Default::default()
        });
    p4::P4SerializableEnumTypeSpec {
        underlying_type: Some(p4::P4BitTypeSpec { bitwidth: of.width as i32 }),
        members: members.collect(),
        ..Default::default()
    }
}

fn new_type(of: &NewType) -> p4::P4NewTypeSpec {
    use p4::p4_new_type_spec::Representation;
    use p4::p4_new_type_translation::{SdnString, SdnType};
    let notes = Notes::new(&of.annotations, &["p4runtime_translation"]);
    let translation = of.annotations.iter().find(|a| a.name == "p4runtime_translation");
    let representation = match translation {
        Some(annotation) => Representation::TranslatedType(p4::P4NewTypeTranslation {
            uri: annotation.string().unwrap_or_default().to_owned(),
            sdn_type: Some(match annotation.number() {
                Some(width) => SdnType::SdnBitwidth(width as i32),
                None => SdnType::SdnString(SdnString {}),
            }),
        }),
        None => Representation::OriginalType(spec(&of.original)),
    };
    p4::P4NewTypeSpec {
        annotations: notes.plain,
        structured_annotations: notes.structured,
        representation: Some(representation),
        ..Default::default()
    }
}
