//! Ids of named objects, computed as the p4lang compilers do: a hash of the name, or the object's
//! `@id`.
//!
//! P4Info and `bf-rt.json` assign ids by the same rule. Must not depend on either.

use sojourn_control::schema::Annotation;
use std::collections::{BTreeMap, BTreeSet};

/// Bob Jenkins' one-at-a-time hash.
pub fn hash(name: &str) -> u32 {
    let mixed = name.bytes().fold(0u32, |hash, byte| {
        let hash = hash.wrapping_add(u32::from(byte));
        let hash = hash.wrapping_add(hash << 10);
        hash ^ (hash >> 6)
    });
    let hash = mixed.wrapping_add(mixed << 3);
    let hash = hash ^ (hash >> 11);
    hash.wrapping_add(hash << 15)
}

/// Ids of 32 bits for the names of one kind of objects: the kind's byte, then 24 bits of the hash.
/// Names that collide take the next free id, in the order of the names.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    given: BTreeMap<String, u32>,
}

impl Ids {
    /// Ids of `names`, each with the id that its program requests, if any.
    pub fn new<'n>(prefix: u8, names: impl IntoIterator<Item = (&'n str, Option<u32>)>) -> Ids {
        let prefix = u32::from(prefix) << 24;
        let (mut given, mut taken) = (BTreeMap::new(), BTreeSet::new());
        let mut rest = BTreeSet::new();
        for (name, wanted) in names {
            if given.contains_key(name) || rest.contains(name) {
                continue;
            }
            let wanted = wanted.map(|id| id | prefix).filter(|id| id >> 24 == prefix >> 24);
            match wanted.filter(|id| taken.insert(*id)) {
                Some(id) => {
                    given.insert(name.to_owned(), id);
                }
                None => {
                    rest.insert(name);
                }
            }
        }
        for name in rest {
            let mut low = hash(name);
            let id = loop {
                let id = prefix | (low & 0xff_ffff);
                if taken.insert(id) {
                    break id;
                }
                low = low.wrapping_add(1);
            };
            given.insert(name.to_owned(), id);
        }
        Ids { given }
    }

    /// Id of a name; 0, which no object has, for an unknown name.
    pub fn id(&self, name: &str) -> u32 {
        self.given.get(name).copied().unwrap_or(0)
    }
}

/// Id requested by `@id`.
pub fn requested_id(annotations: &[Annotation]) -> Option<u32> {
    let annotation = annotations.iter().find(|annotation| annotation.name == "id")?;
    annotation.number().and_then(|id| u32::try_from(id).ok())
}

/// Ids of parts that are numbered from 1: an `@id` has priority, the others take the next free
/// number.
pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [Annotation]>) -> Vec<u32> {
    let asked: Vec<Option<u32>> = parts.into_iter().map(requested_id).collect();
    let mut taken: BTreeSet<u32> = asked.iter().flatten().copied().collect();
    let mut next = 1;
    let number = |wanted: &Option<u32>| match wanted {
        Some(id) => {
            next += 1;
            *id
        }
        None => {
            while !taken.insert(next) {
                next += 1;
            }
            next
        }
    };
    asked.iter().map(number).collect()
}

/// For each name the shortest suffix, in whole components, that no other name has.
#[derive(Clone, Debug, Default)]
pub struct Aliases {
    ends: BTreeMap<String, u32>,
}

impl Aliases {
    /// Aliases of all `names`.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Aliases {
        let mut ends = BTreeMap::new();
        let names: BTreeSet<&str> = names.into_iter().collect();
        for name in names {
            for end in ends_of(name) {
                *ends.entry(end.to_owned()).or_insert(0) += 1;
            }
        }
        Aliases { ends }
    }

    /// The alias of one of the names.
    pub fn alias<'n>(&self, name: &'n str) -> &'n str {
        let alone = |end: &&str| self.ends.get(*end).is_none_or(|names| *names < 2);
        ends_of(name).find(alone).unwrap_or(name)
    }
}

/// `c`, `b.c`, `a.b.c`.
fn ends_of(name: &str) -> impl Iterator<Item = &str> {
    let dots = name.rmatch_indices('.').map(|(at, _)| &name[at + 1..]);
    dots.chain(std::iter::once(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_files_that_the_community_publishes() {
        // `NoAction` has id 21257015 as an action in all of them.
        let ids = Ids::new(0x01, [("NoAction", None), ("IngressI.aux.a", None)]);
        assert_eq!((ids.id("NoAction"), ids.id("IngressI.aux.a")), (21_257_015, 27_422_362));
        assert_eq!(
            Ids::new(0x02, [("ingress.custom_table", None)]).id("ingress.custom_table"),
            42_499_711
        );
        assert_eq!(ids.id("nobody"), 0);
    }

    #[test]
    fn an_id_of_the_program_goes_before_and_a_collision_takes_the_next_number() {
        let wanted =
            Ids::new(0x02, [("a", Some(7)), ("b", Some(0x0200_0009)), ("c", Some(0x0100_0001))]);
        assert_eq!((wanted.id("a"), wanted.id("b")), (0x0200_0007, 0x0200_0009));
        assert_eq!(wanted.id("c"), 0x0200_0000 | (hash("c") & 0xff_ffff));
        let taken = 0x0200_0000 | (hash("c") & 0xff_ffff);
        assert_eq!(Ids::new(0x02, [("a", Some(taken)), ("c", None)]).id("c"), taken + 1);
    }

    #[test]
    fn parts_fill_the_places_that_no_annotation_has_taken() {
        let at = |id: u32| {
            use sojourn_control::schema::{Body, Token};
            let text = id.to_string();
            let body = Body::Tokens(vec![Token { text, is_string: false }]);
            vec![Annotation { name: "id".to_owned(), body }]
        };
        let (none, two) = (Vec::new(), at(2));
        assert_eq!(of_parts([&none[..], &none[..], &none[..]]), [1, 2, 3]);
        assert_eq!(of_parts([&none[..], &none[..], &two[..]]), [1, 3, 2]);
    }

    #[test]
    fn an_alias_is_the_shortest_end_that_is_unique() {
        let names = ["d.a.c", "e.b.c", "f.x", "x"];
        let aliases = Aliases::new(names);
        assert_eq!(names.map(|name| aliases.alias(name)), ["a.c", "b.c", "f.x", "x"]);
    }
}
