//! Shape of a register's entry in the stateful ALU's memory (rules T01).

use crate::rules::{self, Refusal};
use crate::salu::Width;
use sojourn_p4::source::Span;
use sojourn_p4::types::Type;

/// One or two words of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width of each word.
    pub width: Width,
    /// Two words.
    pub dual: bool,
}

impl Shape {
    /// The shape of entries of type `ty`.
    pub fn new(ty: &Type, span: Span) -> Result<Shape, Refusal> {
        let refuse = |why: String| Err(rules::ENTRY_TYPE.refuse(span, why));
        let fields: Vec<&Type> = match strip(ty) {
            Type::Struct(fields) => fields.fields.iter().map(|field| &field.ty).collect(),
            Type::Tuple(fields) => fields.iter().collect(),
            scalar => vec![scalar],
        };
        if fields.is_empty() || fields.len() > 2 {
            return refuse(format!("a register of `{ty}` has {} fields", fields.len()));
        }
        let word = |ty: &Type| match strip(ty) {
            Type::Bit(width) => Some((false, *width)),
            Type::Int(width) => Some((true, *width)),
            Type::Bool => Some((false, 1)),
            _ => None,
        };
        let first = word(fields[0]);
        if fields.len() == 2 && word(fields[1]) != first {
            return refuse(format!("the two fields of a register of `{ty}` have different types"));
        }
        if is_double_word(ty) {
            return Ok(Shape { width: Width::ThirtyTwo, dual: true });
        }
        let width = first.and_then(|(_, bits)| Width::from_bits(bits));
        match width {
            Some(Width::One) if matches!(strip(ty), Type::Struct(_) | Type::Tuple(_)) => {
                refuse(format!("a register of `{ty}` packs single bits into a struct"))
            }
            Some(width) => Ok(Shape { width, dual: fields.len() == 2 }),
            None => refuse(format!("a register cannot hold `{ty}`")),
        }
    }
}

/// True for a scalar of 64 bits, which takes both words of an entry.
pub fn is_double_word(ty: &Type) -> bool {
    matches!(strip(ty), Type::Bit(64) | Type::Int(64))
}

/// True for an entry with words of 64 or 128 bits.
pub fn is_wide_entry(ty: &Type) -> bool {
    match strip(ty) {
        Type::Bit(64 | 128) | Type::Int(64 | 128) => true,
        Type::Struct(of) => of.fields.iter().any(|field| is_double_word(&field.ty)),
        _ => false,
    }
}

/// The type under `type T name` and enumerations with a representation.
fn strip(ty: &Type) -> &Type {
    match ty {
        Type::New(new) => strip(&new.target),
        Type::SerializableEnum(e) => e.underlying.as_ref().map_or(ty, strip),
        _ => ty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_p4::diagnostic::Diagnostic;

    fn shape(ty: Type) -> Result<Shape, String> {
        Shape::new(&ty, Span::DUMMY).map_err(|refused| Diagnostic::from(refused).message)
    }

    fn pair(a: Type, b: Type) -> Type {
        Type::Tuple([a, b].into())
    }

    #[test]
    fn words_of_8_16_and_32_bits_come_single_or_in_pairs() {
        for (bits, width) in [(8, Width::Eight), (16, Width::Sixteen), (32, Width::ThirtyTwo)] {
            assert_eq!(shape(Type::Int(bits)), Ok(Shape { width, dual: false }));
            let two = pair(Type::Bit(bits), Type::Bit(bits));
            assert_eq!(shape(two), Ok(Shape { width, dual: true }));
        }
        assert_eq!(shape(Type::Bit(1)), Ok(Shape { width: Width::One, dual: false }));
    }

    #[test]
    fn other_widths_and_mixed_pairs_are_refused() {
        assert_eq!(shape(Type::Bit(48)), Err("a register cannot hold `bit<48>`".into()));
        assert!(shape(pair(Type::Bit(32), Type::Int(32))).unwrap_err().contains("different types"));
        assert!(shape(pair(Type::Bit(1), Type::Bit(1))).unwrap_err().contains("single bits"));
    }
}
