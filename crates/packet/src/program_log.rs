//! Log lines that a program writes while it processes packets, in the form that readers consume.

use crate::units::Time;

/// A line of a program's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Time of writing.
    pub at: Time,
    /// The line.
    pub text: String,
}

/// Lines that a program has written since the last call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramLog {
    /// Number of lines lost because there were too many; they preceded the others.
    pub lost: u64,
    /// The lines, in their order.
    pub lines: Vec<LogLine>,
}
