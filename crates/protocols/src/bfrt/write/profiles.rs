//! Members of action profiles, and groups of selectors.

use super::matched::arguments;
use super::{Verb, Writer, key, must_delete};
use crate::bfrt::document::field;
use crate::bfrt::fields::{Datum, Row, exact_key, row};
use crate::bfrt::schema::{Field, Table};
use crate::bfrt::store::{Entry, kept_key};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use sojourn_targets::control::{Operation, ProfileEntries, ProfileMember};
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
            return self.delete_all(table, |key| Operation::DeleteMember {
                profile: profile.clone(),
                member: number_of(key),
            });
        };
        let key = kept_key(exact_key(table, given)?, self.first_pipe());
        let member = number_of(&key);
        let is_there = self.store.entry(table.id, &key).is_some();
        verb.check(is_there, || format!("member {member} of `{}`", table.name))?;
        match verb {
            Verb::Delete => {
                self.apply(&Operation::DeleteMember { profile, member })?;
                self.store.set(table.id, key, None);
                return Ok(());
            }
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

    pub(super) fn group(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let profile = table.inner.clone();
        let Some(given) = key(entry)? else {
            must_delete(table, verb)?;
            return self.delete_all(table, |key| Operation::DeleteGroup {
                profile: profile.clone(),
                group: number_of(key),
            });
        };
        let key = kept_key(exact_key(table, given)?, self.first_pipe());
        let group = number_of(&key);
        let before = self.store.entry(table.id, &key);
        verb.check(before.is_some(), || format!("group {group} of `{}`", table.name))?;
        if verb == Verb::Delete {
            self.apply(&Operation::DeleteGroup { profile, group })?;
            self.store.set(table.id, key, None);
            return Ok(());
        }
        let mut members = before.map(|entry| members(&entry.row)).unwrap_or_default();
        let fields: Vec<&Field> = table.fields.iter().collect();
        let data = entry.data.as_ref().map_or(&[][..], |data| &data.fields);
        let mut row = row(&table.name, &fields, data)?;
        let given = self.given(table, &row)?;
        match verb {
            Verb::Add => {
                members.retain(|(known, _)| given.iter().all(|(member, _)| member != known));
                members.extend(given);
            }
            Verb::Remove => {
                members.retain(|(known, _)| given.iter().all(|(member, _)| member != known));
            }
            Verb::Reset => return Err(Failure::invalid("a group is not reset")),
            _ if row.contains_key(&field::ACTION_MEMBER_ID) => members = given,
            _ => {}
        }
        row = self.merged(table, &key, row);
        row.insert(
            field::ACTION_MEMBER_ID,
            Datum::Numbers(members.iter().map(|(member, _)| *member).collect()),
        );
        row.insert(
            field::MEMBER_STATUS,
            Datum::Bools(members.iter().map(|(_, is_up)| *is_up).collect()),
        );
        if let Some(Datum::Number(most)) = row.get(&field::MAX_GROUP_SIZE)
            && most.bits() > 0
            && *most < members.len().into()
        {
            let why = format!("group {group} of `{}` holds {most} members", table.name);
            return Err(Failure::new(Code::ResourceExhausted, why));
        }
        let groups = vec![(group, members)];
        let entries = ProfileEntries { name: profile, members: Vec::new(), groups };
        self.apply(&Operation::SetProfile(entries))?;
        self.store.set(table.id, key, Some(Entry { action: 0, row }));
        Ok(())
    }

    /// Members and whether they are up, all of which must be there.
    fn given(&self, table: &Table, row: &Row) -> Result<Vec<(u32, bool)>, Failure> {
        let members = members(row);
        let profile = self.schema.tables.values().find(|other| {
            other.inner == table.inner && other.id != table.id && !other.actions.is_empty()
        });
        let known = |member: u32| {
            let key = kept_key(vec![member.into()], self.first_pipe());
            profile.is_some_and(|of| self.store.entry(of.id, &key).is_some())
        };
        match members.iter().find(|(member, _)| !known(*member)) {
            None => Ok(members),
            Some((member, _)) => {
                let why = format!("`{}` has no member {member}", table.name);
                Err(Failure::new(Code::NotFound, why))
            }
        }
    }
}

/// The number of a member or a group.
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
