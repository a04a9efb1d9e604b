//! Sets of state variables, cheap to copy and to unite.

use std::rc::Rc;

/// A set of variables by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableSet(Rc<Vec<u64>>);

impl VariableSet {
    /// One variable.
    pub fn single(variable: usize) -> VariableSet {
        let mut words = vec![0; variable / 64 + 1];
        words[variable / 64] = 1 << (variable % 64);
        VariableSet(Rc::new(words))
    }

    /// True for the empty set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if the variable is in it.
    pub fn contains(&self, variable: usize) -> bool {
        self.0.get(variable / 64).is_some_and(|word| word >> (variable % 64) & 1 == 1)
    }

    /// Union of both.
    #[must_use]
    pub fn union(&self, other: &VariableSet) -> VariableSet {
        let (long, short) =
            if self.0.len() >= other.0.len() { (self, other) } else { (other, self) };
        let inside = short.0.iter().zip(long.0.iter()).all(|(a, b)| a & !b == 0);
        if inside {
            return long.clone();
        }
        let mut words = long.0.to_vec();
        words.iter_mut().zip(short.0.iter()).for_each(|(word, more)| *word |= more);
        VariableSet(Rc::new(words))
    }

    /// Adds the variables of the other set.
    pub fn union_with(&mut self, other: &VariableSet) {
        *self = self.union(other);
    }

    /// The variables that are not in the other set.
    #[must_use]
    pub fn without(&self, other: &VariableSet) -> VariableSet {
        let mut words = self.0.to_vec();
        words.iter_mut().zip(other.0.iter()).for_each(|(word, less)| *word &= !less);
        words.truncate(words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1));
        VariableSet(Rc::new(words))
    }

    /// The variables, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |(at, word): (usize, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}
