//! Execution of operations on a running program, and their rollback.
//!
//! Each operation is atomic. For a batch, [`Checkpoint`] saves the state that the batch changes.
//! Must not depend on a file format, a switch or an architecture.

use super::operation::{EntryRead, Matched, Operation, Query, Reply, Which};
use super::{
    ControlError, DefaultEntry, MatchValue, NamedValues, Number, ProfileEntries, ProfileMember,
    TableEntry, codel_entries, fits,
};
use crate::profiles::{GROUP, Profile};
use crate::runtime_control::{
    LAST_HANDLE, RuntimeControl, cell, default_target, entry_spec, find_counter, find_name,
    find_register, rank,
};
use crate::snapshot::Snapshots;
use num_bigint::BigUint;
use smallvec::SmallVec;
use sojourn_externs::counter::{Count, Counter};
use sojourn_externs::filter::{Filter, FilterSpec};
use sojourn_externs::hash_setting::HashSetting;
use sojourn_externs::meter::Meter;
use sojourn_p4::interp::tables::{
    EntryHandle, EntryTarget, EntryView, Match, Rows, TableState, TableUndo, ValueSetState,
};
use sojourn_p4::interp::{ActionRun, Tables};
use sojourn_p4::ir::{TableId, ValueSetId};
use sojourn_packet::Time;
use std::any::Any;
use std::collections::BTreeMap;

/// Executes one operation at a time; returns the handle of an added entry.
///
/// # Errors
/// Returns an error if it does not fit the program, or concerns the switch; nothing has changed.
pub fn execute(
    program: &mut dyn RuntimeControl,
    operation: &Operation,
    now: Time,
) -> Result<Option<u32>, ControlError> {
    execute_noting(program, operation, now, None)
}

/// The same; saves the previous state of tables in `undone`.
fn execute_noting(
    program: &mut dyn RuntimeControl,
    operation: &Operation,
    now: Time,
    undone: Option<&mut Vec<SavedTable>>,
) -> Result<Option<u32>, ControlError> {
    let note = |id: TableId, previous: TableUndo| {
        if let Some(undone) = undone {
            undone.push(SavedTable::Changed(id, previous));
        }
    };
    match operation {
        Operation::AddEntry { table, entry } => {
            let id = find_table(program, table)?;
            let spec = entry_spec(entry).ok_or_else(|| no_target(table))?;
            let handle = program.tables().add(id, &spec).map_err(Box::new)?;
            note(id, TableUndo::absent(handle));
            return Ok(Some(handle.0));
        }
        Operation::AddEntries { table, rows } => {
            let id = find_table(program, table)?;
            note(id, add_rows(program, id, table, rows)?);
        }
        Operation::AddComputed { table, from } => {
            let id = find_table(program, table)?;
            let rows = computed(program, id, table, from)?;
            note(id, add_rows(program, id, table, &rows)?);
        }
        Operation::ModifyEntry { table, at, to } => {
            let id = find_table(program, table)?;
            let spec = entry_spec(to).ok_or_else(|| no_target(table))?;
            let handle = which(program, id, at)?;
            note(id, program.tables().modify(id, handle, &spec.target).map_err(Box::new)?);
        }
        Operation::DeleteEntry { table, at } => {
            let id = find_table(program, table)?;
            let handle = which(program, id, at)?;
            note(id, program.tables().delete(id, handle).map_err(Box::new)?);
        }
        Operation::ClearTable { table } => {
            let id = find_table(program, table)?;
            program.tables().clear(id).map_err(Box::new)?;
        }
        Operation::SetDefault { table, call } => {
            let id = find_table(program, table)?;
            let to = default_target(call).ok_or_else(|| no_default_target(table))?;
            note(id, program.tables().set_default(id, &to).map_err(Box::new)?);
        }
        Operation::ResetDefault { table } => {
            let id = find_table(program, table)?;
            note(id, program.tables().reset_default(id).map_err(Box::new)?);
        }
        Operation::SetProfile(entries) => set_profile(program, entries)?,
        Operation::DeleteMember { profile, member } => {
            let at = find_profile(program, profile)?;
            let removed = program.parts().profiles.profiles[at].members.remove(member);
            cell(removed, "action profile", profile, *member as usize)?;
        }
        Operation::DeleteGroup { profile, group } => {
            let at = find_profile(program, profile)?;
            let selector = program.parts().profiles.profiles[at].selector.as_mut();
            let removed = selector.is_some_and(|selector| selector.remove_group(*group));
            cell(removed.then_some(()), "action selector", profile, *group as usize)?;
        }
        Operation::WriteRegister { name, index, value } => {
            let value: Vec<BigUint> = value.iter().map(|number| number.0.clone()).collect();
            program.write_register(name, *index, &value)?;
        }
        Operation::WriteCounter { name, index, packets, bytes } => {
            let count = Count { packets: *packets, bytes: *bytes };
            program.write_counter(name, *index, count)?;
        }
        Operation::SetMeter { name, index, spec } => {
            let at = find_meter(program, name)?;
            spec.check().map_err(|why| ControlError::Message(format!("meter `{name}`: {why}")))?;
            let grows = program.meters_entries(at) && *index <= LAST_HANDLE;
            let (known, meter) = &mut program.parts().meters[at];
            if grows {
                meter.grow(index + 1);
            }
            let done = meter.configure(*index, *spec, now).then_some(());
            cell(done, "meter", known, *index)?;
        }
        Operation::ResetMeter { name, index } => {
            let at = find_meter(program, name)?;
            let entries = program.meters_entries(at);
            let (known, meter) = &mut program.parts().meters[at];
            match index {
                // An entry that does not exist yet has no setting to reset.
                Some(index) if entries && *index >= meter.len() => {}
                Some(index) => {
                    cell(meter.reset(*index).then_some(()), "meter", known, *index)?;
                }
                None => (0..meter.len()).for_each(|index| {
                    meter.reset(index);
                }),
            }
        }
        Operation::LengthenMeter { name, bytes } => {
            let at = find_meter(program, name)?;
            program.parts().meters[at].1.lengthen(*bytes);
        }
        Operation::SetKeyMask { table, masks } => {
            let id = find_table(program, table)?;
            let masks: Vec<_> =
                masks.iter().map(|(key, mask)| (key.clone(), mask.0.clone())).collect();
            program.tables().set_key_mask(id, &masks).map_err(Box::new)?;
        }
        Operation::SetFilter { name, index, spec } => set_filter(program, name, *index, spec)?,
        Operation::ResetFilter { name, index } => {
            let at = find_filter(program, name)?;
            let entries = program.filters_entries(at);
            let (known, filter) = &mut program.parts().filters[at];
            match index {
                Some(index) if entries && *index >= filter.len() => {}
                Some(index) => {
                    cell(filter.reset(*index).then_some(()), "filter", known, *index)?;
                }
                None => (0..filter.len()).for_each(|index| {
                    filter.reset(index);
                }),
            }
        }
        Operation::SetHash { name, setting } => {
            program.set_hash(name, setting)?;
        }
        Operation::SetParameter { name, value } => {
            program.set_parameter(name, value.0.iter_u32_digits().next().unwrap_or(0))?;
        }
        Operation::SetPortMetadata { port, value } => {
            program.set_port_metadata(*port, *value)?;
        }
        Operation::ArmSnapshot(setting) => snapshots(program)?.arm(setting)?,
        Operation::DisarmSnapshot { egress, first } => {
            snapshots(program)?.disarm(*egress, *first);
        }
        Operation::AddToValueSet { name, member } => {
            let id = find_value_set(program, name)?;
            let columns: Vec<Match> = member.iter().map(MatchValue::to_match).collect();
            program.tables().add_to_value_set(id, &columns).map_err(Box::new)?;
        }
        Operation::ClearValueSet { name } => {
            let id = find_value_set(program, name)?;
            program.tables().clear_value_set(id);
        }
        _ => return Err(ControlError::ForSwitch),
    }
    Ok(None)
}

/// Answers a query.
///
/// # Errors
/// The program has no such object or no such cell.
pub fn read(program: &mut dyn RuntimeControl, query: &Query) -> Result<Reply, ControlError> {
    Ok(match query {
        Query::Entries { table } => {
            let id = find_table(program, table)?;
            let entries = program.tables().entries(id).map_err(Box::new)?;
            Reply::Entries(entries.into_iter().map(entry_read).collect())
        }
        Query::Page { table, from, most } => {
            let id = find_table(program, table)?;
            let (page, next) = program.tables().page(id, *from, *most).map_err(Box::new)?;
            Reply::Page { page: page.into_iter().map(entry_read).collect(), next }
        }
        Query::Entry { table, at } => {
            let id = find_table(program, table)?;
            let handle = which(program, id, &Which::Match(at.clone()))?;
            let entry = program.tables().entry(id, handle).map_err(Box::new)?;
            Reply::Entries(entry.into_iter().map(entry_read).collect())
        }
        Query::Default { table } => {
            let id = find_table(program, table)?;
            let default = program.tables().default_of(id).map_err(Box::new)?;
            Reply::Default(default.map(|target| {
                let TableEntry { action, args, member, group, .. } = led(target);
                DefaultEntry { action, args, member, group }
            }))
        }
        Query::Register { name, index } => {
            let words = program.read_register(name, *index)?;
            Reply::Register(words.into_iter().map(Number).collect())
        }
        Query::Counter { name, index } => Reply::Counter(program.read_counter(name, *index)?),
        Query::Meter { name, index } => {
            let at = find_meter(program, name)?;
            let (known, meter) = &program.parts().meters[at];
            Reply::Meter(cell(meter.spec(*index), "meter", known, *index)?)
        }
        Query::Filter { name, index } => {
            let at = find_filter(program, name)?;
            let grows = program.filters_entries(at) && *index <= LAST_HANDLE;
            let (known, filter) = &mut program.parts().filters[at];
            if grows {
                filter.grow(index + 1);
            }
            Reply::Filter(cell(filter.spec(*index), "filter", known, *index)?)
        }
        Query::Hash { name, inputs } => {
            let inputs: Vec<BigUint> = inputs.iter().map(|input| input.0.clone()).collect();
            Reply::Hash(program.hash(name, &inputs)?)
        }
        Query::Chosen { name, group, hash } => {
            let at = find_profile(program, name)?;
            let selector = &program.parts().profiles.profiles[at].selector;
            Reply::Chosen(selector.as_ref().and_then(|selector| selector.select(*group, *hash)))
        }
        Query::Snapshot { egress, first } => {
            Reply::Snapshot(snapshots(program)?.read(*egress, *first))
        }
        Query::FieldStages { egress, field } => {
            Reply::Stages(snapshots(program)?.stages_of(*egress, field)?)
        }
        Query::Profile { name } => {
            let at = find_profile(program, name)?;
            Reply::Profile(profile_read(program, at))
        }
    })
}

/// The snapshots of a program.
fn snapshots(program: &mut dyn RuntimeControl) -> Result<&mut Snapshots, ControlError> {
    let none = || ControlError::Message("this target has no stages, and no snapshots".to_owned());
    program.snapshots().ok_or_else(none)
}

/// Previous state of a table.
enum SavedTable {
    /// One change.
    Changed(TableId, TableUndo),
    /// The whole table.
    Whole(TableId, Box<TableState>),
}

/// Previous state of a member or a group of a profile; `None` if it did not exist.
enum SavedProfile {
    Member(usize, u32, Option<ActionRun>),
    Group(usize, u32, Option<Vec<(u32, bool)>>),
}

/// Saved state of the objects that a batch changes.
#[derive(Default)]
pub struct Checkpoint {
    /// In the order of the changes.
    tables: Vec<SavedTable>,
    value_sets: BTreeMap<ValueSetId, ValueSetState>,
    /// In the order of the changes.
    profiles: Vec<SavedProfile>,
    counters: BTreeMap<usize, Counter>,
    meters: BTreeMap<usize, Meter>,
    filters: BTreeMap<usize, Filter>,
    registers: BTreeMap<String, Box<dyn Any + Send>>,
    hashes: BTreeMap<String, HashSetting>,
    parameters: BTreeMap<String, u32>,
    port_metadata: BTreeMap<u16, u64>,
    snapshots: Option<Snapshots>,
}

impl Checkpoint {
    /// Executes an operation as [`execute`] does, and saves the state that it changes.
    ///
    /// # Errors
    /// As for [`execute`].
    pub fn execute(
        &mut self,
        program: &mut dyn RuntimeControl,
        operation: &Operation,
        now: Time,
    ) -> Result<Option<u32>, ControlError> {
        self.record(program, operation);
        execute_noting(program, operation, now, Some(&mut self.tables))
    }

    /// Saves the state that `operation` changes, unless it is saved already; single entries are
    /// left out. An object that does not exist is not saved, since the operation will be refused.
    fn record(&mut self, program: &mut dyn RuntimeControl, operation: &Operation) {
        match operation {
            Operation::ClearTable { table } | Operation::SetKeyMask { table, .. } => {
                let Ok(id) = find_table(program, table) else { return };
                if let Ok(saved) = program.tables().saved(id) {
                    self.tables.push(SavedTable::Whole(id, Box::new(saved)));
                }
            }
            Operation::SetProfile(entries) => {
                for member in &entries.members {
                    self.save_member(program, &entries.name, member.id);
                }
                for (group, _) in &entries.groups {
                    self.save_group(program, &entries.name, *group);
                }
            }
            Operation::DeleteMember { profile, member } => {
                self.save_member(program, profile, *member);
            }
            Operation::DeleteGroup { profile, group } => self.save_group(program, profile, *group),
            Operation::WriteRegister { name, .. } => {
                let Ok(register) = find_register(program.registers(), name) else { return };
                self.registers.entry(name.clone()).or_insert_with(|| register.save());
            }
            Operation::SetHash { name, .. } => {
                let Ok(read) = program.hash(name, &[]) else { return };
                self.hashes.entry(name.clone()).or_insert(read.setting);
            }
            Operation::SetParameter { name, .. } => {
                let Ok(value) = program.parameter(name) else { return };
                self.parameters.entry(name.clone()).or_insert(value);
            }
            Operation::SetPortMetadata { port, value } => {
                let Ok(before) = program.set_port_metadata(*port, *value) else { return };
                self.port_metadata.entry(*port).or_insert(before);
            }
            Operation::ArmSnapshot(_) | Operation::DisarmSnapshot { .. } => {
                let Ok(now) = snapshots(program) else { return };
                self.snapshots.get_or_insert_with(|| now.clone());
            }
            Operation::WriteCounter { name, .. } => {
                let counters = program.parts().counters;
                let Ok(at) = find_counter(counters, name) else { return };
                self.counters.entry(at).or_insert_with(|| counters[at].1.clone());
            }
            Operation::SetMeter { name, .. }
            | Operation::ResetMeter { name, .. }
            | Operation::LengthenMeter { name, .. } => {
                let Ok(at) = find_meter(program, name) else { return };
                let meters = program.parts().meters;
                self.meters.entry(at).or_insert_with(|| meters[at].1.clone());
            }
            Operation::SetFilter { name, .. } | Operation::ResetFilter { name, .. } => {
                let Ok(at) = find_filter(program, name) else { return };
                let filters = program.parts().filters;
                self.filters.entry(at).or_insert_with(|| filters[at].1.clone());
            }
            Operation::AddToValueSet { name, .. } | Operation::ClearValueSet { name } => {
                let Ok(id) = find_value_set(program, name) else { return };
                if let Some(state) = program.tables().value_set(id) {
                    self.value_sets.entry(id).or_insert_with(|| state.clone());
                }
            }
            _ => {}
        }
    }

    fn save_member(&mut self, program: &mut dyn RuntimeControl, profile: &str, member: u32) {
        let Ok(at) = find_profile(program, profile) else { return };
        let previous = program.parts().profiles.profiles[at].members.get(&member).cloned();
        self.profiles.push(SavedProfile::Member(at, member, previous));
    }

    fn save_group(&mut self, program: &mut dyn RuntimeControl, profile: &str, group: u32) {
        let Ok(at) = find_profile(program, profile) else { return };
        let selector = program.parts().profiles.profiles[at].selector.as_ref();
        let previous = selector.and_then(|selector| selector.group(group)).map(<[_]>::to_vec);
        self.profiles.push(SavedProfile::Group(at, group, previous));
    }

    /// Restores the saved state.
    pub fn restore(self, program: &mut dyn RuntimeControl) {
        for previous in self.tables.into_iter().rev() {
            match previous {
                SavedTable::Changed(id, undone) => program.tables().undo(id, undone),
                SavedTable::Whole(id, saved) => program.tables().put_back(id, *saved),
            }
        }
        for (id, saved) in self.value_sets {
            program.tables().put_back_value_set(id, saved);
        }
        for (name, saved) in self.registers {
            if let Ok(register) = find_register(program.registers(), &name) {
                register.restore(saved);
            }
        }
        for (name, setting) in self.hashes {
            // The setting was valid before.
            let _ = program.set_hash(&name, &setting);
        }
        for (name, value) in self.parameters {
            // The parameter existed when it was saved.
            let _ = program.set_parameter(&name, value);
        }
        for (port, value) in self.port_metadata {
            let _ = program.set_port_metadata(port, value);
        }
        if let (Some(saved), Ok(now)) = (self.snapshots, snapshots(program)) {
            *now = saved;
        }
        let parts = program.parts();
        for previous in self.profiles.into_iter().rev() {
            put_back_in_profile(&mut parts.profiles.profiles, previous);
        }
        self.counters.into_iter().for_each(|(at, saved)| parts.counters[at].1 = saved);
        self.meters.into_iter().for_each(|(at, saved)| parts.meters[at].1 = saved);
        self.filters.into_iter().for_each(|(at, saved)| parts.filters[at].1 = saved);
    }
}

fn put_back_in_profile(profiles: &mut [Profile], previous: SavedProfile) {
    match previous {
        SavedProfile::Member(at, member, Some(run)) => {
            profiles[at].members.insert(member, run);
        }
        SavedProfile::Member(at, member, None) => {
            profiles[at].members.remove(&member);
        }
        SavedProfile::Group(at, group, previous) => match (&mut profiles[at].selector, previous) {
            (Some(selector), Some(members)) => selector.set_group(group, members),
            (Some(selector), None) => drop(selector.remove_group(group)),
            (None, _) => {}
        },
    }
}

fn no_default_target(table: &str) -> ControlError {
    let why = "it needs exactly one of `action`, `member`, `group`";
    ControlError::Message(format!("the default of table `{table}`: {why}"))
}

fn no_target(table: &str) -> ControlError {
    ControlError::Target { table: table.to_owned(), number: 1 }
}

pub(super) fn find_table(
    program: &mut dyn RuntimeControl,
    name: &str,
) -> Result<TableId, ControlError> {
    Ok(program.tables().find(name).map_err(Box::new)?)
}

pub(super) fn find_value_set(
    program: &mut dyn RuntimeControl,
    name: &str,
) -> Result<ValueSetId, ControlError> {
    Ok(program.tables().find_value_set(name).map_err(Box::new)?)
}

fn find_meter(program: &mut dyn RuntimeControl, name: &str) -> Result<usize, ControlError> {
    find_name(program.parts().meters.iter().map(|(known, _)| &**known), "meter", name)
}

fn find_filter(program: &mut dyn RuntimeControl, name: &str) -> Result<usize, ControlError> {
    find_name(program.parts().filters.iter().map(|(known, _)| &**known), "filter", name)
}

fn set_filter(
    program: &mut dyn RuntimeControl,
    name: &str,
    index: usize,
    spec: &FilterSpec,
) -> Result<(), ControlError> {
    let at = find_filter(program, name)?;
    let grows = program.filters_entries(at) && index <= LAST_HANDLE;
    let (known, filter) = &mut program.parts().filters[at];
    if grows {
        filter.grow(index + 1);
    }
    let done = filter.configure(index, spec);
    let done = done.map_err(|why| ControlError::Filter { name: known.to_string(), index, why })?;
    cell(done.then_some(()), "filter", known, index)
}

pub(super) fn find_profile(
    program: &mut dyn RuntimeControl,
    name: &str,
) -> Result<usize, ControlError> {
    let profiles = &program.parts().profiles.profiles;
    find_name(profiles.iter().map(|profile| profile.name.as_str()), "action profile", name)
}

fn which(
    program: &mut dyn RuntimeControl,
    id: TableId,
    at: &Which,
) -> Result<EntryHandle, ControlError> {
    match at {
        Which::Handle(handle) => Ok(EntryHandle(*handle)),
        Which::Match(Matched { matches, priority, rank: at }) => {
            let keys: Vec<(String, Match)> =
                matches.iter().map(|(key, value)| (key.to_owned(), value.to_match())).collect();
            let found = program.tables().find_entry(id, &keys, rank(*priority, *at));
            Ok(found.map_err(Box::new)?)
        }
    }
}

/// Adds entries of one shape; returns the table's state before.
fn add_rows(
    program: &mut dyn RuntimeControl,
    id: TableId,
    table: &str,
    rows: &Rows,
) -> Result<TableUndo, ControlError> {
    program.tables().add_rows(id, rows).map_err(|(at, why)| {
        let (table, number) = (table.to_owned(), at + 1);
        ControlError::Entry { table, number, why: Box::new(why) }
    })
}

/// The entries that are computed from `from`.
fn computed(
    program: &mut dyn RuntimeControl,
    id: TableId,
    table: &str,
    from: &codel_entries::EntriesFrom,
) -> Result<Rows, ControlError> {
    let tables = program.tables();
    let described = &tables.program().tables[id.index()];
    let refused = |why| ControlError::Computed { table: table.to_owned(), why };
    codel_entries::entries(from, described, tables.program()).map_err(refused)
}

/// The action of a member, in terms of the table that uses the profile.
fn member_run(
    member: &ProfileMember,
    table: Option<TableId>,
    tables: &Tables,
) -> Result<ActionRun, ControlError> {
    let Some(table) = table.and_then(|table| tables.description(table)) else {
        let what = "table that uses the profile of action";
        return Err(ControlError::unknown(what, &member.action, &[]));
    };
    let names = || table.actions.iter().map(|action| &*action.name);
    let Some(at) = names().position(|name| fits(name, &member.action)) else {
        return Err(ControlError::unknown("action", &member.action, &names().collect::<Vec<_>>()));
    };
    let mut data: SmallVec<[u128; 4]> = SmallVec::new();
    for (name, _) in &table.actions[at].data {
        let Some(value) = member.args.get(name) else {
            return Err(ControlError::unknown("argument of that name in the member:", name, &[]));
        };
        data.push(u128::try_from(&value.0).unwrap_or(u128::MAX));
    }
    Ok(ActionRun { action: at as u32, data })
}

/// Validates all members before one of them is set.
fn set_profile(
    program: &mut dyn RuntimeControl,
    entries: &ProfileEntries,
) -> Result<(), ControlError> {
    let at = find_profile(program, &entries.name)?;
    let parts = program.parts();
    let table = parts.profiles.of_table.iter().find(|(_, of)| **of == at).map(|(id, _)| *id);
    let run = |member: &ProfileMember| Ok((member.id, member_run(member, table, parts.tables)?));
    let members: Vec<(u32, ActionRun)> =
        entries.members.iter().map(run).collect::<Result<_, ControlError>>()?;
    let profile = &mut parts.profiles.profiles[at];
    if !entries.groups.is_empty() && profile.selector.is_none() {
        return Err(ControlError::unknown("action selector", &entries.name, &[]));
    }
    profile.members.extend(members);
    if let Some(selector) = &mut profile.selector {
        for (group, members) in &entries.groups {
            selector.set_group(*group, members.clone());
        }
    }
    Ok(())
}

fn profile_read(program: &mut dyn RuntimeControl, at: usize) -> ProfileEntries {
    let parts = program.parts();
    let table = parts.profiles.of_table.iter().find(|(_, of)| **of == at).map(|(id, _)| *id);
    let table = table.and_then(|id| parts.tables.description(id));
    let profile = &parts.profiles.profiles[at];
    let member = |(id, run): (&u32, &ActionRun)| {
        let action = &table?.actions[run.action as usize];
        let names = action.data.iter().map(|(name, _)| name.to_string());
        let values = run.data.iter().map(|value| Number(BigUint::from(*value)));
        let args = names.zip(values).collect();
        Some(ProfileMember { id: *id, action: action.name.to_string(), args })
    };
    ProfileEntries {
        name: profile.name.clone(),
        members: profile.members.iter().filter_map(member).collect(),
        groups: profile.selector.iter().flat_map(|selector| selector.groups()).collect(),
    }
}

fn numbers(args: Vec<(String, BigUint)>) -> NamedValues<Number> {
    args.into_iter().map(|(name, value)| (name, Number(value))).collect()
}

fn entry_read(view: EntryView) -> EntryRead {
    let entry = TableEntry {
        matches: view
            .keys
            .iter()
            .filter_map(|(key, m)| Some((key.clone(), value_of(m)?)))
            .collect(),
        priority: u32::try_from(-view.priority).unwrap_or(0),
        rank: i32::try_from(view.priority).ok().filter(|rank| *rank > 0),
        ..led(view.target)
    };
    EntryRead { handle: view.handle.0, entry, is_const: view.is_const }
}

/// An entry with a target, without match values.
pub(super) fn led(target: EntryTarget) -> TableEntry {
    let mut entry = TableEntry::default();
    match target {
        EntryTarget::Action(action, args) => {
            entry.action = Some(action);
            entry.args = numbers(args);
        }
        EntryTarget::Reference(group) if group & GROUP != 0 => entry.group = Some(group & !GROUP),
        EntryTarget::Reference(member) => entry.member = Some(member),
    }
    entry
}

/// Value that an entry requires of a key element; `None` for any value.
pub(super) fn value_of(matched: &Match) -> Option<MatchValue> {
    let number = |value: &BigUint| Number(value.clone());
    Some(match matched {
        Match::Any => return None,
        Match::Exact(value) => MatchValue::Exact(number(value)),
        Match::Ternary { value, mask } => {
            MatchValue::Ternary { value: number(value), mask: number(mask) }
        }
        Match::Prefix { value, length } => {
            MatchValue::Prefix { value: number(value), prefix: *length }
        }
        Match::Range { low, high } => MatchValue::Range { low: number(low), high: number(high) },
    })
}
