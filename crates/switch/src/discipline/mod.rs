//! Native queue disciplines, one file each, as references to hold P4 programs against.
//!
//! A [`Discipline`] owns the packets of one queue and decides about order, drops and marks. It
//! stands on the packets' enqueue times and headers; it must not know ports, rates, shapers or
//! cells. To add one, write its file and add one line to [`REGISTERED`].
//!
//! There is no timer for disciplines: one that works periodically (PIE, PI2) does what has become
//! due before each enqueue and dequeue, which comes to the same, because between those two nothing
//! that it reads changes except time.

mod backlog;
pub mod codel;
pub mod codel_linux;
pub mod dualpi2;
pub mod fifo;
mod flow_hash;
pub mod fq_codel;
pub mod pi2;
pub mod pie;
pub mod pie_linux;
mod probability;
pub mod red;
#[cfg(test)]
mod testing;

pub use crate::tm::queued::Queued;
pub use backlog::{Backlog, Held};
use sojourn_packet::{Bytes, Time};
use std::fmt;
use std::ops::RangeInclusive;

/// Largest time that a parameter may be: an hour, so that no sum of times overflows.
pub const LONGEST: Time = Time::from_secs(3_600);
/// Size of a full Ethernet frame without FCS, which is how sizes are counted here.
pub const FULL_FRAME: Bytes = Bytes(1514);

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

    /// What it holds.
    fn held(&self) -> Held;

    /// Packets held.
    fn packets(&self) -> usize {
        self.held().packets
    }

    /// Bytes held.
    fn bytes(&self) -> Bytes {
        self.held().bytes
    }

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
        allowed: Allowed,
    },
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The smallest value.
    pub least: u64,
    /// The largest; [`u64::MAX`] if there is none.
    pub most: u64,
    /// What the values are counted in, as in [`Parameter::unit`].
    pub unit: &'static str,
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Allowed { least, most, unit } = self;
        match (*most, *unit) {
            (_, "0/1") => write!(f, "0 or 1"),
            (u64::MAX, "") => write!(f, "{least} or more"),
            (u64::MAX, _) => write!(f, "{least} {unit} or more"),
            (_, "") => write!(f, "{least} to {most}"),
            _ => write!(f, "{least} to {most} {unit}"),
        }
    }
}

/// A parameter of a discipline, as shown to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name, as in the discipline's RFC.
    pub name: &'static str,
    /// Unit: `ns`, `bytes`, `packets`, `ppm` (millionths), `mHz` (thousandths per second), `0/1`
    /// for a switch, empty for a plain number.
    pub unit: &'static str,
    /// Default; absent if the parameter is off by default.
    pub default: Option<u64>,
    /// One line.
    pub summary: &'static str,
}

impl Parameter {
    /// A parameter with a default.
    pub const fn new(
        name: &'static str,
        unit: &'static str,
        default: u64,
        summary: &'static str,
    ) -> Parameter {
        Parameter { name, unit, default: Some(default), summary }
    }

    /// A parameter that is off unless it is given.
    pub const fn off(name: &'static str, unit: &'static str, summary: &'static str) -> Parameter {
        Parameter { name, unit, default: None, summary }
    }
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
pub const REGISTERED: &[Registered] = &[
    fifo::REGISTRATION,
    red::REGISTRATION,
    codel::REGISTRATION,
    codel_linux::REGISTRATION,
    fq_codel::REGISTRATION,
    pie::REGISTRATION,
    pie_linux::REGISTRATION,
    pi2::REGISTRATION,
    dualpi2::REGISTRATION,
];

/// How much a queue may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes held. Default: no limit but the queue's share of the packet buffer.
    pub bytes: Option<Bytes>,
    /// Most packets held. Default: no limit.
    pub packets: Option<u64>,
}

impl Limits {
    /// True if a packet of `size` fits behind those that are held.
    pub fn have_room(&self, held: Held, size: Bytes) -> bool {
        self.bytes.is_none_or(|limit| held.bytes + size <= limit)
            && self.packets.is_none_or(|limit| (held.packets as u64) < limit)
    }
}

const LIMIT_BYTES: Parameter = Parameter::off(
    "limit_bytes",
    "bytes",
    "most bytes held; without it, the queue's share of the buffer",
);
const LIMIT_PACKETS: Parameter =
    Parameter::off("limit_packets", "packets", "most packets held; without it, no limit");
const ECN: Parameter =
    Parameter::new("ecn", "0/1", 0, "mark packets of ECN-capable transports instead of dropping");
const SEED: Parameter = Parameter::new(
    "seed",
    "",
    1,
    "seed of the random numbers; a run gives its own seed if this is not set",
);

/// Parameters given for a discipline, defaults filled in.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    discipline: &'static str,
    given: &'a [(&'a str, u64)],
    parameters: &'static [Parameter],
}

impl Settings<'_> {
    /// The value of a parameter: as given, else its default.
    pub fn get(&self, name: &str) -> Option<u64> {
        let given = self.given.iter().rev().find(|(n, _)| *n == name).map(|&(_, value)| value);
        given.or_else(|| self.parameters.iter().find(|p| p.name == name)?.default)
    }

    /// The value of a parameter that has a default, checked.
    ///
    /// # Errors
    /// If the value is outside.
    pub fn within(
        &self,
        parameter: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, DisciplineError> {
        let value = self.get(parameter).unwrap_or(*range.start());
        if range.contains(&value) {
            return Ok(value);
        }
        let unit = self.parameters.iter().find(|p| p.name == parameter).map_or("", |p| p.unit);
        let allowed = Allowed { least: *range.start(), most: *range.end(), unit };
        Err(DisciplineError::Value { discipline: self.discipline, parameter, value, allowed })
    }

    /// A span of time, which must not be zero.
    ///
    /// # Errors
    /// If it is zero or above an hour.
    pub fn time(&self, parameter: &'static str) -> Result<Time, DisciplineError> {
        self.within(parameter, 1..=LONGEST.0).map(Time)
    }

    /// A switch.
    ///
    /// # Errors
    /// If it is neither 0 nor 1.
    pub fn switch(&self, parameter: &'static str) -> Result<bool, DisciplineError> {
        Ok(self.within(parameter, 0..=1)? == 1)
    }

    /// A probability or share.
    ///
    /// # Errors
    /// If it is above one.
    pub fn ppm(&self, parameter: &'static str) -> Result<u64, DisciplineError> {
        self.within(parameter, 0..=1_000_000)
    }

    /// The value of a parameter that is off unless it is given, checked as by [`Settings::within`].
    ///
    /// # Errors
    /// If it is given and outside.
    pub fn optional(
        &self,
        parameter: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, DisciplineError> {
        self.get(parameter).map(|_| self.within(parameter, range)).transpose()
    }

    /// The optional limit `limit_bytes`.
    ///
    /// # Errors
    /// If nothing would fit.
    pub fn limit_bytes(&self) -> Result<Option<Bytes>, DisciplineError> {
        Ok(self.optional("limit_bytes", 1..=u64::MAX)?.map(Bytes))
    }

    /// The optional limits that several disciplines have, `limit_bytes` and `limit_packets`.
    ///
    /// # Errors
    /// If nothing would fit.
    pub fn limits(&self) -> Result<Limits, DisciplineError> {
        let packets = self.optional("limit_packets", 1..=u64::MAX)?;
        Ok(Limits { bytes: self.limit_bytes()?, packets })
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
    (found.build)(&Settings {
        discipline: found.name,
        given: parameters,
        parameters: found.parameters,
    })
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
    fn what_is_outside_is_refused_by_name_with_what_is_allowed() {
        for (discipline, given, message) in [
            ("fifo", ("limit_packets", 0), "`limit_packets` is 0, allowed is 1 packets or more"),
            ("red", ("limit_bytes", 0), "`limit_bytes` is 0, allowed is 1 bytes or more"),
            ("red", ("max_th", 5), "`max_th` is 5, allowed is 6 to 1000000 packets"),
            ("codel", ("target", 0), "`target` is 0, allowed is 1 to 3600000000000 ns"),
            ("codel_linux", ("ce_threshold", 7), "is 7, allowed is 1024 to 100000000000 ns"),
            ("fq_codel", ("ce_threshold", 0), "is 0, allowed is 1 to 3600000000000 ns"),
            ("pie", ("mark_ecnth", 1_000_001), "allowed is 0 to 1000000 ppm"),
            ("dualpi2", ("k", 0), "`k` is 0, allowed is 1 to 100"),
            ("pie", ("ecn", 2), "`ecn` is 2, allowed is 0 or 1"),
        ] {
            let error = build(discipline, &[given]).unwrap_err().to_string();
            assert!(error.starts_with(discipline) && error.ends_with(message), "{error}");
        }
    }

    #[test]
    fn times_that_linuxs_clock_for_codel_cannot_tell_are_refused_where_it_is_used() {
        let hour = LONGEST.0;
        assert!(build("fq_codel", &[("interval", hour)]).is_ok());
        let error = build("fq_codel", &[("linux", 1), ("interval", hour)]).unwrap_err();
        assert!(error.to_string().ends_with("allowed is 1024 to 100000000000 ns"), "{error}");
    }

    #[test]
    fn unknown_names_are_refused() {
        assert_eq!(build("coddle", &[]).unwrap_err(), DisciplineError::Unknown("coddle".into()));
        let error = build("codel", &[("traget", 1)]).unwrap_err();
        assert_eq!(error.to_string(), "codel has no parameter `traget`");
    }
}
