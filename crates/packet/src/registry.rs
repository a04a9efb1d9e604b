//! Registry of named choices: built-in ones and those that users add.

use std::sync::{PoisonError, RwLock};

/// An item that is chosen by name.
pub trait Named {
    /// The name, as scenarios write it.
    fn name(&self) -> &'static str;
}

/// A name that is taken already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is registered already")]
pub struct NameTaken(pub &'static str);

/// A registry for the whole process: added items remain, and none is replaced.
///
/// ```
/// use sojourn_packet::{Named, Registry};
/// struct Unit(&'static str);
/// impl Named for Unit {
///     fn name(&self) -> &'static str {
///         self.0
///     }
/// }
/// static UNITS: Registry<Unit> = Registry::new(&[Unit("bit/s"), Unit("byte")]);
/// static MINE: Unit = Unit("packet/s");
/// UNITS.add(&MINE).expect("a new name");
/// assert!(UNITS.find("packet/s").is_some());
/// assert_eq!(UNITS.add(&MINE).unwrap_err().to_string(), "`packet/s` is registered already");
/// ```
#[derive(Debug)]
pub struct Registry<T: 'static> {
    shipped: &'static [T],
    added: RwLock<Vec<&'static T>>,
}

impl<T: Named> Registry<T> {
    /// Creates a registry of built-in items.
    pub const fn new(shipped: &'static [T]) -> Registry<T> {
        Registry { shipped, added: RwLock::new(Vec::new()) }
    }

    /// Adds an item.
    ///
    /// # Errors
    /// If its name is taken.
    pub fn add(&self, one: &'static T) -> Result<(), NameTaken> {
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        let mut known = self.shipped.iter().chain(added.iter().copied());
        if known.any(|other| other.name() == one.name()) {
            return Err(NameTaken(one.name()));
        }
        added.push(one);
        Ok(())
    }

    /// The first built-in item.
    ///
    /// # Panics
    /// If there are no built-in items.
    pub const fn first(&self) -> &'static T {
        &self.shipped[0]
    }

    /// The item with this name.
    pub fn find(&self, name: &str) -> Option<&'static T> {
        self.all().into_iter().find(|one| one.name() == name)
    }

    /// All items, built-in ones first.
    pub fn all(&self) -> Vec<&'static T> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        self.shipped.iter().chain(added.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Item(&'static str);

    impl Named for Item {
        fn name(&self) -> &'static str {
            self.0
        }
    }

    static ITEMS: Registry<Item> = Registry::new(&[Item("one")]);

    #[test]
    fn an_added_name_follows_the_built_in_ones_and_replaces_none() {
        static TWO: Item = Item("two");
        static ANOTHER_ONE: Item = Item("one");
        assert!(ITEMS.find("two").is_none());
        assert_eq!(ITEMS.add(&TWO), Ok(()));
        assert_eq!(ITEMS.add(&ANOTHER_ONE), Err(NameTaken("one")));
        let names: Vec<_> = ITEMS.all().iter().map(|thing| thing.name()).collect();
        assert_eq!(names, ["one", "two"]);
        assert!(ITEMS.find("two").is_some());
    }
}
