//! Shape of a register's entry in the stateful ALU's memory (rules T01).

use crate::chip::StatefulAlu;
use crate::rules::{self, Refusal};
use crate::salu::Width;
use sojourn_p4::source::Span;
use sojourn_p4::types::Type;

/// One or two words of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width of each word as the ALU works on it.
    pub width: Width,
    /// Two words.
    pub dual: bool,
    /// Each word has 32 bits more, above those that the ALU works on.
    pub wide: bool,
    /// The two words are one number.
    pub joined: bool,
}

impl Shape {
    /// The shape of entries of type `ty` on a chip.
    pub fn new(ty: &Type, chip: StatefulAlu, span: Span) -> Result<Shape, Refusal> {
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
        let dual = fields.len() == 2;
        let bits = first.map_or(0, |(_, bits)| bits);
        let entry = bits << u32::from(dual);
        // Both words of an entry of Tofino 1 can be one number to the control plane.
        if matches!(bits, 64 | 128) && entry <= chip.widest.max(64) {
            let joined = bits == 128;
            let dual = dual || joined;
            return Ok(Shape { width: Width::ThirtyTwo, dual, wide: true, joined });
        }
        match Width::from_bits(bits) {
            Some(Width::One) if matches!(strip(ty), Type::Struct(_) | Type::Tuple(_)) => {
                refuse(format!("a register of `{ty}` packs single bits into a struct"))
            }
            Some(width) => Ok(Shape { width, dual, wide: false, joined: false }),
            None => refuse(format!("a register cannot hold `{ty}`")),
        }
    }

    /// Bits of each word.
    pub fn word_bits(self) -> u32 {
        self.width.bits() + if self.wide { 32 } else { 0 }
    }

    /// Bits of what an action calls one value.
    pub fn value_bits(self) -> u32 {
        if self.joined { self.entry_bits() } else { self.word_bits() }
    }

    /// All bits of a word set.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.word_bits())
    }

    /// Bits of an entry.
    pub fn entry_bits(self) -> u32 {
        self.word_bits() << u32::from(self.dual)
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
    use crate::chip::{Chip, TOFINO1, TOFINO2};
    use sojourn_p4::diagnostic::Diagnostic;

    fn shape_on(chip: &Chip, ty: Type) -> Result<Shape, String> {
        let shape = Shape::new(&ty, chip.stateful_alu, Span::DUMMY);
        shape.map_err(|refused| Diagnostic::from(refused).message)
    }

    fn shape(ty: Type) -> Result<Shape, String> {
        shape_on(&TOFINO1, ty)
    }

    fn small(width: Width, dual: bool) -> Result<Shape, String> {
        Ok(Shape { width, dual, wide: false, joined: false })
    }

    fn pair(a: Type, b: Type) -> Type {
        Type::Tuple([a, b].into())
    }

    #[test]
    fn words_of_8_16_and_32_bits_come_single_or_in_pairs() {
        for (bits, width) in [(8, Width::Eight), (16, Width::Sixteen), (32, Width::ThirtyTwo)] {
            assert_eq!(shape(Type::Int(bits)), small(width, false));
            assert_eq!(shape(pair(Type::Bit(bits), Type::Bit(bits))), small(width, true));
        }
        assert_eq!(shape(Type::Bit(1)), small(Width::One, false));
    }

    #[test]
    fn tofino_2_has_words_of_64_bits_in_pairs_and_of_128() {
        let two = |ty| shape_on(&TOFINO2, ty).map(Shape::entry_bits);
        assert_eq!(two(Type::Bit(64)), Ok(64));
        assert_eq!(two(pair(Type::Bit(64), Type::Bit(64))), Ok(128));
        assert_eq!(two(Type::Bit(128)), Ok(128));
        assert!(two(pair(Type::Bit(128), Type::Bit(128))).is_err());
        assert!(shape(Type::Bit(128)).is_err());
        assert!(shape(pair(Type::Bit(64), Type::Bit(64))).is_err());
    }

    #[test]
    fn other_widths_and_mixed_pairs_are_refused() {
        assert_eq!(shape(Type::Bit(48)), Err("a register cannot hold `bit<48>`".into()));
        assert!(shape(pair(Type::Bit(32), Type::Int(32))).unwrap_err().contains("different types"));
        assert!(shape(pair(Type::Bit(1), Type::Bit(1))).unwrap_err().contains("single bits"));
    }
}
