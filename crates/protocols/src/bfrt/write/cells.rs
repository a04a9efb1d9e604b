//! Cells of registers, counters and meters.

use super::{Verb, Writer, key, must_delete};
use crate::bfrt::bfrt_json::field;
use crate::bfrt::fields::{Datum, Row, exact_key, number_in, row};
use crate::bfrt::pipe_scope::Scope;
use crate::bfrt::read::{place_of_handle, placed};
use crate::bfrt::schema::{Field, Kind, Table};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use num_bigint::BigUint;
use sojourn_control::schema::Unit;
use sojourn_control::{Number, Operation, Query, Reply};
use sojourn_engine::control::read_of;
use sojourn_externs::meter::MeterSpec;
use sojourn_switch::Switch;

/// A kbit in bytes.
const KBIT: u64 = 1_000 / 8;

impl Writer<'_> {
    /// Cell of an entry; `None` for all cells, which only a delete addresses.
    fn cell(
        &self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(Option<usize>, Row), Failure> {
        let Some(given) = key(entry)? else {
            must_delete(table, verb)?;
            return Ok((None, Row::new()));
        };
        let index = exact_key(table, given)?.first().copied().unwrap_or(0);
        let fields: Vec<&Field> = table.fields.iter().collect();
        let given = entry.data.as_ref().map_or(&[][..], |data| &data.fields);
        let index = usize::try_from(index).map_err(Failure::invalid)?;
        Ok((Some(index), row(&table.name, &fields, given)?))
    }

    pub(super) fn register(
        &mut self,
        table: &Table,
        first: &[BigUint],
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let (index, row) = self.cell(table, verb, entry)?;
        let name = table.inner.clone();
        if matches!(verb, Verb::Delete | Verb::Reset) {
            let value = first.iter().cloned().map(Number).collect();
            return self.apply(&Operation::WriteRegister { name, index, value }).map(drop);
        }
        let ids: Vec<u32> = table.fields.iter().map(|field| field.id).collect();
        self.set_words(&name, index.unwrap_or(0), &ids, &row, false)
    }

    /// Sets the given parts of a register's cell; in a reset cell the others are 0.
    pub(super) fn set_words(
        &mut self,
        name: &str,
        index: usize,
        ids: &[u32],
        row: &Row,
        is_new: bool,
    ) -> Result<(), Failure> {
        let query = Query::Register { name: name.to_owned(), index };
        self.in_each_pipe(|writer| {
            let Reply::Register(mut value) = writer.batch.read(&query)? else {
                return Err(Failure::invalid(format!("`{name}` is no register")));
            };
            for (id, word) in ids.iter().zip(&mut value) {
                match row.get(id) {
                    Some(Datum::Number(given)) => word.0.clone_from(given),
                    _ if is_new => *word = Number::default(),
                    _ => {}
                }
            }
            let (name, index) = (name.to_owned(), Some(index));
            writer.apply(&Operation::WriteRegister { name, index, value }).map(drop)
        })
    }

    pub(super) fn parameter(
        &mut self,
        table: &Table,
        first: u64,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let fields: Vec<&Field> = table.fields.iter().collect();
        let given = entry.data.as_ref().map_or(&[][..], |data| &data.fields);
        let value = match verb {
            Verb::Delete | Verb::Reset => first,
            _ => {
                let row = row(&table.name, &fields, given)?;
                number_in(&row, field::PARAMETER).ok_or_else(|| {
                    Failure::invalid(format!("`{}` is given no `value`", table.name))
                })?
            }
        };
        let (name, value) = (table.inner.clone(), Number::from(value));
        self.apply(&Operation::SetParameter { name, value }).map(drop)
    }

    pub(super) fn counter(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let (index, row) = self.cell(table, verb, entry)?;
        self.set_count(&table.inner, index, &row)?;
        match index {
            Some(index) => self.note_count(table, index as u64, &row),
            None => self.store.counted.retain(|(of, _), _| *of != table.id),
        }
        Ok(())
    }

    /// Sets the software count to the value that a client wrote.
    pub(super) fn note_count(&mut self, table: &Table, cell: u64, row: &Row) {
        let of = |id| number_in(row, id).unwrap_or(0);
        let count = (of(field::COUNTER_PACKETS), of(field::COUNTER_BYTES));
        self.store.counted.insert((table.id, cell), count);
    }

    /// Updates the software counts from the chip.
    pub(super) fn sync(&mut self, table: &Table) -> Result<(), Failure> {
        let (name, cells) = match &table.kind {
            Kind::Counter => (&table.inner, (0..table.size).collect()),
            Kind::Match { counter: Some(name), .. } => (name, self.handles(table)?),
            _ => return Ok(()),
        };
        let scope = Scope::new(self.store.scopes.get(&table.id))?;
        for cell in cells {
            let (first, index) = match table.kind {
                Kind::Counter => (0, cell as u32),
                _ => place_of_handle(cell as u32),
            };
            let is_one_of =
                |pipe: &usize| table.kind == Kind::Counter || scope.first(*pipe as u32) == first;
            let pipes = self.schema.pipes.numbers(self.count).filter(is_one_of);
            let pipes: Vec<usize> = pipes.collect();
            let count = counted(self.batch.switch(), pipes, name, index as usize)?;
            self.store.counted.insert((table.id, cell), count);
        }
        Ok(())
    }

    /// The entries of a table, in all pipes.
    fn handles(&mut self, table: &Table) -> Result<Vec<u64>, Failure> {
        let scope = Scope::new(self.store.scopes.get(&table.id))?;
        let mut found = Vec::new();
        for pipe in scope.firsts(self.count) {
            // A cell shared by several pipes is addressed by the first, whichever program that
            // runs.
            let in_group = |other: &usize| scope.first(*other as u32) == pipe;
            let Some(asked) = self.schema.pipes.numbers(self.count).find(in_group) else {
                continue;
            };
            let query = Query::Entries { table: table.inner.clone() };
            if let Reply::Entries(all) = read_of(self.batch.switch(), asked, &query)? {
                found.extend(all.iter().map(|e| u64::from(placed(pipe, e.handle))));
            }
        }
        Ok(found)
    }

    /// Sets a cell of a counter, or all of them; missing parts become 0.
    pub(super) fn set_count(
        &mut self,
        name: &str,
        index: Option<usize>,
        row: &Row,
    ) -> Result<(), Failure> {
        let of = |id| number_in(row, id).unwrap_or(0);
        let (packets, bytes) = (of(field::COUNTER_PACKETS), of(field::COUNTER_BYTES));
        // A read returns the sum over the pipes: the first takes the value, the others 0.
        let (mut left, name) = ((packets, bytes), name.to_owned());
        self.in_each_pipe(|writer| {
            let (packets, bytes) = std::mem::take(&mut left);
            let name = name.clone();
            writer.apply(&Operation::WriteCounter { name, index, packets, bytes }).map(drop)
        })
    }

    pub(super) fn meter(
        &mut self,
        table: &Table,
        unit: Unit,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        self.reset_or_set(
            (table, verb, entry),
            |name, index| Operation::ResetMeter { name, index },
            |writer, index, row| writer.set_rates(&table.inner, index, unit, row),
        )
    }

    /// Resets an entry's cell, or all of them, if it is a delete; else sets the cell.
    pub(super) fn reset_or_set(
        &mut self,
        (table, verb, entry): (&Table, Verb, &bfrt::TableEntry),
        reset: impl FnOnce(String, Option<usize>) -> Operation,
        set: impl FnOnce(&mut Self, usize, &Row) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (index, row) = self.cell(table, verb, entry)?;
        match (verb, index) {
            (Verb::Delete | Verb::Reset, index) => {
                self.apply(&reset(table.inner.clone(), index)).map(drop)
            }
            (_, Some(index)) => set(self, index, &row),
            (_, None) => must_delete(table, verb),
        }
    }

    /// Sets the given rates of a cell of a meter; the others remain, initially without a limit.
    pub(super) fn set_rates(
        &mut self,
        name: &str,
        index: usize,
        unit: Unit,
        row: &Row,
    ) -> Result<(), Failure> {
        let query = Query::Meter { name: name.to_owned(), index };
        let before = match self.batch.read(&query) {
            Ok(Reply::Meter(spec)) => spec_read(&spec, unit),
            _ => [u64::MAX; 4],
        };
        let first = first_rate(unit);
        let mut given = before;
        for (id, value) in (first..).zip(&mut given) {
            *value = number_in(row, id).unwrap_or(*value);
        }
        let name = name.to_owned();
        if given == [u64::MAX; 4] {
            return self.apply(&Operation::ResetMeter { name, index: Some(index) }).map(drop);
        }
        let [cir, pir, cbs, pbs] = given.map(|value| match unit {
            Unit::Packets => value,
            _ => value.saturating_mul(KBIT),
        });
        let spec = MeterSpec { cir, pir, cbs, pbs };
        self.apply(&Operation::SetMeter { name, index, spec }).map(drop)
    }
}

/// Sum of the pipes' counts: packets and bytes.
pub fn counted(
    switch: &mut Switch,
    pipes: impl IntoIterator<Item = usize>,
    name: &str,
    index: usize,
) -> Result<(u64, u64), Failure> {
    let mut sum = (0_u64, 0_u64);
    for pipe in pipes {
        let query = Query::Counter { name: name.to_owned(), index };
        if let Reply::Counter(count) = read_of(switch, pipe, &query)? {
            sum = (sum.0.wrapping_add(count.packets), sum.1.wrapping_add(count.bytes));
        }
    }
    Ok(sum)
}

/// Id of a meter's first field.
fn first_rate(unit: Unit) -> u32 {
    match unit {
        Unit::Packets => field::METER_PPS,
        _ => field::METER_KBPS,
    }
}

/// Rates and bursts in BfRt's units and order; no limit is the largest number.
pub fn spec_read(spec: &MeterSpec, unit: Unit) -> [u64; 4] {
    [spec.cir, spec.pir, spec.cbs, spec.pbs].map(|value| match (unit, value) {
        (Unit::Packets, value) | (_, value @ u64::MAX) => value,
        (_, value) => value / KBIT,
    })
}
