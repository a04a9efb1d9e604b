//! Control-plane interface of tables: entries by name, validated, with descriptive errors.

use super::bulk_entries::{RowLayout, Rows};
use super::error::TableError;
use super::index::Row;
use super::{
    ActionData, Column, Entry, EntryHandle, TableState, Tables, Target, ValueSetState,
    declared_default,
};
use crate::diagnostic::near_name;
use crate::interp::arith;
use crate::ir::{self, Pattern, Scalar, TableId, ValueSetId};
use num_bigint::BigUint;

/// Match value of a key element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// This value; valid for every match kind.
    Exact(BigUint),
    /// The bits under the mask.
    Ternary {
        /// Value; bits outside the mask are ignored.
        value: BigUint,
        /// The mask.
        mask: BigUint,
    },
    /// The leading bits.
    Prefix {
        /// Value; bits behind the prefix are ignored.
        value: BigUint,
        /// Number of leading bits.
        length: u32,
    },
    /// Between two values, both included; as numbers of the key's type, given as patterns.
    Range {
        /// The lowest.
        low: BigUint,
        /// The highest.
        high: BigUint,
    },
    /// Anything.
    Any,
}

impl Match {
    fn name(&self) -> &'static str {
        match self {
            Match::Exact(_) => "a value",
            Match::Ternary { .. } => "a value and a mask",
            Match::Prefix { .. } => "a prefix",
            Match::Range { .. } => "a range",
            Match::Any => "anything",
        }
    }

    fn fits(&self, kind: &str) -> bool {
        match self {
            Match::Exact(_) => true,
            Match::Ternary { .. } => kind != "exact" && kind != "lpm" && kind != "range",
            Match::Prefix { .. } => kind == "lpm" || kind == "ternary",
            Match::Range { .. } => kind == "range",
            Match::Any => kind != "exact",
        }
    }
}

/// Target of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryTarget {
    /// Name of an action (or a suffix that is unique in the table), and its data by name.
    Action(String, Vec<(String, BigUint)>),
    /// A member or group of the table's `implementation`.
    Reference(u32),
}

/// An entry as specified by a control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrySpec {
    /// Key elements by name. An omitted element matches anything, which is not possible for an
    /// exact one.
    pub keys: Vec<(String, Match)>,
    /// Target.
    pub target: EntryTarget,
    /// Larger wins; ignored for tables with exact and lpm keys only.
    pub priority: i64,
}

/// State of a table before one change.
#[derive(Debug)]
pub struct TableUndo(Previous);

#[derive(Debug)]
enum Previous {
    Absent(EntryHandle),
    There(EntryHandle, Box<Entry>),
    Led(EntryHandle, Target),
    Default(Option<Target>),
    Several(Vec<EntryHandle>),
}

impl TableUndo {
    /// Undoes an addition.
    pub fn absent(handle: EntryHandle) -> TableUndo {
        TableUndo(Previous::Absent(handle))
    }
}

/// True if `name` equals `wanted` or ends in it, as specification 18.3.3 recommends.
fn fits(name: &str, wanted: &str) -> bool {
    name == wanted || name.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'))
}

fn near<'a>(wanted: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let last = |name: &'a str| name.rsplit('.').next().unwrap_or(name);
    near_name(wanted, known.clone())
        .or_else(|| near_name(wanted, known.map(last)))
        .map(String::from)
}

impl Tables {
    /// The program with these tables.
    pub fn program(&self) -> &ir::Program {
        &self.program
    }

    /// The table with this name or suffix.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn find(&self, name: &str) -> Result<TableId, TableError> {
        let names = self.program.tables.iter().map(|table| &*table.name);
        if let Some(at) = names.clone().position(|known| known == name) {
            return Ok(TableId(at as u32));
        }
        let found: Vec<usize> = names
            .clone()
            .enumerate()
            .filter(|(_, known)| fits(known, name))
            .map(|(at, _)| at)
            .collect();
        match found[..] {
            [at] => Ok(TableId(at as u32)),
            [] => Err(TableError::NoTable { name: name.into(), near: near(name, names) }),
            _ => {
                let candidates =
                    found.iter().map(|at| self.program.tables[*at].name.to_string()).collect();
                Err(TableError::AmbiguousTable { name: name.into(), candidates })
            }
        }
    }

    /// The description of a table.
    pub fn description(&self, id: TableId) -> Option<&ir::Table> {
        self.program.tables.get(id.index())
    }

    fn both(&mut self, id: TableId) -> Result<(&ir::Table, &mut TableState), TableError> {
        let missing = || TableError::NoTable { name: format!("#{}", id.0), near: None };
        let table = self.program.tables.get(id.index()).ok_or_else(missing)?;
        self.inline_cache.invalidate(id);
        let state = self.tables.get_mut(id.index()).ok_or_else(missing)?;
        Ok((table, state))
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// [`TableError`] names the mismatch; the table is unchanged.
    pub fn add(&mut self, id: TableId, spec: &EntrySpec) -> Result<EntryHandle, TableError> {
        let (table, state) = self.both(id)?;
        let entry = entry(table, state, spec)?;
        insert_new(table, state, entry)
    }

    /// Adds entries of one shape, as [`Tables::add`] does, with their names resolved once.
    ///
    /// # Errors
    /// Index of the first entry that does not fit, and the reason; the table is unchanged.
    pub fn add_rows(&mut self, id: TableId, rows: &Rows) -> Result<TableUndo, (usize, TableError)> {
        let (table, state) = self.both(id).map_err(|error| (0, error))?;
        state.reserve(rows.len());
        let mut handles = Vec::with_capacity(rows.len());
        let mut meaning: Option<RowLayout> = None;
        for at in 0..rows.len() {
            let quick = meaning.as_mut().and_then(|known| known.entry(state, rows.row(at)));
            let made = quick.map_or_else(|| entry(table, state, &rows.spec(at)), Ok);
            match made.and_then(|entry| insert_new(table, state, entry)) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    state.take_out(handles);
                    return Err((at, error));
                }
            }
            if at == 0 && rows.len() > 1 {
                meaning = RowLayout::new(table, state, rows.template());
            }
        }
        Ok(TableUndo(Previous::Several(handles)))
    }

    /// The entry with the same keys and priority.
    ///
    /// # Errors
    /// If the keys do not fit, or there is no such entry.
    pub fn find_entry(
        &mut self,
        id: TableId,
        keys: &[(String, Match)],
        priority: i64,
    ) -> Result<EntryHandle, TableError> {
        let (table, state) = self.both(id)?;
        if table.keys.is_empty() {
            return Err(TableError::NoKeys { table: table.name.to_string() });
        }
        let row = state.row(&patterns(table, keys)?, priority);
        let twin = state.index.twins(&row, &state.entries).find(|at| {
            let known = state.entries.get(*at as usize).and_then(Option::as_ref);
            known.is_some_and(|known| same(known, &row))
        });
        twin.map(EntryHandle).ok_or_else(|| TableError::NoMatch { table: table.name.to_string() })
    }

    /// Resets the default action to the program's.
    ///
    /// # Errors
    /// If there is no such table.
    pub fn reset_default(&mut self, id: TableId) -> Result<TableUndo, TableError> {
        let (table, state) = self.both(id)?;
        let to = declared_default(table);
        Ok(TableUndo(Previous::Default(state.lead_misses(to))))
    }

    /// Replaces the action of an entry; returns the change for [`Tables::undo`].
    ///
    /// # Errors
    /// As for [`Tables::add`].
    pub fn modify(
        &mut self,
        id: TableId,
        handle: EntryHandle,
        to: &EntryTarget,
    ) -> Result<TableUndo, TableError> {
        let (table, state) = self.both(id)?;
        let to = target(table, to, false)?;
        let entry = state.entries.get(handle.index()).and_then(Option::as_ref);
        if entry.is_some_and(|entry| entry.is_const) {
            return Err(TableError::ConstEntry { table: table.name.to_string() });
        }
        match state.lead(handle, to) {
            None => Err(TableError::NoEntry { table: table.name.to_string(), handle }),
            Some(was) => Ok(TableUndo(Previous::Led(handle, was))),
        }
    }

    /// Deletes an entry; returns the change for [`Tables::undo`].
    ///
    /// # Errors
    /// If there is no such entry, or it is constant.
    pub fn delete(&mut self, id: TableId, handle: EntryHandle) -> Result<TableUndo, TableError> {
        let (table, state) = self.both(id)?;
        let entry = state.entries.get(handle.index()).and_then(Option::as_ref);
        if entry.is_some_and(|entry| entry.is_const) {
            return Err(TableError::ConstEntry { table: table.name.to_string() });
        }
        match state.remove(handle) {
            None => Err(TableError::NoEntry { table: table.name.to_string(), handle }),
            Some(entry) => Ok(TableUndo(Previous::There(handle, Box::new(entry)))),
        }
    }

    /// Undoes a change, which must be the last one of its table.
    pub fn undo(&mut self, id: TableId, undone: TableUndo) {
        let Some(state) = self.changed(id) else { return };
        match undone.0 {
            Previous::Absent(handle) => drop(state.remove(handle)),
            Previous::There(handle, entry) => state.put_back(handle, *entry),
            Previous::Led(handle, target) => drop(state.lead(handle, target)),
            Previous::Default(default) => drop(state.lead_misses(default)),
            Previous::Several(handles) => state.take_out(handles),
        }
    }

    /// Deletes all entries that are not constant.
    ///
    /// # Errors
    /// If there is no such table.
    pub fn clear(&mut self, id: TableId) -> Result<(), TableError> {
        let (_, state) = self.both(id)?;
        let handles: Vec<EntryHandle> = state.handles().collect();
        for handle in handles {
            if state.entries[handle.index()].as_ref().is_some_and(|entry| !entry.is_const) {
                state.remove(handle);
            }
        }
        Ok(())
    }

    /// Restricts matching to some bits of the key elements of a table; unnamed elements count in
    /// full.
    ///
    /// # Errors
    /// If the table has entries, has keys that are not exact, or does not exist.
    pub fn set_key_mask(
        &mut self,
        id: TableId,
        masks: &[(String, BigUint)],
    ) -> Result<(), TableError> {
        let (table, state) = self.both(id)?;
        let name = || table.name.to_string();
        if !state.is_empty() {
            return Err(TableError::NotEmpty { table: name() });
        }
        if let Some(key) = table.keys.iter().find(|key| &*key.match_kind != "exact") {
            return Err(TableError::NotExact { table: name(), key: key.name.to_string() });
        }
        let known = |wanted: &str| table.keys.iter().any(|key| fits(&key.name, wanted));
        if let Some((key, _)) = masks.iter().find(|(key, _)| !known(key)) {
            let names = table.keys.iter().map(|key| &*key.name);
            let (near, known) = (near(key, names.clone()), names.map(str::to_owned).collect());
            return Err(TableError::NoKey { table: name(), key: key.clone(), near, known });
        }
        let mask = |column: &Column| {
            let key = &table.keys[column.key].name;
            let given = masks.iter().find(|(wanted, _)| fits(key, wanted));
            given.map_or_else(|| arith::wide_mask(column.scalar.width()), |(_, mask)| mask.clone())
        };
        let masks: Vec<BigUint> = state.columns.iter().map(mask).collect();
        state.count_only(&masks);
        Ok(())
    }

    /// Sets the default entry.
    ///
    /// # Errors
    /// As for [`Tables::add`]; also if the default action is constant, or the table cannot have
    /// one.
    pub fn set_default(&mut self, id: TableId, to: &EntryTarget) -> Result<TableUndo, TableError> {
        let (table, state) = self.both(id)?;
        if table.const_default_action {
            return Err(TableError::ConstDefault { table: table.name.to_string() });
        }
        if table.default_action.is_none() && matches!(to, EntryTarget::Action(..)) {
            return Err(TableError::NoDefault { table: table.name.to_string() });
        }
        let to = Some(target(table, to, true)?);
        Ok(TableUndo(Previous::Default(state.lead_misses(to))))
    }

    /// The value set with this name or suffix.
    ///
    /// # Errors
    /// If there is none, or the name is not unique (then the message contains the nearest full
    /// name).
    pub fn find_value_set(&self, name: &str) -> Result<ValueSetId, TableError> {
        let names = self.program.value_sets.iter().map(|set| &*set.name);
        let exact = names.clone().position(|known| known == name);
        let mut found = names.clone().enumerate().filter(|(_, known)| fits(known, name));
        match (exact, found.next(), found.next()) {
            (Some(at), ..) | (None, Some((at, _)), None) => Ok(ValueSetId(at as u32)),
            (None, Some((_, first)), _) => {
                Err(TableError::NoValueSet { name: name.into(), near: Some(first.into()) })
            }
            _ => Err(TableError::NoValueSet { name: name.into(), near: near(name, names) }),
        }
    }

    /// Adds a member to a value set: one match per column.
    ///
    /// # Errors
    /// If the columns do not fit, or the set is full.
    pub fn add_to_value_set(
        &mut self,
        id: ValueSetId,
        columns: &[Match],
    ) -> Result<(), TableError> {
        let missing = || TableError::NoValueSet { name: format!("#{}", id.0), near: None };
        let set = self.program.value_sets.get(id.index()).ok_or_else(missing)?;
        let state = self.value_sets.get_mut(id.index()).ok_or_else(missing)?;
        let name = set.name.to_string();
        if columns.len() != set.columns.len() {
            let (expected, given) = (set.columns.len(), columns.len());
            return Err(TableError::WrongColumns { name, expected, given });
        }
        if state.len() as u64 >= set.size {
            return Err(TableError::Full { table: name, size: set.size });
        }
        let patterns = set.columns.iter().zip(columns).enumerate();
        let patterns = patterns.map(|(at, ((scalar, kind), given))| {
            // Parsers match members by value and mask, so an exact column is a special case.
            let kind = match given {
                Match::Ternary { .. } => "ternary",
                _ => kind,
            };
            pattern(&name, &format!("column {at}"), *scalar, kind, given)
        });
        let patterns = patterns.collect::<Result<Vec<Pattern>, TableError>>()?;
        state.add(&patterns);
        Ok(())
    }

    /// Restores a value set from a clone.
    pub fn put_back_value_set(&mut self, id: ValueSetId, saved: ValueSetState) {
        if let Some(state) = self.value_sets.get_mut(id.index()) {
            *state = saved;
        }
    }

    /// Empties a value set.
    pub fn clear_value_set(&mut self, id: ValueSetId) {
        if let Some(state) = self.value_sets.get_mut(id.index()) {
            state.clear();
        }
    }
}

/// Checks that entries may be added.
fn takes_entries(table: &ir::Table) -> Result<(), TableError> {
    let name = || table.name.to_string();
    if table.const_entries {
        return Err(TableError::ConstEntries { table: name() });
    }
    if table.keys.is_empty() {
        return Err(TableError::NoKeys { table: name() });
    }
    Ok(())
}

/// True if an entry matches the same keys with the same priority.
fn same(known: &Entry, row: &Row) -> bool {
    known.row.same_match(row) && known.row.rank.priority == row.rank.priority
}

/// Inserts an entry, unless an equal one exists or the table is full.
fn insert_new(
    table: &ir::Table,
    state: &mut TableState,
    entry: Entry,
) -> Result<EntryHandle, TableError> {
    let (name, row) = (|| table.name.to_string(), &entry.row);
    let is_same = |at: u32| {
        let known = state.entries.get(at as usize).and_then(Option::as_ref);
        known.is_some_and(|known| same(known, row))
    };
    if state.index.twins(row, &state.entries).any(is_same) {
        return Err(TableError::Duplicate { table: name(), with_priority: state.prioritised });
    }
    if let Some(size) = table.size.filter(|size| state.len() as u64 >= *size) {
        return Err(TableError::Full { table: name(), size });
    }
    Ok(state.insert(entry))
}

/// Builds an entry from its names, without inserting it.
fn entry(table: &ir::Table, state: &mut TableState, spec: &EntrySpec) -> Result<Entry, TableError> {
    takes_entries(table)?;
    let patterns = patterns(table, &spec.keys)?;
    let target = target(table, &spec.target, false)?;
    let row = state.row(&patterns, spec.priority);
    Ok(Entry { target, row, is_const: false })
}

/// The key element with this name, or the only one whose name ends in it.
pub(super) fn find_key(table: &ir::Table, wanted: &str) -> Option<usize> {
    let names = || table.keys.iter().map(|key| &*key.name);
    names().position(|name| name == wanted).or_else(|| {
        let mut ends = names().enumerate().filter(|(_, name)| fits(name, wanted));
        ends.next().filter(|_| ends.next().is_none()).map(|(at, _)| at)
    })
}

/// Patterns of key elements given by name, one per element.
fn patterns(table: &ir::Table, keys: &[(String, Match)]) -> Result<Vec<Pattern>, TableError> {
    let mut found: Vec<Option<Pattern>> = vec![None; table.keys.len()];
    let names = || table.keys.iter().map(|key| &*key.name);
    for (wanted, given) in keys {
        let at = find_key(table, wanted).ok_or_else(|| TableError::NoKey {
            table: table.name.to_string(),
            key: wanted.clone(),
            near: near(wanted, names()),
            known: names().map(String::from).collect(),
        })?;
        let key = &table.keys[at];
        let pattern = pattern(&table.name, wanted, key.expr.scalar, &key.match_kind, given)?;
        if found[at].replace(pattern).is_some() {
            return Err(TableError::KeyTwice {
                table: table.name.to_string(),
                key: wanted.clone(),
            });
        }
    }
    let complete = found.into_iter().zip(&table.keys).map(|(pattern, key)| match pattern {
        Some(pattern) => Ok(pattern),
        None if &*key.match_kind == "exact" => {
            Err(TableError::MissingKey { table: table.name.to_string(), key: key.name.to_string() })
        }
        None => Ok(Pattern::Any),
    });
    complete.collect()
}

fn pattern(
    table: &str,
    key: &str,
    scalar: Scalar,
    kind: &str,
    given: &Match,
) -> Result<Pattern, TableError> {
    let (table, width) = (|| table.to_owned(), scalar.width());
    if !given.fits(kind) {
        let (kind, given) = (kind.to_owned(), given.name());
        return Err(TableError::WrongMatch { table: table(), key: key.into(), kind, given });
    }
    let fit = |value: &BigUint| {
        if value.bits() > u64::from(width) {
            let (what, value) = (format!("key `{key}`"), value.to_string());
            return Err(TableError::TooWide { table: table(), what, value, width });
        }
        Ok(value.clone())
    };
    Ok(match given {
        Match::Any => Pattern::Any,
        Match::Exact(value) => Pattern::Value(fit(value)?),
        Match::Ternary { value, mask } => {
            let mask = fit(mask)?;
            Pattern::Mask(fit(value)? & &mask, mask)
        }
        Match::Prefix { value, length } if *length <= width => {
            let mask = arith::wide_mask(*length) << (width - length);
            Pattern::Mask(fit(value)? & &mask, mask)
        }
        Match::Prefix { length, .. } => {
            let (key, prefix) = (key.into(), *length);
            return Err(TableError::PrefixTooLong { table: table(), key, prefix, width });
        }
        Match::Range { low, high } => {
            let (low, high) = (fit(low)?, fit(high)?);
            if arith::number(scalar, &low) > arith::number(scalar, &high) {
                let (low, high) = (low.to_string(), high.to_string());
                return Err(TableError::EmptyRange { table: table(), key: key.into(), low, high });
            }
            Pattern::Range(low, high)
        }
    })
}

fn target(table: &ir::Table, wanted: &EntryTarget, as_default: bool) -> Result<Target, TableError> {
    match wanted {
        EntryTarget::Action(action, args) => {
            action_data(table, action, args, as_default).map(Target::Action)
        }
        EntryTarget::Reference(reference) => {
            let has =
                table.properties.iter().any(|(_, value)| matches!(value, ir::ObjectArg::Object(_)));
            if !has {
                return Err(TableError::NoImplementation { table: table.name.to_string() });
            }
            Ok(Target::Reference(*reference))
        }
    }
}

/// The action of a table with this name.
pub(super) fn find_action(
    table: &ir::Table,
    wanted: &str,
    as_default: bool,
) -> Result<usize, TableError> {
    let names = || table.actions.iter().map(|action| &*action.name);
    let at = names().position(|name| name == wanted).or_else(|| {
        let mut ends = names().enumerate().filter(|(_, name)| fits(name, wanted));
        ends.next().filter(|_| ends.next().is_none()).map(|(at, _)| at)
    });
    let at = at.ok_or_else(|| TableError::NoAction {
        table: table.name.to_string(),
        action: wanted.into(),
        near: near(wanted, names()),
        known: names().map(String::from).collect(),
    })?;
    let table_name = || table.name.to_string();
    if table.actions[at].default_only && !as_default {
        return Err(TableError::DefaultOnly { table: table_name(), action: wanted.into() });
    }
    if table.actions[at].table_only && as_default {
        return Err(TableError::TableOnly { table: table_name(), action: wanted.into() });
    }
    Ok(at)
}

fn action_data(
    table: &ir::Table,
    wanted: &str,
    args: &[(String, BigUint)],
    as_default: bool,
) -> Result<ActionData, TableError> {
    let at = find_action(table, wanted, as_default)?;
    let action = &table.actions[at];
    let mut data: Vec<Option<BigUint>> = vec![None; action.data.len()];
    for (name, value) in args {
        let at = parameter(action, name)?;
        let width = bits(&action.data[at].1);
        if value.bits() > u64::from(width) {
            let what = format!("parameter `{name}` of action `{wanted}`");
            let value = value.to_string();
            let table = table.name.to_string();
            return Err(TableError::TooWide { table, what, value, width });
        }
        if data[at].replace(value.clone()).is_some() {
            let (action, name) = (wanted.into(), name.clone());
            return Err(TableError::ParameterTwice { action, name });
        }
    }
    let data = data.into_iter().zip(&action.data).map(|(value, (name, _))| {
        let (action, name) = (wanted.to_owned(), name.to_string());
        value.ok_or(TableError::MissingParameter { action, name })
    });
    let data = data.collect::<Result<Vec<BigUint>, TableError>>()?;
    Ok(ActionData::new(at as u32, &data))
}

/// Width of action data, in bits.
pub(super) fn bits(layout: &ir::Layout) -> u32 {
    match layout {
        ir::Layout::Narrow(_, scalar) | ir::Layout::Wide(_, scalar) => scalar.width(),
        _ => 0,
    }
}

fn parameter(action: &ir::TableAction, wanted: &str) -> Result<usize, TableError> {
    let names = || action.data.iter().map(|(name, _)| &**name);
    names().position(|name| name == wanted).ok_or_else(|| TableError::NoParameter {
        action: action.name.to_string(),
        name: wanted.to_owned(),
        near: near(wanted, names()),
        known: names().map(String::from).collect(),
    })
}
