//! Units that Tofino 2 adds to a stateful ALU: division, and the search for a minimum or maximum.
//!
//! Both work beside comparisons and update ALUs. Sources: the public reference model's behaviour and
//! the expectations of its unit tests for division and search. Must not depend on P4.

use super::execute::{Fetched, Shared};
use super::instruction::{Change, Division, Number, Search, Special, Width, Word};

/// Result of a special unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The quotient, or the element.
    pub first: u64,
    /// The remainder, or the element's number.
    pub second: u64,
    /// The memory's new word.
    pub word: Option<u128>,
}

/// Runs a special unit.
pub(super) fn run(special: Special, width: Width, shared: &Shared, at: &Fetched) -> Found {
    match special {
        Special::Division(Division { dividend, divisor }) => {
            let number = |word| match word {
                Word::Memory(m) => at.memory(m) as i16,
                Word::Phv(p) => at.phv(p) as i16,
                Word::Constant(of) => shared.constant(of, width) as i16,
            };
            let (quotient, remainder) = divide(number(dividend), number(divisor));
            Found { first: bits(quotient), second: bits(remainder), word: None }
        }
        Special::Search(search) => find(search, at),
    }
}

fn bits(number: i16) -> u64 {
    u64::from(number as u16)
}

/// Quotient and remainder, which has the divisor's sign. A quotient by 0 is the largest number with
/// the dividend's sign, its remainder the dividend.
fn divide(x: i16, y: i16) -> (i16, i16) {
    if y == 0 {
        return (if x < 0 { i16::MIN } else { i16::MAX }, x);
    }
    let remainder = x.wrapping_rem(y);
    let turned = remainder != 0 && (remainder < 0) != (y < 0);
    (x.wrapping_div(y), if turned { remainder + y } else { remainder })
}

/// The smallest or largest element among those of the mask; nothing if there is none.
fn find(search: Search, at: &Fetched) -> Found {
    let width = if search.wide { 16 } else { 8 };
    let mask = match search.mask {
        Number::Constant(mask) => mask,
        Number::Phv(p) => at.phv(p) as u16,
    };
    let element = |index: u32| (at.word >> (index * width)) as u16 & (u16::MAX >> (16 - width));
    let elements = (0..128 / width).filter(|index| mask >> index & 1 == 1);
    let key =
        |index: &u32| (if search.largest { element(*index) } else { !element(*index) }, *index);
    let Some(index) = elements.max_by_key(key) else { return Found::default() };
    let value = element(index);
    let word = search.change.map(|change| {
        let ones = u128::from(u16::MAX >> (16 - width));
        let new = u128::from(changed(value, change, at).min(ones as u16));
        at.word & !(ones << (index * width)) | new << (index * width)
    });
    Found { first: value.into(), second: index.into(), word }
}

fn changed(value: u16, Change { by, down }: Change, at: &Fetched) -> u16 {
    let by = match by {
        Number::Constant(by) => by,
        Number::Phv(p) => at.phv(p) as u16 & 0xff,
    };
    if down { value.saturating_sub(by) } else { value.saturating_add(by) }
}

#[cfg(test)]
mod tests {
    use super::super::instruction::PhvOperand;
    use super::*;

    #[test]
    fn a_remainder_has_the_divisors_sign_and_a_division_by_zero_the_largest_quotient() {
        let all = [(7, 2), (-7, 2), (7, -2), (-7, -2), (9, 0), (-9, 0), (i16::MIN, -1)];
        assert_eq!(
            all.map(|(x, y)| divide(x, y)),
            [(3, 1), (-3, 1), (-3, -1), (3, -1), (i16::MAX, 9), (i16::MIN, -9), (i16::MIN, 0)]
        );
    }

    fn search(largest: bool, wide: bool, mask: u16) -> Search {
        Search { largest, wide, mask: Number::Constant(mask), change: None }
    }

    #[test]
    fn a_search_finds_the_last_of_equal_elements_among_those_of_the_mask() {
        let at = Fetched { word: 0x00ff_0105_0101_0900_0000_0000_0000_0000, ..Fetched::default() };
        let find = |of| {
            let Found { first, second, .. } = find(of, &at);
            (first, second)
        };
        assert_eq!(find(search(false, false, 0x7c00)), (1, 13));
        assert_eq!(find(search(true, false, 0xffff)), (0xff, 14));
        assert_eq!(find(search(true, true, 0b1111_0000)), (0x0900, 4));
        assert_eq!(find(search(false, true, 0xff)), (0, 3));
        assert_eq!(find(search(false, true, 0)), (0, 0));
    }

    #[test]
    fn a_change_of_the_element_stops_at_the_ends_of_its_width() {
        let at = Fetched { word: 0xf0 << 8 | 3, phv_hi: 0x120, ..Fetched::default() };
        let change = |largest, by, down| {
            let change = Some(Change { by, down });
            find(Search { change, ..search(largest, false, 3) }, &at).word
        };
        let phv = Number::Phv(PhvOperand::Hi);
        assert_eq!(change(true, phv, false), Some(0xff << 8 | 3));
        assert_eq!(change(false, Number::Constant(4), true), Some(0xf0 << 8));
        assert_eq!(change(true, Number::Constant(4), true), Some(0xec << 8 | 3));
    }
}
