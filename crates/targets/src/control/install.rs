//! Entries of tables and members of value sets, from data into a program's tables.
//!
//! Stands on the interpreter's tables, which check names and widths. What an architecture adds to
//! tables (profiles, meters) is its own business.

use super::data::{
    ActionCall, ControlPlane, MatchValue, TableEntries, TableEntry, ValueSetMembers,
};
use super::error::ControlError;
use super::number::Number;
use num_bigint::BigUint;
use sojourn_p4::diagnostic::near_name;
use sojourn_p4::interp::Tables;
use sojourn_p4::interp::tables::{EntrySpec, EntryTarget, Match};
use std::collections::BTreeMap;

/// Set in an entry's reference if it names a group; the rest is the number.
pub const GROUP: u32 = 1 << 31;

/// Adds the entries of all tables and sets their default actions.
pub fn install_tables(control: &ControlPlane, tables: &mut Tables) -> Result<(), ControlError> {
    control.tables.iter().try_for_each(|entries| table(entries, tables))
}

/// Adds the members of all value sets.
pub fn install_value_sets(control: &ControlPlane, tables: &mut Tables) -> Result<(), ControlError> {
    control.value_sets.iter().try_for_each(|set| value_set(set, tables))
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
    for (index, entry) in entries.entries.iter().enumerate() {
        let (number, name) = (index + 1, || entries.name.clone());
        let spec =
            entry_spec(entry).ok_or_else(|| ControlError::Target { table: name(), number })?;
        let added = tables.add(id, &spec);
        added.map_err(|why| ControlError::Entry { table: name(), number, why: why.into() })?;
    }
    if let Some(ActionCall { action, args }) = &entries.default {
        tables.set_default(id, action, &named(args)).map_err(Box::new)?;
    }
    Ok(())
}

/// An entry as the tables take it; none unless it names exactly one of action, member and group.
pub fn entry_spec(entry: &TableEntry) -> Option<EntrySpec> {
    let target = match (&entry.action, entry.member, entry.group) {
        (Some(action), None, None) => EntryTarget::Action(action.clone(), named(&entry.args)),
        (None, Some(member), None) => EntryTarget::Reference(member),
        (None, None, Some(group)) => EntryTarget::Reference(group | GROUP),
        _ => return None,
    };
    let keys = entry.matches.iter().map(|(key, value)| (key.clone(), value.to_match())).collect();
    Some(EntrySpec { keys, target, priority: -i64::from(entry.priority) })
}

/// Arguments by name as the tables take them.
pub fn named(args: &BTreeMap<String, Number>) -> Vec<(String, BigUint)> {
    args.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect()
}

/// There is no such thing; the nearest name is in the message.
pub fn unknown(what: &'static str, name: &str, known: &[&str]) -> ControlError {
    let near = near_name(name, known.iter().copied()).map(String::from);
    ControlError::Unknown { what, name: name.to_owned(), near }
}

/// True if a name is the wanted one or ends in it.
pub fn fits(known: &str, wanted: &str) -> bool {
    known == wanted || known.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'))
}
