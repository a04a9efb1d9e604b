//! Shared state of the commands: the program, and the nodes, members and sessions that earlier
//! lines created.

use super::super::{ActionCall, ControlError, MulticastGroup, MulticastNode, Operation, Query};
use crate::describe::ProgramDescription;
use std::collections::BTreeMap;

/// Request of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A change.
    Operation(Operation),
    /// An answer.
    Question(Question),
}

/// A command that only reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// One cell of a register, or all of its cells, whose number is given.
    Register(String, Result<usize, usize>),
    /// One cell of a counter.
    Counter(String, usize),
    /// One cell of a meter.
    Meter(String, usize),
    /// Destination of a mirror session, which the session itself knows.
    Session(u16, String),
}

impl Question {
    /// Queries to the program, each with the name of its object; empty if the session alone can
    /// answer.
    pub fn queries(&self) -> Vec<(String, Query)> {
        match self {
            Question::Register(name, cells) => {
                let cells = match *cells {
                    Ok(cell) => cell..cell + 1,
                    Err(size) => 0..size,
                };
                let query = |index| Query::Register { name: name.clone(), index };
                cells.map(|cell| (format!("{name}[{cell}]"), query(cell))).collect()
            }
            Question::Counter(name, index) => {
                let query = Query::Counter { name: name.clone(), index: *index };
                vec![(format!("{name}[{index}]"), query)]
            }
            Question::Meter(name, index) => {
                let query = Query::Meter { name: name.clone(), index: *index };
                vec![(format!("{name}[{index}]"), query)]
            }
            Question::Session(..) => Vec::new(),
        }
    }
}

/// Error in a command line.
#[derive(Debug)]
pub(super) enum CommandError {
    /// Its words do not have the command's syntax; the usage is appended.
    Form(String),
    /// Its words do not fit the program.
    Fit(ControlError),
}

impl CommandError {
    pub fn into_control_error(self, command: &str, usage: &str) -> ControlError {
        match self {
            CommandError::Form(why) => {
                let written = format!("{command} {usage}");
                let written = written.trim_end();
                ControlError::Message(format!("{command}: {why}; write {written}"))
            }
            CommandError::Fit(why) => why,
        }
    }
}

impl From<ControlError> for CommandError {
    fn from(error: ControlError) -> CommandError {
        CommandError::Fit(error)
    }
}

/// Error for a line that does not fit the program.
pub(super) fn misfit<T>(why: String) -> Result<T, CommandError> {
    Err(CommandError::Fit(ControlError::Message(why)))
}

/// Result of a command.
pub(super) type Outcome = Result<Vec<Request>, CommandError>;

/// Result of a command with a single operation.
pub(super) fn one(operation: Operation) -> Outcome {
    Ok(vec![Request::Operation(operation)])
}

/// Members and groups of one action profile, by handles counted from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    pub members: BTreeMap<u32, ActionCall>,
    pub groups: BTreeMap<u32, Vec<u32>>,
    pub next_member: u32,
    pub next_group: u32,
}

/// Multicast groups and nodes so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Multicast {
    /// Handles of the nodes of each group, in the order of association.
    pub groups: BTreeMap<u16, Vec<u16>>,
    pub nodes: BTreeMap<u16, MulticastNode>,
    pub next_handle: u16,
}

impl Multicast {
    /// Operation that sets a group to its current nodes.
    pub fn group(&self, group: u16) -> Request {
        let nodes = self.groups[&group].iter().map(|handle| self.nodes[handle].clone()).collect();
        Request::Operation(Operation::SetMulticastGroup(MulticastGroup { id: group, nodes }))
    }

    pub fn members(&mut self, group: u16) -> Result<&mut Vec<u16>, ControlError> {
        self.groups.get_mut(&group).ok_or_else(|| {
            ControlError::Message(format!(
                "there is no multicast group {group}; mc_mgrp_create {group} makes one"
            ))
        })
    }

    pub fn node(&mut self, handle: u16) -> Result<&mut MulticastNode, ControlError> {
        let known = match self.next_handle {
            0 => "none".to_owned(),
            next => format!("0 to {}", next - 1),
        };
        self.nodes.get_mut(&handle).ok_or_else(|| {
            ControlError::Message(format!(
                "there is no multicast node {handle} (handles are given by mc_node_create in its \
                 order from 0; so far: {known})"
            ))
        })
    }

    /// The groups that contain a node.
    pub fn users(&self, handle: u16) -> Vec<u16> {
        let uses = |(_, nodes): &(&u16, &Vec<u16>)| nodes.contains(&handle);
        self.groups.iter().filter(uses).map(|(group, _)| *group).collect()
    }
}

/// One run of commands against one program.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) program: ProgramDescription,
    pub(super) multicast: Multicast,
    pub(super) profiles: BTreeMap<String, Profile>,
    /// Destinations of the mirror sessions so far, in words.
    pub(super) mirrors: BTreeMap<u16, String>,
}

impl Session {
    /// Creates a session, before the first line.
    pub fn new(program: ProgramDescription) -> Session {
        Session {
            program,
            multicast: Multicast::default(),
            profiles: BTreeMap::new(),
            mirrors: BTreeMap::new(),
        }
    }

    /// Description of the program's objects.
    pub fn program(&self) -> &ProgramDescription {
        &self.program
    }
}

/// `words`, if their number is within the limits.
pub(super) fn take<'w, 't>(
    words: &'w [&'t str],
    least: usize,
    most: usize,
) -> Result<&'w [&'t str], CommandError> {
    if words.len() < least {
        return Err(CommandError::Form(format!("{} more expected", least - words.len())));
    }
    if words.len() > most {
        return Err(CommandError::Form(format!("{} is left over", words[most..].join(" "))));
    }
    Ok(words)
}

/// Exactly `N` words.
pub(super) fn these<'t, const N: usize>(words: &[&'t str]) -> Result<[&'t str; N], CommandError> {
    let taken = take(words, N, N)?;
    let mut all = [""; N];
    all.copy_from_slice(taken);
    Ok(all)
}

/// The first `N` words, and the rest.
pub(super) fn first<'w, 't, const N: usize>(
    words: &'w [&'t str],
) -> Result<([&'t str; N], &'w [&'t str]), CommandError> {
    take(words, N, usize::MAX)?;
    let (taken, rest) = words.split_at(N);
    let mut all = [""; N];
    all.copy_from_slice(taken);
    Ok((all, rest))
}
