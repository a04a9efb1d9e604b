//! Entries that are computed: one key element, an action with one number, thousands of them.
//!
//! Names are resolved once for all of them, and what is checked is the same as for entries that
//! come by name.

use super::by_name::find_action;
use super::error::TableError;
use super::{ActionData, Datum};
use crate::ir::{self, Layout, Scalar};

/// An entry of a table with one key element, for an action with one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainEntry {
    /// What the key has to be.
    pub value: u128,
    /// Its bits that count; all of them if absent, as an exact key wants it.
    pub mask: Option<u128>,
    /// What the action is given.
    pub datum: u128,
}

/// Bits that a value needs.
fn bits(value: u128) -> u32 {
    u128::BITS - value.leading_zeros()
}

fn fit(value: u128, width: u32, table: &ir::Table, what: &str) -> Result<u128, TableError> {
    if bits(value) <= width {
        return Ok(value);
    }
    let (table, value) = (table.name.to_string(), value.to_string());
    Err(TableError::TooWide { table, what: what.to_owned(), value, width })
}

/// The action that the entries run.
pub(super) struct Run {
    number: u32,
    width: u32,
}

impl Run {
    pub fn new(table: &ir::Table, action: &str) -> Result<Run, TableError> {
        let at = find_action(table, action, false)?;
        let [(_, Layout::Narrow(_, scalar) | Layout::Wide(_, scalar))] =
            &table.actions[at].data[..]
        else {
            let table = table.name.to_string();
            return Err(TableError::NotPlain { table, what: "an action with one number" });
        };
        Ok(Run { number: at as u32, width: scalar.width() })
    }

    pub fn with(&self, table: &ir::Table, entry: &PlainEntry) -> Result<ActionData, TableError> {
        let datum = fit(entry.datum, self.width, table, "the action's parameter")?;
        Ok(ActionData { action: self.number, data: Box::new([Datum::Narrow(datum)]) })
    }
}

/// The key element that the entries match.
pub(super) struct Key {
    width: u32,
    exact: bool,
}

impl Key {
    pub fn new(table: &ir::Table) -> Result<Key, TableError> {
        let width = |scalar: Scalar| scalar.width();
        match &table.keys[..] {
            [key]
                if matches!(&*key.match_kind, "exact" | "ternary")
                    && width(key.expr.scalar) <= 128 =>
            {
                Ok(Key { width: width(key.expr.scalar), exact: &*key.match_kind == "exact" })
            }
            _ => {
                let table = table.name.to_string();
                Err(TableError::NotPlain { table, what: "one exact or ternary key of 128 bits" })
            }
        }
    }

    /// Value and mask of an entry.
    pub fn check(&self, table: &ir::Table, entry: &PlainEntry) -> Result<(u128, u128), TableError> {
        let full = u128::MAX.checked_shr(u128::BITS - self.width).unwrap_or(0);
        let mask = match entry.mask {
            None => full,
            Some(mask) if !self.exact => fit(mask, self.width, table, "the key's mask")?,
            Some(_) => {
                let (table, key) = (table.name.to_string(), "its key".to_owned());
                let (kind, given) = ("exact".to_owned(), "a value and a mask");
                return Err(TableError::WrongMatch { table, key, kind, given });
            }
        };
        Ok((fit(entry.value, self.width, table, "the key")? & mask, mask))
    }
}
