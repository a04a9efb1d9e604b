//! Room in the packet buffer, counted in cells (TNA p. 32).
//!
//! A packet takes whole cells of its queue's share: first those that the queue is guaranteed, then those
//! of its pool, and beyond its limit those of its headroom. A queue's limit is fixed, or a multiple of
//! what its pool has free (Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998). Pools and limits may change
//! while packets are in the queues. Tail drop is decided here and
//! nowhere else; this file must not know what a packet is beyond its length.
//! Active buffer management changes the multiple of a dynamic limit (`active_sharing.rs`).

use super::active_sharing::{Class, Congestion};
use crate::config::{ColorLimits, MOST_POOLS, Reserve};
use sojourn_packet::Bytes;

/// The unit of a multiple in millionths.
pub(super) const ONE: u64 = 1_000_000;

/// Cells in use, and the most that ever were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Now.
    pub cells: u32,
    /// Most so far.
    pub peak: u32,
}

impl Usage {
    fn take(&mut self, cells: u32) {
        self.cells += cells;
        self.peak = self.peak.max(self.cells);
    }
}

/// Cells that some queues share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Its cells.
    pub size: u32,
    /// Those in use; more than there are if the pool was made smaller.
    pub usage: Usage,
}

impl Pool {
    fn free(self) -> u32 {
        self.size.saturating_sub(self.usage.cells)
    }
}

/// The buffer of all queues.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    total: u32,
    /// Bytes of a cell.
    cell: u32,
    usage: Usage,
    pools: [Pool; MOST_POOLS],
    congestion: Congestion,
}

impl Buffer {
    /// An empty buffer of `total` cells of `cell` bytes, in one pool.
    pub fn new(total: u32, cell: Bytes) -> Buffer {
        let cell = u32::try_from(cell.0).unwrap_or(u32::MAX).max(1);
        let congestion = Congestion::new(cell);
        let (usage, pools) = (Usage::default(), Default::default());
        let buffer = Buffer { total, cell, usage, pools, congestion };
        buffer.with_pools(&[total])
    }

    /// The same with pools of so many cells; further ones are empty. What they leave of the buffer is
    /// guaranteed to queues, or headroom.
    pub fn with_pools(mut self, sizes: &[u32]) -> Buffer {
        self.resize_pools(sizes);
        self
    }

    /// Gives the pools so many cells; further ones get none. Packets keep what they have.
    pub fn resize_pools(&mut self, sizes: &[u32]) {
        let sizes = sizes.iter().copied().chain(std::iter::repeat(0));
        for (pool, size) in self.pools.iter_mut().zip(sizes) {
            pool.size = size;
        }
    }

    /// The pools.
    pub fn pools(&self) -> &[Pool; MOST_POOLS] {
        &self.pools
    }

    /// Cells that a packet of `length` bytes (FCS included) takes.
    #[inline]
    pub fn cells_of(&self, length: u32) -> u32 {
        length.div_ceil(self.cell)
    }

    /// Bytes of a cell.
    pub fn cell(&self) -> u32 {
        self.cell
    }

    /// Cells in all.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Cells in use.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Cells that are not in use.
    pub fn free(&self) -> u32 {
        self.total.saturating_sub(self.usage.cells)
    }
}

/// The cells that a queue may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareRule {
    /// Cells at most, those of the headroom not counted.
    pub limit: u32,
    /// Lower limits for yellow and red packets.
    pub colors: Option<ColorLimits>,
    /// Millionths of the pool's free cells that the queue may hold, if its limit is dynamic.
    pub alpha: Option<u32>,
    /// Cells of the pool that a dynamic limit leaves the queue, as far as the pool has them.
    pub floor: u32,
    /// Its pool, and cells of its own.
    pub reserve: Reserve,
    /// The queues among which active buffer management counts it, if that decides.
    pub class: Option<Class>,
}

/// One queue's part of the buffer: its limits and what it uses.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Limit by colour: green, yellow, yellow, red (TNA's two-bit colour).
    limits: [u32; 4],
    rule: ShareRule,
    usage: Usage,
    /// Of those in use, the cells of the headroom.
    in_headroom: u32,
    /// Millionths of what its port sends, as active buffer management measured it.
    drain: u32,
}

impl Share {
    /// An empty share with this rule.
    pub fn with_rule(rule: ShareRule) -> Share {
        let (limits, usage) = (limits(&rule), Usage::default());
        Share { limits, rule, usage, in_headroom: 0, drain: ONE as u32 }
    }

    /// The rule of the queue.
    pub fn rule(&self) -> ShareRule {
        self.rule
    }

    /// Gives the queue another rule. Its packets stay; their cells become those of the new pool.
    pub fn set_rule(&mut self, buffer: &mut Buffer, rule: ShareRule) {
        buffer.pools[self.pool()].usage.cells -= self.pooled(self.regular());
        self.note_congestion(buffer, self.usage.cells, 0);
        (self.limits, self.rule) = (limits(&rule), rule);
        buffer.pools[self.pool()].usage.take(self.pooled(self.regular()));
        self.note_congestion(buffer, 0, self.usage.cells);
    }

    /// The cells that a packet's queue may hold now without its headroom.
    fn limit(&self, buffer: &Buffer, color: u8) -> u64 {
        let fixed = u64::from(self.limits[usize::from(color & 3)]);
        let Some(alpha) = self.rule.alpha else { return fixed };
        let free = buffer.pools[self.pool()].free();
        let mut shared = u64::from(free) * u64::from(alpha) / ONE;
        if let Some(class) = self.rule.class {
            let drained = shared * u64::from(self.drain) / ONE;
            shared = buffer.congestion.part(self.pool(), class, drained);
        }
        fixed.min(u64::from(self.rule.reserve.guaranteed) + shared.max(self.rule.floor.into()))
    }

    /// Sets the part of what its port sends, in millionths.
    pub fn set_drain(&mut self, drain: u32) {
        self.drain = drain;
    }

    /// Its cells have changed.
    #[inline]
    fn note_congestion(&self, buffer: &mut Buffer, before: u32, now: u32) {
        if let Some(class) = self.rule.class {
            buffer.congestion.change(self.pool(), class, before, now);
        }
    }

    #[inline]
    fn pool(&self) -> usize {
        usize::from(self.rule.reserve.pool) % MOST_POOLS
    }

    /// The cells in use without those of the headroom.
    #[inline]
    fn regular(&self) -> u32 {
        self.usage.cells - self.in_headroom
    }

    /// How many of `regular` cells are the pool's.
    #[inline]
    fn pooled(&self, regular: u32) -> u32 {
        regular.saturating_sub(self.rule.reserve.guaranteed)
    }

    /// Takes cells of the pool for `cells` more; false, and nothing has happened, if it has too few.
    #[inline]
    fn take_pooled(&self, buffer: &mut Buffer, cells: u32) -> bool {
        let more = self.pooled(self.regular() + cells) - self.pooled(self.regular());
        let pool = &mut buffer.pools[self.pool()];
        if more > pool.free() {
            return false;
        }
        pool.usage.take(more);
        true
    }

    /// Takes cells of the headroom; false, and nothing has happened, if it has too few.
    fn take_headroom(&mut self, cells: u32) -> bool {
        if self.in_headroom + cells > self.rule.reserve.headroom {
            return false;
        }
        self.in_headroom += cells;
        true
    }

    /// Cells in use.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// How many of the limits by colour the queue has reached; a dynamic limit is not one of them.
    pub fn limits_reached(&self) -> usize {
        self.limits.iter().filter(|limit| self.usage.cells >= **limit).count()
    }

    /// Takes the cells from both, or takes nothing and returns false: tail drop.
    pub fn admit(&mut self, buffer: &mut Buffer, cells: u32, color: u8) -> bool {
        let limit = self.limit(buffer, color);
        let fits_queue = u64::from(self.regular()) + u64::from(cells) <= limit;
        if !(fits_queue && self.take_pooled(buffer, cells) || self.take_headroom(cells)) {
            return false;
        }
        self.usage.take(cells);
        buffer.usage.take(cells);
        self.note_congestion(buffer, self.usage.cells - cells, self.usage.cells);
        true
    }

    /// Takes the cells although the queue's limit does not allow them, if the buffer has room for
    /// them and the limit is not a lower one for the packet's colour, nor a dynamic one.
    pub fn admit_beyond(&mut self, buffer: &mut Buffer, cells: u32, color: u8) -> bool {
        let is_full_limit =
            self.rule.alpha.is_none() && self.limits[usize::from(color & 3)] == self.limits[0];
        if !is_full_limit || !self.take_pooled(buffer, cells) {
            return false;
        }
        // No peak: others make room for them at the same instant.
        self.usage.cells += cells;
        buffer.usage.cells += cells;
        self.note_congestion(buffer, self.usage.cells - cells, self.usage.cells);
        true
    }

    /// Cells in use beyond the limit.
    pub fn excess(&self) -> u32 {
        self.regular().saturating_sub(self.limits[0])
    }

    /// Gives cells back that [`Share::admit`] took, those of the headroom first.
    #[inline]
    pub fn release(&mut self, buffer: &mut Buffer, cells: u32) {
        let before = self.pooled(self.regular());
        self.in_headroom -= cells.min(self.in_headroom);
        self.usage.cells -= cells;
        buffer.usage.cells -= cells;
        self.note_congestion(buffer, self.usage.cells + cells, self.usage.cells);
        buffer.pools[self.pool()].usage.cells -= before - self.pooled(self.regular());
    }
}

/// Limits by colour.
fn limits(rule: &ShareRule) -> [u32; 4] {
    let limit = rule.limit;
    let eighths = |n: u8| (u64::from(limit) * u64::from(n) / 8) as u32;
    match rule.colors {
        None => [limit; 4],
        Some(c) => [limit, eighths(c.yellow), eighths(c.yellow), eighths(c.red)],
    }
}

#[cfg(test)]
#[path = "buffer_cells_tests.rs"]
mod tests;
