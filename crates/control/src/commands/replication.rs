//! Commands about copies: mirror sessions, multicast groups and nodes.

use super::super::value_parser::small;
use super::super::{MirrorSession, MulticastNode, Operation, SessionDirection};
use super::session::{
    CommandError, Outcome, Question, Request, Session, first, misfit, one, these,
};

fn session_to(number: u16, port: Option<u16>, group: Option<u16>) -> Operation {
    Operation::SetMirrorSession(MirrorSession {
        session: number,
        direction: SessionDirection::Both,
        port,
        group,
        queue: 0,
        max_length: None,
    })
}

/// `mirroring_add SESSION PORT`
pub(super) fn mirroring_add(words: &[&str], session: &mut Session) -> Outcome {
    let [number, port] = these(words)?;
    let (number, port) = (small(number, "session")?, small(port, "port")?);
    session.mirrors.insert(number, format!("port {port}"));
    one(session_to(number, Some(port), None))
}

/// `mirroring_add_mc SESSION GROUP`
pub(super) fn mirroring_add_mc(words: &[&str], session: &mut Session) -> Outcome {
    let [number, group] = these(words)?;
    let (number, group) = (small(number, "session")?, small(group, "group")?);
    session.mirrors.insert(number, format!("multicast group {group}"));
    one(session_to(number, None, Some(group)))
}

/// `mirroring_delete SESSION`
pub(super) fn mirroring_delete(words: &[&str], session: &mut Session) -> Outcome {
    let [number] = these(words)?;
    let number = small(number, "session")?;
    session.mirrors.remove(&number);
    one(Operation::RemoveMirrorSession { session: number })
}

/// `mirroring_get SESSION`
pub(super) fn mirroring_get(words: &[&str], session: &mut Session) -> Outcome {
    let [number] = these(words)?;
    let number = small(number, "session")?;
    let leads = session.mirrors.get(&number).cloned().unwrap_or_else(|| "not set".into());
    Ok(vec![Request::Question(Question::Session(number, leads))])
}

/// `mc_mgrp_create GROUP`
pub(super) fn group_create(words: &[&str], session: &mut Session) -> Outcome {
    let [group] = these(words)?;
    let group = small(group, "group")?;
    if session.multicast.groups.contains_key(&group) {
        return misfit(format!("there is already a multicast group {group}"));
    }
    session.multicast.groups.insert(group, Vec::new());
    Ok(vec![session.multicast.group(group)])
}

/// `mc_mgrp_destroy GROUP`
pub(super) fn group_destroy(words: &[&str], session: &mut Session) -> Outcome {
    let [group] = these(words)?;
    let group = small(group, "group")?;
    session.multicast.members(group)?;
    session.multicast.groups.remove(&group);
    one(Operation::RemoveMulticastGroup { group })
}

/// `mc_node_create RID PORT...`; nodes get handles from 0 in order.
pub(super) fn node_create(words: &[&str], session: &mut Session) -> Outcome {
    let ([rid], given) = first(words)?;
    let node = MulticastNode { rid: small(rid, "replication id")?, ports: ports(given)? };
    let multicast = &mut session.multicast;
    let Some(next) = multicast.next_handle.checked_add(1) else {
        return misfit("there are 65535 multicast nodes already".into());
    };
    multicast.nodes.insert(multicast.next_handle, node);
    multicast.next_handle = next;
    Ok(Vec::new())
}

/// `mc_node_update NODE PORT...`
pub(super) fn node_update(words: &[&str], session: &mut Session) -> Outcome {
    let ([node], given) = first(words)?;
    let (node, multicast) = (small(node, "node")?, &mut session.multicast);
    multicast.node(node)?.ports = ports(given)?;
    Ok(multicast.users(node).into_iter().map(|group| multicast.group(group)).collect())
}

/// `mc_node_destroy NODE`
pub(super) fn node_destroy(words: &[&str], session: &mut Session) -> Outcome {
    let [node] = these(words)?;
    let (node, multicast) = (small(node, "node")?, &mut session.multicast);
    multicast.node(node)?;
    let users = multicast.users(node);
    for group in &users {
        multicast.members(*group)?.retain(|known| *known != node);
    }
    multicast.nodes.remove(&node);
    Ok(users.into_iter().map(|group| multicast.group(group)).collect())
}

/// `mc_node_associate GROUP NODE`
pub(super) fn node_associate(words: &[&str], session: &mut Session) -> Outcome {
    let (group, node) = group_and_node(words, session)?;
    let members = session.multicast.members(group)?;
    if members.contains(&node) {
        return misfit(format!("node {node} is already in multicast group {group}"));
    }
    members.push(node);
    Ok(vec![session.multicast.group(group)])
}

/// `mc_node_dissociate GROUP NODE`
pub(super) fn node_dissociate(words: &[&str], session: &mut Session) -> Outcome {
    let (group, node) = group_and_node(words, session)?;
    let members = session.multicast.members(group)?;
    if !members.contains(&node) {
        return misfit(format!("node {node} is not in multicast group {group}"));
    }
    members.retain(|known| *known != node);
    Ok(vec![session.multicast.group(group)])
}

fn group_and_node(words: &[&str], session: &mut Session) -> Result<(u16, u16), CommandError> {
    let [group, node] = these(words)?;
    let (group, node) = (small(group, "group")?, small(node, "node")?);
    session.multicast.members(group)?;
    session.multicast.node(node)?;
    Ok((group, node))
}

fn ports(words: &[&str]) -> Result<Vec<u16>, CommandError> {
    let mut halves = words.split(|word| *word == "|");
    let ports = halves.next().unwrap_or_default();
    if halves.any(|behind| !behind.is_empty()) {
        let why = "link aggregation groups (behind |) do not exist here";
        return Err(CommandError::Form(why.into()));
    }
    Ok(ports.iter().map(|port| small(port, "port")).collect::<Result<_, _>>()?)
}
