//! Conservative synchronization of several partitions, on one core or several.
//!
//! Partitions advance in windows within which none can affect another. A window ends at the
//! earliest time at which an event in one partition could reach another. After each window the
//! partitions exchange the frames that crossed. The assignment of cores therefore does not change
//! the result.

use super::inter_partition_channel::exchange;
use super::partition::Partition;
use sojourn_packet::Time;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, Scope};

/// A window with fewer events is not worth waking another core.
pub(super) const WORTH: u64 = 400;
/// Number of polls of a core before it sleeps; some 50 us.
const LOOKS: u32 = 2_000;
/// Approximate number of windows in the running mean.
const MEMORY: u64 = 8;

/// The limits within which partitions advance.
#[derive(Clone, Copy)]
pub(super) struct AdvanceLimits {
    /// Minimum time of a frame from one partition to another.
    pub(super) ahead: Time,
    /// Up to here and no further.
    pub(super) end: Time,
    /// Not much further than until so many packet rows wait.
    pub(super) max_rows: usize,
    /// Threads to use, if windows are worth it.
    pub(super) threads: usize,
    /// Events in a window that is worth it.
    pub(super) worth: u64,
}

impl AdvanceLimits {
    /// Drives all partitions; true if they have come to the end. `pace`, events in a window, is what they
    /// were like before.
    pub(super) fn run(self, partitions: &mut [Partition], pace: &mut u64) -> bool {
        thread::scope(|scope| {
            let mut all: Vec<&mut Partition> = partitions.iter_mut().collect();
            let mut crew = None;
            while all.iter().map(|partition| partition.rows).sum::<usize>() < self.max_rows {
                exchange(&mut all);
                let Some(until) = self.window(&all) else {
                    all.iter_mut()
                        .for_each(|partition| partition.now = partition.now.max(self.end));
                    return true;
                };
                let before = events(&all);
                if self.threads > 1 && *pace >= self.worth {
                    let crew =
                        crew.get_or_insert_with(|| WorkerPool::new(scope, self.threads, &all));
                    crew.run(&mut all, until);
                } else {
                    all.iter_mut().for_each(|partition| partition.run_through(until));
                }
                *pace = (*pace * (MEMORY - 1) + events(&all) - before) / MEMORY;
                if all.iter().any(|partition| partition.halted().is_some()) {
                    return false;
                }
            }
            false
        })
    }

    /// The last instant of the next window, if anything happens before the end.
    fn window(&self, all: &[&mut Partition]) -> Option<Time> {
        let first =
            all.iter().map(|partition| partition.next()).min().filter(|at| *at <= self.end)?;
        Some(self.end.min(Time((first + self.ahead).0 - 1)))
    }
}

fn events(all: &[&mut Partition]) -> u64 {
    all.iter().map(|partition| partition.counters.events).sum()
}

/// Partitions that one thread drives in a window.
type Share<'r> = Vec<&'r mut Partition>;

/// Threads that drive partitions, this one and others, each the same partitions in each window.
struct WorkerPool<'r> {
    /// The thread of each partition, by its index.
    owner: Vec<usize>,
    shares: Vec<Share<'r>>,
    /// Those behind the first share.
    others: Vec<Worker<'r>>,
}

/// Another thread, with the channels for its work and its results.
struct Worker<'r> {
    work: Sender<(Time, Share<'r>)>,
    done: Receiver<Share<'r>>,
}

impl<'r> WorkerPool<'r> {
    fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        threads: usize,
        all: &Share<'r>,
    ) -> WorkerPool<'r>
    where
        'r: 'scope,
    {
        let threads = threads.min(all.len());
        let others = (1..threads).map(|_| {
            let (work, assigned) = channel::<(Time, Share)>();
            let (finished, done) = channel();
            scope.spawn(move || {
                while let Some((until, mut share)) = receive(&assigned) {
                    share.iter_mut().for_each(|partition| partition.run_through(until));
                    if finished.send(share).is_err() {
                        return;
                    }
                }
            });
            Worker { work, done }
        });
        WorkerPool {
            others: others.collect(),
            owner: shared_out(all, threads),
            shares: std::iter::repeat_with(Vec::new).take(threads).collect(),
        }
    }

    fn run(&mut self, all: &mut Share<'r>, until: Time) {
        for partition in all.drain(..) {
            self.shares[self.owner[usize::from(partition.place)]].push(partition);
        }
        let (own, assigned) = self.shares.split_first_mut().expect("at least this thread's");
        for (share, other) in assigned.iter_mut().zip(&self.others) {
            other.work.send((until, std::mem::take(share))).expect("it waits for work");
        }
        own.iter_mut().for_each(|partition| partition.run_through(until));
        for (share, other) in assigned.iter_mut().zip(&self.others) {
            *share = receive(&other.done).expect("what it drives does not fail");
        }
        all.extend(self.shares.iter_mut().flat_map(|share| share.drain(..)));
        all.sort_unstable_by_key(|partition| partition.place);
    }
}

/// The thread of each partition: the busiest partitions go to the least loaded threads.
fn shared_out(all: &[&mut Partition], threads: usize) -> Vec<usize> {
    let mut by_events: Vec<_> = all.iter().map(|r| (r.counters.events, r.place)).collect();
    by_events.sort_unstable_by(|one, other| other.cmp(one));
    let (mut loads, mut owner) = (vec![0; threads], vec![0; all.len()]);
    for (events, place) in by_events {
        let least = (0..threads).min_by_key(|thread| loads[*thread]).unwrap_or(0);
        loads[least] += events;
        owner[usize::from(place)] = least;
    }
    owner
}

/// The next that comes, none if nothing will. Looks for it for a while, since a thread that sleeps
/// takes as long to wake as many a window does.
fn receive<T>(from: &Receiver<T>) -> Option<T> {
    for _ in 0..LOOKS {
        match from.try_recv() {
            Ok(came) => return Some(came),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
    from.recv().ok()
}
