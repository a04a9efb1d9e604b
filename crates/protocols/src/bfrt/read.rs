//! BfRt reads, divided into pieces so that the switch forwards packets between them.
//!
//! This file resolves the request and its pipes. Each kind of table is read in a file of its own.

mod attributes;
mod cells;
mod device_tables;
mod handles;
mod match_entries;
mod messages;
mod nodes;
mod snapshots;
mod value_sets;

pub use self::handles::{handle_inside, place_of_handle, placed};

use self::handles::DEFAULT_HANDLE;
use self::messages::entity;
use super::pipe_scope::{Scope, pipe_of};
use super::schema::{Kind, Schema, Table};
use super::store::Store;
use super::write::{must_run, running};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::entity::Entity;
use sojourn_control::{Query, Reply};
use sojourn_engine::control::{self, Pipes};
use sojourn_p4::interp::Tables;
use sojourn_packet::Time;
use sojourn_switch::Switch;
use std::collections::BTreeSet;
use tonic::Code;

/// Remaining part of a read request.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// Requested entity.
    entity: bfrt::Entity,
    /// First handle or cell still to be read.
    from: u64,
}

impl Cursor {
    /// Cursor at the start of a request.
    pub fn new(entity: bfrt::Entity) -> Cursor {
        Cursor { entity, from: 0 }
    }
}

/// Context of a read.
pub struct Reader<'a> {
    /// Schema that resolves ids.
    pub schema: &'a Schema,
    /// State that the program does not hold.
    pub store: &'a mut Store,
    /// The switch.
    pub switch: &'a mut Switch,
    /// Ports that are down.
    pub down: &'a BTreeSet<u16>,
    /// Time of the request.
    pub now: Time,
    /// Target device of the request.
    pub target: &'a bfrt::TargetDevice,
    /// Number of pipes of the switch, and the pipes to read.
    pub count: usize,
    /// See `count`.
    pub pipes: Pipes,
}

/// Requested parts of an entry.
#[derive(Clone)]
struct EntryQuery<'e> {
    fields: Vec<u32>,
    action: u32,
    key_only: bool,
    from_hardware: bool,
    target: Option<&'e bfrt::TargetDevice>,
}

impl<'e> EntryQuery<'e> {
    /// Query of a table entry; `place` is the target reported for an entry without a pipe of its
    /// own.
    fn by(
        asked: &'e bfrt::TableEntry,
        table: &Table,
        place: &'e bfrt::TargetDevice,
    ) -> EntryQuery<'e> {
        let data = asked.data.as_ref();
        let key_only = asked.table_flags.is_some_and(|flags| flags.key_only);
        let is_matched = matches!(table.kind, Kind::Match { .. });
        EntryQuery {
            fields: data.map_or_else(Vec::new, |d| d.fields.iter().map(|f| f.field_id).collect()),
            action: data.map_or(0, |data| data.action_id),
            key_only,
            from_hardware: asked.table_flags.is_some_and(|flags| flags.from_hw),
            target: asked.entry_tgt.as_ref().or((key_only && !is_matched).then_some(place)),
        }
    }
}

impl Reader<'_> {
    /// Reads a piece of the request and returns the rest.
    ///
    /// # Errors
    /// The object does not exist, or cannot be read.
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

    /// Scope of the table's entries, as set by clients.
    fn scope(&self, table: &Table) -> Result<Scope, Failure> {
        if matches!(table.kind, Kind::Members | Kind::Groups(_)) {
            return self.store.scope_of_profile(self.schema, table);
        }
        Scope::new(self.store.scopes.get(&table.id))
    }

    fn first_pipe(&self) -> u32 {
        self.pipes.0.trailing_zeros()
    }

    /// Whether a read of software state addresses a pipe other than the one under which the entry
    /// is stored: an entry shared by several pipes is stored once.
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

    /// Pipes to read.
    fn pipes_of(&self, asked: &bfrt::TableEntry, table: &Table) -> Result<Pipes, Failure> {
        let target = asked.entry_tgt.as_ref().unwrap_or(self.target);
        let named = pipe_of(target, self.count)?;
        let scope = self.scope(table)?;
        match (&table.kind, &asked.value) {
            (Kind::Match { .. }, _) if asked.is_default_entry => {
                scope.read(target, self.count, Code::InvalidArgument)
            }
            // A handle contains its pipes.
            (Kind::Match { .. }, Some(bfrt::table_entry::Value::HandleId(handle)))
                if *handle > DEFAULT_HANDLE && named.is_none() =>
            {
                Ok(Pipes(1 << handle_inside(*handle)?.0))
            }
            // All entries of all pipes, pipe by pipe.
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

    /// The pipes to read that run the program.
    fn program_pipes(&self) -> Pipes {
        Pipes(self.pipes.0 & self.schema.pipes.0)
    }

    /// The first of them.
    fn asked_pipe(&self) -> usize {
        self.program_pipes().0.trailing_zeros() as usize
    }

    /// Queries the first of the pipes to read.
    fn ask(&mut self, query: &Query) -> Result<Reply, Failure> {
        Ok(control::read_of(self.switch, self.asked_pipe(), query)?)
    }

    /// Reads some of a table's entries; returns the position of the next one.
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
        let place = *self.target;
        let query_of = EntryQuery::by(asked, table, &place);
        match &table.kind {
            Kind::Match { .. } => return self.matched_entries(table, asked, &query_of, from, out),
            Kind::Snapshot(part) => self.snapshots(table, *part, asked, &query_of, out)?,
            Kind::ValueSet => self.value_set(table, asked, &query_of, out)?,
            Kind::HashValue | Kind::Chosen => out.push(self.computed(table, asked, &query_of)?),
            _ => return self.numbered(table, asked, &query_of, from, out),
        }
        Ok(None)
    }
}
