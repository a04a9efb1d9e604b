//! Pieces of work of a read: the objects that an entity of the request names, one by one.
//!
//! Validates ids, indices and the access rights of the role. Must not depend on the switch.

use super::{EntryPart, Piece};
use crate::failure::Failure;
use crate::p4runtime::role_access::Access;
use crate::p4runtime::schema::{Array, Schema, Table};
use crate::p4runtime::write::counters_registers::cell;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::entity::Entity;
use std::collections::BTreeMap;
use std::ops::Range;
use tonic::Code;

/// Pieces of work for an entity of a request.
///
/// # Errors
/// It cannot be read, or not by this role.
pub fn pieces(
    schema: &Schema,
    entity: Option<&Entity>,
    access: Option<&Access>,
) -> Result<Vec<Piece>, Failure> {
    let entity = entity.ok_or_else(|| Failure::invalid("an entity that is unset"))?;
    let chooser = Chooser { schema, access };
    let stored = || Ok(vec![Piece::Stored(Box::new(entity.clone()))]);
    match entity {
        Entity::TableEntry(entry) => chooser.tables(entry, EntryPart::Entry),
        Entity::DirectCounterEntry(p4::DirectCounterEntry { table_entry, .. }) => {
            chooser.tables(&table_entry.clone().unwrap_or_default(), EntryPart::Counter)
        }
        Entity::DirectMeterEntry(p4::DirectMeterEntry { table_entry, counter_data, .. }) => {
            no_colours(counter_data.is_some())?;
            chooser.tables(&table_entry.clone().unwrap_or_default(), EntryPart::Meter)
        }
        Entity::CounterEntry(counter) => {
            let index = counter.index.as_ref();
            let (id, all) = (counter.counter_id, &schema.counters);
            chooser.cells_of("counter", id, index, arrays(all), Piece::Counter)
        }
        Entity::MeterEntry(meter) => {
            no_colours(meter.counter_data.is_some())?;
            let index = meter.index.as_ref();
            chooser.cells_of("meter", meter.meter_id, index, arrays(&schema.meters), Piece::Meter)
        }
        Entity::RegisterEntry(register) => {
            let all = schema.registers.iter().map(|(id, known)| (*id, known.size)).collect();
            let index = register.index.as_ref();
            chooser.cells_of("register", register.register_id, index, all, Piece::Register)
        }
        Entity::ActionProfileMember(p4::ActionProfileMember { action_profile_id: id, .. })
        | Entity::ActionProfileGroup(p4::ActionProfileGroup { action_profile_id: id, .. }) => {
            chooser.chosen(*id, schema.profiles.keys().copied().collect(), "action profile")?;
            stored()
        }
        Entity::ValueSetEntry(set) => {
            let all = schema.value_sets.keys().copied().collect();
            let ids = chooser.chosen(set.value_set_id, all, "value set")?;
            let piece = |value_set_id| {
                let set = p4::ValueSetEntry { value_set_id, ..p4::ValueSetEntry::default() };
                Piece::Stored(Box::new(Entity::ValueSetEntry(set)))
            };
            Ok(ids.into_iter().map(piece).collect())
        }
        Entity::DigestEntry(digest) => {
            chooser.chosen(digest.digest_id, schema.digests.keys().copied().collect(), "digest")?;
            stored()
        }
        Entity::PacketReplicationEngineEntry(given) => match &given.r#type {
            Some(_) => stored(),
            None => Err(Failure::invalid("neither a multicast group nor a clone session")),
        },
        Entity::ExternEntry(extern_entry) => match extern_entry.extern_type_id {
            // A wildcard read of all state includes this kind, which has no instances.
            0 => Ok(Vec::new()),
            _ => Err(Failure::unimplemented("no extern has entries of its own here")),
        },
    }
}

fn no_colours(by_colour: bool) -> Result<(), Failure> {
    if by_colour { Err(Failure::unimplemented("meters do not count by colour")) } else { Ok(()) }
}

/// Ids and sizes of the arrays that belong to no table.
fn arrays(all: &BTreeMap<u32, Array>) -> Vec<(u32, u64)> {
    let alone = all.iter().filter(|(_, array)| array.table.is_none());
    alone.map(|(id, array)| (*id, array.size)).collect()
}

/// The objects of a program that a role may read.
struct Chooser<'a> {
    schema: &'a Schema,
    access: Option<&'a Access>,
}

impl Chooser<'_> {
    /// The object of an id, or for 0 all of this kind that the role may read.
    fn chosen(&self, id: u32, all: Vec<u32>, what: &str) -> Result<Vec<u32>, Failure> {
        let may = |id: u32| self.access.is_none_or(|access| access.has(id));
        match id {
            0 => Ok(all.into_iter().filter(|id| may(*id)).collect()),
            _ if !all.contains(&id) => Err(Failure::no(what, id)),
            _ if !may(id) => {
                Err(Failure::new(Code::PermissionDenied, "this is none of the role's objects"))
            }
            _ => Ok(vec![id]),
        }
    }

    /// Cells of arrays, given by id and size.
    fn cells_of(
        &self,
        what: &str,
        id: u32,
        index: Option<&p4::Index>,
        all: Vec<(u32, u64)>,
        piece: fn(u32, Range<usize>) -> Piece,
    ) -> Result<Vec<Piece>, Failure> {
        let ids = self.chosen(id, all.iter().map(|(id, _)| *id).collect(), what)?;
        let cells = all.into_iter().filter(|(id, _)| ids.contains(id)).map(|(id, size)| {
            let cells = match cell(index, size)? {
                Some(index) => index..index + 1,
                None => 0..size as usize,
            };
            Ok(piece(id, cells))
        });
        cells.collect()
    }

    /// Entries of the tables that a filter names.
    fn tables(&self, entry: &p4::TableEntry, wanted: EntryPart) -> Result<Vec<Piece>, Failure> {
        let all = |table: &&Table| match wanted {
            EntryPart::Entry => true,
            EntryPart::Counter => table.counter.is_some(),
            EntryPart::Meter => table.meter.is_some(),
        };
        let all = self.schema.tables.values().filter(all).map(|table| table.id).collect();
        let ids = self.chosen(entry.table_id, all, "table")?;
        let wild = p4::TableEntry {
            counter_data: entry.counter_data,
            meter_config: entry.meter_config,
            ..p4::TableEntry::default()
        };
        let filter = if entry.table_id == 0 { wild } else { entry.clone() };
        ids.into_iter().map(|id| self.table(id, wanted, &filter)).collect()
    }

    /// Entries of one table.
    fn table(&self, id: u32, wanted: EntryPart, filter: &p4::TableEntry) -> Result<Piece, Failure> {
        let table = self.schema.table(id)?;
        let idle = filter.idle_timeout_ns != 0 || filter.time_since_last_hit.is_some();
        if idle && (!table.idle_timeout || filter.is_default_action) {
            let why = format!("entries of table `{}` have no idle timeout", table.name);
            return Err(Failure::invalid(why));
        }
        let filter = Box::new(filter.clone());
        if filter.is_default_action {
            if !filter.r#match.is_empty() || filter.priority != 0 {
                return Err(Failure::invalid("a default action has no match and no priority"));
            }
            return Ok(Piece::Default(id, filter));
        }
        let whole = !table.prioritised || filter.priority != 0;
        Ok(match filter.r#match.is_empty() {
            false if whole => Piece::Entry(id, wanted, filter),
            _ => Piece::Entries(id, wanted, filter, 0),
        })
    }
}
