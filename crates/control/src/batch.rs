//! Initial control-plane state of a run as one batch of operations, each with its source position.
//!
//! A document yields its operations in one order: profiles, tables, meters, filters, value sets,
//! constants, registers, then those of the switch. A file of commands yields them in its own order.
//! Installation consists of executing the batch. This module must not depend on any architecture.

use super::execute::{execute, find_profile, find_table, find_value_set, read};
use super::{
    ControlError, ControlPlane, FilterCell, MeterCell, MirrorSession, MulticastGroup, Operation,
    ParameterValue, PortMetadata, ProfileEntries, Query, RegisterValue, Reply, TableEntries,
    TableEntry, ValueSetMembers, commands, rows,
};
use crate::describe::describe;
use crate::runtime_control::RuntimeControl;
use num_bigint::BigUint;
use smallvec::{SmallVec, smallvec};
use sojourn_p4::interp::tables::Rows;
use sojourn_p4::ir::Program;
use sojourn_packet::Time;
use std::sync::Arc;

/// Operations in order.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    operations: Vec<Placed>,
    /// The document's own metadata; none of it is an operation.
    document: ControlPlane,
    /// Objects that the document names. Each must exist, even without an operation on it.
    named: Vec<Named>,
}

#[derive(Clone, Debug)]
struct Placed {
    operation: Operation,
    place: Place,
}

#[derive(Clone, Debug)]
pub(super) enum Place {
    /// The entry of its table with this number, counted from 1, or several from there on.
    Entry(usize),
    /// Line numbers in the file of commands, one for each entry of a group of rows.
    Lines(SmallVec<[u32; 2]>),
    /// The item itself carries its position.
    Item,
}

#[derive(Clone, Debug)]
enum Named {
    Table(String),
    ValueSet(String),
    Profile(String),
}

impl ControlPlane {
    /// The operations of this document on `program` and on the switch around it.
    ///
    /// # Errors
    /// Returns an error for every invalid line of a file of commands.
    pub fn batch(&self, program: &Program) -> Result<Batch, ControlError> {
        let mut batch = Batch {
            document: ControlPlane {
                priority_queues: self.priority_queues,
                fair_queues: self.fair_queues,
                ..ControlPlane::default()
            },
            ..Batch::default()
        };
        self.action_profiles.iter().for_each(|profile| batch.profile(profile));
        self.tables.iter().for_each(|entries| batch.table(entries));
        for MeterCell { name, index, spec } in &self.meters {
            batch.item(Operation::SetMeter { name: name.clone(), index: *index, spec: *spec });
        }
        for FilterCell { name, index, spec } in &self.filters {
            batch.item(Operation::SetFilter { name: name.clone(), index: *index, spec: *spec });
        }
        self.value_sets.iter().for_each(|set| batch.value_set(set));
        for ParameterValue { name, value } in &self.register_params {
            let (name, value) = (name.clone(), value.clone());
            batch.item(Operation::SetParameter { name, value });
        }
        for PortMetadata { port, value } in &self.port_metadata {
            batch.item(Operation::SetPortMetadata { port: *port, value: *value });
        }
        for RegisterValue { name, index, value } in &self.registers {
            let (name, value) = (name.clone(), vec![value.clone()]);
            batch.item(Operation::WriteRegister { name, index: *index, value });
        }
        let sessions = self.mirror_sessions.iter().cloned().map(Operation::SetMirrorSession);
        let groups = self.multicast_groups.iter().cloned().map(Operation::SetMulticastGroup);
        let generators = self.pktgen.iter().cloned().map(Operation::SetPacketGenerator);
        let pools = self.buffer_pools.iter().cloned().map(Operation::SetBufferPool);
        let nodes = self.scheduler_nodes.iter().cloned().map(Operation::SetSchedulerNode);
        let queues = self.queues.iter().cloned().map(Operation::SetQueue);
        let deflection = self.deflection.iter().cloned().map(Operation::SetDeflection);
        sessions
            .chain(groups)
            .chain(generators)
            .chain(pools)
            .chain(nodes)
            .chain(queues)
            .chain(deflection)
            .for_each(|operation| batch.item(operation));
        if let Some(file) = &self.commands {
            commands::read(file, describe(program), &mut batch)?;
            batch.document.commands =
                Some(super::CommandFile { name: file.name.clone(), ..Default::default() });
        }
        Ok(batch)
    }
}

impl Batch {
    fn item(&mut self, operation: Operation) {
        self.operations.push(Placed { operation, place: Place::Item });
    }

    fn profile(&mut self, entries: &ProfileEntries) {
        self.named.push(Named::Profile(entries.name.clone()));
        self.item(Operation::SetProfile(entries.clone()));
    }

    /// Appends the operation of a line of the file of commands.
    pub(super) fn line(&mut self, line: u32, operation: Operation) {
        let place = Place::Lines(smallvec![line]);
        let Operation::AddEntry { table, entry } = operation else {
            return self.operations.push(Placed { operation, place });
        };
        if let Some((rows, Place::Lines(lines))) = self.last_rows(&table)
            && rows::append_similar(rows, &entry)
        {
            return lines.push(line);
        }
        self.entry(table, entry, place);
    }

    /// Appends a line's entry, as numbers, to the last rows; false if they are not of this table.
    pub(super) fn row(&mut self, table: &str, line: u32, numbers: &[u128]) -> bool {
        let Some((rows, Place::Lines(lines))) = self.last_rows(table) else { return false };
        rows.push(numbers.iter().copied());
        lines.push(line);
        true
    }

    /// The last rows added and their position, if they are of this table.
    pub(super) fn last_rows(&mut self, table_name: &str) -> Option<(&mut Rows, &mut Place)> {
        let Placed { operation, place } = self.operations.last_mut()?;
        match operation {
            Operation::AddEntries { table, rows } if table == table_name => {
                Some((Arc::get_mut(rows)?, place))
            }
            _ => None,
        }
    }

    /// Appends an entry that does not fit the last rows.
    fn entry(&mut self, table: String, entry: TableEntry, place: Place) {
        self.operations.push(Placed { operation: rows::added(table, entry), place });
    }

    fn table(&mut self, given: &TableEntries) {
        let table = || given.name.clone();
        self.named.push(Named::Table(table()));
        let mut number = 1;
        for rows in &given.rows {
            let operation = Operation::AddEntries { table: table(), rows: rows.clone() };
            self.operations.push(Placed { operation, place: Place::Entry(number) });
            number += rows.len();
        }
        for entry in &given.entries {
            let last = self.last_rows(&given.name).filter(|_| number > 1);
            if !last.is_some_and(|(rows, _)| rows::append_similar(rows, entry)) {
                self.entry(table(), entry.clone(), Place::Entry(number));
            }
            number += 1;
        }
        if let Some(from) = &given.entries_from {
            let operation = Operation::AddComputed { table: table(), from: from.clone() };
            self.operations.push(Placed { operation, place: Place::Entry(number) });
        }
        if let Some(call) = &given.default {
            self.item(Operation::SetDefault { table: table(), call: call.clone() });
        }
    }

    fn value_set(&mut self, set: &ValueSetMembers) {
        self.named.push(Named::ValueSet(set.name.clone()));
        for member in &set.members {
            let (name, member) = (set.name.clone(), member.clone());
            self.item(Operation::AddToValueSet { name, member });
        }
    }

    /// The operations in their order.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().map(|placed| &placed.operation)
    }

    /// Wraps `why` with the position of the operation `at`.
    pub fn refused(&self, at: usize, why: ControlError) -> ControlError {
        match (&self.operations[at].place, why) {
            (Place::Lines(lines), why) => {
                let (nth, why) = match why {
                    ControlError::Entry { number, why, .. } => (number, ControlError::Table(why)),
                    why => (1, why),
                };
                let file = self.document.commands.as_ref().map_or("", |file| &file.name);
                let line = lines.get(nth - 1).map_or(0, |line| *line as usize);
                ControlError::Line { file: file.to_owned(), line, why: Box::new(why) }
            }
            (Place::Entry(number), ControlError::Table(why)) => {
                let table = match &self.operations[at].operation {
                    Operation::AddEntry { table, .. } => table.clone(),
                    _ => return ControlError::Table(why),
                };
                ControlError::Entry { table, number: *number, why }
            }
            (Place::Entry(number), ControlError::Target { table, .. }) => {
                ControlError::Target { table, number: *number }
            }
            (Place::Entry(first), ControlError::Entry { table, number, why }) => {
                ControlError::Entry { table, number: first + number - 1, why }
            }
            (_, why) => why,
        }
    }

    /// Executes the operations on the program, before the first packet.
    ///
    /// # Errors
    /// Returns the first operation that does not fit the program, with its position; the ones
    /// before it remain.
    pub fn install(&self, program: &mut dyn RuntimeControl) -> Result<(), ControlError> {
        for named in &self.named {
            match named {
                Named::Table(name) => find_table(program, name).map(|_| ())?,
                Named::ValueSet(name) => find_value_set(program, name).map(|_| ())?,
                Named::Profile(name) => find_profile(program, name).map(|_| ())?,
            }
        }
        for (at, operation) in self.operations().enumerate() {
            if !operation.is_for_switch() {
                let done = execute(program, operation, Time::ZERO);
                done.map_err(|why| self.refused(at, why))?;
            }
        }
        Ok(())
    }

    /// The part of the operations that configures the switch before it runs.
    ///
    /// # Errors
    /// Returns an error if a missing session or group is removed.
    pub fn for_switch(&self) -> Result<ControlPlane, ControlError> {
        let mut left = ControlPlane { commands: None, ..self.document.clone() };
        for (at, Placed { operation, place }) in self.operations.iter().enumerate() {
            // A document's duplicates are left for the switch to refuse; a command replaces.
            let replaces = matches!(place, Place::Lines(_));
            match operation {
                Operation::SetMirrorSession(session) => {
                    let same = |known: &MirrorSession| known.session == session.session;
                    left.mirror_sessions.retain(|known| !(replaces && same(known)));
                    left.mirror_sessions.push(session.clone());
                }
                Operation::SetMulticastGroup(group) => {
                    let same = |known: &MulticastGroup| known.id == group.id;
                    left.multicast_groups.retain(|known| !(replaces && same(known)));
                    left.multicast_groups.push(group.clone());
                }
                Operation::RemoveMirrorSession { session } => {
                    let before = left.mirror_sessions.len();
                    left.mirror_sessions.retain(|known| known.session != *session);
                    if left.mirror_sessions.len() == before {
                        let why = format!("there is no mirror session {session}");
                        return Err(self.refused(at, ControlError::Message(why)));
                    }
                }
                Operation::RemoveMulticastGroup { group } => {
                    left.multicast_groups.retain(|known| known.id != *group);
                }
                Operation::SetPacketGenerator(application) => {
                    left.pktgen.push(application.clone());
                }
                Operation::RemovePacketGenerator { pipe, app } => {
                    left.pktgen.retain(|known| (known.pipe, known.app) != (*pipe, *app));
                }
                Operation::SetBufferPool(pool) => left.buffer_pools.push(pool.clone()),
                Operation::SetSchedulerNode(node) => left.scheduler_nodes.push(node.clone()),
                Operation::SetQueue(setting) => left.queues.push(setting.clone()),
                Operation::SetDeflection(queue) => left.deflection.push(queue.clone()),
                _ => {}
            }
        }
        Ok(left)
    }

    /// The state of `program` and of the switch after the operations, which must already have been
    /// carried out in `program`, as a document that lists it entry by entry.
    ///
    /// # Errors
    /// As for [`Batch::for_switch`].
    pub fn left_in(&self, program: &mut dyn RuntimeControl) -> Result<ControlPlane, ControlError> {
        let mut left = self.for_switch()?;
        for operation in self.operations() {
            if !note_setting(&mut left, operation) {
                note_entries(&mut left, program, operation)?;
            }
        }
        for table in &mut left.tables {
            let reply = read(program, &Query::Entries { table: table.name.clone() })?;
            if let Reply::Entries(entries) = reply {
                let own = entries.into_iter().filter(|read| !read.is_const);
                table.entries = own.map(|read| read.entry).collect::<Vec<TableEntry>>();
            }
        }
        Ok(left)
    }
}

/// Notes the tables and profiles that an operation changed, whose content is read from `program`.
fn note_entries(
    left: &mut ControlPlane,
    program: &mut dyn RuntimeControl,
    operation: &Operation,
) -> Result<(), ControlError> {
    match operation {
        Operation::AddEntry { table, .. }
        | Operation::AddEntries { table, .. }
        | Operation::AddComputed { table, .. }
        | Operation::ModifyEntry { table, .. }
        | Operation::DeleteEntry { table, .. }
        | Operation::ClearTable { table } => {
            table_left(&mut left.tables, table);
        }
        Operation::SetDefault { table, .. } => {
            let default = read(program, &Query::Default { table: table.clone() })?;
            if let Reply::Default(default) = default {
                table_left(&mut left.tables, table).default = default;
            }
        }
        Operation::ResetDefault { table } => table_left(&mut left.tables, table).default = None,
        Operation::SetProfile(ProfileEntries { name, .. })
        | Operation::DeleteMember { profile: name, .. }
        | Operation::DeleteGroup { profile: name, .. } => {
            let known = left.action_profiles.iter().any(|profile| profile.name == *name);
            let reply = read(program, &Query::Profile { name: name.clone() })?;
            if let (false, Reply::Profile(entries)) = (known, reply) {
                left.action_profiles.push(entries);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Notes the value that an operation sets, in place of the one before; false for other operations.
fn note_setting(left: &mut ControlPlane, operation: &Operation) -> bool {
    match operation {
        Operation::SetMeter { name, index, spec } => {
            left.meters.retain(|cell| (&cell.name, cell.index) != (name, *index));
            left.meters.push(MeterCell { name: name.clone(), index: *index, spec: *spec });
        }
        Operation::SetPortMetadata { port, value } => {
            left.port_metadata.retain(|known| known.port != *port);
            left.port_metadata.push(PortMetadata { port: *port, value: *value });
        }
        Operation::SetFilter { name, index, spec } => {
            left.filters.retain(|cell| (&cell.name, cell.index) != (name, *index));
            left.filters.push(FilterCell { name: name.clone(), index: *index, spec: *spec });
        }
        Operation::AddToValueSet { name, member } => {
            let member = member.clone();
            match left.value_sets.iter_mut().find(|set| set.name == *name) {
                Some(set) => set.members.push(member),
                None => left
                    .value_sets
                    .push(ValueSetMembers { name: name.clone(), members: vec![member] }),
            }
        }
        Operation::ClearValueSet { name } => left.value_sets.retain(|set| set.name != *name),
        Operation::SetParameter { name, value } => {
            left.register_params.retain(|known| known.name != *name);
            let (name, value) = (name.clone(), value.clone());
            left.register_params.push(ParameterValue { name, value });
        }
        Operation::WriteRegister { name, index, value } => {
            let replaced = |known: &RegisterValue| {
                known.name == *name && (index.is_none() || known.index == *index)
            };
            left.registers.retain(|known| !replaced(known));
            let value = value.first().cloned().unwrap_or_default();
            // A value of 0 in every cell is the default of a register.
            if index.is_some() || value.0 != BigUint::ZERO {
                let (name, index) = (name.clone(), *index);
                left.registers.push(RegisterValue { name, index, value });
            }
        }
        _ => return false,
    }
    true
}

fn table_left<'l>(tables: &'l mut Vec<TableEntries>, name: &str) -> &'l mut TableEntries {
    if let Some(at) = tables.iter().position(|table| table.name == name) {
        return &mut tables[at];
    }
    tables.push(TableEntries { name: name.to_owned(), ..TableEntries::default() });
    let last = tables.len() - 1;
    &mut tables[last]
}
