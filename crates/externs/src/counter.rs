//! Counters of packets and bytes, for `Counter` and `DirectCounter`.

use serde::{Deserialize, Serialize};

/// Unit of a counter (`CounterType_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterKind {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Both.
    PacketsAndBytes,
}

impl CounterKind {
    /// The kind of this name in `CounterType_t`.
    pub fn named(name: &str) -> Option<CounterKind> {
        Some(match name {
            "PACKETS" => CounterKind::Packets,
            "BYTES" => CounterKind::Bytes,
            "PACKETS_AND_BYTES" => CounterKind::PacketsAndBytes,
            _ => return None,
        })
    }
}

/// One cell of a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// Packets counted.
    pub packets: u64,
    /// Bytes counted.
    pub bytes: u64,
}

/// An array of counter cells.
#[derive(Clone, Debug)]
pub struct Counter {
    kind: CounterKind,
    cells: Vec<Count>,
}

impl Counter {
    /// Bytes of memory that a cell takes.
    pub const CELL_BYTES: u64 = size_of::<Count>() as u64;

    /// `size` cells, all zero.
    pub fn new(kind: CounterKind, size: usize) -> Counter {
        Counter { kind, cells: vec![Count::default(); size] }
    }

    /// Counts a packet of `bytes` bytes; `adjust` bytes are subtracted from the length. An index
    /// beyond the array counts nothing, as on the chip.
    pub fn count(&mut self, index: usize, bytes: u64, adjust: u64) {
        let Some(cell) = self.cells.get_mut(index) else { return };
        if self.kind != CounterKind::Bytes {
            cell.packets = cell.packets.wrapping_add(1);
        }
        if self.kind != CounterKind::Packets {
            cell.bytes = cell.bytes.wrapping_add(bytes.saturating_sub(adjust));
        }
    }

    /// One cell.
    pub fn get(&self, index: usize) -> Option<Count> {
        self.cells.get(index).copied()
    }

    /// Sets one cell, or all of them; false if there is no such cell.
    pub fn set(&mut self, index: Option<usize>, count: Count) -> bool {
        match index {
            None => self.cells.fill(count),
            Some(index) => match self.cells.get_mut(index) {
                Some(cell) => *cell = count,
                None => return false,
            },
        }
        true
    }

    /// Makes room for `size` cells (direct counters grow with their table).
    pub fn grow(&mut self, size: usize) {
        if size > self.cells.len() {
            self.cells.resize(size, Count::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_two_packets(kind: CounterKind) -> Count {
        let mut counter = Counter::new(kind, 4);
        counter.count(3, 100, 0);
        counter.count(3, 64, 4);
        counter.get(3).unwrap()
    }

    #[test]
    fn each_kind_of_counter_counts_its_unit() {
        assert_eq!(after_two_packets(CounterKind::Packets), Count { packets: 2, bytes: 0 });
        assert_eq!(after_two_packets(CounterKind::Bytes), Count { packets: 0, bytes: 160 });
        let both = after_two_packets(CounterKind::PacketsAndBytes);
        assert_eq!(both, Count { packets: 2, bytes: 160 });
    }

    #[test]
    fn an_index_beyond_the_array_counts_nothing() {
        let mut counter = Counter::new(CounterKind::Packets, 1);
        counter.count(1, 10, 0);
        assert_eq!((counter.get(0), counter.get(1)), (Some(Count::default()), None));
    }
}
