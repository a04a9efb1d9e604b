//! Test cases: a discipline with its parameters, a trace, and the equivalent in a second source.
//!
//! The cases form one table, with one file per family. The programs of `bench/second_sources` take
//! their jobs from it. The test and the table of `docs/second-sources.md` read the results. The
//! table must not depend on how a result is computed.

mod cake;
mod codel;
mod dualpi2;
mod fifo;
mod pie;
mod red;

use crate::trace::Ecn;
use crate::trace::Trace::{self, Bursts, Flows, Overload, Ramp};

/// Source of the expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A queue disc of ns-3, with its attributes.
    Ns3 {
        /// Class.
        disc: &'static str,
        /// `NAME=VALUE`, apart by blanks.
        attributes: &'static str,
    },
    /// A qdisc of the Linux kernel.
    Linux {
        /// Its name.
        qdisc: &'static str,
        /// `NAME=VALUE`, apart by blanks.
        options: &'static str,
    },
    /// The listing of an RFC, line by line in floats: not an external implementation, but
    /// independent of our code.
    Rfc {
        /// Its number.
        number: u32,
        /// `NAME=VALUE`, apart by blanks.
        options: &'static str,
    },
}

/// One comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Ours.
    pub discipline: &'static str,
    /// Subject of the case, in a word or two.
    pub about: &'static str,
    /// Name of the recording, together with the trace's; cases of the same job share it.
    pub recording: &'static str,
    /// Parameters that differ from the defaults.
    pub parameters: &'static [(&'static str, u64)],
    /// The other.
    pub source: Source,
    /// Whether the other is put right where it departs from the RFC or paper.
    pub undo: bool,
    /// Input traces.
    pub traces: &'static [Trace],
    /// The ECN fields of its flows.
    pub ecn: Ecn,
    /// Both have to signal the same packets at the same times; otherwise the comparison only shows how
    /// far the other departs.
    pub equal: bool,
}

/// Seed of the numbers that both throw.
pub const SEED: u64 = 7;

const fn ns3(disc: &'static str, attributes: &'static str) -> Source {
    Source::Ns3 { disc, attributes }
}

const fn linux(qdisc: &'static str, options: &'static str) -> Source {
    Source::Linux { qdisc, options }
}

const fn rfc(number: u32, options: &'static str) -> Source {
    Source::Rfc { number, options }
}

/// A case that says nothing of its own yet.
const PLAIN: Case = Case {
    discipline: "",
    about: "",
    recording: "",
    parameters: &[],
    source: ns3("", ""),
    undo: false,
    traces: &[Overload, Bursts, Ramp, Flows],
    ecn: Ecn::Plain,
    equal: true,
};

/// All comparisons.
pub fn all() -> impl Iterator<Item = &'static Case> {
    [fifo::CASES, codel::CASES, cake::CASES, red::CASES, pie::CASES, dualpi2::CASES]
        .into_iter()
        .flatten()
}

impl Case {
    /// The name of a trace's file of signals.
    pub fn file(&self, trace: Trace) -> String {
        format!("{}-{}-{}.txt", self.source.name(), self.recording, trace.name())
    }

    /// Command to run: the program of the second source and its arguments.
    pub fn job(&self) -> String {
        match self.source {
            Source::Ns3 { disc, attributes } => {
                let undo = if self.undo { "undo" } else { "as-is" };
                format!("ns3 {disc} {SEED} {undo} {attributes}")
            }
            Source::Linux { qdisc, options } => format!("linux-{qdisc} {SEED} {options}"),
            Source::Rfc { number, options } => format!("rfc{number} {SEED} {options}"),
        }
    }
}

impl Source {
    /// As in the names of files.
    pub fn name(self) -> &'static str {
        match self {
            Source::Ns3 { .. } => "ns3",
            Source::Linux { .. } => "linux",
            Source::Rfc { .. } => "rfc",
        }
    }
}
