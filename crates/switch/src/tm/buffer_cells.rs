//! Room in the packet buffer, counted in cells (TNA p. 32).
//!
//! A packet takes whole cells of its queue's share: first those that the queue is guaranteed, then those
//! of its pool, and beyond its limit those of its headroom. A queue's limit is fixed, or a multiple of
//! what its pool has free (Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998). Tail drop is decided here and
//! nowhere else; this file must not know what a packet is beyond its length.

use crate::config::{ColorLimits, MOST_POOLS, Reserve};
use sojourn_packet::Bytes;

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
#[derive(Clone, Copy, Debug, Default)]
struct Pool {
    size: u32,
    used: u32,
}

impl Pool {
    fn free(self) -> u32 {
        self.size.saturating_sub(self.used)
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
}

impl Buffer {
    /// An empty buffer of `total` cells of `cell` bytes, in one pool.
    pub fn new(total: u32, cell: Bytes) -> Buffer {
        let cell = u32::try_from(cell.0).unwrap_or(u32::MAX).max(1);
        let buffer = Buffer { total, cell, usage: Usage::default(), pools: Default::default() };
        buffer.with_pools(&[total])
    }

    /// The same with pools of so many cells; further ones are empty. What they leave of the buffer is
    /// guaranteed to queues, or headroom.
    pub fn with_pools(mut self, sizes: &[u32]) -> Buffer {
        self.pools = Default::default();
        for (pool, size) in self.pools.iter_mut().zip(sizes) {
            pool.size = *size;
        }
        self
    }

    /// Cells that a packet of `length` bytes (FCS included) takes.
    #[inline]
    pub fn cells_of(&self, length: u32) -> u32 {
        length.div_ceil(self.cell)
    }

    /// Cells in all.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Cells in use.
    pub fn usage(&self) -> Usage {
        self.usage
    }
}

/// One queue's part of the buffer: its limits and what it uses.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Limit by colour: green, yellow, yellow, red (TNA's two-bit colour).
    limits: [u32; 4],
    /// Thousandths of the pool's free cells that the queue may hold, if its limit is dynamic.
    alpha: Option<u32>,
    reserve: Reserve,
    usage: Usage,
    /// Of those in use, the cells of the headroom.
    in_headroom: u32,
    /// Times that a packet was the first one in the headroom.
    pauses: u64,
}

impl Share {
    /// An empty share with `limit` cells, less for colours if configured.
    pub fn new(limit: u32, colors: Option<ColorLimits>) -> Share {
        let eighths = |n: u8| (u64::from(limit) * u64::from(n) / 8) as u32;
        let limits = match colors {
            None => [limit; 4],
            Some(c) => [limit, eighths(c.yellow), eighths(c.yellow), eighths(c.red)],
        };
        let (usage, reserve) = (Usage::default(), Reserve::default());
        Share { limits, alpha: None, reserve, usage, in_headroom: 0, pauses: 0 }
    }

    /// The same with a dynamic threshold: the queue holds at most `alpha` thousandths of what its
    /// pool has free, and its guaranteed cells.
    pub fn dynamic(self, alpha: Option<u32>) -> Share {
        Share { alpha, ..self }
    }

    /// The same with cells of its own, in a pool.
    pub fn with_reserve(self, reserve: Reserve) -> Share {
        Share { reserve, ..self }
    }

    /// The cells that a packet's queue may hold now without its headroom.
    fn limit(&self, buffer: &Buffer, color: u8) -> u64 {
        let fixed = u64::from(self.limits[usize::from(color & 3)]);
        let Some(alpha) = self.alpha else { return fixed };
        let free = buffer.pools[self.pool()].free();
        let shared = u64::from(free) * u64::from(alpha) / 1_000;
        fixed.min(u64::from(self.reserve.guaranteed) + shared)
    }

    #[inline]
    fn pool(&self) -> usize {
        usize::from(self.reserve.pool) % MOST_POOLS
    }

    /// The cells in use without those of the headroom.
    #[inline]
    fn regular(&self) -> u32 {
        self.usage.cells - self.in_headroom
    }

    /// How many of `regular` cells are the pool's.
    #[inline]
    fn pooled(&self, regular: u32) -> u32 {
        regular.saturating_sub(self.reserve.guaranteed)
    }

    /// Takes cells of the pool for `cells` more; false, and nothing has happened, if it has too few.
    #[inline]
    fn take_pooled(&self, buffer: &mut Buffer, cells: u32) -> bool {
        let more = self.pooled(self.regular() + cells) - self.pooled(self.regular());
        let pool = &mut buffer.pools[self.pool()];
        if more > pool.free() {
            return false;
        }
        pool.used += more;
        true
    }

    /// Takes cells of the headroom; false, and nothing has happened, if it has too few.
    fn take_headroom(&mut self, cells: u32) -> bool {
        if self.in_headroom + cells > self.reserve.headroom {
            return false;
        }
        self.pauses += u64::from(self.in_headroom == 0);
        self.in_headroom += cells;
        true
    }

    /// Times that a packet came into an empty headroom: a switch with priority flow control would
    /// have paused its senders.
    pub fn pauses(&self) -> u64 {
        self.pauses
    }

    /// Cells in use.
    pub fn usage(&self) -> Usage {
        self.usage
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
        true
    }

    /// Takes the cells although the queue's limit does not allow them, if the buffer has room for
    /// them and the limit is not a lower one for the packet's colour, nor a dynamic one.
    pub fn admit_beyond(&mut self, buffer: &mut Buffer, cells: u32, color: u8) -> bool {
        let is_full_limit =
            self.alpha.is_none() && self.limits[usize::from(color & 3)] == self.limits[0];
        if !is_full_limit || !self.take_pooled(buffer, cells) {
            return false;
        }
        // No peak: others make room for them at the same instant.
        self.usage.cells += cells;
        buffer.usage.cells += cells;
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
        buffer.pools[self.pool()].used -= before - self.pooled(self.regular());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CELL;

    #[test]
    fn a_packet_takes_whole_cells() {
        assert_eq!(
            [1, 80, 81, 1518].map(|length| Buffer::new(1, CELL).cells_of(length)),
            [1, 1, 2, 19]
        );
    }

    #[test]
    fn the_last_cell_of_the_limit_is_usable_and_the_next_is_not() {
        let (mut buffer, mut share) = (Buffer::new(100, CELL), Share::new(10, None));
        assert!(share.admit(&mut buffer, 9, 0));
        assert!(!share.admit(&mut buffer, 2, 0));
        assert!(share.admit(&mut buffer, 1, 0));
        assert!(!share.admit(&mut buffer, 1, 0));
        assert_eq!((share.usage().cells, buffer.usage().cells), (10, 10));
    }

    #[test]
    fn a_full_buffer_refuses_a_queue_that_has_room() {
        let mut buffer = Buffer::new(12, CELL);
        let (mut a, mut b) = (Share::new(10, None), Share::new(10, None));
        assert!(a.admit(&mut buffer, 10, 0));
        assert!(!b.admit(&mut buffer, 3, 0));
        a.release(&mut buffer, 10);
        assert!(b.admit(&mut buffer, 3, 0));
        assert_eq!(buffer.usage(), Usage { cells: 3, peak: 10 });
    }

    #[test]
    fn saturated_queues_settle_at_alpha_b_over_one_plus_n_alpha() {
        // Choudhury and Hahne, equation 3; cells of one packet each.
        for (queues, alpha, total) in [(1, 1_000, 6_000), (4, 1_000, 6_000), (7, 500, 9_000)] {
            let mut buffer = Buffer::new(total, CELL);
            let share = Share::new(u32::MAX, None).dynamic(Some(alpha));
            let mut shares = vec![share; queues];
            for _ in 0..total {
                shares.iter_mut().for_each(|share| {
                    share.admit(&mut buffer, 1, 0);
                });
            }
            let alpha = f64::from(alpha) / 1e3;
            let settled = alpha * f64::from(total) / (1.0 + queues as f64 * alpha);
            for share in &shares {
                let cells = f64::from(share.usage().cells);
                assert!((cells - settled).abs() <= 1.0, "{queues} {alpha}: {cells} {settled}");
            }
            // A queue that becomes active finds alpha times the rest.
            let mut late = share;
            let free = buffer.total() - buffer.usage().cells;
            while late.admit(&mut buffer, 1, 0) {}
            let found = alpha * f64::from(free) / (1.0 + alpha);
            assert!((f64::from(late.usage().cells) - found).abs() <= 1.0);
        }
    }

    #[test]
    fn a_dynamic_threshold_falls_as_others_fill_and_is_never_above_the_fixed_limit() {
        let mut buffer = Buffer::new(100, CELL);
        let share = |limit| Share::new(limit, None).dynamic(Some(1_000));
        let (mut a, mut b, mut small) = (share(100), share(100), share(5));
        assert!(a.admit(&mut buffer, 50, 0) && !a.admit(&mut buffer, 1, 0));
        assert!(b.admit(&mut buffer, 25, 0) && !b.admit(&mut buffer, 1, 0));
        assert!(small.admit(&mut buffer, 5, 0) && !small.admit(&mut buffer, 1, 0));
        assert!(!a.admit_beyond(&mut buffer, 1, 0));
        a.release(&mut buffer, 50);
        assert!(b.admit(&mut buffer, 25, 0));
    }

    #[test]
    fn saturated_queues_of_each_pool_settle_by_that_pool_alone() {
        let mut buffer = Buffer::new(10_000, CELL).with_pools(&[6_000, 3_000]);
        let share = |pool, alpha, guaranteed, headroom| {
            let reserve = Reserve { pool, guaranteed, headroom };
            Share::new(u32::MAX, None).dynamic(Some(alpha)).with_reserve(reserve)
        };
        let mut shares = vec![
            share(0, 1_000, 0, 0),
            share(0, 1_000, 0, 0),
            share(0, 1_000, 100, 0),
            share(1, 8_000, 50, 200),
            share(1, 8_000, 50, 200),
        ];
        // Two cells come for each that goes.
        for _ in 0..10_000 {
            for share in &mut shares {
                share.admit(&mut buffer, 1, 0);
                share.admit(&mut buffer, 1, 0);
                share.release(&mut buffer, share.usage().cells.min(1));
            }
        }
        // alpha B / (1 + n alpha): 6,000 / 4, and 8 x 3,000 / 17 cells; the queue's own on top. A cell
        // moves a threshold by alpha.
        let settled = [1_500, 1_500, 1_600, 1_411 + 250, 1_411 + 250];
        for (share, settled) in shares.iter().zip(settled) {
            assert!(share.usage().cells.abs_diff(settled) <= 8, "{share:?} {settled}");
        }
        let paused: Vec<bool> = shares.iter().map(|share| share.pauses() > 0).collect();
        assert_eq!(paused, [false, false, false, true, true]);
        for share in &mut shares {
            share.release(&mut buffer, share.usage().cells);
        }
        assert_eq!(buffer.usage().cells, 0);
        assert!(buffer.pools.iter().all(|pool| pool.used == 0));
    }

    #[test]
    fn a_guaranteed_cell_is_there_when_the_pool_is_full_and_headroom_is_free_again_first() {
        let mut buffer = Buffer::new(20, CELL).with_pools(&[10]);
        let own = Reserve { guaranteed: 3, headroom: 4, ..Reserve::default() };
        let mut greedy = Share::new(100, None);
        let mut small = Share::new(5, None).with_reserve(own);
        assert!(greedy.admit(&mut buffer, 10, 0) && !greedy.admit(&mut buffer, 1, 0));
        assert!(small.admit(&mut buffer, 3, 0));
        // The fourth finds no room in the pool and goes into the headroom.
        assert!(small.admit(&mut buffer, 2, 0) && small.admit(&mut buffer, 2, 0));
        assert!(!small.admit(&mut buffer, 1, 0));
        assert_eq!((small.usage().cells, small.pauses()), (7, 1));
        small.release(&mut buffer, 4);
        assert_eq!((small.regular(), small.in_headroom), (3, 0));
        greedy.release(&mut buffer, 2);
        assert!(small.admit(&mut buffer, 2, 0) && small.in_headroom == 0);
    }

    #[test]
    fn red_packets_are_refused_earlier_than_green_ones() {
        let colors = Some(ColorLimits { yellow: 6, red: 4 });
        let (mut buffer, mut share) = (Buffer::new(100, CELL), Share::new(16, colors));
        assert!(share.admit(&mut buffer, 8, 3));
        assert!(!share.admit(&mut buffer, 1, 3));
        assert!(share.admit(&mut buffer, 4, 1));
        assert!(!share.admit(&mut buffer, 1, 2));
        assert!(share.admit(&mut buffer, 4, 0));
    }
}
