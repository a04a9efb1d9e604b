//! Reads of table entries, with their direct counters and meters.
//!
//! A filter of the request decides which entries are answered (P4Runtime specification, section 9.1).

use super::{EntryPart, PAGE, Reader, cookies_fit, last_hit};
use crate::failure::Failure;
use crate::p4runtime::entry;
use crate::p4runtime::schema::Table;
use crate::p4runtime::store::{EntryExtras, Reference, Store};
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::entity::Entity;
use crate::wire::p4::v1::table_action::Type as Leads;
use sojourn_control::{EntryRead, Query, Reply};
use sojourn_engine::control;
use tonic::Code;

impl Reader<'_> {
    /// Entries of a table from a handle on, and the handle at which the next page starts.
    pub(super) fn page(
        &mut self,
        id: u32,
        wanted: EntryPart,
        filter: &p4::TableEntry,
        from: u32,
    ) -> Result<(Vec<Entity>, Option<u32>), Failure> {
        let table = self.schema.table(id)?;
        let query = Query::Page { table: table.name.clone(), from, most: PAGE };
        match control::read(self.switch, &query)? {
            Reply::Page { page, next } => {
                Ok((self.entities_of(table, wanted, filter, &page)?, next))
            }
            _ => Ok((Vec::new(), None)),
        }
    }

    /// The entry with the filter's match key. An entry that does not exist is no answer; for a
    /// direct resource it is an error.
    pub(super) fn entry(
        &mut self,
        id: u32,
        wanted: EntryPart,
        filter: &p4::TableEntry,
    ) -> Result<Vec<Entity>, Failure> {
        let table = self.schema.table(id)?;
        let at = entry::matched(table, filter, self.store)?;
        let query = Query::Entry { table: table.name.clone(), at };
        match control::read(self.switch, &query).map_err(Failure::from) {
            Ok(Reply::Entries(entries)) => self.entities_of(table, wanted, filter, &entries),
            Ok(_) => Ok(Vec::new()),
            Err(failure) if failure.code == Code::NotFound && wanted == EntryPart::Entry => {
                Ok(Vec::new())
            }
            Err(failure) => Err(failure),
        }
    }

    /// The requested part of each entry that passes the filter.
    fn entities_of(
        &mut self,
        table: &Table,
        wanted: EntryPart,
        filter: &p4::TableEntry,
        entries: &[EntryRead],
    ) -> Result<Vec<Entity>, Failure> {
        let mut entities = Vec::new();
        for read in entries {
            let matches = entry::matches_read(table, read, self.store);
            let priority = read.entry.rank.unwrap_or(0);
            let chosen = (filter.priority == 0 || filter.priority == priority)
                && (filter.r#match.is_empty()
                    || same(table, &filter.r#match, &matches, self.store)?);
            if !chosen {
                continue;
            }
            let key = p4::TableEntry {
                table_id: table.id,
                r#match: matches,
                priority,
                is_const: read.is_const,
                ..p4::TableEntry::default()
            };
            entities.extend(match wanted {
                EntryPart::Counter => self.direct_counter(table, key, read)?,
                EntryPart::Meter => self.direct_meter(table, key, read)?,
                EntryPart::Entry => self.whole_entry(table, key, filter, read)?,
            });
        }
        Ok(entities)
    }

    fn direct_counter(
        &mut self,
        table: &Table,
        key: p4::TableEntry,
        read: &EntryRead,
    ) -> Result<Option<Entity>, Failure> {
        let data = self.count_of_entry(table, read)?;
        Ok(data.map(|data| {
            let (table_entry, data) = (Some(key), Some(data));
            Entity::DirectCounterEntry(p4::DirectCounterEntry { table_entry, data })
        }))
    }

    fn direct_meter(
        &mut self,
        table: &Table,
        key: p4::TableEntry,
        read: &EntryRead,
    ) -> Result<Option<Entity>, Failure> {
        let known = table.meter.and_then(|meter| self.schema.meters.get(&meter));
        let Some(known) = known else { return Ok(None) };
        let config = self.meter(&known.name, read.handle as usize)?;
        let (table_entry, counter_data) = (Some(key), None);
        let entry = p4::DirectMeterEntry { table_entry, config, counter_data };
        Ok(Some(Entity::DirectMeterEntry(entry)))
    }

    /// The entry with its action, if action and cookies pass the filter.
    fn whole_entry(
        &mut self,
        table: &Table,
        key: p4::TableEntry,
        filter: &p4::TableEntry,
        read: &EntryRead,
    ) -> Result<Option<Entity>, Failure> {
        let action = self.leads(read, table);
        if !action_fits(action.as_ref(), filter) {
            return Ok(None);
        }
        let mut entry = p4::TableEntry {
            action: action.map(|one| p4::TableAction { r#type: Some(one) }),
            ..key
        };
        let extras = self.own(table, &entry, read.handle).cloned().unwrap_or_default();
        if !cookies_fit(&extras, filter) {
            return Ok(None);
        }
        entry.controller_metadata = extras.controller_metadata;
        entry.metadata.clone_from(&extras.metadata);
        entry.idle_timeout_ns = extras.idle_timeout;
        if filter.time_since_last_hit.is_some() {
            let elapsed_ns = self.idle(table, read.handle, &extras);
            entry.time_since_last_hit = Some(p4::table_entry::IdleTimeout { elapsed_ns });
        }
        if filter.counter_data.is_some() {
            entry.counter_data = self.count_of_entry(table, read)?;
        }
        let meter = table.meter.filter(|_| filter.meter_config.is_some());
        if let Some(known) = meter.and_then(|meter| self.schema.meters.get(&meter)) {
            entry.meter_config = self.meter(&known.name, read.handle as usize)?;
        }
        Ok(Some(Entity::TableEntry(entry)))
    }

    /// Count of an entry's direct counter, if its table has one.
    fn count_of_entry(
        &mut self,
        table: &Table,
        read: &EntryRead,
    ) -> Result<Option<p4::CounterData>, Failure> {
        let known = table.counter.and_then(|counter| self.schema.counters.get(&counter));
        known.map(|known| self.count(&known.name, read.handle as usize)).transpose()
    }

    /// Stored extras of an entry, if they belong to the entry that is now in the table.
    fn own(&self, table: &Table, entry: &p4::TableEntry, handle: u32) -> Option<&EntryExtras> {
        let extras = self.store.extras(table.id, handle)?;
        let mut kept = extras.matches.iter().map(|field| field.field_id);
        let same = extras.priority == entry.priority
            && extras.matches.len() == entry.r#match.len()
            && kept.all(|id| entry.r#match.iter().any(|field| field.field_id == id));
        same.then_some(extras)
    }

    fn leads(&self, read: &EntryRead, table: &Table) -> Option<Leads> {
        let stored = self.store.extras(table.id, read.handle);
        let stored = stored.and_then(|extras| extras.reference.as_ref());
        match (&read.entry.action, read.entry.member, read.entry.group) {
            (Some(name), ..) => {
                entry::called(self.schema, name, &read.entry.args, self.store).map(Leads::Action)
            }
            (_, Some(member), _) => Some(Leads::ActionProfileMemberId(member)),
            (.., Some(group)) => Some(match stored {
                Some(Reference::OneShot(shot)) if shot.group == group => {
                    Leads::ActionProfileActionSet(shot.set.clone())
                }
                _ => Leads::ActionProfileGroupId(group),
            }),
            _ => None,
        }
    }

    /// Time since an entry's last hit, ns.
    fn idle(&mut self, table: &Table, handle: u32, extras: &EntryExtras) -> i64 {
        let hit = last_hit(self.switch, &table.name, handle);
        let since = hit.unwrap_or_default().max(extras.since);
        i64::try_from(self.now.0.saturating_sub(since.0)).unwrap_or(i64::MAX)
    }
}

/// Whether an entry's action is the one that the filter names.
fn action_fits(action: Option<&Leads>, filter: &p4::TableEntry) -> bool {
    match &filter.action {
        Some(p4::TableAction { r#type: Some(Leads::Action(wanted)) }) => {
            let fits =
                matches!(action, Some(Leads::Action(one)) if one.action_id == wanted.action_id);
            fits || wanted.action_id == 0
        }
        _ => true,
    }
}

/// Whether two match keys of a table are equal.
fn same(
    table: &Table,
    one: &[p4::FieldMatch],
    other: &[p4::FieldMatch],
    store: &mut Store,
) -> Result<bool, Failure> {
    Ok(entry::matches(table, one, store)? == entry::matches(table, other, store)?)
}
