//! Active buffer management (ABM; Addanki et al., SIGCOMM 2022): a queue holds at most
//! alpha x (free / n) x (its part of what its port sends).
//!
//! n counts the congested queues of the same number, over all ports and within a pool: a priority's.
//! As in the authors' simulator (inet-tub/ns3-datacenter, `gen-queue-disc.cc`) a queue counts by how full
//! it is, up to 20 packets of 1,400 bytes. n congested queues that drain at full rate settle at
//! alpha B / (n (1 + alpha)): however many there are, they leave B / (1 + alpha) free. Here n follows each
//! packet and the part of the port every 28,000 bytes that the port sends, where theirs do every 30 us.
//! Without their hosts' mark, packets of a first round trip have no larger alpha. Must not depend on time.

use super::buffer_cells::{ONE, Share};
use super::scheduler::MAX_QUEUES;
use crate::config::MOST_POOLS;

/// Bytes of a queue that counts as one congested queue.
const SATURATED: u32 = 20 * 1_400;

/// The number of a queue at its port, below [`MAX_QUEUES`].
pub type Class = u8;

/// Congested queues of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Congestion {
    /// Cells of a queue that counts as one.
    saturated: u32,
    /// Cells that count, by pool and class.
    cells: [[u32; MAX_QUEUES]; MOST_POOLS],
}

impl Congestion {
    /// No queue of a buffer with cells of so many bytes.
    pub(super) fn new(cell: u32) -> Congestion {
        let saturated = (SATURATED / cell).max(1);
        Congestion { saturated, cells: [[0; MAX_QUEUES]; MOST_POOLS] }
    }

    /// A queue holds `now` cells, `before` until now.
    #[inline]
    pub(super) fn change(&mut self, pool: usize, class: Class, before: u32, now: u32) {
        let counted = |cells: u32| cells.min(self.saturated);
        let (more, less) = (counted(now), counted(before));
        let sum = &mut self.cells[pool][usize::from(class) % MAX_QUEUES];
        *sum = *sum + more - less;
    }

    /// What of `shared` cells is for each congested queue of the class, which are one at least.
    #[inline]
    pub(super) fn part(&self, pool: usize, class: Class, shared: u64) -> u64 {
        let sum = self.cells[pool][usize::from(class) % MAX_QUEUES].max(self.saturated);
        shared * u64::from(self.saturated) / u64::from(sum)
    }
}

/// Measurement of the parts that the queues of a port have in what it sends.
#[derive(Clone, Debug)]
pub(crate) struct Drain {
    /// Bytes of each queue, since the last measurement.
    sent: Vec<u32>,
    total: u32,
}

impl Drain {
    /// Of a port with so many queues.
    pub(crate) fn new(queues: usize) -> Drain {
        Drain { sent: vec![0; queues], total: 0 }
    }

    /// A queue has sent so many bytes; `shares` are those of the queues. One that has sent nothing counts
    /// as one that has the port for itself: nothing is known of it.
    pub(crate) fn sent<'a>(
        &mut self,
        queue: usize,
        bytes: u32,
        shares: impl Iterator<Item = &'a mut Share>,
    ) {
        self.sent[queue] += bytes;
        self.total += bytes;
        if self.total < SATURATED {
            return;
        }
        for (sent, share) in self.sent.iter_mut().zip(shares) {
            let part = u64::from(*sent) * ONE / u64::from(self.total);
            share.set_drain(if part == 0 { ONE } else { part } as u32);
            *sent = 0;
        }
        self.total = 0;
    }
}
