//! Execution of updates on a switch: each atomic, a batch by its atomicity.
//!
//! An update becomes operations, which are applied at once. Runs in the switch's thread; must not
//! depend on the transport.

mod buffers;
mod cells;
mod filters;
mod generators;
mod hashes;
mod idle;
mod match_entries;
mod nodes;
mod port_metadata;
mod ports;
mod profiles;
mod replication;
mod snapshots;

pub use buffers::{buffer_read, pool_of};
pub use cells::{counted, spec_read};
pub use filters::filter_read;
pub use generators::application_read;
pub use hashes::{algorithm_read, inputs_read};
pub use idle::last_hit;
pub use nodes::{color_read, holder, ports_of_group};
pub use ports::{place_of, port_and_queue, recirculates};

use super::device_tables::Fixed;
use super::fields::{Row, exact_key, row};
use super::pipe_scope::{Scope, check_parser, pipe_of};
use super::schema::{Field, Kind, Schema, Table};
use super::store::{Entry, Store, pipe_in};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::entity::Entity;
use crate::wire::bfrt_proto::table_attribute::Attribute;
use crate::wire::bfrt_proto::update::Type;
use sojourn_control::Operation;
use sojourn_engine::control::{self, Pipes, Transaction};
use sojourn_packet::Time;
use sojourn_switch::Switch;
use tonic::Code;

/// All pipes of the chip.
pub const ALL_PIPES: u32 = 0xffff;

/// Result of an update: `AlreadyExists` if it was an add-or-modify of an existing entry.
pub type Done = Result<Code, Failure>;

/// Context of an update.
pub struct Writer<'a> {
    schema: &'a Schema,
    store: &'a mut Store,
    batch: Transaction<'a>,
    now: Time,
    /// Number of pipes of the switch, and the pipes that the update addresses.
    count: usize,
    pipes: Pipes,
    /// Code of a successful update.
    noted: Code,
}

/// Change to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Adds an entry that must not exist.
    Insert,
    /// Changes an entry that must exist.
    Modify,
    /// Adds or changes an entry.
    Set,
    /// Adds elements to a list.
    Add,
    /// Removes elements of a list.
    Remove,
    /// Deletes an entry.
    Delete,
    /// Resets an entry to its initial state.
    Reset,
}

impl Verb {
    /// Checks that the change fits the existence of its entry.
    ///
    /// # Errors
    /// The entry must exist and does not, or the other way round.
    fn check(self, is_there: bool, what: impl Fn() -> String) -> Result<(), Failure> {
        match (self, is_there) {
            (Verb::Insert, true) => {
                Err(Failure::new(Code::AlreadyExists, format!("{} is there already", what())))
            }
            (Verb::Modify | Verb::Add | Verb::Remove | Verb::Delete, false) => {
                Err(Failure::new(Code::NotFound, format!("there is no {}", what())))
            }
            _ => Ok(()),
        }
    }
}

/// Executes updates one by one; returns the result of each.
pub fn each(
    (schema, store): (&Schema, &mut Store),
    (switch, now): (&mut Switch, Time),
    updates: &[bfrt::Update],
    target: &bfrt::TargetDevice,
) -> Vec<Done> {
    let (count, pipes, noted) = (control::pipes(switch), Pipes::ALL, Code::Ok);
    let batch = Transaction::lasting(switch, now);
    let mut writer = Writer { schema, store, batch, now, count, pipes, noted };
    updates.iter().map(|update| writer.update(update, target)).collect()
}

/// Executes all updates or none, between two packets; returns the result of each. With `lenient`,
/// deleting a missing entry is not an error.
pub fn all(
    (schema, store): (&Schema, &mut Store),
    (switch, now): (&mut Switch, Time),
    updates: &[bfrt::Update],
    target: &bfrt::TargetDevice,
    lenient: bool,
) -> Vec<Done> {
    let before = store.begin();
    let (count, pipes, noted) = (control::pipes(switch), Pipes::ALL, Code::Ok);
    let batch = Transaction::begin(switch, now);
    let mut writer = Writer { schema, store, batch, now, count, pipes, noted };
    let mut done = Vec::with_capacity(updates.len());
    for (at, update) in updates.iter().enumerate() {
        let failure = match writer.update(update, target) {
            Err(failure) if !(lenient && failure.code == Code::NotFound) => failure,
            result => {
                done.push(result);
                continue;
            }
        };
        writer.batch.roll_back();
        store.take_back(before);
        // As in the vendor's server: one error, after a success for each update before it.
        let mut results = vec![Ok(Code::Ok); at];
        results.push(Err(failure));
        return results;
    }
    store.end();
    done
}

impl Writer<'_> {
    fn update(&mut self, update: &bfrt::Update, target: &bfrt::TargetDevice) -> Done {
        self.noted = Code::Ok;
        self.execute(update, target).map(|()| self.noted)
    }

    fn execute(
        &mut self,
        update: &bfrt::Update,
        target: &bfrt::TargetDevice,
    ) -> Result<(), Failure> {
        let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
        match entity.ok_or_else(|| Failure::invalid("an update without an entity"))? {
            Entity::TableEntry(entry) => self.entry(
                verb(update.r#type(), entry)?,
                entry,
                entry.entry_tgt.as_ref().unwrap_or(target),
            ),
            Entity::TableOperation(operation) => {
                let table = self.schema.table(operation.table_id)?;
                match operation.table_operations_type.as_str() {
                    "UpdateHitState" => self.ask_for_hits(table),
                    "Sync" | "SyncCounters" => self.sync(table),
                    // Register reads are always current.
                    "SyncRegisters" => Ok(()),
                    other => {
                        let why = format!("`{}` has no operation `{other}`", table.name);
                        Err(Failure::invalid(why))
                    }
                }
            }
            Entity::TableAttribute(attribute) => self.attribute(attribute, target),
            Entity::TableUsage(_) | Entity::ObjectId(_) | Entity::Handle(_) => {
                Err(Failure::invalid("a usage, a number or a handle can only be read"))
            }
        }
    }

    fn entry(
        &mut self,
        verb: Verb,
        entry: &bfrt::TableEntry,
        target: &bfrt::TargetDevice,
    ) -> Result<(), Failure> {
        let schema = self.schema;
        let table = schema.table(entry.table_id)?;
        let pipes = self.pipes_of(table, target)?;
        let running = running(self.batch.switch(), schema, table);
        must_run(table, pipes, running)?;
        self.choose(pipes);
        let is_keyless = table.keys.is_empty();
        if entry.is_default_entry && !is_keyless && !matches!(table.kind, Kind::Match { .. }) {
            return Err(Failure::invalid(format!("`{}` has no default entry", table.name)));
        }
        match &table.kind {
            Kind::Match { .. } => self.match_entry(table, verb, entry),
            Kind::Members => self.member(table, verb, entry),
            Kind::Groups(largest) => self.group(table, *largest, verb, entry),
            Kind::Counter => self.counter(table, verb, entry),
            Kind::Meter(unit) => self.meter(table, *unit, verb, entry),
            Kind::Parameter(first) => self.parameter(table, *first, verb, entry),
            Kind::Filter => self.filter(table, verb, entry),
            Kind::HashInputs => self.hash_inputs(table, verb, entry),
            Kind::HashAlgorithm => self.hash_algorithm(table, verb, entry),
            Kind::HashValue | Kind::Chosen => {
                Err(Failure::invalid(format!("`{}` can only be read", table.name)))
            }
            Kind::PortMetadata => self.port_metadata(table, verb, entry),
            Kind::Register(first) => self.register(table, first, verb, entry),
            Kind::ValueSet => self.value_set(table, verb, entry),
            Kind::Snapshot(part) => self.snapshot(table, *part, verb, entry),
            Kind::Fixed(fixed @ (Fixed::Application | Fixed::GeneratorBuffer)) => {
                self.generator(table, *fixed, verb, entry)
            }
            Kind::Fixed(fixed) => self.fixed(table, *fixed, verb, entry),
        }
    }

    /// Pipes that an update addresses.
    fn pipes_of(&self, table: &Table, target: &bfrt::TargetDevice) -> Result<Pipes, Failure> {
        let named = pipe_of(target, self.count)?;
        let set = self.store.scopes.get(&table.id);
        match table.kind {
            Kind::Match { .. } => Scope::new(set)?.written(target, self.count),
            Kind::ValueSet => {
                check_parser(set, target)?;
                Scope::new(set)?.written(target, self.count)
            }
            Kind::Members | Kind::Groups(_) => {
                self.store.scope_of_profile(self.schema, table)?.written(target, self.count)
            }
            // Their cells exist in each pipe, whatever the scopes of tables.
            Kind::Register(_) | Kind::Counter | Kind::Meter(_) | Kind::Filter => {
                match (Scope::new(set)?, named) {
                    (Scope::All, named) => Ok(named.map_or(Pipes::ALL, |pipe| Pipes(1 << pipe))),
                    (Scope::Groups(_), None) => Ok(Pipes::ALL),
                    (scope, Some(_)) => scope.written(target, self.count),
                }
            }
            Kind::Snapshot(_) | Kind::Fixed(Fixed::Application | Fixed::GeneratorBuffer) => {
                Ok(named.map_or(Pipes::ALL, |pipe| Pipes(1 << pipe)))
            }
            _ => Ok(Pipes::ALL),
        }
    }

    fn choose(&mut self, pipes: Pipes) {
        self.pipes = pipes;
        self.batch.choose(self.program_pipes());
    }

    /// The addressed pipes that run the program.
    fn program_pipes(&self) -> Pipes {
        Pipes(self.pipes.0 & self.schema.pipes.0)
    }

    /// Applies an operation in the addressed pipes that have the table.
    fn apply_where_it_runs(&mut self, table: &Table, operation: &Operation) -> Result<(), Failure> {
        let running = running(self.batch.switch(), self.schema, table);
        self.batch.choose(Pipes(self.pipes.0 & running.0));
        let done = self.apply(operation);
        self.batch.choose(self.program_pipes());
        done.map(drop)
    }

    /// First of the addressed pipes.
    fn first_pipe(&self) -> u32 {
        self.pipes.0.trailing_zeros()
    }

    /// Executes work in each of the addressed pipes.
    fn in_each_pipe(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let pipes = self.program_pipes();
        let mut done = Ok(());
        for pipe in pipes.numbers(self.count.max(1)) {
            self.batch.choose(Pipes(1 << pipe));
            done = work(self);
            if done.is_err() {
                break;
            }
        }
        self.batch.choose(pipes);
        done
    }

    fn fixed(
        &mut self,
        table: &Table,
        fixed: Fixed,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let fields: Vec<&Field> = table.fields.iter().collect();
        let Some(key) = key(entry)? else {
            if matches!(fixed, Fixed::PipeScheduling | Fixed::PipeConfig) {
                let data = entry.data.clone().unwrap_or_default();
                let row = row(&table.name, &fields, &data.fields)?;
                return match fixed {
                    Fixed::PipeConfig => self.pipe_config(table, verb, row),
                    _ => self.assumed(table, verb, row),
                };
            }
            if table.keys.is_empty() {
                return self.keyless(table, verb, entry);
            }
            return self.clear_fixed(table, fixed, verb);
        };
        let key = exact_key(table, key)?;
        let data = entry.data.clone().unwrap_or_default();
        let own = match data.action_id {
            0 => &[][..],
            id => &table.action(id)?.fields,
        };
        let fields: Vec<&Field> = own.iter().chain(fields).collect();
        let row = row(&table.name, &fields, &data.fields)?;
        match fixed {
            Fixed::PoolConfig => self.pool(table, verb, &key, &row),
            Fixed::QueueBuffer => self.queue_buffer(table, verb, key, data.action_id, &row),
            Fixed::QueueColor => self.queue_color(table, verb, &key, &row),
            Fixed::NodeScheduling => self.scheduler_node(table, verb, key, data.action_id, row),
            Fixed::NodeShaping => self.node_rates(table, verb, key, row),
            Fixed::QueueConfig => self.queue_reports(table, verb, &key, &row),
            Fixed::Mirror => self.mirror(table, verb, key, row),
            Fixed::Group => self.multicast_group(table, verb, key, row),
            Fixed::Node => self.node(table, verb, key, row),
            Fixed::ReplicationPort => self.replication_port(table, verb, key, row),
            Fixed::Port => self.port(table, verb, key, row),
            Fixed::PortShaping | Fixed::PortScheduling => self.shape(table, fixed, verb, key, row),
            Fixed::QueueShaping | Fixed::QueueScheduling => self.pace(table, fixed, verb, key, row),
            Fixed::GeneratorPort => self.generator_port(verb, &key, &row),
            Fixed::PipeScheduling | Fixed::PipeConfig => self.assumed(table, verb, row),
            Fixed::Buffer
            | Fixed::Application
            | Fixed::GeneratorBuffer
            | Fixed::PoolCounter
            | Fixed::PortStatistics
            | Fixed::PortConfig
            | Fixed::QueueMap
            | Fixed::QueueCounter
            | Fixed::SnapshotContainers
            | Fixed::Device => Err(Failure::invalid(format!("`{}` can only be read", table.name))),
        }
    }

    /// Writes the only entry of a table without keys to the store.
    fn keyless(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        if matches!(verb, Verb::Delete | Verb::Reset) {
            self.keep(table, Vec::new(), None);
            return Ok(());
        }
        let fields: Vec<&Field> = table.fields.iter().collect();
        let given = entry.data.as_ref().map_or(&[][..], |data| &data.fields);
        let given = row(&table.name, &fields, given)?;
        let row = self.merged(table, &[], given);
        self.keep(table, Vec::new(), Some(row));
        Ok(())
    }

    /// Deletes all entries that clients added.
    fn clear_fixed(&mut self, table: &Table, fixed: Fixed, verb: Verb) -> Result<(), Failure> {
        must_delete(table, verb)?;
        match fixed {
            Fixed::PoolConfig => return self.clear_pools(),
            Fixed::QueueBuffer => return self.clear_buffers(table),
            _ => {}
        }
        if fixed == Fixed::Port {
            let ports = self.batch.switch().statistics().ports;
            self.store.removed_ports.extend(ports.iter().map(|port| port.port.0));
        }
        for key in self.store.keys(table.id) {
            match fixed {
                Fixed::Mirror => self.mirror(table, Verb::Delete, key, Row::new())?,
                Fixed::Group => self.multicast_group(table, Verb::Delete, key, Row::new())?,
                Fixed::Node => self.node(table, Verb::Delete, key, Row::new())?,
                Fixed::Port => self.keep(table, key, None),
                _ => {
                    let why = format!("entries of `{}` are always there", table.name);
                    return Err(Failure::invalid(why));
                }
            }
        }
        Ok(())
    }

    /// Executes work for each entry that clients added in these pipes.
    fn each_key(
        &mut self,
        table: &Table,
        mut work: impl FnMut(&mut Self, &[u64]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let first = self.first_pipe();
        let mut keys = self.store.keys(table.id).into_iter().filter(|key| pipe_in(key) == first);
        keys.try_for_each(|key| work(self, &key))
    }

    fn attribute(
        &mut self,
        given: &bfrt::TableAttribute,
        target: &bfrt::TargetDevice,
    ) -> Result<(), Failure> {
        let table = self.schema.table(given.table_id)?;
        let no = |what: &str| {
            let why = format!("`{}`: {what} cannot be set on this switch", table.name);
            Err(Failure::unimplemented(why))
        };
        let named = pipe_of(target, self.count)?;
        self.choose(named.map_or(Pipes::ALL, |pipe| Pipes(1 << pipe)));
        match given.attribute.as_ref() {
            Some(Attribute::EntryScope(scope)) => {
                Scope::new(Some(scope))?;
                self.store.scopes.insert(table.id, *scope);
                Ok(())
            }
            Some(Attribute::IdleTable(idle)) => self.idle_times(table, idle),
            Some(Attribute::ByteCountAdj(adjust)) => {
                let bytes = adjust.byte_count_adjust;
                let name = match &table.kind {
                    Kind::Meter(_) => table.inner.clone(),
                    Kind::Match { meter: Some((name, _)), .. } => name.clone(),
                    _ => return no("a byte count adjustment"),
                };
                self.apply(&Operation::LengthenMeter { name, bytes })?;
                for pipe in self.pipes.numbers(self.count.max(1)) {
                    self.store.longer.insert((table.id, pipe as u32), bytes);
                }
                Ok(())
            }
            Some(Attribute::PortStatusNotify(notify)) => {
                self.store.tells_ports = notify.enable;
                Ok(())
            }
            Some(Attribute::DynKeyMask(masks)) => self.key_mask(table, masks),
            Some(Attribute::DynHashing(_)) => no("a hash"),
            Some(Attribute::IntvlMs(_)) => no("an interval"),
            Some(Attribute::PreDeviceConfig(_)) => no("the replication engine's configuration"),
            Some(Attribute::SelectorUpdateNotify(_)) => no("news of selectors"),
            None => Err(Failure::invalid("an attribute without a value")),
        }
    }

    /// Stores an entry's row, or removes it.
    fn keep(&mut self, table: &Table, key: Vec<u64>, row: Option<Row>) {
        let action = table.actions.first().map_or(0, |action| action.id);
        self.store.set(table.id, key, row.map(|row| Entry { action, row }));
    }

    /// Stored row of an entry with the given fields replaced.
    fn merged(&self, table: &Table, key: &[u64], given: Row) -> Row {
        let mut row = self.store.entry(table.id, key).map(|e| e.row.clone()).unwrap_or_default();
        row.extend(given);
        row
    }

    fn apply(&mut self, operation: &Operation) -> Result<Option<u32>, Failure> {
        Ok(self.batch.apply(operation)?)
    }
}

/// Pipes that have the table.
pub fn running(switch: &mut Switch, schema: &Schema, table: &Table) -> Pipes {
    match (&table.kind, table.pipeline) {
        (Kind::Fixed(_), _) => Pipes::ALL,
        (_, None) => schema.pipes,
        (_, Some(pipeline)) => control::running(switch, schema.before + pipeline),
    }
}

/// Checks that one of the addressed pipes has the table.
///
/// # Errors
/// They run another pipeline, or another program.
pub fn must_run(table: &Table, pipes: Pipes, running: Pipes) -> Result<(), Failure> {
    if pipes.0 & running.0 != 0 {
        return Ok(());
    }
    let why = format!("`{}` is not in that pipe, which runs something else", table.name);
    Err(Failure::invalid(why))
}

/// Change that an update requests.
fn verb(kind: Type, entry: &bfrt::TableEntry) -> Result<Verb, Failure> {
    let removes = || {
        let flags = entry.table_flags.is_some_and(|flags| flags.mod_del);
        let before = entry.table_mod_inc_flag.is_some_and(|flag| flag.r#type == 1);
        flags || before
    };
    Ok(match kind {
        Type::Insert => Verb::Insert,
        Type::Modify => Verb::Modify,
        Type::ModifyInc if removes() => Verb::Remove,
        Type::ModifyInc => Verb::Add,
        Type::Delete => Verb::Delete,
        Type::InsertOrModify => Verb::Set,
        Type::Reset => Verb::Reset,
        Type::Unspecified => {
            return Err(Failure::invalid("what an update does is unset"));
        }
    })
}

/// The key of an entry, if it has one.
fn key(entry: &bfrt::TableEntry) -> Result<Option<&bfrt::TableKey>, Failure> {
    match &entry.value {
        Some(bfrt::table_entry::Value::Key(key)) => Ok(Some(key)),
        Some(bfrt::table_entry::Value::HandleId(_)) => {
            Err(Failure::invalid("only entries that packets are matched with have handles"))
        }
        None => Ok(None),
    }
}

/// Checks that an update without a key empties the table.
fn must_delete(table: &Table, verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Delete | Verb::Reset => Ok(()),
        _ => Err(Failure::invalid(format!("`{}`: an entry without a key", table.name))),
    }
}
