//! Reads of value set members: by key, by handle, or all of them.

use super::messages::{absent, entry_message};
use super::{EntryQuery, Reader};
use crate::bfrt::fields::{columns, columns_read};
use crate::bfrt::schema::Table;
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::table_entry::Value;

impl Reader<'_> {
    /// Reads the requested members of a value set.
    pub(super) fn value_set(
        &mut self,
        table: &Table,
        asked: &bfrt::TableEntry,
        query_of: &EntryQuery<'_>,
        out: &mut Vec<bfrt::Entity>,
    ) -> Result<(), Failure> {
        let first = self.scope(table)?.first(self.first_pipe());
        let key = match &asked.value {
            Some(Value::Key(key)) => Some(columns(table, key)?),
            _ => None,
        };
        let is_asked = |handle: u32, member: &_| match &asked.value {
            Some(Value::HandleId(query_of)) => handle == *query_of,
            Some(Value::Key(_)) => key.as_ref() == Some(member),
            None => true,
        };
        let before = out.len();
        for (handle, member) in self.store.members.get(&(table.id, first)).into_iter().flatten() {
            if is_asked(*handle, member) {
                out.push(entry_message(
                    table,
                    columns_read(table, member),
                    0,
                    Vec::new(),
                    query_of,
                ));
            }
        }
        if asked.value.is_some() && out.len() == before {
            return Err(absent(table));
        }
        Ok(())
    }
}
