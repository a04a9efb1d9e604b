//! Native queue disciplines, one file each, as references to hold P4 programs against.
//!
//! A [`Discipline`] owns the packets of one queue and decides about order and drops. It stands on
//! the packets' enqueue times only; it must not know ports, rates, shapers or cells. To add one,
//! write its file and add one line to [`REGISTERED`].

mod backlog;
pub mod codel;
pub mod fifo;

pub use crate::tm::queued::Queued;
pub use backlog::Backlog;
use sojourn_packet::{Bytes, Time};
use std::fmt;

/// Why a discipline gives a packet up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropKind {
    /// There is no room for it.
    Tail,
    /// To signal congestion.
    Aqm,
}

/// Where a discipline puts the packets that it drops, so that they are counted.
#[derive(Debug, Default)]
pub struct Drops {
    dropped: Vec<(Queued, DropKind)>,
}

impl Drops {
    /// Drops a packet.
    pub fn push(&mut self, packet: Queued, kind: DropKind) {
        self.dropped.push((packet, kind));
    }

    /// Takes out what was dropped, in order.
    pub fn drain(&mut self) -> impl Iterator<Item = (Queued, DropKind)> + '_ {
        self.dropped.drain(..)
    }

    /// True if nothing was dropped.
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty()
    }
}

/// A queue with its management.
pub trait Discipline: Send + fmt::Debug {
    /// Takes a packet in; it, or others, may be dropped instead.
    fn enqueue(&mut self, now: Time, packet: Queued, drops: &mut Drops);

    /// The packet to be sent now; on the way to it, others may be dropped.
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued>;

    /// Packets held.
    fn packets(&self) -> usize;

    /// Bytes held.
    fn bytes(&self) -> Bytes;

    /// Its own counters, by name.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// Why a discipline could not be made.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum DisciplineError {
    /// No discipline of that name.
    #[error("no native discipline is named `{0}`")]
    Unknown(String),
    /// The discipline has no such parameter.
    #[error("{discipline} has no parameter `{parameter}`")]
    UnknownParameter {
        /// The discipline.
        discipline: &'static str,
        /// The parameter.
        parameter: String,
    },
    /// A parameter's value is not allowed.
    #[error("{discipline}: `{parameter}` is {value}, allowed is {allowed}")]
    Value {
        /// The discipline.
        discipline: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: u64,
        /// What it may be.
        allowed: &'static str,
    },
}

/// A parameter of a discipline, as shown to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name, as in the discipline's RFC.
    pub name: &'static str,
    /// Unit: `ns`, `bytes`, `packets`.
    pub unit: &'static str,
    /// Default; absent if the parameter is off by default.
    pub default: Option<u64>,
    /// One line.
    pub summary: &'static str,
}

/// A discipline that can be chosen by name.
#[derive(Clone, Copy)]
pub struct Registered {
    /// Name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes one from the parameters that differ from the defaults; the names have been checked.
    pub build: fn(&Settings) -> Result<Box<dyn Discipline>, DisciplineError>,
}

/// All native disciplines. Adding one is a file and a line here.
pub const REGISTERED: &[Registered] = &[fifo::REGISTRATION, codel::REGISTRATION];

/// Parameters given for a discipline, defaults filled in.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    given: &'a [(&'a str, u64)],
    parameters: &'static [Parameter],
}

impl Settings<'_> {
    /// The value of a parameter: as given, else its default.
    pub fn get(&self, name: &str) -> Option<u64> {
        let given = self.given.iter().rev().find(|(n, _)| *n == name).map(|&(_, value)| value);
        given.or_else(|| self.parameters.iter().find(|p| p.name == name)?.default)
    }
}

/// Makes the discipline `name` with those parameters that differ from the defaults.
///
/// # Errors
/// If there is no such discipline or parameter, or a value is not allowed.
pub fn build(
    name: &str,
    parameters: &[(&str, u64)],
) -> Result<Box<dyn Discipline>, DisciplineError> {
    let found = REGISTERED.iter().find(|d| d.name == name);
    let found = found.ok_or_else(|| DisciplineError::Unknown(name.to_owned()))?;
    for (parameter, _) in parameters {
        if !found.parameters.iter().any(|p| p.name == *parameter) {
            let parameter = (*parameter).to_owned();
            return Err(DisciplineError::UnknownParameter { discipline: found.name, parameter });
        }
    }
    (found.build)(&Settings { given: parameters, parameters: found.parameters })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registered_discipline_can_be_made_with_its_defaults() {
        for registered in REGISTERED {
            assert!(build(registered.name, &[]).is_ok(), "{}", registered.name);
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        assert_eq!(build("coddle", &[]).unwrap_err(), DisciplineError::Unknown("coddle".into()));
        let error = build("codel", &[("traget", 1)]).unwrap_err();
        assert_eq!(error.to_string(), "codel has no parameter `traget`");
    }
}
