//! Conversion of the results of reads to messages.

use super::EntryQuery;
use crate::bfrt::fields::{exact_key_read, row_read};
use crate::bfrt::schema::Table;
use crate::bfrt::store::Entry;
use crate::bfrt::write::ALL_PIPES;
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::entity::Entity;
use tonic::Code;

pub(super) fn entity(of: Entity) -> bfrt::Entity {
    bfrt::Entity { entity: Some(of) }
}

pub(super) fn absent(table: &Table) -> Failure {
    Failure::new(Code::NotFound, format!("`{}` has no such entry", table.name))
}

/// Message form of an entry with a numeric key.
pub(super) fn shown(
    table: &Table,
    key: &[u64],
    entry: &Entry,
    query_of: &EntryQuery<'_>,
) -> bfrt::Entity {
    let action = table.actions.iter().find(|action| action.id == entry.action);
    let parameters = action.map_or(&[][..], |action| action.fields.as_slice());
    let data = row_read(parameters.iter().chain(&table.fields), &entry.row, &query_of.fields);
    entry_message(table, exact_key_read(table, key), entry.action, data, query_of)
}

pub(super) fn default_entry_message(
    table: &Table,
    action_id: u32,
    fields: Vec<bfrt::DataField>,
) -> bfrt::Entity {
    entity(Entity::TableEntry(bfrt::TableEntry {
        table_id: table.id,
        data: Some(bfrt::TableData { action_id, fields }),
        is_default_entry: true,
        ..bfrt::TableEntry::default()
    }))
}

pub(super) fn entry_message(
    table: &Table,
    key: bfrt::TableKey,
    action_id: u32,
    fields: Vec<bfrt::DataField>,
    query_of: &EntryQuery<'_>,
) -> bfrt::Entity {
    let data = (!query_of.key_only).then_some(bfrt::TableData { action_id, fields });
    // A read of keys only returns the pipe of each entry.
    let all = bfrt::TargetDevice { pipe_id: ALL_PIPES, ..Default::default() };
    let target = query_of.target.copied().or(query_of.key_only.then_some(all));
    entity(Entity::TableEntry(bfrt::TableEntry {
        table_id: table.id,
        value: Some(bfrt::table_entry::Value::Key(key)),
        data,
        entry_tgt: target,
        ..bfrt::TableEntry::default()
    }))
}

/// Converts a default entry that was requested by its handle.
pub(super) fn as_entry(made: bfrt::Entity) -> bfrt::Entity {
    match made.entity {
        Some(Entity::TableEntry(entry)) => {
            entity(Entity::TableEntry(bfrt::TableEntry { is_default_entry: false, ..entry }))
        }
        entity => bfrt::Entity { entity },
    }
}
