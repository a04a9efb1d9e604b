//! Values by name, a few for each of many entries: a sorted list of exact capacity.
//!
//! A tree's first node would have space for eleven, more than a kilobyte for the two of an entry,
//! of which a control plane may have tens of thousands. Serialised as a map.

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;

/// Values by name, in the order of their names.
///
/// ```
/// use sojourn_control::NamedValues;
/// let mut args = NamedValues::from([("port".to_owned(), 1), ("hop".to_owned(), 7)]);
/// assert_eq!(args.insert("port".into(), 2), Some(1));
/// assert_eq!(args.iter().collect::<Vec<_>>(), [("hop", &7), ("port", &2)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedValues<T>(Vec<(String, T)>);

impl<T> Default for NamedValues<T> {
    fn default() -> NamedValues<T> {
        NamedValues(Vec::new())
    }
}

impl<T> NamedValues<T> {
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.place(name).ok().map(|place| &self.0[place].1)
    }

    /// Whether there is a value of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    /// Sets the value of a name; returns the previous one.
    pub fn insert(&mut self, name: String, value: T) -> Option<T> {
        match self.place(&name) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                self.0.reserve_exact(1);
                self.0.insert(place, (name, value));
                None
            }
        }
    }

    /// Names and values, in the order of the names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<T> Index<&str> for NamedValues<T> {
    type Output = T;

    /// # Panics
    /// If no value has this name.
    fn index(&self, name: &str) -> &T {
        self.get(name).expect("a value of this name")
    }
}

impl<T> FromIterator<(String, T)> for NamedValues<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(named: I) -> NamedValues<T> {
        let mut all = NamedValues::default();
        for (name, value) in named {
            all.insert(name, value);
        }
        all
    }
}

impl<T, const N: usize> From<[(String, T); N]> for NamedValues<T> {
    fn from(named: [(String, T); N]) -> NamedValues<T> {
        named.into_iter().collect()
    }
}

impl<T: Serialize> Serialize for NamedValues<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NamedValues<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NamedValues<T>, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
    type Value = NamedValues<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NamedValues<T>, A::Error> {
        let mut all = NamedValues::default();
        while let Some((name, value)) = map.next_entry()? {
            all.insert(name, value);
        }
        Ok(all)
    }
}
