//! State that controllers set and the program does not hold: cookies, timeouts, groups as written,
//! sessions.
//!
//! During a batch that may be rolled back, the store logs an undo for each change.

use crate::wire::p4::v1 as p4;
use sojourn_packet::Time;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Reference of an entry of a table with an action profile.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// A member.
    Member(u32),
    /// A group.
    Group(u32),
    /// Actions written with the entry: a group with members of its own.
    OneShot(Box<OneShot>),
}

/// One-shot group of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct OneShot {
    /// The action set as written.
    pub set: p4::ActionProfileActionSet,
    /// Id of its group.
    pub group: u32,
    /// The group's members, in the order of the actions.
    pub members: Vec<u32>,
}

/// Attributes of an entry that its table does not hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryExtras {
    /// Match fields of the entry, to detect that another client replaced it.
    pub matches: Vec<p4::FieldMatch>,
    /// Its priority.
    pub priority: i32,
    /// Controller metadata.
    pub controller_metadata: u64,
    /// Opaque metadata bytes.
    pub metadata: Vec<u8>,
    /// Idle timeout, ns; none if 0.
    pub idle_timeout: i64,
    /// Time of the write, or of the last idle notification.
    pub since: Time,
    /// Reference to a member, a group or a one-shot group.
    pub reference: Option<Reference>,
}

/// Key of an object in an action profile: the profile's id, and the object's.
pub type InProfile = (u32, u32);

/// Undo of one change.
#[derive(Debug)]
enum Undo {
    EntryExtras(u32, u32, Option<Box<EntryExtras>>),
    Default(u32, Option<Box<EntryExtras>>),
    Member(InProfile, Option<p4::ActionProfileMember>),
    Group(InProfile, Option<p4::ActionProfileGroup>),
    Multicast(u32, Option<p4::MulticastGroupEntry>),
    Clone(u32, Option<p4::CloneSessionEntry>),
    ValueSet(u32, Option<Vec<p4::ValueSetMember>>),
    Digest(u32, Option<p4::digest_entry::Config>),
}

/// Controllers' state.
#[derive(Debug, Default)]
pub struct Store {
    /// By table and handle.
    extras: HashMap<u32, BTreeMap<u32, Box<EntryExtras>>>,
    /// Extras of default actions, by table.
    defaults: BTreeMap<u32, Box<EntryExtras>>,
    /// Members of action profiles.
    pub members: BTreeMap<InProfile, p4::ActionProfileMember>,
    /// Groups of action profiles.
    pub groups: BTreeMap<InProfile, p4::ActionProfileGroup>,
    /// Multicast groups.
    pub multicast: BTreeMap<u32, p4::MulticastGroupEntry>,
    /// Clone sessions.
    pub clones: BTreeMap<u32, p4::CloneSessionEntry>,
    /// Members of value sets.
    pub value_sets: BTreeMap<u32, Vec<p4::ValueSetMember>>,
    /// Configured digests.
    pub digests: BTreeMap<u32, p4::digest_entry::Config>,
    /// Ports that are down.
    pub down: BTreeSet<u16>,
    /// Controllers' strings mapped to numbers, by their type.
    strings: BTreeMap<String, Dictionary>,
    /// Last id of a group or member that no controller has named.
    last: u32,
    journal: Option<Vec<Undo>>,
}

/// First id of groups and members that no controller has named.
pub const OWN: u32 = 1 << 30;

impl Store {
    /// Starts a batch that can be rolled back.
    pub fn begin(&mut self) {
        self.journal = Some(Vec::new());
    }

    /// Keeps the changes since [`Store::begin`].
    pub fn commit(&mut self) {
        self.journal = None;
    }

    /// Undoes the changes since [`Store::begin`].
    pub fn roll_back(&mut self) {
        for undo in self.journal.take().unwrap_or_default().into_iter().rev() {
            match undo {
                Undo::EntryExtras(table, handle, was) => self.set_extras(table, handle, was),
                Undo::Default(table, was) => self.set_default(table, was),
                Undo::Member(key, was) => self.set_member(key, was),
                Undo::Group(key, was) => self.set_group(key, was),
                Undo::Multicast(id, was) => self.set_multicast(id, was),
                Undo::Clone(id, was) => self.set_clone(id, was),
                Undo::ValueSet(id, was) => self.set_value_set(id, was),
                Undo::Digest(id, was) => self.set_digest(id, was),
            }
        }
    }

    fn note(&mut self, undo: impl FnOnce() -> Undo) {
        if let Some(journal) = &mut self.journal {
            journal.push(undo());
        }
    }

    /// Extras of an entry, if there are any.
    pub fn extras(&self, table: u32, handle: u32) -> Option<&EntryExtras> {
        self.extras.get(&table)?.get(&handle).map(|extras| &**extras)
    }

    /// The same, mutable, for its clock.
    pub fn extras_mut(&mut self, table: u32, handle: u32) -> Option<&mut EntryExtras> {
        self.extras.get_mut(&table)?.get_mut(&handle).map(|extras| &mut **extras)
    }

    /// Extras of a table's entries, by handle.
    pub fn extras_of(&self, table: u32) -> impl Iterator<Item = (u32, &EntryExtras)> {
        self.extras.get(&table).into_iter().flatten().map(|(handle, extras)| (*handle, &**extras))
    }

    /// Sets or removes the extras of an entry.
    pub fn set_extras(&mut self, table: u32, handle: u32, to: Option<Box<EntryExtras>>) {
        let of_table = self.extras.entry(table).or_default();
        let was = match to {
            Some(extras) => of_table.insert(handle, extras),
            None => of_table.remove(&handle),
        };
        self.note(|| Undo::EntryExtras(table, handle, was));
    }

    /// Extras of a default action.
    pub fn default_extras(&self, table: u32) -> Option<&EntryExtras> {
        self.defaults.get(&table).map(|extras| &**extras)
    }

    /// Sets or removes the extras of a default action.
    pub fn set_default(&mut self, table: u32, to: Option<Box<EntryExtras>>) {
        let was = put(&mut self.defaults, table, to);
        self.note(|| Undo::Default(table, was));
    }

    /// Sets a member.
    pub fn set_member(&mut self, key: InProfile, to: Option<p4::ActionProfileMember>) {
        let was = put(&mut self.members, key, to);
        self.note(|| Undo::Member(key, was));
    }

    /// Sets a group.
    pub fn set_group(&mut self, key: InProfile, to: Option<p4::ActionProfileGroup>) {
        let was = put(&mut self.groups, key, to);
        self.note(|| Undo::Group(key, was));
    }

    /// Sets a multicast group.
    pub fn set_multicast(&mut self, id: u32, to: Option<p4::MulticastGroupEntry>) {
        let was = put(&mut self.multicast, id, to);
        self.note(|| Undo::Multicast(id, was));
    }

    /// Sets a clone session.
    pub fn set_clone(&mut self, id: u32, to: Option<p4::CloneSessionEntry>) {
        let was = put(&mut self.clones, id, to);
        self.note(|| Undo::Clone(id, was));
    }

    /// Sets the members of a value set.
    pub fn set_value_set(&mut self, id: u32, to: Option<Vec<p4::ValueSetMember>>) {
        let was = put(&mut self.value_sets, id, to);
        self.note(|| Undo::ValueSet(id, was));
    }

    /// Sets or removes the configuration of a digest.
    pub fn set_digest(&mut self, id: u32, to: Option<p4::digest_entry::Config>) {
        let was = put(&mut self.digests, id, to);
        self.note(|| Undo::Digest(id, was));
    }

    /// A new id for a group or member that no controller has named.
    pub fn own(&mut self) -> u32 {
        self.last = (self.last + 1) % OWN;
        OWN + self.last
    }

    /// Number of a controller's string.
    pub fn number(&mut self, of: &str, text: &str) -> u32 {
        self.strings.entry(of.to_owned()).or_default().number(text)
    }

    /// String of a number.
    pub fn string(&self, of: &str, number: u32) -> String {
        let known = self.strings.get(of).and_then(|known| known.texts.get(&number));
        known.cloned().unwrap_or_else(|| number.to_string())
    }
}

fn put<K: Ord + Copy, V>(map: &mut BTreeMap<K, V>, key: K, to: Option<V>) -> Option<V> {
    match to {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    }
}

/// Mapping of strings to numbers: a string of digits maps to its value, any other to the first free
/// number from 1 on.
#[derive(Debug, Default)]
struct Dictionary {
    numbers: HashMap<String, u32>,
    texts: BTreeMap<u32, String>,
}

impl Dictionary {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let itself = text.parse().ok().filter(|number: &u32| number.to_string() == text);
        let free = |number: &u32| !self.texts.contains_key(number);
        let number = itself.filter(free).or_else(|| (1..).find(free)).unwrap_or(0);
        self.numbers.insert(text.to_owned(), number);
        self.texts.insert(number, text.to_owned());
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rollback_restores_the_state() {
        let mut store = Store::default();
        let extras = |cookie| {
            Some(Box::new(EntryExtras { controller_metadata: cookie, ..EntryExtras::default() }))
        };
        store.set_extras(1, 7, extras(1));
        store.begin();
        store.set_extras(1, 7, extras(2));
        store.set_extras(1, 7, None);
        store.set_extras(1, 8, extras(3));
        store.set_multicast(5, Some(p4::MulticastGroupEntry::default()));
        store.roll_back();
        assert_eq!(store.extras(1, 7).map(|extras| extras.controller_metadata), Some(1));
        assert_eq!((store.extras(1, 8), store.multicast.len()), (None, 0));
    }

    #[test]
    fn strings_stand_for_numbers_and_digits_for_themselves() {
        let mut store = Store::default();
        let numbers =
            ["2", "Ethernet0", "Ethernet1", "2", "Ethernet0"].map(|t| store.number("p", t));
        assert_eq!(numbers, [2, 1, 3, 2, 1]);
        assert_eq!((store.string("p", 3), store.string("p", 9)), ("Ethernet1".into(), "9".into()));
    }
}
