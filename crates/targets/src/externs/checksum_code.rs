//! The Internet checksum of fields in slots as code (RFC 1071).
//!
//! It knows no packet and no header: fields lie one behind the other, in whole words of 16 bits.

use sojourn_p4::interp::Assembler;
use sojourn_p4::interp::machine::{At, Op};
use sojourn_p4::ir::Slot;

/// Bits of the words that are added up.
pub(crate) const WORD: u32 = 16;

/// Adds fields to a sum of which only the remainder by 2^16 - 1 counts, and whether it is 0. So a field
/// counts as often as what it is shifted by within its last word, and whole words of it count once.
pub(crate) fn add(fields: &[(Slot, u32)], sum: At, to: &mut Assembler<'_, '_>) -> Option<()> {
    let (mut bit, part) = (0, to.temporary()?);
    for (slot, width) in fields {
        if *width > 64 {
            return None;
        }
        bit += width;
        let by = ((WORD - bit % WORD) % WORD) as u8;
        // Parts that stay below 2^48 when they are shifted.
        for low in (0..*width).step_by(32) {
            let bits = (width - low).min(32);
            let (left, right) = ((64 - low - bits) as u8, (64 - bits) as u8);
            to.push(Op::Shift { to: part, a: At::try_from(slot.0).ok()?, left, right });
            to.push(Op::ShlConst { to: part, a: part, cut: 0, by });
            to.push(Op::Add { to: sum, a: sum, b: part, cut: 0 });
        }
    }
    Some(())
}

/// Makes the checksum of a sum: that of its words with their carries, complemented.
pub(crate) fn complement(sum: At, to: &mut Assembler<'_, '_>) -> Option<()> {
    let [high, low] = [to.temporary()?, to.temporary()?];
    // Below 2^64, 2^33, 2^18 and 2^17: the last leaves no carry.
    for right in [32, WORD, WORD, WORD] {
        to.push(Op::Shift { to: high, a: sum, left: 0, right: right as u8 });
        to.push(Op::AndConst { to: low, a: sum, value: (1 << right) - 1 });
        to.push(Op::Add { to: sum, a: high, b: low, cut: 0 });
    }
    to.push(Op::XorConst { to: sum, a: sum, value: (1 << WORD) - 1 });
    Some(())
}
