//! Scope of an entry: the pipes that hold it, from a client's table settings and from a request.
//!
//! A table is the same in all pipes until a client sets otherwise. It then has entries in single
//! pipes or in groups of them. The first pipe of a group names it.

use super::write::ALL_PIPES;
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::mode::{PredefinedMode, Scope as Set};
use sojourn_engine::control::Pipes;
use tonic::Code;

/// Both directions, or all parsers of a pipe, in a target.
const ALL_OF_A_PIPE: u32 = 0xff;

/// Set of pipes that share an entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All pipes share their entries.
    All,
    /// Groups of pipes that share their entries, as a bit for each pipe.
    Groups(Vec<u32>),
}

impl Scope {
    /// Scope set by clients.
    ///
    /// # Errors
    /// A pipe is in two groups.
    pub fn new(set: Option<&bfrt::EntryScope>) -> Result<Scope, Failure> {
        let mode = set.and_then(|set| set.pipe_scope).and_then(|mode| mode.scope);
        Ok(match mode {
            None => Scope::All,
            Some(Set::Predef(mode)) if mode == PredefinedMode::All as i32 => Scope::All,
            Some(Set::Predef(_)) => Scope::Groups((0..8).map(|pipe| 1 << pipe).collect()),
            // A byte for each group.
            Some(Set::UserDefined(groups)) => {
                let groups = groups.to_le_bytes().map(u32::from);
                let groups: Vec<u32> = groups.into_iter().filter(|group| *group > 0).collect();
                let mut seen = 0;
                for group in &groups {
                    if seen & group != 0 {
                        return Err(Failure::invalid("a pipe is in two groups of an entry scope"));
                    }
                    seen |= group;
                }
                Scope::Groups(groups)
            }
        })
    }

    /// Pipes that an update of an entry addresses.
    ///
    /// # Errors
    /// It addresses pipes together that do not share an entry.
    pub fn written(&self, target: &bfrt::TargetDevice, count: usize) -> Result<Pipes, Failure> {
        let pipe = pipe_of(target, count)?;
        match (self, pipe) {
            (Scope::All, None) => Ok(Pipes::ALL),
            (Scope::All, Some(pipe)) => {
                Err(Failure::invalid(format!("pipe {pipe}: the table is the same in all pipes")))
            }
            (Scope::Groups(groups), Some(pipe)) => {
                let first = |group: &&u32| group.trailing_zeros() == pipe;
                let group = groups.iter().find(first);
                let no = || Failure::invalid(format!("no group of pipes begins with pipe {pipe}"));
                group.map(|group| Pipes(*group)).ok_or_else(no)
            }
            (Scope::Groups(_), None) => {
                Err(Failure::invalid("the table is not the same in all pipes: name one of them"))
            }
        }
    }

    /// Pipes to read.
    ///
    /// # Errors
    /// It addresses all pipes, and they differ; `code` is the error's code.
    pub fn read(
        &self,
        target: &bfrt::TargetDevice,
        count: usize,
        code: Code,
    ) -> Result<Pipes, Failure> {
        match (self, pipe_of(target, count)?) {
            (_, Some(pipe)) => Ok(Pipes(1 << pipe)),
            (Scope::All, None) => Ok(Pipes::ALL),
            (Scope::Groups(_), None) => {
                Err(Failure::new(code, "the table is not the same in all pipes: name one of them"))
            }
        }
    }

    /// The first pipe of each group.
    pub fn firsts(&self, count: usize) -> Vec<u32> {
        (0..count as u32).filter(|pipe| self.first(*pipe) == *pipe).collect()
    }

    /// The first pipe of a pipe's group.
    pub fn first(&self, pipe: u32) -> u32 {
        match self {
            Scope::All => 0,
            Scope::Groups(groups) => {
                let group = groups.iter().find(|group| *group >> pipe & 1 == 1);
                group.map_or(pipe, |group| group.trailing_zeros())
            }
        }
    }
}

/// The pipe of a target; `None` for all.
///
/// # Errors
/// There is no such pipe.
pub fn pipe_of(target: &bfrt::TargetDevice, count: usize) -> Result<Option<u32>, Failure> {
    match target.pipe_id {
        ALL_PIPES => Ok(None),
        pipe if (pipe as usize) < count.max(1) => Ok(Some(pipe)),
        pipe => {
            let last = count.max(1) - 1;
            let why = format!("there is no pipe {pipe}: the last one of this switch is {last}");
            Err(Failure::new(Code::NotFound, why))
        }
    }
}

/// Checks that a value set member names a direction and a parser where its table's scope is a
/// single one.
///
/// # Errors
/// The scope is a single direction or parser, and the target names none.
pub fn check_parser(
    set: Option<&bfrt::EntryScope>,
    target: &bfrt::TargetDevice,
) -> Result<(), Failure> {
    let is_single = |mode: Option<bfrt::Mode>| {
        mode.is_some_and(|m| m.scope == Some(Set::Predef(PredefinedMode::Single as i32)))
    };
    let parts = [
        (set.and_then(|set| set.gress_scope), target.direction, "direction"),
        (set.and_then(|set| set.prsr_scope), target.prsr_id, "parser"),
    ];
    for (mode, named, what) in parts {
        if is_single(mode) && named == ALL_OF_A_PIPE {
            return Err(Failure::invalid(format!("a member is of a single {what}: name it")));
        }
    }
    Ok(())
}
