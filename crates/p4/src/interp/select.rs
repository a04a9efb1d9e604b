//! Selects whose keys are all narrow, prepared when a program is loaded.
//!
//! The IR has patterns of any width; converting them for each packet would cost more than the
//! comparison. Stands on the IR and the match tables; it must not know how a parser walks.

use super::arith::{mask, narrowed};
use super::{Context, Tables};
use crate::ir::ValueSetId;
use crate::ir::{Body, Expr, Next, Pattern, Program, Scalar, SelectCase, Transition, Unit};
use smallvec::SmallVec;

/// The prepared selects of a parser by its states; none for a state without one.
pub(super) type UnitSelects = Vec<Option<NarrowSelect>>;

/// The selects of all units of a program; units that are not parsers have none.
pub(super) fn prepare(program: &Program) -> Vec<UnitSelects> {
    program.units.iter().map(of_unit).collect()
}

fn of_unit(unit: &Unit) -> UnitSelects {
    let Body::Parser(body) = &unit.body else { return Vec::new() };
    body.states.iter().map(|state| NarrowSelect::of(&state.transition)).collect()
}

/// The cases of a select, in order.
#[derive(Clone, Debug)]
pub(super) struct NarrowSelect(Vec<Case>);

#[derive(Clone, Debug)]
struct Case {
    /// Only what can fail: a pattern that anything matches has no test.
    tests: SmallVec<[Test; 2]>,
    next: Next,
}

/// What the value of key `key` has to be.
#[derive(Clone, Debug)]
enum Test {
    /// Equal under the mask.
    Masked { key: usize, value: u128, mask: u128 },
    /// Between, both included, once `flip` has turned the order into an unsigned one.
    Between { key: usize, flip: u128, low: u128, high: u128 },
    /// In the value set, together with the keys that follow.
    InSet { key: usize, set: ValueSetId },
}

impl NarrowSelect {
    /// None if it is no select, or one with a wide key.
    fn of(transition: &Transition) -> Option<NarrowSelect> {
        let Transition::Select { keys, cases, .. } = transition else { return None };
        if !keys.iter().all(|key| key.scalar.is_narrow()) {
            return None;
        }
        Some(NarrowSelect(cases.iter().map(|case| Case::of(case, keys)).collect()))
    }

    /// Where the first case goes that matches the values of the keys.
    #[inline]
    pub(super) fn choose(&self, keys: &[Expr], ctx: &Context<'_>) -> Option<Next> {
        let mut values = SmallVec::<[u128; 8]>::new();
        keys.iter().for_each(|key| values.push(ctx.eval(key)));
        let matches = |case: &&Case| case.tests.iter().all(|test| test.holds(&values, ctx.tables));
        self.0.iter().find(matches).map(|case| case.next)
    }
}

impl Case {
    fn of(case: &SelectCase, keys: &[Expr]) -> Case {
        let columns = case.patterns.iter().zip(keys).enumerate();
        let tests = columns.filter_map(|(at, (pattern, key))| Test::of(pattern, at, key.scalar));
        Case { tests: tests.collect(), next: case.next }
    }
}

impl Test {
    fn of(pattern: &Pattern, key: usize, scalar: Scalar) -> Option<Test> {
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
            Pattern::ValueSet(set) => Test::InSet { key, set: *set },
        })
    }

    #[inline]
    fn holds(&self, values: &[u128], tables: &Tables) -> bool {
        match *self {
            Test::Masked { key, value, mask } => values[key] & mask == value,
            Test::Between { key, flip, low, high } => (low..=high).contains(&(values[key] ^ flip)),
            Test::InSet { key, set } => {
                tables.value_set(set).is_some_and(|set| set.contains(&values[key..]))
            }
        }
    }
}

/// What turns two's complement order into unsigned order.
fn sign_flip(scalar: Scalar) -> u128 {
    match scalar {
        Scalar::Int(width @ 1..=128) => 1 << (width - 1),
        _ => 0,
    }
}
