//! Reads of match table entries: by key, by handle, page by page, and default entries.

use super::handles::{DEFAULT_HANDLE, handle_inside, placed};
use super::messages::{absent, as_entry, default_entry_message, entry_message};
use super::{EntryQuery, Reader};
use crate::bfrt::bfrt_json::field;
use crate::bfrt::fields::{Datum, Row, key_read, matched, row_read};
use crate::bfrt::pipe_scope::Scope;
use crate::bfrt::schema::{Field, Kind, Table};
use crate::bfrt::write::{ALL_PIPES, last_hit};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::table_entry::Value;
use sojourn_control::{EntryRead, Query, Reply};
use sojourn_engine::control::Pipes;
use tonic::Code;

/// Number of handles examined in one piece.
const ENTRIES: u32 = 256;

impl Reader<'_> {
    /// Reads some of the entries of a match-action table; returns the position of the next one.
    pub(super) fn matched_entries(
        &mut self,
        table: &Table,
        asked: &bfrt::TableEntry,
        query_of: &EntryQuery<'_>,
        from: u64,
        out: &mut Vec<bfrt::Entity>,
    ) -> Result<Option<u64>, Failure> {
        if asked.is_default_entry {
            out.push(self.default_entry(table, query_of)?);
            return Ok(None);
        }
        match &asked.value {
            Some(Value::Key(key)) => {
                self.must_be_kept_here(table, asked)?;
                let found = self.find(table, key)?;
                runs(table, &found, query_of.action)?;
                out.push(self.matched(table, &found, query_of)?);
            }
            Some(Value::HandleId(DEFAULT_HANDLE)) => {
                out.push(as_entry(self.default_entry(table, query_of)?));
            }
            Some(Value::HandleId(handle)) => {
                self.must_be_kept_here(table, asked)?;
                let found = self.with_handle(table, *handle, query_of)?;
                out.push(self.matched(table, &found, query_of)?);
            }
            None => return self.all_matched(table, query_of, from, out),
        }
        Ok(None)
    }

    /// Checks that software stores the entry under the requested pipe.
    fn must_be_kept_here(&self, table: &Table, asked: &bfrt::TableEntry) -> Result<(), Failure> {
        match self.is_kept_elsewhere(asked, &self.scope(table)?) {
            true => Err(absent(table)),
            false => Ok(()),
        }
    }

    /// The entry with a client's handle.
    fn with_handle(
        &mut self,
        table: &Table,
        handle: u32,
        query_of: &EntryQuery<'_>,
    ) -> Result<EntryRead, Failure> {
        let (first, handle) = handle_inside(handle)?;
        if first != self.scope(table)?.first(self.first_pipe()) {
            return Err(match query_of.from_hardware {
                true => Failure::invalid("the entry with this handle is in other pipes"),
                false => absent(table),
            });
        }
        let (page, _) = self.page(table, handle, 1)?;
        let mut page = page.into_iter();
        page.find(|entry| entry.handle == handle).ok_or_else(|| absent(table))
    }

    /// A page of all entries: `from` is the index of the group of pipes and, in its lower half, the
    /// first handle.
    fn all_matched(
        &mut self,
        table: &Table,
        query_of: &EntryQuery<'_>,
        from: u64,
        out: &mut Vec<bfrt::Entity>,
    ) -> Result<Option<u64>, Failure> {
        let firsts = match (self.scope(table)?, self.pipes) {
            (scope @ Scope::Groups(_), Pipes::ALL) => {
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
            // An action restricts the read to its entries.
            let of = entry.entry.action.as_deref();
            let of = of.and_then(|name| table.action_called(name));
            if query_of.action == 0 || of.is_some_and(|of| of.id == query_of.action) {
                out.push(self.matched(table, entry, query_of)?);
            }
        }
        let turn = turn as u64;
        Ok(match next {
            Some(next) => Some(turn << 32 | u64::from(next)),
            None => (turn + 1 < firsts.len() as u64).then_some((turn + 1) << 32),
        })
    }

    pub(super) fn page(
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

    pub(super) fn find(
        &mut self,
        table: &Table,
        key: &bfrt::TableKey,
    ) -> Result<EntryRead, Failure> {
        let query = Query::Entry { table: table.inner.clone(), at: matched(table, key)? };
        match self.ask(&query)? {
            Reply::Entries(mut entries) => entries.pop().ok_or_else(|| absent(table)),
            _ => Err(absent(table)),
        }
    }

    pub(super) fn matched(
        &mut self,
        table: &Table,
        read: &EntryRead,
        query_of: &EntryQuery<'_>,
    ) -> Result<bfrt::Entity, Failure> {
        let key = key_read(table, &read.entry.matches, read.entry.priority);
        let scope = self.scope(table)?;
        let first = scope.first(self.first_pipe());
        if query_of.key_only {
            // A read of keys only returns the pipe of each entry.
            let pipe_id = if scope == Scope::All { ALL_PIPES } else { first };
            let place = bfrt::TargetDevice { pipe_id, ..*self.target };
            let query_of =
                EntryQuery { target: query_of.target.or(Some(&place)), ..query_of.clone() };
            return Ok(entry_message(table, key, 0, Vec::new(), &query_of));
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
                let pipes = self.schema.pipes.numbers(self.count).filter(mine).collect();
                row.extend(self.count(table, name, place.into(), (handle, pipes), query_of)?);
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
        let data = row_read(fields, &row, &query_of.fields);
        Ok(entry_message(table, key, action.map_or(0, |action| action.id), data, query_of))
    }

    pub(super) fn default_entry(
        &mut self,
        table: &Table,
        query_of: &EntryQuery<'_>,
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
        let fields = row_read(all, &row, &query_of.fields);
        Ok(default_entry_message(table, action.map_or(0, |action| action.id), fields))
    }
}

/// Checks that an entry requested with an action runs that action.
pub(super) fn runs(table: &Table, read: &EntryRead, query_of: u32) -> Result<(), Failure> {
    let action = read.entry.action.as_deref().and_then(|name| table.action_called(name));
    match action {
        Some(action) if query_of != 0 && action.id != query_of => {
            let why = format!("the entry of `{}` runs `{}`", table.name, action.name);
            Err(Failure::invalid(why))
        }
        _ => Ok(()),
    }
}

/// The member or the group of an entry, as data.
fn references(member: Option<u32>, group: Option<u32>) -> Row {
    let member = member.map(|member| (field::ACTION_MEMBER_ID, Datum::number(member)));
    let group = group.map(|group| (field::SELECTOR_GROUP_ID, Datum::number(group)));
    member.into_iter().chain(group).collect()
}
