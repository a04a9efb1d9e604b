//! Entry handles: numbers that identify keys.
//!
//! Entries of match tables have the tables' own handles; members of value sets are numbered; a
//! numeric key of at most 32 bits is its own handle.

use super::Reader;
use super::messages::absent;
use crate::bfrt::fields::{columns, exact_key};
use crate::bfrt::schema::{Kind, Table, Type};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use tonic::Code;

/// Width of a handle in bits.
const BITS: u32 = 32;

/// Bits for the entry; the first pipe with the entry is above them.
const ENTRY_BITS: u32 = 24;

/// The handle of a table's default entry; those of its other entries follow.
pub(super) const DEFAULT_HANDLE: u32 = 1;

/// Handle of an entry with the first of its pipes.
pub fn placed(first: u32, handle: u32) -> u32 {
    first << ENTRY_BITS | handle
}

/// Splits such a handle into the first of the pipes and the handle in them.
pub fn place_of_handle(placed: u32) -> (u32, u32) {
    (placed >> ENTRY_BITS, placed & ((1 << ENTRY_BITS) - 1))
}

/// Handle as clients see it.
pub(super) fn handle_outside(first: u32, handle: u32) -> u32 {
    placed(first, handle) + DEFAULT_HANDLE + 1
}

/// Splits a client's handle into the first of the pipes that have the entry and the tables' own
/// handle.
///
/// # Errors
/// No entry can have this handle.
pub fn handle_inside(handle: u32) -> Result<(u32, u32), Failure> {
    let inside = handle.checked_sub(DEFAULT_HANDLE + 1);
    let inside =
        inside.ok_or_else(|| Failure::invalid(format!("no entry has the handle {handle}")));
    inside.map(place_of_handle)
}

impl Reader<'_> {
    /// The handle of the entry with a key.
    pub(super) fn handle(&mut self, table: &Table, key: &bfrt::TableKey) -> Result<u32, Failure> {
        match table.kind {
            Kind::Match { .. } => {
                let scope = self.scope(table)?;
                self.pipes = scope.read(self.target, self.count, Code::NotFound)?;
                let found = self.find(table, key)?;
                Ok(handle_outside(scope.first(self.first_pipe()), found.handle))
            }
            Kind::ValueSet => {
                let query_of = columns(table, key)?;
                let first = self.scope(table)?.first(self.asked_pipe_of_target()?);
                let mut members = self.store.members.get(&(table.id, first)).into_iter().flatten();
                let found = members.find(|(_, member)| *member == query_of);
                found.map(|(handle, _)| *handle).ok_or_else(|| absent(table))
            }
            Kind::Snapshot(part) => self.snapshot_handle(table, part, key),
            _ => {
                let widths = widths(table)?;
                let key = exact_key(table, key)?;
                // A missing entry has no handle.
                self.is_there(table, &key)?;
                let packed =
                    key.iter().zip(widths).fold(0, |all, (part, width)| all << width | part);
                Ok(packed as u32)
            }
        }
    }

    /// First of the pipes that the request addresses.
    fn asked_pipe_of_target(&self) -> Result<u32, Failure> {
        Ok(crate::bfrt::pipe_scope::pipe_of(self.target, self.count)?.unwrap_or(0))
    }

    /// Checks that a table has an entry with a numeric key.
    fn is_there(&mut self, table: &Table, key: &[u64]) -> Result<(), Failure> {
        let is_cell =
            matches!(table.kind, Kind::Register(_) | Kind::Counter | Kind::Meter(_) | Kind::Filter);
        if is_cell {
            let cell = key.first().copied().unwrap_or(0);
            return match cell < table.size {
                true => Ok(()),
                false => Err(absent(table)),
            };
        }
        let first = self.scope(table)?.first(self.asked_pipe_of_target()?);
        let keys = self.keys(table, first);
        // A stored key may end with its pipe.
        match keys.iter().any(|known| known.starts_with(key)) {
            true => Ok(()),
            false => Err(absent(table)),
        }
    }
}

/// Numeric key of a handle.
///
/// # Errors
/// Entries of the table have no handles.
pub(super) fn key_of_handle(table: &Table, handle: u32) -> Result<Vec<u64>, Failure> {
    let mut left = u64::from(handle);
    let mut key: Vec<u64> = Vec::new();
    for width in widths(table)?.into_iter().rev() {
        key.push(left & ((1 << width) - 1));
        left >>= width;
    }
    key.reverse();
    Ok(key)
}

/// Widths of the elements of a key that fits into a handle.
fn widths(table: &Table) -> Result<Vec<u32>, Failure> {
    let width = |ty: &Type| match ty {
        Type::Bits(width) => Some(*width),
        _ => None,
    };
    let found: Option<Vec<u32>> = table.keys.iter().map(|key| width(&key.ty)).collect();
    let fits = |all: &Vec<u32>| !all.is_empty() && all.iter().sum::<u32>() <= BITS;
    let none = || Failure::invalid(format!("entries of `{}` have no handles", table.name));
    found.filter(fits).ok_or_else(none)
}
