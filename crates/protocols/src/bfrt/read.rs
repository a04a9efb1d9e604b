//! What is in a switch, told in BfRt's words, piece by piece so that packets pass meanwhile.

mod handles;
mod snapshots;

use self::handles::key_of_handle;
use super::document::field;
use super::fields::{
    Datum, Row, columns, columns_read, exact_key, exact_key_read, full_masks, key_read, masks_read,
    matched, numbers_of_key, row_read,
};
use super::fixed::{Fixed, field as fixed_field};
use super::idle::Idle;
use super::schema::{Field, Kind, Part, Schema, Table};
use super::scope::{Scope, pipe_of};
use super::store::{Entry, Store, kept_key, pipe_in};
use super::write::{
    algorithm_read, application_read, counted, filter_read, inputs_read, last_hit, must_run,
    place_of, port_and_queue, recirculates, running, spec_read,
};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::entity::Entity;
use sojourn_engine::control::{self, Pipes};
use sojourn_p4::interp::Tables;
use sojourn_packet::Time;
use sojourn_switch::{APPLICATIONS, GENERATOR_PORT, PortStatistics, ShapedRate, Switch};
use sojourn_targets::control::{EntryRead, HashRead, Number, Query, Reply};
use sojourn_targets::schema::Unit;
use std::collections::BTreeSet;
use tonic::Code;

/// Handles of entries that are looked at at once.
const ENTRIES: u32 = 256;
/// Cells that are read at once.
const CELLS: u64 = 1_024;

/// Ports to the processor over Ethernet, and the one over its bus, as the chip numbers them.
const CPU_PORTS: std::ops::Range<u32> = 64..68;
const PCIE_PORT: u32 = 320;

/// The handle of a table's default entry; those of its other entries follow.
const DEFAULT_HANDLE: u32 = 1;

/// Bits of a handle; the first pipe that has the entry is above them.
const HANDLE_BITS: u32 = 24;

/// A handle of an entry that a pipe, and those that have the same, has.
pub fn placed(first: u32, handle: u32) -> u32 {
    first << HANDLE_BITS | handle
}

/// The first of the pipes that have an entry, and its handle there.
pub fn place_of_handle(placed: u32) -> (u32, u32) {
    (placed >> HANDLE_BITS, placed & ((1 << HANDLE_BITS) - 1))
}

/// A handle as clients know it.
fn handle_outside(first: u32, handle: u32) -> u32 {
    placed(first, handle) + DEFAULT_HANDLE + 1
}

/// The first of the pipes that have the entry with a handle that a client names, and its handle as
/// the tables know it.
///
/// # Errors
/// No entry has such a one.
pub fn handle_inside(handle: u32) -> Result<(u32, u32), Failure> {
    let inside = handle.checked_sub(DEFAULT_HANDLE + 1);
    let inside =
        inside.ok_or_else(|| Failure::invalid(format!("no entry has the handle {handle}")));
    inside.map(place_of_handle)
}

/// A default entry that was asked for by its handle.
fn as_entry(made: bfrt::Entity) -> bfrt::Entity {
    match made.entity {
        Some(Entity::TableEntry(entry)) => {
            entity(Entity::TableEntry(bfrt::TableEntry { is_default_entry: false, ..entry }))
        }
        entity => bfrt::Entity { entity },
    }
}

/// What is left of a request.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// What was asked.
    entity: bfrt::Entity,
    /// The first handle or cell that is left.
    from: u64,
}

impl Cursor {
    /// All of a request.
    pub fn new(entity: bfrt::Entity) -> Cursor {
        Cursor { entity, from: 0 }
    }
}

/// What something is read with.
pub struct Reader<'a> {
    /// What numbers mean.
    pub schema: &'a Schema,
    /// What the program does not keep.
    pub store: &'a mut Store,
    /// The switch.
    pub switch: &'a mut Switch,
    /// Ports that are down.
    pub down: &'a BTreeSet<u16>,
    /// When it is asked.
    pub now: Time,
    /// What is asked of.
    pub target: &'a bfrt::TargetDevice,
    /// How many pipes the switch has, and those that are read of.
    pub count: usize,
    /// See `count`.
    pub pipes: Pipes,
}

/// What a client wants to see of an entry.
#[derive(Clone)]
struct Wanted<'e> {
    fields: Vec<u32>,
    action: u32,
    key_only: bool,
    from_hardware: bool,
    target: Option<&'e bfrt::TargetDevice>,
}

impl Reader<'_> {
    /// Reads some of what was asked; what is left.
    ///
    /// # Errors
    /// It is not there, or nothing of that kind is read.
    pub fn read(
        &mut self,
        cursor: Cursor,
        out: &mut Vec<bfrt::Entity>,
    ) -> Result<Option<Cursor>, Failure> {
        let asked = cursor.entity.entity.as_ref();
        match asked.ok_or_else(|| Failure::invalid("a request without an entity"))? {
            Entity::TableEntry(entry) => {
                let next = self.entries(entry, cursor.from, out)?;
                return Ok(next.map(|from| Cursor { entity: cursor.entity, from }));
            }
            Entity::TableUsage(usage) => {
                let pipe = pipe_of(self.target, self.count)?;
                self.pipes = pipe.map_or(Pipes::ALL, |pipe| Pipes(1 << pipe));
                let usage = bfrt::TableUsage { usage: self.usage(usage.table_id)?, ..*usage };
                out.push(entity(Entity::TableUsage(usage)));
            }
            Entity::Handle(handle) => {
                let table = self.schema.table(handle.table_id)?;
                let Some(bfrt::handle_id::Value::Key(key)) = &handle.value else {
                    return Err(Failure::invalid("a handle is asked for with a key"));
                };
                let outside = self.handle(table, key)?;
                let value = Some(bfrt::handle_id::Value::HandleId(outside));
                out.push(entity(Entity::Handle(bfrt::HandleId { table_id: table.id, value })));
            }
            Entity::ObjectId(object) => out.push(entity(Entity::ObjectId(self.number(object)?))),
            Entity::TableAttribute(attribute) => {
                let pipe = pipe_of(self.target, self.count)?;
                let read = self.attribute(attribute, pipe.unwrap_or(0))?;
                out.push(entity(Entity::TableAttribute(read)));
            }
            Entity::TableOperation(_) => {
                return Err(Failure::invalid("an operation is written, not read"));
            }
        }
        Ok(None)
    }

    /// What clients have said of the pipes that a table has entries in.
    fn scope(&self, table: &Table) -> Result<Scope, Failure> {
        if matches!(table.kind, Kind::Members | Kind::Groups(_)) {
            return self.store.scope_of_profile(self.schema, table);
        }
        Scope::of(self.store.scopes.get(&table.id))
    }

    fn first_pipe(&self) -> u32 {
        self.pipes.0.trailing_zeros()
    }

    /// Whether software is asked for what it keeps by another pipe, or by all: what is the same in
    /// some pipes it has once.
    fn is_kept_elsewhere(&self, asked: &bfrt::TableEntry, scope: &Scope) -> bool {
        let target = asked.entry_tgt.as_ref().unwrap_or(self.target);
        let from_software = asked.table_flags.is_some_and(|flags| !flags.from_hw);
        from_software
            && match (scope, target.pipe_id) {
                (_, super::write::ALL_PIPES) => false,
                (Scope::All, _) => true,
                (scope, pipe) => scope.first(pipe) != pipe,
            }
    }

    /// The pipes that are read of.
    fn pipes_of(&self, asked: &bfrt::TableEntry, table: &Table) -> Result<Pipes, Failure> {
        let target = asked.entry_tgt.as_ref().unwrap_or(self.target);
        let named = pipe_of(target, self.count)?;
        let scope = self.scope(table)?;
        match (&table.kind, &asked.value) {
            (Kind::Match { .. }, _) if asked.is_default_entry => {
                scope.read(target, self.count, Code::InvalidArgument)
            }
            // A handle says by itself which pipes are meant.
            (Kind::Match { .. }, Some(bfrt::table_entry::Value::HandleId(handle)))
                if *handle > DEFAULT_HANDLE && named.is_none() =>
            {
                Ok(Pipes(1 << handle_inside(*handle)?.0))
            }
            // All entries of all pipes, one pipe after the other.
            (Kind::Match { .. }, None) if named.is_none() => Ok(Pipes::ALL),
            (Kind::Match { .. } | Kind::ValueSet, _) => {
                scope.read(target, self.count, Code::NotFound)
            }
            _ => Ok(named.map_or(Pipes::ALL, |pipe| Pipes(1 << pipe))),
        }
    }

    fn tables(&mut self) -> Result<&mut Tables, Failure> {
        let pipe = self.asked_pipe();
        Ok(control::program_of(self.switch, pipe)?.tables())
    }

    /// Those of the pipes that run the program.
    fn program_pipes(&self) -> Pipes {
        Pipes(self.pipes.0 & self.schema.pipes.0)
    }

    /// The first of them.
    fn asked_pipe(&self) -> usize {
        self.program_pipes().0.trailing_zeros() as usize
    }

    /// Asks the first of the pipes that are read of.
    fn ask(&mut self, query: &Query) -> Result<Reply, Failure> {
        Ok(control::read_of(self.switch, self.asked_pipe(), query)?)
    }

    fn entries(
        &mut self,
        asked: &bfrt::TableEntry,
        from: u64,
        out: &mut Vec<bfrt::Entity>,
    ) -> Result<Option<u64>, Failure> {
        let schema = self.schema;
        let table = schema.table(asked.table_id)?;
        self.pipes = self.pipes_of(asked, table)?;
        must_run(table, self.pipes, running(self.switch, schema, table))?;
        let scope = self.scope(table)?;
        let first = scope.first(self.first_pipe());
        let data = asked.data.as_ref();
        let wanted = Wanted {
            fields: data.map_or_else(Vec::new, |d| d.fields.iter().map(|f| f.field_id).collect()),
            action: data.map_or(0, |data| data.action_id),
            key_only: asked.table_flags.is_some_and(|flags| flags.key_only),
            from_hardware: asked.table_flags.is_some_and(|flags| flags.from_hw),
            target: asked.entry_tgt.as_ref(),
        };
        let is_matched = matches!(table.kind, Kind::Match { .. });
        let place = *self.target;
        // What is in no pipe of its own is where it was asked for.
        let place = (wanted.key_only && !is_matched).then_some(&place);
        let wanted = Wanted { target: wanted.target.or(place), ..wanted };
        match (&table.kind, &asked.value) {
            (Kind::Match { .. }, value) => {
                use bfrt::table_entry::Value;
                if asked.is_default_entry {
                    out.push(self.default_entry(table, &wanted)?);
                    return Ok(None);
                }
                match value {
                    Some(Value::Key(_)) if self.is_kept_elsewhere(asked, &scope) => {
                        Err(absent(table))
                    }
                    Some(Value::HandleId(DEFAULT_HANDLE)) => {
                        let made = self.default_entry(table, &wanted)?;
                        out.push(as_entry(made));
                        Ok(None)
                    }
                    Some(Value::Key(key)) => {
                        let found = self.find(table, key)?;
                        runs(table, &found, wanted.action)?;
                        out.push(self.matched(table, &found, &wanted)?);
                        Ok(None)
                    }
                    Some(Value::HandleId(handle)) => {
                        if self.is_kept_elsewhere(asked, &scope) {
                            return Err(absent(table));
                        }
                        let (first, handle) = handle_inside(*handle)?;
                        if first != scope.first(self.first_pipe()) {
                            if !wanted.from_hardware {
                                return Err(absent(table));
                            }
                            let why = "the entry with this handle is in other pipes";
                            return Err(Failure::invalid(why));
                        }
                        let (page, _) = self.page(table, handle, 1)?;
                        let found = page.first().filter(|entry| entry.handle == handle);
                        let found = found.ok_or_else(|| absent(table))?;
                        out.push(self.matched(table, found, &wanted)?);
                        Ok(None)
                    }
                    None => {
                        let firsts = match (&scope, self.pipes) {
                            (Scope::Groups(_), Pipes::ALL) => {
                                let mut firsts = scope.firsts(self.count);
                                firsts.retain(|pipe| self.schema.pipes.0 >> pipe & 1 == 1);
                                firsts
                            }
                            _ => Vec::new(),
                        };
                        let turn = (from >> 32) as usize;
                        if let Some(first) = firsts.get(turn) {
                            self.pipes = Pipes(1 << first);
                        }
                        let (page, next) = self.page(table, from as u32, ENTRIES)?;
                        for entry in &page {
                            // With an action only its entries are meant.
                            let of = entry.entry.action.as_deref();
                            let of = of.and_then(|name| table.action_called(name));
                            if wanted.action == 0 || of.is_some_and(|of| of.id == wanted.action) {
                                out.push(self.matched(table, entry, &wanted)?);
                            }
                        }
                        let turn = turn as u64;
                        Ok(match next {
                            Some(next) => Some(turn << 32 | u64::from(next)),
                            None => (turn + 1 < firsts.len() as u64).then_some((turn + 1) << 32),
                        })
                    }
                }
            }
            (Kind::Snapshot(part), _) => {
                self.snapshots(table, *part, asked, &wanted, out)?;
                Ok(None)
            }
            (Kind::ValueSet, Some(bfrt::table_entry::Value::HandleId(handle))) => {
                let place = (table.id, scope.first(self.first_pipe()));
                let mut members = self.store.members.get(&place).into_iter().flatten();
                let found = members.find(|(known, _)| known == handle);
                let (_, member) = found.ok_or_else(|| absent(table))?;
                out.push(made(table, columns_read(table, member), 0, Vec::new(), &wanted));
                Ok(None)
            }
            (Kind::ValueSet, None) => {
                let place = (table.id, scope.first(self.first_pipe()));
                let members = self.store.members.get(&place).into_iter().flatten();
                out.extend(members.map(|(_, member)| {
                    let key = columns_read(table, member);
                    made(table, key, 0, Vec::new(), &wanted)
                }));
                Ok(None)
            }
            (Kind::ValueSet, Some(bfrt::table_entry::Value::Key(key))) => {
                let wanted_member = columns(table, key)?;
                let place = (table.id, scope.first(self.first_pipe()));
                let mut members = self.store.members.get(&place).into_iter().flatten();
                let found = members.find(|(_, member)| *member == wanted_member);
                let (_, member) = found.ok_or_else(|| absent(table))?;
                let key = columns_read(table, member);
                out.push(made(table, key, 0, Vec::new(), &wanted));
                Ok(None)
            }
            (Kind::HashValue, Some(bfrt::table_entry::Value::Key(key))) => {
                let read = self.hash(table, numbers_of_key(table, key)?)?;
                let row = Row::from([(field::HASH_VALUE, Datum::Number(read.value.0))]);
                let data = row_read(&table.fields, &row, &wanted.fields);
                out.push(made(table, key.clone(), 0, data, &wanted));
                Ok(None)
            }
            (Kind::Chosen, Some(bfrt::table_entry::Value::Key(key))) => {
                let numbers = exact_key(table, key)?;
                let row = self.chosen(table, &numbers)?;
                let data = row_read(&table.fields, &row, &wanted.fields);
                out.push(made(table, key.clone(), 0, data, &wanted));
                Ok(None)
            }
            (Kind::HashValue | Kind::Chosen, None) => {
                let why = format!("`{}` is read with a key", table.name);
                Err(Failure::invalid(why))
            }
            (_, Some(value)) => {
                let mut key = match value {
                    bfrt::table_entry::Value::Key(key) => exact_key(table, key)?,
                    bfrt::table_entry::Value::HandleId(handle) => key_of_handle(table, *handle)?,
                };
                if matches!(table.kind, Kind::Members | Kind::Groups(_)) {
                    key = kept_key(key, first);
                }
                let entry = self.one(table, &key, &wanted)?;
                out.push(shown(table, &key, &entry, &wanted));
                Ok(None)
            }
            (_, None) if asked.is_default_entry => {
                out.push(self.keyless(table, &wanted)?);
                Ok(None)
            }
            (Kind::Register(_) | Kind::Counter | Kind::Meter(_) | Kind::Filter, None) => {
                let until = table.size.min(from + CELLS);
                for index in from..until {
                    let entry = self.one(table, &[index], &wanted)?;
                    out.push(shown(table, &[index], &entry, &wanted));
                }
                Ok((until < table.size).then_some(until))
            }
            (_, None) => {
                let keys = match table.kind {
                    Kind::Fixed(Fixed::SnapshotContainers) => self.stages_with_snapshots(),
                    _ => self.keys(table, first),
                };
                for key in keys {
                    let entry = self.one(table, &key, &wanted)?;
                    out.push(shown(table, &key, &entry, &wanted));
                }
                Ok(None)
            }
        }
    }

    /// The one entry of a table without keys, which is its default entry, too.
    fn keyless(&mut self, table: &Table, wanted: &Wanted<'_>) -> Result<bfrt::Entity, Failure> {
        if !table.keys.is_empty() {
            return Err(Failure::invalid(format!("`{}` has no default entry", table.name)));
        }
        let Entry { action, row } = self.one(table, &[], wanted)?;
        let of = table.actions.iter().find(|known| known.id == action);
        let parameters = of.map_or(&[][..], |action| &action.fields);
        let fields = parameters.iter().chain(&table.fields);
        Ok(default_made(table, action, row_read(fields, &row, &wanted.fields)))
    }

    /// A hash, and what it makes of inputs.
    fn hash(&mut self, table: &Table, inputs: Vec<Number>) -> Result<HashRead, Failure> {
        match self.ask(&Query::Hash { name: table.inner.clone(), inputs })? {
            Reply::Hash(read) => Ok(read),
            _ => Err(absent(table)),
        }
    }

    /// The member that a group of a selector chooses for a hash.
    fn chosen(&mut self, table: &Table, key: &[u64]) -> Result<Row, Failure> {
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

    /// Keys of a table whose entries are kept here, or are always there.
    fn keys(&self, table: &Table, first: u32) -> Vec<Vec<u64>> {
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
                | Fixed::QueueCounter,
            ) => {
                let queues = |port: &PortStatistics| {
                    let (group, first) = place_of(port);
                    (0..port.queues.len() as u64).map(move |queue| vec![group, first + queue])
                };
                ports().iter().flat_map(queues).collect()
            }
            Kind::Fixed(Fixed::Application) => {
                (0..APPLICATIONS as u64).map(|number| vec![number]).collect()
            }
            Kind::Fixed(Fixed::SnapshotContainers) => {
                (0..table.size).map(|stage| vec![stage]).collect()
            }
            Kind::Fixed(Fixed::Device)
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

    /// One entry of a table whose keys are numbers.
    fn one(&mut self, table: &Table, key: &[u64], wanted: &Wanted<'_>) -> Result<Entry, Failure> {
        let index = key.first().copied().unwrap_or(0) as usize;
        let name = table.inner.clone();
        let row = match &table.kind {
            Kind::Register(_) => {
                let ids: Vec<u32> = table.fields.iter().map(|field| field.id).collect();
                self.words((table, &name), index, &ids)?
            }
            Kind::Counter => {
                let pipes: Vec<usize> = self.program_pipes().of(self.count).collect();
                self.count(table, &table.inner, index as u64, (index, pipes), wanted)?
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

    /// A register's cell, a field for each of its parts.
    fn words(
        &mut self,
        (table, name): (&Table, &str),
        index: usize,
        ids: &[u32],
    ) -> Result<Row, Failure> {
        let query = Query::Register { name: name.to_owned(), index };
        let pipes = Pipes(self.pipes.0 & running(self.switch, self.schema, table).0);
        let mut each = vec![Vec::new(); ids.len()];
        for pipe in pipes.of(self.count) {
            if let Reply::Register(words) = control::read_of(self.switch, pipe, &query)? {
                each.iter_mut().zip(words).for_each(|(values, word)| values.push(word.0));
            }
        }
        Ok(ids.iter().copied().zip(each.into_iter().map(Datum::Each)).collect())
    }

    /// A count as software knows it, or, if it is asked of the chip, as the pipes have it now, which
    /// software knows from then on.
    fn count(
        &mut self,
        table: &Table,
        name: &str,
        cell: u64,
        (index, pipes): (usize, Vec<usize>),
        wanted: &Wanted<'_>,
    ) -> Result<Row, Failure> {
        let place = (table.id, cell);
        let now = counted(self.switch, pipes, name, index)?;
        if wanted.from_hardware {
            self.store.counted.insert(place, now);
        }
        let (packets, bytes) = match wanted.from_hardware {
            true => now,
            false => self.store.counted.get(&place).copied().unwrap_or_default(),
        };
        Ok(Row::from([
            (field::COUNTER_BYTES, Datum::number(bytes)),
            (field::COUNTER_PACKETS, Datum::number(packets)),
        ]))
    }

    fn filter(&mut self, name: &str, index: usize) -> Result<Row, Failure> {
        let query = Query::Filter { name: name.to_owned(), index };
        let Reply::Filter(spec) = self.ask(&query)? else { return Ok(Row::new()) };
        Ok(filter_read(&spec))
    }

    /// Rates of a cell; none that were set are the largest that the chip has.
    fn rates(
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

    fn page(
        &mut self,
        table: &Table,
        from: u32,
        most: u32,
    ) -> Result<(Vec<EntryRead>, Option<u32>), Failure> {
        let query = Query::Page { table: table.inner.clone(), from, most };
        match self.ask(&query)? {
            Reply::Page { page, next } => Ok((page, next)),
            _ => Ok((Vec::new(), None)),
        }
    }

    fn find(&mut self, table: &Table, key: &bfrt::TableKey) -> Result<EntryRead, Failure> {
        let query = Query::Entry { table: table.inner.clone(), at: matched(table, key)? };
        match self.ask(&query)? {
            Reply::Entries(mut entries) => entries.pop().ok_or_else(|| absent(table)),
            _ => Err(absent(table)),
        }
    }

    fn matched(
        &mut self,
        table: &Table,
        read: &EntryRead,
        wanted: &Wanted<'_>,
    ) -> Result<bfrt::Entity, Failure> {
        let key = key_read(table, &read.entry.matches, read.entry.priority);
        let scope = self.scope(table)?;
        let first = scope.first(self.first_pipe());
        if wanted.key_only {
            // Of keys alone clients want to know where they are.
            let pipe_id = if scope == Scope::All { super::write::ALL_PIPES } else { first };
            let place = bfrt::TargetDevice { pipe_id, ..*self.target };
            let wanted = Wanted { target: wanted.target.or(Some(&place)), ..wanted.clone() };
            return Ok(made(table, key, 0, Vec::new(), &wanted));
        }
        let mut row = Row::new();
        let place = placed(first, read.handle);
        let action = read.entry.action.as_deref().and_then(|name| table.action_called(name));
        let parameters = action.map_or(&[][..], |action| action.fields.as_slice());
        for parameter in parameters {
            if let Some(value) = read.entry.args.get(&parameter.inner) {
                row.insert(parameter.id, Datum::Number(value.0.clone()));
            }
        }
        if let Kind::Match { counter, meter, filter, register, .. } = &table.kind {
            let handle = read.handle as usize;
            if let Some((name, ids)) = register {
                let name = name.clone();
                row.extend(self.words((table, &name), handle, ids)?);
            }
            if let Some(name) = filter {
                row.extend(self.filter(name, handle)?);
            }
            if let Some(name) = counter {
                let mine = |pipe: &usize| scope.first(*pipe as u32) == first;
                let pipes = self.schema.pipes.of(self.count).filter(mine).collect();
                row.extend(self.count(table, name, place.into(), (handle, pipes), wanted)?);
            }
            if let Some((name, unit)) = meter {
                row.extend(self.rates(name, handle, *unit, None)?);
            }
        }
        if let Some(idle) = self.store.idle.get(&table.id) {
            let of = (&*table.inner, self.schema.pipes);
            let hit = last_hit(self.switch, of, place, &scope);
            row.extend(idle.read(place, hit, self.now));
        }
        row.extend(references(read.entry.member, read.entry.group));
        let fields = parameters.iter().chain(&table.fields);
        let data = row_read(fields, &row, &wanted.fields);
        Ok(made(table, key, action.map_or(0, |action| action.id), data, wanted))
    }

    fn default_entry(
        &mut self,
        table: &Table,
        wanted: &Wanted<'_>,
    ) -> Result<bfrt::Entity, Failure> {
        let own = self.store.defaults.get(&table.id).cloned().unwrap_or_default();
        let query = Query::Default { table: table.inner.clone() };
        let Reply::Default(Some(call)) = self.ask(&query)? else {
            let why = format!("`{}` has no default entry", table.name);
            return Err(Failure::new(Code::NotFound, why));
        };
        let action = call.action.as_deref().and_then(|action| table.action_called(action));
        let parameters = action.map_or(&[][..], |action| action.fields.as_slice());
        let value = |field: &Field| {
            let value = call.args.get(&field.inner)?;
            Some((field.id, Datum::Number(value.0.clone())))
        };
        let mut row: Row = parameters.iter().filter_map(value).collect();
        row.extend(own);
        row.extend(references(call.member, call.group));
        let all = parameters.iter().chain(&table.fields);
        let fields = row_read(all, &row, &wanted.fields);
        Ok(default_made(table, action.map_or(0, |action| action.id), fields))
    }

    /// An entry of one of the tables that every Tofino has.
    fn fixed(&self, table: &Table, fixed: Fixed, key: &[u64]) -> Result<Entry, Failure> {
        let kept = self.store.entry(table.id, key).cloned();
        if matches!(fixed, Fixed::Mirror | Fixed::Group | Fixed::Node) {
            return kept.ok_or_else(|| absent(table));
        }
        let of_key = |at: usize| key.get(at).copied().unwrap_or(0);
        match fixed {
            Fixed::Application => {
                let number = u8::try_from(of_key(0)).ok();
                let number = number.filter(|number| usize::from(*number) < APPLICATIONS);
                let number = number.ok_or_else(|| absent(table))?;
                let count = self.count.max(1);
                let generators = self.switch.generators();
                let (action, row) = application_read(generators, self.pipes, count, number);
                return Ok(Entry { action, row });
            }
            Fixed::GeneratorBuffer => {
                let [offset, size] = [0, 1].map(|at| of_key(at).min(u64::from(u16::MAX)) as usize);
                let pipe = self.first_pipe().min(3) as u8;
                let bytes = self.switch.generators().buffer(pipe, offset, size);
                let bytes = bytes.into_iter().map(u32::from).collect();
                let row = Row::from([(fixed_field::BUFFER, Datum::Numbers(bytes))]);
                return Ok(Entry { action: 0, row });
            }
            _ => {}
        }
        let ports = self.switch.statistics().ports;
        let mut row = match fixed {
            Fixed::Device => device(&ports, self.count),
            Fixed::QueueMap
            | Fixed::QueueShaping
            | Fixed::QueueScheduling
            | Fixed::QueueCounter => {
                let (port, queue) = port_and_queue(&ports, key).ok_or_else(|| absent(table))?;
                let of = ports.iter().find(|known| known.port.0 == port);
                let of = of.and_then(|port| port.queues.get(usize::from(queue)));
                match (fixed, of) {
                    (Fixed::QueueMap, _) => Row::from([
                        (fixed_field::MAP_PORT, Datum::number(port)),
                        (fixed_field::MAP_QUEUE, Datum::number(queue)),
                    ]),
                    (Fixed::QueueCounter, Some(queue)) => Row::from([
                        (fixed_field::DROPPED, Datum::number(queue.tail_drops.packets)),
                        (fixed_field::USAGE, Datum::number(queue.cells)),
                        (fixed_field::WATERMARK, Datum::number(queue.peak_cells)),
                    ]),
                    _ => Row::new(),
                }
            }
            _ => {
                let wanted = key.first().copied().unwrap_or(0);
                let port = ports.iter().find(|port| u64::from(port.port.0) == wanted);
                let hidden =
                    |port: &&PortStatistics| fixed == Fixed::Port && self.is_removed(port.port.0);
                let port = port.filter(|port| !hidden(port));
                self.port(fixed, port.ok_or_else(|| absent(table))?)
            }
        };
        row.extend(kept.unwrap_or_default().row);
        Ok(Entry { action: 0, row })
    }

    fn port(&self, fixed: Fixed, port: &PortStatistics) -> Row {
        match fixed {
            Fixed::Port => Row::from([
                (fixed_field::PORT_ENABLE, Datum::Bool(true)),
                (fixed_field::PORT_VALID, Datum::Bool(true)),
                (fixed_field::PORT_UP, Datum::Bool(!self.down.contains(&port.port.0))),
            ]),
            Fixed::PortStatistics => {
                let twice = |ids: [u32; 2], value: u64| ids.map(|id| (id, Datum::number(value)));
                let (received, sent) = (port.received, port.sent);
                [
                    twice(fixed_field::FRAMES_RECEIVED, received.packets),
                    twice(fixed_field::OCTETS_RECEIVED, received.bytes),
                    twice(fixed_field::FRAMES_SENT, sent.packets),
                    twice(fixed_field::OCTETS_SENT, sent.bytes),
                ]
                .into_iter()
                .flatten()
                .collect()
            }
            Fixed::PortConfig => {
                let place = u32::from(port.port.0 & 0x7f);
                Row::from([
                    (fixed_field::PORT_GROUP, Datum::number(place / 4)),
                    (fixed_field::PLACE_IN_GROUP, Datum::number(place % 4)),
                    (fixed_field::QUEUES, Datum::number(port.queues.len())),
                ])
            }
            Fixed::PortScheduling => {
                Row::from([(fixed_field::PORT_SHAPED, Datum::Bool(port.shaper.is_some()))])
            }
            Fixed::ReplicationPort => Row::from([
                (fixed_field::BACKUP_PORT, Datum::number(port.port.0)),
                (fixed_field::FORWARDS, Datum::Bool(true)),
                (fixed_field::TO_CPU, Datum::Bool(false)),
            ]),
            Fixed::PortShaping => shaping(port),
            Fixed::GeneratorPort => {
                let number = port.port.0;
                let pipe = (number >> 7) as u8;
                let (generates, matches) = match number & 0x7f {
                    GENERATOR_PORT => self.switch.generators().is_on(pipe),
                    _ => (false, false),
                };
                Row::from([
                    (fixed_field::RECIRCULATES, Datum::Bool(recirculates(number))),
                    (fixed_field::GENERATES, Datum::Bool(generates)),
                    (fixed_field::MATCHES, Datum::Bool(matches)),
                    (fixed_field::CLEAR_DOWN, Datum::Bool(false)),
                ])
            }
            _ => Row::new(),
        }
    }

    fn is_removed(&self, port: u16) -> bool {
        self.store.removed_ports.contains(&port)
    }

    fn usage(&mut self, id: u32) -> Result<u32, Failure> {
        let schema = self.schema;
        let table = schema.table(id)?;
        let count = match &table.kind {
            Kind::Match { .. } => {
                let found = self.tables()?.find(&table.inner);
                let found = found.map_err(|error| Failure::new(Code::NotFound, error))?;
                let entries = self.tables()?.entries(found);
                entries.map_err(|error| Failure::new(Code::NotFound, error))?.len()
            }
            Kind::ValueSet => {
                let first = self.scope(table)?.first(self.first_pipe());
                self.store.members.get(&(id, first)).map_or(0, Vec::len)
            }
            Kind::Counter | Kind::Meter(_) | Kind::Filter | Kind::Register(_) => {
                table.size as usize
            }
            Kind::Fixed(Fixed::SnapshotContainers) | Kind::Snapshot(Part::Seen { .. }) => {
                table.size as usize
            }
            Kind::Snapshot(part) => {
                let pipe = pipe_of(self.target, self.count)?;
                self.snapshot_keys(table, *part, pipe)?.len()
            }
            _ => {
                let first = self.scope(table)?.first(self.first_pipe());
                self.keys(table, first).len()
            }
        };
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    fn attribute(
        &self,
        asked: &bfrt::TableAttribute,
        pipe: u32,
    ) -> Result<bfrt::TableAttribute, Failure> {
        use bfrt::mode::{PredefinedMode, Scope};
        use bfrt::table_attribute::Attribute;
        let table = self.schema.table(asked.table_id)?;
        let all = bfrt::Mode { scope: Some(Scope::Predef(PredefinedMode::All as i32)), args: 0 };
        let attribute = match asked.attribute.as_ref() {
            Some(Attribute::EntryScope(_)) => {
                let set = self.store.scopes.get(&table.id).copied().unwrap_or_default();
                Attribute::EntryScope(bfrt::EntryScope {
                    gress_scope: set.gress_scope.or(Some(all)),
                    pipe_scope: set.pipe_scope.or(Some(all)),
                    prsr_scope: set.prsr_scope.or(Some(all)),
                })
            }
            Some(Attribute::IdleTable(_)) => {
                use bfrt::idle_table::IdleTableMode::{IdleTableNotifyMode, IdleTablePollMode};
                let idle = self.store.idle.get(&table.id);
                let (enable, polled) = idle.map_or((false, false), |i| (i.enabled, i.polled));
                let mode = if polled { IdleTablePollMode } else { IdleTableNotifyMode };
                Attribute::IdleTable(bfrt::IdleTable {
                    enable,
                    idle_table_mode: mode as i32,
                    ttl_query_interval: idle.map_or(0, Idle::interval),
                    ..bfrt::IdleTable::default()
                })
            }
            Some(Attribute::ByteCountAdj(_)) => {
                let byte_count_adjust =
                    self.store.longer.get(&(table.id, pipe)).copied().unwrap_or(0);
                Attribute::ByteCountAdj(bfrt::ByteCountAdj { byte_count_adjust })
            }
            Some(Attribute::DynKeyMask(_)) if table.masks_keys => {
                let masks = self.store.key_masks.get(&table.id);
                let masks = masks.cloned().unwrap_or_else(|| full_masks(table));
                Attribute::DynKeyMask(masks_read(table, &masks))
            }
            Some(Attribute::PortStatusNotify(_)) => {
                Attribute::PortStatusNotify(bfrt::PortStatusChg { enable: self.store.tells_ports })
            }
            _ => {
                let why = format!("`{}` has no such attribute on this switch", table.name);
                return Err(Failure::unimplemented(why));
            }
        };
        Ok(bfrt::TableAttribute { table_id: table.id, attribute: Some(attribute) })
    }

    /// The number of a thing with a name.
    fn number(&self, asked: &bfrt::ObjectId) -> Result<bfrt::ObjectId, Failure> {
        use bfrt::object_id::{Object, table_object::Names};
        let none = |name: &str| Failure::new(Code::NotFound, format!("there is no `{name}`"));
        let unset = || Failure::invalid("a number is asked for without a name");
        let id = match asked.object.as_ref().ok_or_else(unset)? {
            Object::TableObject(given) => {
                let mut tables = self.schema.tables.values();
                let table = tables.find(|table| table.name == given.table_name);
                let table = table.ok_or_else(|| none(&given.table_name))?;
                let action = |name: &str| {
                    let action = table.actions.iter().find(|action| action.name == name);
                    action.ok_or_else(|| none(name))
                };
                match &given.names {
                    None => table.id,
                    Some(Names::ActionName(named)) => action(&named.action)?.id,
                    Some(Names::KeyFieldName(named)) => {
                        let key = table.keys.iter().find(|key| key.name == named.field);
                        key.ok_or_else(|| none(&named.field))?.id
                    }
                    Some(Names::DataFieldName(named)) => {
                        let of_action = match named.action.as_str() {
                            "" => &[][..],
                            name => &action(name)?.fields,
                        };
                        let mut fields = of_action.iter().chain(&table.fields);
                        let field = fields.find(|field| field.name == named.field);
                        field.ok_or_else(|| none(&named.field))?.id
                    }
                }
            }
            Object::LearnObject(given) => {
                let mut learns = self.schema.learns.values();
                let known = learns.find(|learn| given.learn_name.ends_with(&learn.inner));
                known.ok_or_else(|| none(&given.learn_name))?.id
            }
        };
        Ok(bfrt::ObjectId { id, ..asked.clone() })
    }
}

fn entity(of: Entity) -> bfrt::Entity {
    bfrt::Entity { entity: Some(of) }
}

/// That an entry that is asked for with an action runs that.
fn runs(table: &Table, read: &EntryRead, wanted: u32) -> Result<(), Failure> {
    let action = read.entry.action.as_deref().and_then(|name| table.action_called(name));
    match action {
        Some(action) if wanted != 0 && action.id != wanted => {
            let why = format!("the entry of `{}` runs `{}`", table.name, action.name);
            Err(Failure::invalid(why))
        }
        _ => Ok(()),
    }
}

/// The member or the group that an entry leads to, as data.
fn references(member: Option<u32>, group: Option<u32>) -> Row {
    let member = member.map(|member| (field::ACTION_MEMBER_ID, Datum::number(member)));
    let group = group.map(|group| (field::SELECTOR_GROUP_ID, Datum::number(group)));
    member.into_iter().chain(group).collect()
}

fn absent(table: &Table) -> Failure {
    Failure::new(Code::NotFound, format!("`{}` has no such entry", table.name))
}

/// An entry of a table whose keys are numbers, as a message.
fn shown(table: &Table, key: &[u64], entry: &Entry, wanted: &Wanted<'_>) -> bfrt::Entity {
    let action = table.actions.iter().find(|action| action.id == entry.action);
    let parameters = action.map_or(&[][..], |action| action.fields.as_slice());
    let data = row_read(parameters.iter().chain(&table.fields), &entry.row, &wanted.fields);
    made(table, exact_key_read(table, key), entry.action, data, wanted)
}

fn default_made(table: &Table, action_id: u32, fields: Vec<bfrt::DataField>) -> bfrt::Entity {
    entity(Entity::TableEntry(bfrt::TableEntry {
        table_id: table.id,
        data: Some(bfrt::TableData { action_id, fields }),
        is_default_entry: true,
        ..bfrt::TableEntry::default()
    }))
}

fn made(
    table: &Table,
    key: bfrt::TableKey,
    action_id: u32,
    fields: Vec<bfrt::DataField>,
    wanted: &Wanted<'_>,
) -> bfrt::Entity {
    let data = (!wanted.key_only).then_some(bfrt::TableData { action_id, fields });
    // Of keys alone clients want to know where they are.
    let all = bfrt::TargetDevice { pipe_id: super::write::ALL_PIPES, ..Default::default() };
    let target = wanted.target.copied().or(wanted.key_only.then_some(all));
    entity(Entity::TableEntry(bfrt::TableEntry {
        table_id: table.id,
        value: Some(bfrt::table_entry::Value::Key(key)),
        data,
        entry_tgt: target,
        ..bfrt::TableEntry::default()
    }))
}

/// A meter without limits, as the vendor's driver reads it: mantissas and exponents of rates and
/// bursts at their largest, 511 bytes or packets a cycle at 1.271 GHz and 255 * 2^31.
fn unlimited(unit: Unit) -> [u64; 4] {
    let (rate, burst) = match unit {
        Unit::Packets => (649_481_027_584, 255 << 31),
        _ => (5_195_848_221, 4_380_866_642),
    };
    [rate, rate, burst, burst]
}

/// What a port is shaped to, as the hardware makes it.
fn shaping(port: &PortStatistics) -> Row {
    let Some(shaper) = port.shaper else { return Row::new() };
    let (unit, rate) = match shaper.rate {
        ShapedRate::Bits(rate) => ("BPS", rate.0 / 1_000),
        ShapedRate::Packets(rate) => ("PPS", rate),
    };
    Row::from([
        (fixed_field::UNIT, Datum::text(unit)),
        (fixed_field::PORT_RATE, Datum::number(rate)),
        (fixed_field::PORT_BURST, Datum::number(shaper.burst)),
    ])
}

/// What the chip has, as far as this switch is one.
fn device(ports: &[PortStatistics], pipes: usize) -> Row {
    let (loops, fronts): (Vec<u32>, Vec<u32>) =
        ports.iter().map(|port| u32::from(port.port.0)).partition(|p| recirculates(*p as u16));
    let (cpu, fronts): (Vec<u32>, Vec<u32>) =
        fronts.into_iter().partition(|port| CPU_PORTS.contains(&(port & 0x7f)));
    Row::from([
        (fixed_field::SKU, Datum::text("UNKNOWN")),
        (fixed_field::FRONT_PORTS, Datum::number(fronts.len())),
        (fixed_field::PCIE_PORT, Datum::number(PCIE_PORT)),
        (fixed_field::CPU_PORTS, Datum::Numbers(cpu)),
        (fixed_field::INTERNAL_PORTS, Datum::Numbers(Vec::new())),
        (fixed_field::PIPES, Datum::number(pipes.max(1))),
        (fixed_field::STAGES, Datum::number(12_u32)),
        (fixed_field::PORTS, Datum::number(ports.len())),
        (fixed_field::EXTERNAL_PORTS, Datum::Numbers(fronts)),
        (fixed_field::RECIRCULATION_PORTS, Datum::Numbers(loops)),
    ])
}
