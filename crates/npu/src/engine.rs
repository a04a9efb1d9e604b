//! Execution of threads' requests: one request at a time.

use super::calls::{EngineOperation, Request, Run, Site};
use super::memory::{Access, CellVersion, Memory};
use super::mutex::{LockOutcome, Locks, ThreadId};
use sojourn_p4::source::Span;
use sojourn_packet::{PortId, QueueDepths, Time};
use sojourn_target::faults::Faults;

/// State shared by all threads.
#[derive(Debug)]
pub(super) struct Shared {
    pub sites: Vec<Site>,
    pub memories: Vec<Memory>,
    pub locks: Locks,
    pub faults: Faults,
}

/// Result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The thread continues with this value; another one that waited for a lock may continue, too.
    GoesOn { value: u64, woken: Option<ThreadId> },
    /// The thread waits until a lock is released.
    Waits,
    /// The thread would wait for ever.
    Deadlock,
}

impl Answer {
    fn value(value: u64) -> Answer {
        Answer::GoesOn { value, woken: None }
    }
}

impl Shared {
    /// Externs for a run that begins or continues now.
    pub fn externs(&mut self, now: Time, answer: Option<u64>) -> Run<'_> {
        Run { sites: &self.sites, now, answer, request: None, faults: &mut self.faults }
    }

    /// Executes a thread's request; `seen` holds the cell versions that its pass has read.
    pub fn execute(
        &mut self,
        thread: ThreadId,
        request: Request,
        seen: &mut Vec<CellVersion>,
        depths: &dyn QueueDepths,
    ) -> Answer {
        match request.what {
            EngineOperation::Depth { port, queue } => {
                Answer::value(depths.packets(PortId(port), queue))
            }
            EngineOperation::Cell { memory, index, access } => {
                Answer::value(self.access((memory, index), access, seen, request.span))
            }
            EngineOperation::Lock { mutex, index } => {
                match self.locks.request(thread, (mutex, index)) {
                    LockOutcome::Held => Answer::value(0),
                    LockOutcome::Waits => Answer::Waits,
                    LockOutcome::Deadlock => {
                        self.faults.deadlock(request.span);
                        Answer::Deadlock
                    }
                }
            }
            EngineOperation::Unlock { mutex, index } => {
                let woken = self.locks.give_back(thread, (mutex, index));
                Answer::GoesOn { value: 0, woken }
            }
        }
    }

    fn access(
        &mut self,
        (memory, index): (u32, u64),
        access: Access,
        seen: &mut Vec<CellVersion>,
        span: Span,
    ) -> u64 {
        let Some(cells) = self.memories.get_mut(memory as usize) else { return 0 };
        let known = seen.iter().position(|seen| (seen.memory, seen.index) == (memory, index));
        // Written after another thread changed the value that this one had read: that change is
        // lost.
        if let (Access::Write(_), Some(known)) = (access, known)
            && seen[known].change != cells.change(index)
        {
            self.faults.lost_update(&cells.name, span);
        }
        let before = cells.access(index, access);
        let now = CellVersion { memory, index, change: cells.change(index) };
        match known {
            Some(known) => seen[known] = now,
            None => seen.push(now),
        }
        before
    }

    /// Releases a thread's locks at the end of its pass, and returns the threads that may continue.
    pub fn take_back(&mut self, thread: ThreadId) -> Vec<ThreadId> {
        let held = self.locks.held_by(thread);
        held.into_iter().filter_map(|lock| self.locks.give_back(thread, lock)).collect()
    }
}
