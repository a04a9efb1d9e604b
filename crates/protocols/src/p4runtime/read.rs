//! P4Runtime reads, divided into pieces so that the switch forwards packets between them.
//!
//! A request becomes pieces of work. Each piece runs between two packets and returns the work that
//! remains. The code runs with the switch and must not depend on the transport.

mod meters;
mod pieces;

pub use pieces::pieces;

use super::entry;
use super::role_access::Access;
use super::schema::{Schema, Table};
use super::store::{EntryExtras, Reference, Store};
use crate::failure::Failure;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::entity::Entity;
use crate::wire::p4::v1::packet_replication_engine_entry::Type as Replicated;
use crate::wire::p4::v1::table_action::Type as Leads;
use sojourn_control::{EntryRead, Query, Reply};
use sojourn_engine::control;
use sojourn_p4::interp::tables::EntryHandle;
use sojourn_packet::Time;
use sojourn_switch::Switch;
use std::ops::Range;
use tonic::Code;

/// Number of handles examined between two packets.
const PAGE: u32 = 256;
/// Number of cells read between two packets.
const CELLS: usize = 1_024;

/// Requested part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPart {
    /// The entry.
    Entry,
    /// Its direct counter.
    Counter,
    /// Its direct meter.
    Meter,
}

/// A piece of work.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Entries of a table from a handle on.
    Entries(u32, EntryPart, Box<p4::TableEntry>, u32),
    /// The requested entry.
    Entry(u32, EntryPart, Box<p4::TableEntry>),
    /// A default action.
    Default(u32, Box<p4::TableEntry>),
    /// Cells of a counter.
    Counter(u32, Range<usize>),
    /// Cells of a meter.
    Meter(u32, Range<usize>),
    /// Cells of a register.
    Register(u32, Range<usize>),
    /// Answer from the store, without the switch.
    Stored(Box<Entity>),
}

/// Context of a read.
pub struct Reader<'a> {
    /// The program's objects.
    pub schema: &'a Schema,
    /// State that the program does not hold.
    pub store: &'a mut Store,
    /// The switch.
    pub switch: &'a mut Switch,
    /// Time of the read.
    pub now: Time,
    /// Read permissions of the role.
    pub access: Option<&'a Access>,
}

impl Reader<'_> {
    /// Executes a piece of work and leaves the rest.
    ///
    /// # Errors
    /// An object that it names does not exist.
    pub fn read(
        &mut self,
        piece: Piece,
        out: &mut Vec<p4::Entity>,
    ) -> Result<Option<Piece>, Failure> {
        let mut put = |entity| out.push(p4::Entity { entity: Some(entity) });
        match piece {
            Piece::Entries(id, wanted, filter, from) => {
                let table = self.schema.table(id)?;
                let query = Query::Page { table: table.name.clone(), from, most: PAGE };
                let Reply::Page { page, next } = control::read(self.switch, &query)? else {
                    return Ok(None);
                };
                for read in page {
                    if let Some(entity) = self.entity_of(table, wanted, &filter, &read)? {
                        put(entity);
                    }
                }
                return Ok(next.map(|next| Piece::Entries(id, wanted, filter, next)));
            }
            Piece::Entry(id, wanted, filter) => {
                let table = self.schema.table(id)?;
                let at = entry::matched(table, &filter, self.store)?;
                let query = Query::Entry { table: table.name.clone(), at };
                let found = control::read(self.switch, &query).map_err(Failure::from);
                match found {
                    Ok(Reply::Entries(entries)) => {
                        for read in entries {
                            if let Some(entity) = self.entity_of(table, wanted, &filter, &read)? {
                                put(entity);
                            }
                        }
                    }
                    Ok(_) => {}
                    // Nothing matches; for a direct resource that is an error.
                    Err(failure)
                        if failure.code == Code::NotFound && wanted == EntryPart::Entry => {}
                    Err(failure) => return Err(failure),
                }
            }
            Piece::Default(id, filter) => {
                if let Some(entry) = self.default_action(id, &filter)? {
                    put(Entity::TableEntry(entry));
                }
            }
            Piece::Counter(id, cells) => {
                let Some(known) = self.schema.counters.get(&id) else { return Ok(None) };
                let (now, later) = split(cells);
                for index in now {
                    let data = Some(self.count(&known.name, index)?);
                    let index = Some(p4::Index { index: index as i64 });
                    put(Entity::CounterEntry(p4::CounterEntry { counter_id: id, index, data }));
                }
                return Ok(later.map(|cells| Piece::Counter(id, cells)));
            }
            Piece::Meter(id, cells) => {
                let Some(known) = self.schema.meters.get(&id) else { return Ok(None) };
                let (now, later) = split(cells);
                for index in now {
                    let config = self.meter(&known.name, index)?;
                    let (index, counter_data) = (Some(p4::Index { index: index as i64 }), None);
                    let entry = p4::MeterEntry { meter_id: id, index, config, counter_data };
                    put(Entity::MeterEntry(entry));
                }
                return Ok(later.map(|cells| Piece::Meter(id, cells)));
            }
            Piece::Register(id, cells) => {
                let Some(known) = self.schema.registers.get(&id) else { return Ok(None) };
                let (now, later) = split(cells);
                for index in now {
                    let query = Query::Register { name: known.name.clone(), index };
                    let Reply::Register(numbers) = control::read(self.switch, &query)? else {
                        continue;
                    };
                    let mut numbers = numbers.into_iter().map(|number| number.0);
                    let data = Some(known.leaf.encode(&mut numbers));
                    let index = Some(p4::Index { index: index as i64 });
                    put(Entity::RegisterEntry(p4::RegisterEntry { register_id: id, index, data }));
                }
                return Ok(later.map(|cells| Piece::Register(id, cells)));
            }
            Piece::Stored(entity) => self.stored(&entity).into_iter().for_each(put),
        }
        Ok(None)
    }

    fn may(&self, id: u32) -> bool {
        self.access.is_none_or(|access| access.has(id))
    }

    fn stored(&self, entity: &Entity) -> Vec<Entity> {
        let store = &self.store;
        match entity {
            Entity::ActionProfileMember(wanted) => {
                let all = store.members.iter().filter(|((profile, member), _)| {
                    (wanted.action_profile_id == 0 || wanted.action_profile_id == *profile)
                        && (wanted.member_id == 0 || wanted.member_id == *member)
                        && self.may(*profile)
                });
                all.map(|(_, member)| Entity::ActionProfileMember(member.clone())).collect()
            }
            Entity::ActionProfileGroup(wanted) => {
                let all = store.groups.iter().filter(|((profile, group), _)| {
                    (wanted.action_profile_id == 0 || wanted.action_profile_id == *profile)
                        && (wanted.group_id == 0 || wanted.group_id == *group)
                        && self.may(*profile)
                });
                all.map(|(_, group)| Entity::ActionProfileGroup(group.clone())).collect()
            }
            Entity::ValueSetEntry(wanted) => {
                let value_set_id = wanted.value_set_id;
                let members = store.value_sets.get(&value_set_id).cloned().unwrap_or_default();
                vec![Entity::ValueSetEntry(p4::ValueSetEntry { value_set_id, members })]
            }
            Entity::DigestEntry(wanted) => {
                let all = store.digests.iter().filter(|(id, _)| {
                    (wanted.digest_id == 0 || wanted.digest_id == **id) && self.may(**id)
                });
                let entity = |(id, config): (&u32, &p4::digest_entry::Config)| {
                    let config = Some(*config);
                    Entity::DigestEntry(p4::DigestEntry { digest_id: *id, config })
                };
                all.map(entity).collect()
            }
            Entity::PacketReplicationEngineEntry(given) => {
                let entity = |one| {
                    let r#type = Some(one);
                    Entity::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry {
                        r#type,
                    })
                };
                match &given.r#type {
                    Some(Replicated::MulticastGroupEntry(wanted)) => {
                        let wanted = wanted.multicast_group_id;
                        let all = store.multicast.iter();
                        let all = all.filter(|(id, _)| wanted == 0 || wanted == **id);
                        let group = |(_, group): (&u32, &p4::MulticastGroupEntry)| {
                            entity(Replicated::MulticastGroupEntry(group.clone()))
                        };
                        all.map(group).collect()
                    }
                    Some(Replicated::CloneSessionEntry(wanted)) => {
                        let wanted = wanted.session_id;
                        let all = store.clones.iter();
                        let all = all.filter(|(id, _)| wanted == 0 || wanted == **id);
                        let session = |(_, session): (&u32, &p4::CloneSessionEntry)| {
                            entity(Replicated::CloneSessionEntry(session.clone()))
                        };
                        all.map(session).collect()
                    }
                    None => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    fn count(&mut self, name: &str, index: usize) -> Result<p4::CounterData, Failure> {
        let query = Query::Counter { name: name.to_owned(), index };
        Ok(match control::read(self.switch, &query)? {
            Reply::Counter(count) => p4::CounterData {
                byte_count: i64::try_from(count.bytes).unwrap_or(i64::MAX),
                packet_count: i64::try_from(count.packets).unwrap_or(i64::MAX),
            },
            _ => p4::CounterData::default(),
        })
    }

    /// The entry, if it passes the filter.
    fn entity_of(
        &mut self,
        table: &Table,
        wanted: EntryPart,
        filter: &p4::TableEntry,
        read: &EntryRead,
    ) -> Result<Option<Entity>, Failure> {
        let matches = entry::matches_read(table, read, self.store);
        let priority = read.entry.rank.unwrap_or(0);
        if filter.priority != 0 && filter.priority != priority {
            return Ok(None);
        }
        if !filter.r#match.is_empty() && !same(table, &filter.r#match, &matches, self.store)? {
            return Ok(None);
        }
        let key = p4::TableEntry {
            table_id: table.id,
            r#match: matches,
            priority,
            is_const: read.is_const,
            ..p4::TableEntry::default()
        };
        match (wanted, table.counter, table.meter) {
            (EntryPart::Counter, Some(counter), _) => {
                let Some(known) = self.schema.counters.get(&counter) else { return Ok(None) };
                let data = Some(self.count(&known.name, read.handle as usize)?);
                let table_entry = Some(key);
                return Ok(Some(Entity::DirectCounterEntry(p4::DirectCounterEntry {
                    table_entry,
                    data,
                })));
            }
            (EntryPart::Meter, _, Some(meter)) => {
                let Some(known) = self.schema.meters.get(&meter) else { return Ok(None) };
                let config = self.meter(&known.name, read.handle as usize)?;
                let (table_entry, counter_data) = (Some(key), None);
                let entry = p4::DirectMeterEntry { table_entry, config, counter_data };
                return Ok(Some(Entity::DirectMeterEntry(entry)));
            }
            (EntryPart::Entry, ..) => {}
            _ => return Ok(None),
        }
        let action = self.leads(read, table);
        if let Some(p4::TableAction { r#type: Some(Leads::Action(wanted)) }) = &filter.action {
            let fits = matches!(
                &action,
                Some(Leads::Action(action)) if action.action_id == wanted.action_id
            );
            if !fits && wanted.action_id != 0 {
                return Ok(None);
            }
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
        if let (Some(_), Some(counter)) = (&filter.counter_data, table.counter)
            && let Some(known) = self.schema.counters.get(&counter)
        {
            entry.counter_data = Some(self.count(&known.name, read.handle as usize)?);
        }
        if let (Some(_), Some(meter)) = (&filter.meter_config, table.meter)
            && let Some(known) = self.schema.meters.get(&meter)
        {
            entry.meter_config = self.meter(&known.name, read.handle as usize)?;
        }
        Ok(Some(Entity::TableEntry(entry)))
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

    fn default_action(
        &mut self,
        id: u32,
        filter: &p4::TableEntry,
    ) -> Result<Option<p4::TableEntry>, Failure> {
        let table = self.schema.table(id)?;
        let query = Query::Default { table: table.name.clone() };
        let Reply::Default(Some(call)) = control::read(self.switch, &query)? else {
            return Ok(None);
        };
        let leads = match (&call.action, call.member, call.group) {
            (Some(action), ..) => {
                entry::called(self.schema, action, &call.args, self.store).map(Leads::Action)
            }
            (_, Some(member), _) => Some(Leads::ActionProfileMemberId(member)),
            (.., group) => group.map(Leads::ActionProfileGroupId),
        };
        let action = leads.map(|leads| p4::TableAction { r#type: Some(leads) });
        let extras = self.store.default_extras(id).cloned().unwrap_or_default();
        if !cookies_fit(&extras, filter) {
            return Ok(None);
        }
        Ok(Some(p4::TableEntry {
            table_id: id,
            action,
            is_default_action: true,
            is_const: table.const_default,
            controller_metadata: extras.controller_metadata,
            metadata: extras.metadata,
            ..p4::TableEntry::default()
        }))
    }
}

/// Time of an entry's last hit, if hits are recorded.
pub fn last_hit(switch: &mut Switch, table: &str, handle: u32) -> Option<Time> {
    let program = control::program(switch).ok()?;
    let id = program.tables().find(table).ok()?;
    program.last_hit(id, EntryHandle(handle))
}

fn cookies_fit(extras: &EntryExtras, filter: &p4::TableEntry) -> bool {
    (filter.controller_metadata == 0 || filter.controller_metadata == extras.controller_metadata)
        && (filter.metadata.is_empty() || filter.metadata == extras.metadata)
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

/// The first cells, and the rest.
fn split(cells: Range<usize>) -> (Range<usize>, Option<Range<usize>>) {
    let end = cells.end.min(cells.start.saturating_add(CELLS));
    (cells.start..end, (end < cells.end).then_some(end..cells.end))
}
