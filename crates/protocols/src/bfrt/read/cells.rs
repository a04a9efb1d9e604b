//! Entries with numeric keys: cells of registers, counters, meters and filters, hashes, and rows in
//! the store.

use super::handles::key_of_handle;
use super::messages::{absent, default_entry_message, entry_message, shown};
use super::{EntryQuery, Reader};
use crate::bfrt::bfrt_json::field;
use crate::bfrt::device_tables::Fixed;
use crate::bfrt::fields::{Datum, Row, exact_key, numbers_of_key, row_read};
use crate::bfrt::schema::{Kind, Table};
use crate::bfrt::store::{Entry, kept_key, pipe_in};
use crate::bfrt::write::{
    algorithm_read, counted, filter_read, inputs_read, place_of, running, spec_read,
};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::table_entry::Value;
use sojourn_control::schema::Unit;
use sojourn_control::{HashRead, Number, Query, Reply};
use sojourn_engine::control::{self, Pipes};
use sojourn_switch::PortStatistics;
use tonic::Code;

/// Number of cells read in one piece.
const CELLS: u64 = 1_024;

impl Reader<'_> {
    /// Reads some of the entries of a table with numeric keys; returns the position of the next
    /// one.
    pub(super) fn numbered(
        &mut self,
        table: &Table,
        asked: &bfrt::TableEntry,
        query_of: &EntryQuery<'_>,
        from: u64,
        out: &mut Vec<bfrt::Entity>,
    ) -> Result<Option<u64>, Failure> {
        let first = self.scope(table)?.first(self.first_pipe());
        let is_cells =
            matches!(table.kind, Kind::Register(_) | Kind::Counter | Kind::Meter(_) | Kind::Filter);
        let (keys, next) = match &asked.value {
            Some(value) => {
                let key = match value {
                    Value::Key(key) => exact_key(table, key)?,
                    Value::HandleId(handle) => key_of_handle(table, *handle)?,
                };
                let is_profile = matches!(table.kind, Kind::Members | Kind::Groups(_));
                (vec![if is_profile { kept_key(key, first) } else { key }], None)
            }
            None if asked.is_default_entry => {
                out.push(self.keyless(table, query_of)?);
                return Ok(None);
            }
            None if is_cells => {
                let until = table.size.min(from + CELLS);
                let keys = (from..until).map(|index| vec![index]).collect();
                (keys, (until < table.size).then_some(until))
            }
            None if table.kind == Kind::Fixed(Fixed::SnapshotContainers) => {
                (self.stages_with_snapshots(), None)
            }
            None => (self.keys(table, first), None),
        };
        for key in keys {
            let entry = self.one(table, &key, query_of)?;
            out.push(shown(table, &key, &entry, query_of));
        }
        Ok(next)
    }

    /// Hash of a key, or the member that a selector chooses for it.
    pub(super) fn computed(
        &mut self,
        table: &Table,
        asked: &bfrt::TableEntry,
        query_of: &EntryQuery<'_>,
    ) -> Result<bfrt::Entity, Failure> {
        let key = match &asked.value {
            Some(Value::Key(key)) => key,
            Some(Value::HandleId(handle)) => {
                key_of_handle(table, *handle)?;
                return Err(absent(table));
            }
            None => return Err(Failure::invalid(format!("`{}` is read with a key", table.name))),
        };
        let row = match table.kind {
            Kind::Chosen => self.chosen(table, &exact_key(table, key)?)?,
            _ => {
                let read = self.hash(table, numbers_of_key(table, key)?)?;
                Row::from([(field::HASH_VALUE, Datum::Number(read.value.0))])
            }
        };
        let data = row_read(&table.fields, &row, &query_of.fields);
        Ok(entry_message(table, key.clone(), 0, data, query_of))
    }

    /// The only entry of a table without keys, which is its default entry, too.
    pub(super) fn keyless(
        &mut self,
        table: &Table,
        query_of: &EntryQuery<'_>,
    ) -> Result<bfrt::Entity, Failure> {
        if !table.keys.is_empty() {
            return Err(Failure::invalid(format!("`{}` has no default entry", table.name)));
        }
        let Entry { action, row } = self.one(table, &[], query_of)?;
        let of = table.actions.iter().find(|known| known.id == action);
        let parameters = of.map_or(&[][..], |action| &action.fields);
        let fields = parameters.iter().chain(&table.fields);
        Ok(default_entry_message(table, action, row_read(fields, &row, &query_of.fields)))
    }

    /// One entry of a table with numeric keys.
    pub(super) fn one(
        &mut self,
        table: &Table,
        key: &[u64],
        query_of: &EntryQuery<'_>,
    ) -> Result<Entry, Failure> {
        let index = key.first().copied().unwrap_or(0) as usize;
        let name = table.inner.clone();
        let row = match &table.kind {
            Kind::Register(_) => {
                let ids: Vec<u32> = table.fields.iter().map(|field| field.id).collect();
                self.words((table, &name), index, &ids)?
            }
            Kind::Counter => {
                let pipes: Vec<usize> = self.program_pipes().numbers(self.count).collect();
                self.count(table, &table.inner, index as u64, (index, pipes), query_of)?
            }
            Kind::Meter(unit) => self.rates(&table.inner, index, *unit, Some(table))?,
            Kind::Parameter(_) => {
                let pipe = self.asked_pipe();
                let value = control::program_of(self.switch, pipe)?.parameter(&table.inner);
                let value = value.map_err(|error| Failure::new(Code::NotFound, error))?;
                Row::from([(field::PARAMETER, Datum::number(value))])
            }
            Kind::Filter => self.filter(&table.inner, index)?,
            Kind::HashInputs => inputs_read(table, &self.hash(table, Vec::new())?),
            Kind::HashAlgorithm => {
                let (action, row) = algorithm_read(&self.hash(table, Vec::new())?);
                return Ok(Entry { action, row });
            }
            Kind::Fixed(Fixed::SnapshotContainers) => self.containers(table, key)?,
            Kind::Fixed(fixed) => return self.fixed(table, *fixed, key),
            _ => return self.store.entry(table.id, key).cloned().ok_or_else(|| absent(table)),
        };
        Ok(Entry { action: 0, row })
    }

    /// A register's cell, with a field for each of its parts.
    pub(super) fn words(
        &mut self,
        (table, name): (&Table, &str),
        index: usize,
        ids: &[u32],
    ) -> Result<Row, Failure> {
        let query = Query::Register { name: name.to_owned(), index };
        let pipes = Pipes(self.pipes.0 & running(self.switch, self.schema, table).0);
        let mut each = vec![Vec::new(); ids.len()];
        for pipe in pipes.numbers(self.count) {
            if let Reply::Register(words) = control::read_of(self.switch, pipe, &query)? {
                each.iter_mut().zip(words).for_each(|(values, word)| values.push(word.0));
            }
        }
        Ok(ids.iter().copied().zip(each.into_iter().map(Datum::Each)).collect())
    }

    /// Software count of a cell. A read from hardware first updates it with the pipes' counts.
    pub(super) fn count(
        &mut self,
        table: &Table,
        name: &str,
        cell: u64,
        (index, pipes): (usize, Vec<usize>),
        query_of: &EntryQuery<'_>,
    ) -> Result<Row, Failure> {
        let place = (table.id, cell);
        let now = counted(self.switch, pipes, name, index)?;
        if query_of.from_hardware {
            self.store.counted.insert(place, now);
        }
        let (packets, bytes) = match query_of.from_hardware {
            true => now,
            false => self.store.counted.get(&place).copied().unwrap_or_default(),
        };
        Ok(Row::from([
            (field::COUNTER_BYTES, Datum::number(bytes)),
            (field::COUNTER_PACKETS, Datum::number(packets)),
        ]))
    }

    pub(super) fn filter(&mut self, name: &str, index: usize) -> Result<Row, Failure> {
        let query = Query::Filter { name: name.to_owned(), index };
        let Reply::Filter(spec) = self.ask(&query)? else { return Ok(Row::new()) };
        Ok(filter_read(&spec))
    }

    /// Rates of a cell; unset ones are the chip's maximum.
    pub(super) fn rates(
        &mut self,
        name: &str,
        index: usize,
        unit: Unit,
        bounds: Option<&Table>,
    ) -> Result<Row, Failure> {
        if let Some(table) = bounds.filter(|table| index as u64 >= table.size) {
            let why = format!("`{}` has no cell {index}", table.name);
            return Err(Failure::new(Code::OutOfRange, why));
        }
        let query = Query::Meter { name: name.to_owned(), index };
        let rates = match self.ask(&query) {
            Ok(Reply::Meter(spec)) => spec_read(&spec, unit),
            _ => unlimited(unit),
        };
        let first = if unit == Unit::Packets { field::METER_PPS } else { field::METER_KBPS };
        Ok((first..).zip(rates.map(Datum::number)).collect())
    }

    /// A hash, and its result for given inputs.
    pub(super) fn hash(&mut self, table: &Table, inputs: Vec<Number>) -> Result<HashRead, Failure> {
        match self.ask(&Query::Hash { name: table.inner.clone(), inputs })? {
            Reply::Hash(read) => Ok(read),
            _ => Err(absent(table)),
        }
    }

    /// The member that a group of a selector chooses for a hash.
    pub(super) fn chosen(&mut self, table: &Table, key: &[u64]) -> Result<Row, Failure> {
        let [group, hash] = key else { return Err(absent(table)) };
        let group = u32::try_from(*group).map_err(|_| absent(table))?;
        let query = Query::Chosen { name: table.inner.clone(), group, hash: *hash };
        match self.ask(&query)? {
            Reply::Chosen(Some(member)) => {
                Ok(Row::from([(field::CHOSEN_MEMBER, Datum::number(member))]))
            }
            _ => Err(absent(table)),
        }
    }

    /// Keys of a table whose entries are in the store or always exist.
    pub(super) fn keys(&self, table: &Table, first: u32) -> Vec<Vec<u64>> {
        let ports = || self.switch.statistics().ports;
        match &table.kind {
            Kind::Fixed(Fixed::Port) => {
                let there = |port: &&PortStatistics| !self.is_removed(port.port.0);
                ports().iter().filter(there).map(|port| vec![u64::from(port.port.0)]).collect()
            }
            Kind::Fixed(
                Fixed::PortStatistics
                | Fixed::PortConfig
                | Fixed::PortShaping
                | Fixed::PortScheduling
                | Fixed::ReplicationPort
                | Fixed::GeneratorPort,
            ) => ports().iter().map(|port| vec![u64::from(port.port.0)]).collect(),
            Kind::Fixed(
                Fixed::QueueMap
                | Fixed::QueueShaping
                | Fixed::QueueScheduling
                | Fixed::QueueBuffer
                | Fixed::QueueConfig
                | Fixed::QueueColor
                | Fixed::QueueCounter,
            ) => {
                let queues = |port: &PortStatistics| {
                    let place = place_of(port, &self.schema.chip);
                    (0..place.count).map(move |queue| vec![place.group, place.first + queue])
                };
                ports().iter().flat_map(queues).collect()
            }
            Kind::Fixed(Fixed::NodeScheduling | Fixed::NodeShaping) => self.node_keys(),
            // The pools of queues.
            Kind::Fixed(Fixed::PoolConfig | Fixed::PoolCounter) => {
                (4..8).map(|pool| vec![pool]).collect()
            }
            Kind::Fixed(Fixed::Application) => {
                let applications = self.switch.generators().applications();
                (0..applications.into()).map(|number| vec![number]).collect()
            }
            Kind::Fixed(Fixed::SnapshotContainers) => {
                (0..table.size).map(|stage| vec![stage]).collect()
            }
            Kind::Fixed(
                Fixed::Device | Fixed::PipeScheduling | Fixed::PipeConfig | Fixed::Buffer,
            )
            | Kind::Parameter(_)
            | Kind::HashInputs
            | Kind::HashAlgorithm => vec![Vec::new()],
            Kind::Members | Kind::Groups(_) => {
                let mine = |key: &Vec<u64>| pipe_in(key) == first;
                self.store.keys(table.id).into_iter().filter(mine).collect()
            }
            _ => self.store.keys(table.id),
        }
    }
}

/// A meter without limits, as the vendor's driver reads it: maximum mantissas and exponents of
/// rates and bursts, 511 bytes or packets a cycle at 1.271 GHz and 255 * 2^31.
fn unlimited(unit: Unit) -> [u64; 4] {
    let (rate, burst) = match unit {
        Unit::Packets => (649_481_027_584, 255 << 31),
        _ => (5_195_848_221, 4_380_866_642),
    };
    [rate, rate, burst, burst]
}
