//! Bytecode of the Internet checksum over fields in slots (RFC 1071).
//!
//! Must not depend on packets or headers: the fields are adjacent, in whole words of 16 bits.

use sojourn_p4::interp::Assembler;
use sojourn_p4::interp::jit_tier::{At, Op};
use sojourn_p4::ir::Slot;

/// Bits of the words that are added up.
pub const WORD: u32 = 16;

/// Adds fields to a sum, of which only the remainder modulo 2^16 - 1 matters, and whether it is 0.
/// A field is shifted by its distance from the end of its last word, and its whole words are added
/// unshifted. Returns the maximum growth of the sum.
pub fn add(fields: &[(Slot, u32)], sum: At, to: &mut Assembler<'_, '_>) -> Option<u64> {
    let (mut bit, mut most, part) = (0, 0, to.temporary()?);
    for (slot, width) in fields {
        if *width > 64 {
            return None;
        }
        bit += width;
        let by = ((WORD - bit % WORD) % WORD) as u8;
        let field = At::try_from(slot.0).ok()?;
        // Parts that stay below 2^48 when shifted.
        for low in (0..*width).step_by(32) {
            let bits = (width - low).min(32);
            let mut b = field;
            if *width > 32 {
                let (left, right) = ((64 - low - bits) as u8, (64 - bits) as u8);
                to.push(Op::Shift { to: part, a: field, left, right });
                b = part;
            }
            if by > 0 {
                to.push(Op::ShlConst { to: part, a: b, cut: 0, by });
                b = part;
            }
            to.push(Op::Add { to: sum, a: sum, b, cut: 0 });
            most += (1 << (bits + u32::from(by))) - 1;
        }
    }
    Some(most)
}

/// Computes the checksum of a sum of at most `most`: folds the carries and complements.
pub fn complement(sum: At, mut most: u64, to: &mut Assembler<'_, '_>) -> Option<()> {
    let [high, low] = [to.temporary()?, to.temporary()?];
    let mut fold = |right: u32| {
        to.push(Op::Shift { to: high, a: sum, left: 0, right: right as u8 });
        to.push(Op::AndConst { to: low, a: sum, value: (1 << right) - 1 });
        to.push(Op::Add { to: sum, a: high, b: low, cut: 0 });
    };
    // After one more carry there is no other.
    const ALL: u64 = (1 << WORD) - 1;
    while most > 2 * ALL {
        let right = if most >> 40 > 0 { 32 } else { WORD };
        fold(right);
        most = (most >> right) + (1 << right) - 1;
    }
    if most > ALL {
        fold(WORD);
    }
    to.push(Op::XorConst { to: sum, a: sum, value: ALL });
    Some(())
}
