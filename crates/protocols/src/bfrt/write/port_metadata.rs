//! Updates of port metadata, which parsers extract in front of a port's packets.

use super::{Verb, Writer, key, must_delete};
use crate::bfrt::bfrt_json::{PORT_METADATA_BITS, field};
use crate::bfrt::fields::{Row, exact_key, number_in, row};
use crate::bfrt::schema::{Field, Table, Type};
use crate::bfrt::store::Entry;
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use sojourn_control::Operation;

impl Writer<'_> {
    pub(super) fn port_metadata(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let cleared = |key: &[u64]| Operation::SetPortMetadata { port: port_of(key), value: 0 };
        let Some(given) = key(entry)? else {
            must_delete(table, verb)?;
            return self.each_key(table, |writer, key| {
                writer.apply_where_it_runs(table, &cleared(key))?;
                writer.store.set(table.id, key.to_vec(), None);
                Ok(())
            });
        };
        let key = exact_key(table, given)?;
        let port = port_of(&key);
        let is_there = self.store.entry(table.id, &key).is_some();
        verb.check(is_there, || format!("metadata of port {port}"))?;
        match verb {
            Verb::Delete | Verb::Reset => {
                self.apply_where_it_runs(table, &cleared(&key))?;
                self.store.set(table.id, key, None);
                return Ok(());
            }
            Verb::Add | Verb::Remove => {
                return Err(Failure::invalid("metadata of a port are added, modified or deleted"));
            }
            Verb::Insert | Verb::Modify | Verb::Set => {}
        }
        let fields: Vec<&Field> = table.fields.iter().collect();
        let data = entry.data.as_ref().map_or(&[][..], |data| &data.fields);
        let given = row(&table.name, &fields, data)?;
        let row = self.merged(table, &key, given);
        let value = joined(table, &row);
        self.apply_where_it_runs(table, &Operation::SetPortMetadata { port, value })?;
        self.store.set(table.id, key, Some(Entry { action: 0, row }));
        Ok(())
    }
}

fn port_of(key: &[u64]) -> u16 {
    key.first().and_then(|port| u16::try_from(*port).ok()).unwrap_or(u16::MAX)
}

/// The fields in sequence, as the parser extracts them.
fn joined(table: &Table, row: &Row) -> u64 {
    let mut left = PORT_METADATA_BITS;
    let mut value = 0;
    for known in &table.fields {
        let Type::Bits(width) = known.ty else { continue };
        left = left.saturating_sub(width);
        value |= number_in(row, known.id).unwrap_or(0).checked_shl(left).unwrap_or(0);
        if known.id == field::PORT_METADATA {
            break;
        }
    }
    value
}
