//! Locks: their holders, and the waiting threads in the order of their requests.

use std::collections::{BTreeMap, VecDeque};

/// Id of a lock: the `Mutex`, and the index in it.
pub(super) type LockId = (u32, u64);

/// Number of a thread.
pub(super) type ThreadId = u32;

/// The locks of a processor.
#[derive(Clone, Debug, Default)]
pub(super) struct Locks {
    /// Held locks: the holder, and the waiting threads.
    held: BTreeMap<LockId, (ThreadId, VecDeque<ThreadId>)>,
    /// Lock that each waiting thread waits for.
    waits: BTreeMap<ThreadId, LockId>,
}

/// Result of a lock request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockOutcome {
    /// The thread holds it.
    Held,
    /// The thread waits.
    Waits,
    /// The thread would wait for itself, directly or through others.
    Deadlock,
}

impl Locks {
    /// Requests a lock for a thread.
    pub fn request(&mut self, thread: ThreadId, lock: LockId) -> LockOutcome {
        if self.leads_to(lock, thread) {
            return LockOutcome::Deadlock;
        }
        match self.held.get_mut(&lock) {
            None => {
                self.held.insert(lock, (thread, VecDeque::new()));
                LockOutcome::Held
            }
            Some((_, queue)) => {
                queue.push_back(thread);
                self.waits.insert(thread, lock);
                LockOutcome::Waits
            }
        }
    }

    /// Whether a wait for `lock` is a wait for `thread`.
    fn leads_to(&self, lock: LockId, thread: ThreadId) -> bool {
        let mut lock = lock;
        // There is no cycle of waiting threads, so this ends.
        while let Some((holder, _)) = self.held.get(&lock) {
            if *holder == thread {
                return true;
            }
            match self.waits.get(holder) {
                Some(next) => lock = *next,
                None => return false,
            }
        }
        false
    }

    /// Releases a lock; the thread that has waited longest becomes its holder. Has no effect if the
    /// thread does not hold it.
    pub fn give_back(&mut self, thread: ThreadId, lock: LockId) -> Option<ThreadId> {
        let (holder, queue) = self.held.get_mut(&lock).filter(|(holder, _)| *holder == thread)?;
        match queue.pop_front() {
            Some(next) => {
                *holder = next;
                self.waits.remove(&next);
                Some(next)
            }
            None => {
                self.held.remove(&lock);
                None
            }
        }
    }

    /// The locks that a thread holds.
    pub fn held_by(&self, thread: ThreadId) -> Vec<LockId> {
        let mine = self.held.iter().filter(|(_, (holder, _))| *holder == thread);
        mine.map(|(lock, _)| *lock).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: LockId = (0, 0);
    const B: LockId = (0, 1);

    #[test]
    fn a_lock_goes_to_the_threads_in_the_order_in_which_they_asked() {
        let mut locks = Locks::default();
        assert_eq!(locks.request(1, A), LockOutcome::Held);
        assert_eq!(
            (locks.request(2, A), locks.request(3, A)),
            (LockOutcome::Waits, LockOutcome::Waits)
        );
        assert_eq!(locks.give_back(3, A), None, "it does not hold it");
        assert_eq!(locks.give_back(1, A), Some(2));
        assert_eq!(locks.give_back(2, A), Some(3));
        assert_eq!((locks.give_back(3, A), locks.request(1, A)), (None, LockOutcome::Held));
    }

    #[test]
    fn a_thread_that_would_wait_for_itself_is_reported() {
        let mut locks = Locks::default();
        assert_eq!(
            (locks.request(1, A), locks.request(2, B)),
            (LockOutcome::Held, LockOutcome::Held)
        );
        assert_eq!(locks.request(1, A), LockOutcome::Deadlock);
        assert_eq!(locks.request(1, B), LockOutcome::Waits);
        assert_eq!(locks.request(2, A), LockOutcome::Deadlock);
        assert_eq!(locks.give_back(2, B), Some(1));
        assert_eq!(locks.held_by(1), [A, B]);
    }
}
