//! Selects: transitions of parser states.
//!
//! The IR's patterns have any width; converting them for each packet would cost more than the
//! comparison, so patterns of narrow keys are prepared.

use super::code::{At, To};
use crate::interp::Tables;
use crate::interp::arith::{mask, narrowed};
use crate::ir::{Expr, Next, Pattern, Scalar, SelectCase, ValueSetId};
use smallvec::SmallVec;

/// A select on narrow keys: its cases in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Select {
    pub cases: Vec<Case>,
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    /// Tests that can fail; a pattern that matches everything has none.
    tests: SmallVec<[Test; 2]>,
    pub to: To,
}

/// A select with a wide key, for the tree.
#[derive(Clone, Debug)]
pub(super) struct WideSelect {
    pub keys: Vec<Expr>,
    pub cases: Vec<SelectCase>,
    /// Start of each state.
    pub states: Vec<To>,
    pub accept: To,
    pub reject: To,
}

impl WideSelect {
    /// Position of the next state.
    pub fn to(&self, next: Next) -> To {
        match next {
            Next::State(state) => self.states.get(state.index()).copied().unwrap_or(self.reject),
            Next::Accept => self.accept,
            Next::Reject => self.reject,
        }
    }
}

/// Required value of a key.
#[derive(Clone, Debug)]
enum Test {
    /// Equal under the mask.
    Masked { key: At, value: u128, mask: u128 },
    /// Between two bounds, inclusive, after `flip` converts the order to an unsigned one.
    Between { key: At, flip: u128, low: u128, high: u128 },
    /// The values of these keys are in the value set.
    InSet { keys: Box<[At]>, set: ValueSetId },
}

impl Select {
    /// Target of the first case that matches.
    #[inline]
    pub fn choose(&self, slots: &[u128], tables: &Tables) -> Option<To> {
        let matches = |case: &&Case| case.tests.iter().all(|test| test.holds(slots, tables));
        self.cases.iter().find(matches).map(|case| case.to)
    }
}

/// Conditions of a case as comparisons of machine words: key index, mask and value.
pub(super) type Words = SmallVec<[(usize, u64, u64); 2]>;

/// Conditions of a case as word comparisons, if it has that form.
pub(super) fn words(case: &SelectCase, keys: &[Expr]) -> Option<Words> {
    let mut words = Words::new();
    for (at, (pattern, key)) in case.patterns.iter().zip(keys).enumerate() {
        let full = mask(key.scalar.width());
        let (value, mask) = match pattern {
            Pattern::Any => continue,
            Pattern::Value(value) => (narrowed(value), full),
            Pattern::Mask(value, mask) => (narrowed(value) & narrowed(mask), narrowed(mask) & full),
            Pattern::Range(..) | Pattern::ValueSet(_) => return None,
        };
        if mask != 0 || value != 0 {
            words.push((at, mask.try_into().ok()?, value.try_into().ok()?));
        }
    }
    Some(words)
}

impl Case {
    /// A case on keys in these slots.
    pub fn new(case: &SelectCase, keys: &[Expr], slots: &[At], to: To) -> Case {
        let columns = case.patterns.iter().zip(keys).enumerate();
        let tests =
            columns.filter_map(|(at, (pattern, key))| Test::new(pattern, &slots[at..], key.scalar));
        Case { tests: tests.collect(), to }
    }

    /// Calls `reads` with each slot that it reads.
    pub fn reads(&self, reads: &mut impl FnMut(At)) {
        self.tests.iter().for_each(|test| test.reads(reads));
    }
}

impl Test {
    fn reads(&self, reads: &mut impl FnMut(At)) {
        match self {
            Test::Masked { key, .. } | Test::Between { key, .. } => reads(*key),
            Test::InSet { keys, .. } => keys.iter().copied().for_each(reads),
        }
    }

    fn new(pattern: &Pattern, keys: &[At], scalar: Scalar) -> Option<Test> {
        let key = keys[0];
        Some(match pattern {
            Pattern::Any => return None,
            Pattern::Value(value) => Test::Masked { key, value: narrowed(value), mask: mask(128) },
            Pattern::Mask(value, mask) => {
                let mask = narrowed(mask);
                Test::Masked { key, value: narrowed(value) & mask, mask }
            }
            Pattern::Range(low, high) => {
                let flip = sign_flip(scalar);
                let (low, high) = (narrowed(low) ^ flip, narrowed(high) ^ flip);
                Test::Between { key, flip, low, high }
            }
            Pattern::ValueSet(set) => Test::InSet { keys: keys.into(), set: *set },
        })
    }

    #[inline]
    fn holds(&self, slots: &[u128], tables: &Tables) -> bool {
        match self {
            Test::Masked { key, value, mask } => slots[usize::from(*key)] & mask == *value,
            Test::Between { key, flip, low, high } => {
                (low..=high).contains(&&(slots[usize::from(*key)] ^ flip))
            }
            Test::InSet { keys, set } => {
                let values: SmallVec<[u128; 8]> =
                    keys.iter().map(|key| slots[usize::from(*key)]).collect();
                tables.value_set(*set).is_some_and(|set| set.contains(&values))
            }
        }
    }
}

/// Mask that converts two's complement order to unsigned order.
fn sign_flip(scalar: Scalar) -> u128 {
    match scalar {
        Scalar::Int(width @ 1..=128) => 1 << (width - 1),
        _ => 0,
    }
}
