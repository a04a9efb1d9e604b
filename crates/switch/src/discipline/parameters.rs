//! Parameters of disciplines: their kinds, defaults and allowed values.
//!
//! Every value is an integer in the unit of its [`Kind`]. The module must not depend on how
//! configurations write a value.

use super::{DisciplineError, LONGEST, Limits};
use sojourn_packet::{Bytes, Time};
use std::fmt;
use std::ops::RangeInclusive;

/// Kind of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
    /// Packets.
    Packets,
    /// Bit/s.
    Rate,
    /// A share or probability in millionths.
    Share,
    /// Thousandths per second.
    Frequency,
    /// 0 or 1.
    Flag,
    /// A plain number.
    Number,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 8] = [
        Kind::Time,
        Kind::Size,
        Kind::Packets,
        Kind::Rate,
        Kind::Share,
        Kind::Frequency,
        Kind::Flag,
        Kind::Number,
    ];

    /// The unit of the number, as messages have it; empty for a plain number.
    pub const fn unit(self) -> &'static str {
        match self {
            Kind::Time => "ns",
            Kind::Size => "bytes",
            Kind::Packets => "packets",
            Kind::Rate => "bit/s",
            Kind::Share => "ppm",
            Kind::Frequency => "mHz",
            Kind::Flag => "0/1",
            Kind::Number => "",
        }
    }

    /// The name of the kind, as a scenario's documentation has it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Time => "time",
            Kind::Size => "size",
            Kind::Packets => "packets",
            Kind::Rate => "rate",
            Kind::Share => "probability",
            Kind::Frequency => "frequency",
            Kind::Flag => "switch",
            Kind::Number => "number",
        }
    }
}

/// A parameter of a discipline, as shown to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name, as in the discipline's RFC.
    pub name: &'static str,
    /// Kind of its value, which gives the unit.
    pub kind: Kind,
    /// Default; absent if the parameter is off by default.
    pub default: Option<u64>,
    /// One line.
    pub summary: &'static str,
}

impl Parameter {
    /// A parameter with a default.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        default: u64,
        summary: &'static str,
    ) -> Parameter {
        Parameter { name, kind, default: Some(default), summary }
    }

    /// A parameter that is off unless it is given.
    pub const fn off(name: &'static str, kind: Kind, summary: &'static str) -> Parameter {
        Parameter { name, kind, default: None, summary }
    }
}

/// Allowed values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The smallest value.
    pub least: u64,
    /// The largest; [`u64::MAX`] if there is none.
    pub most: u64,
    /// Kind of the value.
    pub kind: Kind,
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Allowed { least, most, kind } = self;
        let unit = kind.unit();
        match (*most, unit) {
            _ if *kind == Kind::Flag => write!(f, "0 or 1"),
            (u64::MAX, "") => write!(f, "{least} or more"),
            (u64::MAX, _) => write!(f, "{least} {unit} or more"),
            (_, "") => write!(f, "{least} to {most}"),
            _ => write!(f, "{least} to {most} {unit}"),
        }
    }
}

/// Parameters given for a discipline, defaults filled in.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    pub(super) discipline: &'static str,
    pub(super) given: &'a [(&'a str, u64)],
    pub(super) parameters: &'static [Parameter],
}

impl Settings<'_> {
    /// The name of the discipline that is made, as it is registered.
    pub fn discipline(&self) -> &'static str {
        self.discipline
    }

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
        let known = self.parameters.iter().find(|p| p.name == parameter);
        let kind = known.map_or(Kind::Number, |p| p.kind);
        let allowed = Allowed { least: *range.start(), most: *range.end(), kind };
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
