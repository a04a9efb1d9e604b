//! Tables of an action profile or selector (T1024, T1027, T1028), after `bf-p4c/mau/handle_assign.cpp` and
//! `bf-p4c/mau/action_format.cpp`.
//!
//! The members of a profile lie in one memory, with one format of their data, and one hash of the
//! selector keys chooses among them. A packet reads it once.

use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Object, ObjectArg, ObjectId, Program, Table, TableId};
use sojourn_target::applied_tables::applied;
use sojourn_target::arguments::first_object;
use sojourn_target::table_order::Order;
use std::collections::{BTreeMap, BTreeSet};

/// Checks the tables that a program applies.
pub fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let mut by_profile: BTreeMap<ObjectId, Vec<&Table>> = BTreeMap::new();
    let mut by_selector: BTreeMap<ObjectId, &Table> = BTreeMap::new();
    for table in applied(program) {
        let Some(id) = implementation(table) else { continue };
        if !is_selector(program, id) && !is_profile(program, id) {
            continue;
        }
        let object = &program.objects[id.index()];
        if is_selector(program, id) {
            check_selector(object, table, found);
            let first = *by_selector.entry(id).or_insert(table);
            if selector_keys(first) != selector_keys(table) {
                let message =
                    format!("another selector key of `{}` than in `{}`", object.name, first.name);
                let refused = rules::SELECTOR_KEY.refuse(table.span, message);
                found.push(refused.with_place(first.span, "the other table").into());
            }
        }
        let profile = first_object(object).filter(|inner| is_profile(program, *inner));
        let sharing = by_profile.entry(profile.unwrap_or(id)).or_default();
        sharing.iter().for_each(|first| check_pair(program, first, table, found));
        sharing.push(table);
    }
}

/// Two tables of a profile have the same actions, and no packet reads members for both.
fn check_pair(program: &Program, first: &Table, table: &Table, found: &mut Vec<Diagnostic>) {
    let order = Order::new(program, table.unit);
    let refused = if actions(first) != actions(table) {
        let message = format!("other actions than in `{}`, with the same profile", first.name);
        rules::PROFILE_ACTIONS.refuse(table.span, message)
    } else if reads_both(&order, program, first, table) || reads_both(&order, program, table, first)
    {
        let message = format!("a packet can meet `{}`, too, with the same profile", first.name);
        rules::PROFILE_ONCE.refuse(table.span, message)
    } else {
        return;
    };
    found.push(refused.with_place(first.span, "the other table").into());
}

/// Whether a path reads a member for `first` and then meets `second`.
fn reads_both(order: &Order, program: &Program, first: &Table, second: &Table) -> bool {
    let (first_id, second_id) = (id_of(program, first), id_of(program, second));
    order.meets_behind_hit(first_id, second_id)
        || order.meets_behind(first_id, second_id) && reads_on_a_miss(first)
}

/// Whether an action with data may be the default action, which bf-p4c calls not `hit_only`.
fn reads_on_a_miss(table: &Table) -> bool {
    let default = table.default_action.as_ref().map(|(at, _)| *at as usize);
    table.actions.iter().enumerate().any(|(at, action)| {
        let possible = match table.const_default_action {
            true => default == Some(at),
            false => !action.table_only,
        };
        possible && !action.data.is_empty()
    })
}

fn id_of(program: &Program, table: &Table) -> TableId {
    let place = program.tables.iter().position(|other| std::ptr::eq(other, table));
    TableId(place.expect("a table of the program") as u32)
}

fn implementation(table: &Table) -> Option<ObjectId> {
    table.properties.iter().find_map(|(name, value)| match value {
        ObjectArg::Object(id) if &**name == "implementation" => Some(*id),
        _ => None,
    })
}

fn is_selector(program: &Program, id: ObjectId) -> bool {
    &*program.objects[id.index()].of == "ActionSelector"
}

fn is_profile(program: &Program, id: ObjectId) -> bool {
    &*program.objects[id.index()].of == "ActionProfile"
}

/// A selector chooses by a hash of keys.
fn check_selector(selector: &Object, table: &Table, found: &mut Vec<Diagnostic>) {
    if selector_keys(table).is_empty() {
        let message = format!("`{}` gives `{}` no selector key", table.name, selector.name);
        let refused = rules::SELECTOR_KEY.refuse(table.span, message);
        found.push(refused.with_place(selector.span, "the selector").into());
    }
}

fn selector_keys(table: &Table) -> Vec<&str> {
    let keys = table.keys.iter().filter(|key| &*key.match_kind == "selector");
    keys.map(|key| &*key.name).collect()
}

fn actions(table: &Table) -> BTreeSet<&str> {
    table.actions.iter().map(|action| &*action.name).collect()
}
