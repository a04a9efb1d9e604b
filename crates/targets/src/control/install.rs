//! From a control plane as data to tables, profiles, meters and value sets.
//!
//! Stands on the interpreter's tables, which check names and widths. What only one architecture has
//! (register parameters, queues) is installed by that architecture.

use super::{
    ActionCall, ControlError, ControlPlane, MatchValue, MeterCell, ProfileEntries, ProfileMember,
    TableEntries, TableEntry, ValueSetMembers, fits,
};
use crate::externs::meter::Meter;
use crate::profiles::Profiles;
use crate::runtime_control::{entry_spec, named};
use smallvec::SmallVec;
use sojourn_p4::interp::tables::Match;
use sojourn_p4::interp::{ActionRun, Tables};
use sojourn_p4::ir::TableId;
use sojourn_packet::Time;
use std::sync::Arc;

/// What a control plane fills, whatever the architecture.
pub(crate) struct Objects<'p> {
    /// Tables and value sets.
    pub tables: &'p mut Tables,
    /// Action profiles and selectors.
    pub profiles: &'p mut Profiles,
    /// Meters by name.
    pub meters: &'p mut [(Arc<str>, Meter)],
}

/// Installs what every architecture has.
pub(crate) fn install(control: &ControlPlane, to: &mut Objects<'_>) -> Result<(), ControlError> {
    control.action_profiles.iter().try_for_each(|entries| profile(entries, to))?;
    control.tables.iter().try_for_each(|entries| table(entries, to.tables))?;
    control.meters.iter().try_for_each(|cell| meter(cell, to.meters))?;
    control.value_sets.iter().try_for_each(|set| value_set(set, to.tables))
}

fn value_set(set: &ValueSetMembers, tables: &mut Tables) -> Result<(), ControlError> {
    let id = tables.find_value_set(&set.name).map_err(Box::new)?;
    for member in &set.members {
        let columns: Vec<Match> = member.iter().map(MatchValue::to_match).collect();
        tables.add_to_value_set(id, &columns).map_err(Box::new)?;
    }
    Ok(())
}

fn table(entries: &TableEntries, tables: &mut Tables) -> Result<(), ControlError> {
    let id = tables.find(&entries.name).map_err(Box::new)?;
    for (entry, number) in entries.entries.iter().zip(1..) {
        add(entries, number, entry, id, tables)?;
    }
    if let (Some(from), Some(described)) = (&entries.entries_from, tables.description(id)) {
        let refused = |why| ControlError::Computed { table: entries.name.clone(), why };
        let computed = super::law::entries(from, described, tables.program()).map_err(refused)?;
        let added = tables.add_plain(id, &computed.action, &computed.entries);
        added.map_err(|(at, why)| ControlError::Entry {
            table: entries.name.clone(),
            number: entries.entries.len() + 1 + at,
            why: Box::new(why),
        })?;
    }
    if let Some(ActionCall { action, args }) = &entries.default {
        tables.set_default(id, action, &named(args)).map_err(Box::new)?;
    }
    Ok(())
}

/// Adds the entry that stands at `number`.
fn add(
    entries: &TableEntries,
    number: usize,
    entry: &TableEntry,
    id: TableId,
    tables: &mut Tables,
) -> Result<(), ControlError> {
    let name = || entries.name.clone();
    let spec = entry_spec(entry);
    let spec = spec.ok_or_else(|| ControlError::Target { table: name(), number })?;
    let added = tables.add(id, &spec);
    added.map_err(|why| ControlError::Entry { table: name(), number, why: why.into() })?;
    Ok(())
}

impl MatchValue {
    /// As the tables take it.
    pub fn to_match(&self) -> Match {
        match self {
            MatchValue::Exact(value) => Match::Exact(value.0.clone()),
            MatchValue::Ternary { value, mask } => {
                Match::Ternary { value: value.0.clone(), mask: mask.0.clone() }
            }
            MatchValue::Prefix { value, prefix } => {
                Match::Prefix { value: value.0.clone(), length: *prefix }
            }
            MatchValue::Range { low, high } => {
                Match::Range { low: low.0.clone(), high: high.0.clone() }
            }
        }
    }
}

fn profile(entries: &ProfileEntries, to: &mut Objects<'_>) -> Result<(), ControlError> {
    let profiles = &mut *to.profiles;
    let at = profiles.profiles.iter().position(|profile| fits(&profile.name, &entries.name));
    let Some(at) = at else {
        let known: Vec<&str> = profiles.profiles.iter().map(|profile| &*profile.name).collect();
        return Err(ControlError::unknown("action profile", &entries.name, &known));
    };
    let table = profiles.of_table.iter().find(|(_, profile)| **profile == at).map(|(id, _)| *id);
    for member in &entries.members {
        let run = member_run(member, table, to.tables)?;
        profiles.profiles[at].members.insert(member.id, run);
    }
    if let Some(selector) = &mut profiles.profiles[at].selector {
        for (group, members) in &entries.groups {
            selector.set_group(*group, members.clone());
        }
    }
    Ok(())
}

/// What a member runs, in terms of the table that uses the profile.
pub(super) fn member_run(
    member: &ProfileMember,
    table: Option<TableId>,
    tables: &Tables,
) -> Result<ActionRun, ControlError> {
    let Some(table) = table.and_then(|table| tables.description(table)) else {
        return Err(ControlError::unknown(
            "table that uses the profile of action",
            &member.action,
            &[],
        ));
    };
    let names = || table.actions.iter().map(|action| &*action.name);
    let Some(at) = names().position(|name| fits(name, &member.action)) else {
        return Err(ControlError::unknown("action", &member.action, &names().collect::<Vec<_>>()));
    };
    let mut data: SmallVec<[u128; 4]> = SmallVec::new();
    for (name, _) in &table.actions[at].data {
        let Some(value) = member.args.get(&**name) else {
            return Err(ControlError::unknown("argument of that name in the member:", name, &[]));
        };
        data.push(u128::try_from(&value.0).unwrap_or(u128::MAX));
    }
    Ok(ActionRun { action: at as u32, data })
}

fn meter(cell: &MeterCell, meters: &mut [(Arc<str>, Meter)]) -> Result<(), ControlError> {
    let at = meters.iter().position(|(name, _)| fits(name, &cell.name));
    let Some(at) = at else {
        let known: Vec<&str> = meters.iter().map(|(name, _)| &**name).collect();
        return Err(ControlError::unknown("meter", &cell.name, &known));
    };
    if meters[at].1.configure(cell.index, cell.spec, Time::ZERO) {
        return Ok(());
    }
    Err(ControlError::MeterIndex { name: cell.name.clone(), index: cell.index })
}
