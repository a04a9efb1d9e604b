//! Memory shared by all threads: cells, accesses, and detection of lost updates.

use sojourn_p4::interp::arith;
use std::sync::Arc;

/// The cells of one `Memory`.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub name: Arc<str>,
    mask: u64,
    cells: Vec<u64>,
    /// Number of changes of each cell's value.
    changes: Vec<u64>,
}

/// One access to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write(u64),
    TestAndAdd(u64),
    CompareAndSwap { expected: u64, value: u64 },
}

/// Version of a cell that a pass has read: its number of changes at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellVersion {
    pub memory: u32,
    pub index: u64,
    pub change: u64,
}

impl Memory {
    /// Cells that differ from an earlier copy, which is then updated.
    pub fn differs_from(&self, earlier: &mut Memory) -> Vec<usize> {
        let both = self.cells.iter().zip(&earlier.cells).enumerate();
        let found = both.filter(|(_, (now, then))| now != then).map(|(at, _)| at).collect();
        earlier.cells.copy_from_slice(&self.cells);
        found
    }

    pub const MOST_CELLS: usize = 1 << 26;
    /// Bytes of memory of a cell, including its number of changes.
    pub const CELL_BYTES: u64 = 2 * size_of::<u64>() as u64;

    pub fn new(name: Arc<str>, width: u32, size: usize) -> Memory {
        let mask = arith::mask(width) as u64;
        Memory { name, mask, cells: vec![0; size], changes: vec![0; size] }
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn get(&self, index: u64) -> Option<u64> {
        self.cells.get(usize::try_from(index).ok()?).copied()
    }

    /// Number of changes of the cell.
    pub fn change(&self, index: u64) -> u64 {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        self.changes.get(index).copied().unwrap_or(0)
    }

    /// Executes an access. Returns the previous value; 0 beyond the last cell, without a change.
    pub fn access(&mut self, index: u64, access: Access) -> u64 {
        let Some(before) = self.get(index) else { return 0 };
        let after = match access {
            Access::Read => before,
            Access::Write(value) => value,
            Access::TestAndAdd(value) => before.wrapping_add(value),
            Access::CompareAndSwap { expected, value } if expected == before => value,
            Access::CompareAndSwap { .. } => before,
        };
        self.set(index, after);
        before
    }

    /// Sets a cell to `value`, cut to its width; false beyond the last one.
    pub fn set(&mut self, index: u64, value: u64) -> bool {
        let Ok(index) = usize::try_from(index) else { return false };
        let (Some(cell), Some(changes)) = (self.cells.get_mut(index), self.changes.get_mut(index))
        else {
            return false;
        };
        let value = value & self.mask;
        *changes += u64::from(*cell != value);
        *cell = value;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_answers_what_was_there_and_leaves_what_it_says() {
        let mut memory = Memory::new("m".into(), 8, 2);
        assert_eq!(memory.access(1, Access::Write(0x1ff)), 0);
        assert_eq!(memory.access(1, Access::TestAndAdd(2)), 0xff);
        assert_eq!(memory.access(1, Access::CompareAndSwap { expected: 7, value: 9 }), 1);
        assert_eq!(memory.access(1, Access::CompareAndSwap { expected: 1, value: 9 }), 1);
        assert_eq!((memory.access(1, Access::Read), memory.access(0, Access::Read)), (9, 0));
    }

    #[test]
    fn beyond_the_last_cell_there_is_zero_and_nothing_changes() {
        let mut memory = Memory::new("m".into(), 64, 1);
        assert_eq!(memory.access(1, Access::Write(5)), 0);
        assert_eq!(memory.access(u64::MAX, Access::Read), 0);
        assert_eq!((memory.get(0), memory.get(1)), (Some(0), None));
    }

    #[test]
    fn only_another_value_is_a_change() {
        let mut memory = Memory::new("m".into(), 64, 1);
        memory.access(0, Access::Write(0));
        memory.access(0, Access::CompareAndSwap { expected: 3, value: 4 });
        assert_eq!(memory.change(0), 0);
        memory.access(0, Access::TestAndAdd(1));
        assert_eq!(memory.change(0), 1);
    }
}
