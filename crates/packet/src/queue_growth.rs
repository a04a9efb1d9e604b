//! Growth policy of queues for packets in flight: a quarter at a time instead of doubling.
//!
//! Such queues are numerous or large. A FIFO ring eventually touches its whole allocation, so
//! unused capacity costs memory as well.

use std::collections::VecDeque;

/// Minimum growth of a queue.
const LEAST: usize = 8;

/// Reserves space for one more element.
///
/// ```
/// use sojourn_packet::make_room;
/// use std::collections::VecDeque;
///
/// let mut queue = VecDeque::new();
/// for n in 0..1_000 {
///     make_room(&mut queue);
///     queue.push_back(n);
///     assert!(queue.capacity() <= queue.len() + queue.len() / 4 + 8);
/// }
/// ```
#[inline(always)]
pub fn make_room<T>(queue: &mut VecDeque<T>) {
    if queue.len() == queue.capacity() {
        grow(queue);
    }
}

#[cold]
fn grow<T>(queue: &mut VecDeque<T>) {
    queue.reserve_exact(LEAST.max(queue.len() / 4));
}
