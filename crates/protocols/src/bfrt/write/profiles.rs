//! Updates of members of action profiles, and groups of selectors.

use super::match_entries::arguments;
use super::{Verb, Writer, key, must_delete};
use crate::bfrt::bfrt_json::field;
use crate::bfrt::fields::{Datum, Row, exact_key, row, small};
use crate::bfrt::schema::{Field, Kind, Table};
use crate::bfrt::store::{Entry, kept_key};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use sojourn_control::profiles::{GROUP, Profile, Profiles};
use sojourn_control::{Operation, ProfileEntries, ProfileMember};
use sojourn_engine::control::program_of;
use sojourn_p4::interp::Tables;
use tonic::Code;

impl Writer<'_> {
    pub(super) fn member(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let profile = table.inner.clone();
        let Some(given) = key(entry)? else {
            must_delete(table, verb)?;
            return self
                .each_key(table, |writer, key| writer.delete_member(table, key, number_of(key)));
        };
        let key = kept_key(exact_key(table, given)?, self.first_pipe());
        let member = number_of(&key);
        let is_there = self.store.entry(table.id, &key).is_some();
        verb.check(is_there, || format!("member {member} of `{}`", table.name))?;
        match verb {
            Verb::Delete => return self.delete_member(table, &key, member),
            Verb::Insert if self.store.count(table.id) as u64 >= table.size => {
                let why = format!("`{}` holds {} members", table.name, table.size);
                return Err(Failure::new(Code::ResourceExhausted, why));
            }
            Verb::Insert | Verb::Modify | Verb::Set => {}
            Verb::Add | Verb::Remove | Verb::Reset => {
                let why = "a member is added, modified or deleted";
                return Err(Failure::invalid(why));
            }
        }
        let data = entry.data.clone().unwrap_or_default();
        let action = table.action(data.action_id)?;
        let fields: Vec<&Field> = action.fields.iter().collect();
        let row = row(&table.name, &fields, &data.fields)?;
        let args = arguments(action, &mut row.clone());
        let made = ProfileMember { id: member, action: action.name.clone(), args };
        let entries = ProfileEntries { name: profile, members: vec![made], groups: Vec::new() };
        self.apply(&Operation::SetProfile(entries))?;
        self.store.set(table.id, key, Some(Entry { action: action.id, row }));
        Ok(())
    }

    /// Sets a group with at most `largest` members, if the program limits them.
    pub(super) fn group(
        &mut self,
        table: &Table,
        largest: Option<u64>,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let profile = table.inner.clone();
        let Some(given) = key(entry)? else {
            must_delete(table, verb)?;
            return self
                .each_key(table, |writer, key| writer.delete_group(table, key, number_of(key)));
        };
        let key = kept_key(exact_key(table, given)?, self.first_pipe());
        let group = number_of(&key);
        let before = self.store.entry(table.id, &key);
        let before_is_absent = before.is_none();
        verb.check(before.is_some(), || format!("group {group} of `{}`", table.name))?;
        if verb == Verb::Delete {
            return self.delete_group(table, &key, group);
        }
        let mut members = before.map(|entry| members(&entry.row)).unwrap_or_default();
        let action_before = self.action_of(table, &members);
        let room_before = before.and_then(|entry| room(&entry.row)).or(largest);
        let fields: Vec<&Field> = table.fields.iter().collect();
        let data = entry.data.as_ref().map_or(&[][..], |data| &data.fields);
        let mut row = row(&table.name, &fields, data)?;
        let given = self.given(table, &row)?;
        keep_or_check_room(table, &mut row, largest, before.is_some())?;
        let replaces = row.contains_key(&field::ACTION_MEMBER_ID);
        change_members(&mut members, given, verb, replaces)?;
        row = self.merged(table, &key, row);
        row.insert(
            field::ACTION_MEMBER_ID,
            Datum::Numbers(members.iter().map(|(member, _)| *member).collect()),
        );
        row.insert(
            field::MEMBER_STATUS,
            Datum::Bools(members.iter().map(|(_, is_up)| *is_up).collect()),
        );
        let (count, room) = (members.len() as u64, room(&row).or(largest));
        if let Some(room) = room.filter(|room| *room < count) {
            let why = format!("group {group} of `{}` has room for {room} members", table.name);
            let did_fit = verb != Verb::Insert && room_before.is_none_or(|room| room >= count);
            let code = if did_fit { Code::InvalidArgument } else { Code::ResourceExhausted };
            return Err(Failure::new(code, why));
        }
        let action = self.action_of(table, &members);
        if self.members_of(table, &members).any(|member| Some(member.action) != action) {
            let why = format!("the members of a group of `{}` run the same action", table.name);
            return Err(Failure::invalid(why));
        }
        if !before_is_absent {
            self.check_referred_group(table, group, &members, action != action_before)?;
        }
        let groups = vec![(group, members)];
        let entries = ProfileEntries { name: profile, members: Vec::new(), groups };
        self.apply(&Operation::SetProfile(entries))?;
        self.store.set(table.id, key, Some(Entry { action: 0, row }));
        Ok(())
    }

    /// A group that entries refer to keeps its action and a member that is up.
    fn check_referred_group(
        &mut self,
        table: &Table,
        group: u32,
        members: &[(u32, bool)],
        changes_action: bool,
    ) -> Result<(), Failure> {
        if !self.is_referred(&table.inner, group | GROUP)? {
            return Ok(());
        }
        let what = if !members.iter().any(|(_, is_up)| *is_up) {
            "has no member that is up"
        } else if changes_action {
            "runs another action"
        } else {
            return Ok(());
        };
        let why = format!("entries lead to group {group} of `{}`, which then {what}", table.name);
        Err(Failure::invalid(why))
    }

    fn delete_member(&mut self, table: &Table, key: &[u64], member: u32) -> Result<(), Failure> {
        let profile = table.inner.clone();
        if self.is_in_group(&profile, member)? || self.is_referred(&profile, member)? {
            let why = format!("member {member} of `{}` is in use", table.name);
            return Err(Failure::new(Code::AlreadyExists, why));
        }
        self.apply(&Operation::DeleteMember { profile, member })?;
        self.store.set(table.id, key.to_vec(), None);
        Ok(())
    }

    fn delete_group(&mut self, table: &Table, key: &[u64], group: u32) -> Result<(), Failure> {
        let profile = table.inner.clone();
        if self.is_referred(&profile, group | GROUP)? {
            let why = format!("group {group} of `{}` is in use", table.name);
            return Err(Failure::new(Code::AlreadyExists, why));
        }
        self.apply(&Operation::DeleteGroup { profile, group })?;
        self.store.set(table.id, key.to_vec(), None);
        Ok(())
    }

    /// The profile and its tables, in the first addressed pipe.
    fn profile(&mut self, name: &str) -> Result<Option<(&Profile, Users<'_>)>, Failure> {
        let pipe = self.program_pipes().0.trailing_zeros() as usize;
        let parts = program_of(self.batch.switch(), pipe)?.parts();
        let (profiles, tables) = (&*parts.profiles, &*parts.tables);
        let at = profiles.profiles.iter().position(|profile| profile.name == name);
        Ok(at.map(|at| (&profiles.profiles[at], Users { profiles, tables, at })))
    }

    /// Whether an entry, or the default of a table, refers to a member, or to a group with
    /// [`GROUP`].
    fn is_referred(&mut self, profile: &str, to: u32) -> Result<bool, Failure> {
        Ok(self.profile(profile)?.is_some_and(|(_, users)| users.lead_to(to)))
    }

    fn is_in_group(&mut self, profile: &str, member: u32) -> Result<bool, Failure> {
        let selector = self.profile(profile)?.and_then(|(profile, _)| profile.selector.as_ref());
        Ok(selector.is_some_and(|selector| selector.is_used(member)))
    }

    /// Checks that an entry's member or group exists, and that the group has members, as the
    /// vendor's driver requires.
    pub(super) fn must_lead(
        &mut self,
        table: &Table,
        (member, group): (Option<u32>, Option<u32>),
    ) -> Result<(), Failure> {
        let Kind::Match { profile: Some(name), .. } = &table.kind else { return Ok(()) };
        let Some((profile, _)) = self.profile(name)? else { return Ok(()) };
        let what = match (member, group) {
            (Some(member), _) if !profile.members.contains_key(&member) => {
                format!("no member {member}")
            }
            (_, Some(group)) => match profile.selector.as_ref().and_then(|s| s.group(group)) {
                None => format!("no group {group}"),
                Some([]) => format!("no members in group {group}"),
                Some(_) => return Ok(()),
            },
            _ => return Ok(()),
        };
        Err(Failure::new(Code::NotFound, format!("`{name}` has {what}")))
    }

    /// The table of the members of a selector's groups.
    fn table_of_members(&self, groups: &Table) -> Option<&Table> {
        let is_it = |other: &&Table| {
            other.inner == groups.inner && other.id != groups.id && !other.actions.is_empty()
        };
        self.schema.tables.values().find(is_it)
    }

    /// Stored entries of members.
    fn members_of<'m>(
        &'m self,
        groups: &Table,
        members: &'m [(u32, bool)],
    ) -> impl Iterator<Item = &'m Entry> {
        let (table, pipe) =
            (self.table_of_members(groups).map(|table| table.id), self.first_pipe());
        members.iter().filter_map(move |(member, _)| {
            self.store.entry(table?, &kept_key(vec![(*member).into()], pipe))
        })
    }

    /// The common action of a group's members.
    fn action_of(&self, groups: &Table, members: &[(u32, bool)]) -> Option<u32> {
        self.members_of(groups, members).next().map(|member| member.action)
    }

    /// Members and their states; all members must exist.
    fn given(&self, table: &Table, row: &Row) -> Result<Vec<(u32, bool)>, Failure> {
        let (members, of) = (members(row), self.table_of_members(table));
        let known = |member: u32| {
            let key = kept_key(vec![member.into()], self.first_pipe());
            of.is_some_and(|of| self.store.entry(of.id, &key).is_some())
        };
        match members.iter().find(|(member, _)| !known(*member)) {
            None => Ok(members),
            Some((member, _)) => {
                Err(Failure::invalid(format!("`{}` has no member {member}", table.name)))
            }
        }
    }
}

/// The tables that use a profile.
struct Users<'p> {
    profiles: &'p Profiles,
    tables: &'p Tables,
    /// Index of the profile.
    at: usize,
}

impl Users<'_> {
    fn lead_to(&self, to: u32) -> bool {
        let mut users = self.profiles.of_table.iter().filter(|(_, at)| **at == self.at);
        users.any(|(id, _)| self.tables.get(*id).is_some_and(|table| table.references(to) > 0))
    }
}

/// Maximum size of a group, if its data gives one.
fn room(row: &Row) -> Option<u64> {
    match row.get(&field::MAX_GROUP_SIZE) {
        Some(Datum::Number(room)) => Some(u64::from(small(room))),
        _ => None,
    }
}

/// Id of a member or a group.
fn number_of(key: &[u64]) -> u32 {
    key.first().copied().unwrap_or(0) as u32
}

fn members(row: &Row) -> Vec<(u32, bool)> {
    let Some(Datum::Numbers(members)) = row.get(&field::ACTION_MEMBER_ID) else {
        return Vec::new();
    };
    let states = match row.get(&field::MEMBER_STATUS) {
        Some(Datum::Bools(states)) => states.as_slice(),
        _ => &[],
    };
    let state = |at: usize| states.get(at).copied().unwrap_or(true);
    members.iter().enumerate().map(|(at, member)| (*member, state(at))).collect()
}

/// Removes a size of 0 from a known group's row, which keeps its size as in the vendor's driver.
///
/// # Errors
/// Another size is outside 1 to `largest`.
fn keep_or_check_room(
    table: &Table,
    row: &mut Row,
    largest: Option<u64>,
    is_known: bool,
) -> Result<(), Failure> {
    match (room(row), largest) {
        (Some(0), _) if is_known => drop(row.remove(&field::MAX_GROUP_SIZE)),
        (Some(asked), Some(most)) if asked == 0 || asked > most => {
            let why = format!("a group of `{}` has room for 1 to {most}, not {asked}", table.name);
            return Err(Failure::invalid(why));
        }
        _ => {}
    }
    Ok(())
}

/// Adds, removes or, if the request names members at all, replaces the members of a group.
fn change_members(
    members: &mut Vec<(u32, bool)>,
    given: Vec<(u32, bool)>,
    verb: Verb,
    replaces: bool,
) -> Result<(), Failure> {
    match verb {
        Verb::Add => {
            members.retain(|(known, _)| given.iter().all(|(member, _)| member != known));
            members.extend(given);
        }
        Verb::Remove => {
            members.retain(|(known, _)| given.iter().all(|(member, _)| member != known));
        }
        Verb::Reset => return Err(Failure::invalid("a group is not reset")),
        _ if replaces => *members = given,
        _ => {}
    }
    Ok(())
}
