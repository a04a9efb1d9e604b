//! Idle timeouts of entries.

use super::{Verb, Writer};
use crate::bfrt::bfrt_json::field;
use crate::bfrt::fields::{Datum, Row, number_in};
use crate::bfrt::pipe_scope::Scope;
use crate::bfrt::read::{place_of_handle, placed};
use crate::bfrt::schema::Table;
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use sojourn_engine::control::{Pipes, pipes, program_of};
use sojourn_p4::interp::tables::EntryHandle;
use sojourn_packet::Time;
use sojourn_switch::Switch;
use std::collections::BTreeMap;

impl Writer<'_> {
    /// Applies a client's idle timeout attribute of a table.
    pub(super) fn idle_times(
        &mut self,
        table: &Table,
        given: &bfrt::IdleTable,
    ) -> Result<(), Failure> {
        if !table.has_idle_times() {
            let why = format!("`{}` has no `idle_timeout`", table.name);
            return Err(Failure::invalid(why));
        }
        use bfrt::idle_table::IdleTableMode;
        let polled = given.idle_table_mode() == IdleTableMode::IdleTablePollMode;
        let scope = Scope::new(self.store.scopes.get(&table.id))?;
        let idle = self.store.idle.entry(table.id).or_default();
        let of = (&*table.inner, self.schema.pipes);
        let switch = self.batch.switch();
        let hits: BTreeMap<u32, Option<Time>> = idle
            .handles()
            .into_iter()
            .map(|handle| (handle, last_hit(switch, of, handle, &scope)))
            .collect();
        let hit = |handle| hits.get(&handle).copied().flatten();
        idle.set((given.enable, polled, given.ttl_query_interval), hit, self.now);
        Ok(())
    }

    /// Sets an entry's time to live; a new entry's clock starts at once.
    pub(super) fn age(&mut self, table: &Table, handle: u32, row: &Row, verb: Verb) {
        if !table.has_idle_times() {
            return;
        }
        let ttl = number_in(row, field::ENTRY_TTL).map(|ttl| ttl as u32);
        let handle = placed(self.first_pipe(), handle);
        let idle = self.store.idle.entry(table.id).or_default();
        let before = idle.entry(handle).map_or(0, |aged| aged.ttl);
        if verb == Verb::Insert || ttl.is_some() {
            let new = if verb == Verb::Insert { 0 } else { before };
            idle.begin(handle, ttl.unwrap_or(new), self.now);
        }
        if let (Some(Datum::Text(state)), Some(aged)) =
            (row.get(&field::ENTRY_HIT_STATE), idle.entry(handle))
        {
            aged.active = state == "ENTRY_ACTIVE";
        }
    }

    /// Handles a request for the hit states of a table.
    pub(super) fn ask_for_hits(&mut self, table: &Table) -> Result<(), Failure> {
        let now = self.now;
        let scope = Scope::new(self.store.scopes.get(&table.id))?;
        let Some(idle) = self.store.idle.get_mut(&table.id) else { return Ok(()) };
        for handle in idle.handles() {
            let of = (&*table.inner, self.schema.pipes);
            let hit = last_hit(self.batch.switch(), of, handle, &scope);
            if let Some(aged) = idle.entry(handle) {
                aged.request_hit(hit, now);
            }
        }
        Ok(())
    }
}

/// Time of the last hit of an entry, over the pipes that share it, since recording began.
pub fn last_hit(
    switch: &mut Switch,
    (table, of): (&str, Pipes),
    handle: u32,
    scope: &Scope,
) -> Option<Time> {
    let (first, handle) = place_of_handle(handle);
    let mine = of.numbers(pipes(switch)).filter(|pipe| scope.first(*pipe as u32) == first);
    let hits = mine.map(|pipe| {
        let program = program_of(switch, pipe).ok()?;
        let id = program.tables().find(table).ok()?;
        program.last_hit(id, EntryHandle(handle))
    });
    hits.flatten().max()
}
