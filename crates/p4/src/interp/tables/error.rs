//! Errors of control-plane requests, worded for the author of the request.

use super::EntryHandle;

/// A rejected control-plane request. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // The messages say what the fields are.
pub enum TableError {
    #[error("there is no table `{name}`{}", hint(.near))]
    NoTable { name: String, near: Option<String> },
    #[error("`{name}` could be any of the tables {}; write more of its name", list(.candidates))]
    AmbiguousTable { name: String, candidates: Vec<String> },
    #[error("there is no value set `{name}`{}", hint(.near))]
    NoValueSet { name: String, near: Option<String> },
    #[error("table `{table}` has no key `{key}`{}; its keys are {}", hint(.near), list(.known))]
    NoKey { table: String, key: String, near: Option<String>, known: Vec<String> },
    #[error("key `{key}` of table `{table}` is given twice")]
    KeyTwice { table: String, key: String },
    #[error("key `{key}` of table `{table}` is missing: an exact key needs a value")]
    MissingKey { table: String, key: String },
    #[error("key `{key}` of table `{table}` is {kind}: it cannot be matched by {given}")]
    WrongMatch { table: String, key: String, kind: String, given: &'static str },
    #[error("{value} does not fit {what} of table `{table}`: it has {width} bits")]
    TooWide { table: String, what: String, value: String, width: u32 },
    #[error("prefix length {prefix} of key `{key}` of table `{table}`: the key has {width} bits")]
    PrefixTooLong { table: String, key: String, prefix: u32, width: u32 },
    #[error("the range {low}..{high} of key `{key}` of table `{table}` is empty")]
    EmptyRange { table: String, key: String, low: String, high: String },
    #[error("table `{table}` has no action `{action}`{}; its actions are {}", hint(.near), list(.known))]
    NoAction { table: String, action: String, near: Option<String>, known: Vec<String> },
    #[error("action `{action}` can only be the default action of table `{table}` (@defaultonly)")]
    DefaultOnly { table: String, action: String },
    #[error("action `{action}` cannot be the default action of table `{table}` (@tableonly)")]
    TableOnly { table: String, action: String },
    #[error("action `{action}` has no parameter `{name}`{}; it has {}", hint(.near), list(.known))]
    NoParameter { action: String, name: String, near: Option<String>, known: Vec<String> },
    #[error("parameter `{name}` of action `{action}` is missing")]
    MissingParameter { action: String, name: String },
    #[error("parameter `{name}` of action `{action}` is given twice")]
    ParameterTwice { action: String, name: String },
    #[error("the entries of table `{table}` are constant")]
    ConstEntries { table: String },
    #[error("this entry of table `{table}` is constant")]
    ConstEntry { table: String },
    #[error("the default action of table `{table}` is constant")]
    ConstDefault { table: String },
    #[error("table `{table}` has no default action: nothing runs on a miss")]
    NoDefault { table: String },
    #[error("table `{table}` has no key, so it cannot have entries; set its default action")]
    NoKeys { table: String },
    #[error("table `{table}` is full: its size is {size}")]
    Full { table: String, size: u64 },
    #[error("table `{table}` has an entry with the same match{}", if *.with_priority { " and priority" } else { "" })]
    Duplicate { table: String, with_priority: bool },
    #[error("table `{table}` has no entry with this match")]
    NoMatch { table: String },
    #[error("table `{table}` has no entry {}", .handle.0)]
    NoEntry { table: String, handle: EntryHandle },
    #[error("the entries of table `{table}` name actions, not members or groups")]
    NoImplementation { table: String },
    #[error("table `{table}` has entries: which bits of its keys count is said before")]
    NotEmpty { table: String },
    #[error("key `{key}` of table `{table}` is not exact: all its bits count")]
    NotExact { table: String, key: String },
    #[error("value set `{name}` has {expected} columns, not {given}")]
    WrongColumns { name: String, expected: usize, given: usize },
}

fn hint(near: &Option<String>) -> String {
    near.as_ref().map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
