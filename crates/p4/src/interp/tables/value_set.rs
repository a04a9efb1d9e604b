//! Parser value sets: patterns that the control plane puts into a `select`.

use super::index::{Criterion, Rank, Row};
use super::limbs;
use crate::ir::{Pattern, Scalar, ValueSet};
use std::cmp::Reverse;

/// The members of a value set.
#[derive(Clone, Debug)]
pub struct ValueSetState {
    columns: Vec<(Scalar, usize)>,
    rows: Vec<Row>,
}

impl ValueSetState {
    pub(super) fn new(set: &ValueSet) -> ValueSetState {
        let mut limb = 0;
        let mut columns = Vec::new();
        for (scalar, _) in &set.columns {
            columns.push((*scalar, limb));
            limb += limbs(*scalar);
        }
        ValueSetState { columns, rows: Vec::new() }
    }

    /// True if a member matches the first limbs of `key`.
    #[inline]
    pub fn contains(&self, key: &[u128]) -> bool {
        self.rows.iter().any(|row| row.matches(key))
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there is no member.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn add(&mut self, patterns: &[Pattern]) {
        let criteria = self.columns.iter().zip(patterns);
        let criteria =
            criteria.map(|((scalar, limb), pattern)| Criterion::new(pattern, *scalar, *limb));
        let rank = Rank { priority: 0, prefix: 0, earlier: Reverse(0) };
        self.rows.push(Row::new(criteria.collect(), rank));
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }
}
