//! P4Runtime's encoding of values of any type (`P4Data`), and the numbers that they consist of.

use super::bytes::{canonical, canonical_signed, signed, unsigned};
use crate::failure::Failure;
use crate::wire::p4::config::v1::p4_bitstring_like_type_spec::TypeSpec as Bits;
use crate::wire::p4::config::v1::p4_data_type_spec::TypeSpec;
use crate::wire::p4::config::v1::p4_new_type_spec::Representation;
use crate::wire::p4::config::v1::{P4BitstringLikeTypeSpec, P4DataTypeSpec, P4TypeInfo};
use crate::wire::p4::v1::p4_data::Data;
use crate::wire::p4::v1::{P4Data, P4Header, P4StructLike};
use num_bigint::BigUint;

/// Maximum nesting depth of types.
const DEEPEST: u32 = 32;

/// Leaf type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// `bit<width>`.
    Bits(u32),
    /// `int<width>`.
    Signed(u32),
    /// A boolean.
    Bool,
    /// An enum with an underlying type of this width, bits.
    Enum(u32),
    /// A struct, or a tuple.
    Struct(Vec<Leaf>, bool),
    /// A header.
    Header(Vec<Leaf>),
}

/// Leaf type of a type specification.
///
/// # Errors
/// Types without a supported representation.
pub fn leaf(spec: Option<&P4DataTypeSpec>, types: &P4TypeInfo) -> Result<Leaf, Failure> {
    nested(spec, types, DEEPEST)
}

fn nested(spec: Option<&P4DataTypeSpec>, types: &P4TypeInfo, left: u32) -> Result<Leaf, Failure> {
    let unknown = |what: &str| Failure::unimplemented(format!("data of type {what}"));
    let spec = spec.and_then(|spec| spec.type_spec.as_ref());
    let Some(left) = left.checked_sub(1) else { return Err(unknown("that contains itself")) };
    Ok(match spec.ok_or_else(|| unknown("unset"))? {
        TypeSpec::Bitstring(bits) => bitstring(bits)?,
        TypeSpec::Bool(_) => Leaf::Bool,
        TypeSpec::Tuple(tuple) => {
            let members = tuple.members.iter().map(|member| nested(Some(member), types, left));
            Leaf::Struct(members.collect::<Result<_, _>>()?, true)
        }
        TypeSpec::Struct(name) => {
            let known = types.structs.get(&name.name).ok_or_else(|| unknown(&name.name))?;
            let members = known.members.iter();
            let members = members.map(|member| nested(member.type_spec.as_ref(), types, left));
            Leaf::Struct(members.collect::<Result<_, _>>()?, false)
        }
        TypeSpec::Header(name) => {
            let known = types.headers.get(&name.name).ok_or_else(|| unknown(&name.name))?;
            let field = |spec: &Option<P4BitstringLikeTypeSpec>| {
                bitstring(spec.as_ref().ok_or_else(|| unknown(&name.name))?)
            };
            let members = known.members.iter().map(|member| field(&member.type_spec));
            Leaf::Header(members.collect::<Result<_, _>>()?)
        }
        TypeSpec::SerializableEnum(name) => {
            let known = types.serializable_enums.get(&name.name);
            let width = known.and_then(|known| known.underlying_type);
            Leaf::Enum(width.ok_or_else(|| unknown(&name.name))?.bitwidth.max(0) as u32)
        }
        TypeSpec::NewType(name) => {
            let known = types.new_types.get(&name.name).and_then(|new| new.representation.as_ref());
            match known.ok_or_else(|| unknown(&name.name))? {
                Representation::OriginalType(original) => nested(Some(original), types, left)?,
                Representation::TranslatedType(_) => return Err(unknown(&name.name)),
            }
        }
        _ => return Err(unknown("header union, stack, enum without values or error")),
    })
}

fn bitstring(spec: &P4BitstringLikeTypeSpec) -> Result<Leaf, Failure> {
    match &spec.type_spec {
        Some(Bits::Bit(bit)) => Ok(Leaf::Bits(bit.bitwidth.max(0) as u32)),
        Some(Bits::Int(int)) => Ok(Leaf::Signed(int.bitwidth.max(0) as u32)),
        _ => Err(Failure::unimplemented("data of type varbit")),
    }
}

impl Leaf {
    /// Width of a value in bits, with its parts in sequence.
    pub fn width(&self) -> u32 {
        match self {
            Leaf::Bits(width) | Leaf::Signed(width) | Leaf::Enum(width) => *width,
            Leaf::Bool => 1,
            Leaf::Struct(parts, _) | Leaf::Header(parts) => parts.iter().map(Leaf::width).sum(),
        }
    }

    /// Number of numbers in a value.
    fn count(&self) -> usize {
        match self {
            Leaf::Struct(parts, _) | Leaf::Header(parts) => parts.iter().map(Leaf::count).sum(),
            _ => 1,
        }
    }

    /// Encodes a value from its numbers; missing ones are 0.
    pub fn encode(&self, numbers: &mut impl Iterator<Item = BigUint>) -> P4Data {
        let data = match self {
            Leaf::Bits(_) => Data::Bitstring(canonical(&numbers.next().unwrap_or_default())),
            Leaf::Signed(width) => {
                Data::Bitstring(canonical_signed(&numbers.next().unwrap_or_default(), *width))
            }
            Leaf::Bool => Data::Bool(numbers.next().is_some_and(|number| number.bit(0))),
            Leaf::Enum(_) => Data::EnumValue(canonical(&numbers.next().unwrap_or_default())),
            Leaf::Struct(parts, tuple) => {
                let members = parts.iter().map(|part| part.encode(numbers)).collect();
                let members = P4StructLike { members };
                if *tuple { Data::Tuple(members) } else { Data::Struct(members) }
            }
            Leaf::Header(parts) => {
                let bytes = |part: &Leaf| match part.encode(numbers).data {
                    Some(Data::Bitstring(bytes)) => bytes,
                    _ => Vec::new(),
                };
                let bitstrings = parts.iter().map(bytes).collect();
                Data::Header(P4Header { is_valid: true, bitstrings })
            }
        };
        P4Data { data: Some(data) }
    }

    /// Encodes a value from its bits, with its parts in sequence.
    pub fn encode_bits(&self, bytes: &[u8]) -> P4Data {
        let all = BigUint::from_bytes_be(bytes);
        let mut left = bytes.len() as u64 * 8;
        let mut widths = Vec::with_capacity(self.count());
        self.widths(&mut widths);
        let mut numbers = widths.into_iter().map(|width| {
            left = left.saturating_sub(u64::from(width));
            (&all >> left) & ((BigUint::from(1_u8) << width) - 1_u8)
        });
        self.encode(&mut numbers)
    }

    fn widths(&self, out: &mut Vec<u32>) {
        match self {
            Leaf::Struct(parts, _) | Leaf::Header(parts) => {
                parts.iter().for_each(|part| part.widths(out));
            }
            other => out.push(other.width()),
        }
    }

    /// Decodes a value into its numbers.
    ///
    /// # Errors
    /// It has another type, or does not fit.
    pub fn decode(&self, data: Option<&P4Data>, out: &mut Vec<BigUint>) -> Result<(), Failure> {
        let wrong = || Failure::invalid("the data are of another type than the P4Info says");
        let range = |error: super::bytes::BytesError| Failure::new(tonic::Code::OutOfRange, error);
        match (self, data.and_then(|data| data.data.as_ref()).ok_or_else(wrong)?) {
            (Leaf::Bits(width), Data::Bitstring(bytes))
            | (Leaf::Enum(width), Data::EnumValue(bytes)) => {
                out.push(unsigned(bytes, *width).map_err(range)?);
            }
            (Leaf::Signed(width), Data::Bitstring(bytes)) => {
                out.push(signed(bytes, *width).map_err(range)?);
            }
            (Leaf::Bool, Data::Bool(value)) => out.push(u8::from(*value).into()),
            (Leaf::Struct(parts, true), Data::Tuple(given))
            | (Leaf::Struct(parts, false), Data::Struct(given)) => {
                if parts.len() != given.members.len() {
                    return Err(wrong());
                }
                for (part, member) in parts.iter().zip(&given.members) {
                    part.decode(Some(member), out)?;
                }
            }
            (Leaf::Header(parts), Data::Header(given)) => {
                if !given.is_valid || parts.len() != given.bitstrings.len() {
                    return Err(wrong());
                }
                for (part, bytes) in parts.iter().zip(&given.bitstrings) {
                    let data = P4Data { data: Some(Data::Bitstring(bytes.clone())) };
                    part.decode(Some(&data), out)?;
                }
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_struct_of_bits_comes_out_as_it_went_in() {
        let leaf = Leaf::Struct(vec![Leaf::Bits(48), Leaf::Bits(9), Leaf::Bool], false);
        // 48 bits, 9 bits and one, and zeros behind them.
        let value = leaf.encode_bits(&[0, 0, 0, 0, 0, 5, 0b1000_0000, 0b1100_0000]);
        let mut numbers = Vec::new();
        leaf.decode(Some(&value), &mut numbers).unwrap();
        assert_eq!(numbers, [5_u32.into(), 257_u32.into(), 1_u32.into()]);
        assert_eq!(leaf.encode(&mut numbers.into_iter()), value);
    }

    #[test]
    fn data_of_another_type_or_too_wide_are_refused() {
        let mut out = Vec::new();
        let data = |data| Some(P4Data { data: Some(data) });
        let wide = data(Data::Bitstring(vec![1, 0]));
        let code = Leaf::Bits(8).decode(wide.as_ref(), &mut out).unwrap_err().code;
        assert_eq!(code, tonic::Code::OutOfRange);
        let other = data(Data::Bool(true));
        let code = Leaf::Bits(8).decode(other.as_ref(), &mut out).unwrap_err().code;
        assert_eq!(code, tonic::Code::InvalidArgument);
        assert!(Leaf::Bool.decode(None, &mut out).is_err());
    }
}
