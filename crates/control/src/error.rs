//! Errors of a control plane, worded for its author.

use sojourn_externs::filter::FilterError;
use sojourn_p4::diagnostic::near_name;
use sojourn_p4::interp::tables::TableError;
use thiserror::Error;

/// A request that does not fit the program.
#[derive(Debug, Error)]
pub enum ControlError {
    /// About a table; the message names it.
    #[error("{0}")]
    Table(#[from] Box<TableError>),
    /// About one entry of a table.
    #[error("entry {number} of table `{table}`: {why}")]
    Entry {
        /// The table.
        table: String,
        /// The entry, counted from 1.
        number: usize,
        /// The mismatch.
        why: Box<TableError>,
    },
    /// A profile, meter or other object that the program does not have.
    #[error("there is no {what} `{name}`{}", near.as_ref().map_or_else(String::new, |n| format!(" (did you mean `{n}`?)")))]
    Unknown {
        /// Kind of the object that was looked up.
        what: &'static str,
        /// Its name.
        name: String,
        /// A name that is near.
        near: Option<String>,
    },
    /// An entry that names no action, member or group, or several of them.
    #[error(
        "entry {number} of table `{table}`: it needs exactly one of `action`, `member`, `group`"
    )]
    Target {
        /// The table.
        table: String,
        /// The entry, counted from 1.
        number: usize,
    },
    /// Message of the parser of a line of text.
    #[error("{0}")]
    Message(String),
    /// About a line of a file of commands.
    #[error("{file}:{line}: {why}")]
    Line {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The underlying error.
        why: Box<ControlError>,
    },
    /// Several lines, each with its file and its number.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Lines(Vec<ControlError>),
    /// An operation on the switch, applied to a program.
    #[error("this is for the switch around the program: sessions, groups, queues, ports")]
    ForSwitch,
    /// Entries that cannot be computed.
    #[error("table {table}: {why}")]
    Computed {
        /// The table.
        table: String,
        /// Fault in the parameters of the computation.
        why: String,
    },
    /// A cell that a register or counter does not have.
    #[error("{what} `{name}` has no cell {index}")]
    Cell {
        /// Kind of the object.
        what: &'static str,
        /// Its name.
        name: String,
        /// The cell.
        index: usize,
    },
    /// A filter that the chip cannot have.
    #[error("cell {index} of `{name}`: {why}")]
    Filter {
        /// The filter.
        name: String,
        /// The cell.
        index: usize,
        /// The operation that the filter lacks.
        why: FilterError,
    },
    /// A cell that a meter does not have.
    #[error("meter `{name}` has no cell {index}")]
    MeterIndex {
        /// The meter.
        name: String,
        /// The cell.
        index: usize,
    },
}

impl ControlError {
    /// There is no `what` called `name`; the nearest of `known` is suggested.
    pub fn unknown(what: &'static str, name: &str, known: &[&str]) -> ControlError {
        let near = near_name(name, known.iter().copied()).map(String::from);
        ControlError::Unknown { what, name: name.to_owned(), near }
    }
}
