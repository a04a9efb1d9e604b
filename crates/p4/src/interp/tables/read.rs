//! Reads entries back in the control plane's form, from the search structure.

use super::index::Row;
use super::{ActionData, Column, Datum, EntryHandle, TableState, Tables, Target, limbs};
use super::{EntryTarget, Match, TableError};
use crate::interp::arith;
use crate::ir::{self, TableId};
use num_bigint::BigUint;

/// An entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryView {
    /// Handle for changes and deletion.
    pub handle: EntryHandle,
    /// Key elements by their full names; those that match anything are left out.
    pub keys: Vec<(String, Match)>,
    /// Target, with full names.
    pub target: EntryTarget,
    /// Larger wins; 0 where the table has no priorities.
    pub priority: i64,
    /// True if it is in the program's text.
    pub is_const: bool,
}

fn number(limbs: &[u128]) -> BigUint {
    limbs.iter().fold(BigUint::ZERO, |sum, limb| (sum << 128u32) + *limb)
}

/// Match value of a row in one column; `None` for any value.
fn matched(row: &Row, column: &Column, kind: &str) -> Option<Match> {
    let width = column.scalar.width();
    let here = column.limb..column.limb + limbs(column.scalar);
    if let Some([low, high]) = row.bounds(column.limb) {
        return Some(Match::Range { low: number(&low), high: number(&high) });
    }
    let (value, mask) = (number(&row.values[here.clone()]), number(&row.masks[here]));
    let full = mask == arith::wide_mask(width);
    match kind {
        _ if mask == BigUint::ZERO && width > 0 => None,
        "lpm" => Some(Match::Prefix { value, length: mask.count_ones() as u32 }),
        _ if full => Some(Match::Exact(value)),
        _ => Some(Match::Ternary { value, mask }),
    }
}

impl TableState {
    fn view(&self, table: &ir::Table, handle: EntryHandle) -> Option<EntryView> {
        let entry = self.entries.get(handle.index())?.as_ref()?;
        let keys = self.columns.iter().filter_map(|column| {
            let key = &table.keys[column.key];
            Some((key.name.to_string(), matched(&entry.row, column, &key.match_kind)?))
        });
        let target = led(table, &entry.target);
        let (priority, is_const) = (entry.row.rank.priority, entry.is_const);
        Some(EntryView { handle, keys: keys.collect(), target, priority, is_const })
    }
}

fn led(table: &ir::Table, target: &Target) -> EntryTarget {
    match target {
        Target::Action(data) => call(table, data),
        Target::Reference(reference) => EntryTarget::Reference(*reference),
    }
}

fn call(table: &ir::Table, data: &ActionData) -> EntryTarget {
    let action = &table.actions[data.action as usize];
    let value = |datum: &Datum| match datum {
        Datum::Narrow(value) => BigUint::from(*value),
        Datum::Wide(value) => value.clone(),
    };
    let names = action.data.iter().map(|(name, _)| name.to_string());
    EntryTarget::Action(action.name.to_string(), names.zip(data.data.iter().map(value)).collect())
}

impl Tables {
    /// All entries of a table, in the order of their handles.
    ///
    /// # Errors
    /// If there is no such table.
    pub fn entries(&self, id: TableId) -> Result<Vec<EntryView>, TableError> {
        let (table, state) = self.shared(id)?;
        Ok(state.handles().filter_map(|handle| state.view(table, handle)).collect())
    }

    /// Entries with handles from `from` on, among at most `most` handles; and the first handle
    /// behind them, if there may be more.
    ///
    /// # Errors
    /// If there is no such table.
    pub fn page(
        &self,
        id: TableId,
        from: u32,
        most: u32,
    ) -> Result<(Vec<EntryView>, Option<u32>), TableError> {
        let (table, state) = self.shared(id)?;
        let all = state.entries.len() as u32;
        let end = from.saturating_add(most).min(all);
        let entries = (from..end).filter_map(|at| state.view(table, EntryHandle(at)));
        Ok((entries.collect(), (end < all).then_some(end)))
    }

    /// The entry with this handle, if it exists.
    ///
    /// # Errors
    /// If there is no such table.
    pub fn entry(&self, id: TableId, handle: EntryHandle) -> Result<Option<EntryView>, TableError> {
        let (table, state) = self.shared(id)?;
        Ok(state.view(table, handle))
    }

    /// Target of a miss, if there is one.
    ///
    /// # Errors
    /// If there is no such table.
    pub fn default_of(&self, id: TableId) -> Result<Option<EntryTarget>, TableError> {
        let (table, state) = self.shared(id)?;
        Ok(state.default.as_ref().map(|target| led(table, target)))
    }

    /// A copy of a table with all its entries, for [`Tables::put_back`].
    ///
    /// # Errors
    /// If there is no such table.
    pub fn saved(&self, id: TableId) -> Result<TableState, TableError> {
        self.shared(id).map(|(_, state)| state.clone())
    }

    /// Restores a saved table.
    pub fn put_back(&mut self, id: TableId, saved: TableState) {
        if let Some(state) = self.changed(id) {
            *state = saved;
        }
    }

    fn shared(&self, id: TableId) -> Result<(&ir::Table, &TableState), TableError> {
        let missing = || TableError::NoTable { name: format!("#{}", id.0), near: None };
        let table = self.program.tables.get(id.index()).ok_or_else(missing)?;
        Ok((table, self.tables.get(id.index()).ok_or_else(missing)?))
    }
}
