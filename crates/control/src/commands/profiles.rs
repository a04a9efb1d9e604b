//! Commands about action profiles: members and groups, with handles from 0 in order.

use super::super::value_parser::handle;
use super::super::{
    ActionCall, ControlError, DefaultEntry, Operation, ProfileEntries, ProfileMember,
};
use super::session::{Outcome, Profile, Request, Session, first, misfit, one, these};
use super::tables::call;
use std::collections::BTreeMap;

/// `act_prof_create_member PROFILE ACTION ARGUMENT...`
pub(super) fn create_member(words: &[&str], session: &mut Session) -> Outcome {
    let ([name, action], arguments) = first(words)?;
    let full = full_name(session, name)?;
    let call = member_call(session, &full, action, arguments)?;
    let profile = session.profiles.entry(full.clone()).or_default();
    let member = profile.next_member;
    profile.next_member += 1;
    profile.members.insert(member, call.clone());
    one(set_member(full, member, call))
}

/// `act_prof_modify_member PROFILE ACTION MEMBER ARGUMENT...`
pub(super) fn modify_member(words: &[&str], session: &mut Session) -> Outcome {
    let ([name, action, member], arguments) = first(words)?;
    let full = full_name(session, name)?;
    let call = member_call(session, &full, action, arguments)?;
    let profile = session.profiles.entry(full.clone()).or_default();
    let member = known(&profile.members, member, "member", &full)?;
    profile.members.insert(member, call.clone());
    one(set_member(full, member, call))
}

/// `act_prof_delete_member PROFILE MEMBER`
pub(super) fn delete_member(words: &[&str], session: &mut Session) -> Outcome {
    let [name, member] = these(words)?;
    let (full, profile) = profile(session, name)?;
    let member = known(&profile.members, member, "member", &full)?;
    let user = profile.groups.iter().find(|(_, members)| members.contains(&member));
    if let Some((group, _)) = user {
        return misfit(format!("member {member} is still in group {group}"));
    }
    profile.members.remove(&member);
    one(Operation::DeleteMember { profile: full, member })
}

/// `act_prof_create_group PROFILE`
pub(super) fn create_group(words: &[&str], session: &mut Session) -> Outcome {
    let [name] = these(words)?;
    let (full, profile) = profile(session, name)?;
    let group = profile.next_group;
    profile.next_group += 1;
    profile.groups.insert(group, Vec::new());
    Ok(vec![set_group(full, group, profile)])
}

/// `act_prof_delete_group PROFILE GROUP`
pub(super) fn delete_group(words: &[&str], session: &mut Session) -> Outcome {
    let [name, group] = these(words)?;
    let (full, profile) = profile(session, name)?;
    let group = known(&profile.groups, group, "group", &full)?;
    profile.groups.remove(&group);
    one(Operation::DeleteGroup { profile: full, group })
}

/// `act_prof_add_member_to_group PROFILE MEMBER GROUP`
pub(super) fn add_to_group(words: &[&str], session: &mut Session) -> Outcome {
    let (full, profile, member, group) = membership(words, session)?;
    let members = profile.groups.entry(group).or_default();
    if members.contains(&member) {
        return misfit(format!("member {member} is already in group {group}"));
    }
    members.push(member);
    Ok(vec![set_group(full, group, profile)])
}

/// `act_prof_remove_member_from_group PROFILE MEMBER GROUP`
pub(super) fn remove_from_group(words: &[&str], session: &mut Session) -> Outcome {
    let (full, profile, member, group) = membership(words, session)?;
    let members = profile.groups.entry(group).or_default();
    let Some(at) = members.iter().position(|known| *known == member) else {
        return misfit(format!("member {member} is not in group {group}"));
    };
    members.remove(at);
    Ok(vec![set_group(full, group, profile)])
}

/// `table_indirect_set_default TABLE MEMBER`
pub(super) fn set_default(words: &[&str], session: &mut Session) -> Outcome {
    let [name, member] = these(words)?;
    let (table, full, profile) = profile_of(session, name)?;
    let member = Some(known(&profile.members, member, "member", &full)?);
    one(Operation::SetDefault { table, call: DefaultEntry { member, ..Default::default() } })
}

/// `table_indirect_set_default_with_group TABLE GROUP`
pub(super) fn set_default_with_group(words: &[&str], session: &mut Session) -> Outcome {
    let [name, group] = these(words)?;
    let (table, full, profile) = profile_of(session, name)?;
    let group = Some(known(&profile.groups, group, "group", &full)?);
    one(Operation::SetDefault { table, call: DefaultEntry { group, ..Default::default() } })
}

/// A table's full name and its action profile.
fn profile_of<'s>(
    session: &'s mut Session,
    name: &str,
) -> Result<(String, String, &'s mut Profile), super::session::CommandError> {
    let table = session.program.table(name)?;
    let (table, implementation) = (table.name.clone(), table.implementation.clone());
    let Some(full) = implementation else {
        return misfit(format!("table {table} has no action profile; use table_set_default"));
    };
    Ok((table, full.clone(), session.profiles.entry(full).or_default()))
}

fn full_name(session: &Session, name: &str) -> Result<String, ControlError> {
    Ok(session.program.profile(name)?.name.clone())
}

fn profile<'s>(
    session: &'s mut Session,
    name: &str,
) -> Result<(String, &'s mut Profile), ControlError> {
    let full = full_name(session, name)?;
    Ok((full.clone(), session.profiles.entry(full).or_default()))
}

fn membership<'s>(
    words: &[&str],
    session: &'s mut Session,
) -> Result<(String, &'s mut Profile, u32, u32), super::session::CommandError> {
    let [name, member, group] = these(words)?;
    let (full, profile) = profile(session, name)?;
    let member = known(&profile.members, member, "member", &full)?;
    let group = known(&profile.groups, group, "group", &full)?;
    Ok((full, profile, member, group))
}

fn member_call(
    session: &Session,
    profile: &str,
    action: &str,
    arguments: &[&str],
) -> Result<ActionCall, ControlError> {
    let mut tables = session.program.tables.iter();
    let user = tables.find(|table| table.implementation.as_deref() == Some(profile));
    let Some(table) = user else {
        return Err(ControlError::Message(format!("no table uses action profile {profile}")));
    };
    call(table.action(action)?, arguments)
}

fn known<T>(
    handles: &BTreeMap<u32, T>,
    text: &str,
    what: &str,
    profile: &str,
) -> Result<u32, ControlError> {
    let handle = handle(text, what)?;
    if handles.contains_key(&handle) {
        return Ok(handle);
    }
    let known = handles.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { "none" } else { &known };
    Err(ControlError::Message(format!("{profile} has no {what} {handle} (so far: {known})")))
}

fn set_member(profile: String, id: u32, call: ActionCall) -> Operation {
    let member = ProfileMember { id, action: call.action, args: call.args };
    Operation::SetProfile(ProfileEntries { name: profile, members: vec![member], groups: vec![] })
}

fn set_group(name: String, group: u32, profile: &Profile) -> Request {
    let members = profile.groups[&group].iter().map(|member| (*member, true)).collect();
    let groups = vec![(group, members)];
    Request::Operation(Operation::SetProfile(ProfileEntries { name, members: vec![], groups }))
}
