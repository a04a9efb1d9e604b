//! Updates of match table entries, their default actions, and value sets.

use super::filters::is_filter;
use super::{Verb, Writer, must_delete};
use crate::bfrt::bfrt_json::field;
use crate::bfrt::fields::{Datum, Row, columns, masks, matched, row, small};
use crate::bfrt::read::{handle_inside, placed};
use crate::bfrt::schema::{Action, Field, Kind, Table};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use sojourn_control::{
    DefaultEntry, EntryRead, Matched, NamedValues, Number, Operation, Query, Reply, TableEntry,
    Which,
};
use sojourn_engine::control::Pipes;
use tonic::Code;

/// Parsed data of an entry: an action with its arguments, and the entry's own fields.
struct Data<'t> {
    action: Option<(&'t Action, NamedValues<Number>)>,
    row: Row,
}

impl Writer<'_> {
    pub(super) fn match_entry(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        if let Kind::Match { is_const: true, .. } = table.kind
            && !entry.is_default_entry
            && verb != Verb::Modify
        {
            let why = format!("the entries of `{}` are those of the program", table.name);
            return Err(Failure::new(Code::PermissionDenied, why));
        }
        if entry.is_default_entry {
            return self.default_entry(table, verb, entry);
        }
        let Some(value) = &entry.value else {
            must_delete(table, verb)?;
            self.apply(&Operation::ClearTable { table: table.inner.clone() })?;
            return Ok(());
        };
        let (at, match_of) = match value {
            bfrt::table_entry::Value::HandleId(handle) => {
                let (first, handle) = handle_inside(*handle)?;
                if first != self.first_pipe() {
                    let why = "the entry with this handle is in other pipes";
                    return Err(Failure::invalid(why));
                }
                (Which::Handle(handle), None)
            }
            bfrt::table_entry::Value::Key(key) => {
                let found = matched(table, key)?;
                (Which::Match(found.clone()), Some(found))
            }
        };
        match verb {
            Verb::Delete => {
                let table = table.inner.clone();
                self.apply(&Operation::DeleteEntry { table, at }).map(drop)
            }
            Verb::Insert => self.insert(table, match_of, entry.data.as_ref()),
            Verb::Modify => self.modify(table, at, entry.data.as_ref()),
            Verb::Set => match self.find(table, &at) {
                Ok(_) => {
                    self.noted = Code::AlreadyExists;
                    self.modify(table, at, entry.data.as_ref())
                }
                Err(failure) if failure.code == Code::NotFound => {
                    self.insert(table, match_of, entry.data.as_ref())
                }
                Err(failure) => Err(failure),
            },
            Verb::Add | Verb::Remove | Verb::Reset => {
                let why = format!("an entry of `{}` is added, modified or deleted", table.name);
                Err(Failure::invalid(why))
            }
        }
    }

    fn insert(
        &mut self,
        table: &Table,
        matched: Option<Matched>,
        data: Option<&bfrt::TableData>,
    ) -> Result<(), Failure> {
        let by_handle = || Failure::invalid("an entry is added by its key, not by a handle");
        let Matched { matches, priority, .. } = matched.ok_or_else(by_handle)?;
        let data = self.data(table, data)?;
        let mut entry = leads(table, &data)?.ok_or_else(|| {
            Failure::invalid(format!("`{}`: an entry without an action", table.name))
        })?;
        self.must_lead(table, (entry.member, entry.group))?;
        (entry.matches, entry.priority) = (matches, priority);
        let added = Operation::AddEntry { table: table.inner.clone(), entry };
        let handle = self.apply(&added)?;
        let done = match handle {
            Some(handle) => {
                self.age(table, handle, &data.row, Verb::Insert);
                self.direct(table, handle, &data.row, true)
            }
            None => Ok(()),
        };
        if let (Err(_), Some(handle)) = (&done, handle) {
            let (table, at) = (table.inner.clone(), Which::Handle(handle));
            self.apply(&Operation::DeleteEntry { table, at })?;
        }
        done
    }

    fn modify(
        &mut self,
        table: &Table,
        at: Which,
        data: Option<&bfrt::TableData>,
    ) -> Result<(), Failure> {
        let before = self.find(table, &at)?;
        let data = self.data_beside(table, data, Some(&before))?;
        let at = Which::Handle(before.handle);
        if let Some(to) = leads(table, &data)? {
            self.must_lead(table, (to.member, to.group))?;
            self.apply(&Operation::ModifyEntry { table: table.inner.clone(), at, to })?;
        }
        self.age(table, before.handle, &data.row, Verb::Modify);
        self.direct(table, before.handle, &data.row, false)
    }

    /// The existing entry.
    fn find(&mut self, table: &Table, at: &Which) -> Result<EntryRead, Failure> {
        let name = table.inner.clone();
        let absent = || Failure::new(Code::NotFound, format!("`{}` has no such entry", table.name));
        let query = match at {
            Which::Match(at) => Query::Entry { table: name, at: at.clone() },
            Which::Handle(handle) => Query::Page { table: name, from: *handle, most: 1 },
        };
        let found = match self.batch.read(&query)? {
            Reply::Entries(mut entries) => entries.pop(),
            Reply::Page { mut page, .. } => page.pop(),
            _ => None,
        };
        let found = found.ok_or_else(absent)?;
        match at {
            Which::Handle(handle) if found.handle != *handle => Err(absent()),
            _ => Ok(found),
        }
    }

    /// Sets an entry's direct counts and rates.
    fn direct(
        &mut self,
        table: &Table,
        handle: u32,
        row: &Row,
        is_new: bool,
    ) -> Result<(), Failure> {
        let Kind::Match { counter, meter, filter, register, .. } = &table.kind else {
            return Ok(());
        };
        if let Some((name, ids)) = register
            && (is_new || ids.iter().any(|id| row.contains_key(id)))
        {
            self.set_words(name, handle as usize, ids, row, is_new)?;
        }
        if let Some(name) = filter {
            let index = Some(handle as usize);
            if is_new {
                self.apply(&Operation::ResetFilter { name: name.clone(), index })?;
            }
            if row.keys().any(|id| is_filter(*id)) {
                self.set_filter(name, handle as usize, row)?;
            }
        }
        if let Some(name) = counter
            && (is_new || row.keys().any(|id| is_count(*id)))
        {
            let place = u64::from(placed(self.first_pipe(), handle));
            self.set_count(name, Some(handle as usize), row)?;
            self.note_count(table, place, row);
        }
        if let Some((name, unit)) = meter
            && (is_new || row.keys().any(|id| is_rate(*id)))
        {
            self.set_rates(name, handle as usize, *unit, row)?;
        }
        Ok(())
    }

    fn default_entry(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let name = table.inner.clone();
        if matches!(verb, Verb::Delete | Verb::Reset) {
            self.apply(&Operation::ResetDefault { table: name })?;
            self.store.defaults.remove(&table.id);
            return Ok(());
        }
        let mut data = self.data(table, entry.data.as_ref())?;
        let Some(TableEntry { action, args, member, group, .. }) = leads(table, &data)? else {
            let why = format!("`{}`: a default entry without an action", table.name);
            return Err(Failure::invalid(why));
        };
        self.must_lead(table, (member, group))?;
        let call = DefaultEntry { action, args, member, group };
        self.apply(&Operation::SetDefault { table: name, call })?;
        // The program stores the entry's member and group.
        data.row.remove(&field::ACTION_MEMBER_ID);
        data.row.remove(&field::SELECTOR_GROUP_ID);
        self.store.defaults.insert(table.id, data.row);
        Ok(())
    }

    fn data<'t>(
        &self,
        table: &'t Table,
        given: Option<&bfrt::TableData>,
    ) -> Result<Data<'t>, Failure> {
        self.data_beside(table, given, None)
    }

    /// Parses data; missing arguments come from the existing entry, if it runs the same action.
    fn data_beside<'t>(
        &self,
        table: &'t Table,
        given: Option<&bfrt::TableData>,
        before: Option<&EntryRead>,
    ) -> Result<Data<'t>, Failure> {
        let Some(given) = given else { return Ok(Data { action: None, row: Row::new() }) };
        let own = || table.fields.iter();
        if given.action_id == 0 {
            let fields: Vec<&Field> = own().collect();
            let row = row(&table.name, &fields, &given.fields)?;
            return Ok(Data { action: None, row });
        }
        let action = table.action(given.action_id)?;
        let fields: Vec<&Field> = action.fields.iter().chain(own()).collect();
        let mut row = row(&table.name, &fields, &given.fields)?;
        let known = before.map(|read| &read.entry);
        let same = known.filter(|entry| entry.action.as_deref() == Some(&action.name));
        for field in &action.fields {
            if let Some(value) = same.and_then(|entry| entry.args.get(&field.inner)) {
                row.entry(field.id).or_insert_with(|| Datum::Number(value.0.clone()));
            }
        }
        let args = arguments(action, &mut row);
        Ok(Data { action: Some((action, args)), row })
    }

    /// Sets the key masks of a table.
    pub(super) fn key_mask(
        &mut self,
        table: &Table,
        given: &bfrt::DynKeyMask,
    ) -> Result<(), Failure> {
        if !table.masks_keys {
            let why = format!("`{}` is not declared `@dynamic_table_key_masks`", table.name);
            return Err(Failure::invalid(why));
        }
        let masks = masks(table, given)?;
        let named =
            table.keys.iter().map(|key| (key.inner.clone(), Number(masks[&key.id].clone())));
        let made = Operation::SetKeyMask { table: table.inner.clone(), masks: named.collect() };
        self.choose(Pipes::ALL);
        self.apply(&made)?;
        self.store.key_masks.insert(table.id, masks);
        Ok(())
    }

    pub(super) fn value_set(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let place = (table.id, self.first_pipe());
        let mut members = self.store.members.get(&place).cloned().unwrap_or_default();
        match super::key(entry)? {
            None => {
                must_delete(table, verb)?;
                members.clear();
            }
            Some(key) => {
                let member = columns(table, key)?;
                let place = members.iter().position(|(_, known)| *known == member);
                verb.check(place.is_some(), || format!("member of `{}` like that", table.name))?;
                match (verb, place) {
                    (Verb::Delete, Some(place)) => drop(members.remove(place)),
                    (Verb::Insert | Verb::Set, None) => {
                        let last = members.iter().map(|(handle, _)| *handle).max();
                        members.push((last.unwrap_or(0) + 1, member));
                    }
                    _ => {}
                }
            }
        }
        if members.len() as u64 > table.size {
            let why = format!("`{}` holds {} members", table.name, table.size);
            return Err(Failure::new(Code::ResourceExhausted, why));
        }
        let name = table.inner.clone();
        self.apply(&Operation::ClearValueSet { name: name.clone() })?;
        for (_, member) in &members {
            let (name, member) = (name.clone(), member.clone());
            self.apply(&Operation::AddToValueSet { name, member })?;
        }
        self.store.members.insert(place, members);
        Ok(())
    }
}

/// Takes the arguments of an action from values; a missing one is 0, as in the vendor's driver.
pub(super) fn arguments(action: &Action, row: &mut Row) -> NamedValues<Number> {
    let argument = |field: &Field| match row.remove(&field.id) {
        Some(Datum::Number(value)) => (field.inner.clone(), Number(value)),
        _ => (field.inner.clone(), Number::default()),
    };
    action.fields.iter().map(argument).collect()
}

/// Action, member or group of an entry, if its data gives one.
fn leads(table: &Table, data: &Data<'_>) -> Result<Option<TableEntry>, Failure> {
    if let Some((action, args)) = &data.action {
        let (action, args) = (Some(action.name.clone()), args.clone());
        return Ok(Some(TableEntry { action, args, ..TableEntry::default() }));
    }
    let Kind::Match { indirect: true, .. } = table.kind else { return Ok(None) };
    let named = |id| match data.row.get(&id) {
        Some(Datum::Number(value)) => Some(small(value)),
        _ => None,
    };
    match (named(field::ACTION_MEMBER_ID), named(field::SELECTOR_GROUP_ID)) {
        (Some(_), Some(_)) => {
            let why = format!("an entry of `{}` names a member or a group, not both", table.name);
            Err(Failure::invalid(why))
        }
        (None, None) => Ok(None),
        (member, group) => Ok(Some(TableEntry { member, group, ..TableEntry::default() })),
    }
}

fn is_count(id: u32) -> bool {
    matches!(id, field::COUNTER_BYTES | field::COUNTER_PACKETS)
}

fn is_rate(id: u32) -> bool {
    (field::METER_KBPS..field::COUNTER_BYTES).contains(&id)
}
